"""Reductions, places of extremes, the best k, shares and running sums of plain numbers.

Decides: how they run over axes that are not the last.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from codegen.errors import CompileError
from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ops import ArgExtremum, Compare, TopK, WholeArithmetic
from codegen.ops.float32 import FloatBinary, FloatClip, FloatCumulative, FloatReduce, FloatUnary
from codegen.ops.float32.reduce import ReductionName
from codegen.real import along, cumulative
from codegen.real import reduce as real
from codegen.settle.context import Context
from codegen.settle.float32 import pool
from codegen.settle.float32.elementwise import LARGEST, chosen
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Int, Real, State
from codegen.settle.tables import exact, is_strictly_increasing

_REDUCED: Mapping[str, tuple[ReductionName, str]] = {
    "L1": ("l1", ""),
    "L2": ("squares", "sqrt"),
    "LogSum": ("sum", "log"),
    "Max": ("maximum", ""),
    "Mean": ("mean", ""),
    "Min": ("minimum", ""),
    "Prod": ("product", ""),
    "Sum": ("sum", ""),
    "SumSquare": ("squares", ""),
}
"""The reduction, and the function behind it."""


def reduce_of(ctx: Context, node: RealNode, op: real.Reduce) -> Sequence[State]:
    """A reduction; of whole numbers exactly, what is beyond 32 bits wrapped around."""
    w = Writer(ctx, node)
    if op.kind == "Mean" and op.axes and w.is_real(0):
        try:
            return pool.reduce(ctx, node, op)
        except CompileError:
            pass
    x = w.input(0)
    if op.kind == "LogSumExp":
        y = _log_of_exponentials(w, w.cast(x, DType.F32), op.axes)
    else:
        y = _reduced(w, x, op) if w.is_real(0) else _whole(w, w.cast(x, DType.S32), op)
    shape = ctx.real(node.outputs[0]).shape
    return w.done(w.reshaped(y, shape))


def _reduced(w: Writer, x: str, op: real.Reduce) -> str:
    name, behind = _REDUCED[op.kind]
    if op.axes:
        x = w.apply(FloatReduce(name, tuple(sorted(op.axes))), x)
    elif name == "l1":
        x = w.apply(FloatUnary("abs"), x)
    elif name == "squares":
        x = w.apply(FloatUnary("squared"), x)
    return w.apply(FloatUnary(behind), x) if behind else x


def _whole(w: Writer, x: str, op: real.Reduce) -> str:
    """The same of whole numbers; without axes along one of size 1; a mean is the sum over the count, towards zero."""
    name, behind = _REDUCED[op.kind]
    axes, shape = tuple(sorted(op.axes)), w.shape(x)
    if not axes:
        x, axes = w.reshaped(x, (1, *shape)), (0,)
    y = w.apply(FloatReduce("sum" if name == "mean" else name, axes), x)
    if name == "mean":
        y = w.apply(WholeArithmetic("/"), y, w.whole(math.prod(shape[a] for a in op.axes)))
    return w.apply(FloatUnary(behind), w.cast(y, DType.F32)) if behind else y


def _log_of_exponentials(w: Writer, x: str, axes: tuple[int, ...]) -> str:
    """Behind the largest number taken off, where that is finite."""
    if not axes:
        return x
    axes = tuple(sorted(axes))
    top = w.apply(FloatReduce("maximum", axes), x)
    finite = w.apply(Compare("<=", None, None), w.apply(FloatUnary("abs"), top), w.real(LARGEST))
    top = chosen(w, finite, top, w.real(0.0))
    powers = w.apply(FloatUnary("exp"), w.apply(FloatBinary("sub"), x, top))
    total = w.apply(FloatUnary("log"), w.apply(FloatReduce("sum", axes), powers))
    return w.apply(FloatBinary("add"), total, top)


def place_of_best(w: Writer, x: str, largest: bool = True, last: bool = False) -> str:
    """Where along the last axis the best number is; of equal ones the first, or the last."""
    return w.apply(ArgExtremum(largest, last), x)


def best(w: Writer, x: str, count: int, largest: bool = True) -> str:
    """The best numbers along the last axis, best first."""
    return w.apply(TopK(count, False, largest), x)


def best_places(w: Writer, x: str, count: int, largest: bool = True) -> str:
    """Where along the last axis those of `best` are."""
    return w.apply(TopK(count, True, largest), x)


def arg_extremum(ctx: Context, node: RealNode, op: real.ArgExtremum) -> Sequence[State]:
    """Along the last axis, where the others are brought before it."""
    w = Writer(ctx, node)
    x = w.input(0)
    y = place_of_best(w, w.moved(x, op.axis, len(w.shape(x)) - 1), op.largest, op.last)
    return w.done(w.reshaped(y, ctx.real(node.outputs[0]).shape))


def _best(w: Writer, x: str, op: along.TopK) -> tuple[str, str]:
    """The best numbers of an axis, and their places."""
    last = len(w.shape(x)) - 1
    x = w.moved(x, op.axis, last)
    found = best(w, x, op.count, op.largest), best_places(w, x, op.count, op.largest)
    return w.moved(found[0], last, op.axis), w.moved(found[1], last, op.axis)


def top_k(ctx: Context, node: RealNode, op: along.TopK) -> Sequence[State]:
    """The best of an axis, and their places."""
    w = Writer(ctx, node)
    return w.done(*_best(w, w.input(0), op))


def top_k_of_integers(ctx: Context, node: RealNode, op: along.TopK) -> Sequence[State]:
    """The same of integers, whose order is that of the numbers that they stand for."""
    state = ctx.state(node, 0)
    if isinstance(state, Int) or not op.count:
        raise ctx.real_only(node)
    x = state if isinstance(state, Real) and is_strictly_increasing(ctx, state) else exact(ctx, node, 0)
    numbers, places = _best(Writer(ctx, node), x.value, op)
    for value, name in zip((numbers, places), node.outputs, strict=False):
        ctx.builder.rename_source(value, name)
    found: list[State] = [Real(numbers, x.quant, x.function, x.trail), Int(places, "int64")]
    return found[: len(node.outputs)]


def hardmax(ctx: Context, node: RealNode, op: along.Hardmax) -> Sequence[State]:
    """1 at the place of the largest number."""
    w = Writer(ctx, node)
    x, axes = w.input(0), sorted(op.axes)
    shape = w.shape(x)
    others = [i for i in range(len(shape)) if i not in axes]
    perm = [*others, *axes]
    flat = (*(shape[i] for i in others), math.prod(shape[i] for i in axes))
    moved = w.reshaped(w.transposed(x, perm), flat)
    hit = w.apply(Compare("==", None, None), place_of_best(w, moved), w.const(np.arange(flat[-1], dtype=np.int32)))
    y = w.reshaped(w.cast(hit, DType.F32), [shape[i] for i in perm])
    return w.done(w.transposed(y, [perm.index(i) for i in range(len(perm))]))


def running_sum(ctx: Context, node: RealNode, op: cumulative.CumulativeSum) -> Sequence[State]:
    """Sums so far; of whole numbers exactly."""
    return _along(Writer(ctx, node), FloatCumulative("sum", op.axis, op.exclusive, op.reverse))


def running_product(ctx: Context, node: RealNode, op: cumulative.CumulativeProduct) -> Sequence[State]:
    """Products so far; of whole numbers exactly."""
    return _along(Writer(ctx, node), FloatCumulative("product", op.axis, op.exclusive, op.reverse))


def _along(w: Writer, op: FloatCumulative) -> Sequence[State]:
    return w.done(w.apply(op, w.cast(w.input(0), DType.F32 if w.is_real(0) else DType.S32)))


def held_above(w: Writer, x: str, least: float) -> str:
    """Numbers that are `least` at least."""
    return w.apply(FloatClip(least, math.inf), x)


ORDERED: Family = (Rule(along.TopK, top_k_of_integers, ("TopK",)),)
RULES: Family = (
    Rule(along.Hardmax, hardmax),
    Rule(along.TopK, top_k),
    Rule(cumulative.CumulativeProduct, running_product),
    Rule(cumulative.CumulativeSum, running_sum),
    Rule(real.ArgExtremum, arg_extremum),
    Rule(real.Reduce, reduce_of),
)
