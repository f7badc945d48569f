"""Elements taken from, and put to, positions; one-hot codes, triangles and reversed sequences.

Decides: that positions become numbers of rows of a matrix, known ones now and computed ones by the network; a negative
position counts from the end: of one outside its axis the remainder by the axis' length is taken, or of an operator that
says so, the nearest one inside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.ir.quant import Array, DType
from codegen.ir.real import RealNode
from codegen.ops import Clamp, Compare, Gather, Scatter, Slice, Take, Triangle, WholeArithmetic
from codegen.ops.scatter import Joining
from codegen.real import along, movement
from codegen.real import scatter as real
from codegen.settle.context import Context
from codegen.settle.float32.elementwise import chosen
from codegen.settle.float32.writer import Writer, whole_const
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State

_JOINING: dict[str, Joining] = {"none": "none", "add": "add", "mul": "mul", "max": "maximum", "min": "minimum"}


class Places:
    """Positions as the network holds them: known numbers, or s32 values; arithmetic on either."""

    def __init__(self, w: Writer, index: int) -> None:
        self._w = w
        self._index = index
        self.known = w.known(index)

    def value(self) -> str:
        """The value that holds them."""
        if self.known is not None:
            return self._w.const(whole_const(self.known, DType.S32))
        return self._w.cast(self._w.input(self._index), DType.S32)

    def rows(self, lengths: Sequence[int], nearest: bool) -> str:
        """Numbers of rows, of positions along several axes in the last axis."""
        steps = [math.prod(lengths[i + 1 :]) for i in range(len(lengths))]
        if self.known is not None:
            known, sizes = self.known.astype(np.int64), np.array(lengths)
            parts = np.clip(known, 0, sizes - 1) if nearest else known % sizes
            return self._w.const(whole_const(parts @ np.array(steps, np.int64), DType.S32))
        w, at = self._w, self.value()
        if not nearest:
            at = w.apply(WholeArithmetic("%"), at, w.const(np.array(lengths, np.int32)))
        columns = [
            self._column(at, i, step, n if nearest else 0)
            for i, (n, step) in enumerate(zip(lengths, steps, strict=True))
        ]
        total = columns[0]
        for column in columns[1:]:
            total = w.apply(WholeArithmetic("+"), total, column)
        return total

    def _column(self, at: str, i: int, step: int, length: int) -> str:
        """The part of rows' numbers that the positions along one axis make, the nearest ones inside its `length`."""
        w, shape = self._w, self._w.shape(at)
        starts = (*(0,) * (len(shape) - 1), i)
        one = at if shape[-1] == 1 else w.apply(Slice(starts, (*shape[:-1], 1), (1,) * len(shape)), at)
        one = w.reshaped(one, shape[:-1])
        one = w.apply(Clamp(0, length - 1), one) if length else one
        return one if step == 1 else w.apply(WholeArithmetic("*"), one, w.whole(step))

    def elements(self, shape: Sequence[int], axis: int) -> str:
        """Numbers of elements of a tensor of that shape, where the positions are along one axis and lie as it does."""
        steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        sizes = self._w.shape(self.value()) if self.known is None else self.known.shape
        grid = np.ogrid[tuple(slice(n) for n in sizes)]
        others = sum((g * s for i, (g, s) in enumerate(zip(grid, steps, strict=True)) if i != axis), np.int64(0))
        if self.known is not None:
            return self._w.const(
                whole_const(self.known.astype(np.int64) % shape[axis] * steps[axis] + others, DType.S32)
            )
        w = self._w
        at = w.apply(WholeArithmetic("%"), self.value(), w.whole(shape[axis]))
        at = w.apply(WholeArithmetic("*"), at, w.whole(steps[axis]))
        return w.apply(WholeArithmetic("+"), at, w.const(np.asarray(others, np.int32)))


