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


def auto_padded(window: Window, length: int, auto_pad: str, *, sums: bool) -> Window:
    """The window padded so that SAME_UPPER and SAME_LOWER give an output per stride; VALID pads nothing.

    A window shorter than the stride may leave places over.  They are negative padding, of which half lies before the
    first window, rounded towards 0, as in ONNX Runtime; it counts one place less where windows are `sums`, of a
    convolution.
    """
    if auto_pad == "VALID":
        return window
    outputs = -(-length // window.stride)
    total = (outputs - 1) * window.stride + window.extent - length
    total += total < 0 and sums
    before = int((total + (auto_pad == "SAME_LOWER")) / 2)
    return replace(window, pad_before=before, pad_after=total - before)
