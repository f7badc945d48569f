"""Products of real matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from codegen.ir.op import Op
from codegen.ops.float32 import FloatDense, FloatMatMul
from tests.contract.case import F32, OTHER_SUMS, STORAGES, Case, ints, stored, t, with_zeros

_ROWS = Case("rows", FloatDense(0.0), (t(F32, 3, 5), ints(F32, 7, 5), ints(F32, 7)))
_GROUPS = Case("groups", FloatDense(-300.0), (t(F32, 1, 3, 7, 15), ints(F32, 37, 15), ints(F32, 37)))
_BLOCKS = Case("blocks", FloatDense(-300.0), (t(F32, 1, 3, 7, 6), ints(F32, 37, 6), ints(F32, 37)))


def cases() -> Iterator[Case]:
    """All of them; some of them with other sums, or with weights stored otherwise, too."""
    for case in (_ROWS, _BLOCKS, replace(_BLOCKS, name="fused_blocks", op=FloatDense(-300.0, sums="fused"))):
        yield from (stored(case, storage) for storage in STORAGES)
    for case in (_GROUPS, replace(_GROUPS, name="fused_groups", op=FloatDense(sums="fused"))):
        yield from (stored(case, storage, 5) for storage in ("s8", "s4"))
        yield from (with_zeros(case, bits, 5) for bits in (4, 8))
    for case in (_ROWS, _BLOCKS):
        yield from (with_zeros(case, bits) for bits in (4, 8))
    for sums in OTHER_SUMS:
        yield Case(f"{sums}_rows", FloatDense(0.0, sums=sums), (t(F32, 3, 5), ints(F32, 7, 5), ints(F32, 7)))
        yield replace(_BLOCKS, name=f"{sums}_of_blocks", op=FloatDense(-300.0, 900.0, sums))
        yield Case(f"{sums}_plain", FloatMatMul(sums=sums), (t(F32, 4, 5), t(F32, 5, 3)))
    yield Case("even_blocks", FloatDense(), (t(F32, 1, 3, 8, 6), ints(F32, 24, 6), ints(F32, 24)))
    yield Case("vector", FloatDense(), (t(F32, 9), ints(F32, 4, 9), ints(F32, 4)))
    yield _ROWS
    yield Case("map", FloatDense(0.0, 500.0), (t(F32, 1, 2, 3, 5), ints(F32, 10, 5), ints(F32, 10)))
    yield Case("narrow", FloatDense(high=100.0), (t(F32, 1, 6), ints(F32, 1, 6), ints(F32, 1)))
    yield _BLOCKS
    yield Case("plain", FloatMatMul(), (t(F32, 4, 5), t(F32, 5, 3)))
    yield Case("batched", FloatMatMul(), (t(F32, 2, 3, 4, 5), t(F32, 2, 3, 5, 6)))
    yield Case("shared", FloatMatMul(), (t(F32, 2, 3, 4, 5), t(F32, 2, 1, 5, 6)))
    yield Case("left", FloatMatMul(), (ints(F32, 2, 3, 4), t(F32, 2, 4, 5)))
    yield Case("right", FloatMatMul(), (t(F32, 3, 4), ints(F32, 4, 7)))


def _outputs_by_depth(case: Case) -> int:
    (y,) = case.op.infer(case.types)
    return math.prod(y.shape) * case.types[0].shape[-1]


PRODUCTS: Mapping[type[Op], Callable[[Case], int]] = {FloatDense: _outputs_by_depth, FloatMatMul: _outputs_by_depth}
