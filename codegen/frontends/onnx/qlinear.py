"""Operators that carry their scales as inputs: QLinearConv, QLinearMatMul, QGemm and the other QLinear operators.

Decides: where each of them keeps its scales.  Each is read as its float operator between DequantizeLinear and
QuantizeLinear, and becomes the same integer operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, ParameterDynamic, ShapeMismatch, TypeUnsupported
from codegen.frontends.onnx.activation import DEFAULTS
from codegen.frontends.onnx.binary import binary
from codegen.frontends.onnx.context import Context, refuse_unquantized
from codegen.frontends.onnx.conv import conv_product
from codegen.frontends.onnx.join import concat_of, softmax_of
from codegen.frontends.onnx.linear import pending
from codegen.frontends.onnx.matmul import Side, const_side, dense_product, gemm_product, matrix_product
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.pool import average_pool_of, mean_of
from codegen.frontends.onnx.qparams import dequantized, read_quant, read_scale, read_zero_point
from codegen.frontends.onnx.quantize import meaning, quantize_state
from codegen.frontends.onnx.states import Const, Int, IntConst, Linear, Pending, Real, State
from codegen.frontends.onnx.tables import as_dtype, mapped, named

Core = Callable[[Context, OnnxNode, Real], State]


def qlinear_conv(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """QLinearConv: x, its scale and zero point, w, its, y's, bias."""
    weights = constant(ctx, node, 3, axis=0)
    if weights.ints.ndim not in (3, 4):
        raise FormUnsupported(f"convolution weights of shape {list(weights.ints.shape)}", where=node.where)
    kernel = node.integers("kernel_shape", weights.ints.shape[2:], count=weights.ints.ndim - 2, low=1)
    if kernel != weights.ints.shape[2:]:
        raise ShapeMismatch(f"kernel_shape {list(kernel)}, weights {list(weights.ints.shape)}", where=node.where)
    linear = _with_int_bias(ctx, node, 8, conv_product(ctx, node, computed(ctx, node, 0), weights, kernel))
    return [_quantized(ctx, node, pending(ctx, node, linear), 6)]


