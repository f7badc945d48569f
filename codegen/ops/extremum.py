"""Extremum: the larger or the smaller of two tensors, broadcast as numpy does.

a, b, y: one integer type.

    y = max(a, b) or min(a, b), of the integers as they are

Both inputs and the output are meant to share a scale and a zero point; where they do not, TFLite compares the integers
all the same.  Source: tensorflow/lite/kernels/internal/reference/maximum_minimum.h; ONNX Max and Min of equal scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, broadcast_rows, in_place_when_equal, no_macs
from codegen.ops.limits import broadcast_type, limit, types_among
from codegen.records import record

_TYPES = (DType.S8, DType.U8, DType.S16, DType.S32)


@record
class Extremum:
    """The larger of two numbers when `largest`, else the smaller one."""

    largest: bool
    y_quant: Quant | None

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ELEMENTWISE-10", 0, "the first input", _TYPES),
        limit("LAM-OPS-ELEMENTWISE-11", "the inputs must have one type", lambda op, ins: ins[0].dtype is ins[1].dtype),
    )

    @property
    def said(self) -> str:
        """What it computes."""
        return f"The {'larger' if self.largest else 'smaller'} of two numbers"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (broadcast_type(self, ins, ins[0].dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return ((np.maximum if self.largest else np.minimum)(ins[0], ins[1]),)

    rows = broadcast_rows
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
