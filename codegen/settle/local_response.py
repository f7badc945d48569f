"""Local response normalization: a tensor over a power of the squares around each channel.

Decides: that these squares are exact sums of windows along channels, of which 16 bits are kept, that the power is a
function of these, of 16 bits too, and multiplies the tensor; that where what the 16 bits leave out is more than half a
step of the result 31 bits are kept of the sums, and of their power; and that real numbers do it where these do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, is_pot
from codegen.ir.real import RealNode
from codegen.ir.shape import Shape, Window
from codegen.ops import (
    Lut16,
    Mul,
    Rescale,
    Reshape,
    Response,
    TotalPool2D,
    Transpose,
    activation_bounds,
    make_requant,
    piecewise_linear,
)
from codegen.ops.lut16 import STEPS
from codegen.ops.total_pool import MAX_SHIFT
from codegen.real.normal import LocalResponseNorm
from codegen.records import record
from codegen.settle.context import Context, real_bounds, story
from codegen.settle.float32.writer import Writer
from codegen.settle.rule import Family, Rule
from codegen.settle.states import Pending, Real, Request, Route, State
from codegen.settle.tables import exact

_SUM_BITS = 30
_WORDS = DType.S16.high - DType.S16.low
_MOST = 0.5
"""Steps of the result by which 16 bits may change it."""
_MOST_LONG = 2.0**31 - 2
"""The largest sum of which 31 bits are kept."""
_OF_FACTOR = 2.0**-18
"""By which the power of 31 bits is off, of itself."""
_TRIED = 2000
"""Sums for which that is tried."""
_LEAST, _LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


@record
class _Squares:
    """Sums of squares in units of 2^-shift steps squared, and the meaning of the 16 bits that are kept of each."""

    windows: tuple[Window, Window]
    shift: int
    unit: float
    kept: Quant

    def grid(self) -> Array:
        """The sum that each of the 16-bit numbers stands for."""
        return np.arange(_WORDS + 1) * np.float64(self.kept.scale)


def local_response(ctx: Context, node: RealNode, op: LocalResponseNorm) -> Sequence[State]:
    """LRN."""
    x = exact(ctx, node, 0)
    shape = ctx.shape(x)
    perm = (*(i for i in range(len(shape)) if i != op.channel_axis), op.channel_axis)
    order = tuple(int(i) for i in np.argsort(perm))
    back = () if order == tuple(range(len(shape))) else (Transpose(order),)

    def emit(request: Request) -> str:
        try:
            return by_words(request)
        except FormUnsupported:
            return by_long_words(request)

    def by_long_words(request: Request) -> str:
        taps, power = _in_long_words(ctx, node, op, x, request)
        w = Writer(ctx, node)
        moved = w.transposed(x.value, perm)
        flat = w.reshaped(moved, _flat(w.shape(moved)))
        sums = w.apply(TotalPool2D(*taps[0], "squares", x.quant.zero_point, taps[1]), flat)
        note = f"{story(request.trail)} -> Response of sums of squares"
        post = (Reshape(w.shape(moved)), *back)
        return ctx.run(flat, Route(power, post=post), request.name, request.trail, note, [sums])

    def by_words(request: Request) -> str:
        squares = _squares(ctx, node, x, op)
        factor = _factor(node, op, squares)
        ends = _reach(ctx, x) * float(x.quant.scale), float(request.quant.scale)
        function = _function(node, op, ends, squares, factor)
        w = Writer(ctx, node)
        moved = w.transposed(x.value, perm)
        power = _power(ctx, w, (moved, x.quant.zero_point), squares, function)
        held = (request.quant, request.dtype, *activation_bounds(request.quant, request.dtype, *real_bounds(request)))
        requant = make_requant(ctx.mode, x.quant.scale, [factor.scale], *held, reach=_reach(ctx, x) * _WORDS)
        main = Mul(x.quant.zero_point, factor.zero_point, requant, request.dtype, request.quant)
        note = f"{story(request.trail)} -> Mul by a power of sums of squares, requant {ctx.mode}"
        return ctx.run(moved, Route(main, post=back), request.name, request.trail, note, [power])

    return [Pending(shape, emit, (node,))]


def _reach(ctx: Context, x: Real) -> int:
    return ctx.type(x.value).dtype.reach(x.quant.zero_point)


def _in_long_words(
    ctx: Context, node: RealNode, op: LocalResponseNorm, x: Real, request: Request
) -> tuple[tuple[tuple[Window, Window], int], Response]:
    """Windows and shift of the sums of squares, and what becomes of the tensor by them."""
    windows, taps = _windows(ctx, x, op)
    most = taps * _reach(ctx, x) ** 2
    one = op.alpha / op.size * float(x.quant.scale) ** 2
    unit = (op.bias + one * most) / _MOST_LONG
    shift = math.floor(math.log2(one / unit)) if one > 0 and op.bias >= 0 and unit > 0 else MAX_SHIFT + 1
    if abs(shift) > MAX_SHIFT or is_pot(ctx.mode):
        raise FormUnsupported(f"{node.op_type} with a bias of {op.bias:.4g}", where=node.where)
    unit = one * 2.0**-shift
    ends = activation_bounds(request.quant, request.dtype, *real_bounds(request))
    main = Response(x.quant, op.beta, round(op.bias / unit), unit, request.quant, request.dtype, *ends)
    sums = np.concatenate([[0.0], np.geomspace(2.0**-20, 1.0, _TRIED)]) * most * 2.0**shift
    d = np.maximum(sums + main.bias, 1.0)
    largest = np.minimum(_reach(ctx, x) * float(x.quant.scale), np.sqrt((sums + 0.5) * 2.0**-shift) * x.quant.scale)
    steps = np.minimum(largest * (unit * d) ** -op.beta / request.quant.scale, 2.0 * _WORDS)
    if not (main.fits() and (steps * (abs(op.beta) / d + _OF_FACTOR) <= _MOST).all()):
        raise FormUnsupported(f"{node.op_type} to a scale of {request.quant.scale:.4g}", where=node.where)
    return (windows, shift), main


def _squares(ctx: Context, node: RealNode, x: Real, op: LocalResponseNorm) -> _Squares:
    """Sums of squares of which 16 bits are kept."""
    windows, taps = _windows(ctx, x, op)
    most = taps * _reach(ctx, x) ** 2
    shift = min(0, _SUM_BITS - most.bit_length())
    unit = float(x.quant.scale) ** 2 * 2.0**-shift
    step = unit * max(1.0, most * 2.0**shift / _WORDS)
    if is_pot(ctx.mode) or not _LEAST < step < _LARGEST:
        raise FormUnsupported(f"{node.op_type} of a tensor of scale {x.quant.scale:.4g}", where=node.where)
    return _Squares(windows, shift, unit, Quant(float(np.float32(step)), DType.S16.low))


def _windows(ctx: Context, x: Real, op: LocalResponseNorm) -> tuple[tuple[Window, Window], int]:
    """Windows along channels, which are the columns of a map, and how many of these they have."""
    channels = ctx.shape(x)[op.channel_axis]
    before, after = (min(n, channels - 1) for n in ((op.size - 1) // 2, op.size // 2))
    taps = before + after + 1
    return (Window(1), Window(taps, 1, 1, before, after)), taps


def _flat(shape: Shape) -> Shape:
    """Pixels as rows, channels as columns."""
    return (1, math.prod(shape[:-1]), shape[-1], 1)


def _powers(op: LocalResponseNorm, sums: Array) -> Array:
    """What the tensor is multiplied by."""
    with np.errstate(all="ignore"):
        return np.asarray((op.bias + op.alpha / op.size * sums) ** -op.beta)


def _factor(node: RealNode, op: LocalResponseNorm, squares: _Squares) -> Quant:
    """The meaning of the power's 16 bits: from 0 to its largest number."""
    powers = _powers(op, squares.grid())
    top = float(np.float32(powers.max() / _WORDS))
    if not (np.isfinite(powers).all() and (powers > 0).all() and _LEAST < top < _LARGEST):
        raise FormUnsupported(f"{node.op_type} with a bias of {op.bias:.4g}", where=node.where)
    return Quant(top, DType.S16.low)


