"""Convolutions with weights that the network computes: what each window covers, times a matrix.

Decides: that taps in the padding are 0, and the order of a sum: places of the window in row order, then channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from codegen.ir.shape import Window
from codegen.ops import Pad
from codegen.ops.float32 import FloatBinary, FloatMatMul
from codegen.settle.float32.inputs import has
from codegen.settle.float32.writer import Writer


def convolved(
    w: Writer, x: str, weights: str, windows: Sequence[Window], groups: int = 1, channel_axis: int = 1
) -> str:
    """A convolution without bias: weights [O, C/g, spatial...]."""
    if channel_axis == 1:
        x = w.moved(x, 1, len(w.shape(x)) - 1)
    rows, spatial = unfolded(w, x, windows, groups)
    y = multiplied(w, rows, weights, groups, (w.shape(x)[0], *spatial))
    return w.moved(y, len(windows) + 1, 1) if channel_axis == 1 else y


def multiplied(w: Writer, rows: str, weights: str, groups: int, shape: Sequence[int]) -> str:
    """What windows cover, [groups, windows, places * C/g], times weights [O, C/g, spatial...]: [*shape, O]."""
    outputs, depth, *kernel = w.shape(weights)
    turned = w.reshaped(weights, (groups, outputs // groups, depth, math.prod(kernel)))
    turned = w.reshaped(w.transposed(turned, (0, 3, 2, 1)), (groups, math.prod(kernel) * depth, outputs // groups))
    return w.reshaped(w.moved(w.apply(FloatMatMul(), rows, turned), 0, 1), (*shape, outputs))


def unfolded(w: Writer, x: str, windows: Sequence[Window], groups: int, fill: float = 0.0) -> tuple[str, list[int]]:
    """What each window covers of [N, spatial..., C]: [groups, windows, places * C/g], and how many windows each way."""
    before, after = ((0, *(getattr(v, side) for v in windows), 0) for side in ("pad_before", "pad_after"))
    lengths = w.shape(x)[1:-1]
    if any((*before, *after)):
        x = w.apply(Pad(before, after, "constant", fill), x)
    counts = [v.out_len(n) for v, n in zip(windows, lengths, strict=True)]
    x = w.reshaped(x, (*w.shape(x)[:-1], 1, w.shape(x)[-1]))
    for axis, (v, count) in enumerate(zip(windows, counts, strict=True), 1):
        x = w.picked(x, axis, [p * v.stride + t * v.dilation for p in range(count) for t in range(v.size)])
        *lead, taps, channels = w.shape(x)
        x = w.reshaped(x, (*lead[:axis], count, v.size, *lead[axis + 1 :], taps, channels))
        x = w.moved(x, axis + 1, len(lead) + 1)
        x = w.reshaped(x, (*lead[:axis], count, *lead[axis + 1 :], taps * v.size, channels))
    *_, taps, channels = w.shape(x)
    depth, places = channels // groups, math.prod(w.shape(x)[:-2])
    x = w.moved(w.reshaped(x, (places, taps, groups, depth)), 2, 0)
    return w.reshaped(x, (groups, places, taps * depth)), counts


def biased(w: Writer, y: str, index: int, channel_axis: int) -> str:
    """The map plus a bias for each channel, where the node has one."""
    if not has(w.node, index):
        return y
    bias, rank = w.input(index), len(w.shape(y))
    sizes = [w.shape(bias)[0] if a == channel_axis % rank else 1 for a in range(rank)]
    return w.apply(FloatBinary("add"), y, w.reshaped(bias, sizes))
