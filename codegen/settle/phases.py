"""Transposed convolutions as convolutions.

Decides: that a stride of s makes s results of each place along an axis, each of them a convolution with every s-th tap,
whose outputs are channels beside each other and are put between each other then.  Where s does not divide the window,
the missing taps are weights of 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import Array
from codegen.ir.shape import Shape, Window
from codegen.ops import Reshape, Slice, Transpose
from codegen.real.window import ConvTranspose
from codegen.records import record
from codegen.settle.plane import Layout, Plane, plane


@record
class Phases:
    """One axis: results of each place, the window of each result, and which taps it has, -1 for none."""

    stride: int
    window: Window
    taps: tuple[tuple[int, ...], ...]


def by_output(weights: Array, groups: int) -> Array:
    """[C, O/g, spatial...] as [O, C/g, spatial...]."""
    channels, share, *kernel = weights.shape
    split = weights.reshape(groups, channels // groups, share, *kernel)
    return np.moveaxis(split, 2, 1).reshape(groups * share, channels // groups, *kernel)


def phases_of(op: ConvTranspose, spatial: Shape) -> list[Phases]:
    """Those of each axis of a map."""
    return [_along(v, n, m) for v, n, m in zip(op.windows, spatial, op.out_spatial, strict=True)]


def _along(window: Window, length: int, result: int) -> Phases:
    """Result p of place q stands at q * stride + p, before the padding is cut off."""
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


def phased(shape: Shape, op: ConvTranspose, phases: Sequence[Phases], outputs: int, fill: float = 0) -> Plane:
    """The convolution to all results, and what puts them between each other."""
    layout = Layout(shape, op.channel_axis, op.groups)
    windows = [p.window for p in phases]
    p = plane(layout, windows, outputs * math.prod(v.stride for v in phases), fill)
    places = [v.window.out_len(n) for v, n in zip(phases, layout.spatial, strict=True)]
    return replace(p, post=(*p.post, *_between(layout, op, phases, places, outputs)))


def _between(
    layout: Layout, op: ConvTranspose, phases: Sequence[Phases], places: Sequence[int], outputs: int
) -> tuple[Op, ...]:
    """From [N, channels and results, places...], or channels last, to the map of the stated sizes."""
    n, axes, strides = layout.shape[0], len(phases), [p.stride for p in phases]
    first = op.channel_axis == 1
    sizes = (n, outputs, *strides, *places) if first else (n, *places, outputs, *strides)
    place, result = (2 + axes, 2) if first else (1, 2 + axes)
    pairs = [a for i in range(axes) for a in (place + i, result + i)]
    order = (0, 1, *pairs) if first else (0, *pairs, 1 + axes)
    wide = [p * s for p, s in zip(places, strides, strict=True)]
    cut, full = (0, *(v.pad_before for v in op.windows)), (n, *op.out_spatial)
    starts = (0, *cut) if first else (*cut, 0)
    kept = (n, outputs, *op.out_spatial) if first else (*full, outputs)
    grown = (n, outputs, *wide) if first else (n, *wide, outputs)
    movement: list[Op] = []
    if max(strides) > 1:
        movement += [Reshape(sizes), Transpose(order), Reshape(grown)]
    if grown != kept:
        movement += [Slice(starts, kept, (1,) * len(kept))]
    return tuple(movement)
