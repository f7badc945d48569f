"""Slice and Gather: some of the elements, picked by position.

Slice   y[i0, i1, ...] = x[starts[0] + i0 * steps[0], ...];  y.shape = sizes;  steps may be negative, never 0
Gather  y = x with axis `axis` reordered: index i of y is index indices[i] of x

Any element type; the meaning of the integers passes through.  Source: onnx/docs/Operators.md, Slice and Gather;
the importer has resolved negative positions and clipped the ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from codegen.ir.op import SAME_ROW, Limit, Op, RowRule
from codegen.ir.permutation import Perm, permute
from codegen.ir.quant import Array, TensorType
from codegen.ir.shape import Shape
from codegen.ops.answers import Types, moved_axis, never_in_place, no_macs, row_numbers, row_rule
from codegen.ops.limits import only_input, require
from codegen.records import record


@record
class Slice:
    """Every step-th element of each axis.

    `over`: neighbouring columns are kept, and their rows are moved to where they lie then.
    """

    starts: tuple[int, ...]
    sizes: Shape
    steps: tuple[int, ...]
    over: bool = False

    moves_only: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        fits = len(self.starts) == len(self.sizes) == len(self.steps) == len(x.shape)
        require(fits, self, f"needs one start, size and step per axis of {list(x.shape)}")
        for n, start, size, step in zip(x.shape, self.starts, self.sizes, self.steps, strict=True):
            inside = step != 0 and size > 0 and 0 <= start < n and 0 <= start + (size - 1) * step < n
            require(inside, self, f"{size} elements from {start} by {step} are not inside an axis of {n}")
        return (replace(x, shape=self.sizes),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (np.ascontiguousarray(ins[0][self._picked(ins[0].ndim)]),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """One input row per output row."""
        x = ins[0].shape
        return row_rule(row_numbers(x)[self._picked(max(len(x) - 2, 0))].ravel().tolist())

    macs = no_macs

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """A row may be moved as it is read, if that is said."""
        x, y = ins[0].shape, outs[0].shape
        columns = len(x) > 1 and (*x[:-2], x[-1]) == (*y[:-2], y[-1])
        return self.over and columns and set(self.steps) == {1}

    def _picked(self, axes: int) -> tuple[Array, ...]:
        """Open-mesh indices of the first `axes` axes."""
        picks = zip(self.starts, self.sizes, self.steps, strict=True)
        return np.ix_(*[start + step * np.arange(size) for start, size, step in list(picks)[:axes]])

    def in_layout(self, perm: Perm) -> Op:
        """Starts, sizes and steps in the order of the axes."""
        return Slice(permute(self.starts, perm), permute(self.sizes, perm), permute(self.steps, perm))


@record
class Gather:
    """One axis reordered, thinned out or repeated."""

    axis: int
    indices: tuple[int, ...]

    moves_only: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(0 <= self.axis < len(x.shape), self, f"{list(x.shape)} has no axis {self.axis}")
        n = x.shape[self.axis]
        inside = len(self.indices) > 0 and all(0 <= i < n for i in self.indices)
        require(inside, self, f"the indices must lie in an axis of {n}")
        return (replace(x, shape=(*x.shape[: self.axis], len(self.indices), *x.shape[self.axis + 1 :])),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (np.take(ins[0], self.indices, axis=self.axis),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """One input row per output row."""
        x = ins[0].shape
        if self.axis >= len(x) - 2:
            return SAME_ROW
        return row_rule(np.take(row_numbers(x), self.indices, axis=self.axis).ravel().tolist())

    macs = no_macs
    in_place = never_in_place
    in_layout = moved_axis
