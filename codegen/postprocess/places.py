"""Where the numbers of a head lie in its outputs: rows, columns and anchors of a grid, whatever the order of axes.

Decides: which of a shape's axes may be which.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.golden.interface import PortSpec
from codegen.ir.postprocess import Source
from codegen.records import record

Picture = tuple[int, int]
"""Height and width."""


@record
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


ENDS = ("first", "last")
"""Where an output's boxes stand among the axes behind the batch: before the numbers of each, or behind them."""


def grids(port: PortSpec, index: int, anchors: int, picture: Picture) -> dict[str, Grid]:
    """What an output may be as cells of a picture, by where they stand; cells may be in one axis, row by row.

    Empty for a shape that is no grid of the picture: [1, channels, rows, columns] and the like.
    """
    shape, steps = port.model_shape[1:], strides(port)[1:]
    if len(shape) == 2 and anchors == 1:
        flat = {end: _flat(row, picture) for end, row in rows_of(port, index).items()}
        return {end: found for end, found in flat.items() if found is not None}
    found = {}
    for end, (rows, columns, channel, anchor) in _ORDERS.get(len(shape), {}).items():
        own, split = (anchors, anchors) if anchor is None else (shape[anchor], 1)
        if own == anchors and shape[channel] % split == 0 and _covers(shape[rows], shape[columns], picture):
            channels = shape[channel] // split
            over = channels * steps[channel] if anchor is None else steps[anchor]
            source = Source(index, 0, steps[rows], steps[columns], over if anchors > 1 else 0, steps[channel])
            found[end] = Grid(shape[rows], shape[columns], channels, source)
    return found


_ORDERS: dict[int, dict[str, tuple[int, int, int, int | None]]] = {
    3: {"last": (1, 2, 0, None), "first": (0, 1, 2, None)},
    4: {"last": (1, 2, 3, 0), "first": (0, 1, 3, 2)},
}
"""Axes of rows, columns, channels and anchors behind the first one, by how many there are; no axis: with channels."""


def _covers(rows: int, columns: int, picture: Picture) -> bool:
    """Whether cells are squares of whole pixels."""
    height, width = picture
    return height % rows == 0 and width % columns == 0 and height // rows == width // columns


def _flat(row: Grid, picture: Picture) -> Grid | None:
    """Cells of a picture, which are held in a row."""
    side = max(math.isqrt(picture[0] * picture[1] // row.columns), 1)
    rows, columns = (length // side for length in picture)
    if rows * columns != row.columns or not _covers(rows, columns, picture):
        return None
    own = row.source
    return Grid(rows, columns, row.channels, Source(own.output, 0, columns * own.column, own.column, 0, own.channel))


def rows_of(port: PortSpec, index: int) -> dict[str, Grid]:
    """What an output may be as boxes in a row, by where they stand: [1, boxes, channels] or [1, channels, boxes]."""
    shape, steps = port.model_shape[1:], strides(port)[1:]
    if len(shape) != 2:
        return {}
    axes = zip(ENDS, ((0, 1), (1, 0)), strict=True)
    return {end: Grid(1, shape[b], shape[c], Source(index, 0, 0, steps[b], 0, steps[c])) for end, (b, c) in axes}


def cells(picture: Picture) -> int:
    """How many there are of the usual strides."""
    return sum(math.prod(-(-length // stride) for length in picture) for stride in _STRIDES)


def is_usual(grid: Grid, picture: Picture) -> bool:
    """Whether its cells are of a usual stride."""
    return picture[0] // grid.rows in _STRIDES


_STRIDES = (8, 16, 32)


def picture_of(inputs: Sequence[PortSpec]) -> Picture | None:
    """Height and width of the only input, where that is a picture."""
    shape = inputs[0].model_shape if len(inputs) == 1 else ()
    if len(shape) != 4:
        return None
    return (shape[2], shape[3]) if shape[1] in _COLORS else (shape[1], shape[2])


_COLORS = (1, 3, 4)
