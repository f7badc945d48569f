"""Reshape and Broadcast: the same numbers under another shape, or repeated.

Reshape    y = x's elements, in memory order, as `shape`.
Broadcast  y = x repeated along axes of size 1 to `shape`, as numpy and ONNX Expand do.

Any element type; the meaning of the integers passes through.  Source: onnx/docs/Operators.md, Reshape and Expand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from codegen.ir.op import SAME_ROW, WHOLE, Limit, Op, RowRule
from codegen.ir.permutation import Perm, as_perm, permute
from codegen.ir.quant import Array, TensorType
from codegen.ir.shape import Shape, row_count
from codegen.ops.answers import Types, broadcast_rows, in_place_when_equal, never_in_place, no_macs
from codegen.ops.limits import only_input, require
from codegen.records import record


@record
class Reshape:
    """The same elements under another shape."""

    shape: Shape

    moves_only: ClassVar[bool] = True
    view: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        fits = math.prod(self.shape) == x.elements
        require(fits, self, f"{list(x.shape)} does not have the elements of {list(self.shape)}")
        return (replace(x, shape=self.shape),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (np.ascontiguousarray(ins[0]).reshape(self.shape),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Row by row when rows keep their elements."""
        return SAME_ROW if row_count(ins[0].shape) == row_count(outs[0].shape) else WHOLE

    def permutation(self, x: TensorType) -> Perm | None:
        """That of axes of size 1, where no others change."""
        return as_perm(x.shape, self.shape)

    macs = no_macs
    in_place = in_place_when_equal


@record
class Broadcast:
    """The elements repeated along axes of size 1."""

    shape: Shape

    moves_only: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        tail = self.shape[len(self.shape) - len(x.shape) :]
        fits = len(x.shape) <= len(self.shape) and all(n in (1, m) for n, m in zip(x.shape, tail, strict=True))
        require(fits, self, f"{list(x.shape)} cannot be repeated to {list(self.shape)}")
        return (replace(x, shape=self.shape),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (np.asarray(np.broadcast_to(ins[0], self.shape), order="C"),)

    rows = broadcast_rows
    macs = no_macs
    in_place = never_in_place

    def in_layout(self, perm: Perm) -> Op:
        """The shape in the order of the axes."""
        return Broadcast(permute(self.shape, perm))
