"""Convolutions and matrix products while they wait for their output's scale.

Decides: how weights, biases and constant factors become integers.  Bias integers at scale x_scale * w_scale are kept
as they are; everything else is rounded once, half to even, when the output's scale is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import BiasOutOfRange, FormUnsupported, ScaleBad, WeightsTooWide
from codegen.ir.quant import PACKED_BITS, Array, DType, Requant, is_pot, packed_bits, taken_off
from codegen.ir.real import RealNode
from codegen.ops.accumulator import accumulator_bound
from codegen.ops.requantize import activation_bounds, make_requant
from codegen.settle.context import Context, array_of, real_bounds, rounded, story
from codegen.settle.states import Accum, IntConst, Linear, Pending, Request, Route, State

_INT32 = 2**31
_SAME_SCALE = 1e-5
_WIDE_BOUND = 2**47
_SMALLEST = float(np.finfo(np.float32).tiny)
_FLOAT32_STEP = 2.0**-149
"""Between two subnormal float32 numbers."""


def pending(ctx: Context, node: RealNode, linear: Linear) -> Pending:
    """The product's float result."""
    return Pending(
        shape=_out_shape(ctx, linear),
        emit=lambda request: _write(ctx, linear, request),
        trail=(node,),
        linear=linear,
    )


def accumulator(ctx: Context, node: RealNode, linear: Linear) -> Accum:
    """The product's int32 result."""
    return Accum(_out_shape(ctx, linear), linear, (node,))


def with_linear(ctx: Context, state: Pending, linear: Linear, node: RealNode) -> Pending:
    """The pending result with its product replaced and one more node read."""
    return replace(state, emit=lambda request: _write(ctx, linear, request), linear=linear, trail=(*state.trail, node))


def channel_vector(array: Array, shape: Sequence[int], axis: int, outputs: int) -> Array | None:
    """A constant that differs along one axis of a result at most, one number per output; None when it does not fit."""
    if array.ndim > len(shape):
        return None
    full = (1,) * (len(shape) - array.ndim) + array.shape
    fits = full[axis] == 1 or full[axis] == outputs == shape[axis]
    if not fits or any(n != 1 for i, n in enumerate(full) if i != axis):
        return None
    return np.broadcast_to(array.reshape(-1), (outputs,))


def add_bias(ctx: Context, linear: Linear, bias: State, vector: Array, node: RealNode, factor: float = 1.0) -> Linear:
    """The product plus `factor` times a constant, `vector` being the constant's real numbers per output.

    Integers whose scale is that of the accumulator, as tools write them, are kept (1e-5 relative, or the nearest
    float32 where that is next to nothing).
    """
    if factor == 1.0 and isinstance(bias, IntConst) and bias.ints.size == len(linear.scales):
        scale = bias.scale.reshape(-1).astype(np.float64)
        own = np.float64(linear.x_scale) * linear.scales.astype(np.float64)
        if (np.abs(scale - own) <= np.maximum(_SAME_SCALE * own, _FLOAT32_STEP)).all():
            ints = (bias.ints.astype(np.int64) - bias.zero).reshape(-1)
            return replace(linear, bias_int=linear.bias_int + ints)
        ctx.note(f"{node.where}: the bias has another scale than the product; it is rounded to that of the product")
        real = scale * (bias.ints.astype(np.int64) - bias.zero).reshape(-1)
        return replace(linear, bias_real=linear.bias_real + real)
    return replace(linear, bias_real=linear.bias_real + factor * vector.astype(np.float64))


def scaled(linear: Linear, factor: Array, node: RealNode) -> Linear:
    """The product times a constant per output; signs move into the weights, which a factor of 0 makes 0."""
    if not np.isfinite(factor).all():
        raise ScaleBad("a factor of a product is infinite or not a number", where=node.where)
    sign = np.sign(factor).astype(np.int64)
    lead = sign.reshape(-1, *(1,) * (linear.weights.ndim - 1))
    return replace(
        linear,
        weights=linear.weights * lead,
        scales=_single(linear.scales * np.where(factor == 0, 1, np.abs(factor))),
        bias_int=linear.bias_int * sign,
        bias_real=linear.bias_real * factor,
    )


