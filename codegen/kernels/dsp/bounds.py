"""Outputs with bounds of their own in blocks of assembly, as a ReLU and a ReLU6 leave them.

Instructions saturate to the bounds of a type.  Outputs are moved until the lower bound is that of a type, and moved
back by a sum of bytes that saturates at the upper one (runtime_c/isa/dsp/lam_armv7em_byte.h): zero point, low and high
of the requantization are all less by the same number, which the sum adds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.ir.form import Field
from codegen.ir.quant import DType, Requant
from codegen.kernels.fast import FastRequant, fast_requant
from codegen.kernels.weighted import Weighted
from codegen.records import record

_TYPES = ("s8", "u8")
_MOST = 255
_LIMITED = "limited"
_ADDED = {"floor_s8": 1, "floor_u7": 1, "floor_u8": 1, _LIMITED: 2}
"""Instructions that a bound takes of an output, by type."""
_AROUND = 2
"""Those of a block for each channel."""


@record(eq=False)
class InBytes:
    """Sums whose outputs are saturated to the type `rq.saturate`, and params `limits` that move them back."""

    sums: Weighted
    rq: FastRequant
    limits: tuple[Field, ...] = ()


def in_bytes(sums: Weighted, rq: FastRequant, *, floors: bool = False) -> InBytes:
    """The sums as blocks of assembly requantize them; with `floors` a lower bound alone takes less."""
    requant = sums.op.requant
    assert requant is not None, "bytes are requantized"
    if rq.saturate in _TYPES:
        return InBytes(sums, rq)
    kind = _floor(requant, sums.y) if floors else _LIMITED
    by = requant.low - (-128 if kind == "floor_s8" else 0)
    moved = replace(requant, zero_point=requant.zero_point - by, low=requant.low - by, high=requant.high - by)
    own = replace(sums, op=replace(sums.op, requant=moved))
    return InBytes(own, replace(fast_requant(moved, sums.reach), saturate=kind), (_limits(requant, kind, by),))


def _floor(requant: Requant, y: DType) -> str:
    """The type that outputs are saturated to."""
    if requant.high != y.high:
        return _LIMITED
    if y is DType.U8:
        return "floor_u8"
    return "floor_s8" if requant.low < 0 else "floor_u7"


def _limits(requant: Requant, kind: str, by: int) -> Field:
    added, taken = by, 0
    if kind == _LIMITED:
        added, taken = _MOST - (requant.high - requant.low), (_MOST - requant.high) % (_MOST + 1)
    word = np.frombuffer(bytes([added, added, taken, taken]), "<u4").astype(np.uint32)
    return Field("limits", word, about="of the output, of lam_armv7em_byte.h")


_BYTE = {"lined": 1, "low": 3, "single": 3, "raised": 4, "tflite": 4}
"""Instructions from a sum to its byte, beside the product and the store, by form."""


def byte_instructions(form: str) -> int:
    """Of a form, for each output."""
    return _BYTE[form]


def added_instructions(saturate: str) -> tuple[int, int]:
    """Of a type, for each output and for each channel of a block."""
    return (_ADDED[saturate], _AROUND) if saturate in _ADDED else (0, 0)
