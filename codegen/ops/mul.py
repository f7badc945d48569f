"""Mul: the product of two tensors, broadcast as numpy does.

a, b: s8, u8 or s16 -> y: s8, u8 or s16.

    acc = (a - za) * (b - zb)                                        exact, |acc| < 2^32
    y   = requantized acc by sa * sb / sy, one factor for the tensor (ops/requantize.py: single, tflite or ort)

Two 16-bit numbers of which one has a zero point may pass 2^31; the Requant is then one for 64-bit accumulators.

Sources: TFLite reference/integer_ops/mul.h for `tflite`; ONNX Runtime's QLinearMul (qladd.cc) for `ort`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ops.answers import Types, any_layout, broadcast_rows, clamped_requant, in_place_when_equal, no_macs
from codegen.ops.limits import EIGHT_BIT, broadcast_type, limit, types_among
from codegen.ops.requantize import apply_requant
from codegen.records import record

_TYPES = (*EIGHT_BIT, DType.S16)


@record
class Mul:
    """Product, requantized."""

    a_zero_point: int
    b_zero_point: int
    requant: Requant
    y_dtype: DType
    y_quant: Quant | None

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ELEMENTWISE-04", 0, "the first input", _TYPES),
        types_among("LAM-OPS-ELEMENTWISE-05", 1, "the second input", _TYPES),
        limit(
            "LAM-OPS-ELEMENTWISE-06", "the scale must be one for the tensor", lambda op, ins: not op.requant.per_channel
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (broadcast_type(self, ins, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        a, b = ins[0].astype(np.int64) - self.a_zero_point, ins[1].astype(np.int64) - self.b_zero_point
        return (apply_requant(self.requant, np.asarray(a * b), self.y_dtype),)

    def reach(self, ins: Types) -> int:
        """The largest size of a product."""
        return ins[0].dtype.reach(self.a_zero_point) * ins[1].dtype.reach(self.b_zero_point)

    rows = broadcast_rows
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout
    clamped = clamped_requant
