"""CumulativeSum: element i of an axis is the sum of elements 0 .. i.

x: s8 -> y: s8 of the same shape.  One definition, TFLite's:

    t[i] = 2^19 * (-zx + sum of (x[j] - zx) over j <= i), in 32 bits that wrap        j < i when `exclusive`
    y[i] = clamp(zy + t[i] scaled by 2 * sx / (2^20 * sy))                            two roundings

With `reverse` the axis is walked from its end.  The sum starts at -zx, not at 0: so do TFLite's kernels.
Source: tensorflow/lite/micro/kernels/cumsum.cc, tensorflow/lite/kernels/internal/reference/cumsum.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, clamped_bounds, moved_axis, never_in_place, no_macs, whole
from codegen.ops.limits import limit, only_input, require
from codegen.records import record

LEFT = 19
"""Bits that a sum gains before it is scaled."""


@record
class CumulativeSum:
    """Sums of the elements so far along an axis."""

    axis: int
    x: Quant
    y_quant: Quant
    low: int
    high: int
    exclusive: bool = False
    reverse: bool = False

    limits: ClassVar[tuple[Limit, ...]] = (
        limit(
            "LAM-OPS-REDUCTION-01",
            "the input must be s8, and its scale below 2^19 times the output's",
            lambda op, ins: ins[0].dtype is DType.S8 and _factor(op) < 1.0,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(0 <= self.axis < len(x.shape), self, f"{list(x.shape)} has no axis {self.axis}")
        return (TensorType(x.shape, DType.S8, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        steps = ins[0].astype(np.int64) - self.x.zero_point
        steps = np.flip(steps, self.axis) if self.reverse else steps
        total = np.cumsum(steps, self.axis) - (steps if self.exclusive else 0) - self.x.zero_point
        total = np.flip(total, self.axis) if self.reverse else total
        wrapped = (total << LEFT).astype(np.int32).astype(np.int64)
        y = fixedpoint.requantize_tflite(wrapped, *self.scaling(), self.y_quant.zero_point, self.low, self.high)
        return (y.astype(np.int8),)

    def scaling(self) -> tuple[int, int]:
        """Multiplier and exponent of a sum."""
        multiplier, exponent = fixedpoint.quantize_multiplier_tflite(_factor(self))
        return int(multiplier), int(exponent)

    rows = whole
    macs = no_macs
    in_place = never_in_place
    in_layout = moved_axis
    clamped = clamped_bounds


def _factor(op: CumulativeSum) -> float:
    return 2.0 * op.x.scale / ((1 << (LEFT + 1)) * op.y_quant.scale)
