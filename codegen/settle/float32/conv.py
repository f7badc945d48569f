"""Convolutions of real numbers.

Decides: how the model's weights [O, C/g, H, W] become [O, H, W, C/g], and that a bias that is left out is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.op import Op
from codegen.ir.real import RealNode
from codegen.ops.float32 import FloatConv2D
from codegen.real.window import Conv
from codegen.settle.context import Context
from codegen.settle.float32.inputs import has, real_numbers, real_value
from codegen.settle.float32.products import product, writer
from codegen.settle.states import Product, Route, State
from codegen.settle.windows import spatial_route, spatial_sizes, two_windows

OutLen = Callable[[int], int]
"""How many columns come of so many."""


def conv(ctx: Context, node: RealNode, op: Conv) -> Sequence[State]:
    """Conv with constant weights and bias."""
    x, weights = real_value(ctx, node, 0), real_numbers(ctx, node, 1)
    if not weights.size:
        raise ShapeMismatch(f"weights of shape {list(weights.shape)}", where=node.where)
    outputs, depth = weights.shape[:2]
    h, w = two_windows(op.windows)
    kernel = weights.reshape(outputs, depth, -1, w.size).transpose(0, 2, 3, 1)
    bias = real_numbers(ctx, node, 2).reshape(-1) if has(node, 2) else np.zeros(outputs, np.float32)
    route = windowed(ctx, node, x, op.channel_axis, FloatConv2D(h, w, op.groups), outputs, w.out_len)
    return [product(ctx, Product(kernel, bias, op.channel_axis, (node,), writer(ctx, x, route)))]


def windowed(
    ctx: Context, node: RealNode, x: str, channel_axis: int, main: Op, channels: int, out_len: OutLen
) -> Route:
    """An operator on NHWC maps, on a tensor whose channels are its second or its last axis."""
    shape = ctx.type(x).shape
    if channel_axis == -1:
        return Route(main)
    length = spatial_sizes(node, shape)[-1]
    return spatial_route(main, shape, channels, (out_len(length),))
