"""Small cases of the operators that only move data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops import (
    Broadcast,
    Concat,
    DepthToSpace,
    Gather,
    Pad,
    Reshape,
    ResizeNearest,
    Slice,
    SpaceToDepth,
    Transpose,
)

S8, U8, S16, S32, F32 = DType.S8, DType.U8, DType.S16, DType.S32, DType.F32
RNG = np.random.default_rng(21)
Raw = tuple[str, Op, tuple[TensorType | Array | int, ...]]


def t(dtype: DType, *shape: int) -> TensorType:
    return TensorType(shape, dtype)


def ints(dtype: DType, *shape: int) -> Array:
    return RNG.integers(dtype.low, dtype.high, shape, endpoint=True).astype(dtype.numpy)


def movement_cases() -> Iterator[Raw]:
    """All of them."""
    for source in (concat_cases, transpose_cases, slice_cases, gather_cases, pad_cases, block_cases, resize_cases):
        yield from source()
    yield "channels", Broadcast((1, 3, 4, 5)), (t(S8, 1, 1, 1, 5),)
    yield "pixels", Broadcast((2, 3, 4, 5)), (t(S16, 3, 4, 1),)
    yield "rows", Broadcast((2, 3, 4, 5)), (t(S8, 2, 1, 4, 5),)
    yield "number", Broadcast((2, 3)), (t(F32),)
    yield "view", Reshape((3, 8)), (t(S8, 1, 2, 3, 4),)
    yield "known", Reshape((3, 8)), (ints(S16, 1, 2, 3, 4),)
    yield "known_all", Transpose((1, 0)), (ints(S8, 3, 4),)


def concat_cases() -> Iterator[Raw]:
    table = tuple(ints(S8, 256).tolist())

    def concat(axis: int, count: int, *, tables: Any = None, dtype: DType = S8) -> Concat:
        return Concat(axis, tables or (None,) * count, dtype, None)

    yield "channels", concat(3, 3), (t(S8, 1, 2, 3, 4), t(S8, 1, 2, 3, 1), t(S8, 1, 2, 3, 6))
    yield "scaled", concat(3, 2, tables=(table, None)), (t(U8, 1, 2, 3, 4), t(S8, 1, 2, 3, 5))
    yield "both_scaled", concat(3, 2, tables=(table, table[::-1])), (t(U8, 1, 2, 3, 4), t(S8, 1, 2, 3, 5))
    yield "pixels", concat(2, 2), (t(S8, 1, 2, 3, 4), t(S8, 1, 2, 5, 4))
    yield "rows", concat(1, 2, tables=(None, table)), (t(S8, 1, 2, 3, 4), t(S8, 1, 5, 3, 4))
    yield "batch", concat(0, 2, dtype=S16), (t(S16, 1, 2, 3, 4), t(S16, 2, 2, 3, 4))
    yield "vector", concat(0, 2, dtype=F32), (t(F32, 3), t(F32, 4))
    yield "constant", concat(3, 3), (t(S8, 1, 2, 3, 4), ints(S8, 1, 2, 3, 2), t(S8, 1, 2, 3, 1))
    yield "constant_pixels", concat(2, 2, tables=(table, None)), (ints(S8, 1, 2, 2, 4), t(S8, 1, 2, 3, 4))
    yield "constant_rows", concat(1, 2), (ints(S8, 1, 2, 3, 4), t(S8, 1, 1, 3, 4))
    yield (
        "constant_between",
        concat(1, 3, tables=(None, table, None)),
        (t(S8, 1, 2, 3, 4), ints(U8, 1, 3, 3, 4), t(S8, 1, 1, 3, 4)),
    )
    yield "batches", concat(1, 2), (t(S8, 2, 2, 3, 4), t(S8, 2, 1, 3, 4))
    yield "constant_batches", concat(1, 2, tables=(None, table)), (t(S8, 2, 2, 3, 4), ints(S8, 2, 1, 3, 4))
    yield "one", concat(1, 1), (t(S8, 1, 2, 3, 4),)
    yield "itself", concat(1, 2), (t(S8, 3, 5), 0)
    yield "itself_by_rows", concat(1, 2), (t(S8, 1, 3, 5, 2), 0)


def transpose_cases() -> Iterator[Raw]:
    for dtype, perm in (
        (S8, (0, 3, 1, 2)),
        (S8, (0, 2, 3, 1)),
        (U8, (0, 1, 3, 2)),
        (S16, (0, 2, 1, 3)),
        (S32, (3, 2, 1, 0)),
        (F32, (0, 1, 2, 3)),
    ):
        yield "".join(map(str, perm)), Transpose(perm), (t(dtype, 1, 3, 4, 5),)
    yield "matrix", Transpose((1, 0)), (t(S8, 4, 6),)
    yield "vector", Transpose((0,)), (t(S8, 4),)
    yield "six", Transpose((0, 3, 1, 4, 2, 5)), (t(S8, 1, 2, 3, 2, 3, 4),)
    yield "lead", Transpose((1, 0, 2, 3)), (t(S8, 2, 3, 2, 2),)


def slice_cases() -> Iterator[Raw]:
    def part(*axes: tuple[int, int, int]) -> Slice:
        starts, sizes, steps = zip(*axes, strict=True)
        return Slice(starts, sizes, steps)

    x = t(S8, 1, 6, 7, 8)
    everything = ((0, 1, 1), (0, 6, 1), (0, 7, 1), (0, 8, 1))
    yield "channels", part(*everything[:3], (2, 5, 1)), (x,)
    yield "channel_step", part(*everything[:3], (7, 3, -3)), (x,)
    yield "pixels", part(*everything[:2], (1, 3, 2), (0, 8, 1)), (x,)
    yield "rows", part((0, 1, 1), (1, 4, 1), *everything[2:]), (x,)
    yield "row_steps", part((0, 1, 1), (5, 3, -2), (6, 7, -1), (1, 3, 2)), (x,)
    yield "batch", part((1, 2, 1), (0, 2, 1), (0, 2, 1), (0, 2, 1)), (t(S16, 3, 2, 2, 2),)
    yield "vector", part((3, 4, 1)), (t(F32, 9),)
    yield "lines", part((3, 2, 1), (1, 2, 1)), (t(S8, 9, 4),)
    yield "all", part(*everything), (x,)


def gather_cases() -> Iterator[Raw]:
    x = t(S8, 2, 3, 4, 5)
    for axis, indices in ((0, (1, 0, 1)), (1, (2, 2, 0)), (2, (3, 1, 0, 0, 2)), (3, (4, 0, 2)), (3, (1,)), (2, (3,))):
        yield f"axis{axis}_{len(indices)}", Gather(axis, indices), (x,)
    yield "vector", Gather(0, (2, 1, 2)), (t(F32, 3),)
    yield "shuffle", Gather(3, (0, 3, 1, 4, 2, 5)), (t(S8, 1, 2, 3, 6),)


def pad_cases() -> Iterator[Raw]:
    x = t(S8, 1, 4, 5, 3)
    for mode in ("constant", "edge", "reflect"):
        yield f"map_{mode}", Pad((0, 1, 2, 0), (0, 2, 1, 0), mode, -7), (x,)
        yield f"both_{mode}", Pad((0, 1, 0, 1), (0, 0, 3, 2), mode, -7), (x,)
        yield f"rows_{mode}", Pad((0, 3, 0, 0), (0, 1, 0, 0), mode, 5), (x,)
        yield f"vector_{mode}", Pad((2,), (1,), mode, 5), (t(S16, 4),)
        yield f"matrix_{mode}", Pad((2, 1), (1, 0), mode, 1), (t(F32, 4, 3),)
    yield "batch", Pad((1, 1, 0, 0), (1, 0, 1, 0), "constant", 9), (t(U8, 2, 2, 2, 3),)
    yield "none", Pad((0, 0), (0, 0), "constant", 9), (t(U8, 2, 3),)


def block_cases() -> Iterator[Raw]:
    for mode in ("DCR", "CRD"):
        yield f"{mode}2", DepthToSpace(2, mode), (t(S8, 1, 3, 2, 12),)
        yield f"{mode}3", DepthToSpace(3, mode), (t(S16, 2, 2, 3, 9),)
        yield f"{mode}1", DepthToSpace(1, mode), (t(S8, 1, 2, 3, 2),)
    yield "two", SpaceToDepth(2), (t(S8, 1, 4, 6, 3),)
    yield "three", SpaceToDepth(3), (t(F32, 2, 3, 6, 1),)


def resize_cases() -> Iterator[Raw]:
    x = t(S8, 1, 3, 4, 5)
    yield "tflite", ResizeNearest((0, 0, 1, 1, 2, 2), (0, 0, 1, 1, 2, 2, 3, 3)), (x,)
    yield "uneven", ResizeNearest((0, 1, 1, 2, 2), (0, 1, 1, 2, 3)), (x,)
    yield "half", ResizeNearest((0, 2), (1, 3)), (t(F32, 2, 3, 4, 2),)
    yield "same", ResizeNearest((0, 1, 2), (0, 1, 2, 3)), (x,)
    yield "part", ResizeNearest((0, 1, 2), (0, 0, 1, 1, 2, 2)), (x,)
    yield "one", ResizeNearest((0,) * 3, (0,) * 4), (t(S8, 1, 1, 1, 5),)
