"""Dense and MatMul: matrix products with constant and with computed right side.

Dense   x: s8, u8 or s16[..., K];  w: s8 or s16[O, K], zero point already subtracted;  b: s32[O]  ->  y: [..., O]

    acc = b[o] + sum_k (x[k] - zx) * w[o, k]                                       exact

MatMul  a: [..., M, K];  b: [..., K, N], equal leading axes  ->  y: [..., M, N]

    acc = sum_k (a[m, k] - za) * (b[k, n] - zb)                                    exact, s8, u8 or s16

    y   = requantized acc (ops/requantize.py: single, tflite or ort), or acc itself as s32 without `requant`

Sources: ONNX Gemm, QLinearMatMul, MatMulInteger (onnx/docs/Operators.md); TFLite reference_integer_ops/
fully_connected.h, of the reference kernels that round twice, for `tflite`; ONNX Runtime's quantize_linear_matmul.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import SAME_ROW, WHOLE, Limit, RowRule
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ops.accumulator import exact_matmul
from codegen.ops.answers import (
    Types,
    broadcast_rows,
    clamped_requant,
    last_axis_stays,
    last_two_stay,
    never_in_place,
    tiled_requant,
)
from codegen.ops.limits import EIGHT_BIT, require, types_among
from codegen.ops.requantize import apply_requant
from codegen.records import record


@record
class Dense:
    """A fully connected layer over the last axis, requantized."""

    x_zero_point: int
    requant: Requant | None
    y_dtype: DType
    y_quant: Quant | None

    weighted_sum: ClassVar[bool] = True
    layout_inputs: ClassVar[int] = 1
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-DENSE-01", 0, "the input", (DType.S8, DType.U8, DType.S16)),
        types_among("LAM-OPS-DENSE-02", 1, "the weights", (DType.S8, DType.S16)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 3, self, f"takes x, w and b, got {len(ins)} inputs")
        x, w, b = ins
        fits = len(w.shape) == 2 and len(x.shape) >= 1 and x.shape[-1] == w.shape[1]
        require(fits, self, f"input {list(x.shape)} does not match weights {list(w.shape)}")
        require(b.shape == w.shape[:1] and b.dtype is DType.S32, self, "the bias must be s32, one per output")
        dtype = DType.S32 if self.requant is None else self.y_dtype
        return (TensorType((*x.shape[:-1], w.shape[0]), dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, w, b = ins
        points = x.reshape(-1, x.shape[-1]).astype(np.int64) - self.x_zero_point
        acc = (exact_matmul(points, w.T) + b).reshape(*x.shape[:-1], len(w))
        return (_finish(acc, self.requant, self.y_dtype),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Row by row."""
        return SAME_ROW if index == 0 else WHOLE

    def macs(self, ins: Types, outs: Types) -> int:
        """One per output and input of the layer."""
        return outs[0].elements * ins[1].shape[1]

    in_place = never_in_place
    clamped = clamped_requant
    in_layout = last_axis_stays
    channel_tile = tiled_requant


@record
class MatMul:
    """The product of two computed matrices, requantized; a right side may be that of several left ones."""

    a_zero_point: int
    b_zero_point: int
    requant: Requant | None
    y_dtype: DType
    y_quant: Quant | None

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-DENSE-03", 0, "the left side", (*EIGHT_BIT, DType.S16)),
        types_among("LAM-OPS-DENSE-04", 1, "the right side", (*EIGHT_BIT, DType.S16)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 2, self, f"takes a and b, got {len(ins)} inputs")
        a, b = (t.shape for t in ins)
        alike = len(a) == len(b) >= 2 and all(n in (1, m) for m, n in zip(a[:-2], b[:-2], strict=True))
        require(alike and a[-1] == b[-2], self, f"{list(a)} cannot be multiplied by {list(b)}")
        dtype = DType.S32 if self.requant is None else self.y_dtype
        return (TensorType((*a[:-1], b[-1]), dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        a, b = ins
        acc = exact_matmul(a.astype(np.int64) - self.a_zero_point, b.astype(np.int64) - self.b_zero_point)
        return (_finish(acc, self.requant, self.y_dtype),)

    def reach(self, ins: Types) -> int:
        """The largest size of a sum, of any part of it too."""
        a, b = ins
        return a.shape[-1] * a.dtype.reach(self.a_zero_point) * b.dtype.reach(self.b_zero_point)

    rows = broadcast_rows

    def macs(self, ins: Types, outs: Types) -> int:
        """One per output and inner index."""
        return outs[0].elements * ins[0].shape[-1]

    in_place = never_in_place
    clamped = clamped_requant
    in_layout = last_two_stay


def _finish(acc: Array, requant: Requant | None, dtype: DType) -> Array:
    return acc.astype(np.int32) if requant is None else apply_requant(requant, acc, dtype)
