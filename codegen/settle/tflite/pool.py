"""Pools, and reductions over any axes: MEAN, SUM, REDUCE_MAX, REDUCE_MIN; CUMSUM."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.quant import DType
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.ops import (
    AveragePool2D,
    Clamp,
    CumulativeSum,
    GlobalAveragePool,
    GlobalSum,
    Lut,
    MaxPool2D,
    Reshape,
)
from codegen.ops.requantize import make_requant
from codegen.real import cumulative, reduce, window
from codegen.settle.pool import as_rows
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Float, Request, State
from codegen.settle.tflite.context import TfliteContext, bounds
from codegen.settle.tflite.movement import with_value


def average_pool(ctx: TfliteContext, node: RealNode, op: window.AveragePool) -> Sequence[State]:
    """AVERAGE_POOL_2D: the numbers are averaged as they are, whatever the scales say."""
    x, dtype, (h, w) = ctx.quantized(node, 0), ctx.dtype(node, 0), op.windows
    _, height, width, _ = ctx.type(x.value).shape

    def write(request: Request) -> str:
        _check_kinds(node, dtype, request)
        ends = bounds(request)
        made: Op = AveragePool2D(h, w, False, x.quant, x.quant, dtype, *ends, ctx.mode)
        if (h, w) == (Window(height, h.stride), Window(width, w.stride)):
            made = GlobalAveragePool(x.quant, x.quant, dtype, *ends, ctx.mode)
        return ctx.write(request, made, (x.value,))

    return [ctx.waiting(node, write)]


def max_pool(ctx: TfliteContext, node: RealNode, op: window.MaxPool) -> Sequence[State]:
    """MAX_POOL_2D, of real numbers as well, and a clamp where an activation is fused."""
    state, (h, w) = ctx.state(node, 0), op.windows
    if isinstance(state, Float):
        return [with_value(state, ctx.made(node, MaxPool2D(h, w), (state.value,)))]
    x, dtype = ctx.quantized(node, 0), ctx.dtype(node, 0)

    def write(request: Request) -> str:
        _check_kinds(node, dtype, request)
        ends = bounds(request)
        post = () if ends == (dtype.low, dtype.high) else (Clamp(*ends),)
        return ctx.write(request, MaxPool2D(h, w), (x.value,), post=post)

    return [ctx.waiting(node, write)]


def _check_kinds(node: RealNode, dtype: DType, request: Request) -> None:
    if request.dtype is not dtype:
        raise FormUnsupported(f"a pool from {dtype.value} to {request.dtype.value}", where=node.where)


def reduction(ctx: TfliteContext, node: RealNode, op: reduce.Reduce) -> Sequence[State]:
    """A mean, a sum, or an extremum."""
    if op.kind == "Mean":
        return [_mean(ctx, node, op.axes)]
    if op.kind == "Sum":
        return [_sum(ctx, node, op.axes)]
    if op.kind in ("Max", "Min"):
        return [_largest(ctx, node, op.axes) if op.kind == "Max" else _least(ctx, node, op.axes)]
    raise ctx.real_only(node)


def _mean(ctx: TfliteContext, node: RealNode, axes: tuple[int, ...]) -> State:
    x = ctx.quantized(node, 0)

    def write(request: Request) -> str:
        low, high = request.dtype.low, request.dtype.high
        made = GlobalAveragePool(x.quant, request.quant, request.dtype, low, high, ctx.mode, as_mean=True)
        return ctx.write(request, made, (_by_rows(ctx, node, axes),), post=_result(ctx, node))

    return ctx.waiting(node, write)


def _sum(ctx: TfliteContext, node: RealNode, axes: tuple[int, ...]) -> State:
    x = ctx.quantized(node, 0)

    def write(request: Request) -> str:
        requant = make_requant(ctx.mode, x.quant.scale, [1.0], request.quant, request.dtype)
        made = GlobalSum(x.quant.zero_point, requant, request.dtype, request.quant)
        return ctx.write(request, made, (_by_rows(ctx, node, axes),), post=_result(ctx, node))

    return ctx.waiting(node, write)


def _largest(ctx: TfliteContext, node: RealNode, axes: tuple[int, ...]) -> State:
    """One window over the map."""
    value = _by_rows(ctx, node, axes)
    _, rows, columns, _ = ctx.type(value).shape
    made = ctx.made(node, MaxPool2D(Window(rows), Window(columns)), (value,), post=_result(ctx, node))
    return with_value(ctx.state(node, 0), made)


def _least(ctx: TfliteContext, node: RealNode, axes: tuple[int, ...]) -> State:
    """The largest of the numbers turned round, turned round again."""
    kind = ctx.type(ctx.value(node, 0))
    if kind.dtype not in (DType.S8, DType.U8):
        raise FormUnsupported(f"a minimum of {kind.dtype.value}", where=node.where, hint="8-bit numbers are supported")
    turned = Lut(tuple(range(kind.dtype.high, kind.dtype.low - 1, -1)), kind.dtype, kind.quant, "turned round")
    value = _by_rows(ctx, node, axes)
    _, rows, columns, _ = ctx.type(value).shape
    value = ctx.apply(node, turned, (value,))
    post = (turned, *_result(ctx, node))
    return with_value(ctx.state(node, 0), ctx.made(node, MaxPool2D(Window(rows), Window(columns)), (value,), post=post))


def _result(ctx: TfliteContext, node: RealNode) -> tuple[Op, ...]:
    return (Reshape(ctx.real(node.outputs[0]).shape),)


def _by_rows(ctx: TfliteContext, node: RealNode, axes: tuple[int, ...]) -> str:
    """The input as a map whose rows and columns are the reduced axes, and channels the others."""
    value = ctx.value(node, 0)
    shape = ctx.type(value).shape
    if len(shape) == 4 and axes == (1, 2) and shape[0] == 1:
        return value
    for op in as_rows(shape, axes):
        if op != Reshape(ctx.type(value).shape):
            value = ctx.apply(node, op, (value,))
    return value


def cumulative_sum(ctx: TfliteContext, node: RealNode, op: cumulative.CumulativeSum) -> Sequence[State]:
    """CUMSUM along an axis."""
    x = ctx.quantized(node, 0)

    def write(request: Request) -> str:
        ways = (op.exclusive, op.reverse)
        ends = (request.dtype.low, request.dtype.high)
        return ctx.write(request, CumulativeSum(op.axis, x.quant, request.quant, *ends, *ways), (x.value,))

    return [ctx.waiting(node, write)]


RULES: Family = (
    Rule(cumulative.CumulativeSum, cumulative_sum, ("CUMSUM",)),
    Rule(reduce.Reduce, reduction, ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM")),
    Rule(window.AveragePool, average_pool, ("AVERAGE_POOL_2D",)),
    Rule(window.MaxPool, max_pool, ("MAX_POOL_2D",)),
)
