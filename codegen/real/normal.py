"""Normalisations.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ir.shape import Shape
from codegen.ops.float32.sums import ordered_sum
from codegen.real.images import beside_axis, of_first, of_maps
from codegen.real.reduce import REDUCTIONS, Sum, quick_sum
from codegen.records import record


@record
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

    one_image = of_maps


class _Normalization(Protocol):
    def normed(self, ins: Sequence[Array], total: Sum) -> tuple[Array, ...]: ...


def _in_row_order(op: _Normalization, ins: Sequence[Array]) -> tuple[Array, ...]:
    """The sum in row order divided by the count, twice; subtract, divide by the root, multiply, add."""
    return op.normed(ins, ordered_sum)


def _in_any_order(op: _Normalization, ins: Sequence[Array]) -> tuple[Array, ...]:
    """As `evaluate`, sums in any order."""
    return op.normed(ins, quick_sum)


@record
class InstanceNorm:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, over each image's channel by itself: x, scale, offset."""

    epsilon: float = 1e-5
    channel_axis: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As x."""
        x = ins[0].shape
        if len(x) < 3 or any(t.shape != (x[self.channel_axis],) for t in ins[1:]):
            raise ShapeMismatch(f"factors {[list(t.shape) for t in ins[1:]]} for a tensor {list(x)}")
        return (ins[0],)

    evaluate = _in_row_order
    quickly = _in_any_order

    def normed(self, ins: Sequence[Array], total: Sum) -> tuple[Array, ...]:
        """The result, by sums of a kind."""
        x = ins[0]
        channels = self.channel_axis % x.ndim
        space = tuple(i for i in range(1, x.ndim) if i != channels)
        count = x.dtype.type(math.prod(x.shape[i] for i in space))
        away = x - total(x, space) / count
        root = np.sqrt(total(away * away, space) / count + x.dtype.type(self.epsilon))
        along = [-1 if i == channels else 1 for i in range(x.ndim)]
        return ((away / root * ins[1].reshape(along) + ins[2].reshape(along)).astype(x.dtype),)

    one_image = of_first


@record
class LayerNorm:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, over the axes from `axis` on: x, scale, maybe offset.

    Not `centred`, the mean counts as 0: x over the root of the mean of its squares.
    """

    axis: int
    epsilon: float = 1e-5
    centred: bool = True

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As x."""
        x = ins[0].shape
        normal = x[self.axis :]
        fits = 0 <= self.axis < len(x) and all(_broadcasts(t.shape, normal) for t in ins[1:])
        if not fits or math.prod(normal) == 0:
            raise ShapeMismatch(f"factors {[list(t.shape) for t in ins[1:]]} from axis {self.axis} of {list(x)} on")
        return (ins[0],)

    evaluate = _in_row_order
    quickly = _in_any_order

    def normed(self, ins: Sequence[Array], total: Sum) -> tuple[Array, ...]:
        """The result, by sums of a kind."""
        x, scale, *offset = ins
        axes = tuple(range(self.axis, x.ndim))
        count = x.dtype.type(math.prod(x.shape[self.axis :]))
        away = x - total(x, axes) / count if self.centred else x
        root = np.sqrt(total(away * away, axes) / count + x.dtype.type(self.epsilon))
        y = away / root * scale
        return ((y + offset[0] if offset else y).astype(x.dtype),)

    one_image = beside_axis


def _broadcasts(shape: Shape, onto: Shape) -> bool:
    """Whether a tensor can be repeated to another's shape."""
    return len(shape) <= len(onto) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(onto), strict=False))


@record
class LocalResponseNorm:
    """x / (bias + alpha / size * sum of squares over `size` channels around its own) ** beta."""

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    bias: float = 1.0
    channel_axis: int = 1

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As x."""
        if len(ins[0].shape) < 2:
            raise ShapeMismatch(f"a tensor of shape {list(ins[0].shape)} has no channels")
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Squares are added from the first channel to the last; the power is taken in float64."""
        x = np.moveaxis(ins[0], self.channel_axis, -1)
        before, channels = (self.size - 1) // 2, x.shape[-1]
        sums = np.zeros_like(x)
        for offset in range(max(-before, 1 - channels), min(self.size - before, channels)):
            served = slice(max(-offset, 0), channels - max(offset, 0))
            read = slice(max(offset, 0), channels + min(offset, 0))
            sums[..., served] += x[..., read] * x[..., read]
        scaled = x.dtype.type(self.bias) + x.dtype.type(self.alpha / self.size) * sums
        y = x / np.power(scaled.astype(np.float64), self.beta).astype(x.dtype)
        return (np.moveaxis(y, -1, self.channel_axis),)

    one_image = of_maps


@record
class LpNorm:
    """x divided by the sum of its sizes along `axis`, or with `p` 2 by the root of its squares; 0 where that is 0.

    The divisor is `least` at least.
    """

    axis: int
    p: int = 2
    least: float = 0.0

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As x."""
        if not 0 <= self.axis < len(ins[0].shape):
            raise ShapeMismatch(f"axis {self.axis} of a tensor {list(ins[0].shape)}")
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The sum in order."""
        return self._normed(ins[0], ordered_sum)

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The sum in any order."""
        return self._normed(ins[0], quick_sum)

    def _normed(self, x: Array, total: Sum) -> tuple[Array, ...]:
        norm = REDUCTIONS["L1" if self.p == 1 else "L2"](x, (self.axis,), total)
        norm = np.maximum(norm, x.dtype.type(self.least))
        return (np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm)).astype(x.dtype),)

    one_image = beside_axis
