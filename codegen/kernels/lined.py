"""Requantization of TFLite by one product and one sum: numbers that give every output of golden, channel by channel.

TFLite rounds twice and adds the zero point behind that, which takes a product, two sums and two shifts.  What comes out
is a staircase all the same: output k begins at some first accumulator t(k), and those lie about on a line.  Here is
another one,

    clamp((((acc + offset) * multiplier >> 32) + addend) >> (addend & 255))

whose steps begin where offset * multiplier + addend * 2^32 is in a range of its own: for each k that is reached,

    k * 2^(32 + shift) - t(k) * multiplier  <=  it  <  k * 2^(32 + shift) - (t(k) - 1) * multiplier

All accumulators together leave a range about a hundredth of the multiplier wide, that of TFLite's own rounding in it;
`addend` holds zero point and rounding and is moved from there, in steps of 256 that leave the shift in its last byte,
until some whole `offset`, which goes into the bias, falls into the range.  It is the same staircase then: not nearly
the same.

`halved_line_of` has a shift of one for all channels, which instructions that saturate have for nothing:

    saturate((((acc + offset) * multiplier >> 32) + addend) >> 1)

Multipliers have about 25 bits then, which leaves the line less choice; that a channel's sums reach only so far gives
some of it back.  Mode `single` is one product and one sum by its definition, and has such a line as well.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from codegen.ir.form import Field
from codegen.ir.quant import Array, Requant
from codegen.kernels.common import whose_factors
from codegen.ops.requantize import scaled
from codegen.records import record

_REACH = 1 << 30
_HALF, _MOST_SHIFT = 1 << 30, 20
_INT32 = np.iinfo(np.int32)
_ANYWHERE = np.int64(1 << 61)
"""Behind every bound of a range that has one."""
_STEP = 256
"""How addends of one shift differ."""
_STEPS = _STEP * np.array(sorted(range(-8192, 8193), key=abs), np.int64)
"""By how much those that are tried differ from the first one."""
_TRIED = ((0, 1025), *((by, len(_STEPS)) for by in sorted(range(-8, 9), key=abs)))
"""How far off multipliers may be, and how many steps of addends are tried with them.

