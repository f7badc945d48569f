"""Where the numbers of a head lie in its outputs: rows, columns and anchors of a grid, whatever the order of axes.

Decides: which of a shape's axes are which.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.golden.interface import PortSpec
from codegen.ir.postprocess import Source

Picture = tuple[int, int]
"""Height and width."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of an output: so many rows and columns, `channels` numbers for each anchor of each cell."""

    rows: int
    columns: int
    channels: int
    source: Source

    def part(self, channel: int) -> Source:
        """From one channel on."""
        s = self.source
        return Source(s.output, s.first + channel * s.channel, s.row, s.column, s.anchor, s.channel)


def strides(port: PortSpec) -> tuple[int, ...]:
    """Elements of what the network holds from one index of each of the model's axes to the next."""
    held = np.arange(math.prod(port.shape), dtype=np.int64).reshape(port.shape)
    placed = (held if port.perm is None else held.transpose(np.argsort(port.perm))).reshape(port.model_shape)
    return tuple(_step(placed, axis) for axis in range(placed.ndim))


def _step(placed: np.ndarray[tuple[int, ...], np.dtype[np.int64]], axis: int) -> int:
    if placed.shape[axis] < 2:
        return 0
    first = placed.reshape(-1)[0]
    return int(np.take(placed, 1, axis).reshape(-1)[0] - first)


def grid(port: PortSpec, index: int, anchors: int, picture: Picture) -> Grid | None:
    """The cells of a picture in an output: [1, channels, rows, columns] and the like, or with cells in one axis.

    None for a shape that is no grid of the picture.
    """
    shape, steps = port.model_shape[1:], strides(port)[1:]
    if len(shape) == 2:
        return _flat(shape, steps, index, picture) if anchors == 1 else None
    for rows, columns, channel, anchor in _ORDERS.get(len(shape), ()):
        own = shape[anchor] if anchor is not None else anchors
        if own != anchors or shape[channel] % (1 if anchor is not None else anchors):
            continue
        if _covers(shape[rows], shape[columns], picture):
            channels = shape[channel] if anchor is not None else shape[channel] // anchors
            over = steps[anchor] if anchor is not None else channels * steps[channel]
            source = Source(index, 0, steps[rows], steps[columns], over if anchors > 1 else 0, steps[channel])
            return Grid(shape[rows], shape[columns], channels, source)
    return None


_ORDERS: dict[int, tuple[tuple[int, int, int, int | None], ...]] = {
    3: ((1, 2, 0, None), (0, 1, 2, None)),
    4: ((1, 2, 3, 0), (0, 1, 3, 2)),
}
"""Axes of rows, columns, channels and anchors behind the first one, by how many there are; no axis: with channels."""


def _covers(rows: int, columns: int, picture: Picture) -> bool:
    """Whether cells are squares of whole pixels."""
    height, width = picture
    return height % rows == 0 and width % columns == 0 and height // rows == width // columns


def _flat(shape: Sequence[int], steps: Sequence[int], index: int, picture: Picture) -> Grid | None:
    """Cells in the longer axis, row by row."""
    cell = int(shape[1] > shape[0])
    side = math.isqrt(picture[0] * picture[1] // shape[cell])
    rows, columns = (length // max(side, 1) for length in picture)
    if rows * columns != shape[cell] or not _covers(rows, columns, picture):
        return None
    source = Source(index, 0, columns * steps[cell], steps[cell], 0, steps[1 - cell])
    return Grid(rows, columns, shape[1 - cell], source)


def listed(port: PortSpec, index: int) -> Grid | None:
    """Boxes in a row: [1, boxes, channels], or [1, channels, boxes] where that axis is the longer one."""
    shape, steps = port.model_shape[1:], strides(port)[1:]
    if len(shape) != 2:
        return None
    cell = int(shape[1] > shape[0])
    source = Source(index, 0, 0, steps[cell], 0, steps[1 - cell])
    return Grid(1, shape[cell], shape[1 - cell], source)


def picture_of(inputs: Sequence[PortSpec]) -> Picture | None:
    """Height and width of the only input, where that is a picture."""
    shape = inputs[0].model_shape if len(inputs) == 1 else ()
    if len(shape) != 4:
        return None
    return (shape[2], shape[3]) if shape[1] in _COLORS else (shape[1], shape[2])


_COLORS = (1, 3, 4)
