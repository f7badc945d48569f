"""MaxPool, AveragePool, global pools, ReduceMean, ReduceSum and ReduceMax.

Decides: that a maximum moves through quantization like data movement, and that a mean over everything spatial is one
operator however the model spells it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, ScaleBad, ShapeMismatch
from codegen.frontends.layout import TO_NCHW, TO_NHWC
from codegen.frontends.onnx.context import Context, real_bounds, story
from codegen.frontends.onnx.move import move
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.states import Pending, Real, Request, Route, State
from codegen.frontends.onnx.tables import exact, is_increasing
from codegen.frontends.onnx.windows import read_kernel, read_windows, spatial_route, spatial_sizes, with_ceiling
from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant, TensorType
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

_SCALES = np.finfo(np.float32)
MakeAverage = Callable[[Request, int, int], Op]


def max_pool(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """MaxPool, without the second output."""
    if len(node.outputs) > 1 and node.outputs[1]:
        raise FormUnsupported("MaxPool with indices of the maxima", where=node.where)
    shape = ctx.shape(ctx.state(node, 0))
    spatial = spatial_sizes(node, shape)
    h, w = _pool_windows(node, shape, read_kernel(node, spatial))
    return [_maximum(ctx, node, h, w)]


def global_max_pool(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """GlobalMaxPool as one window."""
    spatial = spatial_sizes(node, ctx.shape(ctx.state(node, 0)))
    return [_maximum(ctx, node, Window(spatial[0] if len(spatial) == 2 else 1), Window(spatial[-1]))]


def average_pool(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """AveragePool of a dequantized tensor."""
    return [average_pool_of(ctx, node, exact(ctx, node, 0))]


def global_average_pool(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """GlobalAveragePool of a dequantized tensor."""
    x = exact(ctx, node, 0)
    rank = len(ctx.shape(x))
    spatial_sizes(node, ctx.shape(x))
    return [mean_of(ctx, node, x, tuple(range(2, rank)), True)]


def reduce_mean(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """ReduceMean of a dequantized tensor."""
    x = exact(ctx, node, 0)
    axes = _axes(ctx, node, len(ctx.shape(x)))
    return [x] if axes is None else [mean_of(ctx, node, x, axes, node.flag("keepdims", True))]


def reduce_sum(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """ReduceSum of a dequantized tensor."""
    x = exact(ctx, node, 0)
    shape = ctx.shape(x)
    axes = _axes(ctx, node, len(shape))
    if axes is None:
        return [x]
    if ctx.mode == "ort":
        raise FormUnsupported("a sum in mode ort", where=node.where, hint="use --requant single or tflite")
    pre, post = _reduction(shape, axes, node.flag("keepdims", True))

    def make(request: Request, low: int, high: int) -> Op:
        requant = make_requant(ctx.mode, x.quant.scale, [1.0], request.quant, request.dtype, low, high)
        return GlobalSum(x.quant.zero_point, requant, request.dtype, request.quant)

    return [averaging(ctx, node, x, make, pre, post)]


def reduce_max(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """ReduceMax as one window."""
    state = _increasing(ctx, node)
    shape = ctx.shape(state)
    axes = _axes(ctx, node, len(shape))
    if axes is None:
        return [state]
    pre, post = _reduction(shape, axes, node.flag("keepdims", True))

    def plan(kind: TensorType) -> Route:
        _, rows, columns, _ = ctx.out_type(kind, pre).shape
        return Route(MaxPool2D(Window(rows), Window(columns)), pre, post)

    return [move(ctx, node, state, plan)]


def average_pool_of(ctx: Context, node: OnnxNode, x: Real) -> Pending:
    """AveragePool of an NCHW tensor."""
    shape = ctx.shape(x)
    spatial = spatial_sizes(node, shape)
    kernel = read_kernel(node, spatial)
    h, w = _pool_windows(node, shape, kernel)
    if tuple(kernel) == spatial and not any((h.pad_before, h.pad_after, w.pad_before, w.pad_after)):
        return mean_of(ctx, node, x, tuple(range(2, len(shape))), True)
    plain = read_windows(node, shape, kernel)
    include_pad, padded = node.flag("count_include_pad"), spatial[-1]
    pads: tuple[Op, ...] = ()
    if include_pad and (h, w) != plain:
        # ceil_mode: the given pads count, the cells added behind them do not
        pads = (_explicit_pads(plain, x.quant.zero_point),)
        padded += plain[1].pad_before + plain[1].pad_after
        h, w = (_rest(wide, given) for wide, given in zip((h, w), plain, strict=True))
        include_pad = False

    def make(request: Request, low: int, high: int) -> Op:
        return AveragePool2D(h, w, include_pad, x.quant, request.quant, request.dtype, low, high, ctx.mode)

    probe = make(Request(x.quant, DType.S8, "", ()), -128, 127)
    route = spatial_route(probe, shape, shape[1], (w.out_len(padded),))
    found = averaging(ctx, node, x, make, (*route.pre, *pads), route.post)
    return replace(found, times=lambda factor: average_pool_of(ctx, node, _times(node, x, factor)))


def mean_of(ctx: Context, node: OnnxNode, x: Real, axes: Sequence[int], keep: bool) -> Pending:
    """The mean over some axes: they become the rows of a map, the others its channels."""
    pre, post = _reduction(ctx.shape(x), axes, keep)

    def make(request: Request, low: int, high: int) -> Op:
        return GlobalAveragePool(x.quant, request.quant, request.dtype, low, high, ctx.mode)

    found = averaging(ctx, node, x, make, pre, post)
    return replace(found, times=lambda factor: mean_of(ctx, node, _times(node, x, factor), axes, keep))


def _times(node: OnnxNode, x: Real, factor: float) -> Real:
    """The tensor times a number, which its scale takes."""
    scale = x.quant.scale * factor
    if not _SCALES.tiny <= scale <= _SCALES.max:
        raise ScaleBad(f"a factor of {factor:.4g} makes a scale of {scale:.4g}", where=node.where)
    return replace(x, quant=Quant(float(np.float32(scale)), x.quant.zero_point))


def _axes(ctx: Context, node: OnnxNode, rank: int) -> tuple[int, ...] | None:
    """The axes that a reduction is over, sorted, each once; None when it is over none."""
    axes = ctx.int_list(node, 1, "axes")
    if not axes:
        if node.integer("noop_with_empty_axes", 0):
            return None
        axes = tuple(range(rank))
    if any(not -rank <= a < rank for a in axes):
        raise ShapeMismatch(f"axes {list(axes)} of a tensor of {rank} axes", where=node.where)
    return tuple(sorted({a % rank for a in axes}))


def _reduction(shape: Sequence[int], axes: Sequence[int], keep: bool) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """What makes a map of the reduced axes with the others as channels, and what makes the result of its one pixel."""
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    result = tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
    pre: tuple[Op, ...]
    post: tuple[Op, ...]
    if len(shape) == 4 and tuple(axes) == (2, 3):
        pre, post = (Transpose(TO_NHWC),), (Transpose(TO_NCHW), *(() if keep else (Reshape(result),)))
    else:
        rows, channels = math.prod(shape[a] for a in axes), math.prod(shape[a] for a in kept)
        order = (*axes, *kept)
        moved = [i for i in order if shape[i] > 1]
        pre = (Reshape((1, rows, 1, channels)),)
        pre = pre if moved == sorted(moved) else (Transpose(order), *pre)
        post = (Reshape(result),)
    return pre, post


def averaging(
    ctx: Context, node: OnnxNode, x: Real, make: MakeAverage, pre: tuple[Op, ...], post: tuple[Op, ...]
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


def _maximum(ctx: Context, node: OnnxNode, h: Window, w: Window) -> State:
    state = _increasing(ctx, node)

    def plan(kind: TensorType) -> Route:
        return spatial_route(MaxPool2D(h, w), kind.shape, kind.shape[1], (w.out_len(kind.shape[-1]),))

    return move(ctx, node, state, plan)


def _increasing(ctx: Context, node: OnnxNode) -> State:
    """The input with which a maximum may change places."""
    state = ctx.state(node, 0)
    return state if is_increasing(ctx, state) else exact(ctx, node, 0)


def _pool_windows(node: OnnxNode, shape: Sequence[int], kernel: Sequence[int]) -> tuple[Window, Window]:
    h, w = read_windows(node, shape, kernel)
    spatial = shape[2:]
    for window, size in ((h, spatial[0] if len(spatial) == 2 else 1), (w, spatial[-1])):
        if max(window.pad_before, window.pad_after) >= window.extent and window.size > 0:
            pads = f"{window.pad_before} and {window.pad_after}"
            raise ShapeMismatch(f"padding of {pads} hides a window of {window.extent}", where=node.where)
        if window.out_len(size) < 1 and not node.flag("ceil_mode"):
            raise ShapeMismatch(f"a window of {window.extent} does not fit {size} elements", where=node.where)
    if len(spatial) == 1:
        return h, with_ceiling(node, w, spatial[0])
    return with_ceiling(node, h, spatial[0]), with_ceiling(node, w, spatial[1])


def _explicit_pads(windows: tuple[Window, Window], zero_point: int) -> Op:
    h, w = windows
    return Pad((0, h.pad_before, w.pad_before, 0), (0, h.pad_after, w.pad_after, 0), "constant", zero_point)


def _rest(window: Window, given: Window) -> Window:
    """The window on an input that already has the given padding."""
    return replace(window, pad_before=0, pad_after=window.pad_after - given.pad_after)
