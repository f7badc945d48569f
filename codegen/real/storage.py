"""Between real numbers and the integers that hold them.  Source: onnx/docs/Operators.md, QuantizeLinear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen import fixedpoint
from codegen.float32.storage import as_bfloat16
from codegen.ir.element import is_bfloat16
from codegen.ir.quant import Array
from codegen.ir.real import RealType, Stored
from codegen.real.images import Apart, of_first
from codegen.records import record


def as_typed(array: Array, dtype: np.dtype[Any]) -> Array:
    """What a tensor of this type holds of the numbers; the array is of its type but for the rounding to bfloat16."""
    return as_bfloat16(array) if is_bfloat16(dtype) else array


@record(eq=False)
class Quantize:
    """Integers that hold the real numbers: saturate(round(x / scale) + zero_point), halves to even."""

    stored: Stored

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Integers of the same shape."""
        return (RealType(ins[0].shape, self.stored.dtype),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Quantize | None:
        """Where the images have one scale."""
        return None if self.stored.axis == 0 or self.stored.block else self

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """As QuantizeLinear in float32."""
        scale, zero = self.stored.spread(ins[0].shape)
        integers = fixedpoint.quantize_linear(ins[0], scale, zero, self.stored.low, self.stored.high)
        return (integers.astype(self.stored.dtype),)


@record(eq=False)
class Dequantize:
    """The real numbers that integers hold: (q - zero_point) * scale, in float32."""

    stored: Stored

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Real numbers of the same shape."""
        return (RealType(ins[0].shape),)

    def one_image(self, ins: Sequence[RealType], apart: Apart) -> Dequantize | None:
        """Where the images have one scale."""
        return None if self.stored.axis == 0 or self.stored.block else self

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """As DequantizeLinear."""
        scale, zero = self.stored.spread(ins[0].shape)
        return (np.asarray(fixedpoint.dequantize_linear(ins[0], scale, zero)),)


@record
class Restore:
    """The same real numbers, held as the output's own value says."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the input."""
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The input; whoever runs the graph rounds it to what holds it."""
        return (ins[0],)

    one_image = of_first
