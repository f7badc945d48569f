"""Functions of one tensor: rectifiers, logistic, tanh, hard swish, ELU, absolute values, and changes of scale.

Decides: which numbers are looked up (8 bits) and which are computed (16 bits and more).  In mode `tflite` results are
TFLite's own (ops/tflite_tables.py), in the other modes those of ops/unary.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from codegen.errors import FormUnsupported
from codegen.frontends.tflite.context import Context, dtype_of
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.scales import activation_range, clamp_range
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant
from codegen.ops import (
    FUNCTIONS,
    Clamp,
    Dequantize,
    Lut,
    Quantize,
    Sigmoid16,
    TwoSlopes,
    piecewise_linear,
    unary_table,
)
from codegen.ops import tflite_tables as tables
from codegen.ops.inverse_sqrt import scaled_inverse_sqrt
from codegen.ops.lut16 import CURVES, lut16
from codegen.ops.sigmoid16 import OUTPUT, sigmoid16
from codegen.ops.two_slopes import slope

_EIGHT_BIT = (DType.S8, DType.U8)


def relu(ctx: Context, node: TfliteNode) -> None:
    """RELU."""
    x, y, low, high = *_scales(ctx, node), *activation_range(1, *ctx.quantized_result(node))
    factor = x.scale / y.scale
    _rescaled(ctx, node, factor, factor, (low, high), "Relu", {})


def relu6(ctx: Context, node: TfliteNode) -> None:
    """RELU6: TFLite Micro bounds the integers as they are, and takes the scales for equal."""
    x, dtype = ctx.quantized(node, 0)
    y, _ = ctx.quantized_result(node)
    if ctx.mode == "tflite" and dtype in (*_EIGHT_BIT, DType.S16):
        low, high = activation_range(3, x, dtype)
        ctx.write(node, Clamp(low, high), (ctx.value(node, 0),))
        return
    factor = x.scale / y.scale
    _rescaled(ctx, node, factor, factor, activation_range(3, y, dtype), "Clip", {"min": 0.0, "max": 6.0})


def leaky_relu(ctx: Context, node: TfliteNode) -> None:
    """LEAKY_RELU."""
    alpha = np.float32(node.real(node.options_of("LeakyReluOptions"), "Alpha"))
    x, y = _scales(ctx, node)
    below = x.scale * float(alpha) / y.scale
    _, dtype = ctx.quantized_result(node)
    _rescaled(ctx, node, x.scale / y.scale, below, (dtype.low, dtype.high), "LeakyRelu", {"alpha": float(alpha)})


def quantize(ctx: Context, node: TfliteNode) -> None:
    """QUANTIZE: real numbers to integers, or integers to another scale."""
    y, dtype = ctx.quantized_result(node, shifted_16=True)
    if ctx.type(node, 0).dtype is DType.F32:
        ctx.write(node, Quantize(dtype, y, half_away=ctx.mode == "tflite"), (ctx.value(node, 0),))
        return
    x, x_dtype = ctx.quantized(node, 0, shifted_16=True)
    factor = x.scale / y.scale
    if x_dtype in _EIGHT_BIT and dtype in _EIGHT_BIT:
        _rescaled(ctx, node, factor, factor, (dtype.low, dtype.high), "Identity", {})
        return
    step = slope(factor)
    op = TwoSlopes(x.zero_point, step, step, False, dtype.low, dtype.high, dtype, y)
    ctx.write(node, op, (ctx.value(node, 0),))


def dequantize(ctx: Context, node: TfliteNode) -> None:
    """DEQUANTIZE."""
    x, _ = ctx.quantized(node, 0, shifted_16=True)
    ctx.write(node, Dequantize(x), (ctx.value(node, 0),))


def cast(ctx: Context, node: TfliteNode) -> None:
    """CAST of integers to wider ones, or to real numbers."""
    kind, target = ctx.type(node, 0), dtype_of(ctx.result(node), node.where)
    value = ctx.value(node, 0)
    if target is DType.F32 and kind.dtype is not DType.F32:
        ctx.write(node, Dequantize(Quant(1.0)), (value,))
        return
    if DType.F32 in (target, kind.dtype) or target.low > kind.dtype.low or target.high < kind.dtype.high:
        hint = "quantize instead of casting"
        raise FormUnsupported(f"a cast from {kind.dtype.value} to {target.value}", where=node.where, hint=hint)
    one = slope(1.0)
    ctx.write(node, TwoSlopes(0, one, one, False, target.low, target.high, target, Quant(1.0)), (value,))


def logistic(ctx: Context, node: TfliteNode) -> None:
    """LOGISTIC."""
    _curve(ctx, node, "Sigmoid", tables.logistic_table, (Quant(2.0**-8, -128), DType.S8))


def tanh(ctx: Context, node: TfliteNode) -> None:
    """TANH."""
    _curve(ctx, node, "Tanh", tables.tanh_table, (Quant(2.0**-7, 0), DType.S8))


def hard_swish(ctx: Context, node: TfliteNode) -> None:
    """HARD_SWISH."""
    (x, x_dtype), (y, dtype) = ctx.quantized(node, 0), ctx.quantized_result(node)
    if ctx.mode == "tflite":
        if x.scale > 128 * y.scale:
            raise FormUnsupported("the output's scale is below 1/128 of the input's", where=node.where)
        _table(ctx, node, tables.hard_swish_table(x, x_dtype, y, dtype) if _is_small(node, x_dtype, dtype) else ())
    else:
        _real_table(ctx, node, "HardSwish", {})


def elu(ctx: Context, node: TfliteNode) -> None:
    """ELU."""
    (x, x_dtype), (y, dtype) = ctx.quantized(node, 0), ctx.quantized_result(node)
    _is_small(node, x_dtype, dtype)
    if ctx.mode == "tflite":
        _table(ctx, node, tables.float_table(tables.elu, x, x_dtype, y, dtype))
    else:
        _real_table(ctx, node, "Elu", {})


def absolute(ctx: Context, node: TfliteNode) -> None:
    """ABS."""
    (x, x_dtype), (y, dtype) = ctx.quantized(node, 0), ctx.quantized_result(node)
    if x_dtype not in _EIGHT_BIT or dtype not in _EIGHT_BIT:
        step = slope(x.scale / y.scale)
        op = TwoSlopes(x.zero_point, step, step, True, dtype.low, dtype.high, dtype, y)
        ctx.write(node, op, (ctx.value(node, 0),))
    elif ctx.mode == "tflite":
        _table(ctx, node, tables.abs_table(x, x_dtype, y, dtype))
    else:
        _real_table(ctx, node, "Abs", {})


def rsqrt(ctx: Context, node: TfliteNode) -> None:
    """RSQRT; numbers below zero, which TFLite refuses when it meets them, give the largest value."""
    (x, x_dtype), (y, dtype) = ctx.quantized(node, 0), ctx.quantized_result(node)
    if x_dtype is dtype is DType.S16:
        ctx.write(node, _inverse_sqrt_16(ctx, x, y), (ctx.value(node, 0),))
        return
    _is_small(node, x_dtype, dtype)
    if ctx.mode == "tflite":
        _table(ctx, node, tables.rsqrt_table(x, x_dtype, y, dtype))
        return
    found = unary_table(lambda v: 1.0 / np.sqrt(v), x, x_dtype, y, dtype, ctx.mode)
    _table(ctx, node, found)


def _inverse_sqrt_16(ctx: Context, x: Quant, y: Quant) -> Op:
    """Of 16-bit numbers: TFLite Micro's integers, or straight pieces."""
    if ctx.mode == "tflite":
        return scaled_inverse_sqrt(x, y)
    return piecewise_linear(lambda v: np.where(v > 0, 1.0 / np.sqrt(v), np.inf), "Rsqrt", x, y, DType.S16)


