"""Pools, and reductions over any axes: MEAN, SUM, REDUCE_MAX, ARG_MAX, ARG_MIN; CUMSUM."""

from __future__ import annotations

import math

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.tflite.axes import read_axes, read_axis
from codegen.frontends.tflite.context import Context
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.scales import activation_range
from codegen.frontends.tflite.windows import pool_windows
from codegen.ir.quant import DType
from codegen.ir.shape import Window
from codegen.ops import (
    ArgExtremum,
    AveragePool2D,
    Clamp,
    CumulativeSum,
    GlobalAveragePool,
    GlobalSum,
    Lut,
    MaxPool2D,
    Reshape,
    Transpose,
)
from codegen.ops.requantize import make_requant


def average_pool_2d(ctx: Context, node: TfliteNode) -> None:
    """AVERAGE_POOL_2D: the numbers are averaged as they are, whatever the scales say."""
    h, w, activation = _pool(ctx, node)
    x, dtype = ctx.quantized(node, 0)
    y, _ = ctx.quantized_result(node)
    low, high = activation_range(activation, y, dtype)
    op = AveragePool2D(h, w, False, x, x, dtype, low, high, ctx.mode)
    _, height, width, _ = ctx.tensor(node, 0).shape
    if (h, w) == (Window(height, h.stride), Window(width, w.stride)):
        ctx.write(node, GlobalAveragePool(x, x, dtype, low, high, ctx.mode), (ctx.value(node, 0),))
    else:
        ctx.write(node, op, (ctx.value(node, 0),))


def max_pool_2d(ctx: Context, node: TfliteNode) -> None:
    """MAX_POOL_2D, and a clamp where an activation is fused."""
    h, w, activation = _pool(ctx, node)
    y, dtype = ctx.quantized_result(node)
    low, high = activation_range(activation, y, dtype)
    post = () if (low, high) == (dtype.low, dtype.high) else (Clamp(low, high),)
    ctx.write(node, MaxPool2D(h, w), (ctx.value(node, 0),), post=post)


def mean(ctx: Context, node: TfliteNode) -> None:
    """MEAN over any axes: they become the rows of a map, the others its channels."""
    kind = ctx.type(node, 0)
    x, _ = ctx.quantized(node, 0)
    y, dtype = ctx.quantized_result(node)
    axes = read_axes(node, ctx.int_list(node, 1), len(kind.shape))
    value = _by_rows(ctx, node, axes)
    op = GlobalAveragePool(x, y, dtype, dtype.low, dtype.high, ctx.mode, as_mean=True)
    ctx.write(node, op, (value,), post=(Reshape(ctx.result(node).shape),))


def _by_rows(ctx: Context, node: TfliteNode, axes: tuple[int, ...]) -> str:
    """The input as a map [1, H, W, C] whose rows and columns are the reduced axes."""
    value, shape = ctx.value(node, 0), ctx.type(node, 0).shape
    kept = tuple(a for a in range(len(shape)) if a not in axes)
    if len(shape) == 4 and axes == (1, 2) and shape[0] == 1:
        return value
    order = (*axes, *kept)
    moved = [a for a in order if shape[a] > 1]
    if moved != sorted(moved):
        value = ctx.apply(node, Transpose(order), (value,), note="for the layout")
    rows, channels = math.prod(shape[a] for a in axes), math.prod(shape[a] for a in kept)
    return ctx.reshaped(node, value, (1, rows, 1, channels))


def _pool(ctx: Context, node: TfliteNode) -> tuple[Window, Window, int]:
    h, w, activation = pool_windows(node, ctx.tensor(node, 0).shape)
    x, y = ctx.quantized(node, 0), ctx.quantized_result(node)
    if x[1] is not y[1]:
        raise FormUnsupported(f"a pool from {x[1].value} to {y[1].value}", where=node.where)
    return h, w, activation


def total(ctx: Context, node: TfliteNode) -> None:
    """SUM over any axes."""
    kind = ctx.type(node, 0)
    (x, _), (y, dtype) = ctx.quantized(node, 0), ctx.quantized_result(node)
    value = _by_rows(ctx, node, read_axes(node, ctx.int_list(node, 1), len(kind.shape)))
    requant = make_requant(ctx.mode, x.scale, [1.0], y, dtype)
    ctx.write(node, GlobalSum(x.zero_point, requant, dtype, y), (value,), post=(Reshape(ctx.result(node).shape),))


def cumulative_sum(ctx: Context, node: TfliteNode) -> None:
    """CUMSUM along an axis."""
    options, axes = node.options_of("CumsumOptions"), ctx.int_list(node, 1)
    shape = ctx.type(node, 0).shape
    if len(axes) != 1:
        raise ShapeMismatch(f"axes {list(axes)} of a tensor of {len(shape)} axes", where=node.where)
    (x, _), (y, dtype) = ctx.quantized(node, 0), ctx.quantized_result(node)
    ways = bool(options.Exclusive()), bool(options.Reverse())
    op = CumulativeSum(read_axis(node, axes[0], len(shape)), x, y, dtype.low, dtype.high, *ways)
    ctx.write(node, op, (ctx.value(node, 0),))


def reduce_max(ctx: Context, node: TfliteNode) -> None:
    """REDUCE_MAX over any axes: one window over the map."""
    kind = ctx.type(node, 0)
    value = _by_rows(ctx, node, read_axes(node, ctx.int_list(node, 1), len(kind.shape)))
    _, rows, columns, _ = ctx.builder.type(value).shape
    op = MaxPool2D(Window(rows), Window(columns))
    ctx.write(node, op, (value,), post=(Reshape(ctx.result(node).shape),))


def reduce_min(ctx: Context, node: TfliteNode) -> None:
    """REDUCE_MIN: the largest of the numbers turned round, turned round again."""
    kind = ctx.type(node, 0)
    if kind.dtype not in (DType.S8, DType.U8):
        raise FormUnsupported(f"a minimum of {kind.dtype.value}", where=node.where, hint="8-bit numbers are supported")
    turned = Lut(tuple(range(kind.dtype.high, kind.dtype.low - 1, -1)), kind.dtype, kind.quant, "turned round")
    value = _by_rows(ctx, node, read_axes(node, ctx.int_list(node, 1), len(kind.shape)))
    _, rows, columns, _ = ctx.builder.type(value).shape
    value = ctx.apply(node, turned, (value,))
    op = MaxPool2D(Window(rows), Window(columns))
    ctx.write(node, op, (value,), post=(turned, Reshape(ctx.result(node).shape)))


def arg_extremum(ctx: Context, node: TfliteNode) -> None:
    """ARG_MAX and ARG_MIN: the axis is moved to the end."""
    shape = ctx.type(node, 0).shape
    axes = ctx.int_list(node, 1)
    if len(axes) != 1:
        raise ShapeMismatch(f"axes {list(axes)} of a tensor of {len(shape)} axes", where=node.where)
    axis, value = read_axis(node, axes[0], len(shape)), ctx.value(node, 0)
    if axis != len(shape) - 1:
        order = (*(a for a in range(len(shape)) if a != axis), axis)
        value = ctx.apply(node, Transpose(order), (value,), note="for the layout")
    op = ArgExtremum(node.op_type == "ARG_MAX")
    ctx.write(node, op, (value,), post=(Reshape(ctx.result(node).shape),))
