"""Div: y = a / b in real numbers, broadcast as numpy does.

a, b: s8, u8 or s16 -> y: s8, u8 or s16.  n = a - za, d = b - zb, both with the other sign where d < 0.  One
definition, TFLite's, which has it for s8; about 28 bits are right, so that 16-bit results are the rounded ones too:

    r, k = 1 / d as a fixed-point number of 31 bits and its shift      ops/fixed_functions.py: reciprocal
    h    = sign bits of n that can go                                  31 for 0 and -1
    q    = high_mul(high_mul(n * 2^h, r), M)                           M, e: float64(sa) / (sb * sy)
    y    = clamp(zy + q / 2^(k + h - e))                               halves away from zero

TFLite leaves two things open.  Here a shift by more than 31 gives 0, as the quotient is below half a step; and what is
divided by 0 is the lowest number, the highest one, or zy where n is 0 as well.
Source: tensorflow/lite/kernels/internal/reference/div.h, tensorflow/lite/kernels/internal/common.h (GetReciprocal).
Twin: lam_fixed_quotient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from codegen import fixedpoint
from codegen.fixedpoint import saturating_rounding_doubling_high_mul
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, broadcast_rows, clamped_bounds, in_place_when_equal, no_macs
from codegen.ops.fixed_functions import reciprocal
from codegen.ops.limits import EIGHT_BIT, broadcast_type, limit
from codegen.records import record

Raw = npt.NDArray[np.int64]
_BEYOND = 17
"""A power of two that lies behind either end of every output."""


@record
class Div:
    """Quotient of two tensors."""

    a: Quant
    b: Quant
    y_quant: Quant
    low: int
    high: int
    y_dtype: DType = DType.S8

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        limit(
            "LAM-OPS-ELEMENTWISE-07",
            "both inputs must be s8, u8 or s16",
            lambda op, ins: all(t.dtype in (*EIGHT_BIT, DType.S16) for t in ins),
        ),
        limit(
            "LAM-OPS-ELEMENTWISE-08",
            "the first input's scale must be below 2^22 times the product of the second's and the output's, "
            "2^15 times for 16-bit numbers",
            lambda op, ins: _factor(op) < (2.0**15 if ins[0].dtype is DType.S16 else 2.0**22),
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (broadcast_type(self, ins, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        n, d = ins[0].astype(np.int64) - self.a.zero_point, ins[1].astype(np.int64) - self.b.zero_point
        n, d = np.broadcast_arrays(np.where(d < 0, -n, n), np.abs(d))
        steps = np.where(d == 0, np.sign(n) << _BEYOND, _quotient(n, np.maximum(d, 1), *self.scaling()))
        return (fixedpoint.saturate(steps + self.y_quant.zero_point, self.low, self.high).astype(self.y_dtype.numpy),)

    def scaling(self) -> tuple[int, int]:
        """Multiplier and exponent of the quotient."""
        multiplier, exponent = fixedpoint.quantize_multiplier_tflite(_factor(self))
        return int(multiplier), int(exponent)

    rows = broadcast_rows
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
    clamped = clamped_bounds


def _factor(op: Div) -> float:
    return op.a.scale / (op.b.scale * op.y_quant.scale)


def _quotient(n: Raw, d: Raw, multiplier: int, exponent: int) -> Raw:
    """N / d scaled, in steps of the output; d >= 1."""
    bits = _bit_length(d)
    inverse = reciprocal((d << (32 - bits)) - (1 << 31))
    headroom = 31 - _bit_length(np.where(n < 0, ~n, n))
    product = saturating_rounding_doubling_high_mul(n << headroom, inverse)
    product = saturating_rounding_doubling_high_mul(product, multiplier)
    right = bits - 1 + headroom - exponent
    return np.where(right > 31, 0, fixedpoint.rounding_divide_by_pot(product, np.minimum(right, 31)))


def _bit_length(x: Raw) -> Raw:
    return np.asarray(np.frexp(x.astype(np.float64))[1].astype(np.int64))