def relu_between(ctx: Context, node: TfliteNode) -> None:
    """RELU_N1_TO_1 and RELU_0_TO_1."""
    low = -1.0 if node.op_type == "RELU_N1_TO_1" else 0.0
    x, y = _scales(ctx, node)
    bounds = clamp_range(low, 1.0, *ctx.quantized_result(node))
    _rescaled(ctx, node, x.scale / y.scale, x.scale / y.scale, bounds, "Clip", {"min": low, "max": 1.0})


def real_function(ctx: Context, node: TfliteNode) -> None:
    """EXP, LOG, SQRT and GELU, which LiteRT looks up; where there is none, the lowest number."""
    (x, x_dtype), (y, dtype) = ctx.quantized(node, 0), ctx.quantized_result(node)
    name, inside = _REAL[node.op_type]
    if node.op_type == "GELU" and node.options_of("GeluOptions").Approximate():
        name = "GeluTanh"
    if x_dtype is dtype is DType.S16 and name in CURVES:
        ctx.write(node, lut16(name, x, y), (ctx.value(node, 0),))
        return
    if x_dtype is dtype is DType.S16 and name == "Sqrt":
        ctx.write(node, _sqrt_16(x, y), (ctx.value(node, 0),))
        return
    _is_small(node, x_dtype, dtype)

    def curve(v: Array) -> Array:
        wide = v.astype(np.float64)
        return np.where(inside(wide), FUNCTIONS[name](np.where(inside(wide), wide, 1.0)), _NOWHERE)

    if node.op_type == "SQRT":
        _table(ctx, node, tables.float_table(curve, x, x_dtype, y, dtype, np.floor))
    else:
        _table(ctx, node, tables.float_table(curve, x, x_dtype, y, dtype))


