"""Update: a box of a tensor replaced, at a place that the network computes.

x: any type [N0, .., Nk-1], box: x's type [M0, .., Mk-1] with Mi <= Ni, and start: s32[k] -> y: as x.

    y[s + i] = box[i] for each i of the box, where s[a] = min(max(start[a], 0), Na - Ma);  y = x elsewhere

Source: tensorflow/lite/kernels/dynamic_update_slice.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, no_macs, whole
from codegen.ops.limits import require, types_among
from codegen.records import record


@record
class Update:
    """A tensor with a box put into it."""

    limits: ClassVar[tuple[Limit, ...]] = (types_among("LAM-OPS-MOVEMENT-03", 2, "the place", (DType.S32,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 3, self, f"takes x, a box and its place, got {len(ins)} inputs")
        x, box, start = ins
        fits = len(box.shape) == len(x.shape) and all(m <= n for m, n in zip(box.shape, x.shape, strict=True))
        require(fits, self, f"a box {list(box.shape)} does not fit into {list(x.shape)}")
        require(start.shape == (len(x.shape),), self, f"a place of shape {list(start.shape)} in {list(x.shape)}")
        require(box.dtype is x.dtype, self, f"a box of type {box.dtype.value} in {x.dtype.value}")
        return (x,)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, box, start = ins
        first = np.clip(start, 0, np.array(x.shape) - box.shape)
        y = np.array(x, order="C")
        y[tuple(slice(s, s + m) for s, m in zip(first.tolist(), box.shape, strict=True))] = box
        return (y,)

    rows = whole
    macs = no_macs

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """The box is put where the tensor lies, which then is not copied."""
        return index == 0
