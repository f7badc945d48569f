"""Convolutions and pools.

Decides: that channels are last, and that weights are brought to the order [outputs, inputs of a group, rows, columns].
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table, Versions
from codegen.frontends.tflite.real.elementwise import activation
from codegen.frontends.tflite.windows import feature_map, kernel_windows, pool_windows, read_window, volume
from codegen.ir.real import RealOp, Stored
from codegen.ir.shape import Shape, Window
from codegen.real.elementwise import Binary, Function
from codegen.real.movement import Reshape, Transpose
from codegen.real.window import AveragePool, Conv, ConvTranspose, MaxPool

_LAST = -1
_AXES = "DHW"


def conv_2d(ctx: RealContext, node: TfliteNode) -> None:
    """CONV_2D, with groups where the weights have fewer channels than the input."""
    options = node.options_of("Conv2DOptions")
    shape, w = _image(ctx, node), feature_map(node, ctx.shape(node, 1))
    if shape[3] % w[3]:
        raise ShapeMismatch(f"{shape[3]} channels, weights of shape {list(w)}", where=node.where)
    op = Conv(kernel_windows(node, options, shape, w[1:3]), shape[3] // w[3], _LAST)
    _product(ctx, node, op, (0, 3, 1, 2), activation(node, options))


def depthwise_conv_2d(ctx: RealContext, node: TfliteNode) -> None:
    """DEPTHWISE_CONV_2D: output channel c * multiplier + m reads input channel c."""
    options = node.options_of("DepthwiseConv2DOptions")
    shape, w = _image(ctx, node), feature_map(node, ctx.shape(node, 1))
    if w[0] != 1 or w[3] % shape[3]:
        raise ShapeMismatch(f"{shape[3]} channels, weights of shape {list(w)}", where=node.where)
    op = Conv(kernel_windows(node, options, shape, w[1:3]), shape[3], _LAST)
    _product(ctx, node, op, (3, 0, 1, 2), activation(node, options))


def conv_3d(ctx: RealContext, node: TfliteNode) -> None:
    """CONV_3D, of weights [planes, rows, columns, inputs, outputs]."""
    ctx.not_quantized(node, 0)
    options = node.options_of("Conv3DOptions")
    shape, w = volume(node, ctx.shape(node, 0)), volume(node, ctx.shape(node, 1))
    op = Conv(kernel_windows(node, options, shape, w[:3], _AXES), 1, _LAST)
    _product(ctx, node, op, (4, 3, 0, 1, 2), activation(node, options))


def transpose_conv(ctx: RealContext, node: TfliteNode) -> None:
    """TRANSPOSE_CONV: the output's shape stands in the file, and gives the pads."""
    options = node.options_of("TransposeConvOptions")
    shape, w = feature_map(node, ctx.shape(node, 2)), feature_map(node, ctx.shape(node, 1))
    result = feature_map(node, ctx.result(node).shape)
    op = _transposed(ctx, node, options, shape[1:3], w[1:3], result[1:3], "HW")
    _product(ctx, node, op, (3, 0, 1, 2), activation(node, options), x=2, b=3)


def conv_3d_transpose(ctx: RealContext, node: TfliteNode) -> None:
    """CONV_3D_TRANSPOSE, of weights [planes, rows, columns, outputs, inputs]."""
    ctx.not_quantized(node, 2)
    options = node.options_of("Conv3DOptions")
    shape, w = volume(node, ctx.shape(node, 2)), volume(node, ctx.shape(node, 1))
    result = volume(node, ctx.result(node).shape)
    op = _transposed(ctx, node, options, shape[1:4], w[:3], result[1:4], _AXES, dilated=True)
    _product(ctx, node, op, (4, 3, 0, 1, 2), activation(node, options), x=2, b=3)


