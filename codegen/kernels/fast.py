"""Requantization from the high half of one product: what the kernels of instruction sets use wherever it is exact.

`single`, every shift 33 or more (every scale below one quarter), with hi the high 32 bits of acc * multiplier:

    clamp((((hi >> (shift - 33)) + 2 * zp + 1) >> 1))

is clamp(zp + ((acc * multiplier + 2^(shift - 1)) >> shift)), for a floor of a floor is one floor.  `raised` is the same
of acc * 2^6 and shift + 6, where sums have room for it: scales below 16.  `tflite`, every exponent below 0, with
r = (acc * multiplier + 2^30) >> 31 and |acc| < 2^30:

    clamp(((((r + (r >> 31)) >> (-exponent - 1)) + 2 * zp + 1) >> 1))

is the rounding divide by 2^-exponent, halves away from zero, likewise; `low` is the same without (r >> 31), which only
matters below the zero point, where that is the least output.  `any` also takes exponents e of 0 and more, channel by
channel, for which r = (acc * 2^e * multiplier + 2^30) >> 31 is the result itself.  `rounded`, every factor 2^-s with
s of 2 or more and |acc| < 2^31, is `single` with another rounding:

    clamp(((((acc - d) >> (s - 1)) + 2 * zp + 1) >> 1))      d is 1 where a half goes down, else 0

Accumulators are whole: one less moves those that lie on a half to below it, and no other one across any bound.
The last shift and the clamp are one instruction where the bounds are those of a whole type.

A multiplier of 0 is stored as 2^30 with the largest shift, which gives the zero point too: multipliers are never small.
"""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field
from codegen.ir.quant import Array, Requant
from codegen.kernels.common import RequantContext, range_field, requant_context, requant_fields, whose_factors
from codegen.records import record

_BOUNDS = {(-128, 127): "s8", (0, 255): "u8", (0, 127): "u7"}
_REACH, _INT32 = 1 << 30, (1 << 31) - 1
_MOST_SHIFT = 30
_ONE_PRODUCT, RAISED = 33, 6
"""The least shift of `single`, and by how many bits sums are shifted left in form `raised` (lam_twice_raised)."""
_HALF, _PLACES = 1 << 30, 30
"""The multiplier of a power of two, and the places of the shift that it makes up for."""


@record
class FastRequant:
    """How a template requantizes.

    `form` is `single`, `raised`, `tflite`, `low`, `any` or `rounded` as above, `lined` (kernels/lined.py), or
    empty: then `plain` says how.
    `saturate` names the type whose bounds the output has (s8, u8, u7), empty for other bounds.
    """

    form: str
    per_channel: bool
    saturate: str
    plain: RequantContext

    @property
    def centred(self) -> bool:
        """Whether the output is halved, around twice the zero point."""
        return self.form not in ("", "lined")

    @property
    def headers(self) -> tuple[str, ...]:
        """What the template's requantization calls."""
        if self.form == "rounded":
            return ("lam_requant_fast.h" if self.saturate else "lam_requant.h", "lam_requant_rounded.h")
        return fast_headers(self.saturate) if self.form else self.plain.headers


def fast_requant(requant: Requant | None, reach: int) -> FastRequant:
    """The form for accumulators of at most `reach` in size, which fit 32 bits."""
    plain = requant_context(requant)
    if requant is None:
        return FastRequant("", False, "", plain)
    return FastRequant(_form(requant, reach), requant.per_channel, saturation(requant.low, requant.high), plain)


def fast_headers(saturate: str) -> tuple[str, ...]:
    """What the form calls, and the clamp where no instruction saturates."""
    return ("lam_requant_fast.h",) if saturate else ("lam_requant_fast.h", "lam_requant.h")


def saturation(low: int, high: int) -> str:
    """The type whose bounds these are: s8, u8, u7; empty for other bounds."""
    return _BOUNDS.get((low, high), "")


def _form(requant: Requant, reach: int) -> str:
    if requant.rounding != "half_up":
        powers = all(m == _HALF and s >= _PLACES + 2 for m, s in zip(requant.multiplier, requant.shift, strict=True))
        return "rounded" if powers and reach < _INT32 else ""
    if requant.mode == "single":
        return _single_form(requant, reach)
    if requant.mode == "tflite":
        return _tflite_form(requant, reach)
    return ""


def _single_form(requant: Requant, reach: int) -> str:
    least = min((s for m, s in zip(requant.multiplier, requant.shift, strict=True) if m), default=_ONE_PRODUCT)
    if least >= _ONE_PRODUCT:
        return "single"
    return "raised" if least >= _ONE_PRODUCT - RAISED and reach << RAISED <= _INT32 else ""


def _tflite_form(requant: Requant, reach: int) -> str:
    most = max(requant.shift)
    if most >= 0:
        return "any" if reach << most < _REACH // 2 else ""
    if reach >= _REACH:
        return ""
    return "low" if requant.low == requant.zero_point else "tflite"


def takes_one_product(requant: Requant | None, reach: int) -> bool:
    """Whether all factors are below one half (`single`: one quarter), for kernels that have no other form."""
    return fast_requant(requant, reach).form in ("single", "tflite", "low")


def fast_fields(requant: Requant | None, reach: int, channels: int) -> tuple[Field, ...]:
    """Params `multiplier`, `shift` (less 33, or -exponent - 1) and `range`, filled up to `channels`.

    Form `raised` has shifts less 27, for its sums are shifted left by 6.  Form `rounded` has no multiplier, and the
    right shift less 1.
    """
    form = fast_requant(requant, reach)
    if requant is None or not form.form:
        return tuple(_filled(f, channels) for f in requant_fields(requant))
    multiplier, shift = np.array(requant.multiplier, np.int32), np.array(requant.shift, np.int64)
    bounds = range_field(requant.zero_point, requant.low, requant.high, saturates=bool(form.saturate))
    if form.form == "rounded":
        places = Field("shift", (shift - _PLACES - 1).astype(np.int8), about="right shift less 1, of lam_twice_rounded")
        return (bounds, _filled(places, channels))
    none = multiplier == 0
    multiplier = np.where(none, _HALF, multiplier).astype(np.int32)
    less = np.where(none, _MOST_SHIFT, _places(form.form, shift))
    about = f"{whose_factors(requant)}, of lam_twice_{form.form}"
    fields = (Field("multiplier", multiplier, about=about), bounds, Field("shift", less.astype(np.int8), about=about))
    return tuple(_filled(f, channels) for f in fields)


def _places(form: str, shift: Array) -> Array:
    """The right shift that is left to do behind the product: by more than 30 gives what 30 does."""
    less = {"single": _ONE_PRODUCT, "raised": _ONE_PRODUCT - RAISED}.get(form)
    return -shift - 1 if less is None else np.minimum(shift - less, _MOST_SHIFT)


def _filled(field: Field, channels: int) -> Field:
    """Per-channel arrays get zeros up to `channels`; others are as they were."""
    if field.name == "range" or field.values.size == 1:
        return field
    more = "; zeros after them" if channels > field.values.size else ""
    return Field(field.name, filled(field.values, channels), about=field.about + more)


def filled(values: Array, count: int) -> Array:
    """The array with zeros behind it, along the first axis, up to `count` entries."""
    missing = [(0, count - values.shape[0])] + [(0, 0)] * (values.ndim - 1)
    return np.pad(values, missing)
