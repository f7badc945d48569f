"""Softmax over the last axis, in integers.

x: s8, u8 or s16[..., C] -> y: s8, u8 or s16[..., C], of beta * x.  Two definitions:

Lamina's own, in every mode but where TFLite's applies

    d    = max of the row - q                                         0 .. 255
    T[d] = rint(exp(-d * beta * sx) * 2^30), float64, half to even    uint32, 256 entries, T[0] = 2^30
           of 16-bit numbers (T[d & 255] * U[d >> 8] + 2^29) >> 30,   U[h] = T[256 * h]: two tables of 256 entries
    S    = sum over the row of T[d]                                   uint64, 2^30 <= S < 2^62
    r    = (K + S // 2) // S                                          one 64-bit division per row, r <= 2^32
    y    = clamp(zy + ((T[d] * r + 2^(s-1)) >> s))                    one 64-bit product per element, below 2^63

    1 / sy = m * 2^e (frexp);  K = m * 2^62 exactly, s = 62 - e;  for sy > 2 all is below one half: K = 0, s = 1.

Powers are within 2^-31 (2^-29 of 16-bit numbers), the reciprocal within 2^(29 - s) steps of the output (2^-24 for
sy = 1/256).

TFLite's fixed-point form, of 8-bit numbers in mode `tflite` where the output has TFLite's own meaning: sy = 1/256, or
1/65536 for s16, and the type's lowest value as zero point

    M, e = multiplier of min(beta * sx * 2^26, 2^31 - 1)              two roundings, e >= 0
    T[d] = exp(-MultiplyByQuantizedMultiplier(d, M, e)), 5 integer bits in, none out (ops/fixed_functions.py);
           0 where d * 2^e >= 31 * 2^26
    S    = sum over the row of T[d] / 2^12, rounded                   int32, 12 integer bits
    r    = reciprocal of S shifted left by its h leading zeros        no integer bits
    y    = lowest + (high half of 2 * r * T[d]) / 2^(43 - h - bits), both rounded; clamped to the type

Source: onnx/docs/Operators.md, Softmax, the first form being Lamina's own; tensorflow/lite/kernels/internal/reference/
softmax.h and quantization_util.cc for the second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Mode, Quant
from codegen.ops.answers import in_place_when_equal, last_axis_stays, no_macs, same_row
from codegen.ops.fixed_functions import exp_on_negative
from codegen.ops.fixed_functions import reciprocal as fixed_reciprocal
from codegen.ops.limits import EIGHT_BIT, infer_along_last_axis, limit, types_among
from codegen.records import record

TABLE_BITS = 30
RECIPROCAL_BITS = 62
_DIFF_BITS = 5
_NEAR_16 = 0.001
SUM_BITS = 12
_MOST_CHANNELS = (1 << SUM_BITS) - 1
"""Of TFLite's form: more equal numbers would overflow its sum."""


def below_largest(x: Array) -> Array:
    """How far each number lies below the largest of its row."""
    wide = x.astype(np.int64)
    return np.asarray(wide.max(axis=-1, keepdims=True) - wide)


