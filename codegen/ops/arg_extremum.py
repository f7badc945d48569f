"""ArgExtremum: where the largest or the smallest number of the last axis stands.

x[..., C] -> y: s32[..., 1], the first of equal ones, or the last.

    y = argmax or argmin over the last axis of the numbers as they are; NaN counts as the largest (`order`)

Source: tensorflow/lite/kernels/internal/reference/arg_min_max.h; ONNX ArgMax and ArgMin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, last_axis_stays, never_in_place, no_macs, same_row
from codegen.ops.limits import only_input, require, types_among
from codegen.ops.order import order
from codegen.records import record


@record
class ArgExtremum:
    """Index of the largest number when `largest`, else of the smallest; of equal ones the `last` or the first."""

    largest: bool
    last: bool = False

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-REDUCTION-02", 0, "the input", (DType.F32, DType.S8, DType.U8, DType.S16, DType.S32)),
    )

    @property
    def said(self) -> str:
        """What it computes."""
        return f"Index of the {'largest' if self.largest else 'smallest'} number"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(len(x.shape) >= 1, self, "takes a tensor of one axis or more")
        return (TensorType((*x.shape[:-1], 1), DType.S32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x = order(ins[0])
        ordered = x[..., ::-1] if self.last else x
        found = (np.argmax if self.largest else np.argmin)(ordered, axis=-1, keepdims=True)
        return (np.asarray(x.shape[-1] - 1 - found if self.last else found).astype(np.int32),)

    rows = same_row
    macs = no_macs
    in_place = never_in_place
    in_layout = last_axis_stays
