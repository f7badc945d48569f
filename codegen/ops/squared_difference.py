"""SquaredDifference: (a - b)^2, broadcast as numpy does.

a, b: s8 or s16 -> y of the same type.  One definition, TFLite's, with l = 7 for s8 and 0 for s16:

    a' = (a - za) * 2^l scaled by float64(sa) / (2 * max scale), b' alike        two roundings each
    y  = clamp(zy + (a' - b')^2 scaled by (2 * max scale)^2 / (2^(2 l) * sy))    two roundings

Source: tensorflow/lite/micro/kernels/squared_difference.cc, tensorflow/lite/kernels/squared_difference.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, broadcast_rows, clamped_bounds, in_place_when_equal, no_macs
from codegen.ops.limits import broadcast_type, limit, types_among
from codegen.records import record

Scaling = tuple[int, int]
_SIGNED = (DType.S8, DType.S16)


@record
class SquaredDifference:
    """The square of a difference."""

    a: Quant
    b: Quant
    y_quant: Quant
    y_dtype: DType
    low: int
    high: int

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ELEMENTWISE-12", 0, "the first input", _SIGNED),
        limit(
            "LAM-OPS-ELEMENTWISE-13",
            "the inputs and the output must have one type",
            lambda op, ins: ins[0].dtype is ins[1].dtype is op.y_dtype,
        ),
        limit(
            "LAM-OPS-ELEMENTWISE-14",
            "the output's scale must not be so small that the square leaves 32 bits",
            lambda op, ins: _factors(op)[2] < 1.0,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (broadcast_type(self, ins, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        scale_a, scale_b, scale_y = squared_scalings(self)
        shift = left_shift(self.y_dtype)
        difference = _scaled(ins[0], self.a, shift, scale_a) - _scaled(ins[1], self.b, shift, scale_b)
        y = fixedpoint.requantize_tflite(difference**2, *scale_y, self.y_quant.zero_point, self.low, self.high)
        return (y.astype(self.y_dtype.numpy),)

    rows = broadcast_rows
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
    clamped = clamped_bounds


def left_shift(dtype: DType) -> int:
    """L: bits that the inputs gain before they are scaled."""
    return 0 if dtype is DType.S16 else 7


def squared_scalings(op: SquaredDifference) -> tuple[Scaling, Scaling, Scaling]:
    """Multiplier and exponent of a, b and the output."""
    pairs = [fixedpoint.quantize_multiplier_tflite(factor) for factor in _factors(op)]
    first, second, third = ((int(multiplier), int(exponent)) for multiplier, exponent in pairs)
    return first, second, third


def _factors(op: SquaredDifference) -> tuple[float, float, float]:
    twice = 2.0 * max(op.a.scale, op.b.scale)
    last = twice * twice / ((1 << (2 * left_shift(op.y_dtype))) * op.y_quant.scale)
    return op.a.scale / twice, op.b.scale / twice, last


def _scaled(q: Array, x: Quant, shift: int, scaling: Scaling) -> npt.NDArray[np.int64]:
    bounds = (fixedpoint.INT32_MIN, fixedpoint.INT32_MAX)
    return fixedpoint.requantize_tflite((q.astype(np.int64) - x.zero_point) << shift, *scaling, 0, *bounds)