def _single(scales: Array) -> Array:
    """Scales as float32; what overflows becomes infinite and is refused when the product is written."""
    with np.errstate(over="ignore", under="ignore"):
        return scales.astype(np.float32)


def write_accumulator(ctx: Context, state: Accum, name: str) -> str:
    """The int32 sums themselves."""
    linear = _as_run(state.linear)
    op = linear.make(None, DType.S32, None)
    extras = operands(ctx, linear.weights, linear.bias_int, name, state.trail[0].where, (linear.bits, linear.block))
    note = f"{story(state.trail)} -> {type(op).__name__}, int32 result"
    return ctx.run(linear.x, Route(op, linear.pre, linear.post), name, state.trail, note, extras)


def _as_run(linear: Linear) -> Linear:
    """The product with the outputs that its operator has."""
    if linear.split is None:
        return linear
    weights = linear.split(linear.weights)
    each = len(weights) // len(linear.weights)
    return replace(
        linear,
        weights=weights,
        scales=np.repeat(linear.scales, each),
        bias_int=np.repeat(linear.bias_int, each),
        bias_real=np.repeat(linear.bias_real, each),
        split=None,
    )


def _out_shape(ctx: Context, linear: Linear) -> tuple[int, ...]:
    linear = _as_run(linear)
    x = ctx.out_type(ctx.type(linear.x), linear.pre)
    op = linear.make(None, DType.S32, None)
    w = replace(x, shape=linear.weights.shape, dtype=DType.S8)
    b = replace(x, shape=(len(linear.weights),), dtype=DType.S32)
    (y,) = op.infer([x, w, b])
    return ctx.out_type(y, linear.post).shape


def _write(ctx: Context, linear: Linear, request: Request) -> str:
    where = request.trail[0].where
    linear, bias = _bias(_revived(_as_run(linear)), where, is_pot(ctx.mode))
    low, high = activation_bounds(request.quant, request.dtype, *real_bounds(request))
    scales = linear.scales[:1] if (linear.scales == linear.scales[0]).all() else linear.scales
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        raise ScaleBad("the product's scale is infinite, or too small for a float32 number", where=where)
    bound = _bound(ctx, linear, bias, where)
    reach = bound if _is_free(ctx, linear, request) else 0
    factors = (linear.x_scale, scales.tolist(), request.quant, request.dtype, low, high)
    requant = make_requant(ctx.mode, *factors, wide=bound >= _INT32, reach=reach)
    op = linear.make(requant, request.dtype, request.quant)
    extras = operands(ctx, linear.weights, bias, request.name, where, (linear.bits, linear.block))
    note = f"{story(request.trail)} -> {type(op).__name__}, {_spoken(requant)}"
    return ctx.run(linear.x, Route(op, linear.pre, linear.post), request.name, request.trail, note, extras)


def _spoken(requant: Requant) -> str:
    return f"{'per-channel' if requant.per_channel else 'per-tensor'}, requant {requant.mode}"


def _revived(linear: Linear) -> Linear:
    """The product whose dead channels, in which all weights are zero, have a normal scale."""
    dead = ~linear.weights.reshape(len(linear.weights), -1).any(axis=1)
    faint = dead & (linear.scales < _SMALLEST)
    if not faint.any():
        return linear
    # what an integer bias is worth stays what it was: next to nothing
    worth = np.float64(linear.x_scale) * linear.scales.astype(np.float64) * linear.bias_int
    return replace(
        linear,
        scales=np.where(faint, np.float32(_SMALLEST), linear.scales),
        bias_int=np.where(faint, 0, linear.bias_int),
        bias_real=linear.bias_real + np.where(faint, worth, 0),
    )


