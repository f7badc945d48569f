"""Operators that move numbers and compute nothing.

Decides: which of our operators a movement is; positions that are constants become part of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops import (
    Broadcast,
    Cast,
    Concat,
    DepthToSpace,
    Gather,
    Pad,
    Reshape,
    Slice,
    SpaceToDepth,
    Take,
    TopK,
    Transpose,
    Update,
    requantize_table,
)
from codegen.real import along, scatter
from codegen.real import movement as real
from codegen.real import update as real_update
from codegen.settle.float32.picking import parts_taken, turned
from codegen.settle.float32.writer import Writer
from codegen.settle.move import move
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Float, Int, Pending, Real, Request, Route, State
from codegen.settle.tflite.context import TfliteContext, bounds


def reshape(ctx: TfliteContext, node: RealNode, op: real.Reshape) -> Sequence[State]:
    """RESHAPE, SQUEEZE, EXPAND_DIMS."""
    return [_moved(ctx, node, Reshape(op.shape))]


def transpose(ctx: TfliteContext, node: RealNode, op: real.Transpose) -> Sequence[State]:
    """TRANSPOSE."""
    return [_moved(ctx, node, Transpose(op.perm))]


def slice_of(ctx: TfliteContext, node: RealNode, op: real.Slice) -> Sequence[State]:
    """SLICE and its like."""
    return [_moved(ctx, node, Slice(op.starts, op.counts, op.steps))]


def expand(ctx: TfliteContext, node: RealNode, op: real.Expand) -> Sequence[State]:
    """BROADCAST_TO and FILL."""
    return [_moved(ctx, node, Broadcast(op.shape))]


def depth_to_space(ctx: TfliteContext, node: RealNode, op: real.DepthToSpace) -> Sequence[State]:
    """DEPTH_TO_SPACE."""
    return [_moved(ctx, node, DepthToSpace(op.block, op.mode))]


def space_to_depth(ctx: TfliteContext, node: RealNode, op: real.SpaceToDepth) -> Sequence[State]:
    """SPACE_TO_DEPTH."""
    return [_moved(ctx, node, SpaceToDepth(op.block))]


def tile(ctx: TfliteContext, node: RealNode, op: real.Tile) -> Sequence[State]:
    """TILE: axes of one element are repeated, the others picked again and again."""
    shape = ctx.real(node.inputs[0]).shape
    pairs = list(zip(shape, op.counts, strict=True))
    ones = tuple(count if n == 1 else n for n, count in pairs)
    picks = [Gather(i, (*range(n),) * c) for i, (n, c) in enumerate(pairs) if n > 1 < c]
    return [_moved(ctx, node, *([Broadcast(ones)] if ones != shape else []), *picks)]


def pad(ctx: TfliteContext, node: RealNode, op: real.Pad) -> Sequence[State]:
    """PAD and PADV2 with a number of the result's own scale; MIRROR_PAD picks elements again."""
    if op.mode == "constant":
        return [_moved(ctx, node, Pad(op.before, op.after, "constant", _fill(ctx, node, op.value)))]
    picks: list[Op] = []
    for axis, (n, before, after) in enumerate(zip(ctx.real(node.inputs[0]).shape, op.before, op.after, strict=True)):
        if before or after:
            picked = np.pad(np.arange(n), (before, after), mode="reflect" if op.mode == "reflect" else "symmetric")
            picks.append(Gather(axis, tuple(picked.tolist())))
    return [_moved(ctx, node, *picks)]


def _fill(ctx: TfliteContext, node: RealNode, number: float) -> float:
    """What stands for a number in the result, or where that is moved on, in the input."""
    stored = ctx.record(node.outputs[0]).stored or ctx.record(node.inputs[0]).stored
    if stored is None:
        return number if isinstance(ctx.state(node, 0), Float) else int(number)
    return int(np.rint(number / float(stored.scale.reshape(-1)[0]))) + int(stored.zero_point.reshape(-1)[0])


def gather(ctx: TfliteContext, node: RealNode, op: real.Gather) -> Sequence[State]:
    """GATHER and EMBEDDING_LOOKUP."""
    positions = ctx.known(node, 1)
    if positions is None or node.op_type == "EMBEDDING_LOOKUP":
        return [_taken(ctx, node, op.axis)]
    picked = Gather(op.axis, tuple(int(i) for i in positions.reshape(-1)))
    return [_moved(ctx, node, picked, Reshape(ctx.real(node.outputs[0]).shape))]


