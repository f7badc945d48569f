"""The range of one tensor as a table gives it, and the level that it becomes.

Decides: which ranges are none.  A range always takes in zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from codegen.ir.real import Stored
from codegen.quantizer.config.config import QuantConfig
from codegen.quantizer.config.levels import ALL, TENSOR, Level, in_order, literal
from codegen.records import record

_LARGEST = 3.4e38


@record
class Ranged:
    """The least and the greatest number of a tensor.

    `threshold` is what the least integer stands for where zero is the integer 0, None where the table has none.
    """

    name: str
    low: float
    high: float
    threshold: float | None = None
    bits: int | None = None
    symmetric: bool | None = None
    signed: bool | None = None

    @classmethod
    def of(cls, name: str, stored: Stored) -> Ranged:
        """What the integers of a tensor span."""
        bits = stored.bits or 8 * stored.dtype.itemsize
        scale, zero, signed = float(stored.scale.item()), int(stored.zero_point.item()), stored.dtype.kind == "i"
        return cls(
            name,
            scale * (stored.low - zero),
            scale * (stored.high - zero),
            scale * (1 << (bits - 1)) if signed and zero == 0 else None,
            None if bits == 8 else bits,
            signed and zero == 0,
            signed,
        )

    @property
    def problem(self) -> str:
        """What is wrong with the numbers; empty where nothing is."""
        numbers = [self.low, self.high, 0.0 if self.threshold is None else self.threshold]
        if not all(math.isfinite(n) and abs(n) <= _LARGEST for n in numbers):
            return "a range is of finite numbers of float32"
        if self.low > self.high:
            return f"the least number, {self.low:g}, is above the greatest, {self.high:g}"
        return "" if numbers[2] >= 0 else f"the threshold {numbers[2]:g} is below zero"

    @property
    def is_empty(self) -> bool:
        """Whether the tensor was nothing but zero."""
        return min(self.low, 0.0) == max(self.high, 0.0)

    def level(self, place: str) -> Level:
        """The level that fixes the range of this tensor alone."""
        values: dict[str, object] = {"range": (min(self.low, 0.0), max(self.high, 0.0))}
        asked = {"threshold": self.threshold or None, "bits": self.bits}
        asked |= {"symmetric": self.symmetric, "signed": self.signed}
        values |= {key: value for key, value in asked.items() if value is not None}
        return Level(values=values, rank=TENSOR, chosen=literal(self.name), place=place, entry=f"{place} {self.name}")


def ranged_config(
    ranges: Iterable[tuple[Ranged, str]], more: Iterable[Level] = (), notes: Iterable[str] = ()
) -> QuantConfig:
    """The configuration of ranges with their places; tensors that were always zero are noted and left out."""
    known = list(ranges)
    empty = [r.name for r, _ in known if r.is_empty]
    said = [f"tensors that were always zero have no range: {', '.join(empty)}"] if empty else []
    levels = [*more, *(r.level(place) for r, place in known if not r.is_empty)]
    return QuantConfig(levels=in_order(levels), notes=(*notes, *said))


def around_zero(place: str) -> Iterator[Level]:
    """Levels that say that what is computed has no zero points."""
    for role in ("input", "activation"):
        yield Level(values={"symmetric": True}, rank=ALL, role=role, place=place)
