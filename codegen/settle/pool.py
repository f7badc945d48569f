"""Pools and reductions.

Decides: that a maximum moves through quantization like data movement, and that a mean over everything spatial is one
operator however the model spells it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, ResultNotQuantized, ScaleBad
from codegen.ir.op import Op
from codegen.ir.quant import DType, Mode, Quant, TensorType
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.ops import (
    AveragePool2D,
    GlobalAveragePool,
    GlobalSum,
    MaxPool2D,
    Pad,
    Reshape,
    Transpose,
    activation_bounds,
    make_requant,
)
from codegen.ops.float32 import FloatReduce
from codegen.ops.windows import valid_taps
from codegen.real.reduce import Reduce
from codegen.real.window import AveragePool, MaxPool
from codegen.records import record
from codegen.settle import log_sums, sums
from codegen.settle.context import Context, real_bounds, story
from codegen.settle.layout import TO_NCHW, TO_NHWC
from codegen.settle.move import move, rewritten
from codegen.settle.rule import Family, Rule
from codegen.settle.stacked import as_image, from_image, held_finer, inside_places, picked, rows_of, window_places
from codegen.settle.states import Int, Pending, Real, Request, Route, State
from codegen.settle.tables import as_pending, exact, is_increasing
from codegen.settle.weighted import sums_of_words
from codegen.settle.windows import pool_route, pool_routes, spatial_sizes, two_windows

_SCALES = np.finfo(np.float32)
_LOGARITHMS = {"LogSum": log_sums.log_of_sum, "LogSumExp": log_sums.log_of_exponentials}
MakeAverage = Callable[[Request, int, int], Op]


@record
class Mean:
    """Windows of a mean over rows and columns, and what brings a tensor of the model to a map and back.

    `x` is what the map's numbers mean; `make` makes another operator than AveragePool2D.
    """

    x: Quant
    windows: tuple[Window, Window]
    pre: tuple[Op, ...]
    post: tuple[Op, ...]
    include_pad: bool = False
    make: MakeAverage | None = None


def max_pool(ctx: Context, node: RealNode, op: MaxPool) -> Sequence[State]:
    """MaxPool."""
    return [_maximum(ctx, node, op.windows)]


def average_pool(ctx: Context, node: RealNode, op: AveragePool) -> Sequence[State]:
    """AveragePool of a dequantized tensor."""
    return [_average(ctx, node, op, exact(ctx, node, 0))]


def reduce(ctx: Context, node: RealNode, op: Reduce) -> Sequence[State]:
    """A mean, a sum, also of sizes, squares, its root or logarithm, a product, an extreme; over no axes, the tensor."""
    if op.kind == "Max":
        return [_largest(ctx, node, op)]
    if op.kind == "Min":
        return [_smallest(ctx, node, op)]
    if op.kind in ("L1", "L2", "Prod", "SumSquare") and op.axes:
        return [sums.of_steps(ctx, node, exact(ctx, node, 0), op)]
    if op.kind in _LOGARITHMS and op.axes:
        return [_LOGARITHMS[op.kind](ctx, node, exact(ctx, node, 0), op)]
    if op.kind not in ("Mean", "Prod", "Sum"):
        raise ctx.real_only(node)
    x = exact(ctx, node, 0)
    if not op.axes:
        return [x]
    return [mean_of(ctx, node, x, op.axes, op.keep) if op.kind == "Mean" else _sum(ctx, node, op, x)]


def _sum(ctx: Context, node: RealNode, op: Reduce, x: Real) -> Pending:
    if ctx.mode == "ort":
        raise FormUnsupported("a sum in mode ort", where=node.where, hint="use --requant single or tflite")
    pre, post = reduction(ctx.shape(x), op.axes, op.keep)

    def make(request: Request, low: int, high: int) -> Op:
        requant = make_requant(ctx.mode, x.quant.scale, [1.0], request.quant, request.dtype, low, high)
        return GlobalSum(x.quant.zero_point, requant, request.dtype, request.quant)

    return averaging(ctx, node, x, make, pre, post)


def _largest(ctx: Context, node: RealNode, op: Reduce) -> State:
    """A maximum as one window."""
    state = _increasing(ctx, node)
    shape = ctx.shape(state)
    if not op.axes:
        return state
    if isinstance(state, Int) and ctx.type(state.value).dtype is DType.S32:  # no window has such numbers
        raise ctx.real_only(node)
    if len(shape) > 2 and op.axes == tuple(range(2, len(shape))) and op.keep:
        return _maximum(ctx, node, [Window(n) for n in shape[2:]])
    pre, post = reduction(shape, op.axes, op.keep)

    def plan(kind: TensorType) -> Route:
        _, rows, columns, _ = ctx.out_type(kind, pre).shape
        return Route(MaxPool2D(Window(rows), Window(columns)), pre, post)

    return move(ctx, node, state, plan)


def _smallest(ctx: Context, node: RealNode, op: Reduce) -> State:
    """A minimum of the integers."""
    state = _increasing(ctx, node)
    shape, main = ctx.real(node.outputs[0]).shape, FloatReduce("minimum", tuple(sorted(op.axes)))
    return rewritten(ctx, node, state, lambda w, x: w.reshaped(w.apply(main, x), shape)) if op.axes else state


def _average(ctx: Context, node: RealNode, pool: AveragePool, x: Real) -> Pending:
    """AveragePool of a tensor [N, C, spatial...]."""
    shape = ctx.shape(x)
    spatial = spatial_sizes(node, shape)
    whole = tuple(v.size for v in pool.windows) == spatial
    if whole and not any(v.pad_before or v.pad_after for v in pool.windows):
        return mean_of(ctx, node, x, tuple(range(2, len(shape))), True)
    kind = TensorType(tuple(shape), ctx.type(x.value).dtype, x.quant)
    mean = _plane_mean(pool, shape, x.quant) if len(spatial) < 3 else _stacked_mean(node, pool, kind, ctx.mode)

    def make(request: Request, low: int, high: int) -> Op:
        held = (mean.x, request.quant, request.dtype, low, high, ctx.mode)
        return AveragePool2D(mean.windows[0], mean.windows[1], mean.include_pad, *held)

    found = averaging(ctx, node, x, mean.make or make, mean.pre, mean.post)
    return replace(found, times=lambda factor: _average(ctx, node, pool, _times(node, x, factor)))


def _plane_mean(pool: AveragePool, shape: Sequence[int], quant: Quant) -> Mean:
    """Of one or two axes."""
    spatial = shape[2:]
    h, w = two_windows(pool.windows)
    include_pad, (rows, padded) = bool(pool.counted), (1, *spatial)[-2:]
    plain = two_windows([_padded(v, *c) for v, c in zip(pool.windows, pool.counted, strict=False)] or pool.windows)
    pads: tuple[Op, ...] = ()
    if include_pad and (h, w) != plain:
        # ceil_mode: the given pads count, the cells added behind them do not
        pads = (_explicit_pads(plain, quant.zero_point),)
        rows += plain[0].pad_before + plain[0].pad_after
        padded += plain[1].pad_before + plain[1].pad_after
        h, w = (_rest(wide, given) for wide, given in zip((h, w), plain, strict=True))
        include_pad = False
    route = pool_route(None, shape, (h.out_len(rows), w.out_len(padded))[-len(spatial) :])
    return Mean(quant, (h, w), (*route.pre, *pads), route.post, include_pad)


def _stacked_mean(node: RealNode, pool: AveragePool, x: TensorType, mode: Mode) -> Mean:
    """Of three axes or more: windows over one image, which read the rows that are theirs beside each other.

    Where windows at the borders read too few of them for that, one axis after the other: of 16-bit numbers by weights.
    """
    assert x.quant is not None, "it is held in integers with a scale"
    n, c, *spatial = x.shape
    counted = pool.counted or ((0, 0),) * len(spatial)
    before, after = zip(*counted, strict=True)
    sizes = [length + a + b for length, a, b in zip(spatial, before, after, strict=True)]
    windows = [_rest(v, _padded(v, *given)) for v, given in zip(pool.windows, counted, strict=True)]
    pads = (Pad((0, 0, *before), (0, 0, *after), "constant", x.quant.zero_point),) if any((*before, *after)) else ()
    lead = [window_places(v, length) for v, length in zip(windows[:-1], sizes, strict=False)]
    rows = rows_of([np.arange(n)[:, None], *lead], (n, *sizes[:-1]))
    out = [v.out_len(length) for v, length in zip(windows, sizes, strict=True)]
    pre = (*pads, *as_image((n, c, *sizes)), *picked(rows, n * math.prod(sizes[:-1])))
    taps = rows.shape[1]
    if taps:
        return Mean(x.quant, (Window(taps, taps), windows[-1]), pre, from_image((n, c, *out)))
    held = all((valid_taps(v, length) > 0).all() for v, length in zip(windows, sizes, strict=True))
    if not held:
        raise FormUnsupported(f"{node.op_type} of three axes with so much padding", where=node.where)
    padded = replace(x, shape=(n, c, *sizes))
    if x.dtype is DType.S16:
        return _weighted_mean(pads, windows, padded, out, mode)
    return _staged_mean(pads, windows, padded, mode)


def _weighted_mean(
    pads: tuple[Op, ...], windows: Sequence[Window], x: TensorType, out: Sequence[int], mode: Mode
) -> Mean:
    """Each element of a window by its share in it."""
    images, channels, *spatial = x.shape
    axes = [np.zeros((window.out_len(n), n)) for window, n in zip(windows, spatial, strict=True)]
    for weights, window, n in zip(axes, windows, spatial, strict=True):
        for row, places in zip(weights, inside_places(window, n), strict=True):
            row[places] = 1 / len(places)
    image = replace(x, shape=(1, images * math.prod(spatial[:-1]), spatial[-1], channels))
    made, sums = sums_of_words(image, axes, images, mode)
    pre, post = (*pads, *as_image(x.shape), *made), from_image((images, channels, *out))
    assert x.quant is not None, "it is held in integers with a scale"
    return Mean(x.quant, two_windows(windows[-2:]), pre, post, make=sums.make(mode))


def _staged_mean(pads: tuple[Op, ...], windows: Sequence[Window], x: TensorType, mode: Mode) -> Mean:
    """One axis after the other until two are left, with 7 bits more between: 16-bit numbers have no room for that."""
    pre, shape = [*pads], [*x.shape]
    for axis, window in enumerate(windows[:-2], 2):
        assert x.quant is not None, "it is held in integers with a scale"
        y = held_finer(x)
        assert y.quant is not None, "so is what is between"
        held = (x.quant, y.quant, y.dtype, y.dtype.low, y.dtype.high, mode)
        pre += [*as_rows(shape, (axis,)), AveragePool2D(window, Window(1), False, *held)]
        order = (axis, *(i for i in range(len(shape)) if i != axis))
        shape[axis] = window.out_len(shape[axis])
        pre += [Reshape(tuple(shape[i] for i in order)), Transpose(tuple(int(i) for i in np.argsort(order)))]
        x = y
    assert x.quant is not None, "it is held in integers with a scale"
    images = (1, math.prod(shape[:-2]), *shape[-2:])
    result = [v.out_len(length) for v, length in zip(windows[-2:], shape[-2:], strict=True)]
    route, back = pool_route(None, images, result), Reshape((*shape[:-2], *result))
    return Mean(x.quant, two_windows(windows[-2:]), (*pre, Reshape(images), *route.pre), (*route.post, back))


def mean_of(ctx: Context, node: RealNode, x: Real, axes: Sequence[int], keep: bool) -> Pending:
    """The mean over some axes: they become the rows of a map, the others its channels."""
    pre, post = reduction(ctx.shape(x), axes, keep)

    def make(request: Request, low: int, high: int) -> Op:
        return GlobalAveragePool(x.quant, request.quant, request.dtype, low, high, ctx.mode)

    found = averaging(ctx, node, x, make, pre, post)
    return replace(found, times=lambda factor: mean_of(ctx, node, _times(node, x, factor), axes, keep))


def _times(node: RealNode, x: Real, factor: float) -> Real:
    """The tensor times a number, which its scale takes."""
    scale = x.quant.scale * factor
    if not _SCALES.tiny <= scale <= _SCALES.max:
        raise ScaleBad(f"a factor of {factor:.4g} makes a scale of {scale:.4g}", where=node.where)
    return replace(x, quant=Quant(float(np.float32(scale)), x.quant.zero_point))


def reduction(shape: Sequence[int], axes: Sequence[int], keep: bool) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """What makes a map of the reduced axes with the others as channels, and what makes the result of its one pixel."""
    result = tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
    pre: tuple[Op, ...]
    post: tuple[Op, ...]
    if len(shape) == 4 and shape[0] == 1 and tuple(axes) == (2, 3):
        pre, post = (Transpose(TO_NHWC),), (Transpose(TO_NCHW), *(() if keep else (Reshape(result),)))
    else:
        pre = as_rows(shape, axes)
        post = (Reshape(result),)
    return pre, post


def as_rows(shape: Sequence[int], axes: Sequence[int]) -> tuple[Op, ...]:
    """What makes a map [1, rows, 1, channels]: rows are the reduced axes, channels the others."""
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    rows, channels = math.prod(shape[a] for a in axes), math.prod(shape[a] for a in kept)
    order = (*axes, *kept)
    moved = [i for i in order if shape[i] > 1]
    layout = () if moved == sorted(moved) else (Transpose(order),)
    return (*layout, Reshape((1, rows, 1, channels)))


def averaging(
    ctx: Context, node: RealNode, x: Real, make: MakeAverage, pre: tuple[Op, ...], post: tuple[Op, ...]
) -> Pending:
    """An operator of one tensor with its own scale, as a result that waits for it."""

    def emit(request: Request) -> str:
        low, high = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        op = make(request, low, high)
        note = f"{story(request.trail)} -> {type(op).__name__}, requant {ctx.mode}"
        return ctx.run(x.value, Route(op, pre, post), request.name, request.trail, note)

    probe = make(Request(x.quant, DType.S8, "", ()), -128, 127)
    kind = ctx.out_type(ctx.type(x.value), (*pre, probe, *post))
    return Pending(kind.shape, emit, (node,))


def _maximum(ctx: Context, node: RealNode, windows: Sequence[Window]) -> State:
    state = _increasing(ctx, node)

    def make(axes: Sequence[int]) -> Op:
        return MaxPool2D(*two_windows([windows[a] for a in axes]))

    def plan(kind: TensorType) -> Route:
        first, *others = pool_routes(make, kind.shape, windows)
        return replace(first, post=(*first.post, *(op for route in others for op in route.ops)))

    return move(ctx, node, state, plan)


def _increasing(ctx: Context, node: RealNode) -> State:
    """The input with which a maximum may change places: rounding to a later scale keeps the order of numbers."""
    state = ctx.state(node, 0)
    if not isinstance(state, Real) or is_increasing(ctx, state):
        return state
    try:
        return exact(ctx, node, 0)
    except ResultNotQuantized:
        return as_pending(ctx, state)


def _padded(window: Window, before: int, after: int) -> Window:
    return replace(window, pad_before=before, pad_after=after)


def _explicit_pads(windows: tuple[Window, Window], zero_point: int) -> Op:
    h, w = windows
    return Pad((0, h.pad_before, w.pad_before, 0), (0, h.pad_after, w.pad_after, 0), "constant", zero_point)


def _rest(window: Window, given: Window) -> Window:
    """The window on an input that already has the given padding."""
    before, after = window.pad_before - given.pad_before, window.pad_after - given.pad_after
    return replace(window, pad_before=before, pad_after=after)


RULES: Family = (
    Rule(
        Reduce,
        reduce,
        (
            *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin"),
            *("ReduceProd", "ReduceSum", "ReduceSumSquare"),
        ),
    ),
    Rule(
        AveragePool,
        average_pool,
        ("AveragePool", "GlobalAveragePool", "QLinearAveragePool", "QLinearGlobalAveragePool"),
    ),
    Rule(MaxPool, max_pool, ("GlobalMaxPool", "MaxPool", "NhwcMaxPool")),
)
