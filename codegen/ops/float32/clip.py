"""FloatClip: each number held within bounds.

x: f32 -> y: f32 = least where x < least, then most where that is above it; NaN stays.  Source: ONNX Clip-13.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit, Op
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, any_layout, in_place_when_equal, no_macs, same_row
from codegen.ops.float32.functions import clip
from codegen.ops.limits import only_input, require
from codegen.records import record


@record
class FloatClip:
    """Bounds, one of which may be infinite."""

    least: float
    most: float

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(x.dtype is DType.F32, self, f"takes f32, got {x.dtype.value}")
        bounded = np.isfinite(self.least) or np.isfinite(self.most)
        require(bool(bounded), self, f"{self.least} and {self.most} bound nothing")
        return (TensorType(x.shape, DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (clip(ins[0], np.float32(self.least), np.float32(self.most)),)

    def clamped(self, low: float, high: float) -> Op:
        """Bounds of bounds."""
        held = (min(max(bound, low), high) for bound in (self.least, self.most))
        return FloatClip(*held)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
