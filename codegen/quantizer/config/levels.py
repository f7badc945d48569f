"""Which of several levels holds for a tensor, and what they come to together.

Decides: the order of levels, and how layers and tensors are named.  A level says values of keys; the last one wins,
key by key.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase

from codegen.errors import QuantKeysConflict
from codegen.quantizer.config.keys import said_to, spec_of
from codegen.quantizer.config.rules import broken
from codegen.quantizer.spec import Role, Spec
from codegen.records import record

ALL, LAYER_TYPE, LAYER_NAME, TENSOR = 0, 1, 2, 3
_INSTEAD = {
    "range": ("method", "threshold"),
    "threshold": ("method", "range"),
    "method": ("range", "threshold"),
    "scale": ("symmetric",),
    "bits": ("symmetric",),
}
"""Keys that take back what an earlier level said of others, unless their own level says that too."""
_ESCAPED = re.compile(r"\[([*?[])\]")


@record(kw_only=True)
class Level:
    """What one table says: `values` by key, of the tensors that it is for.

    `rank` is its place among the levels, `chosen` the type, the name or the glob that the table is for, and `role` the
    only role that it speaks of.  `place` is where it stands, for messages; levels of one `entry` were written as one.
    """

    values: Mapping[str, object]
    rank: int = ALL
    chosen: str = ""
    role: Role | None = None
    place: str = ""
    entry: str = ""

    def holds(self, layer: str, op_type: str, tensor: str) -> bool:
        """Whether the level speaks of this tensor."""
        if self.rank == LAYER_TYPE:
            return plain_type(self.chosen) == plain_type(op_type)
        return self.rank == ALL or self.fits(layer if self.rank == LAYER_NAME else tensor)

    def fits(self, name: str) -> bool:
        """Whether a name is the one, or one of those, that the level speaks of."""
        return name == self.chosen or fnmatchcase(name, self.chosen)

    @property
    def name(self) -> str | None:
        """The only name that the level speaks of; None where there may be several."""
        plain = _ESCAPED.sub("", self.chosen)
        several = self.rank in (ALL, LAYER_TYPE) or any(ch in plain for ch in "*?[")
        return None if several else _ESCAPED.sub(r"\1", self.chosen)


class Levels:
    """Levels in their order, those of one name found by it."""

    def __init__(self, levels: Iterable[Level]) -> None:
        """Sort the levels by what they speak of."""
        self._open: list[tuple[int, Level]] = []
        self._named: dict[tuple[int, str], list[tuple[int, Level]]] = defaultdict(list)
        for at, level in enumerate(levels):
            place = self._open if level.name is None else self._named[level.rank, level.name]
            place.append((at, level))

    def of(self, layer: str, op_type: str, tensor: str) -> list[Level]:
        """The levels that speak of a tensor."""
        found = [entry for entry in self._open if entry[1].holds(layer, op_type, tensor)]
        for key in ((LAYER_NAME, layer), (TENSOR, tensor)):
            found += self._named.get(key, ())
        return [level for _, level in sorted(found, key=lambda entry: entry[0])]


def plain_type(op_type: str) -> str:
    """A type of operator without what formats spell differently: CONV_2D is Conv, MaxPool2d MAX_POOL_2D."""
    return op_type.replace("_", "").casefold().removesuffix("2d")


def literal(name: str) -> str:
    """A glob that only this name fits."""
    return "".join(f"[{ch}]" if ch in "*?[" else ch for ch in name)


def in_order(levels: Iterable[Level]) -> tuple[Level, ...]:
    """The levels, the last of which wins: all tensors, types, names, tensors; of each, first all roles, then one."""
    return tuple(sorted(levels, key=_place))


def _place(level: Level) -> tuple[int, bool]:
    return level.rank, level.rank == ALL and level.role is not None


def resolved(role: Role, levels: Iterable[Level]) -> tuple[Spec, dict[str, str]]:
    """What levels that hold come to, in their order, and where each key was said."""
    values: dict[str, object] = {}
    places: dict[str, str] = {}
    for level in levels:
        if level.role in (None, role):
            said = said_to(role, level.values, level.role is None)
            for key in said:
                places[key] = level.place
                for other in _INSTEAD.get(key, ()):
                    if other not in said and _implies(key, said[key]):
                        values.pop(other, None)
            values.update(said)
    return spec_of(role, values), places


def _implies(key: str, value: object) -> bool:
    """Whether a value says something of other keys: widths and scales do where zero is to be in the middle."""
    return key not in ("scale", "bits") or value in ("pot", 16)


def conflicts(
    role: Role, spec: Spec, places: Mapping[str, str], what: str, elsewhere: Collection[str] = ()
) -> list[QuantKeysConflict]:
    """The rules that a tensor's quantization breaks, each at the last place that says one of its keys.

    Rules with keys that are said `elsewhere` too are left alone.
    """
    return [
        QuantKeysConflict(
            f"{what}: {rule.sentence}", where=next((places[key] for key in rule.keys if key in places), "")
        )
        for rule in broken(role, spec)
        if not set(rule.keys).intersection(elsewhere)
    ]
