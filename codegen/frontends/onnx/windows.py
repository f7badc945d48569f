"""Sliding windows from ONNX attributes: kernel, strides, dilations, pads, auto_pad and ceil_mode.

Decides: where each window starts and ends, for one or two spatial axes.  One axis becomes two with a height of 1.
Source: onnx/docs/Operators.md, Conv and AveragePool.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from codegen.errors import AttributeBad, FormUnsupported, ModelTooLarge, ShapeMismatch
from codegen.frontends.builder import MAX_ELEMENTS
from codegen.frontends.layout import TO_NCHW, TO_NHWC
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.states import Route
from codegen.ir.op import Op
from codegen.ir.shape import Window
from codegen.ops import Reshape, Transpose

AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
_LIMIT = 2**20


def read_windows(node: OnnxNode, shape: Sequence[int], kernel: Sequence[int]) -> tuple[Window, Window]:
    """The windows over rows and columns of a map [N, C, H, W] or [N, C, L]."""
    spatial = tuple(shape[2:])
    axes = len(spatial)
    strides = node.integers("strides", (1,) * axes, count=axes, low=1)
    dilations = node.integers("dilations", (1,) * axes, count=axes, low=1)
    auto_pad = node.string("auto_pad", "NOTSET", AUTO_PADS)
    pads = node.integers("pads", (0,) * (2 * axes), count=2 * axes, low=0)
    if max((*strides, *dilations, *pads, *kernel)) > _LIMIT:
        raise AttributeBad(f"a window attribute is larger than {_LIMIT}", where=node.where)
    windows = [
        Window(kernel[i], strides[i], dilations[i], pads[i], pads[i + axes])
        if auto_pad == "NOTSET"
        else auto_padded(Window(kernel[i], strides[i], dilations[i]), spatial[i], auto_pad)
        for i in range(axes)
    ]
    padded = [n + w.pad_before + w.pad_after for n, w in zip(spatial, windows, strict=True)]
    if math.prod((*shape[:2], *padded)) > MAX_ELEMENTS:
        raise ModelTooLarge(f"a map padded to {[*shape[:2], *padded]}", where=node.where)
    return (windows[0], windows[1]) if axes == 2 else (Window(1), windows[0])


def read_kernel(node: OnnxNode, spatial: Sequence[int]) -> tuple[int, ...]:
    """The required kernel_shape of a pool."""
    return node.integers("kernel_shape", count=len(spatial), low=1)


def with_ceiling(node: OnnxNode, window: Window, length: int) -> Window:
    """The window with padding added so that the output's length is rounded up, when ceil_mode asks for it.

    A window that would start in the padding behind the input is dropped, as ONNX Runtime and PyTorch do.
    """
    if not node.flag("ceil_mode"):
        return window
    room = length + window.pad_before + window.pad_after - window.extent
    outputs = -(-room // window.stride) + 1
    if (outputs - 1) * window.stride >= length + window.pad_before:
        outputs -= 1
    needed = (outputs - 1) * window.stride + window.extent - length - window.pad_before
    return replace(window, pad_after=max(needed, window.pad_after))


def spatial_sizes(node: OnnxNode, shape: Sequence[int]) -> tuple[int, ...]:
    """Sizes behind batch and channels: one or two."""
    if len(shape) < 3:
        raise ShapeMismatch(f"a tensor of shape {list(shape)} has no spatial axes", where=node.where)
    if len(shape) > 4:
        raise FormUnsupported(f"{len(shape) - 2} spatial axes", where=node.where)
    return tuple(shape[2:])


def spatial_route(main: Op, shape: Sequence[int], channels: int, out_spatial: Sequence[int]) -> Route:
    """An NHWC operator on a model's tensor [N, C, H, W] or [N, C, L]."""
    if len(shape) == 4:
        return Route(main, (Transpose(TO_NHWC),), (Transpose(TO_NCHW),))
    n, c, length = shape
    return Route(
        main,
        (Reshape((n, c, 1, length)), Transpose(TO_NHWC)),
        (Transpose(TO_NCHW), Reshape((n, channels, out_spatial[-1]))),
    )


def auto_padded(window: Window, length: int, auto_pad: str) -> Window:
    """The window padded so that SAME_UPPER and SAME_LOWER give an output per stride; VALID pads nothing."""
    if auto_pad == "VALID":
        return window
    outputs = -(-length // window.stride)
    total = max((outputs - 1) * window.stride + window.extent - length, 0)
    small = total // 2
    before = small if auto_pad == "SAME_UPPER" else total - small
    return replace(window, pad_before=before, pad_after=total - before)
