"""Running sums and products along an axis, each from the first element to its own.

Source: onnx/docs/Operators.md, CumSum and CumProd.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.real.images import beside_axis
from codegen.records import record


def _as_input(op: CumulativeSum | CumulativeProduct, ins: Sequence[RealType]) -> tuple[RealType, ...]:
    """As the input."""
    x = ins[0]
    if not 0 <= op.axis < len(x.shape):
        raise ShapeMismatch(f"axis {op.axis} of a tensor {list(x.shape)}")
    return (x,)


@record
class CumulativeSum:
    """Element i is the sum of elements up to i; without its own where `exclusive`; from the end where `reverse`."""

    axis: int
    exclusive: bool = False
    reverse: bool = False

    infer = _as_input

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """One addition after the other."""
        return (_run(self, ins[0], np.add),)

    one_image = beside_axis


@record
class CumulativeProduct:
    """Element i is the product of elements up to i; without its own where `exclusive`; from the end where `reverse`."""

    axis: int
    exclusive: bool = False
    reverse: bool = False

    infer = _as_input

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """One multiplication after the other."""
        return (_run(self, ins[0], np.multiply),)

    one_image = beside_axis


def _run(op: CumulativeSum | CumulativeProduct, x: Array, step: np.ufunc) -> Array:
    x = np.flip(x, op.axis) if op.reverse else x
    total = step.accumulate(x, axis=op.axis, dtype=x.dtype)
    if op.exclusive:
        total = np.roll(total, 1, op.axis)
        total[(slice(None),) * op.axis + (slice(0, 1),)] = step.identity
    return np.flip(total, op.axis) if op.reverse else total
