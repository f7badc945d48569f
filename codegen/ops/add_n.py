"""AddN: the sum of any number of tensors of one scale.

x1, .., xn: s8, one shape, one scale and zero point -> y: s8.  One definition, TFLite's:

    y = clamp(zy + 2^19 * (sum of all (x - zx) - zx) scaled by 2 * sx / (2^20 * sy))    two roundings

The sum starts at -zx, not at 0: so do TFLite's kernels, and it shows where the zero point is not 0.
Source: tensorflow/lite/micro/kernels/add_n.cc, tensorflow/lite/kernels/internal/reference/add_n.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, clamped_bounds, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import limit, require
from codegen.records import record

MOST = 15
"""Inputs whose sum stays within 32 bits."""
LEFT = 19
"""Bits that a sum gains before it is scaled."""


@record
class AddN:
    """Sum of several tensors of one scale."""

    x: Quant
    y_quant: Quant
    low: int
    high: int

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        limit("LAM-OPS-REDUCTION-09", "all inputs must be s8", lambda op, ins: all(t.dtype is DType.S8 for t in ins)),
        limit("LAM-OPS-REDUCTION-10", f"there must be at most {MOST} inputs", lambda op, ins: len(ins) <= MOST),
        limit(
            "LAM-OPS-REDUCTION-11",
            "the inputs' scale must be below 2^19 times the output's",
            lambda op, ins: _factor(op) < 1.0,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) >= 1, self, "takes 1 input or more, got 0")
        shapes = [list(t.shape) for t in ins]
        require(all(shape == shapes[0] for shape in shapes), self, f"shapes {shapes} differ")
        return (TensorType(ins[0].shape, DType.S8, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        total = np.add.reduce([x.astype(np.int64) for x in ins]) + self.offset(len(ins))
        y = fixedpoint.requantize_tflite(total << LEFT, *self.scaling(), self.y_quant.zero_point, self.low, self.high)
        return (y.astype(np.int8),)

    def offset(self, count: int) -> int:
        """What the sum of `count` inputs' integers starts at."""
        return -(count + 1) * self.x.zero_point

    def scaling(self) -> tuple[int, int]:
        """Multiplier and exponent of the sum."""
        multiplier, exponent = fixedpoint.quantize_multiplier_tflite(_factor(self))
        return int(multiplier), int(exponent)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
    clamped = clamped_bounds


def _factor(op: AddN) -> float:
    return 2.0 * op.x.scale / ((1 << (LEFT + 1)) * op.y_quant.scale)
