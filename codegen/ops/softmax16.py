"""Softmax16: softmax of 16-bit numbers over the last axis, from two tables with linear interpolation.

x: s16[..., C] -> y: s16[..., C] of scale 2^-15, zero point 0.  E and R are tables of 513 entries as Lut16 has
them, E of exp over -10 .. 0 and R of 1 / (1 + v) over 0 .. 1, both with 15 fractional bits; look(T, v) takes the entry
of v >> 7 and a share v & 127 of the step to the next one.

    p[c] = look(E, clamp16(MultiplyByQuantizedMultiplier(x[c] - max, M, e) + 32767)),  M, e of beta * sx * 65535 / 10
    S    = sum of p, h its leading zeros;  v = ((S << (h - 1)) + 2^13 >> 14) - 98304, clamped to 16 bits
    y[c] = clamp((p[c] * look(R, v) + 2^(30-h)) >> (31 - h), 0, 32767)

One definition for every mode.  Source: tensorflow/lite/kernels/internal/reference/softmax.h (SoftmaxInt16), common.h
(LUTLookup, LUTPopulate); micro/kernels/softmax_common.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, in_place_when_equal, last_axis_stays, no_macs, same_row
from codegen.ops.limits import limit, only_input, types_among
from codegen.ops.lut16 import look_between, sampled
from codegen.records import record

_LOW, _HIGH = -(1 << 15), (1 << 15) - 1
_MOST_CHANNELS = (1 << 15) - 1
OUTPUT = Quant(2.0**-15, 0)
_Y_SCALE = np.float32(2.0) / np.float32(65535.0)


@record
class Softmax16:
    """exp(beta x) / sum exp(beta x) over the last axis; `multiplier` and `exponent` bring x to steps of 10 / 65535."""

    multiplier: int
    exponent: int

    limits: ClassVar[tuple[Limit, ...]] = (
        types_among("LAM-OPS-ACTIVATION-09", 0, "the input", (DType.S16,)),
        limit(
            "LAM-OPS-ACTIVATION-10", "the input's scale times beta must be below 2.5", lambda op, ins: op.exponent <= 14
        ),
        limit(
            "LAM-OPS-ACTIVATION-11",
            f"there must be at most {_MOST_CHANNELS} channels",
            lambda op, ins: ins[0].shape[-1] <= _MOST_CHANNELS,
        ),
    )

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        return (TensorType(only_input(self, ins).shape, DType.S16, OUTPUT),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        x = ins[0].astype(np.int64)
        below = x - x.max(axis=-1, keepdims=True)
        bounds = (fixedpoint.INT32_MIN, fixedpoint.INT32_MAX)
        steps = fixedpoint.requantize_tflite(below, self.multiplier, self.exponent, 0, *bounds) + _HIGH
        powers = look_between(exp_table(), np.clip(steps, _LOW, _HIGH))
        total = powers.sum(axis=-1, keepdims=True)
        zeros = 32 - np.frexp(total.astype(np.float64))[1]
        place = (((total << (zeros - 1)) + (1 << 13)) >> 14) - ((1 << 15) + (1 << 16))
        reciprocal = look_between(reciprocal_table(), np.clip(place, _LOW, _HIGH))
        y = (powers * reciprocal + (np.int64(1) << (30 - zeros))) >> (31 - zeros)
        return (np.clip(y, 0, _HIGH).astype(np.int16),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = last_axis_stays


def softmax16(x: Quant, beta: float) -> Softmax16:
    """The operator for an input of this scale."""
    factor = x.scale * float(np.float32(beta)) / (10.0 / 65535.0)
    multiplier, exponent = fixedpoint.quantize_multiplier_tflite(factor)
    return Softmax16(int(multiplier), int(exponent))


def exp_table() -> tuple[int, ...]:
    """E."""
    return sampled(np.exp, np.float32(10.0) / np.float32(65535.0), _HIGH, _Y_SCALE)


def reciprocal_table() -> tuple[int, ...]:
    """R."""
    one = np.float32(1)
    return sampled(lambda v: np.asarray(one / (one + v)), one / np.float32(65535.0), _LOW, _Y_SCALE)
