"""FloatAveragePool2D and FloatGlobalAveragePool: means of real numbers over a sliding window, and over the whole map.

x: f32[N, H, W, C] -> y: f32[N, H', W', C] or [N, 1, 1, C].

    acc = 0, then acc + x for each row and column of the window, in this order; a tap in the padding is left out
    y   = acc / count, rounded once, held within low .. high; NaN stays

`count` are the taps inside the map and its counted padding; H * W for the global pool.
Source: onnx/docs/Operators.md, AveragePool and GlobalAveragePool.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from codegen.ir.op import ACCUMULATE, Limit, Op, RowRule
from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.shape import Shape, Span, Window
from codegen.ops.answers import (
    Types,
    clamped_bounds,
    never_in_place,
    no_macs,
    window_rows,
    window_work,
    windowed_columns,
)
from codegen.ops.float32.functions import clip
from codegen.ops.float32.sums import reaches
from codegen.ops.float32.types import require_real
from codegen.ops.limits import batch_one, feature_map, limit
from codegen.ops.windows import out_shape, says_windows
from codegen.records import record

Counted = tuple[int, int]
"""How many places of the padding count, before and after an axis."""


@record
class FloatAveragePool2D:
    """Mean over rows and columns of a window."""

    h: Window
    w: Window
    counted_h: Counted = (0, 0)
    counted_w: Counted = (0, 0)
    low: float = -math.inf
    high: float = math.inf

    channelwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-FLOATPOOL-01"),
        limit(
            "LAM-OPS-FLOATPOOL-02",
            "every window must touch the input, or padding that counts",
            lambda op, ins: all(min(counts) > 0 for counts in op.counts(ins[0].shape)),
        ),
    )

    said = says_windows("Mean")

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require_real(self, ins)
        x = feature_map(self, ins)
        return (TensorType(out_shape(self, x, self.h, self.w, x.shape[3]), DType.F32),)

    def counts(self, x: Shape) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Taps that count in each output row, and in each output column."""
        return _counts(self.h, x[1], self.counted_h), _counts(self.w, x[2], self.counted_w)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        rows, columns = (np.array(n, np.float32) for n in self.counts(x.shape))
        acc = np.zeros((len(x), len(rows), len(columns), x.shape[3]), np.float32)
        with np.errstate(all="ignore"):
            for _, served, read in reaches((self.h, self.w), acc.shape[1:3], x.shape[1:3]):
                acc[(slice(None), *served)] += x[(slice(None), *read)]
            y = acc / (rows[:, None] * columns)[..., None]
            return (clip(y, np.float32(self.low), np.float32(self.high)),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """A sliding window of rows; those in the padding are absent."""
        return window_rows(self.h, None)

    macs = no_macs
    in_place = never_in_place
    clamped = clamped_bounds
    work = window_work

    def column_tile(self, start: int, stop: int, x: TensorType) -> tuple[Op, Span]:
        """With the padding that counts where the border is."""
        before, after = self.counted_w
        _, read = windowed_columns(self, start, stop, x)
        counted = (before if read.start == 0 else 0, after if read.stop == x.shape[2] else 0)
        return windowed_columns(replace(self, counted_w=counted), start, stop, x)


@record
class FloatGlobalAveragePool:
    """Mean over all rows and columns."""

    low: float = -math.inf
    high: float = math.inf

    channelwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (batch_one("LAM-OPS-FLOATPOOL-03"),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require_real(self, ins)
        x = feature_map(self, ins)
        return (replace(x, shape=(x.shape[0], 1, 1, x.shape[3])),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        n, h, w, c = ins[0].shape
        acc = np.zeros((n, 1, 1, c), np.float32)
        with np.errstate(all="ignore"):
            for pixel in np.moveaxis(ins[0].reshape(n, h * w, 1, 1, c), 1, 0):
                acc += pixel
            return (clip(acc / np.float32(h * w), np.float32(self.low), np.float32(self.high)),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """All rows, one after another."""
        return ACCUMULATE

    macs = no_macs
    in_place = never_in_place
    clamped = clamped_bounds


def _counts(window: Window, length: int, counted: Counted) -> tuple[int, ...]:
    """For each output place, the taps from `counted[0]` before the input to `counted[1]` behind it."""
    first = np.arange(window.out_len(length))[:, None] * window.stride - window.pad_before
    at = first + np.arange(window.size) * window.dilation
    return tuple(int(n) for n in ((at >= -counted[0]) & (at < length + counted[1])).sum(axis=1))
