"""Hardmax.

Decides: that the largest number is that of the integers, and that bounds behind it are those of one and zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.ops import Hardmax, activation_bounds
from codegen.ops.requantize import quantize_real
from codegen.real.along import Hardmax as RealHardmax
from codegen.settle.context import Context, real_bounds, story
from codegen.settle.layout import axes_last
from codegen.settle.states import Pending, Request, Route, State
from codegen.settle.tables import ordered


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
