"""GlobalSum: the sum over all rows and columns of a map, requantized.

x: s8, u8 or s16[N, H, W, C] -> y: [N, 1, 1, C].

    acc = sum of (x - zx)                                            exact in int32
    y   = acc requantized by sx / sy (ops/requantize.py: single or tflite)

Source: tensorflow/lite/kernels/internal/reference/reduce.h, QuantizedMeanOrSum with compute_sum; ONNX ReduceSum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import ACCUMULATE, Limit, RowRule
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ops.answers import Types, clamped_requant, itself, never_in_place, no_macs
from codegen.ops.limits import batch_one, feature_map, limit, types_among
from codegen.ops.requantize import apply_requant
from codegen.records import record

_MAX_COUNT = 1 << 14


@record
class GlobalSum:
    """Sum over all rows and columns."""

    x_zero_point: int
    requant: Requant
    y_dtype: DType
    y_quant: Quant

    limits: ClassVar[tuple[Limit, ...]] = (
        batch_one("LAM-OPS-REDUCTION-03"),
        types_among("LAM-OPS-REDUCTION-04", 0, "the input", (DType.S8, DType.U8, DType.S16)),
        limit(
            "LAM-OPS-REDUCTION-05",
            "the map must have fewer than 2^14 pixels",
            lambda op, ins: ins[0].shape[1] * ins[0].shape[2] < _MAX_COUNT,
        ),
        limit(
            "LAM-OPS-REDUCTION-06",
            "a sum must be requantized in mode single or tflite, by one factor",
            lambda op, ins: op.requant.mode != "ort" and not op.requant.per_channel,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        n, _, _, c = feature_map(self, ins).shape
        return (TensorType((n, 1, 1, c), self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        acc = (ins[0].astype(np.int64) - self.x_zero_point).sum(axis=(1, 2), keepdims=True)
        return (apply_requant(self.requant, acc, self.y_dtype),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """All rows, one after another."""
        return ACCUMULATE

    macs = no_macs
    in_place = never_in_place
    clamped = clamped_requant
    turned = itself
