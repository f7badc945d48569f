"""Triangle: each matrix of the last two axes, with one number beyond a diagonal.

x[..., R, C] -> y of the same type: y[r, c] = x[r, c] where c - r >= offset (`upper`) or
c - r <= offset, else `value`, which means zero.  Source: ONNX Trilu-14.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, TensorType
from codegen.ops.answers import Types, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import only_input, require
from codegen.records import record


@record
class Triangle:
    """The part of each matrix above the diagonal, or below it; the rest is `value`."""

    upper: bool
    offset: int
    value: int

    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(len(x.shape) >= 2, self, f"a triangle of a tensor {list(x.shape)}")
        held = self.value == 0 or (not x.dtype.is_float and x.dtype.low <= self.value <= x.dtype.high)
        require(held, self, f"{self.value} in {x.dtype.value}")
        return (x,)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        beyond = np.arange(x.shape[-1]) - np.arange(x.shape[-2])[:, None] - self.offset
        return (np.where(beyond >= 0 if self.upper else beyond <= 0, x, x.dtype.type(self.value)),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
