"""Sums of inputs by constant weights, of a convolution or a dense layer: what they reach, and how they are stored.

Whichever kernels ask about a node, each fact is found once.  Accumulators are `b' + sum w * x` with the input zero
point folded into the bias, but for those of 64 bits, which take it off each input.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from codegen.ir.form import Field
from codegen.ir.op import NodeOf
from codegen.ir.quant import Array, DType, taken_off
from codegen.kernels.common import end_values, is_wide, requant_takes, weight_shift
from codegen.ops import Conv2D, Dense
from codegen.ops.accumulator import channel_ends, folded_bias
from codegen.records import record

BYTES = (DType.S8, DType.U8)

_BIAS = "of each output channel"
FOLDED = f"{_BIAS}, with the input's zero point in it"
EACH_STORED_LESS = "added to each weight of an output channel: they are stored as so much less"
OWN_ZEROS = " with zero points of their own"
STORED_LESS = "added to each weight: they are stored as so much less"


def few_said(bits: int, *, own: bool = False) -> str:
    """What a form says of weights of few bits; `own`: with zero points of their own."""
    return f"weights of {bits} bits{OWN_ZEROS if own else ''}"


@record(eq=False, slots=False)
class Weighted:
    """The sums of one node.  Weights are [outputs, ...], to be stored in `bits` where that is not 0.

    `less` is what is taken off the weights of each output before, where they have zero points of their own; what is
    left has a sign, or is `unsigned`.  `sent`: other weights have to fit the kernel that these choose.
    """

    op: Conv2D | Dense
    x: DType
    y: DType
    weights: Array
    bias: Array
    bits: int = 0
    less: Array | None = None
    sent: bool = False
    unsigned: bool = False

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """Bounds of the accumulator's end value."""
        return end_values(self.weights, self.bias, self.op.x_zero_point, self.x)

    @property
    def reach(self) -> int:
        """Largest size of the accumulator's end value."""
        return max(map(abs, self.bounds))

    @cached_property
    def reaches(self) -> tuple[int, ...]:
        """Largest size of each output channel's end value."""
        low, high = channel_ends(self.weights, self.bias, self.op.x_zero_point, self.x)
        return tuple(np.maximum(np.abs(low), np.abs(high)).tolist())

    @cached_property
    def wide(self) -> bool:
        """Whether a sum could leave 32 bits."""
        return is_wide(self.weights, self.bias, self.op.x_zero_point, self.x)

    @property
    def acc_t(self) -> str:
        """The C type of sums."""
        return "int64_t" if self.wide else "int32_t"

    @cached_property
    def shift(self) -> int | None:
        """What is taken off 16-bit weights to make them bytes; None for bytes, and where they stay as they are.

        Where a layer has a shift, every part of its output channels has one, though another: tiles are of one form.
        """
        own = self.weights.dtype == np.int8
        return None if own else weight_shift(self.weights, self.bias, self.op.x_zero_point, self.x)

    @cached_property
    def folded(self) -> Array:
        """The bias with the input zero point in it, int32."""
        return folded_bias(self.weights, self.bias, self.op.x_zero_point).astype(np.int32)

    def of_bytes(self, *, shifted: bool = False, halves: bool = False) -> bool:
        """Whether inputs, weights and outputs have 8 bits, and sums 32.

        `shifted`: weights may also be bytes and a shift for all of them; `halves`: they may have 16 bits.
        """
        if self.op.requant is None or self.x not in BYTES or self.y not in BYTES or self.wide:
            return False
        return self.weights.dtype == np.int8 or halves or (shifted and self.shift is not None)

    def fits_unsigned(self, bits: int, more: int = 0) -> bool:
        """Whether sums also fit 32 bits of fields without a sign, with the sum of the inputs that is taken off them.

        `more`: and what else may be added to them.
        """
        taps, most, half = self.weights[0].size, max(abs(self.x.low), self.x.high), 1 << (bits - 1)
        less = half if self.less is None else int(np.abs(self.less - half).max())
        reach = taps * most * (((1 << bits) - 1) + less)
        return bool(np.abs(self.folded.astype(np.int64)).max() + reach + more < 1 << 31)

    def without_sign(self) -> Weighted:
        """The same whose numbers have no sign, where each output has a zero point of its own and sums fit 32 bits so.

        A field without a sign takes fewer instructions to take out.
        """
        if self.less is None or not self.fits_unsigned(self.bits):
            return self
        return replace(self, less=self.less - (1 << (self.bits - 1)), unsigned=True)

    def shifted_weights(self) -> Array:
        """The weights as bytes where they are, or a shift makes them so; without what is taken off each output's."""
        if self.less is not None:
            return _without(self.weights, self.less)
        less = None if self.shift is None else (self.weights.astype(np.int64) - self.shift).astype(np.int8)
        return self.weights if less is None else less

    @property
    def said(self) -> str:
        """What is said of few bits beside a form's blocks."""
        return f", {few_said(self.bits, own=self.less is not None)}" if self.bits else ""

    def stored_in(self, each: int) -> Weighted:
        """The same of few bits where an output's weights take `each` bytes: in bytes if these are no more.

        Zero points of their own are a byte of each output too, and bytes have them in their numbers.
        """
        packs = each + (self.less is not None) < self.weights[0].size
        return self if packs else replace(self, bits=0, less=None)

    def bias_field(self) -> Field:
        """Params `bias`, folded; as it is when the accumulator is wide."""
        return Field("bias", self.bias.astype(np.int32), about=_BIAS) if self.wide else self.folded_field()

    def folded_field(self) -> Field:
        """Params `bias`, folded."""
        return Field.later("bias", np.int32, self.bias.size, lambda: self.folded, FOLDED)

    def zero_fields(self, *, padded: bool, none: bool = False) -> tuple[Field, ...]:
        """Params `x_zero_point` where it is read: in place of padding, and off each input of a wide accumulator.

        `none`: such an accumulator's is nowhere read, as it is 0.
        """
        zero = Field("x_zero_point", np.array([self.op.x_zero_point], np.int32), about="of the input")
        return (zero,) if padded or (self.wide and not none) else ()

    def shift_fields(self) -> tuple[Field, ...]:
        """Params `w_shift` where there is one, or one for each output."""
        if self.less is not None:
            return (Field("w_shift", self.less.astype(np.int8), about=EACH_STORED_LESS),)
        return () if self.shift is None else (Field("w_shift", np.array([self.shift], np.int32), about=STORED_LESS),)

    def byte_weights(self, axes: str) -> Field:
        """Params `weights` as bytes, in their own order, of whose axes C says so much."""
        return Field.later("weights", np.int8, self.weights.size, lambda: self.shifted_weights().reshape(-1), axes)

    def plain_weights(self) -> Field:
        """Params `weights`, in their own order."""
        axes = {2: "[outputs][inputs]", 4: "[outputs][rows][columns][inputs]"}.get(self.weights.ndim, "")
        return Field.later("weights", self.weights.dtype, self.weights.size, lambda: self.weights.reshape(-1), axes)


