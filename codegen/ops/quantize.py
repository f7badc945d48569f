"""Quantize, Dequantize and Rescale: between real numbers and integers, and from sums to activations.

Quantize    f32 -> integer: y = saturate(rint(x / sy) + zy), float32, half to even; NaN becomes the lowest value;
            with `half_away` halves go away from zero, as in TFLite
Dequantize  integer -> f32: y = float32(q - zx) * sx, one float32 product
Rescale     s32 -> s8 or u8: y = requantized x (ops/requantize.py: single, tflite or ort), per tensor or last axis

Quantize and Dequantize have one definition in every mode: ONNX QuantizeLinear and DequantizeLinear
(onnx/docs/Operators.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from codegen import fixedpoint
from codegen.ir.op import Limit, Op
from codegen.ir.permutation import Perm
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ops.answers import (
    Types,
    any_layout,
    clamped_requant,
    in_place_when_equal,
    last_axis_stays,
    no_macs,
    same_row,
)
from codegen.ops.limits import EIGHT_BIT, limit, only_input, require, types_among
from codegen.ops.requantize import apply_requant
from codegen.records import record


@record
class Quantize:
    """Real numbers to integers."""

    y_dtype: DType
    y_quant: Quant
    half_away: bool = False

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-BORDER-01", 0, "the input", (DType.F32,)),
        limit(
            "LAM-OPS-BORDER-02",
            "the output must be s8, u8 or s16",
            lambda op, ins: op.y_dtype in (*EIGHT_BIT, DType.S16),
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (TensorType(only_input(self, ins).shape, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        y, dtype = self.y_quant, self.y_dtype
        quantized = fixedpoint.quantize_linear_away if self.half_away else fixedpoint.quantize_linear
        return (quantized(ins[0], y.scale, y.zero_point, dtype.low, dtype.high).astype(dtype.numpy),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout


@record
class Dequantize:
    """Integers to real numbers."""

    x_quant: Quant

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-BORDER-03", 0, "the input", (DType.S8, DType.U8, DType.S16, DType.S32)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (TensorType(only_input(self, ins).shape, DType.F32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (fixedpoint.dequantize_linear(ins[0], self.x_quant.scale, self.x_quant.zero_point),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout


@record
class Rescale:
    """Sums to activations."""

    requant: Requant
    y_dtype: DType
    y_quant: Quant | None

    limits: ClassVar[tuple[Limit, ...]] = (types_among("LAM-OPS-BORDER-04", 0, "the input", (DType.S32,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        factors = max(len(self.requant.multiplier), len(self.requant.scale))
        fits = factors == 1 or (len(x.shape) > 0 and factors == x.shape[-1])
        require(fits, self, f"{factors} factors do not match the last axis of {list(x.shape)}")
        return (TensorType(x.shape, self.y_dtype, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (apply_requant(self.requant, ins[0], self.y_dtype),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    clamped = clamped_requant

    @property
    def elementwise(self) -> bool:
        """Unless channels have factors of their own."""
        return not self.requant.per_channel

    def in_layout(self, perm: Perm) -> Op | None:
        """Any, unless channels have factors of their own."""
        return last_axis_stays(self, perm) if self.requant.per_channel else self
