"""Trilu.

Decides: that what lies beyond the diagonal is the integer that means zero, in the scale of the tensor that is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from codegen.ir.real import RealNode
from codegen.ops import Triangle
from codegen.real.along import Triangle as RealTriangle
from codegen.settle.context import Context
from codegen.settle.join import clamped
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Int, Pending, Real, Request, Route, State
from codegen.settle.tables import exact

_NOTE = "Trilu -> Triangle"
Cut = Callable[[str, int, str], str]
"""Cuts a value, with the integer that means zero, under a name."""


def triangle(ctx: Context, node: RealNode, op: RealTriangle) -> Sequence[State]:
    """A triangle of quantized numbers, of integers, or of a result that waits for its scale."""
    x, name = ctx.state(node, 0), node.outputs[0]

    def cut(value: str, zero: int, as_name: str) -> str:
        return ctx.run(value, Route(Triangle(op.upper, op.offset, zero)), as_name, (node,), _NOTE)

    if isinstance(x, Pending):
        return [_behind(ctx, node, x, cut)]
    if isinstance(x, Int):
        return [replace(x, value=cut(x.value, 0, name))]
    known = exact(ctx, node, 0)
    return [Real(cut(known.value, known.quant.zero_point, name), known.quant)]


def _behind(ctx: Context, node: RealNode, x: Pending, cut: Cut) -> Pending:
    """Cut behind the operator; its own bounds come before, and those of what follows behind."""

    def whole(request: Request) -> str:
        trail = tuple(n for n in request.trail if n is not node)
        return x.emit(replace(request, name=f"{request.name}:whole", trail=trail, low=x.low, high=x.high))

    def emit(request: Request) -> str:
        return clamped(ctx, request, lambda r: cut(whole(r), r.quant.zero_point, r.name))

    return Pending(x.shape, emit, (*x.trail, node))


RULES: Family = (Rule(RealTriangle, triangle, ("Trilu",)),)
