"""LogSoftmax: the logarithm of softmax over the last axis, in fixed point.

x: s8, u8 or s16[..., C] -> y: s8, u8 or s16[..., C].  d = max of the row - q.  Two definitions:

Lamina's own, in every mode but where TFLite's applies

    P[d] = rint(exp(-d * sx) * 2^30) as in ops/softmax.py;  S = sum over the row of P[d]          uint64, below 2^42
    L    = log((S + 2^10) >> 11, 12 integer bits), 5 integer bits (`logarithm`), rounded to F fractional bits
    N[d] = min(rint(d * sx * 2^F), 2^30)                             float64, half to even; of 16-bit numbers
           min((d * M + 2^(s-1)) >> s, 2^30), min(sx * 2^F, 2^30 - 1) = M / 2^s with 31 bits of M
    y    = clamp(zy + (-(N[d] + L) requantized by 2^-F / sy)), one rounding, half up (mode `single`)

    F is the most, 26 at most, with which (9 + sy * (1 + zy - lowest)) * 2^F <= 2^30: what is cut off lies below the
    lowest output, as log 4095 < 9.  The logarithm is within 2^-18.

TFLite's, in mode `tflite` where the output has TFLite's own meaning: s8 of scale 1/16 and zero point 127

    M, e = multiplier of min(sx * 2^26, 2^31 - 1), e >= 0;  R, f = multiplier of -1 / (2^-e * M / 2^31)
    D[d] = -MultiplyByQuantizedMultiplier(d, M, e), 5 integer bits
    T[d] = exp(D[d]) without integer bits, 0 where d * 2^e > 31 * 2^26;  S = sum of T / 2^12, rounded, 12 integer bits
    L    = log(S), 5 integer bits (`logarithm`)
    y    = clamp(127 + (D[d] - L) / 2^22, rounded), and -128 from d >= -max(-radius - 1, MBQM(L - 2^31, R, f)) on

Source: onnx/docs/Operators.md, LogSoftmax, the first form being Lamina's own; tensorflow/lite/kernels/internal/
reference/log_softmax.h, internal/common.h (log_x_for_x_greater_than_or_equal_to_1_impl), quantization_util.cc
(PreprocessLogSoftmaxScalingExp) for the second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.fixedpoint import INT32_MAX, INT32_MIN, rounding_divide_by_pot
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Mode, Quant, Requant
from codegen.ops.answers import in_place_when_equal, last_axis_stays, no_macs, same_row
from codegen.ops.fixed_functions import exp_on_negative, logarithm
from codegen.ops.limits import EIGHT_BIT, infer_along_last_axis, limit, types_among
from codegen.ops.requantize import apply_requant, requant_by_factor
from codegen.ops.softmax import TABLE_BITS, below_largest, exp_table, powers_below
from codegen.records import record

OUTPUT = Quant(2.0**-4, 127)
INPUT_BITS, SUM_BITS = 5, 12
LOG_BITS = 31 - INPUT_BITS
SHIFT = LOG_BITS - 4
"""From five integer bits to steps of 1/16."""
SUM_SHIFT = TABLE_BITS - (31 - SUM_BITS)
"""From a sum of powers to twelve integer bits."""
_LARGEST_LOG = 9.0
_MOST_CHANNELS = (1 << SUM_BITS) - 1


@record
class LogSoftmax:
    """log(exp(x) / sum exp(x)) over the last axis."""

    x_quant: Quant
    y_quant: Quant
    y_dtype: DType
    mode: Mode

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ACTIVATION-12", 0, "the input", (*EIGHT_BIT, DType.S16)),
        limit(
            "LAM-OPS-ACTIVATION-13",
            "the input's scale must be above 2^-26 and below 16 in TFLite's form",
            lambda op, ins: not op.is_tflite or 2.0**-26 < op.x_quant.scale < 16.0,
        ),
        limit(
            "LAM-OPS-ACTIVATION-14",
            f"there must be at most {_MOST_CHANNELS} channels",
            lambda op, ins: ins[0].shape[-1] <= _MOST_CHANNELS,
        ),
        limit(
            "LAM-OPS-ACTIVATION-15",
            "the output's scale must be from 2^-12 (of 16 bits 2^-16) to 2^10",
            lambda op, ins: 2.0 ** (-16 if op.y_dtype is DType.S16 else -12) <= op.y_quant.scale <= 2.0**10,
        ),
    )

    @property
    def is_tflite(self) -> bool:
        """Whether TFLite's fixed-point form is the definition."""
        return self.mode == "tflite" and (self.y_quant, self.y_dtype) == (OUTPUT, DType.S8)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        below = below_largest(ins[0])
        if self.is_tflite:
            return (self._fixed(below),)
        wide = DType.of(ins[0]) is DType.S16
        powers = powers_below(below, self.x_quant) if wide else np.array(exp_table(self.x_quant), np.int64)[below]
        total = powers.astype(np.int64).sum(axis=-1, keepdims=True)
        log = logarithm((total + (1 << SUM_SHIFT >> 1)) >> SUM_SHIFT, SUM_BITS, INPUT_BITS)
        depths = self._depths(below) if wide else np.array(depth_table(self), np.int64)[below]
        acc = depths + rounding_divide_by_pot(log, LOG_BITS - fraction_bits(self))
        return (apply_requant(log_requant(self), -acc, self.y_dtype),)

    def _depths(self, below: Array) -> Array:
        """N of how far each 16-bit number lies below the largest of its row."""
        multiplier, shift = depth_scaling(self)
        return np.asarray(np.minimum((below * multiplier + (1 << (shift - 1))) >> shift, 1 << TABLE_BITS))

    def _fixed(self, below: Array) -> Array:
        """TFLite's form, of how far each number lies below the largest of its row."""
        depths, powers = (np.array(t, np.int64) for t in tables(self.x_quant))
        total = rounding_divide_by_pot(powers[below], SUM_BITS).sum(axis=-1, keepdims=True)
        log = logarithm(total, SUM_BITS, INPUT_BITS)
        multiplier, exponent, least = reverse(self.x_quant)
        bounds = (INT32_MIN, INT32_MAX)
        reach = fixedpoint.saturate(_scaled(log + INT32_MIN, multiplier, exponent), *bounds)
        reach = np.maximum(least, reach)
        y = rounding_divide_by_pot(depths[below] - log, SHIFT) + 127
        return np.where(-below > reach, np.clip(y, -128, 127), -128).astype(np.int8)

    infer = infer_along_last_axis
    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = last_axis_stays


