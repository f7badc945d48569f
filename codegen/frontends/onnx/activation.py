"""Elementwise functions of one tensor.

Decides: which ONNX function with which attributes is which entry of `ops.FUNCTIONS`.  Relu and Clip fold into the
operator before them when no QuantizeLinear stands between; every other function needs a quantized input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from codegen.errors import AttributeBad, ShapeMismatch
from codegen.frontends.onnx.context import Context, is_scalar, refuse_unquantized
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.qparams import whole_numbers
from codegen.frontends.onnx.states import Function, Int, Pending, Real, Route, State
from codegen.frontends.onnx.tables import mapped, named
from codegen.ops import Clamp

DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "Celu": {"alpha": 1.0},
    "Elu": {"alpha": 1.0},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5},
    "LeakyRelu": {"alpha": 0.01},
    "Selu": {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    "Shrink": {"bias": 0.0, "lambd": 0.5},
    "Swish": {"alpha": 1.0},
    "ThresholdedRelu": {"alpha": 1.0},
}


def function(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """A function whose attributes are numbers."""
    attributes = {name: node.real(name, value) for name, value in DEFAULTS.get(node.op_type, {}).items()}
    return [apply_function(ctx, node, 0, named(node.op_type, attributes))]


def gelu(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Gelu, exact or by tanh."""
    approximate = node.string("approximate", "none", ("none", "tanh"))
    return [apply_function(ctx, node, 0, named("Gelu" if approximate == "none" else "GeluTanh"))]


def relu(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Relu: folded, or a function of a quantized tensor."""
    x = ctx.state(node, 0)
    if isinstance(x, Pending):
        return [x.clipped(0.0, math.inf, node)]
    return [apply_function(ctx, node, 0, named("Relu"))]


def clip(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Clip, its bounds constants or attributes: folded, or a function of a quantized tensor, or of integers."""
    low = _bound(ctx, node, 1, "min", -math.inf)
    high = _bound(ctx, node, 2, "max", math.inf)
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


def apply_function(ctx: Context, node: OnnxNode, index: int, f: Function) -> Real:
    """The function of one quantized input."""
    x = ctx.state(node, index)
    if not isinstance(x, Real):
        raise refuse_unquantized(node, index, x)
    return mapped(x, f, node)


def _bound(ctx: Context, node: OnnxNode, index: int, attribute: str, default: float) -> float:
    array = ctx.optional_const(node, index)
    if array is None:
        return node.real(attribute, default) if node.has(attribute) else default
    if not is_scalar(array):
        raise ShapeMismatch(f"bound '{node.inputs[index]}' has shape {list(array.shape)}", where=node.where)
    return float(array.reshape(-1)[0])