def _bits(node: NodeOf[Conv2D | Dense]) -> int:
    """In how many bits the weights themselves are to be stored; 0 for their type's, and where groups have factors."""
    kind = node.ins[1]
    return kind.bits if kind.dtype is DType.S8 and not kind.block else 0


def _without(weights: Array, less: Array) -> Array:
    """Weights less a number of each output."""
    return (weights.astype(np.int64) - less.reshape(-1, *(1,) * (weights.ndim - 1))).astype(np.int8)


def _less(node: NodeOf[Conv2D | Dense], weights: Array, bias: Array, bits: int) -> Array | None:
    """What is taken off the weights of each output; None where nothing is, or where it times the inputs is too much."""
    less = taken_off(weights.reshape(len(weights), -1), bits) if node.ins[1].apart and bits else None
    if less is None:
        return None
    x, taps = node.ins[0].dtype, weights[0].size
    reach = np.abs(_without(weights, less).reshape(len(weights), -1).astype(np.int64)).sum(axis=1) + np.abs(less) * taps
    folded = np.abs(folded_bias(weights, bias, node.op.x_zero_point))
    return less if int((folded + max(abs(x.low), x.high) * reach).max()) < 1 << 31 else None


@lru_cache(maxsize=4)
def weighted(node: NodeOf[Conv2D | Dense], *, apart: bool = False) -> Weighted | None:
    """The sums of a node; None where weights are computed, or an accumulator cannot be requantized.

    `apart`: weights may have zero points of their own, of which the asking kernel knows how to store them, or stores
    bytes; others are not asked for such a node.
    """
    weights, bias = node.consts[1:3]
    if node.dynamic != (0,) or weights is None or bias is None or (node.ins[1].apart and not apart):
        return None
    bits = _bits(node)
    less = _less(node, weights, bias, bits)
    packs = bits if less is not None or not node.ins[1].apart else 0
    sums = Weighted(node.op, node.ins[0].dtype, node.outs[0].dtype, weights, bias, packs, less, node.ins[1].sent)
    return sums if requant_takes(node.op.requant, *sums.bounds, wide=True) else None


def signed_zero(sums: Weighted) -> int:
    """The input's zero point once its values are int8: unsigned ones are moved down by 128."""
    return sums.op.x_zero_point - (128 if sums.x is DType.U8 else 0)


def signed_bias(sums: Weighted) -> Array:
    """The bias with that zero point in it."""
    return folded_bias(sums.weights, sums.bias, signed_zero(sums)).astype(np.int32)
