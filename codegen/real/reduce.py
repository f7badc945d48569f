"""Reductions over axes, the place of the largest element, and Softmax.

Sums run in row order of the axes that are left out.  `axes` are not negative.  Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ir.shape import Shape
from codegen.ops.float32.sums import ordered_sum
from codegen.real.images import beside_axes, beside_axis
from codegen.records import record

Axes = tuple[int, ...]
Sum = Callable[[Array, Axes], Array]


def quick_sum(x: Array, axes: Axes) -> Array:
    """The sum over some axes, which stay with size 1, in any order."""
    return np.asarray(x.sum(axis=axes, keepdims=True, dtype=x.dtype))


def _log_of_exponentials(x: Array, axes: Axes, total: Sum) -> Array:
    top = x.max(axis=axes, keepdims=True, initial=_least(x))
    top = np.where(np.isfinite(top), top, 0)
    return np.asarray(np.log(total(np.exp(x - top), axes)) + top)


def _mean(x: Array, axes: Axes, total: Sum) -> Array:
    count = x.dtype.type(math.prod(x.shape[a] for a in axes))
    sums = total(x, axes)
    return np.asarray(sums / count if x.dtype.kind == "f" else np.sign(sums) * (np.abs(sums) // count))


REDUCTIONS: Mapping[str, Callable[[Array, Axes, Sum], Any]] = {
    "L1": lambda x, axes, total: total(np.abs(x), axes),
    "L2": lambda x, axes, total: np.sqrt(total(x * x, axes)),
    "LogSum": lambda x, axes, total: np.log(total(x, axes)),
    "LogSumExp": _log_of_exponentials,
    "Max": lambda x, axes, total: x.max(axis=axes, keepdims=True, initial=_least(x)),
    "Mean": _mean,
    "Min": lambda x, axes, total: x.min(axis=axes, keepdims=True, initial=_largest(x)),
    "Prod": lambda x, axes, total: x.prod(axis=axes, keepdims=True, dtype=x.dtype),
    "Sum": lambda x, axes, total: total(x, axes),
    "SumSquare": lambda x, axes, total: total(x * x, axes),
}


def _least(x: Array) -> Any:
    if x.dtype.kind == "b":
        return False
    return -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def _largest(x: Array) -> Any:
    if x.dtype.kind == "b":
        return True
    return np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max


@record
class Reduce:
    """An entry of `REDUCTIONS` over `axes`, which stay with size 1 where `keep`."""

    kind: str
    axes: Axes
    keep: bool = True

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The axes are 1 or gone."""
        return (ins[0].shaped(_reduced(ins[0].shape, self.axes, self.keep)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums in row order."""
        return self._reduced(ins[0], ordered_sum)

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums in any order."""
        return self._reduced(ins[0], quick_sum)

    def _reduced(self, x: Array, total: Sum) -> tuple[Array, ...]:
        y = np.asarray(REDUCTIONS[self.kind](x, self.axes, total)).astype(x.dtype)
        return (y if self.keep else y.squeeze(self.axes),)

    one_image = beside_axes


@record
class ArgExtremum:
    """The place of the largest or smallest element along an axis; `last` chooses among equal ones."""

    axis: int
    largest: bool = True
    keep: bool = True
    last: bool = False
    dtype: str = "int64"

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Places instead of numbers."""
        return (RealType(_reduced(ins[0].shape, (self.axis,), self.keep), np.dtype(self.dtype)),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Ties go to the first, or to the last."""
        x = np.flip(ins[0], self.axis) if self.last else ins[0]
        at = (np.argmax if self.largest else np.argmin)(x, axis=self.axis, keepdims=self.keep)
        return (np.asarray(x.shape[self.axis] - 1 - at if self.last else at).astype(self.dtype),)

    one_image = beside_axis


@record
class Softmax:
    """exp(x - max) divided by its sum along `axes`, or the logarithm of that; x is taken `beta` times."""

    axes: Axes
    log: bool = False
    beta: float = 1.0

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the input."""
        _reduced(ins[0].shape, self.axes, True)
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums in row order."""
        return self._shares(ins[0], ordered_sum)

    def quickly(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """Sums in any order."""
        return self._shares(ins[0], quick_sum)

    def _shares(self, x: Array, total: Sum) -> tuple[Array, ...]:
        x = x if self.beta == 1 else x * x.dtype.type(self.beta)
        below = x - x.max(axis=self.axes, keepdims=True)
        powers = np.exp(below)
        sums = total(powers, self.axes)
        return (np.asarray(below - np.log(sums) if self.log else powers / sums),)

    one_image = beside_axes


def _reduced(shape: Shape, axes: Axes, keep: bool) -> Shape:
    if any(not 0 <= a < len(shape) for a in axes):
        raise ShapeMismatch(f"axes {list(axes)} of a tensor {list(shape)}")
    return tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
