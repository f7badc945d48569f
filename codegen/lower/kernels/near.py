"""Requantization of ordinary scales: a high multiply, one addend for rounding and zero point, a shift, a saturation.

Decides which layers get that form (`runtime_c/include/lam_requant_near.h`) and packs its shifts; all others keep the
general one of common.py.  The conditions make both equal to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.ir.program import Field
from codegen.ir.quant import DType, Requant
from codegen.lower.kernels.common import RequantContext, range_field, requant_context, requant_fields

_LARGEST_SHIFT = 21
_LARGEST_ZERO_POINT = 255
_DOUBLED = 1 << 30


@dataclass(frozen=True, slots=True)
class NearContext:
    """How a template requantizes: `form` is single or double, or empty for the general way, which is `rq`.

    `saturate` is the type (s8 or u8) whose own bounds the layer has, or empty when bounds are parameters.
    """

    form: str
    per_channel: bool
    saturate: str
    rq: RequantContext


def near_context(requant: Requant, y_dtype: DType, ends: tuple[int, int]) -> NearContext:
    """The form for accumulators that end within `ends`, a pair of bounds; the accumulator has 32 bits."""
    own_bounds = (requant.low, requant.high) == (y_dtype.low, y_dtype.high)
    saturate = y_dtype.value if own_bounds and y_dtype in (DType.S8, DType.U8) else ""
    form = requant.mode if near_shifts(requant, ends) is not None else ""
    return NearContext(form, requant.per_channel, saturate, requant_context(requant))


def near_fields(requant: Requant, ends: tuple[int, int]) -> tuple[Field, ...]:
    """Params `multiplier`, `shift` as the near form takes it, and `range`; or those of the general way."""
    shifts = near_shifts(requant, ends)
    if shifts is None:
        return requant_fields(requant)
    return (
        Field("multiplier", np.array(requant.multiplier, np.int32)),
        range_field(requant.zero_point, requant.low, requant.high),
        Field("shift", np.array(shifts, np.int8)),
    )


def near_shifts(requant: Requant, ends: tuple[int, int]) -> list[int] | None:
    """The shifts that follow the high multiply, 1 .. 21 each; None where the form would not give the same values.

    A multiplier of 0 makes any shift right.  Mode `double` needs twice the accumulator within 32 bits.
    """
    if requant.mode not in ("single", "double") or abs(requant.zero_point) > _LARGEST_ZERO_POINT:
        return None
    if requant.mode == "double" and (ends[0] <= -_DOUBLED or ends[1] >= _DOUBLED):
        return None
    given = zip(requant.multiplier, requant.shift, strict=True)
    shifts = [(s - 32 if requant.mode == "single" else -s) if m else 1 for m, s in given]
    return shifts if all(1 <= s <= _LARGEST_SHIFT for s in shifts) else None
