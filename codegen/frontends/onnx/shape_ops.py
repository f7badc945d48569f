"""Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Expand, Identity, Dropout, DepthToSpace, SpaceToDepth, Shape.

Decides: the resulting shape, from sizes that are always known.  The elements move as integers (move.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.layout import TO_NCHW, TO_NHWC
from codegen.frontends.onnx.context import Context
from codegen.frontends.onnx.move import move
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.states import Const, Route, State
from codegen.ir.op import Op
from codegen.ops import Broadcast, DepthToSpace, Reshape, SpaceToDepth, Transpose


def identity(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Identity."""
    return [ctx.state(node, 0)]


def dropout(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Dropout at inference, which is nothing."""
    hint = "export the model for inference (model.eval() in PyTorch)"
    if len(node.outputs) > 1 and node.outputs[1]:
        raise FormUnsupported("Dropout with its mask", where=node.where, hint=hint)
    training, ratio = ctx.optional_const(node, 2), ctx.optional_const(node, 1)
    drops = ratio is None or bool(np.any(ratio != 0))
    if (training is not None and np.any(training) and drops) or node.integer("is_test", 1) == 0:
        raise FormUnsupported("Dropout with training_mode true: its results are random", where=node.where, hint=hint)
    return [ctx.state(node, 0)]


def reshape(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Reshape with 0 (keep) and -1 (the rest)."""
    x = ctx.state(node, 0)
    wanted = ctx.int_list(node, 1, "shape")
    if wanted is None:
        raise ShapeMismatch("the shape is missing", where=node.where)
    shape, old = list(wanted), ctx.shape(x)
    if not node.flag("allowzero"):
        shape = [old[i] if n == 0 and i < len(old) else n for i, n in enumerate(shape)]
    if shape.count(-1) == 1:
        rest = math.prod(n for n in shape if n != -1)
        shape[shape.index(-1)] = math.prod(old) // rest if rest > 0 else 0
    if any(n < 0 for n in shape) or math.prod(shape) != math.prod(old):
        raise ShapeMismatch(f"{list(old)} cannot become {list(wanted)}", where=node.where)
    return [reshaped(ctx, node, x, tuple(shape))]


def flatten(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Flatten to two axes."""
    x = ctx.state(node, 0)
    shape = ctx.shape(x)
    axis = node.integer("axis", 1, low=-len(shape), high=len(shape))
    axis = axis + len(shape) if axis < 0 else axis
    return [reshaped(ctx, node, x, (math.prod(shape[:axis]), math.prod(shape[axis:])))]


def squeeze(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Squeeze the given axes, or all of size 1."""
    x = ctx.state(node, 0)
    shape = ctx.shape(x)
    given = ctx.int_list(node, 1, "axes")
    axes = _axes(node, given, len(shape)) if given else [i for i, n in enumerate(shape) if n == 1]
    if any(shape[a] != 1 for a in axes):
        raise ShapeMismatch(f"axes {axes} of {list(shape)} are not all of size 1", where=node.where)
    return [reshaped(ctx, node, x, tuple(n for i, n in enumerate(shape) if i not in axes))]


def unsqueeze(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Unsqueeze: axes of size 1 at positions of the result."""
    x = ctx.state(node, 0)
    given = ctx.int_list(node, 1, "axes")
    if given is None:
        raise ShapeMismatch("the axes are missing", where=node.where)
    old = iter(ctx.shape(x))
    rank = len(ctx.shape(x)) + len(given)
    axes = _axes(node, given, rank)
    return [reshaped(ctx, node, x, tuple(1 if i in axes else next(old) for i in range(rank)))]


def transpose(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Transpose, by default reversing the axes."""
    x = ctx.state(node, 0)
    rank = len(ctx.shape(x))
    perm = node.integers("perm", tuple(range(rank))[::-1], count=rank)
    if sorted(perm) != list(range(rank)):
        raise ShapeMismatch(f"perm {list(perm)} of {rank} axes", where=node.where)
    return [move(ctx, node, x, lambda kind: Route(Transpose(perm)))]


def expand(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Expand to a constant shape."""
    x = ctx.state(node, 0)
    wanted, old = ctx.int_list(node, 1, "shape") or (), ctx.shape(x)
    rank = max(len(wanted), len(old))
    pairs = list(zip((1,) * (rank - len(old)) + old, (1,) * (rank - len(wanted)) + wanted, strict=True))
    if any(n != m and 1 not in (n, m) for n, m in pairs):
        raise ShapeMismatch(f"{list(old)} cannot be expanded to {list(wanted)}", where=node.where)
    shape = tuple(n if m == 1 else m for n, m in pairs)
    if shape == old:
        return [x]
    return [move(ctx, node, x, lambda kind: Route(Broadcast(shape)))]


def depth_to_space(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """DepthToSpace, both orders."""
    block = node.integer("blocksize", low=1)
    mode = node.string("mode", "DCR", ("DCR", "CRD"))
    return [_nhwc(ctx, node, DepthToSpace(block, "DCR" if mode == "DCR" else "CRD"))]


def space_to_depth(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """SpaceToDepth."""
    return [_nhwc(ctx, node, SpaceToDepth(node.integer("blocksize", low=1)))]


def shape_of(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Shape and Size: constants, for every shape is known."""
    shape = ctx.shape(ctx.state(node, 0))
    if node.op_type == "Size":
        return [Const(np.array(math.prod(shape), np.int64))]
    rank = len(shape)
    start, end = node.integer("start", 0), node.integer("end", rank)
    return [Const(np.array(shape[slice(start, end)], np.int64))]


def reshaped(ctx: Context, node: OnnxNode, x: State, shape: tuple[int, ...]) -> State:
    """The tensor under another shape."""
    if shape == ctx.shape(x):
        return x
    return move(ctx, node, x, lambda kind: Route(Reshape(shape)))


def _nhwc(ctx: Context, node: OnnxNode, op: Op) -> State:
    x = ctx.state(node, 0)
    if len(ctx.shape(x)) != 4:
        raise ShapeMismatch(f"a tensor of shape {list(ctx.shape(x))}", where=node.where)
    return move(ctx, node, x, lambda kind: Route(op, (Transpose(TO_NHWC),), (Transpose(TO_NCHW),)))


def _axes(node: OnnxNode, axes: Sequence[int], rank: int) -> list[int]:
    if any(not -rank <= a < rank for a in axes) or len({a % rank for a in axes}) != len(axes):
        raise ShapeMismatch(f"axes {list(axes)} of {rank} axes", where=node.where)
    return [a % rank for a in axes]