def qlinear_matmul(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """QLinearMatMul: a, its scale and zero point, b, its, y's."""
    right = ctx.state(node, 3)
    if isinstance(right, Const) and right.array.ndim == 2 and isinstance(ctx.state(node, 0), Int):
        linear = dense_product(ctx, node, computed(ctx, node, 0), constant(ctx, node, 3, axis=1))
        return [_quantized(ctx, node, pending(ctx, node, linear), 6)]
    return [_quantized(ctx, node, matrix_product(ctx, node, _side(ctx, node, 0), _side(ctx, node, 3)), 6)]


def qgemm(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """QGemm: a, b with scales, C (int32), y's; without y's the result is float."""
    a, b = computed(ctx, node, 0), constant(ctx, node, 3, axis=0 if node.flag("transB") else 1)
    product = gemm_product(ctx, node, a, b, bias=len(node.inputs))
    linear = product.linear
    assert linear is not None, "the right side is constant"
    biased = pending(ctx, node, _with_int_bias(ctx, node, 6, linear))
    if ctx.optional(node, 7) is None:
        return [biased]
    return [_quantized(ctx, node, biased, 7)]


def qlinear_binary(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """QLinearAdd, QLinearMul: a, b with scales, y's."""
    float_node = replace(node, op_type=node.op_type.removeprefix("QLinear"))
    a, b = _side(ctx, node, 0), _side(ctx, node, 3)
    dtype = ctx.type(a.value).dtype
    if dtype is not ctx.type(b.value).dtype:
        shifted = as_dtype(ctx, Real(b.value, b.quant), dtype)
        b = Side(shifted.value, b.shape, shifted.quant)
    product = replace(binary(ctx, float_node, a, b), trail=(node,))
    return [_quantized(ctx, node, product, 6)]


def qlinear_unary(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """QLinearSigmoid, QLinearLeakyRelu: x with its scale, y's."""
    name = node.op_type.removeprefix("QLinear")
    attributes = {key: node.real(key, value) for key, value in DEFAULTS.get(name, {}).items()}
    return [_quantized(ctx, node, mapped(computed(ctx, node, 0), named(name, attributes), node), 3)]


def qlinear_softmax(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """QLinearSoftmax: x with its scale, y's; the attribute opset says which Softmax is meant."""
    x = computed(ctx, node, 0)
    return [_quantized(ctx, node, softmax_of(ctx, node, x, node.integer("opset", 13)), 3)]


def qlinear_average_pool(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """QLinearAveragePool, channels first."""
    if node.flag("channels_last"):
        raise FormUnsupported("channels_last", where=node.where)
    return [_quantized(ctx, node, average_pool_of(ctx, node, computed(ctx, node, 0)), 3)]


def qlinear_global_average_pool(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """QLinearGlobalAveragePool, channels first or last."""
    x = computed(ctx, node, 0)
    rank = len(ctx.shape(x))
    axes = range(1, rank - 1) if node.flag("channels_last") else range(2, rank)
    if not axes:
        raise ShapeMismatch(f"a tensor of shape {list(ctx.shape(x))} has no spatial axes", where=node.where)
    return [_quantized(ctx, node, mean_of(ctx, node, x, tuple(axes), True), 3)]


def qlinear_concat(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """QLinearConcat: y's scale and zero point, then each input with its own."""
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        raise ShapeMismatch(f"{len(node.inputs)} inputs are not a scale, a zero point and triples", where=node.where)
    states: list[State] = []
    for index in range(2, len(node.inputs), 3):
        is_const = isinstance(ctx.state(node, index), Const)
        states.append(constant(ctx, node, index, axis=1) if is_const else computed(ctx, node, index))
    # the inputs that concat_of names in errors are the triples' first ones
    view = replace(node, inputs=node.inputs[2::3])
    return [_quantized(ctx, node, concat_of(ctx, view, states), 0)]


def computed(ctx: Context, node: OnnxNode, index: int) -> Real:
    """A tensor of integers at `index`, its scale and zero point behind it."""
    state = ctx.state(node, index)
    if not isinstance(state, Int):
        if isinstance(state, Const | IntConst):
            raise FormUnsupported(f"input '{node.inputs[index]}' is a constant", where=node.where)
        found = f"input '{node.inputs[index]}' is not a tensor of integers"
        raise TypeUnsupported(found, where=node.where)
    quant, _ = read_quant(ctx, node, index + 1, ctx.type(state.value).dtype)
    real = meaning(ctx, node, state.value, quant)
    if not isinstance(real, Real):
        raise refuse_unquantized(node, index, real)
    return real


def constant(ctx: Context, node: OnnxNode, index: int, axis: int) -> IntConst:
    """A constant of integers at `index`, its scale and zero point behind it."""
    state = ctx.state(node, index)
    if not isinstance(state, Const):
        raise ParameterDynamic(f"'{node.inputs[index]}' is computed by the network", where=node.where)
    scale = read_scale(ctx, node, index + 1, constant=True)
    zero = read_zero_point(ctx, node, index + 2, scale)
    return dequantized(ctx, node, state.array, scale, zero, axis)


def _side(ctx: Context, node: OnnxNode, index: int) -> Side:
    if isinstance(ctx.state(node, index), Const):
        return const_side(ctx, node, index, constant(ctx, node, index, axis=0))
    real = computed(ctx, node, index)
    return Side(real.value, ctx.shape(real), real.quant)


def _with_int_bias(ctx: Context, node: OnnxNode, index: int, linear: Linear) -> Linear:
    """The product plus an int32 constant in the accumulator's own unit."""
    bias = ctx.optional_const(node, index)
    if bias is None:
        return linear
    if bias.dtype != np.int32:
        raise TypeUnsupported(f"a bias of type {bias.dtype}", where=node.where)
    if bias.size != len(linear.scales):
        found = f"a bias of shape {list(bias.shape)} for {len(linear.scales)} outputs"
        raise ShapeMismatch(found, where=node.where)
    return replace(linear, bias_int=linear.bias_int + bias.reshape(-1).astype(np.int64))


def _quantized(ctx: Context, node: OnnxNode, state: State, index: int) -> Int:
    """The state written with the scale and zero point at `index`."""
    quant, dtype = read_quant(ctx, node, index)
    if isinstance(state, Pending | Real):
        state = replace(state, trail=state.trail or (node,))
    name = node.outputs[0]
    return Int(quantize_state(ctx, node, state, quant, dtype, name, name))
