"""compare: two files of arrays, tensor by tensor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from codegen.arguments import takes_declared
from codegen.errors import ToleranceBad
from codegen.golden.compare import first_difference
from codegen.ir.quant import Array
from codegen.preprocess import read_npz
from codegen.records import record


@record
class TensorComparison:
    """How one tensor of A stands to its namesake of B.

    `problem` is set when they cannot be compared; the measures are then None.  `cosine` and `euclidean` are 1 for equal
    tensors; `euclidean` is 1 - |a - b| / |(a + b) / 2|.  `sqnr_db` is 10 log10(|a|^2 / |a - b|^2), None when nothing
    differs.
    """

    name: str
    shape: tuple[int, ...]
    equal: bool
    problem: str = ""
    max_abs: float | None = None
    differing: int | None = None
    cosine: float | None = None
    euclidean: float | None = None
    sqnr_db: float | None = None
    within: bool = False


@record
class Comparison:
    """`equal`: every tensor exactly; `passed`: every tensor within the tolerance (exactly equal without one)."""

    equal: bool
    passed: bool
    tensors: tuple[TensorComparison, ...]


@takes_declared
def compare(
    a: str | Path, b: str | Path, tolerance: Sequence[float] | None = None, *, common: bool = False
) -> Comparison:
    """Compare two .npz files.

    Args:
        a: the reference.
        b: what is held against it.
        tolerance: smallest cosine and Euclidean similarity that pass; None asks for equality, element type included.
        common: pass over tensors that only one of the files holds.

    Raises:
        DataFileBad: LAM-API-003.
        ToleranceBad: LAM-API-009.
    """
    limits = None if tolerance is None else _checked(tolerance)
    left, right = read_npz(Path(a)), read_npz(Path(b))
    names = [n for n in left if n in right or not common]
    names += [n for n in right if n not in left and not common]
    found = tuple(_tensor(name, left.get(name), right.get(name), limits) for name in names)
    return Comparison(
        equal=bool(found) and all(t.equal for t in found),
        passed=bool(found) and all(t.within for t in found),
        tensors=found,
    )


def _checked(tolerance: Sequence[float]) -> tuple[float, float]:
    """Both limits; NaN is refused by the comparison with 1."""
    if len(tolerance) != 2 or not all(limit <= 1 for limit in tolerance):
        raise ToleranceBad(f"{', '.join(map(str, tolerance))}", where="tolerance")
    return tolerance[0], tolerance[1]


def _tensor(name: str, a: Array | None, b: Array | None, limits: tuple[float, float] | None) -> TensorComparison:
    if a is None or b is None:
        there = a if a is not None else b
        assert there is not None, "one of the files holds it"
        return TensorComparison(name, there.shape, False, f"missing in {'A' if a is None else 'B'}")
    problem = _incomparable(a, b, limits is None)
    if problem:
        return TensorComparison(name, a.shape, False, problem)
    equal = a.dtype == b.dtype and first_difference(name, a, b) is None
    x, y = (t.astype(np.float64).ravel() for t in (a, b))
    cosine, euclidean = (1.0, 1.0) if equal else (_cosine(x, y), _euclidean(x, y))
    within = equal if limits is None else bool(cosine >= limits[0] and euclidean >= limits[1])
    return TensorComparison(
        name=name,
        shape=a.shape,
        equal=equal,
        max_abs=0.0 if equal or not x.size else float(np.abs(x - y).max()),
        differing=0 if equal else int((x != y).sum()),
        cosine=cosine,
        euclidean=euclidean,
        sqnr_db=None if equal else _sqnr_db(x, y),
        within=within,
    )


def _incomparable(a: Array, b: Array, exact: bool) -> str:
    """Why the two cannot be measured against each other, or nothing."""
    if a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
        return f"not numbers: {a.dtype} and {b.dtype}"
    if a.shape != b.shape:
        return f"shapes differ: {list(a.shape)} and {list(b.shape)}"
    if exact and a.dtype != b.dtype:
        return f"types differ: {a.dtype} and {b.dtype}"
    return ""


def _cosine(x: Array, y: Array) -> float:
    """1 for two zero tensors, 0 when only one is zero, NaN when a number is not finite."""
    norms = float(np.linalg.norm(x)), float(np.linalg.norm(y))
    if 0.0 in norms:
        return 1.0 if norms == (0.0, 0.0) else 0.0
    with np.errstate(invalid="ignore"):
        return float(np.dot(x / norms[0], y / norms[1]))


def _euclidean(x: Array, y: Array) -> float:
    with np.errstate(invalid="ignore"):
        distance, middle = float(np.linalg.norm(x - y)), float(np.linalg.norm((x + y) / 2))
    if distance == 0.0:
        return 1.0
    return 1.0 - distance / middle if middle else float("-inf")


def _sqnr_db(x: Array, y: Array) -> float | None:
    """None when nothing differs (only the element types do)."""
    with np.errstate(invalid="ignore"):
        signal, noise = float(np.sum(x * x)), float(np.sum((x - y) ** 2))
    if noise == 0.0:
        return None
    return 10.0 * float(np.log10(signal / noise)) if signal else float("-inf")
