"""Take: elements picked by positions that the network computes.

x: any type [N0, .., Nk-1, rest] and positions: s32[lead, k] -> y: x's type [lead, rest].

    y[i] = x[p[i, 0], .., p[i, k-1]];  a position outside its axis is the nearest one inside

Source: tensorflow/lite/kernels/internal/reference/{gather,reference_ops}.h, whose kernels refuse positions outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, whole
from codegen.ops.limits import require, types_among
from codegen.records import record


@record
class Take:
    """Elements picked by computed positions; along the first `depth` axes."""

    depth: int

    limits: ClassVar[tuple[Limit, ...]] = (types_among("LAM-OPS-MOVEMENT-02", 1, "the positions", (DType.S32,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 2, self, f"takes x and positions, got {len(ins)} inputs")
        x, p = ins
        fits = 1 <= self.depth <= len(x.shape) and len(p.shape) >= 1 and p.shape[-1] == self.depth
        require(fits, self, f"positions {list(p.shape)} do not name {self.depth} axes of {list(x.shape)}")
        return (replace(x, shape=(*p.shape[:-1], *x.shape[self.depth :])),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, p = ins
        picks = tuple(np.clip(p[..., i], 0, x.shape[i] - 1) for i in range(self.depth))
        return (np.asarray(x[picks], order="C"),)

    rows = whole
    macs = no_macs
    in_place = never_in_place
