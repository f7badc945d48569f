"""What moves elements and computes nothing; joined tensors, whose scales may change on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from codegen import ops
from codegen.ir.op import Op
from codegen.ir.quant import DType, Mode
from tests.contract.case import F32, S8, S16, S32, U8, A, B, Case, in_modes, ints, t


def cases() -> Iterator[Case]:
    """All of them."""
    for source in (concat_cases, transpose_cases, slice_cases, gather_cases, take_cases, update_cases, triangle_cases):
        yield from source()
    yield from pad_cases()
    yield from block_cases()
    yield from in_modes(scaled_cases)
    yield from shape_cases()
    yield from plain_cases()


def triangle_cases() -> Iterator[Case]:
    for upper in (True, False):
        yield Case(f"triangle{upper:d}", ops.Triangle(upper, 0, -3), (t(S8, 2, 3, 5, 7, quant=A),))
        yield Case(f"far{upper:d}", ops.Triangle(upper, 9 if upper else -9, 0), (t(S16, 3, 4),))
        yield Case(f"beside{upper:d}", ops.Triangle(upper, -2, 200), (t(U8, 1, 4, 6, 3),))
        yield Case(f"wide{upper:d}", ops.Triangle(upper, 1, 1 << 30), (t(S32, 2, 6, 2),))


def concat_cases() -> Iterator[Case]:
    table = tuple(ints(S8, 256).tolist())

    def concat(axis: int, count: int, *, tables: Any = None, dtype: DType = S8) -> ops.Concat:
        return ops.Concat(axis, tables or (None,) * count, dtype, None)

    yield Case("channels", concat(3, 3), (t(S8, 1, 2, 3, 4), t(S8, 1, 2, 3, 1), t(S8, 1, 2, 3, 6)))
    yield Case("scaled", concat(3, 2, tables=(table, None)), (t(U8, 1, 2, 3, 4), t(S8, 1, 2, 3, 5)))
    yield Case("both_scaled", concat(3, 2, tables=(table, table[::-1])), (t(U8, 1, 2, 3, 4), t(S8, 1, 2, 3, 5)))
    yield Case("pixels", concat(2, 2), (t(S8, 1, 2, 3, 4), t(S8, 1, 2, 5, 4)))
    yield Case("channels_over", replace(concat(3, 2), over=True), (t(S8, 1, 2, 3, 4), t(S8, 1, 2, 3, 5)))
    yield Case("pixels_over", replace(concat(2, 2), over=True), (t(S8, 1, 2, 3, 4), t(S8, 1, 2, 5, 4)))
    yield Case("rows", concat(1, 2, tables=(None, table)), (t(S8, 1, 2, 3, 4), t(S8, 1, 5, 3, 4)))
    yield Case("batch", concat(0, 2, dtype=S16), (t(S16, 1, 2, 3, 4), t(S16, 2, 2, 3, 4)))
    yield Case("vector", concat(0, 2, dtype=F32), (t(F32, 3), t(F32, 4)))
    yield Case("constant", concat(3, 3), (t(S8, 1, 2, 3, 4), ints(S8, 1, 2, 3, 2), t(S8, 1, 2, 3, 1)))
    yield Case("constant_pixels", concat(2, 2, tables=(table, None)), (ints(S8, 1, 2, 2, 4), t(S8, 1, 2, 3, 4)))
    yield Case("constant_rows", concat(1, 2), (ints(S8, 1, 2, 3, 4), t(S8, 1, 1, 3, 4)))
    yield Case(
        "constant_between",
        concat(1, 3, tables=(None, table, None)),
        (t(S8, 1, 2, 3, 4), ints(U8, 1, 3, 3, 4), t(S8, 1, 1, 3, 4)),
    )
    yield Case("batches", concat(1, 2), (t(S8, 2, 2, 3, 4), t(S8, 2, 1, 3, 4)))
    yield Case("constant_batches", concat(1, 2, tables=(None, table)), (t(S8, 2, 2, 3, 4), ints(S8, 2, 1, 3, 4)))
    yield Case("one", concat(1, 1), (t(S8, 1, 2, 3, 4),))
    yield Case("itself", concat(1, 2), (t(S8, 3, 5), 0))
    yield Case("itself_by_rows", concat(1, 2), (t(S8, 1, 3, 5, 2), 0))


def transpose_cases() -> Iterator[Case]:
    for dtype, perm in (
        (S8, (0, 3, 1, 2)),
        (S8, (0, 2, 3, 1)),
        (U8, (0, 1, 3, 2)),
        (S16, (0, 2, 1, 3)),
        (S32, (3, 2, 1, 0)),
        (F32, (0, 1, 2, 3)),
    ):
        yield Case("".join(map(str, perm)), ops.Transpose(perm), (t(dtype, 1, 3, 4, 5),))
    yield Case("matrix", ops.Transpose((1, 0)), (t(S8, 4, 6),))
    yield Case("vector", ops.Transpose((0,)), (t(S8, 4),))
    yield Case("six", ops.Transpose((0, 3, 1, 4, 2, 5)), (t(S8, 1, 2, 3, 2, 3, 4),))
    yield Case("lead", ops.Transpose((1, 0, 2, 3)), (t(S8, 2, 3, 2, 2),))


def slice_cases() -> Iterator[Case]:
    def part(*axes: tuple[int, int, int]) -> ops.Slice:
        starts, sizes, steps = zip(*axes, strict=True)
        return ops.Slice(starts, sizes, steps)

    x = t(S8, 1, 6, 7, 8)
    everything = ((0, 1, 1), (0, 6, 1), (0, 7, 1), (0, 8, 1))
    yield Case("channels", part(*everything[:3], (2, 5, 1)), (x,))
    yield Case("channel_step", part(*everything[:3], (7, 3, -3)), (x,))
    yield Case("pixels", part(*everything[:2], (1, 3, 2), (0, 8, 1)), (x,))
    yield Case("rows", part((0, 1, 1), (1, 4, 1), *everything[2:]), (x,))
    yield Case("row_steps", part((0, 1, 1), (5, 3, -2), (6, 7, -1), (1, 3, 2)), (x,))
    yield Case("batch", part((1, 2, 1), (0, 2, 1), (0, 2, 1), (0, 2, 1)), (t(S16, 3, 2, 2, 2),))
    yield Case("vector", part((3, 4, 1)), (t(F32, 9),))
    yield Case("lines", part((3, 2, 1), (1, 2, 1)), (t(S8, 9, 4),))
    yield Case("all", part(*everything), (x,))


def gather_cases() -> Iterator[Case]:
    x = t(S8, 2, 3, 4, 5)
    for axis, indices in ((0, (1, 0, 1)), (1, (2, 2, 0)), (2, (3, 1, 0, 0, 2)), (3, (4, 0, 2)), (3, (1,)), (2, (3,))):
        yield Case(f"axis{axis}_{len(indices)}", ops.Gather(axis, indices), (x,))
    yield Case("vector", ops.Gather(0, (2, 1, 2)), (t(F32, 3),))
    yield Case("shuffle", ops.Gather(3, (0, 3, 1, 4, 2, 5)), (t(S8, 1, 2, 3, 6),))


def pad_cases() -> Iterator[Case]:
    x = t(S8, 1, 4, 5, 3)
    for mode in ("constant", "edge", "reflect"):
        yield Case(f"map_{mode}", ops.Pad((0, 1, 2, 0), (0, 2, 1, 0), mode, -7), (x,))
        yield Case(f"both_{mode}", ops.Pad((0, 1, 0, 1), (0, 0, 3, 2), mode, -7), (x,))
        yield Case(f"rows_{mode}", ops.Pad((0, 3, 0, 0), (0, 1, 0, 0), mode, 5), (x,))
        yield Case(f"vector_{mode}", ops.Pad((2,), (1,), mode, 5), (t(S16, 4),))
        yield Case(f"matrix_{mode}", ops.Pad((2, 1), (1, 0), mode, 1), (t(F32, 4, 3),))
    yield Case("batch", ops.Pad((1, 1, 0, 0), (1, 0, 1, 0), "constant", 9), (t(U8, 2, 2, 2, 3),))
    yield Case("none", ops.Pad((0, 0), (0, 0), "constant", 9), (t(U8, 2, 3),))


def block_cases() -> Iterator[Case]:
    for mode in ("DCR", "CRD"):
        yield Case(f"{mode}2", ops.DepthToSpace(2, mode), (t(S8, 1, 3, 2, 12),))
        yield Case(f"{mode}3", ops.DepthToSpace(3, mode), (t(S16, 2, 2, 3, 9),))
        yield Case(f"{mode}1", ops.DepthToSpace(1, mode), (t(S8, 1, 2, 3, 2),))
    yield Case("two", ops.SpaceToDepth(2), (t(S8, 1, 4, 6, 3),))
    yield Case("three", ops.SpaceToDepth(3), (t(F32, 2, 3, 6, 1),))


def take_cases() -> Iterator[Case]:
    for joining in ("none", "add", "mul", "maximum", "minimum"):
        for dtype in (F32, S32):
            ins = (t(dtype, 6, 3), t(S32, 5), t(dtype, 5, 3))
            yield Case(f"{joining}_{dtype.value[0]}", ops.Scatter(joining), ins)  # type: ignore[arg-type]
    yield Case("bytes", ops.Scatter(), (ints(S8, 4, 2), t(S32, 7), t(S8, 7, 2)))
    yield Case("known", ops.Scatter("add"), (t(F32, 4, 1), np.array([1, 3, 1], np.int32), t(F32, 3, 1)))
    for upper in (False, True):
        yield Case(f"real{upper:d}", ops.Triangle(upper, 0, 0), (t(F32, 2, 3, 5),))
    yield Case("take", ops.Take(1), (t(S16, 5, 3, 4), t(S32, 6, 1)))
    yield Case("take_two", ops.Take(2), (t(S8, 5, 3, 4), t(S32, 2, 3, 2)))
    yield Case("take_known", ops.Take(1), (t(S8, 5, 9), np.array([[3], [-1], [7], [0]], np.int32)))
    yield Case("take_const", ops.Take(1), (ints(S8, 5, 9), t(S32, 7, 1)))
    yield Case("meant", ops.Take(1), (t(S8, 5, 3, 4, quant=A), t(S32, 2, 6, 1)))
    yield Case("pairs", ops.Take(2), (t(S8, 5, 3, 4, quant=A), t(S32, 7, 2)), few=4)


def update_cases() -> Iterator[Case]:
    yield Case("box", ops.Update(), (t(S8, 5, 3, 4, quant=A), t(S8, 2, 3, 2, quant=A), t(S32, 3)), few=4)
    yield Case("rows", ops.Update(), (t(S16, 6, 4), t(S16, 1, 4), t(S32, 2)), few=5)
    yield Case("all", ops.Update(), (t(S32, 3, 2), t(S32, 3, 2), t(S32, 2)))
    yield Case("into_const", ops.Update(), (ints(S8, 5, 9), t(S8, 2, 2), t(S32, 2)), few=6)
    yield Case("ends", ops.Update(), (t(S8, 4, 4), t(S8, 2, 3), t(S32, 2)))
    yield Case("const_box", ops.Update(), (t(S8, 4, 5, 6), ints(S8, 2, 3, 1), t(S32, 3)), few=4)
    yield Case("both_const", ops.Update(), (ints(S16, 5), ints(S16, 2), t(S32, 1)), few=4)


def scaled_cases(mode: Mode) -> Iterator[Case]:
    change = ops.requantize_table(B, U8, A, S8, mode)
    for axis in range(4):
        a, b = (tuple(n + i * (at == axis) for at, n in enumerate((1, 3, 2, 4))) for i in (0, 1))
        yield Case(f"axis{axis}", ops.Concat(axis, (None, change), S8, A), (t(S8, *a, quant=A), t(U8, *b, quant=B)))


def shape_cases() -> Iterator[Case]:
    yield Case("channels", ops.Broadcast((1, 3, 4, 5)), (t(S8, 1, 1, 1, 5),))
    yield Case("pixels", ops.Broadcast((2, 3, 4, 5)), (t(S16, 3, 4, 1),))
    yield Case("rows", ops.Broadcast((2, 3, 4, 5)), (t(S8, 2, 1, 4, 5),))
    yield Case("number", ops.Broadcast((2, 3)), (t(F32),))
    yield Case("view", ops.Reshape((3, 8)), (t(S8, 1, 2, 3, 4),))
    yield Case("known", ops.Reshape((3, 8)), (ints(S16, 1, 2, 3, 4),))
    yield Case("known_all", ops.Transpose((1, 0)), (ints(S8, 3, 4),))
    yield Case("sums", ops.Concat(1, (None, None), S32, None), (t(S32, 3, 2), t(S32, 3, 4)))


def plain_cases() -> Iterator[Case]:
    """Bytes and real numbers, each moved in the same ways."""
    x = (1, 6, 4, 8)
    shaped: tuple[tuple[Op, tuple[int, ...]], ...] = (
        (ops.Reshape((1, 192)), x),
        (ops.Reshape((6, 4, 8)), x),
        (ops.Reshape((1, 4, 6, 8)), x),
        (ops.Transpose((0, 3, 1, 2)), x),
        (ops.Transpose((0, 1, 3, 2)), x),
        (ops.Transpose((1, 0)), (3, 5)),
        (ops.Slice((0, 1, 3, 2), (1, 2, 2, 3), (1, 2, -2, 2)), x),
        (ops.Slice((0, 5, 0, 0), (1, 6, 4, 8), (1, -1, 1, 1)), x),
        (ops.Slice((1, 0, 0), (1, 4, 8), (1, 1, 1)), (3, 4, 8)),
        (ops.Slice((2,), (3,), (1,)), (7,)),
        (ops.Slice((0, 0, 1, 0), (1, 6, 2, 8), (1, 1, 1, 1), over=True), x),
        (ops.Gather(1, (5, 0, 0, 3)), x),
        (ops.Gather(3, (7, 1)), x),
        (ops.Gather(0, (2, 0, 1, 1)), (3, 5)),
        (ops.Pad((0, 1, 2, 0), (0, 2, 0, 1), "constant", -5), x),
        (ops.Pad((1, 1, 0, 0), (0, 2, 0, 0), "constant", 7), x),
        (ops.Pad((0, 2, 1, 0), (0, 3, 3, 1), "edge", 0), x),
        (ops.Pad((0, 2, 1, 3), (0, 5, 3, 1), "reflect", 0), x),
        (ops.Pad((1, 2), (0, 1), "constant", 3), (4, 5)),
        (ops.DepthToSpace(2, "DCR"), x),
        (ops.DepthToSpace(2, "CRD"), (2, 3, 2, 4)),
        (ops.SpaceToDepth(2), x),
        (ops.SpaceToDepth(3), (2, 6, 3, 1)),
        (ops.Broadcast((2, 3, 4, 5)), (3, 1, 5)),
        (ops.Broadcast((1, 5, 2, 8)), (1, 1, 2, 8)),
    )
    for i, (op, shape) in enumerate(shaped):
        for dtype in (S8, F32):
            yield Case(f"{dtype.value}_{i}", op, (t(dtype, *shape, quant=A),))
