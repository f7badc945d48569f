"""OverlapAdd: frames that overlap, added up; of each sum as many samples leave as frames are apart.

x: s16[..., F, N], sums: s16[..., N] -> y: s16[..., F * step], the next sums

    for each frame:  sums = sums + frame, saturated to 16 bits;  the first `step` of them leave, zeros come in behind

The first sums are 0.
Source: tflite-micro, signal/src/overlap_add.cc, signal/micro/kernels/overlap_add.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, no_macs, whole
from codegen.ops.limits import limit, require, types_among
from codegen.records import record


@record
class OverlapAdd:
    """Sums of overlapping frames."""

    step: int

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-28", 0, "the input", (DType.S16,)),
        limit(
            "LAM-OPS-SIGNAL-29",
            "the step must be 1 to the size of a frame",
            lambda op, ins: 1 <= op.step <= ins[0].shape[-1],
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The types of the output and of the next sums."""
        require(len(ins) == 2, self, f"takes frames and sums, got {len(ins)} inputs")
        x, sums = ins
        fits = len(x.shape) >= 2 and sums.shape == (*x.shape[:-2], x.shape[-1]) and sums.dtype is x.dtype
        require(fits, self, f"frames {list(x.shape)} and sums {list(sums.shape)}")
        return TensorType((*x.shape[:-2], x.shape[-2] * self.step), x.dtype), sums

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output and the next sums, to the bit."""
        x, sums = ins
        made = []
        for frame in np.moveaxis(x, -2, 0):
            total = np.clip(sums.astype(np.int32) + frame, DType.S16.low, DType.S16.high).astype(np.int16)
            made.append(total[..., : self.step])
            sums = np.concatenate([total[..., self.step :], np.zeros_like(made[-1])], -1)
        return np.concatenate(made, -1), sums

    rows = whole
    macs = no_macs

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """Each sum is read before what comes in its place."""
        return index == 1