def _function(node: RealNode, op: LocalResponseNorm, ends: tuple[float, float], squares: _Squares, factor: Quant) -> Op:
    """The power as a function of 16 bits: of samples, or of pieces where these do not do; real numbers where none does.

    `ends` are the tensor's largest number and the result's step.
    """
    sums, half = squares.grid(), squares.kept.scale / 2
    most = np.minimum(ends[0], np.sqrt(sums + half))
    around = [_powers(op, np.maximum(sums + by, 0)) for by in (-half, half)]
    kept = np.arange(DType.S16.low, DType.S16.high + 1).astype(np.int16)
    for make in (_of_samples, _of_pieces):
        found = make(op, squares, factor)
        made = (found.golden([kept])[0].astype(np.float64) - factor.zero_point) * factor.scale
        if all((most * np.abs(made - powers) <= _MOST * ends[1]).all() for powers in around):
            return found
    raise FormUnsupported(f"{node.op_type} to a scale of {ends[1]:.4g}", where=node.where)


def _of_samples(op: LocalResponseNorm, squares: _Squares, factor: Quant) -> Op:
    sums = np.arange(STEPS + 1) * ((_WORDS + 1) // STEPS) * np.float64(squares.kept.scale)
    steps = np.rint(_powers(op, sums) / factor.scale) + factor.zero_point
    table = np.clip(steps, DType.S16.low, DType.S16.high).astype(np.int64)
    return Lut16(tuple(table.tolist()), factor, "LRN")


def _of_pieces(op: LocalResponseNorm, squares: _Squares, factor: Quant) -> Op:
    return piecewise_linear(lambda sums: _powers(op, sums), "LRN", squares.kept, factor, DType.S16)


def _power(ctx: Context, w: Writer, x: tuple[str, int], squares: _Squares, function: Op) -> str:
    """The factor of each number of a tensor of channels last, which holds 0 as the zero point."""
    shape: Shape = w.shape(x[0])
    flat = w.reshaped(x[0], _flat(shape))
    sums = w.apply(TotalPool2D(*squares.windows, "squares", x[1], squares.shift), flat)
    requant = make_requant(ctx.mode, squares.unit, [1.0], squares.kept, DType.S16, DType.S16.low, DType.S16.high)
    return w.reshaped(w.apply(function, w.apply(Rescale(requant, DType.S16, squares.kept), sums)), shape)


RULES: Family = (Rule(LocalResponseNorm, local_response, ("LRN",)),)
