"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED.

Decides: how the model's weights become [outputs, rows, columns, depth] with their zero point subtracted, and how wide
accumulators are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from codegen.errors import (
    FormUnsupported,
    InputMissing,
    QuantAxisBad,
    ScaleBad,
    ShapeMismatch,
    TypeUnsupported,
    ZeroPointBad,
)
from codegen.frontends.tflite.context import Context, read_scales
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Tensor
from codegen.frontends.tflite.scales import activation_range, channel_requant, product_requant
from codegen.frontends.tflite.windows import feature_map, kernel_windows, read_window
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, Requant
from codegen.ir.shape import Window
from codegen.ops import Conv2D, ConvTranspose2D, Dense, Reshape
from codegen.ops.accumulator import INT32_LIMIT, accumulator_bound

_WIDE_BOUND = 1 << 47
_WEIGHT_KINDS = ("int8", "uint8", "int4")
_NARROW_BIAS = ("CONV_2D", "FULLY_CONNECTED")
"""Operators whose biases may have 32 bits where activations have 16."""
MakeOp = Callable[[Requant, DType, Quant], Op]


def conv_2d(ctx: Context, node: TfliteNode) -> None:
    """CONV_2D, with groups where the weights have fewer channels than the input."""
    options = node.options_of("Conv2DOptions")
    shape = _image(ctx, node)
    weights = read_weights(ctx, node, 4)
    outputs, _, _, depth = weights.shape
    if shape[3] % depth or outputs % (shape[3] // depth):
        raise ShapeMismatch(f"{shape[3]} channels, weights of shape {list(weights.shape)}", where=node.where)
    h, w = kernel_windows(node, options, shape, weights.shape[1:3])
    _convolution(ctx, node, weights, (h, w), shape[3] // depth, node.activation(options))


def depthwise_conv_2d(ctx: Context, node: TfliteNode) -> None:
    """DEPTHWISE_CONV_2D: output channel c * multiplier + m reads input channel c."""
    options = node.options_of("DepthwiseConv2DOptions")
    shape = _image(ctx, node)
    weights = read_weights(ctx, node, 4)
    outputs = weights.shape[3]
    if weights.shape[0] != 1 or outputs % shape[3]:
        raise ShapeMismatch(f"{shape[3]} channels, weights of shape {list(weights.shape)}", where=node.where)
    h, w = kernel_windows(node, options, shape, weights.shape[1:3])
    _convolution(ctx, node, weights.transpose(3, 1, 2, 0), (h, w), shape[3], node.activation(options))


def fully_connected(ctx: Context, node: TfliteNode) -> None:
    """FULLY_CONNECTED: the input as rows of as many numbers as the weights have."""
    options = node.options_of("FullyConnectedOptions")
    if options.WeightsFormat():
        raise FormUnsupported("shuffled weights", where=node.where, hint="convert the model without shuffling")
    kind, weights = ctx.type(node, 0), read_weights(ctx, node, 2)
    outputs, depth = weights.shape
    if kind.elements % depth:
        raise ShapeMismatch(f"{kind.elements} inputs for weights of shape {list(weights.shape)}", where=node.where)
    keeps = bool(options.KeepNumDims())
    lead = kind.shape[:-1] if keeps else (kind.elements // depth,)
    if keeps and kind.shape[-1:] != (depth,):
        raise ShapeMismatch(f"input {list(kind.shape)}, weights of shape {list(weights.shape)}", where=node.where)
    x, _ = ctx.quantized(node, 0)
    y, dtype = ctx.quantized_result(node)
    scales = _channel_scales(node, ctx.tensor(node, 1), weights)
    bias = read_bias(ctx, node, outputs)
    wide = _is_wide(ctx, node, weights, bias, x.zero_point)
    bounds = activation_range(node.activation(options), y, dtype)
    # LiteRT's kernel for uint8 rounds once, where all others round twice
    mode = "single" if ctx.mode == "tflite" and ctx.tensor(node, 0).kind == "uint8" else ctx.mode
    if scales.size == 1:
        requant = product_requant(mode, x.scale, float(scales[0]), y, dtype, bounds, wide=wide)
    else:
        requant = channel_requant(mode, x.scale, scales, y, dtype, bounds, wide=wide)
    value = ctx.reshaped(node, ctx.value(node, 0), (*lead, depth))
    extras = _constants(ctx, node, weights, bias)
    ctx.write(node, Dense(x.zero_point, requant, dtype, y), (value, *extras), note=_spoken(node, "Dense", requant))


def _convolution(
    ctx: Context, node: TfliteNode, weights: Array, windows: tuple[Window, Window], groups: int, act: int
) -> None:
    """The operator, from weights [outputs, rows, columns, depth]."""
    scales = _channel_scales(node, ctx.tensor(node, 1), weights)
    x, x_dtype = ctx.quantized(node, 0)
    y, dtype = ctx.quantized_result(node)
    bias = read_bias(ctx, node, len(weights))
    wide = _is_wide(ctx, node, weights, bias, x.zero_point)
    bounds = activation_range(act, y, dtype)
    if x_dtype is DType.U8:  # the kernels for uint8 take the product of the scales in float32
        requant = product_requant(ctx.mode, x.scale, float(scales[0]), y, dtype, bounds, wide=wide)
    else:
        requant = channel_requant(ctx.mode, x.scale, scales, y, dtype, bounds, wide=wide)
    op = Conv2D(*windows, groups, x.zero_point, requant, dtype, y)
    extras = _constants(ctx, node, weights, bias)
    whole = node.spread.whole if node.spread else ctx.type(node, 0).shape
    x_value, note = ctx.reshaped(node, ctx.value(node, 0), whole), _spoken(node, "Conv2D", requant)
    post = (Reshape(ctx.result(node).shape),) if len(ctx.result(node).shape) != 4 else ()
    ctx.write(node, op, (x_value, *extras), post=post, note=note)


def _image(ctx: Context, node: TfliteNode) -> tuple[int, ...]:
    """The shape of what the convolution is said to read."""
    return node.spread.shape if node.spread else feature_map(node, ctx.tensor(node, 0).shape)


def _spoken(node: TfliteNode, op: str, requant: Requant) -> str:
    channels = "per-channel" if requant.per_channel else "per-tensor"
    return f"{node.op_type} -> {op}, {channels}, requant {requant.mode}"


def read_weights(ctx: Context, node: TfliteNode, rank: int, x_place: int = 0, place: int = 1) -> Array:
    """Constant weights, int64, their zero point subtracted."""
    tensor = ctx.tensor(node, place)
    data = ctx.constant(node, place)
    x = ctx.tensor(node, x_place)
    if x.kind == "float32" and tensor.kind in _WEIGHT_KINDS:
        hint = "convert it with full-integer quantization, inputs and outputs of the layers too"
        raise FormUnsupported("a hybrid layer: float activations, quantized weights", where=node.where, hint=hint)
    if tensor.kind not in _WEIGHT_KINDS:
        raise TypeUnsupported(f"weights of type {tensor.kind}", where=node.where)
    if (tensor.kind == "uint8") != (x.kind == "uint8"):
        raise TypeUnsupported(f"{x.kind} activations with {tensor.kind} weights", where=node.where)
    if data.ndim != rank:
        raise ShapeMismatch(f"weights of shape {list(data.shape)}", where=node.where)
    zero = tensor.zero_point
    if zero.size and ((zero != zero[0]).any() or not (0 <= zero[0] <= 255 if tensor.kind == "uint8" else zero[0] == 0)):
        raise ZeroPointBad(f"zero point of weights '{tensor.name}' is {zero[zero != 0][0]}", where=node.where)
    return data.astype(np.int64) - (int(zero[0]) if zero.size else 0)


def _channel_scales(node: TfliteNode, tensor: Tensor, weights: Array) -> Array:
    """One scale, or one per output channel, which are the first axis of `weights`; 0 where all weights are."""
    scales = read_scales(tensor, node.where, weights=True)
    axis = 3 if node.op_type == "DEPTHWISE_CONV_2D" else 0
    if scales.size > 1 and (tensor.axis != axis or scales.size != len(weights)):
        found = f"{scales.size} scales along axis {tensor.axis} of weights {list(tensor.shape)}"
        raise QuantAxisBad(found, where=node.where)
    if ((scales == 0) & weights.reshape(scales.size, -1).any(axis=1)).any():
        raise ScaleBad(f"a scale of {tensor.where} is 0, and its weights are not", where=node.where)
    return scales


def read_bias(ctx: Context, node: TfliteNode, outputs: int, place: int = 2, x_place: int = 0) -> Array:
    """Integer biases at the scale of the products; zeros when there are none.

    LAM-IMPORT-019 for a type that TFLite Micro's kernels read as another one.
    """
    if not ctx.has(node, place):
        return np.zeros(outputs, np.int64)
    data = ctx.constant(node, place)
    x = ctx.tensor(node, x_place).kind
    allowed = ("int32",) if x != "int16" else ("int64", "int32") if node.op_type in _NARROW_BIAS else ("int64",)
    if str(data.dtype) not in allowed:
        hint = f"write it as {allowed[0]}, as TFLite's converter does"
        raise TypeUnsupported(f"{x} activations with a bias of type {data.dtype}", where=node.where, hint=hint)
    if data.size != outputs:
        raise ShapeMismatch(f"a bias of shape {list(data.shape)} for {outputs} outputs", where=node.where)
    return data.reshape(-1).astype(np.int64)


def _is_wide(ctx: Context, node: TfliteNode, weights: Array, bias: Array, zero_point: int, x_place: int = 0) -> bool:
    """Whether sums are kept in 64 bits: TFLite does for 16-bit activations, and 32 bits could overflow otherwise.

    With a bias of 32 bits TFLite's kernels for 16-bit activations sum in 32 bits as well, and wrap: refused where sums
    could.
    """
    x = ctx.type(node, x_place).dtype
    if not len(weights) or not weights.size:
        raise InputMissing("weights without elements", where=node.where)
    bound = accumulator_bound(weights, bias, x.low, x.high, zero_point)
    as_16_bits = x is DType.S16 and ctx.mode == "tflite"
    narrow = as_16_bits and _has_narrow_bias(ctx, node)
    if narrow and bound >= INT32_LIMIT:
        hint = "write the bias as int64, as TFLite's converter does: sums then have 64 bits"
        raise FormUnsupported(f"a bias of 32 bits, and sums of up to {bound}", where=node.where, hint=hint)
    wide = bound >= INT32_LIMIT or (as_16_bits and not narrow)
    if wide and (bound >= _WIDE_BOUND or ctx.mode == "ort"):
        hint = "use --requant tflite or single"
        raise FormUnsupported(f"sums of up to {bound} do not fit the accumulator", where=node.where, hint=hint)
    return wide


def _has_narrow_bias(ctx: Context, node: TfliteNode) -> bool:
    return node.op_type in _NARROW_BIAS and ctx.has(node, 2) and ctx.tensor(node, 2).kind == "int32"


def _constants(ctx: Context, node: TfliteNode, weights: Array, bias: Array) -> tuple[str, str]:
    small = int(weights.min()) >= -128 and int(weights.max()) <= 127
    stored = ctx.constant_value(node, "weights", weights.astype(np.int8 if small else np.int16))
    return stored, ctx.constant_value(node, "bias", _narrow(node, bias))


def _narrow(node: TfliteNode, bias: Array) -> Array:
    if int(bias.min()) < -INT32_LIMIT or int(bias.max()) >= INT32_LIMIT:
        raise FormUnsupported("a bias of more than 32 bits", where=node.where)
    return bias.astype(np.int32)


def transpose_conv(ctx: Context, node: TfliteNode) -> None:
    """TRANSPOSE_CONV: the output's shape stands in the file, and gives the pads."""
    options = node.options_of("TransposeConvOptions")
    shape = feature_map(node, ctx.tensor(node, 2).shape)
    result = feature_map(node, ctx.result(node).shape)
    weights = read_weights(ctx, node, 4, x_place=2)
    outputs, depth = weights.shape[0], weights.shape[3]
    if shape[3] != depth or result[3] != outputs:
        raise ShapeMismatch(f"{shape[3]} channels, weights of shape {list(weights.shape)}", where=node.where)
    padding = int(options.Padding())
    windows, extras = [], []
    for i, axis in enumerate("HW"):
        stride, size = node.take(options, f"Stride{axis}"), weights.shape[1 + i]
        # the pads are those of the forward convolution, from the result to the input
        before = read_window(node, padding, size, stride, 1, result[1 + i]).pad_before
        left = (shape[1 + i] - 1) * stride + size - before - result[1 + i]
        windows.append(Window(size, stride, 1, before, max(left, 0)))
        extras.append(max(-left, 0))
    x, _ = ctx.quantized(node, 2)
    y, dtype = ctx.quantized_result(node)
    scales = _channel_scales(node, ctx.tensor(node, 1), weights)
    bias = read_bias(ctx, node, outputs, place=3, x_place=2)
    wide = _is_wide(ctx, node, weights, bias, x.zero_point, x_place=2)
    bounds = activation_range(node.activation(options), y, dtype)
    if ctx.tensor(node, 2).kind == "uint8":  # as of other products of uint8, the scales' product is float32
        requant = product_requant(ctx.mode, x.scale, float(scales[0]), y, dtype, bounds, wide=wide)
    else:
        requant = channel_requant(ctx.mode, x.scale, scales, y, dtype, bounds, wide=wide)
    op = ConvTranspose2D(windows[0], windows[1], (extras[0], extras[1]), 1, x.zero_point, requant, dtype, y)
    constants = _constants(ctx, node, weights, bias)
    ctx.write(node, op, (ctx.value(node, 2), *constants), note=_spoken(node, "ConvTranspose2D", requant))
