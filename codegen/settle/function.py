"""Elementwise functions of one tensor.

Decides: Relu and Clip fold into the
operator before them when no QuantizeLinear stands between; every other function needs a quantized input.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from codegen.errors import AttributeBad
from codegen.ir.real import RealNode
from codegen.ops import Clamp
from codegen.ops.functions import FUNCTIONS
from codegen.real.elementwise import Clip as RealClip
from codegen.real.elementwise import Function as RealFunction
from codegen.settle.chain import Function
from codegen.settle.context import Context, refuse_unquantized
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Int, Pending, Real, Route, State
from codegen.settle.tables import mapped, named
from codegen.settle.words import whole_numbers


def function(ctx: Context, node: RealNode, op: RealFunction) -> Sequence[State]:
    """A function; Relu folds into what waits for a scale."""
    x = ctx.state(node, 0)
    if op.name == "Relu" and isinstance(x, Pending):
        return [x.clipped(0.0, math.inf, node)]
    return [apply_function(ctx, node, 0, named(op.name, dict(op.attributes)))]


def clip(ctx: Context, node: RealNode, op: RealClip) -> Sequence[State]:
    """Clip: folded, or a function of a quantized tensor, or of integers."""
    low, high = op.low, op.high
    if math.isnan(low) or math.isnan(high) or low == math.inf or high == -math.inf:
        raise AttributeBad(f"bounds {low} and {high}", where=node.where)
    x = ctx.state(node, 0)
    # ONNX: where min > max, every element becomes max
    low = min(low, high)
    match x:
        case Pending():
            return [x.clipped(low, high, node)]
        case Int(value=value):
            kind = ctx.type(value).dtype
            shift = whole_numbers(x).zero_point
            bounds = [int(min(max(b + shift, kind.low), kind.high)) for b in (low, high)]
            note = "Clip of integers -> Clamp"
            made = ctx.run(value, Route(Clamp(bounds[0], bounds[1])), node.outputs[0], (node,), note)
            return [replace(x, value=made)]
        case _:
            return [apply_function(ctx, node, 0, named("Clip", {"min": low, "max": high}))]


def apply_function(ctx: Context, node: RealNode, index: int, f: Function) -> Real:
    """The function of one quantized input."""
    x = ctx.state(node, index)
    if not isinstance(x, Real):
        raise refuse_unquantized(node, index, x)
    return mapped(x, f, node)


RULES: Family = (
    Rule(RealClip, clip, ("Clip",)),
    Rule(RealFunction, function, (*FUNCTIONS, "QLinearLeakyRelu", "QLinearSigmoid")),
)
