"""Maps over any number of axes, and of any number of images, as one image for what computes each channel by itself.

Decides: that the rows of that image are those of all images and of all places along the axes before the last one, and
that a window over these is the list of the rows which it reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant, TensorType
from codegen.ir.shape import Window
from codegen.ops import Gather, Reshape, Transpose

MORE_BITS = 7
"""With which 16 bits hold every difference of two numbers of 8 bits."""
Places = npt.NDArray[np.int64]
"""Positions along an axis that each output reads: [outputs, taps]."""


def as_image(shape: Sequence[int], channel_axis: int = 1) -> tuple[Op, ...]:
    """What makes [1, rows, columns, channels] of a map [N, C, .., W], or of one whose channels are the last axis."""
    last = [n for i, n in enumerate(shape) if i != channel_axis]
    image = Reshape((1, math.prod(last[:-1]), last[-1], shape[channel_axis]))
    return (Transpose((0, *range(2, len(shape)), 1)), image) if channel_axis == 1 else (image,)


def from_image(shape: Sequence[int], channel_axis: int = 1) -> tuple[Op, ...]:
    """What makes a map of this shape of such an image."""
    if channel_axis != 1:
        return (Reshape(tuple(shape)),)
    n, channels, *spatial = shape
    rank = len(shape)
    return Reshape((n, *spatial, channels)), Transpose((0, rank - 1, *range(1, rank - 1)))


def rows_of(places: Sequence[Places], sizes: Sequence[int]) -> Places:
    """Rows that each output row reads, of an image whose rows are the places along axes of these sizes."""
    found = np.zeros((1, 1), np.int64)
    for at, size in zip(places, sizes, strict=True):
        joined = found[:, None, :, None] * size + at[None, :, None, :]
        found = joined.reshape(len(found) * len(at), -1)
    return found


def picked(rows: Places, count: int) -> tuple[Op, ...]:
    """What makes the rows beside each other that are read, of an image of so many."""
    indices = rows.ravel()
    return () if np.array_equal(indices, np.arange(count)) else (Gather(1, tuple(int(i) for i in indices)),)


def held_finer(x: TensorType, bits: int = MORE_BITS) -> TensorType:
    """Integers of 16 bits that hold what is between numbers of this type, of 8-bit ones with so many bits more."""
    assert x.quant is not None, "it is held in integers with a scale"
    if x.dtype is DType.S16:
        return x
    return replace(x, dtype=DType.S16, quant=Quant(x.quant.scale * 2.0**-bits, 0))


def inside_places(window: Window, length: int) -> list[Places]:
    """Elements of an axis that each position of a window reads."""
    at = [window.first(p) + np.arange(window.size) * window.dilation for p in range(window.out_len(length))]
    return [positions[(positions >= 0) & (positions < length)] for positions in at]


def window_places(window: Window, length: int) -> Places:
    """Elements of an axis that each position of a window reads: all of them equally often, and as many at each one.

    What lies in the padding is left out; the others are read again until every position has the same number.  There
    are no taps where one reads nothing, or where that would take more than twice the window.
    """
    inside = inside_places(window, length)
    taps = math.lcm(*(len(positions) for positions in inside))
    if taps > 2 * window.size:
        taps = 0
    return np.array([np.repeat(positions, taps // max(len(positions), 1)) for positions in inside], np.int64)