@record
class Softmax:
    """exp(beta x) / sum exp(beta x) over the last axis."""

    x_quant: Quant
    y_quant: Quant
    y_dtype: DType
    mode: Mode
    beta: float = 1.0

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ACTIVATION-02", 0, "the input", (*EIGHT_BIT, DType.S16)),
        limit(
            "LAM-OPS-ACTIVATION-03",
            "the output's scale must be at least 2^-20",
            lambda op, ins: op.y_quant.scale >= 2.0**-20,
        ),
        limit(
            "LAM-OPS-ACTIVATION-18",
            "16-bit numbers in mode tflite must be softmaxed by TFLite's own 16-bit operator",
            lambda op, ins: op.mode != "tflite" or ins[0].dtype in EIGHT_BIT,
        ),
        limit(
            "LAM-OPS-ACTIVATION-04",
            f"an output in TFLite's form must have at most {_MOST_CHANNELS} channels",
            lambda op, ins: not op.is_tflite or ins[0].shape[-1] <= _MOST_CHANNELS,
        ),
    )

    @property
    def is_tflite(self) -> bool:
        """Whether TFLite's fixed-point form is the definition."""
        quant, dtype = self.y_quant, self.y_dtype
        own = 2.0 ** (-8 * dtype.bytes)
        # TFLite's kernels take a scale of 16 bits that is nearly their own for it
        near = abs(quant.scale - own) <= (_NEAR_16 * own if dtype is DType.S16 else 0)
        return self.mode == "tflite" and quant.zero_point == dtype.low and near

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        below = below_largest(ins[0])
        if self.is_tflite:
            return (self._fixed(below),)
        powers = self._powers(below, DType.of(ins[0]))
        total = powers.sum(axis=-1, keepdims=True)
        numerator, shift = reciprocal(self.y_quant)
        factor = (np.uint64(numerator) + total // np.uint64(2)) // total
        steps = (powers * factor + np.uint64(1 << (shift - 1))) >> np.uint64(shift)
        y = steps.astype(np.int64) + self.y_quant.zero_point
        return (np.clip(y, self.y_dtype.low, self.y_dtype.high).astype(self.y_dtype.numpy),)

    def _powers(self, below: Array, dtype: DType) -> Array:
        """T of how far each number lies below the largest of its row."""
        if dtype in EIGHT_BIT:
            return np.asarray(np.array(exp_table(self.x_quant, self.beta), np.uint64)[below])
        return powers_below(below, self.x_quant, self.beta)

    def _fixed(self, below: Array) -> Array:
        """TFLite's form, of how far each number lies below the largest of its row."""
        powers = np.array(fixed_exp_table(self.x_quant, self.beta), np.int64)[below]
        total = fixedpoint.rounding_divide_by_pot(powers, SUM_BITS).sum(axis=-1, keepdims=True)
        zeros = 31 - np.frexp(total.astype(np.float64))[1] + 1
        factor = fixed_reciprocal((total << zeros) - (1 << 31))
        shift = SUM_BITS + 31 - 8 * self.y_dtype.bytes - zeros
        product = fixedpoint.saturating_rounding_doubling_high_mul(factor, powers)
        steps = (product + (np.int64(1) << (shift - 1))) >> shift
        lowest, highest = self.y_dtype.low, self.y_dtype.high
        return np.asarray(np.minimum(steps + lowest, highest).astype(self.y_dtype.numpy))

    infer = infer_along_last_axis
    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = last_axis_stays


def exp_table(x: Quant, beta: float = 1.0) -> tuple[int, ...]:
    """T: the 256 powers in units of 2^-30."""
    powers = np.rint(np.exp(-x.scale * beta * np.arange(256)) * 2.0**TABLE_BITS)
    return tuple(powers.astype(np.int64).tolist())


def powers_below(below: Array, x: Quant, beta: float = 1.0) -> Array:
    """T of 16-bit numbers, by how far each lies below the largest."""
    fine, coarse = (np.array(exp_table(x, step * beta), np.uint64) for step in (1, 256))
    product = fine[below & 255] * coarse[below >> 8]
    return np.asarray((product + np.uint64(1 << (TABLE_BITS - 1))) >> np.uint64(TABLE_BITS))


def fixed_exp_table(x: Quant, beta: float) -> tuple[int, ...]:
    """T of TFLite's form: the 256 powers without integer bits."""
    unit = 1 << (31 - _DIFF_BITS)
    factor = min(float(np.float32(beta)) * x.scale * unit, 2.0**31 - 1)
    if factor >= 2.0**30:  # no number but the largest is near enough, and TFLite's shift would overflow
        return (fixedpoint.INT32_MAX, *(0,) * 255)
    multiplier, exponent = fixedpoint.quantize_multiplier_tflite(factor)
    most = (((1 << _DIFF_BITS) - 1) * unit) >> max(int(exponent), 0)
    below = np.minimum(np.arange(256), most)
    bounds = (fixedpoint.INT32_MIN, fixedpoint.INT32_MAX)
    scaled = fixedpoint.requantize_tflite(-below, multiplier, exponent, 0, *bounds)
    powers = np.where(np.arange(256) <= most, exp_on_negative(scaled, _DIFF_BITS), 0)
    return tuple(powers.tolist())


def reciprocal(y: Quant) -> tuple[int, int]:
    """K and s: the output's inverse scale as a 62-bit mantissa, and the shift that undoes it."""
    mantissa, exponent = math.frexp(1.0 / y.scale)
    if exponent < 0:
        return 0, 1
    return int(mantissa * 2.0**RECIPROCAL_BITS), RECIPROCAL_BITS - exponent
