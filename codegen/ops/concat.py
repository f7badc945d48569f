"""Concat: tensors side by side along one axis, each brought to the output's scale.

x0, x1, ...: one type, equal shapes but for `axis` -> y.

    y = the inputs in order; element q of input i is table_i[q - lowest value of its type], or q where the table is None

16-bit inputs are brought to the output's scale by an operator of their own before it.  The tables are built by
ops/unary.py: requantize_table, and state the rounding for each mode.  In `tflite` mode that is TFLite's Requantize
before a Concatenation of equal scales.  Source: onnx/docs/Operators.md, Concat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import SAME_ROW, Limit, RowRule
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, moved_axis, no_macs, row_numbers, row_rule
from codegen.ops.limits import EIGHT_BIT, limit, require
from codegen.ops.lut import look_up
from codegen.records import record


@record
class Concat:
    """Tensors joined along `axis`; one table or None per input.

    `over`: columns or channels are joined to those of the first input, whose rows are moved to where they lie then.
    """

    axis: int
    tables: tuple[tuple[int, ...] | None, ...]
    y_dtype: DType
    y_quant: Quant | None
    over: bool = False

    limits: ClassVar[tuple[Limit, ...]] = (
        limit(
            "LAM-OPS-MOVEMENT-01",
            "inputs whose scale or zero point differs from the output's must be s8 or u8",
            lambda op, ins: all(t is None or x.dtype in EIGHT_BIT for t, x in zip(op.tables, ins, strict=True)),
        ),
    )

    @property
    def said(self) -> str:
        """What it computes."""
        return f"Tensors joined along axis {self.axis}"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == len(self.tables) > 0, self, f"has {len(self.tables)} tables for {len(ins)} inputs")
        first = ins[0].shape
        require(0 <= self.axis < len(first), self, f"{list(first)} has no axis {self.axis}")
        for x, table in zip(ins, self.tables, strict=True):
            others = x.shape[: self.axis] + x.shape[self.axis + 1 :]
            fits = len(x.shape) == len(first) and others == first[: self.axis] + first[self.axis + 1 :]
            require(fits, self, f"{list(x.shape)} and {list(first)} differ beyond axis {self.axis}")
            copied = table is not None or x.dtype is self.y_dtype
            require(copied, self, f"{x.dtype.value} cannot be copied into {self.y_dtype.value}")
        length = sum(x.shape[self.axis] for x in ins)
        return (TensorType((*first[: self.axis], length, *first[self.axis + 1 :]), self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        parts = [x if t is None else look_up(t, x, self.y_dtype) for x, t in zip(ins, self.tables, strict=True)]
        return (np.concatenate(parts, axis=self.axis),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Row by row.  Where rows themselves are joined, an output row is one input's; in the others it is absent."""
        y = outs[0].shape
        if self.axis >= len(y) - 2:
            return SAME_ROW
        parts = [np.full(x.shape[:-2], -1) for x in ins]
        parts[index] = row_numbers(ins[index].shape)
        return row_rule(np.concatenate(parts, axis=self.axis).ravel().tolist())

    macs = no_macs
    in_layout = moved_axis

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """A row of the first input may be moved as it is read, if that is said."""
        return self.over and index == 0 and self.tables[0] is None and self.axis >= len(outs[0].shape) - 2
