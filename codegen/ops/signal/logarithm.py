"""FilterBankLog: the natural logarithm of each channel in fixed point, from a table of 128 pieces.

x: uint32 in s32[C] -> y: s16[C]

    v = x << correction, in 32 bits;  y = 0 for v <= 1, else with n the bits that v takes, less 1:
    f = v / 2^n - 1 in 16 bits, rounded down;  i = f >> 9
    g = f + T[i] + ((T[i + 1] - T[i]) (f - 512 i) >> 16)            the logarithm to base 2 of v is n + g / 2^16
    e = 45426 (2^16 n + g) + 2^15 >> 16;  y = min(scale * e + 2^15 >> 16, 2^15 - 1), in 32 bits

T[i] is how far log2(1 + i / 128) lies above i / 128, in 16 bits.
Source: tflite-micro, signal/src/filter_bank_log.cc, log.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, whole
from codegen.ops.limits import limit, only_input, require, types_among
from codegen.ops.signal.words import WORD, msb, unsigned
from codegen.records import record

PIECES = 128
_LN2 = 45426
"""Of 2^16."""


@record
class FilterBankLog:
    """Natural logarithms of channels in fixed point."""

    correction: int
    scale: int

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-26", 0, "the input", (DType.S32,)),
        limit(
            "LAM-OPS-SIGNAL-27",
            "the correction must be 0 to 31 bits, and the scale a number of 32 bits",
            lambda op, ins: 0 <= op.correction < 32 and -(1 << 31) <= op.scale < 1 << 32,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(len(x.shape) == 1, self, f"takes channels, got {list(x.shape)}")
        return (TensorType(x.shape, DType.S16),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        v = ((unsigned(ins[0]) << np.uint64(self.correction)) & WORD).astype(np.int64)
        n = np.maximum(msb(v) - 1, 0)
        rest = v - (np.int64(1) << n)
        f = np.where(n < 16, rest << np.maximum(16 - n, 0), rest >> np.maximum(n - 16, 0))
        table, i = np.array(logarithms(), np.int64), np.clip(f, 0, 65535) >> 9
        g = f + table[i] + ((table[i + 1] - table[i]) * (f - 512 * i) >> 16)
        e = (_LN2 * ((n << 16) + g) + (1 << 15)) >> 16
        scaled = ((e * self.scale + (1 << 15)) & int(WORD)) >> 16
        return (np.where(v > 1, np.minimum(scaled, DType.S16.high), 0).astype(np.int16),)

    rows = whole
    macs = no_macs
    in_place = never_in_place


def logarithms() -> tuple[int, ...]:
    """T, with both of its ends."""
    at = np.arange(PIECES + 1) / PIECES
    return tuple(int(t) for t in np.rint(65536 * (np.log2(1 + at) - at)))
