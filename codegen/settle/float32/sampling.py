"""Maps read at computed places: GridSample, RoiAlign and deformable convolution.

Decides: that a place is a number of a row of a table, whose rows are the channels of a pixel; that weights of
neighbours are computed for all places at once, and one outside the map weighs 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.quant import Array, DType
from codegen.ir.real import RealNode
from codegen.ops import Compare, Extremum, WholeArithmetic
from codegen.ops.float32 import FloatBinary, FloatClip, FloatReduce, FloatUnary
from codegen.ops.float32.reduce import ReductionName
from codegen.real import sampling as real
from codegen.records import record
from codegen.settle.context import Context
from codegen.settle.float32 import unfold
from codegen.settle.float32.elementwise import chosen
from codegen.settle.float32.moving import joined
from codegen.settle.float32.picking import taken
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State

_FAR = 4.0
"""Elements outside a map, beyond which nothing of it is read."""
_CUBIC = -0.75


@record
class Neighbour:
    """Along one axis: which element, as s32, and its weight; no weight is 1."""

    at: str
    weight: str = ""


class Formula:
    """Arithmetic on real numbers, written with a Writer."""

    def __init__(self, w: Writer) -> None:
        self.w = w

    def of(self, name: str, a: str, b: str | float) -> str:
        """An operation of FloatBinary, also with a number."""
        return self.w.apply(FloatBinary(name), a, b if isinstance(b, str) else self.w.real(b))

    def less(self, a: float, b: str) -> str:
        """A number less something."""
        return self.w.apply(FloatBinary("sub"), self.w.real(a), b)

    def floor(self, x: str) -> str:
        """The whole number below."""
        return self.w.apply(FloatUnary("floor"), x)

    def held(self, x: str, low: float, high: float) -> str:
        """Within bounds."""
        return self.w.apply(FloatClip(low, high), x)

    def within(self, x: str, low: float, high: float) -> str:
        """1 within bounds, 0 outside, u8."""
        sides = [
            self.w.apply(Compare(sign, None, None), x, self.w.real(end)) for sign, end in ((">=", low), ("<=", high))
        ]
        return self.w.apply(Extremum(False, None), *sides)

    def flagged(self, weight: str, flag: str) -> str:
        """A weight, or 0 where a flag is not set."""
        flag = self.w.cast(flag, DType.F32)
        return self.of("mul", weight, flag) if weight else flag


def _index(w: Writer, parts: Sequence[str], lengths: Sequence[int]) -> str:
    """Numbers of rows, of places along several axes that stretch against each other; the last axis is innermost."""
    total = parts[0]
    for part, length in zip(parts[1:], lengths[1:], strict=True):
        total = w.apply(WholeArithmetic("*"), total, w.whole(length))
        total = w.apply(WholeArithmetic("+"), total, part)
    return total


def _weighted(
    f: Formula, table: str, lead: str, axes: Sequence[Sequence[Neighbour]], lengths: Sequence[int]
) -> Iterator[str]:
    """Each neighbour's channels [places, run] times its weight; `lead` says which map each place is in."""
    w = f.w
    for way in product(*axes):
        at = _index(w, [lead, *(n.at for n in way)], [1, *lengths])
        weight = ""
        for factor in (n.weight for n in way if n.weight):
            weight = f.of("mul", weight, factor) if weight else factor
        found = taken(w, table, at, w.shape(table)[-1])
        if weight:
            weight = w.repeated(weight, w.shape(at))
            found = f.of("mul", found, w.reshaped(weight, (w.shape(found)[0], 1)))
        yield found


def _summed(f: Formula, terms: Iterator[str], name: str = "add") -> str:
    total = next(terms)
    for term in terms:
        total = f.of(name, total, term)
    return total


def _table(w: Writer, x: str) -> str:
    """Maps [N, C, spatial...] as rows [N * places, C]."""
    x = w.moved(x, 1, len(w.shape(x)) - 1)
    return w.reshaped(x, (math.prod(w.shape(x)[:-1]), w.shape(x)[-1]))


