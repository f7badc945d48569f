"""What the Helium kernels share: when a requantization is fast, its lanes, packed streams of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, Requant
from codegen.kernels.common import is_wide, weight_shift
from codegen.kernels.weighted import BYTES, Weighted, signed_zero, weighted
from codegen.ops import Conv2D, Dense
from codegen.records import record

MVE = frozenset({"mve"})
LANES = 4
CHUNK = 16
LEAST_SHIFT, _MOST_SHIFT = 33, 62
_MOST_RAISED = 6
LIFT = 4
"""By how much sums by weights of few bits are shifted to the left, in `single`, before they are requantized."""


@record(kw_only=True)
class MveContext:
    """Literals of a layer of products: `tile` output pixels are made at a time, of channels in blocks of four.

    `each`: channels have factors of their own, in the stream, of which blocks begin with `head` words.
    """

    mode: str
    each: bool
    head: int
    flip: int
    w_in: int
    kernel_h: int
    kernel_w: int
    stride: int
    dilation: int
    pad: int
    tile: int
    bounds: str

    @property
    def fills_int8(self) -> bool:
        """Whether outputs have the whole range of int8."""
        return self.bounds == DType.S8.name

    @property
    def aside_bytes(self) -> int:
        """What the partial block of a tile's pixels takes."""
        return LANES * self.tile


def byte_sums(node: NodeOf[Conv2D | Dense], lift: int = 0) -> Weighted | None:
    """The sums of a layer of 8 bits, where they fit 32 bits and their requantization is fast.

    Weights may also be bytes and a shift for all of them.

    In `single` weights, biases and shifts are raised by the least power of two that makes it so, if any: small weights
    make large factors, and leave room.  `lift`: in `single` sums are shifted so far to the left first.
    """
    sums = weighted(node, apart=True)
    if sums is None or sums.x not in BYTES or sums.y not in BYTES:
        return None
    if sums.weights.dtype != np.int8:
        return sums if _takes_shift(sums) and is_fast(sums.op.requant, lift) else None
    raised = (found for up in range(_MOST_RAISED + 1) if (found := _raised(sums, up)) is not None)
    return next((found for found in raised if is_fast(found.op.requant, lift)), None)


def _takes_shift(sums: Weighted) -> bool:
    """Whether weights are bytes and a shift, with which sums fit 32 bits once inputs are int8."""
    found = sums.shift, weight_shift(sums.weights, sums.bias, signed_zero(sums), DType.S8)
    return None not in found and not is_wide(sums.weights, sums.bias, signed_zero(sums), DType.S8)


def _raised(sums: Weighted, up: int) -> Weighted | None:
    """2^up times the sums, to be shifted as much further, which changes no output; None where bytes have no room."""
    requant, weights, bias = sums.op.requant, sums.weights.astype(np.int64) << up, sums.bias.astype(np.int64) << up
    if requant is None or not fit(weights, 8) or is_wide(weights, bias, signed_zero(sums), DType.S8):
        return None
    if up == 0:
        return sums
    if requant.mode != "single" or max(requant.shift) + up > _MOST_SHIFT:
        return None
    op = replace(sums.op, requant=replace(requant, shift=tuple(s + up for s in requant.shift)))
    packs = sums.bits > 0 and fit(sums.shifted_weights().astype(np.int64) << up, 4)
    bits, less = (sums.bits, sums.less) if packs else (0, None)
    less = None if less is None else less << up
    return Weighted(op, sums.x, sums.y, weights.astype(np.int8), bias.astype(np.int32), bits, less)


def fit(weights: Array, bits: int) -> bool:
    """Whether integers of so many bits hold them all."""
    return bool(weights.min() >= -(1 << (bits - 1)) and weights.max() < 1 << (bits - 1))


def is_fast(requant: Requant | None, lift: int = 0) -> bool:
    """Whether the factors are small enough for one high product: below 1/4 in `single`, below 1/2 in `tflite`.

    What rounds otherwise than half up has no lanes.

    `lift`: sums that are shifted to the left first allow for as much more in `single`.
    """
    if requant is None or requant.rounding != "half_up":
        return False
    steps = zip(requant.multiplier, requant.shift, strict=True)
    if requant.mode == "single":
        return all(s + lift >= LEAST_SHIFT or m == 0 for m, s in steps)
    return requant.mode == "ort" or all(s <= -1 or m == 0 for m, s in steps)


