"""Scatter: elements written, or joined, to places that are known or that the network computes.

x: f32, s32, s8, u8 or s16 [N, run], positions: s32[M], updates: x's type [M, run] -> y: x's type [N, run].

    y = x;  then for i = 0 .. M - 1: y[p[i]] = updates[i], or y[p[i]] + updates[i], * , the maximum or the minimum

A position outside is the nearest one inside.  Sums and products of whole numbers keep their low 32 bits.
Source: onnx/docs/Operators.md, ScatterElements and ScatterND.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, whole
from codegen.ops.float32.binary import OPERATIONS
from codegen.ops.limits import require, types_among
from codegen.records import record

Joining = Literal["none", "add", "mul", "maximum", "minimum"]
JOINED: Mapping[str, Callable[[Any, Any], Any]] = {
    "none": lambda old, new: new,
    "add": np.add,
    "mul": np.multiply,
    "maximum": OPERATIONS["maximum"],
    "minimum": OPERATIONS["minimum"],
}


@record
class Scatter:
    """How an update joins what is there."""

    joining: Joining = "none"

    limits: ClassVar[tuple[Limit, ...]] = (types_among("LAM-OPS-MOVEMENT-05", 1, "the positions", (DType.S32,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 3, self, f"takes x, positions and updates, got {len(ins)} inputs")
        x, p, updates = ins
        shapes = [list(t.shape) for t in ins]
        fits = len(x.shape) == 2 and updates.shape == (*p.shape, x.shape[1]) and len(p.shape) == 1
        require(fits and updates.dtype is x.dtype, self, f"updates and positions {shapes[1:]} of {shapes[0]}")
        joins = self.joining == "none" or x.dtype in (DType.F32, DType.S32)
        require(joins, self, f"{x.dtype.value} cannot be joined")
        return (x,)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, p, updates = ins
        y, join = x.copy(), JOINED[self.joining]
        with np.errstate(all="ignore"):
            for place, update in zip(np.clip(p, 0, len(x) - 1), updates, strict=True):
                y[place] = join(y[place], update)
        return (y,)

    rows = whole
    macs = no_macs
    in_place = never_in_place