def fraction_bits(op: LogSoftmax) -> int:
    """F."""
    reach = _LARGEST_LOG + op.y_quant.scale * (1 + op.y_quant.zero_point - op.y_dtype.low)
    return min(LOG_BITS, 30 - math.ceil(math.log2(reach)))


def depth_table(op: LogSoftmax) -> tuple[int, ...]:
    """N: how far below the largest each of 256 differences lies, F fractional bits."""
    steps = np.rint(op.x_quant.scale * np.arange(256) * 2.0 ** fraction_bits(op))
    return tuple(np.minimum(steps, 2.0**30).astype(np.int64).tolist())


def depth_scaling(op: LogSoftmax) -> tuple[int, int]:
    """M and s."""
    mantissa, exponent = math.frexp(min(op.x_quant.scale * 2.0 ** fraction_bits(op), 2.0**TABLE_BITS - 1))
    return math.floor(mantissa * 2.0**31), 31 - exponent


def log_requant(op: LogSoftmax) -> Requant:
    """From F fractional bits to the output."""
    factor = np.asarray(2.0 ** -fraction_bits(op) / op.y_quant.scale)
    return requant_by_factor("single", factor, op.y_quant, (op.y_dtype.low, op.y_dtype.high))


def scaling(x: Quant) -> tuple[int, int]:
    """M and e."""
    factor = min(x.scale * 2.0 ** (31 - INPUT_BITS), 2.0**31 - 1)
    multiplier, exponent = fixedpoint.quantize_multiplier_tflite(factor)
    return int(multiplier), int(exponent)


def radius(exponent: int) -> int:
    """The largest d that counts."""
    return (((1 << INPUT_BITS) - 1) << (31 - INPUT_BITS)) >> exponent


def tables(x: Quant) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """D and T, 256 entries each; D stops at the radius, beyond which no output depends on it."""
    multiplier, exponent = scaling(x)
    most = radius(exponent)
    below = np.minimum(np.arange(256), most)
    depths = fixedpoint.requantize_tflite(-below, multiplier, exponent, 0, INT32_MIN, INT32_MAX)
    powers = np.where(np.arange(256) <= most, exp_on_negative(depths, INPUT_BITS), 0)
    return tuple(depths.tolist()), tuple(powers.tolist())


def reverse(x: Quant) -> tuple[int, int, int]:
    """R, f and the least difference: what turns a logarithm back into steps of the input."""
    multiplier, exponent = scaling(x)
    back, shift = fixedpoint.quantize_multiplier_tflite(1.0 / (2.0 ** (exponent - 31) * multiplier))
    return int(back), int(shift), -radius(exponent) - 1


def _scaled(value: Array, multiplier: int, exponent: int) -> Array:
    product = fixedpoint.saturating_rounding_doubling_high_mul(value << max(exponent, 0), multiplier)
    return rounding_divide_by_pot(product, max(-exponent, 0))
