"""Normalisations.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType


@dataclass(frozen=True, slots=True)
class BatchNorm:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset by channel: x, scale, offset, mean, variance."""

    epsilon: float = 1e-5
    channel_axis: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As x."""
        x = ins[0].shape
        channels = x[self.channel_axis] if len(x) > 1 else 1
        if any(t.shape != (channels,) for t in ins[1:]):
            raise ShapeMismatch(f"factors {[list(t.shape) for t in ins[1:]]} for a tensor {list(x)}")
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Subtract, divide by the root, multiply, add."""
        x = ins[0]
        along = [1] * x.ndim
        along[self.channel_axis if x.ndim > 1 else 0] = -1
        scale, offset, mean, variance = (p.reshape(along) for p in ins[1:])
        root = np.sqrt(variance + variance.dtype.type(self.epsilon))
        return (np.asarray((x - mean) / root * scale + offset).astype(x.dtype),)