def taken(w: Writer, x: str, places: str, run: int) -> str:
    """Rows of `run` elements at numbers of rows: [places, run]."""
    table = w.reshaped(x, (math.prod(w.shape(x)) // run, run))
    return w.apply(Take(1), table, w.reshaped(places, (math.prod(w.shape(places)), 1)))


def gather(ctx: Context, node: RealNode, op: movement.Gather) -> Sequence[State]:
    """Slices along an axis."""
    w = Writer(ctx, node)
    return w.done(slices_taken(w, w.input(0), op))


def slices_taken(w: Writer, x: str, op: movement.Gather) -> str:
    """Slices along an axis, at the positions that are the second input."""
    axis, at, shape, result = op.axis, Places(w, 1), w.shape(x), w.ctx.real(w.node.outputs[0]).shape
    if at.known is not None:
        whole = np.arange(shape[axis]).take(at.known.reshape(-1), mode="clip" if op.nearest else "wrap")
        picks = tuple(whole.tolist())
        return w.reshaped(w.apply(Gather(axis, picks), x), result)
    places = at.value()
    count = len(w.shape(places))
    first = w.moved(x, axis, 0)
    rows = places if op.nearest else w.apply(WholeArithmetic("%"), places, w.whole(shape[axis]))
    rest = w.shape(first)[1:]
    y = w.reshaped(taken(w, first, rows, math.prod(rest)), (*w.shape(places), *rest))
    return w.transposed(y, [*range(count, count + axis), *range(count), *range(count + axis, count + len(rest))])


def gather_elements(ctx: Context, node: RealNode, op: real.GatherElements) -> Sequence[State]:
    """Single elements."""
    w = Writer(ctx, node)
    return w.done(elements_taken(w, w.input(0), op.axis))


def elements_taken(w: Writer, x: str, axis: int) -> str:
    """Single elements, at the positions that are the second input."""
    y = taken(w, x, Places(w, 1).elements(w.shape(x), axis), 1)
    return w.reshaped(y, w.ctx.real(w.node.outputs[0]).shape)


def gather_nd(ctx: Context, node: RealNode, op: real.GatherND) -> Sequence[State]:
    """Slices at positions along several axes, behind common ones."""
    w = Writer(ctx, node)
    return w.done(parts_taken(w, w.input(0), op))


def parts_taken(w: Writer, x: str, op: real.GatherND) -> str:
    """Slices behind common axes, at the positions along several axes that are the second input."""
    at, shape, places = Places(w, 1), w.shape(x), w.ctx.real(w.node.inputs[1]).shape
    batch, depth, common = op.batch, places[-1], shape[: op.batch]
    if op.nearest and not batch and at.known is None:
        return w.apply(Take(depth), x, at.value())
    within = shape[batch : batch + depth]
    rows = at.rows(within, op.nearest)
    if common:
        starts = np.arange(math.prod(common)).reshape(*common, *(1,) * (len(places) - 1 - batch))
        rows = w.apply(WholeArithmetic("+"), rows, w.const(whole_const(starts * math.prod(within), DType.S32)))
    y = taken(w, x, rows, math.prod(shape[batch + depth :]))
    return w.reshaped(y, w.ctx.real(w.node.outputs[0]).shape)


def scatter_elements(ctx: Context, node: RealNode, op: real.ScatterElements) -> Sequence[State]:
    """Single elements put."""
    w = Writer(ctx, node)
    x = w.input(0)
    places = Places(w, 1).elements(w.shape(x), op.axis)
    return w.done(_put(w, x, places, w.input(2), 1, _JOINING[op.reduction]))


def scatter_nd(ctx: Context, node: RealNode, op: real.ScatterND) -> Sequence[State]:
    """Slices put at positions along several axes."""
    w = Writer(ctx, node)
    x = w.input(0)
    shape, depth = w.shape(x), ctx.real(node.inputs[1]).shape[-1]
    rows = Places(w, 1).rows(shape[:depth], op.nearest)
    return w.done(_put(w, x, rows, w.input(2), math.prod(shape[depth:]), _JOINING[op.reduction]))


def _put(w: Writer, x: str, places: str, updates: str, run: int, joining: Joining) -> str:
    shape, kind = w.shape(x), w.type(x).dtype
    joins = joining == "none" or kind in (DType.F32, DType.S32)
    x, updates = (v if joins else w.cast(v, DType.S32) for v in (x, updates))
    count = math.prod(w.shape(places))
    parts = (
        w.reshaped(x, (math.prod(shape) // run, run)),
        w.reshaped(places, (count,)),
        w.reshaped(updates, (count, run)),
    )
    return w.cast(w.reshaped(w.apply(Scatter(joining), *parts), shape), kind)


def cache_write(ctx: Context, node: RealNode, op: real.CacheWrite) -> Sequence[State]:
    """New entries from a position per entry of the batch on."""
    w = Writer(ctx, node)
    cache, new = w.input(0), w.input(1)
    shape, length = w.shape(cache), w.shape(new)[op.axis]
    run = math.prod(shape[op.axis + 1 :])
    lead = shape[: op.axis]
    starts = w.reshaped(Places(w, 2).value(), (shape[0], *(1,) * op.axis))
    at = w.apply(WholeArithmetic("+"), starts, w.const(np.arange(length, dtype=np.int32)))
    at = w.apply(WholeArithmetic("%"), at, w.whole(shape[op.axis]))
    base = np.arange(math.prod(lead), dtype=np.int32).reshape(*lead, 1) * np.int32(shape[op.axis])
    rows = w.apply(WholeArithmetic("+"), at, w.const(base))
    return w.done(_put(w, cache, rows, new, run, "none"))


def one_hot(ctx: Context, node: RealNode, op: along.OneHot) -> Sequence[State]:
    """A comparison with the numbers of the entries."""
    w = Writer(ctx, node)
    at = w.cast(w.input(0), DType.S32)
    below = w.cast(w.apply(Compare("<", None, None), at, w.whole(0)), DType.S32)
    at = w.apply(WholeArithmetic("+"), at, w.apply(WholeArithmetic("*"), below, w.whole(op.depth)))
    shape = w.shape(at)
    spread = w.reshaped(at, (*shape[: op.axis], 1, *shape[op.axis :]))
    entries = np.arange(op.depth, dtype=np.int32).reshape(-1, *(1,) * (len(shape) - op.axis))
    hit = w.apply(Compare("==", None, None), spread, w.const(entries))
    off, on = (w.reshaped(w.apply(Slice((i,), (1,), (1,)), w.input(1)), ()) for i in range(2))
    return w.done(chosen(w, hit, on, off))


def triangle(ctx: Context, node: RealNode, op: along.Triangle) -> Sequence[State]:
    """Zeros beyond a diagonal."""
    w = Writer(ctx, node)
    return w.done(w.apply(Triangle(op.upper, op.offset, 0), w.input(0)))


def reverse_sequence(ctx: Context, node: RealNode, op: along.ReverseSequence) -> Sequence[State]:
    """The first elements of each sequence in reverse."""
    w = Writer(ctx, node)
    return w.done(turned(w, w.input(0), op))


def turned(w: Writer, x: str, op: along.ReverseSequence) -> str:
    """Sequences turned, of the lengths that are the second input."""
    x = w.moved(x, op.time, 1)
    batch, steps, *rest = w.shape(x)
    places = Places(w, 1)
    lengths = w.reshaped(places.value(), (batch, 1))
    if places.known is None:
        beyond = w.apply(Compare(">", None, None), lengths, w.whole(steps))
        lengths = chosen(w, beyond, w.whole(steps), lengths)
    step: Array = np.arange(steps, dtype=np.int32)
    runs = w.apply(Compare(">", None, None), lengths, w.const(step))
    back = w.apply(WholeArithmetic("+"), lengths, w.const(-1 - step))
    at = chosen(w, runs, back, w.const(step))
    rows = w.apply(WholeArithmetic("+"), at, w.const(np.arange(batch, dtype=np.int32)[:, None] * np.int32(steps)))
    y = w.reshaped(taken(w, x, rows, math.prod(rest)), (batch, steps, *rest))
    return w.moved(y, 1, op.time)


RULES: Family = (
    Rule(along.OneHot, one_hot),
    Rule(along.ReverseSequence, reverse_sequence),
    Rule(along.Triangle, triangle),
    Rule(movement.Gather, gather),
    Rule(real.CacheWrite, cache_write),
    Rule(real.GatherElements, gather_elements),
    Rule(real.GatherND, gather_nd),
    Rule(real.ScatterElements, scatter_elements),
    Rule(real.ScatterND, scatter_nd),
)
