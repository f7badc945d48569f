"""Answers that many operators share: row rules, costs and in-place claims, as plain functions.

Assigned in a class body (`rows = same_row`), such a function is that operator's method.  Decides nothing that an
operator's file does not name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.ir.op import SAME_ROW, WHOLE, RowRule
from codegen.ir.quant import Array, TensorType
from codegen.ir.shape import Shape, Window, row_count

Types = Sequence[TensorType]


def no_macs(op: object, ins: Types, outs: Types) -> int:
    """Nothing is multiplied and accumulated."""
    return 0


def never_in_place(op: object, index: int, ins: Types, outs: Types) -> bool:
    """The output may not take the input's memory."""
    return False


def in_place_when_equal(op: object, index: int, ins: Types, outs: Types) -> bool:
    """Element i of the output depends on element i of the input alone, and both have one size."""
    x, y = ins[index], outs[0]
    return x.elements == y.elements and x.dtype.bytes == y.dtype.bytes


def same_row(op: object, index: int, ins: Types, outs: Types) -> RowRule:
    """Output row r reads input row r."""
    return SAME_ROW


def whole(op: object, index: int, ins: Types, outs: Types) -> RowRule:
    """Every output row reads the whole input."""
    return WHOLE


def broadcast_rows(op: object, index: int, ins: Types, outs: Types) -> RowRule:
    """Output row r reads the input row that numpy's broadcasting puts there."""
    x, y = ins[index].shape, outs[0].shape
    lead_in, lead_out = x[:-2], y[:-2]
    rows = np.arange(row_count(x)).reshape(lead_in)
    return row_rule(np.broadcast_to(rows, lead_out).ravel().tolist())


def window_rows(window: Window, fill: int | None) -> RowRule:
    """The rows of a sliding window; rows in the padding hold `fill`, or are absent when it is None."""
    return RowRule(window.size, window.stride, 1, window.pad_before, window.dilation, fill)


def row_rule(table: Sequence[int]) -> RowRule:
    """The shortest rule by which output row r reads the one input row `table[r]`."""
    rows = tuple(table)
    runs = next((i for i, row in enumerate(rows) if row != rows[0]), 1)
    step = rows[1] - rows[0] if len(rows) > 1 else 1
    for rule in (SAME_ROW, RowRule(mul=max(step, 1), pad=-rows[0]), RowRule(div=runs)):
        if all(rule.first(r) == row for r, row in enumerate(rows)):
            return rule
    return RowRule(table=rows)


def row_numbers(x: Shape) -> Array:
    """The number of each row, in the shape of the leading axes."""
    return np.arange(row_count(x), dtype=np.int64).reshape(x[:-2])
