"""What a stride makes of a transposed convolution: the results of each place, each with its share of the taps.

Decides: that a stride of s makes s results of each place along an axis, each of them a convolution with every s-th tap.
Where s does not divide the window, the missing taps are weights of 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.ir.shape import Window
from codegen.records import record


@record
class Phases:
    """One axis: results of each place, the window of each result, and which taps it has, -1 for none."""

    stride: int
    window: Window
    taps: tuple[tuple[int, ...], ...]


def phases_along(window: Window, length: int, result: int) -> Phases:
    """Of a forward window over `result` places: result p of place q stands at q * stride + p, padding included."""
    stride, extent = window.stride, window.extent
    count = -(-extent // stride)
    steps = [[p + stride * (count - 1 - t) for t in range(count)] for p in range(stride)]
    taps = tuple(
        tuple(s // window.dilation if s < extent and s % window.dilation == 0 else -1 for s in row) for row in steps
    )
    places = -(-(window.pad_before + result) // stride)
    return Phases(stride, Window(count, 1, 1, count - 1, max(places - length, 0)), taps)


def split(kernel: Array, phases: Sequence[Phases]) -> Array:
    """[O, C/g, spatial...] as [O and results of each axis, C/g, taps of each axis]."""
    for i, phase in enumerate(phases):
        axis = 2 + i
        wide = np.concatenate([kernel, np.zeros_like(kernel.take([0], axis))], axis)
        picked = wide.take(np.array(phase.taps).reshape(-1), axis)
        sizes = (*kernel.shape[:axis], phase.stride, phase.window.size, *kernel.shape[axis + 1 :])
        kernel = np.moveaxis(picked.reshape(sizes), axis, 1)
        kernel = kernel.reshape(kernel.shape[0] * kernel.shape[1], *kernel.shape[2:])
    return kernel
