"""Functions of one tensor: rectifiers, logistic, tanh, hard swish, ELU, absolute values and the rest.

Decides: which numbers are looked up (8 bits) and which are computed (16 bits and more).  In mode `tflite` results are
TFLite's own (ops/tflite_tables.py), in the other modes those of ops/unary.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant
from codegen.ir.real import RealNode
from codegen.ops import FUNCTIONS, Clamp, Lut, Sigmoid16, TwoSlopes, piecewise_linear, unary_table
from codegen.ops import tflite_tables as tables
from codegen.ops.inverse_sqrt import scaled_inverse_sqrt
from codegen.ops.lut16 import CURVES, lut16
from codegen.ops.sigmoid16 import OUTPUT, sigmoid16
from codegen.ops.two_slopes import slope
from codegen.real import elementwise as real
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Int, Pending, Real, Request, State
from codegen.settle.tflite import whole
from codegen.settle.tflite.context import TfliteContext
from codegen.settle.tflite.scales import clamp_range

EIGHT_BIT = (DType.S8, DType.U8)
Attributes = Mapping[str, float]
Curve = Callable[[TfliteContext, Real, Request, Attributes], str]


def function(ctx: TfliteContext, node: RealNode, op: real.Function) -> Sequence[State]:
    """A function of quantized numbers; Relu bounds what waits, and plain numbers behind arithmetic."""
    if op.name == "Relu" and (bounded := _bounded(ctx, node, 0.0, math.inf)):
        return bounded
    if op.name in ("Abs", "Neg") and whole.is_plain(ctx, node):
        return [(whole.absolute if op.name == "Abs" else whole.negative)(ctx, node)]
    x, curve = ctx.quantized(node, 0), CURVES_OF.get(op.name)
    if curve is None:
        raise ctx.real_only(node)
    return [ctx.waiting(node, lambda request: curve(ctx, x, request, dict(op.attributes)))]


def clip(ctx: TfliteContext, node: RealNode, op: real.Clip) -> Sequence[State]:
    """Bounds: folded into what waits, or those of RELU6, RELU_N1_TO_1 and RELU_0_TO_1."""
    if bounded := _bounded(ctx, node, op.low, op.high):
        return bounded
    x = ctx.quantized(node, 0)
    if ctx.mode == "tflite" and (op.low, op.high) == (0.0, 6.0) and ctx.dtype(node, 0) in (*EIGHT_BIT, DType.S16):
        # TFLite Micro bounds the integers as they are, and takes the scales for equal
        low, high = clamp_range(0.0, 6.0, x.quant, ctx.dtype(node, 0))

        def bound(request: Request) -> str:
            if request.quant != x.quant:
                told = "its input and its result differ in scale or zero point, which TFLite Micro takes for equal"
                ctx.note(f"RELU6 '{request.name}': {told}; --requant single converts, as LiteRT does")
            return ctx.write(request, Clamp(low, high), (x.value,))

        return [ctx.waiting(node, bound)]

    def write(request: Request) -> str:
        factor, ends = x.quant.scale / request.quant.scale, clamp_range(op.low, op.high, request.quant, request.dtype)
        return rescaled(ctx, x, request, factor, factor, ends, "Clip", {"min": op.low, "max": op.high})

    return [ctx.waiting(node, write)]


def _bounded(ctx: TfliteContext, node: RealNode, low: float, high: float) -> Sequence[State]:
    """The bounds of a fused activation, taken over by what stands before them; nothing when they stand alone."""
    state = ctx.state(node, 0)
    if isinstance(state, Pending):
        return [state.clipped(low, high, node)]
    if isinstance(state, Int) and not node.op_type.startswith("RELU"):
        kind = ctx.type(state.value).dtype
        ends = (kind.low if math.isinf(low) else int(low), kind.high if math.isinf(high) else int(high))
        return [Int(ctx.made(node, Clamp(*ends), (state.value,)), state.kind)]
    return ()


def _relu(ctx: TfliteContext, x: Real, request: Request, attributes: Attributes) -> str:
    factor, ends = x.quant.scale / request.quant.scale, clamp_range(0.0, None, request.quant, request.dtype)
    return rescaled(ctx, x, request, factor, factor, ends, "Relu", {})


def _leaky_relu(ctx: TfliteContext, x: Real, request: Request, attributes: Attributes) -> str:
    alpha, y = float(np.float32(attributes["alpha"])), request.quant
    factors = (x.quant.scale / y.scale, x.quant.scale * alpha / y.scale)
    ends = (request.dtype.low, request.dtype.high)
    return rescaled(ctx, x, request, *factors, ends, "LeakyRelu", {"alpha": alpha})


def _logistic(ctx: TfliteContext, x: Real, request: Request, attributes: Attributes) -> str:
    return _curve(ctx, x, request, "Sigmoid", tables.logistic_table, (Quant(2.0**-8, -128), DType.S8))


def _tanh(ctx: TfliteContext, x: Real, request: Request, attributes: Attributes) -> str:
    return _curve(ctx, x, request, "Tanh", tables.tanh_table, (Quant(2.0**-7, 0), DType.S8))


def _hard_swish(ctx: TfliteContext, x: Real, request: Request, attributes: Attributes) -> str:
    if ctx.mode != "tflite":
        return _real_table(ctx, x, request, "HardSwish", {})
    if x.quant.scale > 128 * request.quant.scale:
        raise FormUnsupported("the output's scale is below 1/128 of the input's", where=request.trail[0].where)
    kinds = _small(ctx, x, request)
    return _table(ctx, x, request, tables.hard_swish_table(x.quant, kinds[0], request.quant, kinds[1]))


def _elu(ctx: TfliteContext, x: Real, request: Request, attributes: Attributes) -> str:
    kinds = _small(ctx, x, request)
    if ctx.mode != "tflite":
        return _real_table(ctx, x, request, "Elu", {})
    found = tables.float_table(tables.elu, x.quant, kinds[0], request.quant, kinds[1])
    return _table(ctx, x, request, found)


def _absolute(ctx: TfliteContext, x: Real, request: Request, attributes: Attributes) -> str:
    kind, y, dtype = ctx.type(x.value).dtype, request.quant, request.dtype
    if kind not in EIGHT_BIT or dtype not in EIGHT_BIT:
        step = slope(x.quant.scale / y.scale)
        op = TwoSlopes(x.quant.zero_point, step, step, True, dtype.low, dtype.high, dtype, y)
        return ctx.write(request, op, (x.value,))
    if ctx.mode == "tflite":
        return _table(ctx, x, request, tables.abs_table(x.quant, kind, y, dtype))
    return _real_table(ctx, x, request, "Abs", {})


def _rsqrt(ctx: TfliteContext, x: Real, request: Request, attributes: Attributes) -> str:
    """Numbers below zero, which TFLite refuses when it meets them, give the largest value."""
    kind, y, dtype = ctx.type(x.value).dtype, request.quant, request.dtype
    if kind is dtype is DType.S16:
        return ctx.write(request, _inverse_sqrt_16(ctx, x.quant, y), (x.value,))
    _small(ctx, x, request)
    if ctx.mode == "tflite":
        return _table(ctx, x, request, tables.rsqrt_table(x.quant, kind, y, dtype))
    found = unary_table(lambda v: 1.0 / np.sqrt(v), x.quant, kind, y, dtype, ctx.mode)
    return _table(ctx, x, request, found)


def _inverse_sqrt_16(ctx: TfliteContext, x: Quant, y: Quant) -> Op:
    """Of 16-bit numbers: TFLite Micro's integers, or straight pieces."""
    if ctx.mode == "tflite":
        return scaled_inverse_sqrt(x, y)
    return piecewise_linear(lambda v: np.where(v > 0, 1.0 / np.sqrt(v), np.inf), "Rsqrt", x, y, DType.S16)


