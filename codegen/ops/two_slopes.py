"""TwoSlopes: a change of scale with one factor above the zero point and another one below.

x: s8, u8, s16 or s32 -> y: s8, u8, s16 or s32.  q = x - zx.

    y = clamp(zy + MultiplyByQuantizedMultiplier(q, M, e))       for q >= 0: two roundings
    y = clamp(zy + MultiplyByQuantizedMultiplier(r, M', e'))     else, r = -q when `mirrored`, or q

TFLite's QUANTIZE between integers, RELU, LEAKY_RELU and ABS, where no table serves: 16-bit and wider inputs.
Source: tensorflow/lite/kernels/internal/reference/requantize.h, leaky_relu.h; micro/kernels/elementwise.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, clamped_bounds, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import limit, only_input, types_among
from codegen.records import record


@record
class TwoSlopes:
    """A factor above the zero point, and a factor below; `mirrored` takes the size of numbers below."""

    x_zero_point: int
    above: tuple[int, int]
    below: tuple[int, int]
    mirrored: bool
    low: int
    high: int
    y_dtype: DType
    y_quant: Quant

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ACTIVATION-05", 0, "the input", (DType.S8, DType.U8, DType.S16, DType.S32)),
        limit(
            "LAM-OPS-ACTIVATION-06",
            "the factor must not be so large that a number leaves 32 bits",
            lambda op, ins: _stays_in_32_bits(op, ins[0].dtype),
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (TensorType(only_input(self, ins).shape, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        q = ins[0].astype(np.int64) - self.x_zero_point
        end = (self.y_quant.zero_point, self.low, self.high)
        above = fixedpoint.requantize_tflite(np.maximum(q, 0), *self.above, *end)
        below = fixedpoint.requantize_tflite(
            -np.minimum(q, 0) if self.mirrored else np.minimum(q, 0), *self.below, *end
        )
        return (np.where(q >= 0, above, below).astype(self.y_dtype.numpy),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
    clamped = clamped_bounds


def slope(factor: float) -> tuple[int, int]:
    """Multiplier and exponent of a factor, two roundings."""
    multiplier, exponent = fixedpoint.quantize_multiplier_tflite(factor)
    return int(multiplier), int(exponent)


def _stays_in_32_bits(op: TwoSlopes, dtype: DType) -> bool:
    """Whether the least and the greatest q fit, and still do behind the left shift of their factor."""
    least, most = dtype.low - op.x_zero_point, dtype.high - op.x_zero_point
    below = -least if op.mirrored else least
    ends = (least, most, below << max(op.below[1], 0), most << max(op.above[1], 0))
    return min(ends) >= fixedpoint.INT32_MIN and max(ends) <= fixedpoint.INT32_MAX
