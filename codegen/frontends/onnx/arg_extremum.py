"""ArgMax and ArgMin.

Decides: that the positions of extremes are those of the integers, and that indices, int64 in ONNX, have 32 bits here.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import ShapeMismatch
from codegen.frontends.onnx.context import Context
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.states import Int, Real, Route, State
from codegen.frontends.onnx.tables import exact, is_strictly_increasing
from codegen.ops import ArgExtremum, Reshape, Transpose


def arg_extremum(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """ArgMax or ArgMin over one axis."""
    x = _ordered(ctx, node)
    shape = ctx.type(x).shape
    rank = len(shape)
    if not rank:
        raise ShapeMismatch("a tensor without axes", where=node.where)
    axis = node.integer("axis", 0, low=-rank, high=rank - 1) % rank
    others = tuple(i for i in range(rank) if i != axis)
    kept = (*shape[:axis], 1, *shape[axis + 1 :]) if node.flag("keepdims", True) else tuple(shape[i] for i in others)
    op = ArgExtremum(node.op_type == "ArgMax", node.flag("select_last_index"))
    pre = () if axis == rank - 1 else (Transpose((*others, axis)),)
    post = () if kept == (*(shape[i] for i in others), 1) else (Reshape(kept),)
    note = f"{node.op_type} -> ArgExtremum, 32-bit indices"
    return [Int(ctx.run(x, Route(op, pre, post), node.outputs[0], (node,), note), "int64")]


def _ordered(ctx: Context, node: OnnxNode) -> str:
    """The integers whose order is that of the input."""
    state = ctx.state(node, 0)
    if isinstance(state, Int) or (isinstance(state, Real) and is_strictly_increasing(ctx, state)):
        return state.value
    return exact(ctx, node, 0).value
