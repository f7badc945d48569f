"""PRelu: x where it is not negative, else x times a slope, broadcast as numpy does.

x: s8, u8 or s16, slope: s8, u8 or s16 -> y: s8, u8 or s16.  One definition, TFLite's, which itself has 8 bits only:

    q = x - zx;  y = clamp(zy + (q scaled by float64(sx) / float64(sy))                            for q >= 0
                               (q * (slope - zs) scaled by float64(sx) * float64(ss) / float64(sy)) else
    each by MultiplyByQuantizedMultiplier: two roundings

Source: tensorflow/lite/micro/kernels/prelu.cc and prelu_common.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, broadcast_rows, in_place_when_equal, no_macs
from codegen.ops.limits import EIGHT_BIT, broadcast_type, limit, types_among
from codegen.records import record

Scaling = tuple[int, int]


@record
class PRelu:
    """A leaky rectifier whose slope is a tensor."""

    x: Quant
    slope: Quant
    y_quant: Quant
    y_dtype: DType

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ELEMENTWISE-15", 0, "the input", (*EIGHT_BIT, DType.S16)),
        types_among("LAM-OPS-ELEMENTWISE-16", 1, "the slope", (*EIGHT_BIT, DType.S16)),
        limit(
            "LAM-OPS-ELEMENTWISE-18",
            "the output's scale must be at least 2^-14 of the input's, 2^-6 of a 16-bit input's, also times an 8-bit "
            "slope's scale",
            lambda op, ins: (
                op.x.scale * max(1.0, op.slope.scale * _steps(ins[1])) * _steps(ins[0]) < 2.0**14 * op.y_quant.scale
            ),
        ),
        limit(
            "LAM-OPS-ELEMENTWISE-21",
            "a 16-bit slope of a 16-bit input must have a zero point of 0",
            lambda op, ins: op.slope.zero_point == 0 or {ins[0].dtype, ins[1].dtype} != {DType.S16},
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (broadcast_type(self, ins, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        q, slope = (a.astype(np.int64) - z.zero_point for a, z in zip(ins, (self.x, self.slope), strict=True))
        positive, negative = prelu_scalings(self)
        end = (self.y_quant.zero_point, self.y_dtype.low, self.y_dtype.high)
        # each side keeps out of the other's range, which a left shift might leave
        above = fixedpoint.requantize_tflite(np.maximum(q, 0), *positive, *end)
        below = fixedpoint.requantize_tflite(np.minimum(q, 0) * slope, *negative, *end)
        return (np.where(q >= 0, above, below).astype(self.y_dtype.numpy),)

    rows = broadcast_rows
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout


def _steps(kind: TensorType) -> float:
    """How many times the numbers of 8 bits a type has."""
    return 2.0 ** (8 * kind.dtype.bytes - 8)


def prelu_scalings(op: PRelu) -> tuple[Scaling, Scaling]:
    """Multiplier and exponent for numbers that are not negative, and for negative ones."""
    factors = (op.x.scale / op.y_quant.scale, op.x.scale * op.slope.scale / op.y_quant.scale)
    pairs = [fixedpoint.quantize_multiplier_tflite(factor) for factor in factors]
    positive, negative = ((int(multiplier), int(exponent)) for multiplier, exponent in pairs)
    return positive, negative
