"""TopK: the k largest numbers of each row of the last axis, or the smallest, or where they are.

x[..., C] -> y: x's type[..., k], the largest first; or their positions, s32[..., k].

Of equal numbers the first one goes before; integers are compared as they are, and NaN counts as the largest.
Source: tensorflow/lite/kernels/topk_v2.cc; ONNX TopK-11, largest and sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, last_axis_stays, never_in_place, no_macs, same_row
from codegen.ops.limits import only_input, require
from codegen.ops.order import order
from codegen.records import record


@record
class TopK:
    """The `count` largest numbers, or smallest, or their `positions`."""

    count: int
    positions: bool
    largest: bool = True

    limits: ClassVar[tuple[Limit, ...]] = ()

    @property
    def said(self) -> str:
        """What it computes."""
        which = f"{self.count} {'largest' if self.largest else 'smallest'} numbers"
        return f"Positions of the {which}" if self.positions else f"The {which}"

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        fits = len(x.shape) >= 1 and 1 <= self.count <= x.shape[-1]
        require(fits, self, f"{self.count} numbers of a tensor {list(x.shape)}")
        shape = (*x.shape[:-1], self.count)
        return (TensorType(shape, DType.S32) if self.positions else TensorType(shape, x.dtype, x.quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        (x,) = ins
        ranks = order(x).astype(np.int64) * (-1 if self.largest else 1)
        best = np.argsort(ranks, axis=-1, kind="stable")[..., : self.count]
        return (best.astype(np.int32) if self.positions else np.take_along_axis(x, best, axis=-1),)

    def work(self, ins: Types, outs: Types) -> int:
        """Each number is looked at once for each that is found."""
        return outs[0].elements * ins[0].shape[-1]

    rows = same_row
    macs = no_macs
    in_place = never_in_place
    in_layout = last_axis_stays
