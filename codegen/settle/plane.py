"""Convolutions over any number of axes and images, as one over the rows and columns of one image.

Decides: that the images of a batch lie below each other, each with its own padding, so that a window which crosses
from one into the next makes a row that is cut out again; and that of more than two axes all but the last two become
channels: each place along them is an image of its own, whose channels are those of all places that its window covers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from codegen.ir.op import Op
from codegen.ir.quant import Array
from codegen.ir.shape import Shape, Window
from codegen.ops import Gather, Pad, Reshape, Slice, Transpose
from codegen.records import record
from codegen.settle.windows import spatial_route, two_windows


@record
class Plane:
    """Windows over rows and columns, and what brings a tensor of the model to a map NHWC and back."""

    h: Window
    w: Window
    pre: tuple[Op, ...] = ()
    post: tuple[Op, ...] = ()


@record
class Layout:
    """A tensor of the model: its shape, where its channels are (1 or -1), and in how many groups they are read."""

    shape: Shape
    channel_axis: int = 1
    groups: int = 1

    @property
    def spatial(self) -> Shape:
        """Sizes of the axes that windows go over."""
        return self.shape[2:] if self.channel_axis == 1 else self.shape[1:-1]

    @property
    def channels(self) -> int:
        """Channels of the tensor."""
        return self.shape[self.channel_axis]


def plane(layout: Layout, windows: Sequence[Window], outputs: int, fill: float = 0) -> Plane:
    """How a convolution with these windows is one over an image; `fill` is what the padding holds."""
    images, axes = layout.shape[0], len(windows)
    h, w = two_windows(windows[-2:])
    if images > 1 or axes > 2:
        return _stacked(layout, windows, outputs, fill)
    if layout.channel_axis == 1:
        last = windows[-1].out_len(layout.spatial[-1])
        route = spatial_route(None, layout.shape, outputs, (last,))
        return Plane(h, w, route.pre, route.post)
    if axes == 2:
        return Plane(h, w)
    n, length, channels = layout.shape
    out = (n, w.out_len(length), outputs)
    return Plane(h, w, (Reshape((n, 1, length, channels)),), (Reshape(out),))


def kernel_of(weights: Array) -> Array:
    """Weights [O, C/g, spatial...] as [O, rows, columns, the other axes' places and C/g]."""
    outputs, depth, *spatial = weights.shape
    rows, columns = (1, *spatial)[-2:]
    split = weights.reshape(outputs, depth, -1, rows, columns).transpose(0, 3, 4, 2, 1)
    return split.reshape(outputs, rows, columns, -1)


def _stacked(layout: Layout, windows: Sequence[Window], outputs: int, fill: float) -> Plane:
    """Images below each other: of a batch, and of each place along further axes."""
    lead, (h, w) = tuple(windows[:-2]), two_windows(windows[-2:])
    (*depths, height, width) = layout.spatial if len(windows) > 1 else (1, *layout.spatial)
    places = [v.out_len(n) for v, n in zip(lead, depths, strict=True)]
    images = layout.shape[0] * math.prod(places)
    taps = math.prod(v.size for v in lead)
    pre: list[Op] = []
    if lead:
        pre += _spread(layout, lead, fill)
        order = _image_order(len(lead), len(windows))
        pre += [Transpose(order)]
    elif layout.channel_axis == 1:
        pre += [Transpose((0, *range(2, len(layout.shape)), 1))]
    pre += [Reshape((images, height, width, taps * layout.channels))]
    out_rows, out_columns = h.out_len(height), w.out_len(width)
    reach = height + h.pad_before + h.pad_after
    pitch = -(-reach // h.stride) * h.stride
    if pitch > height:
        after = (0, pitch - height - h.pad_before, 0, 0)
        pre += [Pad((0, h.pad_before, 0, 0), after, "constant", fill)]
    pre += [Reshape((1, images * pitch, width, taps * layout.channels))]
    rows = replace(h, pad_before=0, pad_after=max(h.extent - h.stride, 0))
    post: list[Op] = [Reshape((images, pitch // h.stride, out_columns, outputs))]
    if pitch // h.stride > out_rows:
        post += [Slice((0,) * 4, (images, out_rows, out_columns, outputs), (1,) * 4)]
    sizes = (*places, *((out_rows,) if len(windows) > 1 else ()), out_columns)
    post += [Reshape((layout.shape[0], *sizes, outputs))]
    if layout.channel_axis == 1:
        post += [Transpose((0, len(sizes) + 1, *range(1, len(sizes) + 1)))]
    return Plane(rows, w, tuple(pre), tuple(post))


def _spread(layout: Layout, lead: Sequence[Window], fill: float) -> list[Op]:
    """[N, groups, channels of a group, then of each leading axis its places and taps, height, width]."""
    n, channels, spatial = layout.shape[0], layout.channels, layout.spatial
    made: list[Op] = []
    if layout.channel_axis == -1:
        rank = len(layout.shape)
        made += [Transpose((0, rank - 1, *range(1, rank - 1)))]
    before = (0, 0, *(v.pad_before for v in lead), 0, 0)
    after = (0, 0, *(v.pad_after for v in lead), 0, 0)
    if any((*before, *after)):
        made += [Pad(before, after, "constant", fill)]
    split: list[int] = []
    for axis, (v, length) in enumerate(zip(lead, spatial, strict=False)):
        places = v.out_len(length)
        at = tuple(p * v.stride + t * v.dilation for p in range(places) for t in range(v.size))
        made += [Gather(axis + 2, at)]
        split += [places, v.size]
    return [*made, Reshape((n, layout.groups, channels // layout.groups, *split, *spatial[-2:]))]


def _image_order(lead: int, axes: int) -> tuple[int, ...]:
    """From [N, groups, channels, (places, taps)..., H, W] to [N, places..., H, W, groups, taps..., channels]."""
    assert axes == lead + 2, "rows and columns are the last two"
    places, taps = [3 + 2 * i for i in range(lead)], [4 + 2 * i for i in range(lead)]
    return (0, *places, 3 + 2 * lead, 4 + 2 * lead, 1, *taps, 2)
