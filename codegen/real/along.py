"""Operators along one axis: the largest elements, reversed sequences, one-hot codes; and triangles.

Source: onnx/docs/Operators.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.ir.quant import Array
from codegen.ir.real import RealType
from codegen.ir.shape import Shape
from codegen.real.images import beside_axes, beside_axis
from codegen.real.movement import check_places
from codegen.records import record


@record
class TopK:
    """The `count` largest or smallest elements along an axis, best first, and their places; ties go to the first."""

    count: int
    axis: int
    largest: bool = True
    dtype: str = "int64"

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Elements and places."""
        shape = _checked(ins[0].shape, self.axis)
        if not 0 <= self.count <= shape[self.axis]:
            raise ShapeMismatch(f"the best {self.count} of {shape[self.axis]}")
        shape = (*shape[: self.axis], self.count, *shape[self.axis + 1 :])
        return (ins[0].shaped(shape), RealType(shape, np.dtype(self.dtype)))

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """A stable order."""
        (x,) = ins
        if self.largest:
            turned = np.argsort(np.flip(x, self.axis), axis=self.axis, kind="stable")
            order = x.shape[self.axis] - 1 - np.flip(turned, self.axis)
        else:
            order = np.argsort(x, axis=self.axis, kind="stable")
        at = order.take(np.arange(self.count), self.axis)
        return (np.take_along_axis(x, at, self.axis), at.astype(self.dtype))

    one_image = beside_axis


@record
class Triangle:
    """Zeros below the `offset`-th diagonal of each matrix where `upper`, above it elsewhere."""

    upper: bool
    offset: int = 0

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the input."""
        if len(ins[0].shape) < 2:
            raise ShapeMismatch(f"a triangle of a tensor {list(ins[0].shape)}")
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The rest stays."""
        (x,) = ins
        rows, columns = x.shape[-2:]
        beyond = np.arange(columns) - np.arange(rows)[:, None] - self.offset
        kept = beyond >= 0 if self.upper else beyond <= 0
        return (np.where(kept, x, np.zeros((), x.dtype)),)


@record
class OneHot:
    """A new axis of `depth` entries that are off but for one: places, the two numbers [off, on].

    A negative place counts from the end; one outside leaves all off.
    """

    depth: int
    axis: int

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """The places' shape with the axis."""
        at = ins[0].shape
        if not 0 <= self.axis <= len(at) or ins[1].shape != (2,) or self.depth < 1:
            raise ShapeMismatch(f"places {list(at)} among {self.depth} along axis {self.axis}")
        return (ins[1].shaped((*at[: self.axis], self.depth, *at[self.axis :])),)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """A comparison."""
        at = np.where(ins[0] < 0, ins[0] + self.depth, ins[0])
        entries = np.arange(self.depth).reshape(-1, *(1,) * (at.ndim - self.axis))
        return (np.where(np.expand_dims(at, self.axis) == entries, ins[1][1], ins[1][0]),)


@record
class ReverseSequence:
    """The first elements along `time`, as many as the second input says for each entry of `batch`, in reverse.

    A length beyond the axis is all of it.
    """

    time: int
    batch: int

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the first input."""
        x = ins[0].shape
        axes = (self.time, self.batch)
        if len(x) < 2 or sorted(axes) != [0, 1] or ins[1].shape != (x[self.batch],):
            raise ShapeMismatch(f"lengths {list(ins[1].shape)} of sequences {list(x)}")
        check_places(ins[1], (), "lengths")
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The rest stays."""
        x = np.moveaxis(ins[0], self.time, 1)
        lengths, steps = np.minimum(ins[1], x.shape[1])[:, None], np.arange(x.shape[1])
        at = np.where(steps < lengths, lengths - 1 - steps, steps)
        return (np.moveaxis(x[np.arange(len(x))[:, None], at], 1, self.time),)


@record
class Hardmax:
    """1 at the first largest element over `axes`, 0 elsewhere."""

    axes: tuple[int, ...]

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """As the input."""
        for axis in self.axes:
            _checked(ins[0].shape, axis)
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """In row order of the axes."""
        (x,) = ins
        moved = np.moveaxis(x, self.axes, range(-len(self.axes), 0))
        flat = moved.reshape(*moved.shape[: x.ndim - len(self.axes)], -1)
        best = (np.arange(flat.shape[-1]) == flat.argmax(-1)[..., None]).astype(x.dtype)
        return (np.moveaxis(best.reshape(moved.shape), range(-len(self.axes), 0), self.axes),)

    one_image = beside_axes


def _checked(shape: Shape, axis: int) -> Shape:
    if not 0 <= axis < len(shape) or not shape[axis]:
        raise ShapeMismatch(f"axis {axis} of a tensor {list(shape)}")
    return shape
