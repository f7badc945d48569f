"""ArgMax, ArgMin and Hardmax: where the largest or the smallest number is.

Decides: that the positions of extremes are those of the integers, that indices, int64 in ONNX, have 32 bits here, and
that bounds behind a Hardmax are those of one and zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.ops import ArgExtremum, Hardmax, Reshape, Transpose, activation_bounds
from codegen.ops.requantize import quantize_real
from codegen.real.along import Hardmax as RealHardmax
from codegen.real.reduce import ArgExtremum as RealArgExtremum
from codegen.settle.context import Context, real_bounds, story
from codegen.settle.layout import axes_last
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Int, Pending, Request, Route, State
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


def hardmax(ctx: Context, node: RealNode, op: RealHardmax) -> Sequence[State]:
    """Hardmax over one axis, or over all from one on."""
    x = ordered(ctx, node)
    shape = ctx.type(x).shape
    pre, post = axes_last(shape, op.axes)

    def emit(request: Request) -> str:
        low, high = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        chosen, other = (min(max(quantize_real(n, request.quant, request.dtype), low), high) for n in (1.0, 0.0))
        route = Route(Hardmax(chosen, other, request.quant, request.dtype), pre, post)
        return ctx.run(x, route, request.name, request.trail, f"{story(request.trail)} -> Hardmax")

    return [Pending(shape, emit, (node,))]


RULES: Family = (
    Rule(RealArgExtremum, arg_extremum, ("ArgMax", "ArgMin")),
    Rule(RealHardmax, hardmax, ("Hardmax",)),
)
TFLITE_RULES: Family = (Rule(RealArgExtremum, arg_extremum, ("ARG_MAX", "ARG_MIN")),)
