"""Functions of 16-bit tensors, for which no table serves.

Decides: that changes of scale and functions of two slopes are TFLite's, rounded twice, and that logistic, tanh and
softmax have TFLite's 16-bit result, of scale 2^-15, which is then brought to the scale that the model has.
"""

from __future__ import annotations

import math

from codegen.frontends.onnx.states import Function, Request
from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant
from codegen.ops import TwoSlopes, activation_bounds
from codegen.ops.sigmoid16 import OUTPUT, sigmoid16
from codegen.ops.two_slopes import slope


def wide_ops(x: Quant, function: Function | None, request: Request) -> tuple[Op, ...] | None:
    """The operators that make what is requested of a function of a 16-bit tensor; None where there are none."""
    name = "Identity" if function is None else function.name
    given = {} if function is None else dict(function.attributes)
    factor = x.scale / request.quant.scale
    match name:
        case "Identity":
            return (_two_slopes(x, request, factor, factor),)
        case "Relu":
            return (_two_slopes(x, request, factor, 0.0),)
        case "LeakyRelu" if given["alpha"] >= 0:
            return (_two_slopes(x, request, factor, factor * given["alpha"]),)
        case "Abs":
            return (_two_slopes(x, request, factor, factor, mirrored=True),)
        case "Clip":
            low, high = (given.get(key, end) for key, end in (("min", -math.inf), ("max", math.inf)))
            bounds = (None if math.isinf(low) else low, None if math.isinf(high) else high)
            return (_two_slopes(x, request, factor, factor, bounds),)
        case "Sigmoid" | "Tanh" if not x.zero_point:
            return (sigmoid16("logistic" if name == "Sigmoid" else "tanh", x), *to_request(request))
        case _:
            return None


def to_request(request: Request) -> tuple[Op, ...]:
    """What brings a result of scale 2^-15 to what is requested."""
    if (request.quant, request.dtype) == (OUTPUT, DType.S16):
        return ()
    factor = OUTPUT.scale / request.quant.scale
    return (_two_slopes(OUTPUT, request, factor, factor),)


def _two_slopes(
    x: Quant,
    request: Request,
    above: float,
    below: float,
    bounds: tuple[float | None, float | None] = (None, None),
    *,
    mirrored: bool = False,
) -> Op:
    low, high = activation_bounds(request.quant, request.dtype, *bounds)
    steps = (slope(above), slope(below))
    return TwoSlopes(x.zero_point, *steps, mirrored, low, high, request.dtype, request.quant)
