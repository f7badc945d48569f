"""Select: each element from one tensor or the other, as a flag says.

flag: u8, 0 or not; a, b: one type, all of one shape -> y: their type.

    y = flag != 0 ? a : b          the numbers as they are

Source: tensorflow/lite/kernels/internal/reference/select.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, same_row
from codegen.ops.limits import limit, require, types_among
from codegen.records import record


@record
class Select:
    """Elements of one tensor where a flag is set, of another one elsewhere."""

    y_quant: Quant | None

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-LOGIC-03", 0, "the flags", (DType.U8,)),
        limit("LAM-OPS-LOGIC-04", "both choices must have one type", lambda op, ins: ins[1].dtype is ins[2].dtype),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 3, self, f"takes flags and two tensors, got {len(ins)} inputs")
        shapes = [list(t.shape) for t in ins]
        require(shapes[0] == shapes[1] == shapes[2], self, f"shapes {shapes} differ")
        return (TensorType(ins[1].shape, ins[1].dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        flag, a, b = ins
        return (np.where(flag != 0, a, b),)

    rows = same_row
    macs = no_macs
    in_place = never_in_place
