"""Triangle: each matrix of the last two axes, with one number beyond a diagonal.

x: s8, u8, s16 or s32[..., R, C] -> y of the same type: y[r, c] = x[r, c] where c - r >= offset (`upper`) or
c - r <= offset, else `value`, the integer that means zero.  Source: ONNX Trilu-14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import only_input, require, types_among


@dataclass(frozen=True, slots=True)
class Triangle:
    """The part of each matrix above the diagonal, or below it; the rest is `value`."""

    upper: bool
    offset: int
    value: int

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-MOVEMENT-04", 0, "the input", (DType.S8, DType.U8, DType.S16, DType.S32)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(len(x.shape) >= 2, self, f"a triangle of a tensor {list(x.shape)}")
        require(x.dtype.low <= self.value <= x.dtype.high, self, f"{self.value} in {x.dtype.value}")
        return (x,)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        beyond = np.arange(x.shape[-1]) - np.arange(x.shape[-2])[:, None] - self.offset
        return (np.where(beyond >= 0 if self.upper else beyond <= 0, x, x.dtype.type(self.value)),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
