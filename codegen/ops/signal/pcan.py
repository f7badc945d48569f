"""Pcan: each channel by a gain that its noise chooses from a table, and shrunk where it is small.

x, noise: uint32 in s32[C], table: s16[L] -> y: uint32 in s32[C]

    gain  by the n bits that the noise v takes: table[v] for v <= 2; else, with p = 4n - 6 and f the 10 bits of v behind
          its first one (zeros where there are fewer),
          table[p] + ((((table[p + 2] f >> 5) + 32 table[p + 1]) f + 2^14) >> 15), the low 16 bits with their sign
    snr   = x * gain >> shift, the low 32 bits; a gain below 0 stands for 2^32 more
    y     = snr^2 >> 20 for snr < 2^13, else (snr >> 6) - 2^6

Source: tflite-micro, signal/src/pcan_argc_fixed.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, no_macs, whole
from codegen.ops.limits import limit, require, types_among
from codegen.ops.signal.words import WORD, as_words, msb, unsigned
from codegen.records import record

ENTRIES = 125
"""Of the table that are read."""
_SMALL = 1 << 13


@record
class Pcan:
    """Per-channel amplitude normalization."""

    shift: int

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-22", 0, "the input", (DType.S32,)),
        types_among("LAM-OPS-SIGNAL-23", 2, "the table of gains", (DType.S16,)),
        limit("LAM-OPS-SIGNAL-24", "the shift must be 0 to 63", lambda op, ins: 0 <= op.shift < 64),
        limit(
            "LAM-OPS-SIGNAL-25",
            f"the table of gains must have {ENTRIES} entries",
            lambda op, ins: ins[2].elements >= ENTRIES,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 3, self, f"takes channels, their noise and a table, got {len(ins)} inputs")
        x, noise, table = ins
        fits = len(x.shape) == 1 and x.shape == noise.shape and x.dtype is noise.dtype and len(table.shape) == 1
        require(fits, self, f"channels {list(x.shape)}, their noise {list(noise.shape)}, a table {list(table.shape)}")
        return (TensorType(x.shape, DType.S32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x, noise = (unsigned(a) for a in ins[:2])
        gain = gains(noise.astype(np.int64), ins[2].astype(np.int64)).astype(np.uint64) & WORD
        with np.errstate(over="ignore"):
            snr = (x * gain >> np.uint64(self.shift)) & WORD
            y = np.where(snr < _SMALL, snr * snr >> np.uint64(20), (snr >> np.uint64(6)) - np.uint64(64))
        return (as_words(y),)

    rows = whole
    macs = no_macs

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """A channel is read before it is written; its noise as well."""
        return index in (0, 1)


def gains(noise: Array, table: Array) -> Array:
    """What the table says of each noise."""
    bits = msb(noise)
    at = np.where(noise > 2, 4 * bits - 6, 0)
    share = np.where(bits < 11, noise << np.maximum(11 - bits, 0), noise >> np.maximum(bits - 11, 0)) & 0x3FF
    slope = (table[at + 2] * share >> 5) + (table[at + 1] << 5)
    between = ((slope * share + (1 << 14)) >> 15) + table[at]
    found = np.where(noise > 2, between, table[np.minimum(noise, 2)])
    return np.asarray(found.astype(np.int16).astype(np.int64))
