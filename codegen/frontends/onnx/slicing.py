"""Slice, Split, Gather, Pad.

Decides: positions with the model's conventions (negative, clipped, implied) resolved, so that the operators of the
graph state plain positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.frontends.onnx.context import Context
from codegen.frontends.onnx.join import clamped
from codegen.frontends.onnx.move import move
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.qparams import whole_numbers
from codegen.frontends.onnx.states import Float, Int, Pending, Real, Request, Route, State
from codegen.frontends.onnx.tables import as_pending, settled
from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant, TensorType
from codegen.ops import Gather, Pad, Quantize, Reshape, Slice
from codegen.ops.requantize import quantize_real

_PAD_MODES = ("constant", "edge", "reflect")


def slice_op(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Slice, its positions constant."""
    x = ctx.state(node, 0)
    shape = ctx.shape(x)
    starts, ends = ctx.int_list(node, 1, "starts"), ctx.int_list(node, 2, "ends")
    if starts is None or ends is None:
        raise ShapeMismatch("starts or ends are missing", where=node.where)
    axes = ctx.int_list(node, 3, "axes") or tuple(range(len(starts)))
    steps = ctx.int_list(node, 4, "steps") or (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) <= len(shape):
        raise ShapeMismatch("starts, ends, axes and steps differ in length", where=node.where)
    picked = {i: range(n) for i, n in enumerate(shape)}
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step == 0 or not -len(shape) <= axis < len(shape):
            raise ShapeMismatch(f"axis {axis} by step {step} of a tensor of shape {list(shape)}", where=node.where)
        size = shape[axis]
        picked[axis % len(shape)] = range(*slice(*_python_bounds(start, end, step, size), step).indices(size))
    if any(len(r) == 0 for r in picked.values()):
        raise ShapeMismatch("the slice is empty", where=node.where)
    ranges = [picked[i] for i in range(len(shape))]
    if all(r == range(n) for r, n in zip(ranges, shape, strict=True)):
        return [x]
    op = Slice(tuple(r.start for r in ranges), tuple(map(len, ranges)), tuple(r.step for r in ranges))
    return [move(ctx, node, x, lambda kind: Route(op))]


