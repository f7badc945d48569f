"""SignalWindow: each frame times a window.

x: s16[..., N], w: s16[N] -> y: s16[..., N].

    y[i] = x[i] * w[i] >> shift, saturated to 16 bits       the shift rounds down

Source: tflite-micro, signal/src/window.cc.
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
class SignalWindow:
    """A window over the last axis."""

    shift: int

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-01", 0, "the input", (DType.S16,)),
        types_among("LAM-OPS-SIGNAL-02", 1, "the window", (DType.S16,)),
        limit("LAM-OPS-SIGNAL-03", "the shift must be 0 to 31", lambda op, ins: 0 <= op.shift <= 31),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 2, self, f"takes a sound and a window, got {len(ins)} inputs")
        x, w = ins
        fits = len(w.shape) == 1 and x.shape[-1:] == w.shape
        require(fits, self, f"a window of shape {list(w.shape)} on {list(x.shape)}")
        return (TensorType(x.shape, DType.S16),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, w = (a.astype(np.int32) for a in ins)
        return (np.clip(x * w >> self.shift, DType.S16.low, DType.S16.high).astype(np.int16),)

    rows = whole
    macs = no_macs

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """Each number is read before it is written."""
        return index == 0
