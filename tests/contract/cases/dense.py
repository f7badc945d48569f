"""Layers whose inputs all meet all weights, and products of matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import DType, Mode, Quant
from codegen.ops import Dense, MatMul
from tests.contract.case import S8, S16, S32, U8, A, B, Case, Y, in_modes, ints, q, requant, t
from tests.contract.cases import packed
from tests.support.graphs import spread_requant, step_of


def cases() -> Iterator[Case]:
    """All of them."""
    yield from in_modes(dense_cases, matmul_cases, batch_cases, wide_cases)
    yield from packed.packed(packed.dense)
    yield from in_modes(packed.grouped)


def dense_cases(mode: Mode) -> Iterator[Case]:
    """Sums just below 2^31; sums above; folded sums above whose end values are below."""
    edge = np.full((2, 2), 32767, np.int16)
    edge[1, 1] = -32767
    bias = np.array([60000, -60000], np.int32)
    yield Case("edge", Dense(0, requant(mode, 1 << 31, 2), S8, None), (t(S16, 3, 2), edge, bias))
    heavy = np.full((3, 200), 32767, np.int16)
    heavy[1] = ints(S16, 200)
    small = np.array([5, -6, 7], np.int32)
    yield Case("narrowed", Dense(128, requant(mode, 1 << 30, 3), S8, None), (t(U8, 2, 200), heavy, small))
    shapes = (("one", S8, 1, 131, 10), ("odd", U8, 3, 29, 13), ("few", S8, 1, 7, 3))
    fours = (("few_fours", S8, 1, 92, 7), ("few_unsigned_fours", U8, 1, 40, 5))
    whole = (("by_32", S8, 2, 96, 6), ("by_64", S8, 1, 192, 9))
    for name, dtype, batch, n_in, n_out in (*shapes, *fours, *whole):
        weights, step = ints(S8, n_out, n_in), requant(mode, 128 * 128 * np.sqrt(n_in), n_out)
        op = Dense(dtype.low + 7, step, S8, None)
        yield Case(name, op, (t(dtype, batch, n_in), weights, ints(S32, n_out) >> 16))
    if mode != "ort":
        over = requant(mode, 1 << 36, 3, wide=True)
        yield Case("wide", Dense(11, over, S8, None), (t(S16, 2, 200), heavy, small))
    if mode == "single":
        yield Case("sums", Dense(3, None, S32, None), (t(S8, 4, 9), ints(S8, 6, 9), ints(S32, 6) >> 4))
        yield Case("wrapping", Dense(11, None, S32, None), (t(S16, 2, 200), heavy, small))
    unsigned = np.random.default_rng(5).integers(-129, 127, (9, 31)).astype(np.int16)
    unsigned.flat[0], unsigned.flat[-1] = -129, 126
    step = requant(mode, 128 * 200 * 6, 9)
    yield Case("shifted", Dense(130, step, S8, None), (t(U8, 3, 31), unsigned, ints(S32, 9) >> 16))


def matmul_cases(mode: Mode) -> Iterator[Case]:
    def product(y: DType = S8, columns: int = 1, a: int = -5) -> MatMul:
        return MatMul(a, 7, requant(mode, 128 * 128 * 4, columns, y), y, None)

    yield Case("plain", product(), (t(S8, 3, 5), t(S8, 5, 19)))
    yield Case("batch", product(U8), (t(S8, 2, 2, 3, 4), t(U8, 2, 2, 4, 16)))
    yield Case("left_constant", product(), (ints(S8, 2, 3, 4), t(S8, 2, 4, 5)))
    yield Case("right_constant", product(S8, 1, 0), (t(U8, 2, 3, 4), ints(S8, 2, 4, 5)))
    yield Case("columns", product(S8, 18), (t(S8, 2, 9), t(S8, 9, 18)))
    yield Case("odd", product(S8, 1, 9), (t(U8, 3, 200), t(U8, 200, 5)))
    yield Case("in_parts", product(U8), (t(S8, 4, 37), t(S8, 37, 30)))
    if mode == "single":
        yield Case("shared", product(), (t(S8, 2, 3, 4, 9), t(S8, 2, 1, 9, 3)))
        yield Case("sums", MatMul(0, 3, None, S32, None), (t(S8, 2, 9), t(U8, 9, 3)))


def batch_cases(mode: Mode) -> Iterator[Case]:
    """None, one and more axes before the vectors and the matrices."""
    for lead in ((), (1,), (1, 3), (1, 3, 2)):
        weights, rank = ints(S8, 5, 7), len(lead)
        dense = Dense(A.zero_point, spread_requant(mode, weights, U8, 128), U8, Quant(1.0, 128))
        yield Case(f"rank{rank + 1}", dense, (t(S8, *lead, 7, quant=A), weights, ints(S16, 5).astype(np.int32)))
        if rank != 1:
            step = spread_requant(mode, np.ones((1, 7)), S8, 3, channels=False)
            matmul = MatMul(A.zero_point, 130, step, S8, Y)
            yield Case(f"rank{rank + 2}", matmul, (t(S8, *lead, 4, 7, quant=A), t(U8, *lead, 7, 2, quant=B)))


def wide_cases(mode: Mode) -> Iterator[Case]:
    """16-bit numbers with zero points, as from unsigned ones; sums beyond 32 bits."""
    a, b, reach = q(0.0007, -32768), q(0.0003, 1234), 65535 * 34002
    over = step_of(mode, a.scale, [b.scale], q(0.02, -32768), S16, reach=9 * reach)
    yield Case("s16", MatMul(-32768, 1234, over, S16, None), (t(S16, 3, 9), t(S16, 9, 19)))
    known = step_of(mode, 1e-4, [1e-3], q(0.03, 5), S16, reach=9 * 32768 * 200)
    yield Case("s16_bytes", MatMul(0, 72, known, S16, None), (t(S16, 3, 9), ints(S8, 9, 4)))
    step = step_of(mode, 1e-5, [1e-3, 2e-3, 1e-3, 1e-4, 1e-3], q(0.01, -20000), S16, wide=True, reach=1 << 38)
    weights, bias = ints(S16, 5, 36), ints(S16, 5).astype(np.int32)
    yield Case("s16", Dense(-32768, step, S16, None), (t(S16, 2, 36), weights, bias))


def _rows(case: Case) -> int:
    return case.arrays[0].size // case.types[0].shape[-1]


PRODUCTS: Mapping[type[Op], Callable[[Case], int]] = {
    Dense: lambda case: _rows(case) * case.arrays[1].size,
    MatMul: lambda case: case.arrays[0].size * case.types[1].shape[-1],
}
"""Each weight meets each row."""
