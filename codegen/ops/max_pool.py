"""MaxPool2D: the maximum over a sliding window.

x: s8, u8 or s16[N, H, W, C] -> y of the same type and meaning, [N, H', W', C].

    y = max over the window's taps of x;  a padded tap holds the type's lowest value

All modes agree: the maximum commutes with the increasing map from integers to real numbers.
Source: onnx/docs/Operators.md, MaxPool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit, Op, RowRule
from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.shape import Window
from codegen.ops.answers import Types, never_in_place, no_macs, padded_windows, turned_windows, window_rows, window_work
from codegen.ops.limits import batch_one, feature_map, types_among
from codegen.ops.windows import out_shape, pad_map, taps


@dataclass(frozen=True, slots=True)
class MaxPool2D:
    """Maximum over rows and columns."""

    h: Window
    w: Window

    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-POOL-01"),
        types_among("LAM-OPS-POOL-02", 0, "the input", (DType.S8, DType.U8, DType.S16)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = feature_map(self, ins)
        return (replace(x, shape=out_shape(self, x, self.h, self.w, x.shape[3])),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        padded = pad_map(ins[0], self.h, self.w, DType.of(ins[0]).low)
        by_rows = reduce(np.maximum, taps(padded, self.h, 1))
        return (np.ascontiguousarray(reduce(np.maximum, taps(by_rows, self.w, 2))),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """A sliding window of rows, padded with the lowest value."""
        return window_rows(self.h, ins[0].dtype.low)

    macs = no_macs
    in_place = never_in_place
    turned = turned_windows
    work = window_work

    def padded(self, rows: tuple[int, int], columns: tuple[int, int], value: int, x: TensorType) -> Op | None:
        """By the lowest value of the type."""
        return padded_windows(self, rows, columns) if value == x.dtype.low else None