def _looked_up(name: str, inside: Callable[[Array], Array], round_to: Callable[[Array], Array] | None = None) -> Curve:
    """EXP, LOG, SQRT and GELU, which LiteRT looks up; where there is none, the lowest number."""

    def curve(v: Array) -> Array:
        wide = v.astype(np.float64)
        return np.where(inside(wide), FUNCTIONS[name](np.where(inside(wide), wide, 1.0)), _NOWHERE)

    def write(ctx: TfliteContext, x: Real, request: Request, attributes: Attributes) -> str:
        kind, y, dtype = ctx.type(x.value).dtype, request.quant, request.dtype
        if kind is dtype is DType.S16 and name in CURVES:
            return ctx.write(request, lut16(name, x.quant, y), (x.value,))
        if kind is dtype is DType.S16 and name == "Sqrt":
            return ctx.write(request, _sqrt_16(x.quant, y), (x.value,))
        _small(ctx, x, request)
        more = () if round_to is None else (round_to,)
        return _table(ctx, x, request, tables.float_table(curve, x.quant, kind, y, dtype, *more))

    return write


def _sqrt_16(x: Quant, y: Quant) -> Op:
    """Of 16-bit numbers, in straight pieces; LiteRT cuts off the fraction, so that half a step is taken off."""
    half = y.scale / 2
    return piecewise_linear(lambda v: np.where(v >= 0, np.sqrt(v) - half, -np.inf), "Sqrt", x, y, DType.S16)


