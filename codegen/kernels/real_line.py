"""Requantization by one fused product and sum of real numbers: numbers that give every output of golden.

Vectors of a host's processor multiply and add real numbers of 24 bits in one instruction that rounds once.  What comes
out of requantization is a staircase (codegen/kernels/lined.py), and so is

    clamp(rint(fma(acc, scale, addend)))

for fma, rint and the conversion of `acc` never go down where `acc` goes up.  Two staircases are the same where each
step begins at the same accumulator, which is looked at here for each step of each channel, with the very roundings of
the processor: a sum of both, formed exactly in 53 bits, is rounded to 24.  The zero point is in the bias, as a whole
number of accumulators, so that `addend` is small and its places fine.

TFLite rounds halves away from zero, which on both sides of the zero point is another staircase,

    clamp(trunc(fma(acc, scale, addend with the sign of acc)) + zero point)

Outputs of many accumulators each (about a thousand and more) leave numbers of 24 bits too little room: such a channel
may have none, and its layer takes integers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from codegen.ir.form import Field
from codegen.ir.quant import Array, Requant
from codegen.kernels.common import whose_factors
from codegen.kernels.lined import factors_of, first_of_outputs, is_straight
from codegen.records import record

_PLACES = 1 << 30
"""Addends are multiples of its inverse: with factors of 24 bits their sums are exact in 53."""
_EXACT, _FRACTION = 52, 23
_FURTHEST = 1 << 29
"""Offsets are no larger, which a bias has room for."""
_LARGEST = 1 << 21
"""Products are no larger, so that plain C can round them by one sum."""
_BETWEEN = (0.5, 0.35, 0.65, 0.2, 0.8, 0.05, 0.95)
"""Where in its range an addend is tried."""
_TRIED = np.array(sorted(range(-600, 601), key=abs), np.int32)[1:]
"""By how many units in the last place factors may be off."""
_TURNS = 10
"""In how many turns they are tried."""


@record(eq=False)
class RealLine:
    """The numbers of each channel; `mirrored`: sums of either sign are rounded away from zero."""

    scale: Array
    addend: Array
    offset: Array
    mirrored: bool


def real_line_fields(requant: Requant, line: RealLine) -> tuple[Field, Field]:
    """Params `scale` and `added`."""
    whose = whose_factors(requant)
    return Field("scale", line.scale, about=whose), Field(
        "added", line.addend, about=f"{whose}, to a product with scale"
    )


@lru_cache(maxsize=512)
def real_line_of(requant: Requant, reach: tuple[int, ...]) -> RealLine | None:
    """The numbers for accumulators of at most `reach` in size, channel by channel; None where one has none."""
    mirrored = requant.mode == "tflite" and requant.low < requant.zero_point
    if requant.low >= requant.high or not (mirrored or is_straight(requant)):
        return None
    steps = _steps(requant, np.array(reach, np.int64), mirrored=mirrored)
    if steps is None:
        return None
    scale = steps.factor.astype(np.float32)
    addend, found = steps.placed(scale)
    for channel in np.flatnonzero(~found):
        for by in np.array_split(_TRIED, _TURNS):
            tried = (scale[channel : channel + 1].view(np.int32) + by).view(np.float32)
            addends, made = steps.of(np.full(len(by), channel)).placed(tried)
            if made.any():
                scale[channel], addend[channel] = tried[made.argmax()], addends[made.argmax()]
                break
        else:
            return None
    return RealLine(scale, addend, steps.offset, mirrored)


@record(eq=False)
class _Steps:
    """Where outputs [steps, 1] begin: at accumulators `firsts` [steps, channels], with `offset` in them.

    `begins`: a step that is reached; `ends`: one that not all sums are beyond.  `mirrored` outputs are those less the
    zero point.
    """

    outputs: Array
    firsts: Array
    begins: Array
    ends: Array
    factor: Array
    offset: Array
    mirrored: bool

    def of(self, channels: Array) -> _Steps:
        """Those of some channels."""
        per = {name: getattr(self, name)[..., channels] for name in ("firsts", "begins", "ends", "factor", "offset")}
        return replace(self, **per)

    def placed(self, scale: Array) -> tuple[Array, Array]:
        """For each channel an addend, and whether it makes every output."""
        least, until = self._range(scale.astype(np.float64))
        addend, found = np.zeros(len(scale), np.float32), np.zeros(len(scale), np.bool_)
        for between in _BETWEEN:
            left = np.flatnonzero(~found & (least < until))
            tried = np.rint((least + (until - least) * between)[left] * _PLACES) / _PLACES
            addend[left] = tried
            found[left] = self.of(left)._are_made(scale[left], addend[left])
        return addend, found

    def _range(self, scale: Array) -> tuple[Array, Array]:
        """From where to where addends may be, if nothing were rounded."""
        at, before = self.firsts * scale, (self.firsts - 1) * scale
        outputs = self.outputs if self.mirrored else self.outputs - 0.5
        least, until = outputs - at, outputs - before
        if self.mirrored:  # below zero |acc| * scale + addend is cut: less than 1 - output where the step begins
            least, until = np.where(outputs > 0, (least, until), (1 - outputs + before, 1 - outputs + at))
            begins, ends = np.where(outputs > 0, (self.begins, self.ends), (self.ends, self.begins))
        else:
            begins, ends = self.begins, self.ends
        lowest = 0.0 if self.mirrored else -1.0
        return np.where(begins, least, lowest).max(0, initial=lowest), np.where(ends, until, 1.0).min(0, initial=1.0)

    def _are_made(self, scale: Array, addend: Array) -> Array:
        """Whether each step begins where it has to, channel by channel."""
        begins = (self._made(self.firsts, scale, addend) >= self.outputs) | ~self.begins
        ends = (self._made(self.firsts - 1, scale, addend) < self.outputs) | ~self.ends
        return np.asarray((begins & ends).all(0))

    def _made(self, acc: Array, scale: Array, addend: Array) -> Array:
        """What the processor makes of sums, before they are clamped."""
        signed = np.where(acc < 0, -addend, addend) if self.mirrored else addend
        exact = acc.astype(np.float32).astype(np.float64) * scale + signed
        once = exact.astype(np.float32)
        return np.asarray(np.trunc(once) if self.mirrored else np.rint(once))


def _steps(requant: Requant, reach: Array, *, mirrored: bool) -> _Steps | None:
    """The steps of each channel; None where sums or products are too large to be exact."""
    count = len(reach)
    multipliers, shifts = (np.broadcast_to(values, count).tolist() for values in (requant.multiplier, requant.shift))
    each = replace(requant, multiplier=tuple(multipliers), shift=tuple(shifts))
    factor = np.broadcast_to(factors_of(each), count)
    offset = np.zeros(count) if mirrored else np.rint(requant.zero_point / factor)
    largest = (reach + np.abs(offset)) * factor + 2
    places = np.ceil(np.log2(largest)) - np.minimum(np.floor(np.log2(factor)) - _FRACTION, np.log2(1 / _PLACES))
    if largest.max() >= _LARGEST or places.max() > _EXACT or np.abs(offset).max() > _FURTHEST:
        return None
    outputs = np.arange(requant.low + 1, requant.high + 1, dtype=np.int64)[:, None]
    firsts, whole = first_of_outputs(each, outputs, reach), offset.astype(np.int64)
    relative = outputs - requant.zero_point if mirrored else outputs
    return _Steps(relative, firsts + whole, firsts <= reach, firsts > -reach, factor, whole, mirrored)
