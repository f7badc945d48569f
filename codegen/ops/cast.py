"""Cast: the numbers in another type, as they are, or their bits.

x: f32, s32, s16, u8 or s8 -> y: one of these

    to f32             the nearest, halves to even
    from f32           towards zero, held in 32 bits, NaN becomes 0; then as from s32
    between integers   the low bits, in two's complement
    bits               the same bits, of f32 as s32 or of s32 as f32

Source: onnx/docs/Operators.md, Cast, which leaves open what does not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, any_layout, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import only_input, require
from codegen.records import record


@record
class Cast:
    """The numbers as `to`, or their `bits`."""

    to: DType
    bits: bool = False

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    @property
    def said(self) -> str:
        """What it computes."""
        return f"The numbers as {self.to.value}"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        words = (DType.F32, DType.S32)
        fits = not self.bits or (x.dtype in words and self.to in words)
        require(fits, self, f"takes bits of f32 or s32, got {x.dtype.value} as {self.to.value}")
        return (TensorType(x.shape, self.to),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        if self.bits:
            return (np.ascontiguousarray(x).view(self.to.numpy).reshape(x.shape),)
        if self.to is DType.F32 or x.dtype.kind != "f":
            return (x.astype(self.to.numpy),)
        held = np.clip(np.where(np.isnan(x), 0, x).astype(np.float64), DType.S32.low, DType.S32.high)
        return (np.trunc(held).astype(np.int32).astype(self.to.numpy),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
