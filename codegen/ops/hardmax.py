"""Hardmax: which number of the last axis is the largest.

x: s8, u8 or s16[..., C] -> y: s8, u8 or s16[..., C]: `chosen` at the first largest number of each row, `other`
elsewhere: the integers that mean one and zero.  Source: ONNX Hardmax-13.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, in_place_when_equal, last_axis_stays, no_macs, same_row
from codegen.ops.limits import EIGHT_BIT, along_last_axis, require, types_among
from codegen.records import record


@record
class Hardmax:
    """One integer for the largest number of each row, another one for the rest."""

    chosen: int
    other: int
    y_quant: Quant
    y_dtype: DType

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-REDUCTION-15", 0, "the input", (*EIGHT_BIT, DType.S16)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        kind = along_last_axis(self, ins, self.y_dtype, self.y_quant)
        for number in (self.chosen, self.other):
            require(kind.dtype.low <= number <= kind.dtype.high, self, f"{number} in {kind.dtype.value}")
        return (kind,)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        largest = np.arange(x.shape[-1]) == np.argmax(x, axis=-1, keepdims=True)
        return (np.where(largest, self.chosen, self.other).astype(self.y_dtype.numpy),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = last_axis_stays
