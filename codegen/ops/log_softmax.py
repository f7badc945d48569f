"""LogSoftmax: the logarithm of softmax over the last axis, in TFLite's fixed point.

x: s8[..., C] -> y: s8[..., C] of scale 1/16, zero point 127.  All numbers below are 32-bit fixed point:

    M, e = multiplier of min(sx * 2^26, 2^31 - 1), e >= 0;  R, f = multiplier of -1 / (2^-e * M / 2^31)
    d    = max of the row - q;  D[d] = -MultiplyByQuantizedMultiplier(d, M, e), 5 integer bits
    T[d] = exp(D[d]) without integer bits, 0 where d * 2^e > 31 * 2^26;  S = sum of T / 2^12, rounded, 12 integer bits
    L    = log(S), 5 integer bits (`logarithm`)
    y    = clamp(127 + (D[d] - L) / 2^22, rounded), and -128 from d >= -max(-radius - 1, MBQM(L - 2^31, R, f)) on

One definition for every mode.  Source: tensorflow/lite/kernels/internal/reference/log_softmax.h, internal/common.h
(log_x_for_x_greater_than_or_equal_to_1_impl), quantization_util.cc (PreprocessLogSoftmaxScalingExp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.fixedpoint import INT32_MAX, INT32_MIN, rounding_divide_by_pot
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, in_place_when_equal, no_macs, same_row
from codegen.ops.fixed_functions import exp_on_negative, logarithm
from codegen.ops.limits import limit, only_input, types_among

OUTPUT = Quant(2.0**-4, 127)
INPUT_BITS, SUM_BITS = 5, 12
SHIFT = 31 - INPUT_BITS - 4
"""From five integer bits to steps of 1/16."""
_MOST_CHANNELS = (1 << SUM_BITS) - 1


@dataclass(frozen=True, slots=True)
class LogSoftmax:
    """log(exp(x) / sum exp(x)) over the last axis."""

    x_quant: Quant

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-471", 0, "the input", (DType.S8,)),
        limit(
            "LAM-OPS-472",
            "the input's scale must be above 2^-26 and below 16",
            lambda op, ins: 2.0**-26 < op.x_quant.scale < 16.0,
        ),
        limit(
            "LAM-OPS-473",
            f"there must be at most {_MOST_CHANNELS} channels",
            lambda op, ins: ins[0].shape[-1] <= _MOST_CHANNELS,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (TensorType(only_input(self, ins).shape, DType.S8, OUTPUT),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x = ins[0].astype(np.int64)
        below = x.max(axis=-1, keepdims=True) - x
        depths, powers = (np.array(t, np.int64) for t in tables(self.x_quant))
        total = rounding_divide_by_pot(powers[below], SUM_BITS).sum(axis=-1, keepdims=True)
        log = logarithm(total, SUM_BITS, INPUT_BITS)
        multiplier, exponent, least = reverse(self.x_quant)
        bounds = (INT32_MIN, INT32_MAX)
        reach = fixedpoint.saturate(_scaled(log + INT32_MIN, multiplier, exponent), *bounds)
        reach = np.maximum(least, reach)
        y = rounding_divide_by_pot(depths[below] - log, SHIFT) + 127
        return (np.where(-below > reach, np.clip(y, -128, 127), -128).astype(np.int8),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal


def scaling(x: Quant) -> tuple[int, int]:
    """M and e."""
    factor = min(x.scale * 2.0 ** (31 - INPUT_BITS), 2.0**31 - 1)
    multiplier, exponent = fixedpoint.quantize_multiplier_double(factor)
    return int(multiplier), int(exponent)


def radius(exponent: int) -> int:
    """The largest d that counts."""
    return (((1 << INPUT_BITS) - 1) << (31 - INPUT_BITS)) >> exponent


def tables(x: Quant) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """D and T, 256 entries each; D stops at the radius, beyond which no output depends on it."""
    multiplier, exponent = scaling(x)
    most = radius(exponent)
    below = np.minimum(np.arange(256), most)
    depths = fixedpoint.requantize_double(-below, multiplier, exponent, 0, INT32_MIN, INT32_MAX)
    powers = np.where(np.arange(256) <= most, exp_on_negative(depths, INPUT_BITS), 0)
    return tuple(depths.tolist()), tuple(powers.tolist())


def reverse(x: Quant) -> tuple[int, int, int]:
    """R, f and the least difference: what turns a logarithm back into steps of the input."""
    multiplier, exponent = scaling(x)
    back, shift = fixedpoint.quantize_multiplier_double(1.0 / (2.0 ** (exponent - 31) * multiplier))
    return int(back), int(shift), -radius(exponent) - 1


def _scaled(value: Array, multiplier: int, exponent: int) -> Array:
    product = fixedpoint.saturating_rounding_doubling_high_mul(value << max(exponent, 0), multiplier)
    return rounding_divide_by_pot(product, max(-exponent, 0))
