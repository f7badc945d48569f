"""FloatConv2D: convolution of real numbers, with groups, dilation and any padding; depthwise when groups == C.

x: f32[N, H, W, C];  w: f32[Cout, KH, KW, C / groups];  b: f32[Cout]  ->  y: f32[N, H', W', Cout].

    acc = b[o], then acc + x * w[o] for each kernel row, kernel column and channel of the group, in this order;
          each step as `sums` has it (codegen/ops/float32/sums.py), and a tap in the padding is left out
    y   = acc held within low .. high; NaN stays

Source: onnx/docs/Operators.md, Conv.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from codegen.ir.op import WHOLE, Limit, Op, RowRule
from codegen.ir.quant import Array, DType, Sums, TensorType
from codegen.ir.shape import Window
from codegen.ops.answers import (
    Consts,
    Types,
    clamped_bounds,
    never_in_place,
    padded_windows,
    window_rows,
    windowed_columns,
)
from codegen.ops.float32.functions import clip
from codegen.ops.float32.sums import add_products, begun, reaches
from codegen.ops.float32.types import require_real
from codegen.ops.limits import batch_one
from codegen.ops.windows import out_shape, weighted_map, windows_said
from codegen.records import record


@record
class FloatConv2D:
    """Convolution over rows and columns, with bounds."""

    h: Window
    w: Window
    groups: int
    low: float = -math.inf
    high: float = math.inf
    sums: Sums = "separate"

    limits: ClassVar[tuple[Limit, ...]] = (batch_one("LAM-OPS-FLOATCONV-01"),)

    @property
    def said(self) -> str:
        """Its first sentence, with the window's numbers."""
        bounds = "" if (self.low, self.high) == (-math.inf, math.inf) else f", limited to {self.low:g} .. {self.high:g}"
        return f"Convolution {windows_said(self.h, self.w)}{bounds}"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require_real(self, ins)
        x, outputs = weighted_map(self, ins, self.h, self.w, self.groups, DType.F32)
        return (TensorType(out_shape(self, x, self.h, self.w, outputs), DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        with np.errstate(all="ignore"):
            return (clip(self._sums(*ins), np.float32(self.low), np.float32(self.high)),)

    def _sums(self, x: Array, w: Array, b: Array) -> Array:
        g, outputs, depth = self.groups, len(w), w.shape[3]
        x = x.reshape(*x.shape[:3], g, depth)
        kernel = w.reshape(g, -1, *w.shape[1:]).transpose(0, 2, 3, 4, 1)
        spatial = x.shape[1:3]
        out = (self.h.out_len(spatial[0]), self.w.out_len(spatial[1]))
        acc = np.empty((len(x), *out, g, outputs // g), np.float32)
        acc[...] = begun(b, self.sums).reshape(g, -1)
        for tap, served, read in reaches((self.h, self.w), out, spatial):
            taps = kernel[(slice(None), *tap)].reshape(g, depth, -1)
            add_products(acc[(slice(None), *served)], x[(slice(None), *read)], taps, ordered=True, sums=self.sums)
        return acc.reshape(*acc.shape[:3], outputs)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """A sliding window of rows; those in the padding are absent."""
        return window_rows(self.h, None) if index == 0 else WHOLE

    def macs(self, ins: Types, outs: Types) -> int:
        """One per output, tap and channel of the group."""
        return outs[0].elements * self.h.size * self.w.size * ins[1].shape[3]

    in_place = never_in_place
    clamped = clamped_bounds
    column_tile = windowed_columns

    def padded(
        self, rows: tuple[int, int], columns: tuple[int, int], value: float, x: TensorType, consts: Consts
    ) -> Op | None:
        """By zeros, where to leave them out is to add them: a sum that did not begin as -0 never is.

        Where steps round once, or are flushed, one that comes below all numbers may be, and the next zero would be 0.
        """
        weights, bias = consts[1:]
        if self.sums != "separate" or value != 0 or weights is None or bias is None or not np.isfinite(weights).all():
            return None
        return None if ((bias == 0) & np.signbit(bias)).any() else padded_windows(self, rows, columns)

    def channel_tile(self, start: int, stop: int) -> Op | None:
        """Without groups, whose outputs read other inputs."""
        return self if self.groups == 1 else None

    def depthwise_tile(self, start: int, stop: int, ins: Types) -> Op | None:
        """With one filter for each channel, of two channels or more."""
        own = self.groups == ins[0].shape[3] == ins[1].shape[0] and stop - start > 1
        return replace(self, groups=stop - start) if own else None