def _sqrt_16(x: Quant, y: Quant) -> Op:
    """Of 16-bit numbers, in straight pieces; LiteRT cuts off the fraction, so that half a step is taken off."""
    half = y.scale / 2
    return piecewise_linear(lambda v: np.where(v >= 0, np.sqrt(v) - half, -np.inf), "Sqrt", x, y, DType.S16)


_NOWHERE = -(2.0**60)
"""Below every output."""

_REAL: Mapping[str, tuple[str, Callable[[Array], Array]]] = {
    "EXP": ("Exp", np.isfinite),
    "GELU": ("Gelu", np.isfinite),
    "LOG": ("Log", lambda v: v > 0),
    "SQRT": ("Sqrt", lambda v: v >= 0),
}
"""The function, and where it has a value."""


def negative(ctx: Context, node: TfliteNode) -> None:
    """NEG; TFLite Micro has it for real numbers only, so that every mode takes the table of float64."""
    _real_table(ctx, node, "Neg", {})


def _scales(ctx: Context, node: TfliteNode) -> tuple[Quant, Quant]:
    return ctx.quantized(node, 0)[0], ctx.quantized_result(node)[0]


def _rescaled(
    ctx: Context,
    node: TfliteNode,
    above: float,
    below: float,
    bounds: tuple[int, int],
    function: str,
    attributes: dict[str, float],
) -> None:
    """One factor above the zero point and one below, with bounds."""
    (x, x_dtype), (y, dtype) = ctx.quantized(node, 0), ctx.quantized_result(node)
    if x_dtype in _EIGHT_BIT and dtype in _EIGHT_BIT:
        if ctx.mode == "tflite":
            _table(ctx, node, tables.rescale_table(x, x_dtype, y, dtype, above, below, *bounds))
        else:
            _real_table(ctx, node, function, attributes)
    else:
        if below < 0:
            raise FormUnsupported("a negative slope on 16-bit numbers", where=node.where)
        op = TwoSlopes(x.zero_point, slope(above), slope(below), False, *bounds, dtype, y)
        ctx.write(node, op, (ctx.value(node, 0),))


def _curve(
    ctx: Context,
    node: TfliteNode,
    function: str,
    table: Callable[[Quant, DType], tables.Table],
    output: tuple[Quant, DType],
) -> None:
    """A curve whose output has one scale in TFLite."""
    (x, x_dtype), result = ctx.quantized(node, 0), ctx.quantized_result(node)
    if x_dtype is DType.S16:
        if result != (OUTPUT, DType.S16):
            raise FormUnsupported(f"an output of scale {result[0].scale}, TFLite has 1/32768", where=node.where)
        op: Sigmoid16 = sigmoid16("logistic" if function == "Sigmoid" else "tanh", x)
        ctx.write(node, op, (ctx.value(node, 0),))
    elif ctx.mode == "tflite" and result == output and x_dtype is DType.S8:
        _table(ctx, node, table(x, x_dtype))
    else:
        _real_table(ctx, node, function, {})


def _real_table(ctx: Context, node: TfliteNode, function: str, attributes: dict[str, float]) -> None:
    (x, x_dtype), (y, dtype) = ctx.quantized(node, 0), ctx.quantized_result(node)
    _is_small(node, x_dtype, dtype)
    _table(ctx, node, unary_table(function, x, x_dtype, y, dtype, ctx.mode, **attributes))


def _table(ctx: Context, node: TfliteNode, table: tables.Table) -> None:
    y, dtype = ctx.quantized_result(node)
    ctx.write(node, Lut(table, dtype, y, node.op_type), (ctx.value(node, 0),))


def _is_small(node: TfliteNode, *kinds: DType) -> bool:
    """LAM-IMPORT-022 unless all types have 8 bits."""
    if any(k not in _EIGHT_BIT for k in kinds):
        names = " and ".join(k.value for k in kinds)
        found = f"{node.op_type} of {names}"
        raise FormUnsupported(found, where=node.where, hint="8-bit numbers are supported")
    return True
