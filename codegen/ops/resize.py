"""ResizeNearest, ResizeBilinear and ResizeWeighted: feature maps of another size.

ResizeNearest   y[n, h, w] = x[n, h_index[h], w_index[w]]           any element type, meaning unchanged
ResizeBilinear  x: s8, u8 or s16[N, H, W, C] -> y: s8, u8 or s16[N, H', W', C].  For row taps (i0, i1, u) and column
                taps (j0, j1, v), u and v being the second one's weight in units of 2^-11:

    top = (2^11 - v) * (x[i0, j0] - zx) + v * (x[i0, j1] - zx);  bottom the same with i1           |top| <= 255 * 2^11
    acc = (2^11 - u) * top + u * bottom                             exact in int32, |acc| <= 255 * 2^22;
                                                                    in int64 of 16-bit numbers
    y   = acc requantized by sx / (sy * 2^22), written out for each mode in ops/average.py

ResizeWeighted  x, y: s8, u8, s16, or s32, which is what is between two of them.  Each output row reads neighbouring
                rows from a first one on, and each output column columns, by weights in units of 2^-bits, which come to
                2^bits:

    t[j] = (sum over rows i of h_weight[i] * (x[i, j] - zx) + half) >> shift
                                                                    half = 2^(shift - 1), or 0 where nothing is shifted
    acc  = sum over columns j of w_weight[j] * t[j]                 exact in int64, in int32 where that holds it
    y    = acc requantized by sx / (sy * 2^(2 * bits - shift)), as the others

The importers compute positions: from ONNX's coordinate transformation with weights rounded to 2^-11, half to even, or
as TFLite's RESIZE_BILINEAR does, with weights of 2^-10.  In mode `tflite` between equal scales the sum is divided by
2^22 as TFLite divides it, halves away from zero and zx in the sum.
Source: onnx/docs/Operators.md, Resize; tensorflow/lite/kernels/internal/reference/resize_bilinear.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit, Op, RowRule
from codegen.ir.quant import Array, DType, Mode, Quant, TensorType
from codegen.ops.answers import Types, clamped_bounds, never_in_place, no_macs, row_numbers, row_rule
from codegen.ops.average import Averaging, mean
from codegen.ops.limits import EIGHT_BIT, batch_one, feature_map, limit, require, types_among
from codegen.records import record

WEIGHT_ONE = 1 << 11
Tap = tuple[int, int, int]
"""Two source positions, and the weight of the second one in units of 2^-11."""
Weights = tuple[int, tuple[int, ...]]
"""The first source position, and the weights of it and of those that follow."""
MAX_BITS = 22
_MAX_SUM = 1 << 47


@record
class ResizeNearest:
    """Rows and columns picked by index."""

    h_index: tuple[int, ...]
    w_index: tuple[int, ...]

    moves_only: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = feature_map(self, ins)
        n, h, w, c = x.shape
        inside = all(0 <= i < h for i in self.h_index) and all(0 <= i < w for i in self.w_index)
        require(inside, self, f"an index lies outside {h} x {w} pixels")
        return (replace(x, shape=(n, len(self.h_index), len(self.w_index), c)),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (ins[0].take(self.h_index, axis=1).take(self.w_index, axis=2),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """One input row per output row."""
        return row_rule(row_numbers(ins[0].shape).take(self.h_index, axis=1).ravel().tolist())

    macs = no_macs
    in_place = never_in_place

    def turned(self) -> Op:
        """The two lists of positions exchanged."""
        return ResizeNearest(self.w_index, self.h_index)


@record
class ResizeBilinear:
    """Each output pixel a weighted mean of four."""

    h: tuple[Tap, ...]
    w: tuple[Tap, ...]
    x_quant: Quant
    y_quant: Quant
    y_dtype: DType
    low: int
    high: int
    mode: Mode

    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-RESIZE-01"),
        types_among("LAM-OPS-RESIZE-02", 0, "the input", (*EIGHT_BIT, DType.S16)),
        limit(
            "LAM-OPS-RESIZE-03",
            "the two rows, and the two columns, of a pixel must be neighbours or the same",
            lambda op, ins: all(i1 - i0 in (0, 1) for i0, i1, _ in (*op.h, *op.w)),
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        n, h, w, c = feature_map(self, ins).shape
        for size, taps in ((h, self.h), (w, self.w)):
            inside = all(0 <= i < size for i0, i1, _ in taps for i in (i0, i1))
            require(inside, self, f"a position lies outside {h} x {w} pixels")
            require(all(0 <= t[2] <= WEIGHT_ONE for t in taps), self, "weights must be 0 .. 2^11")
        return (TensorType((n, len(self.h), len(self.w), c), self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        dtype = DType.of(ins[0])
        centred = ins[0].astype(np.int64 if dtype is DType.S16 else np.int32) - self.x_quant.zero_point
        acc = _blend(_blend(centred, self.w, axis=2), self.h, axis=1)
        return (mean(self.averaging(dtype), acc, WEIGHT_ONE**2),)

    def averaging(self, x_dtype: DType) -> Averaging:
        """How sums of weighted numbers of this type are brought to the output's scale."""
        quants = (self.x_quant, self.y_quant, self.y_dtype, self.low, self.high, self.mode)
        return Averaging(*quants, reach=x_dtype.reach(self.x_quant.zero_point) * WEIGHT_ONE**2)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Two neighbouring rows; the second one is absent below the last row, where its weight does not count."""
        return replace(row_rule([i0 for i0, _, _ in self.h]), taps=2)

    macs = no_macs
    in_place = never_in_place
    clamped = clamped_bounds


@record
class ResizeWeighted:
    """Each output pixel a weighted sum of the pixels of a window; sums over rows have `shift` bits fewer."""

    h: tuple[Weights, ...]
    w: tuple[Weights, ...]
    bits: int
    x_quant: Quant
    y_quant: Quant
    y_dtype: DType
    low: int
    high: int
    mode: Mode
    shift: int = 0

    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-RESIZE-04"),
        types_among("LAM-OPS-RESIZE-05", 0, "the input", (*EIGHT_BIT, DType.S16, DType.S32)),
        limit("LAM-OPS-RESIZE-06", f"weights must have {MAX_BITS} bits at most", lambda op, ins: op.bits <= MAX_BITS),
        limit(
            "LAM-OPS-RESIZE-07",
            "a pixel's weighted sum must be below 2^47 in size",
            lambda op, ins: op.averaging(ins[0].dtype).reach < _MAX_SUM,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        n, h, w, c = feature_map(self, ins).shape
        require(self.y_dtype is not DType.S32 or self.mode != "ort", self, "float32 does not hold results of 32 bits")
        for size, windows in ((h, self.h), (w, self.w)):
            count = len(windows[0][1])
            even = all(len(weights) == count for _, weights in windows)
            require(even, self, "windows must be of one size")
            inside = all(0 <= first <= size - count for first, _ in windows)
            require(inside, self, f"a window lies outside {h} x {w} pixels")
            whole = all(sum(weights) == 1 << self.bits for _, weights in windows)
            require(whole, self, "the weights of a window must come to 2^bits")
        return (TensorType((n, len(self.h), len(self.w), c), self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        centred = ins[0].astype(np.int64) - self.x_quant.zero_point
        of_rows = (_weighed(centred, self.h, axis=1) + (1 << self.shift >> 1)) >> self.shift
        return (mean(self.averaging(DType.of(ins[0])), _weighed(of_rows, self.w, axis=2), self.one),)

    @property
    def one(self) -> int:
        """What the weights of a pixel's window come to."""
        return 1 << 2 * self.bits - self.shift

    def averaging(self, x_dtype: DType) -> Averaging:
        """How sums of weighted numbers of this type are brought to the output's scale."""
        quants = (self.x_quant, self.y_quant, self.y_dtype, self.low, self.high, self.mode)
        of_rows = -(-x_dtype.reach(self.x_quant.zero_point) * largest(self.h) >> self.shift)
        return Averaging(*quants, reach=of_rows * largest(self.w))

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """The rows of a window."""
        return replace(row_rule([first for first, _ in self.h]), taps=len(self.h[0][1]))

    macs = no_macs
    in_place = never_in_place
    clamped = clamped_bounds


def largest(windows: tuple[Weights, ...]) -> int:
    """The largest sum of the sizes of a window's weights."""
    return max(sum(abs(weight) for weight in weights) for _, weights in windows)


def _weighed(x: Array, windows: tuple[Weights, ...], axis: int) -> Array:
    """Weighted sums along one axis, in units of 2^-bits."""
    first, weights = (np.array(column, np.int64) for column in zip(*windows, strict=True))
    along = [-1 if i == axis else 1 for i in range(x.ndim)]
    taps = (x.take(first + t, axis) * weights[:, t].reshape(along) for t in range(weights.shape[1]))
    return np.asarray(np.add.reduce(list(taps)))


def _blend(x: Array, taps: tuple[Tap, ...], axis: int) -> Array:
    """Weighted sums of pairs of slices along one axis, in units of 2^-11."""
    first, second, weight = (np.array(column, np.int32) for column in zip(*taps, strict=True))
    weight = weight.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return np.asarray(x.take(first, axis) * (WEIGHT_ONE - weight) + x.take(second, axis) * weight)
