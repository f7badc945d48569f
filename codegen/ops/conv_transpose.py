"""ConvTranspose2D: each input pixel spreads over a window of output pixels; the transpose of a convolution's geometry.

x: s8, u8 or s16[N, H, W, C];  w: s8 or s16[Cout, KH, KW, C / groups], weight zero point already subtracted;
b: s32[Cout]  ->  y: [N, H', W', Cout],  H' = (H - 1) * stride + extent - pad_before - pad_after + output_padding.

    acc[r, c, o] = b[o] + sum of (x[i, j] - zx) * w[o, k, l] over the group's channels and all i, j, k, l with
                   i * stride + k * dilation - pad_before = r, and the same for j, l and c          exact
    y            = requantized acc (ops/requantize.py: single, tflite or ort), or acc itself as s32 without `requant`

A pixel that no window covers is b alone.  Kernels are not mirrored.  Sources: ONNX ConvTranspose
(onnx/docs/Operators.md); TFLite reference_integer_ops/transpose_conv.h adds and requantizes in the same order for
`tflite`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd
from typing import ClassVar

import numpy as np

from codegen.ir.op import WHOLE, Limit, Op, RowRule
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ir.shape import Window
from codegen.ops.accumulator import product_dtype
from codegen.ops.answers import Types, clamped_requant, never_in_place
from codegen.ops.limits import batch_one, limit, require, types_among
from codegen.ops.requantize import apply_requant
from codegen.ops.windows import weighted_map, windows_said
from codegen.records import record


@record
class ConvTranspose2D:
    """Transposed convolution over rows and columns, requantized.  The windows are those of the forward convolution."""

    h: Window
    w: Window
    output_padding: tuple[int, int]
    groups: int
    x_zero_point: int
    requant: Requant | None
    y_dtype: DType
    y_quant: Quant | None

    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-CONV-04"),
        types_among("LAM-OPS-CONV-05", 0, "the input", (DType.S8, DType.U8, DType.S16)),
        types_among("LAM-OPS-CONV-06", 1, "the weights", (DType.S8, DType.S16)),
        limit(
            "LAM-OPS-CONV-07",
            "the output padding must be below the stride or the dilation",
            lambda op, ins: all(
                0 <= extra < max(window.stride, window.dilation)
                for extra, window in zip(op.output_padding, (op.h, op.w), strict=True)
            ),
        ),
    )

    @property
    def said(self) -> str:
        """Its first sentence, with the window's numbers."""
        return f"Transposed convolution, the forward one {windows_said(self.h, self.w)}"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x, outputs = weighted_map(self, ins, self.h, self.w, self.groups)
        rows, columns = self._sizes(x.shape[1], x.shape[2])
        require(rows > 0 and columns > 0, self, f"pads leave nothing of an input of {x.shape[1]} x {x.shape[2]}")
        dtype = DType.S32 if self.requant is None else self.y_dtype
        return (TensorType((x.shape[0], rows, columns, outputs), dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, w, b = ins
        acc = self._spread(x, w) + b
        if self.requant is None:
            return (acc.astype(np.int32),)
        return (apply_requant(self.requant, acc, self.y_dtype),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """The input rows whose windows cover the output row, lowest first; rows outside are absent.

        An output row meets every `stride / g`-th tap, g = gcd(stride, dilation), and these lie `dilation / g` input
        rows apart.  Of the rows that the rule names the first one may have no tap.
        """
        if index != 0:
            return WHOLE
        step = self.h.stride // gcd(self.h.stride, self.h.dilation)
        taps, dilation = -(-self.h.size // step), self.h.dilation // gcd(self.h.stride, self.h.dilation)
        firsts = (self._newest(row) - (taps - 1) * dilation for row in range(outs[0].shape[1]))
        return RowRule(taps=taps, dilation=dilation, table=tuple(firsts))

    def macs(self, ins: Types, outs: Types) -> int:
        """One per input, tap and output channel of the group; taps that the pads cut off are counted too."""
        return ins[0].elements * self.h.size * self.w.size * (outs[0].shape[3] // self.groups)

    in_place = never_in_place

    def _newest(self, row: int) -> int:
        """The highest input row, perhaps outside the input, that reaches this output row; -1 when none does."""
        at = row + self.h.pad_before
        taps = (at - k * self.h.dilation for k in range(self.h.size))
        return next((position // self.h.stride for position in taps if position % self.h.stride == 0), -1)

    def _sizes(self, height: int, width: int) -> tuple[int, int]:
        full = ((n - 1) * v.stride + v.extent for n, v in zip((height, width), (self.h, self.w), strict=True))
        pads = (v.pad_before + v.pad_after for v in (self.h, self.w))
        rows, columns = (n - p + e for n, p, e in zip(full, pads, self.output_padding, strict=True))
        return rows, columns

    def _spread(self, x: Array, w: Array) -> Array:
        """The exact sums, int64[N, H', W', Cout]: one matrix product per tap, added where it belongs."""
        n, height, width, _ = x.shape
        outputs, _, _, depth = w.shape
        zero = self.x_zero_point
        reach = max(abs(int(x.min()) - zero), abs(int(x.max()) - zero))
        kind = product_dtype(reach, w.reshape(outputs, -1), axis=1)
        centred = (x.astype(kind) - kind.type(zero)).reshape(n, height, width, self.groups, depth)
        weights = w.astype(kind).reshape(self.groups, outputs // self.groups, self.h.size, self.w.size, depth)
        rows, columns = self._sizes(height, width)
        bottom = max(self.h.pad_before + rows, (height - 1) * self.h.stride + self.h.extent)
        right = max(self.w.pad_before + columns, (width - 1) * self.w.stride + self.w.extent)
        full = np.zeros((n, bottom, right, self.groups, outputs // self.groups), np.int64)
        for k in range(self.h.size):
            for m in range(self.w.size):
                part = np.einsum("nhwgc,goc->nhwgo", centred, weights[:, :, k, m], optimize=True)
                full[:, _hit(self.h, k, height), _hit(self.w, m, width)] += part.astype(np.int64)
        top, left = self.h.pad_before, self.w.pad_before
        return full[:, top : top + rows, left : left + columns].reshape(n, rows, columns, outputs)

    clamped = clamped_requant

    def turned(self) -> Op:
        """Its windows and what they leave open exchanged."""
        return replace(self, h=self.w, w=self.h, output_padding=self.output_padding[::-1])


def _hit(window: Window, tap: int, length: int) -> slice:
    """Positions of the unpadded output that one tap of every input position meets."""
    first = tap * window.dilation
    return slice(first, first + (length - 1) * window.stride + 1, window.stride)
