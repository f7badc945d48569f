"""Sliding windows from TFLite options: SAME and VALID padding.

Source: tensorflow/lite/kernels/padding.h.
"""

from __future__ import annotations

import tflite

from codegen.errors import AttributeBad, ShapeMismatch
from codegen.frontends.tflite.nodes import TfliteNode
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


def feature_map(node: TfliteNode, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape [N, H, W, C]; LAM-IMPORT-014 for another number of axes."""
    if len(shape) != 4:
        raise ShapeMismatch(f"a tensor of shape {list(shape)} where [N, H, W, C] is expected", where=node.where)
    return shape
