"""Operators that only move elements: they move the integers that hold them.

Decides: which operator of the graph moves as the model's does, and that what moves nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import ShapeMismatch
from codegen.ir.op import Op
from codegen.ir.real import RealNode
from codegen.ops import Broadcast, Gather, Reshape, Slice, Transpose
from codegen.ops import DepthToSpace as DepthToSpaceOp
from codegen.ops import SpaceToDepth as SpaceToDepthOp
from codegen.real import movement as real
from codegen.settle.context import Context, array_of
from codegen.settle.float32 import picking
from codegen.settle.float32.products import follow
from codegen.settle.layout import TO_NCHW, TO_NHWC
from codegen.settle.move import move, rewritten
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Route, State


def reshape(ctx: Context, node: RealNode, op: real.Reshape) -> Sequence[State]:
    """The tensor under another shape, or its own."""
    x = ctx.state(node, 0)
    return [x if op.shape == ctx.shape(x) else _moved(ctx, node, Reshape(op.shape))]


def transpose(ctx: Context, node: RealNode, op: real.Transpose) -> Sequence[State]:
    """Axes in another order."""
    return [_moved(ctx, node, Transpose(op.perm))]


def expand(ctx: Context, node: RealNode, op: real.Expand) -> Sequence[State]:
    """The tensor repeated along axes of size 1."""
    x = ctx.state(node, 0)
    ((shape),) = (t.shape for t in op.infer([ctx.real(node.inputs[0])]))
    return [x if shape == ctx.shape(x) else _moved(ctx, node, Broadcast(shape))]


def slice_of(ctx: Context, node: RealNode, op: real.Slice) -> Sequence[State]:
    """Some elements of each axis."""
    x = ctx.state(node, 0)
    if 0 in op.counts:
        raise ShapeMismatch("the slice is empty", where=node.where)
    steps = tuple(s if n > 1 else 1 for s, n in zip(op.steps, op.counts, strict=True))
    if op.counts == ctx.shape(x) and all(s == 1 for s in steps):
        return [x]
    return [_moved(ctx, node, Slice(op.starts, op.counts, op.steps))]


def gather(ctx: Context, node: RealNode, op: real.Gather) -> Sequence[State]:
    """Slices at positions that are known, or computed."""
    if ctx.optional(node, 1) is not None and array_of(ctx.state(node, 1)) is None:
        return [rewritten(ctx, node, ctx.state(node, 0), lambda w, x: picking.slices_taken(w, x, op))]
    indices, shape = ctx.const(node, 1), ctx.shape(ctx.state(node, 0))
    resolved = tuple(int(i) % shape[op.axis] for i in indices.reshape(-1))
    if not resolved:
        raise ShapeMismatch(f"indices outside an axis of {shape[op.axis]}", where=node.where)
    result = (*shape[: op.axis], *indices.shape, *shape[op.axis + 1 :])
    post: tuple[Op, ...] = () if indices.ndim == 1 else (Reshape(result),)
    return [move(ctx, node, ctx.state(node, 0), lambda kind: Route(Gather(op.axis, resolved), (), post))]


def depth_to_space(ctx: Context, node: RealNode, op: real.DepthToSpace) -> Sequence[State]:
    """DepthToSpace, both orders."""
    return [_nhwc(ctx, node, DepthToSpaceOp(op.block, op.mode), op.channel_axis)]


def space_to_depth(ctx: Context, node: RealNode, op: real.SpaceToDepth) -> Sequence[State]:
    """SpaceToDepth, the block's place before the channel."""
    if op.mode != "DCR":
        raise ctx.real_only(node)
    return [_nhwc(ctx, node, SpaceToDepthOp(op.block), op.channel_axis)]


def _moved(ctx: Context, node: RealNode, op: Op) -> State:
    moved = move(ctx, node, ctx.state(node, 0), lambda kind: Route(op))
    follow(ctx, node, moved, op)
    return moved


def _nhwc(ctx: Context, node: RealNode, op: Op, channel_axis: int) -> State:
    route = Route(op, (Transpose(TO_NHWC),), (Transpose(TO_NCHW),)) if channel_axis == 1 else Route(op)
    return move(ctx, node, ctx.state(node, 0), lambda kind: route)


RULES: Family = (
    Rule(real.DepthToSpace, depth_to_space, ("DepthToSpace",)),
    Rule(real.Expand, expand, ("Expand",)),
    Rule(real.Gather, gather, ("Gather",)),
    Rule(real.Reshape, reshape, ("Flatten", "Reshape", "Squeeze", "Unsqueeze")),
    Rule(real.Slice, slice_of, ("Slice", "Split")),
    Rule(real.SpaceToDepth, space_to_depth, ("SpaceToDepth",)),
    Rule(real.Transpose, transpose, ("Transpose",)),
)
