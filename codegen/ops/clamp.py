"""Clamp: integers limited to low .. high, their meaning unchanged.

    y = min(max(x, low), high)

Relu and Clip between equal scales, in every mode.  Source: onnx/docs/Operators.md, Clip.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, any_layout, clamped_bounds, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import only_input, require, types_among
from codegen.records import record


@record
class Clamp:
    """Limited to low .. high, in quantized units."""

    low: int
    high: int

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ELEMENTWISE-09", 0, "the input", (DType.S8, DType.U8, DType.S16, DType.S32)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        fits = not x.dtype.is_float and x.dtype.low <= self.low <= self.high <= x.dtype.high
        require(fits, self, f"{self.low} .. {self.high} is not a range of {x.dtype.value}")
        return (x,)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        kind = ins[0].dtype.type
        return (np.clip(ins[0], kind(self.low), kind(self.high)),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
    clamped = clamped_bounds
