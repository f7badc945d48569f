"""Pad.

Decides: what the padding is in integers, whether it is known before the tensor's scale is or behind it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from codegen.errors import FormUnsupported, ShapeMismatch
from codegen.ir.op import Op
from codegen.ir.quant import DType, Quant, TensorType
from codegen.ir.real import RealNode
from codegen.ops import Pad, Quantize, Slice
from codegen.ops.requantize import quantize_real
from codegen.real.movement import Pad as RealPad
from codegen.settle.context import Context
from codegen.settle.join import clamped
from codegen.settle.move import move
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Float, Int, Pending, Real, Request, Route, State
from codegen.settle.tables import as_pending, settled
from codegen.settle.words import whole_numbers

_PAD_MODES = ("constant", "edge", "reflect")


def pad(ctx: Context, node: RealNode, op: RealPad) -> Sequence[State]:
    """Pad by constant amounts; negative ones cut off."""
    x = ctx.state(node, 0)
    if isinstance(x, Real):
        x = settled(ctx, x, node, node.inputs[0])
    mode, before, after, value = op.mode, op.before, op.after, op.value
    if mode not in _PAD_MODES:
        raise FormUnsupported(f"Pad with mode {mode}", where=node.where)
    if not math.isfinite(value):
        raise ShapeMismatch(f"padding by {value}", where=node.where)
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
    ctx: Context, node: RealNode, x: Pending, route: Callable[[TensorType, float], Route], value: float
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


def _is_on_grid(ctx: Context, value: float, x: Real) -> bool:
    """Whether the integers of the tensor hold this real number."""
    dtype = ctx.type(x.value).dtype
    q = quantize_real(value, x.quant, dtype)
    return math.isclose((q - x.quant.zero_point) * x.quant.scale, value, rel_tol=1e-6, abs_tol=1e-30)


RULES: Family = (Rule(RealPad, pad, ("Pad",)),)
