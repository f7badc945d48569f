"""Functions of 16-bit tensors, for which no table serves.

Decides: that changes of scale and functions of two slopes are TFLite's, rounded twice, and all others straight pieces;
that in mode `tflite` logistic, tanh and softmax have TFLite's 16-bit result, of scale 2^-15, which is then brought to
the scale that the model has.
"""

from __future__ import annotations

import math

from codegen.ir.op import Op
from codegen.ir.quant import DType, Mode, Quant, TensorType
from codegen.ops import TwoSlopes, activation_bounds, broken_limits, piecewise_linear
from codegen.ops.sigmoid16 import OUTPUT, sigmoid16
from codegen.ops.two_slopes import slope
from codegen.settle.chain import IDENTITY, Function
from codegen.settle.states import Request


def wide_ops(x: Quant, function: Function | None, request: Request, what: str, mode: Mode) -> tuple[Op, ...]:
    """The operators that make what is requested of a function of a 16-bit tensor; `what` is its name in reports."""
    function = function or IDENTITY
    ops = _of_tflite(x, function, request, mode)
    if not ops or broken_limits(ops[0], [TensorType((), DType.S16)]):
        return (piecewise_linear(function.apply, what, x, request.quant, request.dtype),)
    return ops


def _of_tflite(x: Quant, function: Function, request: Request, mode: Mode) -> tuple[Op, ...]:
    """TFLite's operators where they are taken: two slopes in every mode, curves in its own."""
    given = dict(function.attributes)
    factor = x.scale / request.quant.scale
    match function.name:
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
        case "Sigmoid" | "Tanh" if mode == "tflite" and not x.zero_point:
            curve = sigmoid16("logistic" if function.name == "Sigmoid" else "tanh", x)
            return (curve, *to_request(request))
        case _:
            return ()


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