def _transposed(
    ctx: RealContext,
    node: TfliteNode,
    options: Any,
    spatial: Shape,
    kernel: Shape,
    out: Shape,
    axes: str,
    *,
    dilated: bool = False,
) -> ConvTranspose:
    """The operator whose result has the shape that its first input states.

    Where it may be `dilated`, its strides are to make that shape of its input, as LiteRT wants.
    """
    asked, result, padding = ctx.int_list(node, 0), ctx.result(node).shape, int(options.Padding())
    if asked != result:
        raise ShapeMismatch(f"a result of shape {list(asked)}, in the file {list(result)}", where=node.where)
    windows = []
    for axis, length, size, made in zip(axes, spatial, kernel, out, strict=True):
        stride = node.take(options, f"Stride{axis}")
        dilation = node.take(options, f"Dilation{axis}Factor") if dilated else 1
        # the pads are those of the forward convolution, from the result to the input
        forward = read_window(node, padding, size, stride, dilation, made)
        if dilated and forward.out_len(made) != length:
            raise ShapeMismatch(f"a result of {made} along {axis} of {length} elements", where=node.where)
        left = (length - 1) * stride + forward.extent - forward.pad_before - made
        windows.append(Window(size, stride, dilation, forward.pad_before, max(left, 0)))
    return ConvTranspose(tuple(windows), out, 1, _LAST)


def _image(ctx: RealContext, node: TfliteNode) -> Shape:
    """The shape of what the convolution is said to read."""
    return node.spread.shape if node.spread else feature_map(node, ctx.shape(node, 0))


def bias(ctx: RealContext, node: TfliteNode, x: int, b: int, w: int = 1) -> list[str]:
    """The bias as a list, where there is one; integers without a scale have that of the products."""
    if not ctx.has(node, b):
        return []
    tensor, value = ctx.tensor(node, b), ctx.value(node, b)
    scales = [ctx.stored(ctx.value(node, i)) for i in (x, w)]
    if ctx.builder.type(value).is_real or tensor.data is None or scales[0] is None or scales[1] is None:
        return [ctx.reshaped(node, value, (int(np.prod(tensor.shape)),), "bias")]
    scale = (scales[0].scale * scales[1].scale).astype(np.float32)
    data = tensor.data.reshape(-1)
    if scale.size not in (1, data.size):
        raise ShapeMismatch(f"a bias of shape {list(tensor.shape)} for {scale.size} scales", where=node.where)
    axis = 0 if scale.size > 1 else None
    stored = Stored(data.dtype, scale, np.zeros(scale.size, np.int64), axis)
    return [ctx.constant_value(node, "bias", data, stored)]


def _product(
    ctx: RealContext,
    node: TfliteNode,
    op: RealOp,
    order: tuple[int, ...],
    post: tuple[RealOp, ...],
    x: int = 0,
    b: int = 2,
) -> None:
    weights = ctx.apply(node, Transpose(order), [ctx.value(node, 1)], "weights")
    value, result = ctx.value(node, x), ctx.result(node).shape
    if node.spread is not None:  # one image, which the file may hold without the axis of its rows
        value = ctx.reshaped(node, value, node.spread.whole)
        post = (*post, *((Reshape(result),) if len(result) != 4 else ()))
    ctx.write(node, op, [value, weights, *bias(ctx, node, x, b)], post=post)


def pool(ctx: RealContext, node: TfliteNode) -> None:
    """AVERAGE_POOL_2D, which counts no padding, MAX_POOL_2D, and L2_POOL_2D: the root of the mean of squares."""
    ctx.of_one_kind(node, 0, "f")
    h, w, _ = pool_windows(node, ctx.shape(node, 0))
    post = activation(node, node.options_of("Pool2DOptions"))
    mean = partial(AveragePool, (h, w), channel_axis=_LAST)
    x = ctx.value(node, 0)
    if node.op_type == "MAX_POOL_2D":
        ctx.write(node, MaxPool((h, w), _LAST), [x], post=post)
    elif node.op_type == "AVERAGE_POOL_2D":
        ctx.write(node, mean(), [x], post=post)
    else:
        ctx.not_quantized(node, 0)
        ctx.write(node, mean(), [ctx.apply(node, Binary("Mul"), [x, x])], post=[Function("Sqrt"), *post])


TRANSLATORS: Table = {
    "AVERAGE_POOL_2D": pool,
    "CONV_2D": conv_2d,
    "CONV_3D": conv_3d,
    "CONV_3D_TRANSPOSE": conv_3d_transpose,
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "L2_POOL_2D": pool,
    "MAX_POOL_2D": pool,
    "TRANSPOSE_CONV": transpose_conv,
}
NEWEST: Versions = {"AVERAGE_POOL_2D": 3, "CONV_2D": 8, "DEPTHWISE_CONV_2D": 7, "MAX_POOL_2D": 3, "TRANSPOSE_CONV": 5}