Most ranges need few; the steps of some multipliers fall on few places, and another one is as good.
"""

_EVEN_STEPS = 2 * np.array(sorted(range(-4096, 4096), key=abs), np.int64)
_TRIED_HALVED = ((0, 257), *((by, len(_EVEN_STEPS)) for by in sorted(range(-8, 9), key=abs)))
"""The same of lines that are halved, whose addends have 16 bits."""
FURTHEST = 1 << 29
"""Offsets are no larger, which a bias has room for."""


@record(eq=False)
class Line:
    """The numbers of each channel, or of all channels."""

    multiplier: Array
    addend: Array
    offset: Array


def line_fields(requant: Requant, line: Line, reader: str) -> tuple[Field, Field]:
    """Params `multiplier` and `shift`, whose last byte that is, for what reads them in C."""
    about = f"{whose_factors(requant)}, of {reader}"
    return Field("multiplier", line.multiplier, about=about), Field("shift", line.addend, about=about)


@lru_cache(maxsize=512)
def line_of(requant: Requant, reach: int) -> Line | None:
    """The numbers for accumulators of at most `reach` in size; None where there are none for some channel.

    Below the zero point TFLite's halves go away from it: no line has all steps there, so that none is looked for
    unless a ReLU follows.
    """
    exponent = np.array(requant.shift, np.int64)
    bounded = requant.zero_point <= requant.low < requant.high
    if requant.mode != "tflite" or not bounded or exponent.max() >= 0 or reach >= _REACH:
        return None
    outputs = np.arange(requant.low + 1, requant.high + 1, dtype=np.int64)[:, None]
    firsts = first_of_outputs(requant, outputs, reach)
    shift = np.minimum(-exponent - 1, _MOST_SHIFT)
    given = np.array(requant.multiplier, np.int64)
    factor = np.where(given == 0, _HALF, given) >> (-exponent - 1 - shift)
    line = Line(factor, np.zeros_like(factor), np.zeros_like(factor))
    left = np.arange(len(factor))
    for by, steps in _TRIED:
        multiplier = np.minimum(factor[left] + by, _INT32.max)
        bounds = _range(outputs, firsts[:, left], reach, multiplier, shift[left])
        addend, offset = _placed(requant.zero_point, multiplier, shift[left], *bounds, steps)
        for of_all, found in zip(
            (line.multiplier, line.addend, line.offset), (multiplier, addend, offset), strict=True
        ):
            of_all[left] = found
        left = left[~_is_in_range(multiplier, addend, offset, *bounds)]
        if not left.size:
            return Line(line.multiplier.astype(np.int32), line.addend.astype(np.int32), line.offset)
    return None


@lru_cache(maxsize=512)
def halved_line_of(requant: Requant, reach: tuple[int, ...], odd: int) -> Line | None:
    """The numbers for accumulators of at most `reach` in size, channel by channel; None where one has none.

    Addends have 16 bits, and are even but for that of channel `odd`.
    """
    if max(reach) >= _REACH or requant.low >= requant.high or not is_straight(requant):
        return None
    count, most = len(reach), np.array(reach, np.int64)
    multipliers, shifts = (np.broadcast_to(values, count).tolist() for values in (requant.multiplier, requant.shift))
    each = replace(requant, multiplier=tuple(multipliers), shift=tuple(shifts))
    outputs = np.arange(requant.low + 1, requant.high + 1, dtype=np.int64)[:, None]
    firsts = first_of_outputs(each, outputs, most)
    factor = np.clip(np.rint(np.ldexp(factors_of(each), 33)), 1, _INT32.max).astype(np.int64)
    centre = 2 * requant.zero_point + (np.arange(count) == odd)
    line = Line(factor.astype(np.int32), np.zeros(count, np.int16), np.zeros(count, np.int64))
    left = np.arange(count)
    for by, steps in _TRIED_HALVED:
        multiplier = np.clip(factor[left] + by, 1, _INT32.max)
        least, until = _range(outputs, firsts[:, left], most[left], multiplier, np.ones(1, np.int64))
        some = least < until  # of channels with long sums hardly any
        tried, multiplier, least, until = left[some], multiplier[some], least[some], until[some]
        addends = centre[tried] + _EVEN_STEPS[:steps, None]
        offsets = np.clip((until - 1 - (addends << 32)) // multiplier, -FURTHEST, FURTHEST)
        within = _is_in_range(multiplier, addends, offsets, least, until)
        found = within.any(0)
        at, which = within.argmax(0)[found], tried[found]
        line.multiplier[which], line.offset[which] = multiplier[found], offsets[at, np.flatnonzero(found)]
        line.addend[which] = addends[at, np.flatnonzero(found)]
        left = np.setdiff1d(left, which)
        if not left.size:
            return line
    return None


def is_straight(requant: Requant) -> bool:
    """Whether steps may lie on one line."""
    if requant.mode == "tflite":
        return requant.zero_point <= requant.low and max(requant.shift) < 0
    return requant.mode == "single" and requant.rounding == "half_up"


def factors_of(requant: Requant) -> Array:
    """What sums are multiplied by; the least there is for 0."""
    exponent = np.array(requant.shift, np.float64)
    places = -exponent if requant.mode == "single" else exponent - 31
    factors: Array = np.maximum(np.array(requant.multiplier, np.float64), 1) * np.exp2(places)
    return factors


def first_of_outputs(requant: Requant, outputs: Array, reach: int | Array) -> Array:
    """The first accumulator that becomes an output or more: -reach if all do, reach + 1 if none does."""
    free = replace(requant, low=_INT32.min, high=_INT32.max)
    near = np.ceil((outputs - requant.zero_point - 0.5) / factors_of(requant))
    near = np.clip(near, -reach, reach + 1).astype(np.int64)
    below = sum((scaled(free, near + by) < outputs).astype(np.int64) for by in (-1, 0, 1))
    firsts: Array = np.clip(near - 1 + below, -reach, reach + 1)
    begins = (firsts > reach) | (scaled(free, firsts) >= outputs)
    assert (begins & ((firsts <= -reach) | (scaled(free, firsts - 1) < outputs))).all(), "it is off by one at most"
    return firsts


def _range(outputs: Array, firsts: Array, reach: int | Array, multiplier: Array, shift: Array) -> tuple[Array, Array]:
    """From where to where offset * multiplier + addend * 2^32 may be, channel by channel."""
    ends = outputs << (32 + shift)
    least = np.where(firsts > reach, -_ANYWHERE, ends - firsts * multiplier)
    until = np.where(firsts <= -reach, _ANYWHERE, ends - (firsts - 1) * multiplier)
    return least.max(0), until.min(0)


def _is_in_range(multiplier: Array, addend: Array, offset: Array, least: Array, until: Array) -> Array:
    total = offset * multiplier + (addend << 32)
    within: Array = (least <= total) & (total < until)
    return within


def _placed(
    zero_point: int, multiplier: Array, shift: Array, least: Array, until: Array, steps: int
) -> tuple[Array, Array]:
    """Of addends near zero point and rounding the nearest one that some offset fits, with it: any if there is none."""
    rounded = (zero_point << shift) + ((np.int64(1) << shift) >> 1)
    addends = rounded + (shift - rounded) % _STEP + _STEPS[:steps, None]
    offsets = (until - 1 - (addends << 32)) // multiplier
    which = _is_in_range(multiplier, addends, offsets, least, until).argmax(0)
    channels = np.arange(len(which))
    return addends[which, channels], offsets[which, channels]
