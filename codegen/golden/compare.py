"""Where two results differ first, and by how much.  Decides nothing: what is tolerable is the caller's business."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from codegen.ir.quant import Array
from codegen.records import record


@record
class Difference:
    """The first element, in memory order, in which `actual` is not `expected`; with the tensor's totals.

    When the shapes differ, `index` is empty, both values are None and the counts are zero.
    """

    tensor: str
    index: tuple[int, ...]
    expected: int | float | None
    actual: int | float | None
    max_abs: float
    count: int
    elements: int

    def text(self) -> str:
        """One line for a person."""
        if self.expected is None:
            return f"{self.tensor}: the shapes or element types differ"
        place = ", ".join(map(str, self.index))
        share = f"{self.count} of {self.elements} elements differ, by at most {self.max_abs:g}"
        return f"{self.tensor}[{place}]: expected {self.expected}, got {self.actual} ({share})"


def first_difference(tensor: str, expected: Array, actual: Array) -> Difference | None:
    """The first difference of two arrays, or None when they are equal bit for bit.

    NaN equals NaN, whatever its payload; +0 and -0 differ.
    """
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return Difference(tensor, (), None, None, 0.0, 0, int(expected.size))
    unequal = _unequal(expected, actual)
    if not unequal.any():
        return None
    with np.errstate(invalid="ignore"):
        apart = np.abs(expected.astype(np.float64) - actual.astype(np.float64))[unequal]
    index = tuple(int(i) for i in np.unravel_index(int(unequal.argmax()), unequal.shape))
    return Difference(
        tensor=tensor,
        index=index,
        expected=expected[index].item(),
        actual=actual[index].item(),
        max_abs=float(apart.max()),
        count=int(unequal.sum()),
        elements=int(expected.size),
    )


def _unequal(expected: Array, actual: Array) -> Array:
    if expected.dtype.kind != "f":
        return np.asarray(expected != actual)
    signs = np.signbit(expected) == np.signbit(actual)
    same = ((expected == actual) & signs) | (np.isnan(expected) & np.isnan(actual))
    return np.asarray(~same)


def first_difference_of(
    names: Iterable[str], expected: Mapping[str, Array], actual: Mapping[str, Array]
) -> Difference | None:
    """The first difference over several tensors, in the order of `names`."""
    found = (first_difference(name, expected[name], actual[name]) for name in names)
    return next((difference for difference in found if difference is not None), None)
