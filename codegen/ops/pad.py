"""Pad: elements added around a tensor.

    y[i] = x[i - before] inside; outside `value` (constant), the nearest element (edge) or the mirrored one (reflect,
    the border itself not repeated)

`value` is in quantized units, or a real number.  Any element type; the meaning of the integers passes through.
Source: onnx/docs/Operators.md, Pad.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from codegen.ir.op import SAME_ROW, Limit, Op, RowRule
from codegen.ir.permutation import Perm, permute
from codegen.ir.quant import Array, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, row_numbers, row_rule
from codegen.ops.limits import only_input, require
from codegen.records import record


@record
class Pad:
    """Elements added before and after each axis."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    mode: Literal["constant", "edge", "reflect"]
    value: float

    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        fits = len(self.before) == len(self.after) == len(x.shape)
        require(fits, self, f"needs one pad before and after each axis of {list(x.shape)}")
        require(min((*self.before, *self.after), default=0) >= 0, self, "pads must not be negative")
        pads = zip(x.shape, self.before, self.after, strict=True)
        short = self.mode == "reflect" and any(max(b, a) >= n for n, b, a in pads)
        require(not short, self, "a reflected pad must be shorter than its axis")
        grown = zip(x.shape, self.before, self.after, strict=True)
        return (replace(x, shape=tuple(n + b + a for n, b, a in grown)),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (self._padded(ins[0], self.value),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """One input row per output row; rows outside hold `value`, or are rows of the input again."""
        x = ins[0].shape
        lead = len(x) - 2
        if lead <= 0:
            return SAME_ROW
        if self.mode != "constant":
            return row_rule(self._padded(row_numbers(x), 0).ravel().tolist())
        if all(n == 1 for n in outs[0].shape[: lead - 1]):
            return RowRule(pad=self.before[lead - 1], fill=self.value)
        return replace(row_rule(self._padded(row_numbers(x), -1).ravel().tolist()), fill=self.value)

    macs = no_macs
    in_place = never_in_place

    def _padded(self, x: Array, value: float) -> Array:
        """X with the pads of its first axes."""
        pads = list(zip(self.before, self.after, strict=True))[: x.ndim]
        if self.mode == "constant":
            return np.pad(x, pads, constant_values=value)
        return np.pad(x, pads, mode=self.mode)

    def in_layout(self, perm: Perm) -> Op:
        """Both ends in the order of the axes."""
        return replace(self, before=permute(self.before, perm), after=permute(self.after, perm))