def _maps(w: Writer, count: int, rank: int) -> str:
    """The number of each map along the first axis, s32."""
    return w.const(np.arange(count, dtype=np.int32).reshape(count, *(1,) * (rank - 1)))


def grid_sample(ctx: Context, node: RealNode, op: real.GridSample) -> Sequence[State]:
    """Places from -1 to 1."""
    w = Writer(ctx, node)
    f, x, grid = Formula(w), w.input(0), w.input(1)
    n, channels, *spatial = w.shape(x)
    shape = w.shape(grid)[1:-1]
    places = w.reshaped(grid, (n, math.prod(shape), len(spatial)))
    axes = []
    for i, length in enumerate(spatial):
        at = w.reshaped(w.picked(places, 2, [len(spatial) - 1 - i]), (n, math.prod(shape)))
        axes.append(_neighbours(f, at, length, op))
    y = _summed(f, _weighted(f, _table(w, x), _maps(w, n, 2), axes, spatial))
    return w.done(w.moved(w.reshaped(y, (n, *shape, channels)), len(shape) + 1, 1))


def _neighbours(f: Formula, at: str, length: int, op: real.GridSample) -> list[Neighbour]:
    """Of places along one axis."""
    at = f.of("add", at, 1.0)
    scaled = f.of("mul", f.of("mul", at, 0.5), length - 1.0) if op.corners else f.of("mul", at, float(length))
    at = scaled if op.corners else f.of("mul", f.of("sub", scaled, 1.0), 0.5)
    if op.mode == "nearest":
        at = f.w.apply(FloatUnary("round"), at)
    at = _inside(f, at, length, op)
    if op.mode == "nearest":
        return [_neighbour(f, at, length, op, "")]
    left = f.floor(at)
    part = f.of("sub", at, left)
    rest = f.less(1.0, part)
    if op.mode == "linear":
        return [_neighbour(f, left, length, op, rest), _neighbour(f, f.of("add", left, 1.0), length, op, part)]
    weights = (_outer(f, f.of("add", part, 1.0)), _inner(f, part), _inner(f, rest), _outer(f, f.of("add", rest, 1.0)))
    return [_neighbour(f, f.of("add", left, i - 1.0), length, op, weight) for i, weight in enumerate(weights)]


def _inner(f: Formula, t: str) -> str:
    """Keys' kernel up to 1."""
    y = f.of("sub", f.of("mul", t, _CUBIC + 2), _CUBIC + 3)
    return f.of("add", f.of("mul", f.of("mul", y, t), t), 1.0)


def _outer(f: Formula, t: str) -> str:
    """Keys' kernel from 1 to 2."""
    y = f.of("sub", f.of("mul", t, _CUBIC), 5 * _CUBIC)
    y = f.of("add", f.of("mul", y, t), 8 * _CUBIC)
    return f.of("sub", f.of("mul", y, t), 4 * _CUBIC)


def _inside(f: Formula, at: str, length: int, op: real.GridSample) -> str:
    """Places held near the map, at its border, or turned back there."""
    low, high = _ends(length, op)
    if op.outside == "zeros":
        return f.held(at, -_FAR, length + _FAR)
    if op.outside == "border":
        return chosen(f.w, f.within(at, low, high), at, f.held(at, 0.0, length - 1.0))
    return _turned(f, at, low, high)


def _ends(length: int, op: real.GridSample) -> tuple[float, float]:
    return (0.0, length - 1.0) if op.corners else (-0.5, length - 0.5)


def _turned(f: Formula, at: str, low: float, high: float) -> str:
    """Turned back at the ends as often as it takes: a wave that rises and falls."""
    if high <= low:
        return f.held(at, low, low)
    away = f.of("sub", at, low)
    turns = f.floor(f.of("div", away, 2 * (high - low)))
    rest = f.of("sub", away, f.of("mul", turns, 2 * (high - low)))
    back = f.of("add", f.of("minimum", rest, f.less(2 * (high - low), rest)), low)
    return chosen(f.w, f.within(at, low, high), at, back)


