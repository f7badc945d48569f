"""Means of real numbers, over windows and over whole axes."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.ops.float32 import FloatAveragePool2D, FloatGlobalAveragePool
from codegen.real.reduce import Reduce
from codegen.real.window import AveragePool
from codegen.settle.context import Context
from codegen.settle.float32.conv import windowed
from codegen.settle.float32.inputs import real_value
from codegen.settle.float32.writing import written
from codegen.settle.pool import reduction
from codegen.settle.states import Route, State
from codegen.settle.windows import two_windows


def average_pool(ctx: Context, node: RealNode, op: AveragePool) -> Sequence[State]:
    """AveragePool; a window over the whole map is a sum of rows."""
    x = real_value(ctx, node, 0)
    shape = ctx.type(x).shape
    spatial = shape[2:] if op.channel_axis == 1 else shape[1:-1]
    h, w = two_windows(op.windows)
    if all(_covers(v, n) for v, n in zip(op.windows, spatial, strict=True)):
        main: FloatAveragePool2D | FloatGlobalAveragePool = FloatGlobalAveragePool()
    else:
        rows, columns = ((0, 0), (0, 0), *op.counted)[-2:]
        main = FloatAveragePool2D(h, w, rows, columns)
    route = windowed(ctx, node, x, op.channel_axis, main, shape[op.channel_axis], w.out_len)
    return [written(ctx, node, route, [x])]


def reduce(ctx: Context, node: RealNode, op: Reduce) -> Sequence[State]:
    """A mean over some axes: they become the rows of a map, the others its channels."""
    x = real_value(ctx, node, 0)
    if op.kind != "Mean" or not op.axes:
        raise ctx.unknown(node)
    pre, post = reduction(ctx.type(x).shape, op.axes, op.keep)
    return [written(ctx, node, Route(FloatGlobalAveragePool(), pre, post), [x])]


def _covers(window: Window, length: int) -> bool:
    """Whether a window is the whole axis and nothing else."""
    return window.size == length and window.dilation == 1 and not (window.pad_before or window.pad_after)
