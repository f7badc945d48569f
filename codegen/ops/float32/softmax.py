"""FloatSoftmax and FloatNormalize: numbers brought to a common size along an axis.

Softmax, along `axis`:

    below = x - the maximum, e = exp(below), total = sum of e from first to last, from 0
    y = e / total, or with `log` below - log(total)

Normalize, along the last axis, sums from first to last, from 0:

    away = x - (sum of x) / count;  y = away / sqrt((sum of away * away) / count + epsilon)

Without `centred` away is x itself.  Source: onnx/docs/Operators.md.  exp and log are those of codegen/float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.float32 import FUNCTIONS
from codegen.ir.op import SAME_ROW, WHOLE, Limit, RowRule
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import (
    Types,
    in_place_when_equal,
    last_axis_stays,
    moved_axis,
    no_macs,
    same_row,
)
from codegen.ops.float32.reduce import FloatReduce
from codegen.ops.limits import infer_f32, only_input, require
from codegen.records import record


@record
class FloatSoftmax:
    """Shares along an axis, or their logarithms."""

    axis: int
    log: bool = False

    limits: ClassVar[tuple[Limit, ...]] = ()

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        with np.errstate(all="ignore"):
            below = x - _reduced("maximum", x, self.axis)
            powers = FUNCTIONS["exp"](below)
            total = _reduced("sum", powers, self.axis)
            return (np.asarray(below - FUNCTIONS["log"](total) if self.log else powers / total, np.float32),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Row by row along pixels or channels."""
        return SAME_ROW if self.axis >= len(ins[0].shape) - 2 else WHOLE

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """Along the last axis, one after another; along another one a column's results would meet the next column."""
        return self.axis == len(ins[0].shape) - 1

    infer = infer_f32
    macs = no_macs
    in_layout = moved_axis


@record
class FloatNormalize:
    """Numbers of mean 0, where `centred`, and of variance 1 along the last axis."""

    epsilon: float
    centred: bool = True

    limits: ClassVar[tuple[Limit, ...]] = ()

    @property
    def said(self) -> str:
        """What it computes."""
        return f"Numbers of {'mean 0 and ' if self.centred else ''}variance 1 along the last axis"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(x.dtype is DType.F32, self, f"takes f32, got {x.dtype.value}")
        require(len(x.shape) >= 1, self, "takes a tensor of one axis or more")
        return (TensorType(x.shape, DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        axis, count = x.ndim - 1, np.float32(x.shape[-1])
        with np.errstate(all="ignore"):
            away = x - _reduced("mean", x, axis) if self.centred else x
            variance = _reduced("squares", away, axis) / count
            return (np.asarray(away / np.sqrt(variance + np.float32(self.epsilon)), np.float32),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = last_axis_stays


def _reduced(name: str, x: Array, axis: int) -> Array:
    return FloatReduce(name, (axis,)).golden([x])[0]  # type: ignore[arg-type]