def _neighbour(f: Formula, at: str, length: int, op: real.GridSample, weight: str) -> Neighbour:
    if op.outside == "reflection":
        at = _turned(f, at, *_ends(length, op))
    if op.outside == "zeros":
        weight = f.flagged(weight, f.within(at, 0.0, length - 1.0))
    return Neighbour(f.w.cast(f.held(at, 0.0, length - 1.0), DType.S32), weight)


def _corners(f: Formula, at: str, length: int, *, edge: bool) -> tuple[list[Neighbour], str]:
    """The two neighbours of places along an axis, and where these lie within a pixel of the map."""
    near = f.within(at, -1.0, float(length))
    at = f.held(at, 0.0, length - 1.0) if edge else f.held(at, -1.0, float(length))
    left = f.floor(at)
    part = f.of("sub", at, left)
    right = f.of("add", left, 1.0)
    made = []
    for place, weight in ((left, f.less(1.0, part)), (right, part)):
        weight = weight if edge else f.flagged(weight, f.within(place, 0.0, length - 1.0))
        made.append(Neighbour(f.w.cast(f.held(place, 0.0, length - 1.0), DType.S32), weight))
    return made, near


def roi_align(ctx: Context, node: RealNode, op: real.RoiAlign) -> Sequence[State]:
    """Points of a known number in each cell: of each box its own where that follows from its size, which is known."""
    w = Writer(ctx, node)
    x, boxes, images = w.input(0), w.known(1), w.cast(w.input(2), DType.S32)
    images = images if w.known(2) is not None else w.apply(WholeArithmetic("%"), images, w.whole(w.shape(x)[0]))
    if op.samples or boxes is None:
        if not op.samples:
            hint = "give sampling_ratio: how many points there are must be known"
            raise FormUnsupported("RoiAlign with a point for each pixel of a box", where=node.where, hint=hint)
        return w.done(_cells(w, op, x, w.input(1), images, (op.samples, op.samples)))
    counts = [op.points(box) for box in boxes]
    order, parts = list[int](), list[str]()
    for points in dict.fromkeys(counts):
        places = [i for i, found in enumerate(counts) if found == points]
        parts.append(_cells(w, op, x, w.const(boxes[places]), w.picked(images, 0, places), points))
        order += places
    y = parts[0] if len(parts) == 1 else joined(w, parts, 0)
    return w.done(y if order == sorted(order) else w.picked(y, 0, np.argsort(order).tolist()))


def _cells(w: Writer, op: real.RoiAlign, x: str, boxes: str, images: str, points: tuple[int, int]) -> str:
    """The small maps of boxes that have so many rows and columns of points in each cell."""
    f, (_, channels, height, width), count = Formula(w), w.shape(x), w.shape(boxes)[0]
    if min(points) <= 0:
        return w.const(np.zeros((count, channels, op.height, op.width), np.float32))
    rows, near_rows = _points(f, boxes, 1, op, (op.height, points[0]), height)
    columns, near_columns = _points(f, boxes, 0, op, (op.width, points[1]), width)
    tall, wide = op.height * points[0], op.width * points[1]
    down = [Neighbour(*(w.reshaped(v, (count, tall, 1)) for v in (n.at, n.weight))) for n in rows]
    across = [Neighbour(*(w.reshaped(v, (count, 1, wide)) for v in (n.at, n.weight))) for n in columns]
    near = [w.reshaped(near_rows, (count, tall, 1)), w.reshaped(near_columns, (count, 1, wide))]
    down = [Neighbour(n.at, f.flagged(n.weight, near[0])) for n in down]
    across = [Neighbour(n.at, f.flagged(n.weight, near[1])) for n in across]
    lead = w.reshaped(images, (count, 1, 1))
    terms = _weighted(f, _table(w, x), lead, (down, across), (height, width))
    y = _summed(f, terms, "maximum" if op.largest else "add")
    y = w.reshaped(y, (count, op.height, points[0], op.width, points[1] * channels))
    y = w.reshaped(y, (count * op.height, points[0], op.width, points[1], channels))
    name: ReductionName = "maximum" if op.largest else "mean"
    y = w.apply(FloatReduce(name, (1, 3)), y)
    return w.moved(w.reshaped(y, (count, op.height, op.width, channels)), 3, 1)


