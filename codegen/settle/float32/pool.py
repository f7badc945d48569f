"""Means of real numbers, over windows and over whole axes; pools of powers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.op import Op
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.ops.float32 import FloatAveragePool2D, FloatBinary, FloatConv2D, FloatGlobalAveragePool, FloatUnary
from codegen.real.reduce import Reduce
from codegen.real.unpool import LpPool
from codegen.real.window import AveragePool
from codegen.settle.context import Context
from codegen.settle.float32.inputs import real_value
from codegen.settle.float32.writer import Writer
from codegen.settle.float32.writing import written
from codegen.settle.plane import Layout, kernel_of, plane
from codegen.settle.pool import reduction
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Route, State
from codegen.settle.windows import pool_routes, two_windows


def average_pool(ctx: Context, node: RealNode, op: AveragePool) -> Sequence[State]:
    """AveragePool; a window over the whole map is a sum of rows.  More than two axes are averaged two by two."""
    x = real_value(ctx, node, 0)
    shape = ctx.type(x).shape
    spatial = shape[2:] if op.channel_axis == 1 else shape[1:-1]
    if op.channel_axis == -1:
        return [written(ctx, node, Route(_mean(op.windows, op.counted, spatial)), [x])]
    counted = op.counted or ((0, 0),) * len(spatial)

    def make(axes: Sequence[int]) -> Op:
        return _mean([op.windows[a] for a in axes], [counted[a] for a in axes], [spatial[a] for a in axes])

    first, *others = pool_routes(make, shape, op.windows)
    route = Route(first.main, first.pre, (*first.post, *(op for more in others for op in more.ops)))
    return [written(ctx, node, route, [x])]


def _mean(windows: Sequence[Window], counted: Sequence[tuple[int, int]], spatial: Sequence[int]) -> Op:
    h, w = two_windows(windows)
    if all(_covers(v, n) for v, n in zip(windows, spatial, strict=True)):
        return FloatGlobalAveragePool()
    rows, columns = ((0, 0), (0, 0), *counted)[-2:]
    return FloatAveragePool2D(h, w, rows, columns)


def reduce(ctx: Context, node: RealNode, op: Reduce) -> Sequence[State]:
    """A mean over some axes: they become the rows of a map, the others its channels."""
    x = real_value(ctx, node, 0)
    if op.kind != "Mean" or not op.axes:
        raise ctx.unknown(node)
    pre, post = reduction(ctx.type(x).shape, op.axes, op.keep)
    return [written(ctx, node, Route(FloatGlobalAveragePool(), pre, post), [x])]


def lp_pool(ctx: Context, node: RealNode, op: LpPool) -> Sequence[State]:
    """A convolution of each channel's powers with ones, and the root."""
    w = Writer(ctx, node)
    shape = w.shape(w.input(0))
    x = w.apply(FloatUnary("abs"), w.input(0))
    x = x if op.p == 1 else w.apply(FloatUnary("squared"), x) if op.p == 2 else _power(w, x, op.p)
    p = plane(Layout(shape, 1, shape[1]), op.windows, shape[1])
    ones = np.ones((shape[1], 1, *(v.size for v in op.windows)), np.float32)
    for part in p.pre:
        x = w.apply(part, x)
    x = w.apply(FloatConv2D(p.h, p.w, shape[1]), x, w.const(kernel_of(ones)), w.const(np.zeros(shape[1], np.float32)))
    for part in p.post:
        x = w.apply(part, x)
    return w.done(x if op.p == 1 else w.apply(FloatUnary("sqrt"), x) if op.p == 2 else _power(w, x, 1 / op.p))


def _power(w: Writer, x: str, exponent: float) -> str:
    return w.apply(FloatBinary("power"), x, w.const(np.full((1,) * len(w.shape(x)), exponent, np.float32)))


def _covers(window: Window, length: int) -> bool:
    """Whether a window is the whole axis and nothing else."""
    return window.size == length and window.dilation == 1 and not (window.pad_before or window.pad_after)


RULES: Family = (
    Rule(LpPool, lp_pool),
    Rule(AveragePool, average_pool),
)
