"""Sigmoid16: logistic and tanh of 16-bit numbers, from a table of 256 entries with linear interpolation.

x: s16 -> y: s16 of scale 2^-15, zero point 0.  T[i] is 65536 / (1 + exp(-i / 24)) and a share of the
interpolation's error (`sigmoid_table`); tanh(x) = 2 logistic(2 x) - 1.

    d = (x * M + 2^(s-1)) >> s                                        d has scale 1 / 12288
    logistic   u = |d| >> 9;  r = (T[u] << 9) + (|d| & 511) * (T[u+1] - T[u]);  32767 << 10 from u = 255 on
               y = (d >= 0 ? r + 2^9 : 2^25 - r + 2^9 - 1) >> 10
    tanh       u = |d| >> 8;  r = (T[u] << 8) + (|d| & 255) * (T[u+1] - T[u]);  65535 << 8 from u = 255 on
               y = (d >= 0 ? r - 2^23 + 2^7 : -r + 2^23 + 2^7 - 1) >> 8

M = floor(sx * 12288 * 2^s) with the s that brings it to 14 bits; 3 and 0 where sx = 2^-12, 6 and 0 for tanh where sx =
2^-11.  One definition for every mode.
Source: tensorflow/lite/kernels/internal/reference/integer_ops/logistic.h and tanh.h,
micro/kernels/logistic_common.cc and tanh.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import limit, only_input, types_among
from codegen.records import record

OUTPUT = Quant(2.0**-15, 0)


@record
class Sigmoid16:
    """The logistic function, or tanh."""

    function: Literal["logistic", "tanh"]
    multiplier: int
    shift: int

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ACTIVATION-07", 0, "the input", (DType.S16,)),
        limit(
            "LAM-OPS-ACTIVATION-08", "the input's scale must be below 5", lambda op, ins: 0 <= op.multiplier < 1 << 16
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (TensorType(only_input(self, ins).shape, DType.S16, OUTPUT),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        bits = 9 if self.function == "logistic" else 8
        half = (1 << self.shift) >> 1
        d = (ins[0].astype(np.int64) * self.multiplier + half) >> self.shift
        size = np.abs(d)
        entry = np.minimum(size >> bits, 254)
        table = np.array(sigmoid_table(), np.int64)
        between = (table[entry] << bits) + (size & ((1 << bits) - 1)) * (table[entry + 1] - table[entry])
        beyond = (size >> bits) >= 255
        if self.function == "logistic":
            r = np.where(beyond, 0x7FFF << 10, between)
            y = np.where(d >= 0, r + (1 << 9), (1 << 25) - r + (1 << 9) - 1) >> 10
        else:
            r = np.where(beyond, 0xFFFF << 8, between)
            y = np.where(d >= 0, r - (1 << 23) + (1 << 7), (1 << 23) - r + (1 << 7) - 1) >> 8
        return (y.astype(np.int16),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout


def sigmoid16(function: Literal["logistic", "tanh"], x: Quant) -> Sigmoid16:
    """The operator for an input of this scale."""
    exponent = np.log2(x.scale)
    powers = (-12,) if function == "logistic" else (-12, -11)
    if exponent in powers:
        return Sigmoid16(function, 3 << (int(exponent) + 12), 0)
    factor, shift = x.scale * 4096.0 * 3.0, 0
    while factor <= 32767.0 / 2.0 and shift <= 30:
        factor, shift = factor * 2.0, shift + 1
    return Sigmoid16(function, int(factor), shift)


def sigmoid_table() -> tuple[int, ...]:
    """T: each entry is raised by half of what linear interpolation misses in the middle of the step behind it.

    The last one is the largest number of 16 bits, where the curve is taken to end.
    """
    at = np.arange(256, dtype=np.float64)
    missing = _logistic(at + 0.5) - (_logistic(at) + _logistic(at + 1)) / 2
    found = np.floor(_logistic(at) + missing / 2 + 0.5).astype(np.int64)
    return (*found[:-1].tolist(), 65535)


def _logistic(steps: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(65536.0 / (1.0 + np.exp(-steps / 24.0)))
