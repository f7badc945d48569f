"""A sum of two 8-bit tensors by two products and one shift: numbers that give every output of golden, pair by pair.

TFLite rounds each input and then the sum; ONNX adds and divides real numbers.  What comes out is a staircase over the
pairs of inputs all the same, and whose edges lie about on straight lines.  Here is another one,

    clamp((ma * a + mb * b + offset) >> places, low, high)

in 32 bits.  With the factors of the scales, rounded to as many places as 32 bits allow, each pair says from where to
where `offset` may be: most often all 65,536 of them leave a range.  Where they leave none, factors nearby are tried.
It is the same staircase then, not nearly the same.  Halves that go away from zero, as TFLite's do where scales are
powers of two, take factors that are a little too large.  There is none for halves that go to the even output, and few
for halves where one input's scale is 32 times the other's.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from codegen.ir.form import Field
from codegen.ir.quant import Array, DType
from codegen.ops import Add
from codegen.records import record

_SUM = "ma, mb, offset, places: y = (ma * a + mb * b + offset) >> places, limited"
_INT32 = np.iinfo(np.int32)
_FEWER_PLACES = 3
"""How many fewer places than the most are tried."""
_AROUND = (0, 4, 16)
"""How far off the rounded factors may be."""
_NEAREST = 1024
"""Pairs that are nearest to another output: the others hardly ever say more about the offset."""
_APART = 40503
"""Of pairs that are equally near, as halves are, those that are taken lie all over the place."""
_ANYWHERE = np.int64(1 << 61)
"""Behind every bound of a range that has one."""


@record
class Plane:
    """y = (a * first + b * second + offset) >> places, limited."""

    first: int
    second: int
    offset: int
    places: int

    @property
    def field(self) -> Field:
        """The parameter `sum`."""
        return Field("sum", np.array([self.first, self.second, self.offset, self.places], np.int32), about=_SUM)


@lru_cache(maxsize=512)
def plane_of(op: Add, a: DType, b: DType) -> Plane | None:
    """The numbers for inputs of these types of 8 bits; None where there are none in 32 bits."""
    pairs = _all_pairs(op, a, b)
    nearest = pairs.nearest()
    most = pairs.most_places()
    for places in range(most, max(most - _FEWER_PLACES, 1) - 1, -1):
        for around in _AROUND:
            found = pairs.with_factors(*nearest.factors_with_most_room(places, around), places)
            if found is not None:
                return found
    return None


@record(eq=False)
class _Pairs:
    """Pairs of inputs, what golden makes of them, and the outputs in real numbers, neither rounded nor limited."""

    op: Add
    a: Array
    b: Array
    y: Array
    real: Array

    def nearest(self) -> _Pairs:
        """Those that are nearest to another output."""
        limited = np.clip(self.real, self.op.low - 1, self.op.high + 1)
        away = np.abs(limited - np.floor(limited) - 0.5) + np.abs(limited - self.real)
        which = np.lexsort((np.arange(away.size) * _APART % away.size, away))[:_NEAREST]
        return _Pairs(self.op, *(of_all[which] for of_all in (self.a, self.b, self.y, self.real)))

    def most_places(self) -> int:
        """How far outputs can be shifted left in 32 bits."""
        return 31 - int(np.frexp(np.abs(self.real).max() + 1)[1])

    def factors_with_most_room(self, places: int, around: int) -> tuple[int, int]:
        """Of the factors nearby, those that leave the offset the widest range."""
        by_a, by_b = (int(np.rint(np.ldexp(factor, places))) for factor in _factors(self.op))
        seconds = by_b + np.arange(-around, around + 1)
        rooms = []
        for first in range(by_a - around, by_a + around + 1):
            least, until = self._offsets(first * self.a + seconds[:, None] * self.b, places)
            rooms.append(until - least)
        row, column = divmod(int(np.argmax(rooms)), len(seconds))
        return by_a - around + row, int(seconds[column])

    def with_factors(self, first: int, second: int, places: int) -> Plane | None:
        """The plane that gives all outputs, no product or sum on the way to which leaves 32 bits."""
        begun, other = first * self.a, second * self.b
        total = begun + other
        if min(begun.min(), other.min()) < _INT32.min or max(begun.max(), other.max()) > _INT32.max:
            return None
        said_least, said_until = self._offsets(total, places)
        least = max(int(said_least), _INT32.min - int(min(begun.min(), total.min(), 0)))
        until = min(int(said_until), _INT32.max - int(max(begun.max(), total.max(), 0)) + 1)
        return Plane(first, second, (least + until) // 2, places) if least < until else None

    def _offsets(self, total: Array, places: int) -> tuple[Array, Array]:
        """From where to where `offset` may be: not up to the end."""
        least = np.where(self.y > self.op.low, (self.y << places) - total, -_ANYWHERE).max(-1)
        until = np.where(self.y < self.op.high, ((self.y + 1) << places) - total, _ANYWHERE).min(-1)
        return least, until


def _all_pairs(op: Add, a: DType, b: DType) -> _Pairs:
    grid = np.meshgrid(np.arange(a.low, a.high + 1), np.arange(b.low, b.high + 1))
    first, second = (axis.reshape(-1) for axis in grid)
    made = op.golden((first.astype(a.numpy), second.astype(b.numpy)))[0].astype(np.int64)
    by_a, by_b = _factors(op)
    real = (first - op.a.zero_point) * by_a + (second - op.b.zero_point) * by_b + op.y_quant.zero_point
    return _Pairs(op, first, second, made, real)


def _factors(op: Add) -> tuple[float, float]:
    """Of both inputs; as mode `single` has rounded them, with `mul8` to 7 bits."""
    if op.formula == "single":
        by_a, by_b, places = op.single_steps()
        return math.ldexp(by_a, -places), math.ldexp(op.sign * by_b, -places)
    return op.a.scale / op.y_quant.scale, op.sign * op.b.scale / op.y_quant.scale