def split(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Split as one Slice per output."""
    x = ctx.state(node, 0)
    shape = ctx.shape(x)
    axis = node.integer("axis", 0, low=-len(shape), high=len(shape) - 1) % max(len(shape), 1)
    sizes = ctx.int_list(node, 1, "split")
    if sizes is None:
        parts = node.integer("num_outputs", len(node.outputs), low=1)
        share = -(-shape[axis] // parts)
        sizes = tuple(min(share, shape[axis] - i * share) for i in range(parts))
    if len(sizes) != len(node.outputs) or sum(sizes) != shape[axis] or min(sizes) < 1:
        raise ShapeMismatch(f"an axis of {shape[axis]} cannot be split into {list(sizes)}", where=node.where)
    states: list[State] = []
    at = 0
    for i, size in enumerate(sizes):
        starts = tuple(at if a == axis else 0 for a in range(len(shape)))
        op = Slice(starts, tuple(size if a == axis else n for a, n in enumerate(shape)), (1,) * len(shape))
        states.append(_moved(ctx, node, x, op, i) if node.outputs[i] else x)
        at += size
    return states


def gather(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Gather by constant indices."""
    x = ctx.state(node, 0)
    shape = ctx.shape(x)
    indices = ctx.const(node, 1)
    axis = node.integer("axis", 0, low=-len(shape), high=len(shape) - 1) % max(len(shape), 1)
    flat = [int(i) for i in indices.reshape(-1)] if indices.dtype.kind in "iu" else []
    if not flat or any(not -shape[axis] <= i < shape[axis] for i in flat):
        raise ShapeMismatch(f"indices outside an axis of {shape[axis]}", where=node.where)
    resolved = tuple(i % shape[axis] for i in flat)
    result = (*shape[:axis], *indices.shape, *shape[axis + 1 :])
    ops: tuple[Op, ...] = () if indices.ndim == 1 else (Reshape(result),)
    return [move(ctx, node, x, lambda kind: Route(Gather(axis, resolved), (), ops))]


def pad(ctx: Context, node: OnnxNode) -> Sequence[State]:
    """Pad by constant amounts; negative ones cut off."""
    x = ctx.state(node, 0)
    if isinstance(x, Real):
        x = settled(ctx, x, node, node.inputs[0])
    shape = ctx.shape(x)
    mode = node.string("mode", "constant", (*_PAD_MODES, "wrap"))
    if mode == "wrap":
        raise FormUnsupported("Pad with mode wrap", where=node.where)
    before, after = _pads(ctx, node, len(shape))
    value = _pad_value(ctx, node)
    if not any((*before, *after)):
        return [x]
    if isinstance(x, Float):
        x = _quantized_first(ctx, x)
    if mode == "constant" and isinstance(x, Real) and not _is_on_grid(ctx, value, x):
        x = as_pending(ctx, x)
    if isinstance(x, Pending):

        def route(kind: TensorType, fill: float) -> Route:
            return _pad_route(kind, before, after, mode, (fill, kind.quant))

        return [_padded(ctx, node, x, route, value)]
    own = whole_numbers(x) if isinstance(x, Int) else None
    return [move(ctx, node, x, lambda kind: _pad_route(kind, before, after, mode, (value, own or kind.quant)))]


def _padded(
    ctx: Context, node: OnnxNode, x: Pending, route: Callable[[TensorType, float], Route], value: float
) -> Pending:
    """A result padded before its scale is known: bounds that come behind the padding are the filling's too."""

    def emit(request: Request) -> str:
        fill = min(max(value, request.low), request.high)
        inner = x.clipped(request.low, request.high, node)
        moved = move(ctx, node, x, lambda kind: route(kind, fill))
        assert isinstance(moved, Pending), "as what was moved"
        return moved.emit(replace(request, low=inner.low, high=inner.high))

    shape = ctx.out_type(TensorType(x.shape, DType.S8), route(TensorType(x.shape, DType.S8), value).ops).shape
    return Pending(shape, emit, (*x.trail, node))


def _quantized_first(ctx: Context, x: Float) -> Pending:
    """A float input that is quantized before it is padded: the padding is quantized with it, by the same rule."""

    def emit(request: Request) -> str:
        note = "QuantizeLinear -> Quantize, before the padding"
        op = Quantize(request.dtype, request.quant)
        return clamped(ctx, request, lambda r: ctx.run(x.value, Route(op), r.name, r.trail, note))

    return Pending(ctx.shape(x), emit, ())


def _pad_route(
    kind: TensorType,
    before: tuple[int, ...],
    after: tuple[int, ...],
    mode: str,
    filling: tuple[float, Quant | None],
) -> Route:
    """`filling` is a number and what it means in integers: itself where the model pads integers."""
    cuts: tuple[Op, ...] = ()
    if min((*before, *after)) < 0:
        starts = tuple(max(-b, 0) for b in before)
        sizes = tuple(n - s - max(-a, 0) for n, s, a in zip(kind.shape, starts, after, strict=True))
        cuts = (Slice(starts, sizes, (1,) * len(starts)),)
        before, after = (tuple(max(p, 0) for p in pads) for pads in (before, after))
        if not any((*before, *after)):
            return Route(cuts[0])
    value, meaning = filling
    fill = quantize_real(value, meaning or Quant(1.0), kind.dtype)
    kinds = {"constant": "constant", "edge": "edge", "reflect": "reflect"}
    return Route(Pad(before, after, kinds[mode], fill), cuts)  # type: ignore[arg-type]


def _pads(ctx: Context, node: OnnxNode, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pads = ctx.int_list(node, 1, "pads")
    axes = ctx.int_list(node, 3, "axes") or tuple(range(rank))
    if pads is None or len(pads) != 2 * len(axes) or any(not -rank <= a < rank for a in axes):
        raise ShapeMismatch(f"pads for {len(axes)} of {rank} axes", where=node.where)
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[i + len(axes)]
    return tuple(before), tuple(after)


def _pad_value(ctx: Context, node: OnnxNode) -> float:
    array = ctx.optional_const(node, 2)
    if array is None:
        return node.real("value", 0.0)
    if array.size != 1 or not np.isfinite(array).all():
        raise ShapeMismatch(f"a pad value of shape {list(array.shape)}", where=node.where)
    return float(array.reshape(-1)[0])


def _is_on_grid(ctx: Context, value: float, x: Real) -> bool:
    """Whether the integers of the tensor hold this real number."""
    dtype = ctx.type(x.value).dtype
    q = quantize_real(value, x.quant, dtype)
    return math.isclose((q - x.quant.zero_point) * x.quant.scale, value, rel_tol=1e-6, abs_tol=1e-30)


def _moved(ctx: Context, node: OnnxNode, x: State, op: Op, out: int) -> State:
    return move(ctx, node, x, lambda kind: Route(op), out)


def _python_bounds(start: int, end: int, step: int, size: int) -> tuple[int, int | None]:
    """ONNX positions as Python's slice takes them: an end before the first element is None."""
    if step < 0 and end < -size:
        return start, None
    return start, end
