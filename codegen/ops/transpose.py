"""Transpose: axes in another order.

    y.shape[i] = x.shape[perm[i]];  y[i0, i1, ...] = x with index i_k on axis perm[k]

Any element type; the meaning of the integers passes through.  Source: onnx/docs/Operators.md, Transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from codegen.ir.op import SAME_ROW, WHOLE, Limit, RowRule
from codegen.ir.permutation import Perm
from codegen.ir.quant import Array, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs
from codegen.ops.limits import only_input, require
from codegen.records import record


@record
class Transpose:
    """Axes in another order."""

    perm: tuple[int, ...]

    moves_only: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = ()

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        fits = sorted(self.perm) == list(range(len(x.shape)))
        require(fits, self, f"{list(self.perm)} is not an order of the axes of {list(x.shape)}")
        return (replace(x, shape=tuple(x.shape[axis] for axis in self.perm)),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (np.asarray(ins[0].transpose(self.perm), order="C"),)

    def rows(self, index: int, ins: Types, outs: Types) -> RowRule:
        """Row by row when only the last two axes change places."""
        lead = len(self.perm) - 2
        return SAME_ROW if self.perm[: max(lead, 0)] == tuple(range(lead)) else WHOLE

    def permutation(self, x: TensorType) -> Perm:
        """Its own."""
        return self.perm

    macs = no_macs
    in_place = never_in_place
