"""ArgMax and ArgMin.

Decides: that the positions of extremes are those of the integers, and that indices, int64 in ONNX, have 32 bits here.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.ops import ArgExtremum, Reshape, Transpose
from codegen.real.reduce import ArgExtremum as RealArgExtremum
from codegen.settle.context import Context
from codegen.settle.states import Int, Route, State
from codegen.settle.tables import ordered


def arg_extremum(ctx: Context, node: RealNode, op: RealArgExtremum) -> Sequence[State]:
    """ArgMax or ArgMin over one axis."""
    x = ordered(ctx, node)
    shape = ctx.type(x).shape
    rank = len(shape)
    axis = op.axis
    others = tuple(i for i in range(rank) if i != axis)
    kept = (*shape[:axis], 1, *shape[axis + 1 :]) if op.keep else tuple(shape[i] for i in others)
    main = ArgExtremum(op.largest, op.last)
    pre = () if axis == rank - 1 else (Transpose((*others, axis)),)
    post = () if kept == (*(shape[i] for i in others), 1) else (Reshape(kept),)
    note = f"{node.op_type} -> ArgExtremum, 32-bit indices"
    return [Int(ctx.run(x, Route(main, pre, post), node.outputs[0], (node,), note), "int64")]
