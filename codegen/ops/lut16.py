"""Lut16: a function of 16-bit numbers as a table of 513 entries, linear in between.

x: s16 -> y: s16.  Entry i belongs to x = 128 i - 32768, and x & 127 is the share of the step to the next one:

    d = T[i + 1] - T[i];  y = T[i] + ((d * (x & 127) + 64) >> 7)    i = 256 + (x >> 7); d and y wrap in 16 bits

TFLite's samples are taken in float32, each moved by half the error that interpolation makes in the middle of its step.
Where a function has no number, at and below 0 for the logarithm, it is the lowest one of the output; a sample between
two that leave float32 is 0.
Source: tensorflow/lite/kernels/internal/common.h (LUTLookup, LUTPopulate), kernels/elementwise.cc, exp.cc,
reference/gelu.h.  Twin: lam_lut_s16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from codegen import fixedpoint
from codegen.ir.op import Limit
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ops.answers import Types, any_layout, in_place_when_equal, no_macs, same_row
from codegen.ops.limits import only_input, require, types_among
from codegen.records import record

STEPS = 512
_LOW, _HIGH = -(1 << 15), (1 << 15) - 1
F32 = npt.NDArray[np.float32]


@record
class Lut16:
    """A unary function of 16-bit numbers; `what` is its name in reports."""

    table: tuple[int, ...]
    y_quant: Quant
    what: str

    elementwise: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (types_among("LAM-OPS-ACTIVATION-19", 0, "the input", (DType.S16,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        """The output's type."""
        x = only_input(self, ins)
        require(len(self.table) == STEPS + 1, self, f"the table must have {STEPS + 1} entries, got {len(self.table)}")
        return (TensorType(x.shape, DType.S16, self.y_quant),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The output, to the bit."""
        return (look_between(self.table, ins[0].astype(np.int64)).astype(np.int16),)

    rows = same_row
    macs = no_macs
    in_place = in_place_when_equal
    in_layout = any_layout


def look_between(table: Sequence[int], v: Array) -> npt.NDArray[np.int64]:
    """The table's number for each 16-bit one."""
    entries = np.array(table, np.int64)
    index, share = 256 + (v >> 7), v & 0x7F
    step = (entries[index + 1] - entries[index]).astype(np.int16).astype(np.int64)
    return np.asarray((entries[index] + ((step * share + 64) >> 7)).astype(np.int16).astype(np.int64))


def sampled(f: Callable[[F32], F32], scale: np.float32, zero_point: int, y_scale: np.float32) -> tuple[int, ...]:
    """The 513 entries of a function from reals to reals, in TFLite's float32 steps."""
    low, high = (scale * np.float32(v - zero_point) for v in (_LOW, _HIGH))
    inverse = np.float32(65536) / (y_scale * np.float32(_HIGH) - y_scale * np.float32(_LOW))
    step = np.float32((high - low) / np.float32(STEPS))
    at = (low + np.arange(STEPS + 1, dtype=np.float32) * step).astype(np.float32)
    middle = (at[:-1] + np.float32(step / 2)).astype(np.float32)
    here, next_ = f(at[:-1]).astype(np.float32) * inverse, f(at[1:]).astype(np.float32) * inverse
    sample = _rounded(here)
    between = _rounded(((next_ + sample) / np.float32(2)).astype(np.float32))
    bias = _rounded(((between - _rounded(f(middle).astype(np.float32) * inverse)) / np.float32(2)).astype(np.float32))
    last = _rounded(f(np.array([high], np.float32)) * inverse)
    entries = np.clip(np.concatenate([sample - bias, last]), _LOW, _HIGH)
    return tuple(np.where(np.isnan(entries), 0, entries).astype(np.int64).tolist())  # of infinities less infinities


def _exp(v: F32, lowest: np.float32) -> F32:
    return np.exp(v.astype(np.float64)).astype(np.float32)


def _log(v: F32, lowest: np.float32) -> F32:
    return np.where(v > 0, np.log(np.where(v > 0, v, 1).astype(np.float64)).astype(np.float32), lowest)


def _gelu(v: F32, lowest: np.float32) -> F32:
    tail = [math.erfc(u) for u in (v * np.float32(-math.sqrt(0.5))).tolist()]
    return np.float32(0.5) * v * np.array(tail, np.float32)


def _gelu_tanh(v: F32, lowest: np.float32) -> F32:
    inner = np.float32(math.sqrt(2.0 / math.pi)) * (v + np.float32(0.044715) * v * v * v)
    return np.float32(0.5) * v * (np.float32(1) + np.tanh(inner.astype(np.float64)).astype(np.float32))


CURVES: Mapping[str, Callable[[F32, np.float32], F32]] = {
    "Exp": _exp,
    "Gelu": _gelu,
    "GeluTanh": _gelu_tanh,
    "Log": _log,
}
"""Functions in TFLite's float32 steps; the second argument is the output's lowest number."""


def lut16(name: str, x: Quant, y: Quant) -> Lut16:
    """The operator that TFLite makes of a function between two scales."""
    scale, y_scale = np.float32(x.scale), np.float32(y.scale)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        table = sampled(lambda v: CURVES[name](v, y_scale * np.float32(_LOW)), scale, 0, y_scale)
    return Lut16(table, y, name)


def _rounded(x: F32) -> F32:
    return fixedpoint.round_half_away(x).astype(np.float32)