@np.errstate(divide="ignore", invalid="ignore")
def _bias(linear: Linear, where: str, pot: bool) -> tuple[Linear, Array]:
    """Integer biases; the scale of an output whose weights are all zero is raised until its bias fits.

    With `pot` it is raised by a power of two.
    A product of scale 0, as with an alpha of 0, has none.
    """
    own = np.float64(linear.x_scale) * linear.scales.astype(np.float64)
    bias = linear.bias_int + linear.bias_real / own
    empty = ~linear.weights.reshape(len(linear.weights), -1).any(axis=1)
    tight = empty & (np.abs(bias) >= _INT32 / 2)
    if tight.any():
        scales = linear.scales.astype(np.float64)
        more = np.abs(bias[tight]) / 2**24
        scales[tight] *= 2.0 ** np.ceil(np.log2(more)) if pot else more
        total = bias * own
        bias = np.where(tight, total / (np.float64(linear.x_scale) * scales), bias)
        linear = replace(linear, scales=_single(scales))
    if not (np.abs(bias) < _INT32 - 1).all():
        raise BiasOutOfRange(f"a bias is {float(np.abs(bias).max()):.4g} times the product's scale", where=where)
    whole = np.where(linear.bias_real == 0, linear.bias_int, rounded(bias)) if not tight.any() else rounded(bias)
    return linear, whole


def _bound(ctx: Context, linear: Linear, bias: Array, where: str) -> int:
    """The largest size of a sum."""
    x = ctx.type(linear.x).dtype
    bound = accumulator_bound(linear.weights, bias, x.low, x.high, linear.x_zero_point)
    if bound >= _WIDE_BOUND:
        hint = "use int8 data"
        raise FormUnsupported(f"sums of up to {bound} do not fit the accumulator", where=where, hint=hint)
    return bound


def _is_free(ctx: Context, linear: Linear, request: Request) -> bool:
    """Whether TFLite, whose 16-bit numbers have no zero points, has no such layer: multipliers are not bound to its."""
    return ctx.type(linear.x).dtype is DType.S16 and bool(linear.x_zero_point or request.quant.zero_point)


def operands(
    ctx: Context, w: Array, bias: Array, name: str, where: str, few: tuple[int, int] = (0, 0)
) -> tuple[str, str]:
    """Weights and biases as values of the graph: bytes where they fit, else words of 16 bits; words of 32 bits.

    `few`: the bits of the model's weights where they are fewer than 8, and how many of them share a factor; else 0.
    They are packed where their numbers allow it, or what is left of them without their zero points does.
    """
    bits, block = few
    if w.size and (int(w.min()) < DType.S16.low or int(w.max()) > DType.S16.high):
        found = f"weights of {w.min()} .. {w.max()} once their zero points are subtracted"
        raise WeightsTooWide(found, where=where)
    small = w.size == 0 or (int(w.min()) >= -128 and int(w.max()) <= 127)
    packed = packed_bits(w, max(PACKED_BITS)) if bits else 0
    apart = 0 if packed else _bits_apart(w, bits, block)
    data, stored = w.astype(np.int8 if small else np.int16), (packed or apart, block)
    weights = ctx.builder.const(f"{name}:weights", data, None, *stored, apart=apart > 0)
    return weights, ctx.builder.const(f"{name}:bias", bias.astype(np.int32))


def _bits_apart(w: Array, bits: int, block: int) -> int:
    """The bits of weights of which each output, or each block, has a zero point; 0 where they are not packed."""
    if block or not w.size:
        return bits if bits in PACKED_BITS else 0
    rows = w.reshape(len(w), -1)
    return next((n for n in PACKED_BITS if n <= bits and taken_off(rows, n) is not None), 0)


def numbers(state: State) -> Array:
    """Numbers of a state known to be constant."""
    array = array_of(state)
    assert array is not None, "the state is constant"
    return array
