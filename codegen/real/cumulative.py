"""Running sums along an axis, each from the first element to its own.  Source: onnx/docs/Operators.md, CumSum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType


@dataclass(frozen=True, slots=True)
class CumulativeSum:
    """Element i is the sum of elements up to i; without its own where `exclusive`; from the end where `reverse`."""

    axis: int
    exclusive: bool = False
    reverse: bool = False

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the input."""
        if not 0 <= self.axis < len(ins[0].shape):
            raise ShapeMismatch(f"axis {self.axis} of a tensor {list(ins[0].shape)}")
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """One addition after the other."""
        x = np.flip(ins[0], self.axis) if self.reverse else ins[0]
        total = np.cumsum(x, self.axis, dtype=x.dtype)
        if self.exclusive:
            total = np.roll(total, 1, self.axis)
            total[(slice(None),) * self.axis + (slice(0, 1),)] = 0
        return (np.flip(total, self.axis) if self.reverse else total,)
