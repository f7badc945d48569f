"""Elementwise operators of two tensors, and SOFTMAX."""

from __future__ import annotations

import numpy as np

from codegen.errors import FormUnsupported
from codegen.frontends.tflite.context import Context, read_quant
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.scales import activation_range
from codegen.ir.op import Op
from codegen.ir.quant import DType
from codegen.ops import Add, AddN, Div, Extremum, L2Norm, LogSoftmax, Mul, PRelu, Softmax, SquaredDifference
from codegen.ops.l2_norm import OUTPUT as NORM_OUTPUT
from codegen.ops.log_softmax import OUTPUT as LOG_OUTPUT
from codegen.ops.requantize import make_requant
from codegen.ops.softmax16 import OUTPUT, softmax16


def add(ctx: Context, node: TfliteNode) -> None:
    """ADD and SUB."""
    sign, name = (-1, "SubOptions") if node.op_type == "SUB" else (1, "AddOptions")
    (a, _), (b, _) = ctx.quantized(node, 0), ctx.quantized(node, 1)
    y, dtype = ctx.quantized_result(node)
    low, high = activation_range(node.activation(node.options_of(name)), y, dtype)
    _pair(ctx, node, Add(a, b, y, dtype, low, high, ctx.mode, sign))


def add_n(ctx: Context, node: TfliteNode) -> None:
    """ADD_N, of tensors that share a scale and a zero point."""
    found = [ctx.quantized(node, i) for i in range(len(node.inputs))]
    if len(set(found)) > 1:
        raise FormUnsupported("inputs of different scales or types", where=node.where)
    (x, _) = ctx.quantized(node, 0)
    y, dtype = ctx.quantized_result(node)
    ctx.write(node, AddN(x, y, dtype.low, dtype.high), [ctx.value(node, i) for i in range(len(node.inputs))])


def div(ctx: Context, node: TfliteNode) -> None:
    """DIV."""
    (a, _), (b, _) = ctx.quantized(node, 0), ctx.quantized(node, 1)
    y, dtype = ctx.quantized_result(node)
    _pair(ctx, node, Div(a, b, y, *activation_range(node.activation(node.options_of("DivOptions")), y, dtype)))


def mul(ctx: Context, node: TfliteNode) -> None:
    """MUL."""
    (a, _), (b, _) = ctx.quantized(node, 0), ctx.quantized(node, 1)
    y, dtype = ctx.quantized_result(node)
    bounds = activation_range(node.activation(node.options_of("MulOptions")), y, dtype)
    requant = make_requant(ctx.mode, a.scale, [b.scale], y, dtype, *bounds)
    _pair(ctx, node, Mul(a.zero_point, b.zero_point, requant, dtype, y))


def extremum(ctx: Context, node: TfliteNode) -> None:
    """MAXIMUM and MINIMUM: integers are compared as they are."""
    y, _ = ctx.quantized_result(node)
    _pair(ctx, node, Extremum(node.op_type == "MAXIMUM", y))


def squared_difference(ctx: Context, node: TfliteNode) -> None:
    """SQUARED_DIFFERENCE."""
    (a, _), (b, _) = ctx.quantized(node, 0), ctx.quantized(node, 1)
    y, dtype = ctx.quantized_result(node)
    _pair(ctx, node, SquaredDifference(a, b, y, dtype, dtype.low, dtype.high))


def prelu(ctx: Context, node: TfliteNode) -> None:
    """PRELU."""
    (x, _), (slope, _) = ctx.quantized(node, 0), ctx.quantized(node, 1)
    y, dtype = ctx.quantized_result(node)
    _pair(ctx, node, PRelu(x, slope, y, dtype))


def softmax(ctx: Context, node: TfliteNode) -> None:
    """SOFTMAX over the last axis."""
    beta = node.real(node.options_of("SoftmaxOptions"), "Beta")
    if not 0 < beta < np.float32(2**20):
        raise FormUnsupported(f"a factor beta of {beta}", where=node.where)
    x, x_dtype = ctx.quantized(node, 0)
    y, dtype = read_quant(ctx.result(node), node.where, shifted_16=x_dtype is not DType.S16)
    op: Op = Softmax(x, y, dtype, ctx.mode, beta)
    if x_dtype is DType.S16:
        if (y, dtype) != (OUTPUT, DType.S16):
            raise FormUnsupported(f"an output of scale {y.scale}, TFLite has 1/32768", where=node.where)
        op = softmax16(x, beta)
    ctx.write(node, op, (ctx.value(node, 0),))


def log_softmax(ctx: Context, node: TfliteNode) -> None:
    """LOG_SOFTMAX over the last axis."""
    x, _ = ctx.quantized(node, 0)
    y, dtype = ctx.quantized_result(node)
    if (y, dtype) != (LOG_OUTPUT, DType.S8):
        raise FormUnsupported(f"an output of scale {y.scale}, TFLite has 1/16 and zero point 127", where=node.where)
    ctx.write(node, LogSoftmax(x, y, dtype, ctx.mode), (ctx.value(node, 0),))


def l2_normalization(ctx: Context, node: TfliteNode) -> None:
    """L2_NORMALIZATION over the last axis."""
    if node.activation(node.options_of("L2NormOptions")):
        raise FormUnsupported("a fused activation", where=node.where)
    x, _ = ctx.quantized(node, 0)
    y, dtype = ctx.quantized_result(node)
    if (y, dtype) != (NORM_OUTPUT, DType.S8):
        raise FormUnsupported(f"an output of scale {y.scale}, TFLite has 1/128 and zero point 0", where=node.where)
    ctx.write(node, L2Norm(x.zero_point), (ctx.value(node, 0),))


def _pair(ctx: Context, node: TfliteNode, op: Op) -> None:
    ctx.write(node, op, (ctx.value(node, 0), ctx.value(node, 1)))
