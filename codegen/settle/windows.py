"""Sliding windows over NHWC maps, whatever the model's own axes are.

Decides: that one spatial axis becomes two with a height of 1, and which operators bring a tensor there and back.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.ir.op import Op
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.ops import Reshape, Transpose
from codegen.settle.layout import TO_NCHW, TO_NHWC
from codegen.settle.states import Route


def two_windows(windows: Sequence[Window]) -> tuple[Window, Window]:
    """The windows over rows and columns."""
    return (windows[0], windows[1]) if len(windows) == 2 else (Window(1), windows[0])


def spatial_sizes(node: RealNode, shape: Sequence[int]) -> tuple[int, ...]:
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
