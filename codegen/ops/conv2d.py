"""Conv2D: convolution with groups, dilation and any padding; depthwise when groups == C.

x: s8, u8 or s16[N, H, W, C];  w: s8 or s16[Cout, KH, KW, C / groups], weight zero point already subtracted;
b: s32[Cout]  ->  y: [N, H', W', Cout].

    acc = b[o] + sum over taps and the group's channels of (x - zx) * w[o]         exact
    y   = requantized acc (ops/requantize.py: single, tflite or ort), or acc itself as s32 without `requant`

A padded tap holds zx and adds nothing.  Sources: ONNX Conv, QLinearConv and ConvInteger (onnx/docs/Operators.md);
TFLite reference_integer_ops/conv.h for `tflite`; ONNX Runtime's qlinearconv.cc for `ort`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from codegen.ir.op import WHOLE, Limit, Op, RowRule
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ir.shape import Window
from codegen.ops.accumulator import product_dtype
from codegen.ops.answers import (
    Consts,
    Types,
    clamped_requant,
    inner_windows,
    never_in_place,
    padded_windows,
    tiled_requant,
    turned_windows,
    window_rows,
    windowed_columns,
)
from codegen.ops.limits import batch_one, types_among
from codegen.ops.requantize import apply_requant
from codegen.ops.windows import out_shape, pad_map, patches, taps, weighted_map, windows_said
from codegen.records import record

_BLOCK = 1 << 22


@record
class Conv2D:
    """Convolution over rows and columns, requantized."""

    h: Window
    w: Window
    groups: int
    x_zero_point: int
    requant: Requant | None
    y_dtype: DType
    y_quant: Quant | None

    weighted_sum: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-CONV-01"),
        types_among("LAM-OPS-CONV-02", 0, "the input", (DType.S8, DType.U8, DType.S16)),
        types_among("LAM-OPS-CONV-03", 1, "the weights", (DType.S8, DType.S16)),
    )

    @property
    def said(self) -> str:
        """Its first sentence, with the window's numbers."""
        return f"Convolution {windows_said(self.h, self.w)}, {'requantized' if self.requant else 'exact sums'}"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x, outputs = weighted_map(self, ins, self.h, self.w, self.groups)
        dtype = DType.S32 if self.requant is None else self.y_dtype
        return (TensorType(out_shape(self, x, self.h, self.w, outputs), dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, w, b = ins
        acc = convolve(x, w, self.h, self.w, self.groups, self.x_zero_point) + b
        if self.requant is None:
            return (acc.astype(np.int32),)
        return (apply_requant(self.requant, acc, self.y_dtype),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """A sliding window of rows, padded with the zero point."""
        return window_rows(self.h, self.x_zero_point) if index == 0 else WHOLE

    def macs(self, ins: Types, outs: Types) -> int:
        """One per output, tap and channel of the group."""
        return outs[0].elements * self.h.size * self.w.size * ins[1].shape[3]

    in_place = never_in_place
    clamped = clamped_requant
    turned = turned_windows
    column_tile = windowed_columns
    inner_taps = inner_windows

    def channel_tile(self, start: int, stop: int) -> Op | None:
        """Without groups, whose outputs read other inputs."""
        return tiled_requant(self, start, stop) if self.groups == 1 else None

    def depthwise_tile(self, start: int, stop: int, ins: Types) -> Op | None:
        """With one filter for each channel, of two channels or more."""
        own = self.groups == ins[0].shape[3] == ins[1].shape[0] and stop - start > 1
        requant = self.requant and self.requant.channels(start, stop)
        return replace(self, requant=requant, groups=stop - start) if own else None

    def padded(
        self, rows: tuple[int, int], columns: tuple[int, int], value: float, x: TensorType, consts: Consts
    ) -> Op | None:
        """By its input's zero point."""
        return padded_windows(self, rows, columns) if value == self.x_zero_point else None


def convolve(x: Array, w: Array, h: Window, wd: Window, groups: int, zero_point: int) -> Array:
    """The exact sums of (x - zero_point) * w, int64[N, H', W', Cout]."""
    outputs, _, _, depth = w.shape
    reach = max(abs(int(x.min()) - zero_point), abs(int(x.max()) - zero_point))
    kind = product_dtype(reach, w.reshape(outputs, -1), axis=1)
    centred = x.astype(kind)
    centred -= kind.type(zero_point)
    padded, weights = pad_map(centred, h, wd, 0), w.astype(kind)
    if depth == 1 and groups > 1:
        return _depthwise(padded, weights, h, wd, groups).astype(np.int64)
    share = outputs // groups
    parts = [
        _dense(padded[..., g * depth : (g + 1) * depth], weights[g * share : (g + 1) * share], h, wd)
        for g in range(groups)
    ]
    return np.concatenate(parts, axis=3) if groups > 1 else parts[0]


def _dense(x: Array, w: Array, h: Window, wd: Window) -> Array:
    """One group by matrix products over blocks of output rows."""
    views = patches(x, h, wd)
    n, rows, columns = views.shape[:3]
    matrix = np.ascontiguousarray(w.reshape(len(w), -1).T)
    y = np.empty((n, rows, columns, len(w)), np.int64)
    step = max(1, _BLOCK // (columns * len(matrix)))
    for image in range(n):
        for row in range(0, rows, step):
            block = views[image, row : row + step]
            y[image, row : row + step] = (block.reshape(-1, len(matrix)) @ matrix).reshape(*block.shape[:2], -1)
    return y


def _depthwise(x: Array, w: Array, h: Window, wd: Window, groups: int) -> Array:
    """One input channel per group: a multiply-add of whole maps per tap."""
    per_tap = w.reshape(groups, -1, h.size, wd.size)
    per_group = per_tap.shape[1]
    acc: Array | None = None
    for i, row in enumerate(taps(x, h, 1)):
        for j, point in enumerate(taps(row, wd, 2)):
            acc = _multiply_add(acc, point[..., None], per_tap[:, :, i, j])
    assert acc is not None, "a window has at least one tap"
    return acc.reshape(*acc.shape[:3], groups * per_group)


def _multiply_add(acc: Array | None, x: Array, w: Array) -> Array:
    product: Any = x * w
    if acc is None:
        return np.asarray(product)
    acc += product
    return acc
