"""Framer: frames of a sequence that goes on from run to run, and what of it the next run needs.

x: s16[..., N], past: s16[..., K] -> y: s16[..., N / step, size], the next past

    all = past, then x;  y[f] = all[f step .. f step + size - 1];  the next past is the last K numbers of all

K >= size - step, so that every frame ends within x.  A delay is one frame of N numbers, and K the delay.
Source: tflite-micro, signal/micro/kernels/framer.cc, delay.cc, stacker.cc, signal/src/circular_buffer.cc.
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
class Framer:
    """Overlapping frames of a sequence that goes on."""

    size: int
    step: int

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-30", 0, "the input", (DType.S16,)),
        limit(
            "LAM-OPS-SIGNAL-31",
            "the sound must be whole steps, and frames must end within it",
            lambda op, ins: ins[0].shape[-1] % op.step == 0 and ins[1].shape[-1] >= op.size - op.step,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The types of the frames and of the next past."""
        require(len(ins) == 2, self, f"takes a sound and its past, got {len(ins)} inputs")
        require(self.size >= 1 and self.step >= 1, self, f"frames of {self.size}, {self.step} apart")
        x, past = ins
        fits = len(x.shape) >= 1 and past.shape[:-1] == x.shape[:-1] and past.dtype is x.dtype
        require(fits and len(past.shape) == len(x.shape), self, f"{list(x.shape)} behind {list(past.shape)}")
        frames = max(x.shape[-1] // self.step, 1)
        return TensorType((*x.shape[:-1], frames, self.size), x.dtype), TensorType(past.shape, past.dtype)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The frames and the next past, to the bit."""
        x, past = ins
        every = np.concatenate([past, x], -1)
        starts = range(0, x.shape[-1], self.step)
        frames = np.stack([every[..., s : s + self.size] for s in starts], -2)
        return frames, np.ascontiguousarray(every[..., x.shape[-1] :])

    rows = whole
    macs = no_macs

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """The past moves on where it lies."""
        return index == 1
