"""Headroom and ShiftLeft: what FftAutoScale finds out about a frame, and what it does to it.

Headroom    x: s16[N] -> bits: s32[], by how many the largest magnitude can be shifted to the left, 0 to 14

    m = max |x[i]|, bits = 15 - (bits that m takes);  0 for m <= 0

TFLite Micro keeps m in 16 bits while it looks for it, where |-2^15| is -2^15 again, and less than all that comes
behind: after the last such sample the search begins anew, from -2^15.

ShiftLeft   x: s16[N], bits: s32[] -> y: s16[N], the low 16 bits of x * 2^bits; bits are taken as 0 to 15

Source: tflite-micro, signal/src/fft_auto_scale.cc, max_abs.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.answers import Types, never_in_place, no_macs, whole
from codegen.ops.limits import only_input, require, types_among
from codegen.records import record

_MOST = 15


@record
class Headroom:
    """By how many bits a frame can be shifted."""

    limits: ClassVar[tuple[Limit, ...]] = (types_among("LAM-OPS-SIGNAL-04", 0, "the input", (DType.S16,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(len(x.shape) == 1, self, f"takes one frame, got {list(x.shape)}")
        return (TensorType((), DType.S32),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        most = largest(ins[0].astype(np.int32))
        return (np.array(_MOST - most.bit_length() if most > 0 else 0, np.int32),)

    rows = whole
    macs = no_macs
    in_place = never_in_place


def largest(x: Array) -> int:
    """The largest magnitude, as it is looked for in 16 bits."""
    lowest = np.flatnonzero(x == DType.S16.low)
    if not lowest.size:
        return int(np.abs(x).max())
    most = DType.S16.low
    for v in x[lowest[-1] + 1 :].tolist():
        most = v if v > most else max(most, -v)
    return most


@record
class ShiftLeft:
    """A frame times a power of two that the network computes."""

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-SIGNAL-05", 0, "the input", (DType.S16,)),
        types_among("LAM-OPS-SIGNAL-06", 1, "the bits", (DType.S32,)),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        require(len(ins) == 2, self, f"takes a frame and bits, got {len(ins)} inputs")
        require(ins[1].elements == 1, self, f"one number of bits, got {list(ins[1].shape)}")
        return (TensorType(ins[0].shape, DType.S16),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        bits = np.clip(ins[1].reshape(-1)[0], 0, _MOST)
        return ((ins[0].astype(np.int32) << bits).astype(np.int16),)

    rows = whole
    macs = no_macs

    def in_place(self, index: int, ins: Types, outs: Types) -> bool:
        """Each number is read before it is written."""
        return index == 0
