"""Softmax over the last axis, in integers.

x: s8 or u8[..., C] -> y: s8 or u8[..., C].  Every mode uses one definition:

    d    = max of the row - q                                         0 .. 255
    T[d] = rint(exp(-d * sx) * 2^30), float64, half to even           uint32, 256 entries, T[0] = 2^30
    S    = sum over the row of T[d]                                   uint64, 2^30 <= S < 2^62
    r    = (K + S // 2) // S                                          one 64-bit division per row, r <= 2^32
    y    = clamp(zy + ((T[d] * r + 2^(s-1)) >> s))                    one 64-bit product per element, below 2^63

    1 / sy = m * 2^e (frexp);  K = m * 2^62 exactly, s = 62 - e;  for sy > 2 all is below one half: K = 0, s = 1.

Powers are within 2^-31, the reciprocal within 2^(29 - s) steps of the output (2^-24 for sy = 1/256).  With sy = 1/256
and zy = -128 this is TFLite's output format; TFLite's fixed-point exponential is not reproduced, also not in `double`.
Source: onnx/docs/Operators.md, Softmax; the integer form is Lamina's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Mode, Quant, TensorType
from codegen.ops.answers import Types, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import EIGHT_BIT, limit, only_input, require, types_among

TABLE_BITS = 30
RECIPROCAL_BITS = 62


@dataclass(frozen=True, slots=True)
class Softmax:
    """exp(x) / sum exp(x) over the last axis."""

    x_quant: Quant
    y_quant: Quant
    y_dtype: DType
    mode: Mode

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-432", 0, "the input", EIGHT_BIT),
        limit("LAM-OPS-433", "the output's scale must be at least 2^-20", lambda op, ins: op.y_quant.scale >= 2.0**-20),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(len(x.shape) >= 1, self, "takes a tensor of one axis or more")
        return (TensorType(x.shape, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x = ins[0].astype(np.int64)
        powers = np.array(exp_table(self.x_quant), np.uint64)[x.max(axis=-1, keepdims=True) - x]
        total = powers.sum(axis=-1, keepdims=True)
        numerator, shift = reciprocal(self.y_quant)
        factor = (np.uint64(numerator) + total // np.uint64(2)) // total
        steps = (powers * factor + np.uint64(1 << (shift - 1))) >> np.uint64(shift)
        y = steps.astype(np.int64) + self.y_quant.zero_point
        return (np.clip(y, self.y_dtype.low, self.y_dtype.high).astype(self.y_dtype.numpy),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal


def exp_table(x: Quant) -> tuple[int, ...]:
    """T: the 256 powers in units of 2^-30."""
    powers = np.rint(np.exp(-x.scale * np.arange(256)) * 2.0**TABLE_BITS)
    return tuple(powers.astype(np.int64).tolist())


def reciprocal(y: Quant) -> tuple[int, int]:
    """K and s: the output's inverse scale as a 62-bit mantissa, and the shift that undoes it."""
    mantissa, exponent = math.frexp(1.0 / y.scale)
    if exponent < 0:
        return 0, 1
    return int(mantissa * 2.0**RECIPROCAL_BITS), RECIPROCAL_BITS - exponent
