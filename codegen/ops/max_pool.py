"""MaxPool2D: the maximum over a sliding window.

x: s8, u8, s16 or f32[N, H, W, C] -> y of the same type and meaning, [N, H', W', C].

    y = max over the window's taps of x;  a padded tap holds the type's lowest value

All modes agree: the maximum commutes with the increasing map from integers to real numbers.  Of real numbers, y is
minus infinity, then each tap inside the map that is greater, in the order of rows: NaN is passed over.
Source: onnx/docs/Operators.md, MaxPool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit, Op, RowRule
from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.shape import Window
from codegen.ops.answers import (
    Consts,
    Types,
    never_in_place,
    no_macs,
    padded_windows,
    turned_windows,
    window_rows,
    window_work,
    windowed_columns,
)
from codegen.ops.float32.sums import reaches
from codegen.ops.limits import batch_one, feature_map, types_among
from codegen.ops.windows import out_shape, pad_map, says_windows, taps
from codegen.records import record


@record
class MaxPool2D:
    """Maximum over rows and columns."""

    h: Window
    w: Window

    channelwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-POOL-01"),
        types_among("LAM-OPS-POOL-02", 0, "the input", (DType.S8, DType.U8, DType.S16, DType.F32)),
    )

    said = says_windows("Maximum")

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = feature_map(self, ins)
        return (replace(x, shape=out_shape(self, x, self.h, self.w, x.shape[3])),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        if DType.of(ins[0]).is_float:
            return (self._greatest(ins[0]),)
        padded = pad_map(ins[0], self.h, self.w, DType.of(ins[0]).low)
        by_rows = reduce(np.maximum, taps(padded, self.h, 1))
        return (np.ascontiguousarray(reduce(np.maximum, taps(by_rows, self.w, 2))),)

    def _greatest(self, x: Array) -> Array:
        spatial = x.shape[1:3]
        out = (self.h.out_len(spatial[0]), self.w.out_len(spatial[1]))
        y = np.full((len(x), *out, x.shape[3]), -np.inf, np.float32)
        for _, served, read in reaches((self.h, self.w), out, spatial):
            best, tap = y[(slice(None), *served)], x[(slice(None), *read)]
            np.copyto(best, tap, where=tap > best)
        return y

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """A sliding window of rows, padded with the lowest value; of real numbers, those in the padding are absent."""
        return window_rows(self.h, None if ins[0].dtype.is_float else ins[0].dtype.low)

    macs = no_macs
    in_place = never_in_place
    turned = turned_windows
    column_tile = windowed_columns
    work = window_work

    def padded(
        self, rows: tuple[int, int], columns: tuple[int, int], value: float, x: TensorType, consts: Consts
    ) -> Op | None:
        """By the lowest value of the type."""
        if x.dtype.is_float:
            return None
        return padded_windows(self, rows, columns) if value == x.dtype.low else None
