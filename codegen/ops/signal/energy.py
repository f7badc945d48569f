"""Energy: the squared magnitude of each number of a spectrum.

x: s16[2K], real and imaginary part in turn -> y: uint32 in s32[K].

    y[i] = x[2i]^2 + x[2i + 1]^2     for start <= i < stop;  0 elsewhere, which TFLite Micro leaves as it was

Source: tflite-micro, signal/src/energy.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, whole
from codegen.ops.limits import only_input, require, types_among
from codegen.ops.signal.words import as_words
from codegen.records import record


@record
class Energy:
    """Energies of a part of a spectrum, zero elsewhere."""

    start: int
    stop: int

    limits: ClassVar[tuple[Limit, ...]] = (types_among("LAM-OPS-SIGNAL-07", 0, "the input", (DType.S16,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        pairs = len(x.shape) == 1 and x.shape[0] % 2 == 0
        require(pairs, self, f"takes pairs of real and imaginary parts, got {list(x.shape)}")
        count = x.shape[0] // 2
        fits = 0 <= self.start <= self.stop <= count
        require(fits, self, f"energies of numbers {self.start} to {self.stop} of {count}")
        return (TensorType((count,), DType.S32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        parts = ins[0].astype(np.int64).reshape(-1, 2)
        energy = (parts * parts).sum(axis=1)
        energy[: self.start] = 0
        energy[self.stop :] = 0
        return (as_words(energy.astype(np.uint64)),)

    rows = whole
    macs = no_macs
    in_place = never_in_place
