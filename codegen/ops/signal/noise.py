"""SpectralSubtraction: what each channel has above its noise, which is estimated from frame to frame.

x, noise: uint32 in s32[C] -> y: as x, the next noise

    up   = x << smoothing_bits, in 32 bits
    next = up * smooth + noise * keep >> bits, in 64 bits, then the low 32
    y    = max((up - min(next, up)) >> smoothing_bits, x * least >> bits)

with `clamping` the next noise is min(next, up).  Even channels have the first pair of smooth and keep, odd ones the
second.  The first noise is 0.
Source: tflite-micro, signal/src/filter_bank_spectral_subtraction.cc, signal/micro/kernels/ likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, no_macs, whole
from codegen.ops.limits import limit, require, types_among
from codegen.ops.signal.words import WORD, as_words, unsigned
from codegen.records import record


@record
class SpectralSubtraction:
    """One frame less its noise."""

    smooth: tuple[int, int]
    keep: tuple[int, int]
    least: int
    smoothing_bits: int
    bits: int
    clamping: bool

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-20", 0, "the input", (DType.S32,)),
        limit(
            "LAM-OPS-SIGNAL-21",
            "shifts must be 0 to 31, and factors numbers of 32 bits without a sign",
            lambda op, ins: (
                all(0 <= n < 32 for n in (op.smoothing_bits, op.bits))
                and all(0 <= n < 1 << 32 for n in (*op.smooth, *op.keep, op.least))
            ),
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The types of the output and of the next noise."""
        require(len(ins) == 2, self, f"takes channels and their noise, got {len(ins)} inputs")
        x, noise = ins
        fits = len(x.shape) == 1 and x.shape == noise.shape and x.dtype is noise.dtype
        require(fits, self, f"channels {list(x.shape)} and their noise {list(noise.shape)}")
        return TensorType(x.shape, DType.S32), TensorType(x.shape, DType.S32)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output and the next noise, to the bit."""
        x, noise = (unsigned(a) for a in ins)
        odd = np.arange(len(x)) % 2
        smooth, keep = (np.array(pair, np.uint64)[odd] for pair in (self.smooth, self.keep))
        up = (x << np.uint64(self.smoothing_bits)) & WORD
        with np.errstate(over="ignore"):
            estimate = np.right_shift(up * smooth + noise * keep, np.uint64(self.bits)) & WORD
            least = ((x * np.uint64(self.least)) >> np.uint64(self.bits)) & WORD
        held = np.minimum(estimate, up)
        y = np.maximum((up - held) >> np.uint64(self.smoothing_bits), least)
        return as_words(y), as_words(held if self.clamping else estimate)

    rows = whole
    macs = no_macs

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """The noise of a channel is read before the next one is written."""
        return index == 1
