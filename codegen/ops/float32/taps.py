"""FloatTaps: each place of an axis is a weighted sum of a few elements along it.

x: f32 -> y: f32, y[.., p, ..] = sum over t of x[.., places[p][t], ..] * weights[p][t]

The first product begins the sum, the others are added in order, each rounded before.  Resize by interpolation is one
of these for each axis.  Of x: s32 weights are whole numbers and y is s32, exactly; what does not fit wraps around.
Source: onnx/docs/Operators.md, Resize.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from codegen.ir.op import SAME_ROW, WHOLE, Limit, RowRule
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, moved_axis, never_in_place
from codegen.ops.limits import only_input, require
from codegen.records import record


@record
class FloatTaps:
    """Places and weights of each output, equally many."""

    axis: int
    places: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[float, ...], ...]

    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        plain = x.dtype is DType.F32 or (x.dtype is DType.S32 and x.quant is None)
        require(plain, self, f"takes f32 or plain s32, got {x.dtype.value}")
        require(0 <= self.axis < len(x.shape), self, f"{list(x.shape)} has no axis {self.axis}")
        at = np.array(self.places)
        fits = at.ndim == 2 and at.size > 0 and at.shape == np.array(self.weights).shape
        require(fits, self, "takes as many places as weights for each output")
        inside = at.min() >= 0 and at.max() < x.shape[self.axis]
        require(bool(inside), self, f"a place lies outside an axis of {x.shape[self.axis]}")
        return (replace(x, shape=(*x.shape[: self.axis], len(at), *x.shape[self.axis + 1 :])),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, at = np.moveaxis(ins[0], self.axis, -1), np.array(self.places)
        weights: Array = np.array(self.weights, ins[0].dtype)
        with np.errstate(all="ignore"):
            total: Array = x[..., at[:, 0]] * weights[:, 0]
            for tap in range(1, at.shape[1]):
                total = total + x[..., at[:, tap]] * weights[:, tap]
        return (np.ascontiguousarray(np.moveaxis(total, -1, self.axis)),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Row by row along pixels or channels."""
        return SAME_ROW if self.axis >= len(ins[0].shape) - 2 else WHOLE

    def macs(self, ins: Types, outs: Types) -> int:
        """One per tap."""
        return outs[0].elements * len(self.places[0])

    in_place = never_in_place
    in_layout = moved_axis
