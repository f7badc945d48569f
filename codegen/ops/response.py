"""Response: y = x / (bias + t) ** beta in real numbers, the end of a local response normalization.

x: s8, u8 or s16, t: s32 from 0 on, a sum of squares -> y: s8, u8 or s16.  d = t + bias, both in units of `unit`, lies
between 1 and 2^31 - 1.

    d    = m * 2^(b - 31)       b its bits, so that m has 31
    f    = C[i] + ((C[i + 1] - C[i]) * r >> 22)          i and r: the 8 bits of m behind the leading one, the rest
    F    = (f * P[b] + 2^30) >> 31
    y    = clamp(zy + ((x - zx) * F + half >> s[b]))     half = 2^(s[b] - 1)

C is c * (1 + i / 256)^-beta for i = 0 .. 256, with its largest number 2^31 - 1; P[b] * 2^-(31 + s[b]) is what is
missing, (unit * 2^(b - 1))^-beta * sx / (sy * c), with 31 bits.  So F is within 2^-18 of what it should be.
Twin: lam_response_factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, clamped_bounds, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import EIGHT_BIT, limit, require
from codegen.records import record

CURVE = 256
"""Straight pieces of the power between a power of two and the next."""
BITS = 31
"""Of a factor, and of the largest number that is raised to a power."""
_REST = 22
_MOST_SHIFT = 62


@record
class Response:
    """A tensor over a power of sums of squares."""

    x: Quant
    beta: float
    bias: int
    unit: float
    y_quant: Quant
    y_dtype: DType
    low: int
    high: int

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        limit(
            "LAM-OPS-ELEMENTWISE-25",
            "the inputs must be s8, u8 or s16, and s32",
            lambda op, ins: ins[0].dtype in (*EIGHT_BIT, DType.S16) and ins[1].dtype is DType.S32,
        ),
        limit("LAM-OPS-ELEMENTWISE-26", "factors must be below 2^30", lambda op, ins: op.fits()),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(ins[0].shape == ins[1].shape, self, f"shapes {[list(t.shape) for t in ins]} differ")
        return (TensorType(ins[0].shape, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, d = ins[0].astype(np.int64) - self.x.zero_point, ins[1].astype(np.int64) + self.bias
        d = np.clip(d, 1, DType.S32.high)
        bits = np.frexp(d.astype(np.float64))[1]
        mantissa = d << (BITS - bits)
        at, rest = (mantissa >> _REST) - CURVE, mantissa & ((1 << _REST) - 1)
        curve, (powers, shifts) = self.curve(), self.powers()
        f = curve[at] + ((curve[at + 1] - curve[at]) * rest >> _REST)
        factor = (f * powers[bits - 1] + (1 << BITS - 1)) >> BITS
        steps = (x * factor + (np.int64(1) << shifts[bits - 1] - 1)) >> shifts[bits - 1]
        y = fixedpoint.saturate(steps + self.y_quant.zero_point, self.low, self.high)
        return (y.astype(self.y_dtype.numpy),)

    def curve(self) -> npt.NDArray[np.int64]:
        """C."""
        powers = (1 + np.arange(CURVE + 1) / CURVE) ** -self.beta
        return np.asarray(np.rint(powers * (DType.S32.high / powers.max())), np.int64)

    def powers(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """P and s for numbers of 1 to 31 bits; 0 and 1 where none of so few bits comes up, or where nothing is left."""
        found = [self._power(bits) for bits in range(1, BITS + 1)]
        kept = [pair if 1 <= pair[1] <= _MOST_SHIFT and self._is_met(i) else (0, 1) for i, pair in enumerate(found, 1)]
        powers, shifts = zip(*kept, strict=True)
        return np.array(powers, np.int64), np.array(shifts, np.int64)

    def fits(self) -> bool:
        """Whether no factor is too large."""
        return all(self._power(bits)[1] >= 1 for bits in range(1, BITS + 1) if self._is_met(bits))

    def _is_met(self, bits: int) -> bool:
        return bits >= max(self.bias, 1).bit_length()

    def _power(self, bits: int) -> tuple[int, int]:
        top = DType.S32.high / max(1.0, 2.0**-self.beta)
        real = (self.unit * 2.0 ** (bits - 1)) ** -self.beta * self.x.scale / (self.y_quant.scale * top)
        part, exponent = math.frexp(real)
        whole = round(part * 2**BITS)
        return (whole, -exponent) if whole < 1 << BITS else (whole >> 1, -exponent - 1)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
    clamped = clamped_bounds