def gather_nd(ctx: TfliteContext, node: RealNode, op: scatter.GatherND) -> Sequence[State]:
    """GATHER_ND: the axes that constant positions name become one; behind common axes it is a GATHER."""
    if op.batch:
        return [with_value(ctx.state(node, 0), parts_taken(Writer(ctx, node), ctx.value(node, 0), op))]
    shape, positions = ctx.real(node.inputs[0]).shape, ctx.known(node, 1)
    if positions is None:
        take = Take(ctx.real(node.inputs[1]).shape[-1])
        return [with_value(ctx.state(node, 0), ctx.made(node, take, (ctx.value(node, 0), _places(ctx, node))))]
    depth = positions.shape[-1]
    named, points = shape[:depth], positions.reshape(-1, depth)
    picked = np.atleast_1d(np.ravel_multi_index(tuple(points.T), named))
    value = ctx.reshaped(node, ctx.value(node, 0), (math.prod(named), *shape[depth:]))
    route = (Gather(0, tuple(picked.tolist())), Reshape(ctx.real(node.outputs[0]).shape))
    return [with_value(ctx.state(node, 0), ctx.made(node, route[0], (value,), post=route[1:]))]


def reverse_sequence(ctx: TfliteContext, node: RealNode, op: along.ReverseSequence) -> Sequence[State]:
    """REVERSE_SEQUENCE."""
    return [with_value(ctx.state(node, 0), turned(Writer(ctx, node), ctx.value(node, 0), op))]


def _places(ctx: TfliteContext, node: RealNode) -> str:
    """Computed positions, which are held in 32 bits."""
    value = ctx.value(node, 1)
    return value if ctx.type(value).dtype is DType.S32 else ctx.apply(node, Cast(DType.S32), (value,), "places")


def _taken(ctx: TfliteContext, node: RealNode, axis: int) -> State:
    """Elements along one axis at computed positions: the axis goes first, and the picked ones take its place."""
    shape, picks = ctx.real(node.inputs[0]).shape, ctx.real(node.inputs[1]).shape
    value, count = ctx.value(node, 0), len(picks)
    if axis:
        order = (axis, *(a for a in range(len(shape)) if a != axis))
        value = ctx.apply(node, Transpose(order), (value,))
    positions = ctx.reshaped(node, _places(ctx, node), (*picks, 1), "positions")
    back = (*range(count, count + axis), *range(count), *range(count + axis, count + len(shape) - 1))
    post = (Transpose(back),) if axis else ()
    return with_value(ctx.state(node, 0), ctx.made(node, Take(1), (value, positions), post=post))


def top_k(ctx: TfliteContext, node: RealNode, op: along.TopK) -> Sequence[State]:
    """TOPK_V2: the largest numbers of the last axis, and where they are."""
    value = ctx.value(node, 0)
    best, places = (
        ctx.made(node, TopK(op.count, positions), (value,), name)
        for name, positions in zip(node.outputs, (False, True), strict=True)
    )
    return [with_value(ctx.state(node, 0), best), Int(places)]


def update_slice(ctx: TfliteContext, node: RealNode, op: real_update.UpdateSlice) -> Sequence[State]:
    """DYNAMIC_UPDATE_SLICE, at a place that is moved to where the update fits; a known one makes it a join of parts."""
    shape, box = (ctx.real(name).shape for name in node.inputs[:2])
    asked = ctx.known(node, 2)
    if asked is None:
        return [with_value(ctx.state(node, 0), ctx.made(node, Update(), [ctx.value(node, i) for i in range(3)]))]
    starts = tuple(min(max(s, 0), n - u) for s, n, u in zip(asked.reshape(-1).tolist(), shape, box, strict=True))
    axes = [a for a in reversed(range(len(shape))) if box[a] < shape[a]]
    parts: tuple[str, ...] = (ctx.value(node, 1),)
    kind, made = ctx.type(ctx.value(node, 0)), None
    for axis in axes:
        if made is not None:
            parts = (ctx.apply(node, made, parts),)
        parts = _around(ctx, node, parts[0], axis, starts, box)
        made = Concat(axis, (None,) * len(parts), kind.dtype, kind.quant)
    return [with_value(ctx.state(node, 0), ctx.made(node, made or Reshape(shape), parts))]