def lifts(requant: Requant, lift: int) -> bool:
    """Whether shifts have room for sums that are shifted to the left first."""
    return max(requant.shift, default=0) + lift <= _MOST_SHIFT


def form_of(requant: Requant) -> str:
    """How the primitives call the mode: `up` is `tflite` where the zero point is the least output, as behind a ReLU."""
    rectified = requant.mode == "tflite" and requant.low >= requant.zero_point
    return "up" if rectified else requant.mode


def bounds_of(y: DType, requant: Requant) -> str:
    """What limits outputs, as the primitives call it: the range of their type, or less."""
    return y.name if (requant.low, requant.high) == (y.low, y.high) else "WITHIN"


def lane_factors(requant: Requant, channels: int, lift: int = 0) -> tuple[Array, Array]:
    """Multiplier (int32; the bits of a float32 scale) and shift (int8, as VRSHL takes it) of each channel.

    `lift`: in `single` sums are shifted so far to the left first.
    """
    if requant.mode == "ort":
        scale = np.broadcast_to(np.array(requant.scale, np.float32), channels)
        return np.ascontiguousarray(scale).view(np.int32), np.zeros(channels, np.int8)
    multiplier = np.broadcast_to(np.array(requant.multiplier, np.int32), channels)
    given = np.broadcast_to(np.array(requant.shift, np.int32), channels)
    shift = 32 - lift - given if requant.mode == "single" else given
    return multiplier, np.where(multiplier == 0, -1, shift).astype(np.int8)


def lane_numbers(requant: Requant) -> tuple[int, ...]:
    """The five of a factor that all lanes share, as lam_mve_scale_sums takes them; bounds are less the zero point."""
    multiplier, shift = lane_factors(requant, 1)
    zero_point = requant.zero_point
    return int(multiplier[0]), int(shift[0]), zero_point, requant.low - zero_point, requant.high - zero_point


def factor_fields(requant: Requant, lift: int = 0) -> tuple[Field, ...]:
    """Params `factor` = [multiplier, shift], where all channels share them; else they lie in the stream."""
    if requant.per_channel:
        return ()
    multiplier, shift = lane_factors(requant, 1, lift)
    return (Field("factor", np.array([multiplier[0], shift[0]], np.int32)),)


def head_words(requant: Requant) -> int:
    """Words of a block of a packed stream before its weights."""
    return 9 if requant.per_channel else 4


def packed_stream(bias: Array, factors: tuple[Array, Array] | None, weights: Array) -> Array:
    """The packed stream: per four channels biases, `factors` if each channel has its own, and weights[blocks, bytes].

    `factors` are multiplier and shift of each channel, as `lane_factors` gives them.
    """
    blocks = len(weights)
    own: tuple[Array, ...] = ()
    if factors is not None:
        multiplier, shift = factors
        own = (
            padded(multiplier, LANES).reshape(blocks, LANES),
            words(padded(shift, LANES, value=-1)).reshape(blocks, 1),
        )
    parts = (padded(bias, LANES).reshape(blocks, LANES), *own, words(weights).reshape(blocks, -1))
    return np.concatenate(parts, axis=1).reshape(-1)


def words(data: Array) -> Array:
    """Bytes as 32-bit words, the least significant byte first; the length is a multiple of four."""
    return np.ascontiguousarray(data).reshape(-1).view(np.uint8).view("<u4").astype(np.uint32).view(np.int32)


def padded(data: Array, multiple: int, axis: int = 0, value: int = 0) -> Array:
    """The array with `value` appended along an axis, up to a multiple of `multiple`."""
    more = -data.shape[axis] % multiple
    widths: Sequence[tuple[int, int]] = [(0, more if i == axis else 0) for i in range(data.ndim)]
    return np.pad(data, widths, constant_values=value)