def _points(
    f: Formula, boxes: str, first: int, op: real.RoiAlign, points: tuple[int, int], length: int
) -> tuple[list[Neighbour], str]:
    """The points of all cells along one axis, in each of so many cells so many: [boxes, cells * samples]."""
    w, (cells, samples) = f.w, points
    shift = 0.5 if op.half_pixel else 0.0
    ends = [f.of("sub", f.of("mul", w.picked(boxes, 1, [i]), op.scale), shift) for i in (first, first + 2)]
    size = f.of("sub", ends[1], ends[0])
    size = size if op.half_pixel else f.of("maximum", size, 1.0)
    inside: Array = (np.arange(cells)[:, None] + (np.arange(samples) + 0.5) / samples).reshape(1, -1)
    at = f.of("mul", f.of("div", size, float(cells)), w.const(inside.astype(np.float32)))
    return _corners(f, f.of("add", at, ends[0]), length, edge=True)


def deform_conv(ctx: Context, node: RealNode, op: real.DeformConv) -> Sequence[State]:
    """What the displaced taps read, times a matrix."""
    w = Writer(ctx, node)
    f, x, moved, factors = Formula(w), w.input(0), w.input(2), w.input(4)
    n, channels, height, width = w.shape(x)
    taps, out = math.prod(op.kernel), w.shape(moved)[2:]
    spots = math.prod(out)
    shape = (n * op.parts, taps, spots)
    moved = w.reshaped(moved, (*shape[:2], 2, spots))
    both = [_displaced(f, w.reshaped(w.picked(moved, 2, [i]), shape), op, i, out, (height, width)[i]) for i in range(2)]
    table = _table(w, w.reshaped(x, (n * op.parts, channels // op.parts, height, width)))
    y = _summed(f, _weighted(f, table, _maps(w, n * op.parts, 3), both, (height, width)))
    y = f.of("mul", y, w.reshaped(factors, (w.shape(y)[0], 1)))
    y = w.transposed(w.reshaped(y, (n, op.parts, taps, spots, channels // op.parts)), (0, 3, 2, 1, 4))
    y = w.moved(w.reshaped(y, (n * spots, taps, op.groups, channels // op.groups)), 2, 0)
    rows = w.reshaped(y, (op.groups, n * spots, taps * (channels // op.groups)))
    y = w.moved(unfold.multiplied(w, rows, w.input(1), op.groups, (n, *out)), 3, 1)
    return w.done(unfold.biased(w, y, 3, 1))


def _displaced(
    f: Formula, moved: str, op: real.DeformConv, axis: int, out: Sequence[int], length: int
) -> list[Neighbour]:
    """The neighbours of every tap's places along one axis, [maps, taps, places]."""
    tap = (
        np.arange(math.prod(op.kernel)) // op.kernel[1] if axis == 0 else np.arange(math.prod(op.kernel)) % op.kernel[1]
    )
    spot = np.arange(out[axis]) * op.strides[axis] - op.pads[axis]
    grid = np.broadcast_to(spot[:, None] if axis == 0 else spot[None, :], out).reshape(1, 1, -1)
    base = grid + (tap * op.dilations[axis])[None, :, None]
    at = f.of("add", moved, f.w.const(base.astype(np.float32)))
    made, near = _corners(f, at, length, edge=False)
    return [Neighbour(n.at, f.flagged(n.weight, near)) for n in made]


RULES: Family = (
    Rule(real.DeformConv, deform_conv),
    Rule(real.GridSample, grid_sample),
    Rule(real.RoiAlign, roi_align),
)
