"""ScaledSum: the sum of several tensors, each of its own scale and with its own sign, rounded once.

x1, .., xn: s8, u8 or s16, one shape -> y: s8, u8 or s16.  One definition in every mode that has one rounding or two:

    y = clamp(zy + ((sum of sign_i * M_i * (x_i - z_i) + 2^(s-1)) >> s))         one rounding, half up
    M_i = floor(float64(s_i) / float64(sy) * 2^s + 0.5)

The largest M has 17 bits, which fixes s in 1 .. 30, and the sum int32: what C adds up, 2^(s-1) and the zero points'
products first, is at most 2^29 + 30 * 255 * 2^17 < 2^31.  Where a 16-bit number takes part it has 31 bits, s is in
1 .. 55, and the sum int64.  Past the largest s the factors are so small that the sum is below one half: all M are 0.

Source: docs/quantization.md, as of Add in mode `single`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.add import common_shift
from codegen.ops.answers import Types, any_layout, clamped_bounds, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import EIGHT_BIT, limit, require
from codegen.records import record

MOST = 15
"""Inputs whose sum stays within 32 bits."""
_BITS, _SHIFT = 17, 30
_WIDE_BITS, _WIDE_SHIFT = 31, 55
_TYPES = (*EIGHT_BIT, DType.S16)


@record
class ScaledSum:
    """Sum of several tensors, each of its own scale, some of them subtracted."""

    xs: tuple[Quant, ...]
    signs: tuple[int, ...]
    y_quant: Quant
    y_dtype: DType
    low: int
    high: int

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        limit(
            "LAM-OPS-REDUCTION-16",
            "all inputs must be s8 or u8 or s16",
            lambda op, ins: all(t.dtype in _TYPES for t in ins),
        ),
        limit("LAM-OPS-REDUCTION-17", f"there must be at most {MOST} inputs", lambda op, ins: len(ins) <= MOST),
        limit(
            "LAM-OPS-REDUCTION-18",
            "the inputs' scales must be below 2^14 times the output's",
            lambda op, ins: max(x.scale for x in op.xs) < 2.0**14 * op.y_quant.scale,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        shapes = [list(t.shape) for t in ins]
        require(len(ins) == len(self.xs) == len(self.signs), self, f"{len(ins)} inputs for {len(self.xs)} scales")
        require(all(shape == shapes[0] for shape in shapes), self, f"shapes {shapes} differ")
        return (TensorType(ins[0].shape, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        factors, shift = self.steps(is_wide=self.is_wide([DType.of(x) for x in ins]))
        terms = (m * (x.astype(np.int64) - q.zero_point) for m, x, q in zip(factors, ins, self.xs, strict=True))
        total = np.add.reduce(list(terms)) + (1 << (shift - 1)) >> shift
        y = fixedpoint.saturate(total + self.y_quant.zero_point, self.low, self.high)
        return (y.astype(self.y_dtype.numpy),)

    def is_wide(self, kinds: Sequence[DType]) -> bool:
        """Whether a 16-bit number takes part, of inputs of these types."""
        return DType.S16 in (*kinds, self.y_dtype)

    def steps(self, *, is_wide: bool) -> tuple[tuple[int, ...], int]:
        """Each input's factor, with its sign, and the shift."""
        bits, most = (_WIDE_BITS, _WIDE_SHIFT) if is_wide else (_BITS, _SHIFT)
        factors, shift = common_shift(self.xs, self.y_quant, bits, most)
        return tuple(sign * m for sign, m in zip(self.signs, factors, strict=True)), shift

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
    clamped = clamped_bounds
