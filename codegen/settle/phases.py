"""Transposed convolutions as convolutions.

Decides: that the results of each place (ir/phases.py) are channels beside each other, and how they are put between each
other then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.op import Op
from codegen.ir.phases import Phases, phases_along
from codegen.ir.quant import Array
from codegen.ir.shape import Shape
from codegen.ops import Reshape, Slice, Transpose
from codegen.real.window import ConvTranspose
from codegen.settle.plane import Layout, Plane, plane


def by_output(weights: Array, groups: int) -> Array:
    """[C, O/g, spatial...] as [O, C/g, spatial...]."""
    channels, share, *kernel = weights.shape
    split = weights.reshape(groups, channels // groups, share, *kernel)
    return np.moveaxis(split, 2, 1).reshape(groups * share, channels // groups, *kernel)


def phases_of(op: ConvTranspose, spatial: Shape) -> list[Phases]:
    """Those of each axis of a map."""
    return [phases_along(v, n, m) for v, n, m in zip(op.windows, spatial, op.out_spatial, strict=True)]


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