_NOWHERE = -(2.0**60)
"""Below every output."""


def _negative(ctx: TfliteContext, x: Real, request: Request, attributes: Attributes) -> str:
    """TFLite Micro has it for real numbers only, so that every mode takes the table of float64."""
    return _real_table(ctx, x, request, "Neg", {})


CURVES_OF: Mapping[str, Curve] = {
    "Abs": _absolute,
    "Elu": _elu,
    "Exp": _looked_up("Exp", np.isfinite),
    "Gelu": _looked_up("Gelu", np.isfinite),
    "GeluTanh": _looked_up("GeluTanh", np.isfinite),
    "HardSwish": _hard_swish,
    "LeakyRelu": _leaky_relu,
    "Log": _looked_up("Log", lambda v: v > 0),
    "Neg": _negative,
    "Relu": _relu,
    "Rsqrt": _rsqrt,
    "Sigmoid": _logistic,
    "Sqrt": _looked_up("Sqrt", lambda v: v >= 0, np.floor),
    "Tanh": _tanh,
}
"""How each function is written in integers."""


def rescaled(
    ctx: TfliteContext,
    x: Real,
    request: Request,
    above: float,
    below: float,
    ends: tuple[int, int],
    name: str,
    attributes: Attributes,
) -> str:
    """One factor above the zero point and one below, with bounds."""
    kind, y, dtype = ctx.type(x.value).dtype, request.quant, request.dtype
    if kind in EIGHT_BIT and dtype in EIGHT_BIT:
        if ctx.mode == "tflite":
            found = tables.rescale_table(x.quant, kind, y, dtype, above, below, *ends)
            return _table(ctx, x, request, found)
        return _real_table(ctx, x, request, name, attributes)
    if below < 0:
        raise FormUnsupported("a negative slope on 16-bit numbers", where=request.trail[0].where)
    op = TwoSlopes(x.quant.zero_point, slope(above), slope(below), False, *ends, dtype, y)
    return ctx.write(request, op, (x.value,))


def _curve(
    ctx: TfliteContext,
    x: Real,
    request: Request,
    name: str,
    table: Callable[[Quant, DType], tables.Table],
    output: tuple[Quant, DType],
) -> str:
    """A curve whose output has one scale in TFLite."""
    kind, result = ctx.type(x.value).dtype, (request.quant, request.dtype)
    if kind is DType.S16:
        if result != (OUTPUT, DType.S16):
            raise FormUnsupported(
                f"an output of scale {result[0].scale}, TFLite has 1/32768", where=request.trail[0].where
            )
        op: Sigmoid16 = sigmoid16("logistic" if name == "Sigmoid" else "tanh", x.quant)
        return ctx.write(request, op, (x.value,))
    if ctx.mode == "tflite" and result == output and kind is DType.S8:
        return _table(ctx, x, request, table(x.quant, kind))
    return _real_table(ctx, x, request, name, {})


def _real_table(ctx: TfliteContext, x: Real, request: Request, name: str, attributes: Attributes) -> str:
    kind, dtype = _small(ctx, x, request)
    found = unary_table(name, x.quant, kind, request.quant, dtype, ctx.mode, **attributes)
    return _table(ctx, x, request, found)


def _table(ctx: TfliteContext, x: Real, request: Request, table: tables.Table) -> str:
    return ctx.write(request, Lut(table, request.dtype, request.quant, request.trail[0].op_type), (x.value,))


def _small(ctx: TfliteContext, x: Real, request: Request) -> tuple[DType, DType]:
    """Both types; LAM-IMPORT-022 unless they have 8 bits."""
    kinds = (ctx.type(x.value).dtype, request.dtype)
    if any(k not in EIGHT_BIT for k in kinds):
        found = f"{request.trail[0].op_type} of {kinds[0].value} and {kinds[1].value}"
        raise FormUnsupported(found, where=request.trail[0].where, hint="8-bit numbers are supported")
    return kinds


_FUNCTIONS = (
    *("ABS", "ELU", "EXP", "GELU", "HARD_SWISH", "LEAKY_RELU", "LOG", "LOGISTIC", "NEG", "RELU", "RSQRT"),
    *("SQRT", "TANH"),
)
RULES: Family = (
    Rule(real.Clip, clip, ("RELU6", "RELU_0_TO_1", "RELU_N1_TO_1")),
    Rule(real.Function, function, _FUNCTIONS),
)
