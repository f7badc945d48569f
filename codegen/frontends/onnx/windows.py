"""What auto_pad and ceil_mode make of a window.

Decides: where each window starts and ends along one axis.  Source: onnx/docs/Operators.md, Conv and AveragePool.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.frontends.onnx.nodes import OnnxNode
from codegen.ir.shape import Window

AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


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


def auto_padded(window: Window, length: int, auto_pad: str) -> Window:
    """The window padded so that SAME_UPPER and SAME_LOWER give an output per stride; VALID pads nothing."""
    if auto_pad == "VALID":
        return window
    outputs = -(-length // window.stride)
    total = max((outputs - 1) * window.stride + window.extent - length, 0)
    small = total // 2
    before = small if auto_pad == "SAME_UPPER" else total - small
    return replace(window, pad_before=before, pad_after=total - before)
