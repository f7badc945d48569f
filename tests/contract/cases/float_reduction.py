"""Reductions of float32 numbers, running sums, shares, normalizations, and weighted sums along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from codegen.ir.op import Op
from codegen.ops.float32 import FloatCumulative, FloatNormalize, FloatReduce, FloatSoftmax, FloatTaps
from codegen.ops.float32.reduce import TERMS, WHOLE_TERMS
from tests.contract.case import F32, S8, S16, S32, U8, A, Case, t


def cases() -> Iterator[Case]:
    """All of them."""
    yield from reduce_cases()
    yield from share_cases()
    yield from taps_cases()


def reduce_cases() -> Iterator[Case]:
    for name in TERMS:
        yield Case(name, FloatReduce(name, (1,)), (t(F32, 3, 5, 4),))  # type: ignore[arg-type]
    for i, axes in enumerate(((0,), (2,), (3,), (2, 3), (0, 2), (1, 3), (0, 1, 2, 3))):
        yield Case(f"axes_{i}", FloatReduce("squares", axes), (t(F32, 2, 3, 4, 5),))
    yield Case("one", FloatReduce("mean", (0,)), (t(F32, 1),))
    for name in (name for name in WHOLE_TERMS if name != "mean"):
        yield Case(f"whole_{name}", FloatReduce(name, (1, 2)), (t(S32, 2, 7, 3),))  # type: ignore[arg-type]
    yield Case("least8", FloatReduce("minimum", (3,)), (t(S8, 2, 3, 4, 5, quant=A),))
    yield Case("least16", FloatReduce("minimum", (0, 1)), (t(S16, 3, 5, 4),))
    yield Case("most8", FloatReduce("maximum", (1,)), (t(U8, 3, 5, 4),))
    for exclusive in (False, True):
        ends = (exclusive, not exclusive)
        yield Case(f"running_sum_{exclusive}", FloatCumulative("sum", 1, *ends), (t(F32, 2, 5, 3),))
        yield Case(f"whole_running_sum_{exclusive}", FloatCumulative("sum", 1, *ends), (t(S32, 2, 5, 3),))
        yield Case(f"running_product_{exclusive}", FloatCumulative("product", 0, exclusive), (t(F32, 4, 3),))


def share_cases() -> Iterator[Case]:
    for axis in range(4):
        for log in (False, True):
            yield Case(f"{axis}_{log}", FloatSoftmax(axis, log), (t(F32, 2, 3, 4, 5),))
    yield Case("vector", FloatSoftmax(0), (t(F32, 6),))
    for centred in (False, True):
        yield Case(f"{centred}", FloatNormalize(1e-5, centred), (t(F32, 2, 3, 4, 5),))


def taps_cases() -> Iterator[Case]:
    rng = np.random.default_rng(3)
    for axis, taps in ((0, 2), (1, 1), (2, 4), (3, 2)):
        places = tuple(tuple(int(i) for i in rng.integers(0, 3, taps)) for _ in range(5))
        weights = tuple(tuple(float(np.float32(w)) for w in rng.normal(size=taps)) for _ in range(5))
        yield Case(f"{axis}_{taps}", FloatTaps(axis, places, weights), (t(F32, 3, 4, 3, 3),))

    yield Case("whole", FloatTaps(1, ((0, 2), (1, 1)), ((5, -7), (1 << 14, 3))), (t(S32, 2, 3, 4),))


PRODUCTS: Mapping[type[Op], Callable[[Case], int]] = {FloatTaps: lambda case: _taps(case)}


def _taps(case: Case) -> int:
    assert isinstance(case.op, FloatTaps)
    n = case.types[0].shape
    others = np.prod([size for axis, size in enumerate(n) if axis != case.op.axis])
    return int(others) * sum(len(places) for places in case.op.places)
