"""AveragePool2D and GlobalAveragePool: means over a sliding window, and over the whole map.

x: s8, u8 or s16[N, H, W, C] -> y: s8, u8 or s16, [N, H', W', C] or [N, 1, 1, C].

    acc   = sum of (x - zx) over the taps inside the input                             exact in int32
    count = taps inside the input; every tap of the window with `include_pad`; H * W for the global pool
    y     = acc requantized by sx / (sy * count), written out for each mode in ops/average.py

In mode `tflite`, when input and output have the same scale and zero point, TFLite's AVERAGE_POOL_2D applies to both:
q = sum of x, plus count / 2 when positive, else minus it; y = clamp(q / count truncated) - halves away from zero, with
zx in the sum.  There padded taps with `include_pad` hold zx.  A global pool `as_mean` is requantized instead.
Sources: onnx/docs/Operators.md; TFLite reference/integer_ops/pooling.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import ClassVar

import numpy as np

from codegen.ir.op import ACCUMULATE, Limit, RowRule
from codegen.ir.quant import Array, DType, Mode, Quant, TensorType
from codegen.ir.shape import Shape, Window
from codegen.ops.answers import (
    Types,
    clamped_bounds,
    itself,
    never_in_place,
    no_macs,
    turned_windows,
    window_rows,
    window_work,
    windowed_columns,
)
from codegen.ops.average import Averaging, averaged, mean
from codegen.ops.limits import EIGHT_BIT, batch_one, feature_map, limit, types_among
from codegen.ops.windows import out_shape, pad_map, says_windows, taps, valid_taps
from codegen.records import record

_TYPES = (*EIGHT_BIT, DType.S16)


@record
class AveragePool2D:
    """Mean over rows and columns of a window."""

    h: Window
    w: Window
    include_pad: bool
    x_quant: Quant
    y_quant: Quant
    y_dtype: DType
    low: int
    high: int
    mode: Mode

    channelwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-POOL-03"),
        types_among("LAM-OPS-POOL-04", 0, "the input", _TYPES),
        limit(
            "LAM-OPS-POOL-05",
            "every window must touch the input",
            lambda op, ins: tap_counts(op.h, op.w, ins[0].shape, include_pad=False).min() > 0,
        ),
        limit(
            "LAM-OPS-POOL-06",
            "a window must be below 2^22 taps, 2^15 of 16-bit numbers",
            lambda op, ins: op.h.size * op.w.size < _most(ins),
        ),
    )

    said = says_windows("Mean")

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = feature_map(self, ins)
        return (TensorType(out_shape(self, x, self.h, self.w, x.shape[3]), self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x = ins[0]
        padded = pad_map(x.astype(np.int32) - self.x_quant.zero_point, self.h, self.w, 0)
        by_rows = reduce(np.add, taps(padded, self.h, 1))
        acc = reduce(np.add, taps(by_rows, self.w, 2))
        counts = tap_counts(self.h, self.w, x.shape, self.include_pad)
        how = Averaging(self.x_quant, self.y_quant, self.y_dtype, self.low, self.high, self.mode)
        y = np.empty(acc.shape, self.y_dtype.numpy)
        for count in np.unique(counts).tolist():
            y[:, counts == count] = mean(how, acc[:, counts == count], count)
        return (y,)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """A sliding window of rows; padding holds the zero point, or is absent when it does not count."""
        return window_rows(self.h, self.x_quant.zero_point if self.include_pad else None)

    macs = no_macs
    in_place = never_in_place
    clamped = clamped_bounds
    turned = turned_windows
    column_tile = windowed_columns
    work = window_work


@record
class GlobalAveragePool:
    """Mean over all rows and columns; in mode `tflite` perhaps `as_mean`, TFLite's own MEAN."""

    x_quant: Quant
    y_quant: Quant
    y_dtype: DType
    low: int
    high: int
    mode: Mode
    as_mean: bool = False

    channelwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-POOL-07"),
        types_among("LAM-OPS-POOL-08", 0, "the input", _TYPES),
        limit(
            "LAM-OPS-POOL-09",
            "the map must have fewer than 2^22 pixels, 2^15 of 16-bit numbers",
            lambda op, ins: ins[0].shape[1] * ins[0].shape[2] < _most(ins),
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        n, _, _, c = feature_map(self, ins).shape
        return (TensorType((n, 1, 1, c), self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        _, h, w, _ = ins[0].shape
        acc = (ins[0].astype(np.int32) - self.x_quant.zero_point).sum(axis=(1, 2), keepdims=True)
        how = Averaging(self.x_quant, self.y_quant, self.y_dtype, self.low, self.high, self.mode, self.as_mean)
        return (averaged(how, acc, h * w) if self.as_mean else mean(how, acc, h * w),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """All rows, one after another."""
        return ACCUMULATE

    macs = no_macs
    in_place = never_in_place
    clamped = clamped_bounds
    turned = itself


def _most(ins: Types) -> int:
    """Numbers whose sum fits 32 bits, whatever they are."""
    return 1 << (15 if ins[0].dtype is DType.S16 else 22)


def tap_counts(h: Window, w: Window, x: Shape, include_pad: bool) -> Array:
    """What each output position [H', W'] divides by, for an input of shape x."""
    _, height, width, _ = x
    if include_pad:
        return np.full((h.out_len(height), w.out_len(width)), h.size * w.size)
    return np.asarray(valid_taps(h, height)[:, None] * valid_taps(w, width)[None, :])
