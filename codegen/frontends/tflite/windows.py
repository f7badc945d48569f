"""Sliding windows from TFLite options: SAME and VALID padding.

Source: tensorflow/lite/kernels/padding.h.
"""

from __future__ import annotations

from typing import Any

import tflite

from codegen.errors import AttributeBad, ShapeMismatch
from codegen.frontends.tflite.nodes import Spread, TfliteNode
from codegen.ir.shape import Window


def read_window(node: TfliteNode, padding: int, size: int, stride: int, dilation: int, length: int) -> Window:
    """The window along one axis of an input of `length`."""
    window = Window(size, stride, dilation)
    if padding == tflite.Padding.SAME:
        outputs = -(-length // stride)
        total = max((outputs - 1) * stride + window.extent - length, 0)
        return Window(size, stride, dilation, total // 2, total - total // 2)
    if padding != tflite.Padding.VALID:
        raise AttributeBad(f"padding number {padding}", where=node.where, hint="the known ones are SAME and VALID")
    if window.extent > length:
        raise ShapeMismatch(f"a window of {window.extent} does not fit {length} elements", where=node.where)
    return window


def spread_window(spread: Spread, axis: int, window: Window) -> Window:
    """The window over the whole image, from the one over images of every b-th row or column."""
    block = spread.block[axis]
    before, after = spread.before[axis] + window.pad_before * block, spread.after[axis] + window.pad_after * block
    return Window(window.size, 1, window.dilation * block, before, after)


def feature_map(node: TfliteNode, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape [N, H, W, C]; LAM-IMPORT-014 for another number of axes."""
    if len(shape) != 4:
        raise ShapeMismatch(f"a tensor of shape {list(shape)} where [N, H, W, C] is expected", where=node.where)
    return shape


def volume(node: TfliteNode, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape [N, D, H, W, C]; LAM-IMPORT-014 for another number of axes."""
    if len(shape) != 5:
        raise ShapeMismatch(f"a tensor of shape {list(shape)} where [N, D, H, W, C] is expected", where=node.where)
    return shape


def kernel_windows(
    node: TfliteNode, options: Any, shape: tuple[int, ...], kernel: tuple[int, ...], axes: str = "HW"
) -> tuple[Window, ...]:
    """The windows of a convolution over the rows and columns of a map, over `axes` as the options call them."""
    padding = int(options.Padding())
    found = tuple(
        read_window(
            node,
            padding,
            kernel[i],
            node.take(options, f"Stride{axis}"),
            node.take(options, f"Dilation{axis}Factor"),
            shape[1 + i],
        )
        for i, axis in enumerate(axes)
    )
    spread = node.spread
    return found if spread is None else tuple(spread_window(spread, i, w) for i, w in enumerate(found))


def pool_windows(node: TfliteNode, shape: tuple[int, ...]) -> tuple[Window, Window, int]:
    """The windows of a pool over a map [N, H, W, C], and its fused activation."""
    options = node.options_of("Pool2DOptions")
    feature_map(node, shape)
    h, w = (
        read_window(node, int(options.Padding()), node.take(options, size), node.take(options, stride), 1, shape[axis])
        for axis, size, stride in ((1, "FilterHeight", "StrideH"), (2, "FilterWidth", "StrideW"))
    )
    return h, w, node.activation(options)