def _around(
    ctx: TfliteContext, node: RealNode, middle: str, axis: int, starts: Sequence[int], box: Sequence[int]
) -> tuple[str, ...]:
    """The part of the tensor before the changed one along an axis, that one, and the part behind it."""
    shape = ctx.real(node.inputs[0]).shape
    stop = starts[axis] + box[axis]

    def part(first: int, length: int) -> tuple[str, ...]:
        if not length:
            return ()
        begin = (*starts[:axis], first, *(0,) * (len(shape) - axis - 1))
        op = Slice(begin, (*box[:axis], length, *shape[axis + 1 :]), (1,) * len(shape))
        return (ctx.apply(node, op, (ctx.value(node, 0),)),)

    return (*part(0, starts[axis]), middle, *part(stop, shape[axis] - stop))


def concat(ctx: TfliteContext, node: RealNode, op: real.Concat) -> Sequence[State]:
    """CONCATENATION, which brings unsigned numbers to one scale and copies signed ones, and PACK, which copies."""
    record = ctx.record(node.outputs[0])
    if len(node.inputs) == 1 and node.op_type == "PACK":
        return [_moved(ctx, node, Reshape(record.type.shape))]
    if node.op_type == "PACK" or not record.type.is_real:
        return [_copied(ctx, node, op.axis)]
    parts = [ctx.quantized(node, i) for i in range(len(node.inputs))]
    return [ctx.waiting(node, lambda request: _joined(ctx, node, parts, op.axis, request))]


def _copied(ctx: TfliteContext, node: RealNode, axis: int) -> State:
    values = [ctx.value(node, i) for i in range(len(node.inputs))]
    kind = ctx.type(values[0])
    op = Concat(axis, (None,) * len(values), kind.dtype, kind.quant)
    return with_value(ctx.state(node, 0), ctx.made(node, op, values))


def _joined(ctx: TfliteContext, node: RealNode, parts: Sequence[Real], axis: int, request: Request) -> str:
    y, dtype = request.quant, request.dtype
    if bounds(request) != (dtype.low, dtype.high):
        raise FormUnsupported("a fused activation", where=node.where)
    copies = ctx.mode == "tflite" and dtype.low < 0
    tables = tuple(
        None if x.quant == y or copies else requantize_table(x.quant, ctx.type(x.value).dtype, y, dtype, ctx.mode)
        for x in parts
    )
    return ctx.write(request, Concat(axis, tables, dtype, y), [x.value for x in parts])


def _moved(ctx: TfliteContext, node: RealNode, *ops: Op) -> State:
    """One movement behind the other; a copy when there is none."""
    first, *rest = ops or (Reshape(ctx.real(node.outputs[0]).shape),)
    note = f"{node.op_type} -> {type(first).__name__}"
    return move(ctx, node, ctx.state(node, 0), lambda kind: Route(first, (), tuple(rest)), note=note)


def with_value(state: Real | Int | Float | Pending, value: str) -> State:
    """The state of a tensor whose elements were moved to `value`."""
    assert not isinstance(state, Pending), "its value was read"
    return replace(state, value=value)


RULES: Family = (
    Rule(along.ReverseSequence, reverse_sequence, ("REVERSE_SEQUENCE",)),
    Rule(along.TopK, top_k, ("TOPK_V2",)),
    Rule(real.Concat, concat, ("CONCATENATION", "PACK")),
    Rule(real.DepthToSpace, depth_to_space, ("DEPTH_TO_SPACE",)),
    Rule(real.Expand, expand, ("BROADCAST_TO",)),
    Rule(real.Gather, gather, ("EMBEDDING_LOOKUP", "GATHER")),
    Rule(real.Pad, pad, ("MIRROR_PAD", "PAD", "PADV2")),
    Rule(real.Reshape, reshape, ("EXPAND_DIMS", "RESHAPE", "SQUEEZE")),
    Rule(real.Slice, slice_of, ("REVERSE_V2", "SLICE", "SPLIT", "SPLIT_V", "STRIDED_SLICE", "UNPACK")),
    Rule(real.SpaceToDepth, space_to_depth, ("SPACE_TO_DEPTH",)),
    Rule(real.Tile, tile, ("TILE",)),
    Rule(real.Transpose, transpose, ("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND", "TRANSPOSE")),
    Rule(scatter.GatherND, gather_nd, ("GATHER_ND",)),
    Rule(real_update.UpdateSlice, update_slice, ("DYNAMIC_UPDATE_SLICE",)),
)
