"""Lut: an 8-bit function of one variable as a table of 256 entries.

    y = table[q - lowest value of x's type]

The table is the function, in every mode; ops/unary.py builds it and states how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit, Op
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import EIGHT_BIT, only_input, require, types_among
from codegen.ops.unary import requantize_table, unary_table
from codegen.records import record

__all__ = ["Lut", "look_up", "requantize_table", "unary_table"]


@record
class Lut:
    """A unary function; `what` is its name in reports."""

    table: tuple[int, ...]
    y_dtype: DType
    y_quant: Quant | None
    what: str

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (types_among("LAM-OPS-ACTIVATION-01", 0, "the input", EIGHT_BIT),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(len(self.table) == 256, self, f"the table must have 256 entries, got {len(self.table)}")
        return (TensorType(x.shape, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (look_up(self.table, ins[0], self.y_dtype),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout

    def clamped(self, low: int, high: int) -> Op:
        """Its table held in the bounds."""
        return replace(self, table=tuple(min(max(q, low), high) for q in self.table))


def look_up(table: Sequence[int], x: Array, dtype: DType) -> Array:
    """Each element's entry of a 256-entry table whose first one belongs to the lowest value of x's type."""
    entries = np.roll(np.array(table, dtype.numpy), DType.of(x).low)
    return np.asarray(entries[x.view(np.uint8)])
