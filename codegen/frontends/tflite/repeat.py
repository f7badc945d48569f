"""Operators that repeat, turn round or pick: TILE, BROADCAST_TO, REVERSE_V2, GATHER, GATHER_ND, EMBEDDING_LOOKUP.

Decides: which movements of ours they are; positions that are constants become part of the movement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.axes import read_axes, read_axis
from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.ir.op import Op
from codegen.ir.quant import TensorType
from codegen.ops import Broadcast, Gather, Reshape, Slice, Take, Transpose
from codegen.settle.builder import check_size


def tile(ctx: Context, node: TfliteNode) -> None:
    """TILE: axes of one element are repeated, the others picked again and again."""
    shape, counts = ctx.type(node, 0).shape, ctx.int_list(node, 1)
    if len(counts) != len(shape) or min(counts, default=1) < 1:
        raise ShapeMismatch(f"multiples {list(counts)} of {list(shape)}", where=node.where)
    check_size(TensorType(tuple(n * count for n, count in zip(shape, counts, strict=True)), ctx.type(node, 0).dtype))
    ones = tuple(count if n == 1 else n for n, count in zip(shape, counts, strict=True))
    picks = [Gather(i, (*range(n),) * c) for i, (n, c) in enumerate(zip(shape, counts, strict=True)) if n > 1 < c]
    _write_chain(ctx, node, [*([Broadcast(ones)] if ones != shape else []), *picks])


def broadcast_to(ctx: Context, node: TfliteNode) -> None:
    """BROADCAST_TO."""
    ctx.write(node, Broadcast(ctx.int_list(node, 1)), (ctx.value(node, 0),))


def reverse(ctx: Context, node: TfliteNode) -> None:
    """REVERSE_V2."""
    shape = ctx.type(node, 0).shape
    axes = read_axes(node, ctx.int_list(node, 1), len(shape))
    starts = tuple(n - 1 if a in axes else 0 for a, n in enumerate(shape))
    op = Slice(starts, shape, tuple(-1 if a in axes else 1 for a in range(len(shape))))
    ctx.write(node, op, (ctx.value(node, 0),))


def gather(ctx: Context, node: TfliteNode) -> None:
    """GATHER."""
    options = node.options_of("GatherOptions")
    shape, positions = ctx.type(node, 0).shape, ctx.tensor(node, 1).data
    if options.BatchDims() or (positions is not None and positions.dtype.kind not in "iu"):
        raise FormUnsupported("positions per batch", where=node.where)
    axis = read_axis(node, int(options.Axis()), len(shape))
    if positions is None:
        _take(ctx, node, 0, 1, axis)
        return
    op = Gather(axis, tuple(int(i) for i in positions.reshape(-1)))
    ctx.write(node, op, (ctx.value(node, 0),), post=(Reshape(ctx.result(node).shape),))


def gather_nd(ctx: Context, node: TfliteNode) -> None:
    """GATHER_ND: the axes that constant positions name become one."""
    shape, positions = ctx.type(node, 0).shape, ctx.tensor(node, 1).data
    if positions is None:
        ctx.write(node, Take(ctx.type(node, 1).shape[-1]), (ctx.value(node, 0), ctx.value(node, 1)))
        return
    depth = positions.shape[-1] if positions.ndim else 0
    if positions.dtype.kind not in "iu" or not 1 <= depth <= len(shape):
        raise ShapeMismatch(f"positions of shape {list(positions.shape)} in {list(shape)}", where=node.where)
    named, points = shape[:depth], positions.reshape(-1, depth)
    if (points < 0).any() or (points >= np.array(named)).any():
        raise ShapeMismatch(f"positions outside {list(shape)}", where=node.where)
    picked = np.atleast_1d(np.ravel_multi_index(tuple(points.T), named))
    value = ctx.reshaped(node, ctx.value(node, 0), (math.prod(named), *shape[depth:]))
    op = Gather(0, tuple(picked.tolist()))
    ctx.write(node, op, (value,), post=(Reshape(ctx.result(node).shape),))


def embedding_lookup(ctx: Context, node: TfliteNode) -> None:
    """EMBEDDING_LOOKUP: rows of a table, in its own type."""
    if ctx.tensor(node, 1).kind != ctx.result(node).kind:
        raise FormUnsupported(f"a lookup that makes {ctx.result(node).kind} numbers", where=node.where)
    _take(ctx, node, 1, 0, 0)


def _take(ctx: Context, node: TfliteNode, data: int, index: int, axis: int) -> None:
    """Elements along one axis at computed positions: the axis goes first, and the picked ones take its place."""
    shape, picks = ctx.type(node, data).shape, ctx.type(node, index).shape
    value, count = ctx.value(node, data), len(picks)
    if axis:
        order = (axis, *(a for a in range(len(shape)) if a != axis))
        value = ctx.apply(node, Transpose(order), (value,), note="for the layout")
    positions = ctx.reshaped(node, ctx.value(node, index), (*picks, 1), "positions")
    back = (*range(count, count + axis), *range(count), *range(count + axis, count + len(shape) - 1))
    ctx.write(node, Take(1), (value, positions), post=(Transpose(back),) if axis else ())


def _write_chain(ctx: Context, node: TfliteNode, ops: Sequence[Op]) -> None:
    """Operators one behind the other; a copy when there is none."""
    first, *rest = ops or [Reshape(ctx.type(node, 0).shape)]
    ctx.write(node, first, (ctx.value(node, 0),), post=rest)
