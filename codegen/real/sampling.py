"""Maps read at computed places: GridSample, RoiAlign and deformable convolution.

A map is [N, C, spatial...].  Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.real.movement import check_places
from codegen.real.taps import keys
from codegen.records import record

Outside = Literal["zeros", "border", "reflection"]


@record
class GridSample:
    """The map at places from -1 to 1: x, places [N, spatial..., axes], the last axis first.

    Sums run over the neighbours in row order, the last axis innermost.
    """

    mode: Literal["nearest", "linear", "cubic"] = "linear"
    outside: Outside = "zeros"
    corners: bool = False

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """A map of the places' sizes."""
        x, at = ins[0].shape, ins[1].shape
        if len(x) < 3 or len(at) != len(x) or at[0] != x[0] or at[-1] != len(x) - 2 or 0 in x:
            raise ShapeMismatch(f"places {list(at)} in a map {list(x)}")
        return (ins[0].shaped((*x[:2], *at[1:-1])),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Places in float32."""
        x, grid = ins
        spatial = x.shape[2:]
        places = grid.reshape(len(grid), -1, len(spatial)).astype(np.float32)[..., ::-1]
        taps = [self._taps(places[..., i], n, x.dtype) for i, n in enumerate(spatial)]
        start = np.zeros(places.shape[:2], np.int64)
        y = _neighbours(x.reshape(*x.shape[:2], -1), spatial, taps, start, np.ones(start.shape, bool))
        return (y.reshape(*x.shape[:2], *grid.shape[1:-1]),)

    def _taps(self, at: Array, length: int, dtype: np.dtype[np.generic]) -> list[tuple[Array, Array, Array]]:
        """For each neighbour along one axis: where it is, whether it counts, its weight."""
        at = (at + 1) / 2 * (length - 1) if self.corners else ((at + 1) * length - 1) / 2
        at = np.rint(at) if self.mode == "nearest" else at
        at = self._held(at, length)
        if self.mode == "nearest":
            return [(*self._inside(at, length), np.ones(at.shape, dtype))]
        left = np.floor(at)
        offsets = (0, 1) if self.mode == "linear" else (-1, 0, 1, 2)
        made = []
        for offset in offsets:
            away = np.abs(at - left - offset)
            weight = 1 - away if self.mode == "linear" else keys(away, -0.75)
            made.append((*self._inside(left + offset, length), weight.astype(dtype)))
        return made

    def _held(self, at: Array, length: int) -> Array:
        low, high = (0.0, length - 1.0) if self.corners else (-0.5, length - 0.5)
        at = np.where(np.isfinite(at), at, -2 * length)
        if self.outside == "zeros":
            return at
        if self.outside == "border":
            return np.where((at < low) | (at > high), np.clip(at, 0, length - 1), at)
        return _reflected(at, low, high)

    def _inside(self, at: Array, length: int) -> tuple[Array, Array]:
        if self.outside == "reflection":
            low, high = (0.0, length - 1.0) if self.corners else (-0.5, length - 0.5)
            at = _reflected(at, low, high)
        clipped = np.clip(at, 0, length - 1)
        counts = (at >= 0) & (at < length) if self.outside == "zeros" else np.ones(at.shape, bool)
        return clipped.astype(np.int64), counts


def _reflected(at: Array, low: float, high: float) -> Array:
    """Places outside turned back at the nearer end, as often as it takes."""
    span = high - low
    if span <= 0:
        return np.where((at < low) | (at > high), low, at)
    away = np.where(at < low, low - at, at - high)
    times = np.floor(away / span)
    rest = away - times * span
    back = (times % 2 == 0) == (at < low)
    return np.where((at < low) | (at > high), np.where(back, low + rest, high - rest), at)


def _neighbours(
    flat: Array, spatial: Sequence[int], taps: Sequence[Sequence[tuple[Array, Array, Array]]], at: Array, counts: Array
) -> Array:
    """The weighted sum over the neighbours along the first axis of those along the others: [N, C, places]."""
    if not taps:
        found = np.take_along_axis(flat, at[:, None, :], 2)
        return np.where(counts[:, None, :], found, found.dtype.type(0))
    total: Array | None = None
    for where, inside, weight in taps[0]:
        part = _neighbours(flat, spatial[1:], taps[1:], at * spatial[0] + where, counts & inside)
        part = part if len(taps[0]) == 1 else part * weight[:, None, :]
        total = part if total is None else total + part
    assert total is not None, "there is a neighbour"
    return total


@record
class RoiAlign:
    """Boxes of a map as small maps: x, boxes [R, 4] as x1, y1, x2, y2, the image of each box.

    Each cell is the mean, or maximum, over `samples` x `samples` points; 0 samples are one per pixel of the box.
    """

    height: int
    width: int
    scale: float = 1.0
    samples: int = 0
    largest: bool = False
    half_pixel: bool = True

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """[R, C, height, width]."""
        x, boxes, images = (t.shape for t in ins)
        if len(x) != 4 or len(boxes) != 2 or boxes[1] != 4 or images != boxes[:1] or min(x) < 1:
            raise ShapeMismatch(f"boxes {list(boxes)} of images {list(images)} in a map {list(x)}")
        check_places(ins[2], x[:1], "images")
        return (ins[0].shaped((boxes[0], x[1], self.height, self.width)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Points in row order, the four neighbours of each in row order."""
        x, boxes, images = ins
        made = [self._box(x[image % len(x)], box) for box, image in zip(boxes, images, strict=True)]
        return (np.array(made, x.dtype).reshape(len(boxes), x.shape[1], self.height, self.width),)

    def points(self, box: Array) -> tuple[int, int]:
        """Rows and columns of points in each cell of a box; none where that has no size."""
        _, cells = self._place(box)
        down, across = (self.samples or (math.ceil(n) if math.isfinite(n) else 0) for n in cells)
        return down, across

    def _place(self, box: Array) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where the first cell begins, row before column, and the size of a cell."""
        shift = 0.5 if self.half_pixel else 0.0
        x1, y1, x2, y2 = (float(v) * self.scale - shift for v in box)
        least = -np.inf if self.half_pixel else 1.0
        return (y1, x1), (max(y2 - y1, least) / self.height, max(x2 - x1, least) / self.width)

    def _box(self, image: Array, box: Array) -> Array:
        (y1, x1), cells = self._place(box)
        rows, columns = self.points(box)
        best = np.full((len(image), self.height, self.width), -np.inf if self.largest else 0.0, image.dtype)
        for i in range(rows):
            for j in range(columns):
                y = y1 + (np.arange(self.height) + (i + 0.5) / rows) * cells[0]
                x = x1 + (np.arange(self.width) + (j + 0.5) / columns) * cells[1]
                parts = _corners(image, y[:, None], x[None, :], edge=True)
                best = np.maximum(best, np.max(parts, 0)) if self.largest else best + sum(parts)
        empty = rows <= 0 or columns <= 0
        return np.zeros_like(best) if empty else best if self.largest else best / image.dtype.type(rows * columns)


def _corners(image: Array, y: Array, x: Array, *, edge: bool) -> list[Array]:
    """The four neighbours of each place, each times its weight: [C, places...].

    Beyond one pixel around the image, and at a place that is no number, all is zero; within that, the edge is repeated,
    or zero without `edge`.
    """
    height, width = image.shape[-2:]
    valid = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    if edge:
        y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    low = np.floor(y), np.floor(x)
    made = []
    for row, far in ((low[0], 1 - (y - low[0])), (low[0] + 1, y - low[0])):
        for column, near in ((low[1], 1 - (x - low[1])), (low[1] + 1, x - low[1])):
            inside = valid & (row >= 0) & (row < height) & (column >= 0) & (column < width)
            at = (np.clip(np.nan_to_num(v), 0, n - 1).astype(np.int64) for v, n in ((row, height), (column, width)))
            made.append(image[(..., *at)] * np.where(inside, far * near, 0).astype(image.dtype))
    return made


@record
class DeformConv:
    """A convolution of maps whose taps are displaced: x, w, displacements, a bias, and a factor for each tap.

    Displacements are [N, parts * taps * 2, rows, columns], row before column; factors [N, parts * taps, rows, columns].
    Sums start with the bias and run over taps in row order, then input channels.
    """

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int, int, int]
    groups: int = 1
    parts: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """A map of the displacements' sizes."""
        x, w, moved, bias, factors = (t.shape for t in ins)
        taps = math.prod(self.kernel)
        if len(x) != 4 or len(w) != 4 or x[1] % self.groups or x[1] % self.parts or w[0] % self.groups or min(x) < 1:
            raise ShapeMismatch(f"weights {list(w)} for a map {list(x)} in {self.groups} groups, {self.parts} parts")
        out = tuple(
            (x[2 + i] + self.pads[i] + self.pads[2 + i] - (self.kernel[i] - 1) * self.dilations[i] - 1)
            // self.strides[i]
            + 1
            for i in range(2)
        )
        wanted = ((w[0], x[1] // self.groups, *self.kernel), (x[0], self.parts * taps * 2, *out), (w[0],))
        if (w, moved, bias) != wanted or factors != (x[0], self.parts * taps, *out) or min(out) < 1:
            raise ShapeMismatch(f"tensors {[list(s) for s in (w, moved, bias, factors)]} for a map {list(x)}")
        return (ins[0].shaped((x[0], w[0], *out)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Places in float64."""
        x, w, moved, bias, factors = ins
        taps, out = math.prod(self.kernel), moved.shape[2:]
        moved = moved.reshape(len(x), self.parts, taps, 2, *out)
        factors = factors.reshape(len(x), self.parts, taps, *out)
        y = np.zeros((len(x), len(w), *out), x.dtype) + bias.reshape(1, -1, 1, 1)
        for n, image in enumerate(x):
            for tap in range(taps):
                read = np.concatenate(
                    [
                        sum(_corners(c, *self._places(tap, moved[n, part, tap]), edge=False)) * factors[n, part, tap]
                        for part, c in enumerate(np.split(image, self.parts))
                    ]
                )
                self._add(y[n], read, w[:, :, tap // self.kernel[1], tap % self.kernel[1]])
        return (y,)

    def _places(self, tap: int, moved: Array) -> tuple[Array, Array]:
        rows = np.arange(moved.shape[1]) * self.strides[0] - self.pads[0] + tap // self.kernel[1] * self.dilations[0]
        columns = np.arange(moved.shape[2]) * self.strides[1] - self.pads[1] + tap % self.kernel[1] * self.dilations[1]
        return rows[:, None] + moved[0].astype(np.float64), columns[None, :] + moved[1].astype(np.float64)

    def _add(self, y: Array, read: Array, w: Array) -> None:
        each = len(w) // self.groups
        for g, channels in enumerate(np.split(read, self.groups)):
            for i, channel in enumerate(channels):
                y[g * each : (g + 1) * each] += w[g * each : (g + 1) * each, i, None, None] * channel
