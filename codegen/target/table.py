"""One table of a TOML file, asked for by type; every refusal names the file and the key's place."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from codegen.errors import TargetKeyMissing, TargetKeyUnknown, TargetNumberTooLarge, TargetValueBad

LARGEST_NUMBER = 1 << 40
"""Of bytes, cycles and whatever else a chip has: products of a few such numbers are still computed in no time."""
_MOST_TABLES = 256
_T = TypeVar("_T")


class Table:
    """A TOML table whose keys are the fields of a dataclass."""

    def __init__(self, items: Mapping[str, object], file: str, shape: type[Any], place: str = "") -> None:
        """Take the keys; LAM-TARGET-003 for one that is no field of `shape`."""
        self._items, self._file, self._place = items, file, place
        refuse_unknown(items, [f.name for f in fields(shape)], f"{file}, {place}")

    def at(self, key: str) -> str:
        """The place of a key, as messages name it."""
        return f"{self._file}, {self._place}{key}"

    def bad(self, key: str, found: str) -> TargetValueBad:
        """The refusal of a key's value, to be raised."""
        return TargetValueBad(found, where=self.at(key))

    def has(self, key: str) -> bool:
        """Whether the table has a key."""
        return key in self._items

    def text(self, key: str, choices: Sequence[str] = (), default: str | None = None) -> str:
        """A text that is not empty, one of `choices` where there are any."""
        value = self._get(key, default)
        if not isinstance(value, str) or not value.strip():
            raise self.bad(key, f"{value!r} is not a text")
        return self._chosen(key, value, choices)

    def number(
        self, key: str, choices: Sequence[int] = (), default: int | None = None, most: int = LARGEST_NUMBER
    ) -> int:
        """A whole number from 1 to `most` (LAM-TARGET-010 above), one of `choices` where there are any."""
        value = self._get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise self.bad(key, f"{value!r} is not a whole number above zero")
        if value > most:
            raise TargetNumberTooLarge(f"{value} is more than {most}", where=self.at(key))
        return self._chosen(key, value, choices)

    def whole(self, key: str) -> int | None:
        """A whole number, zero too; None where there is none."""
        return next(iter(self._wholes(key, [self._items[key]])), None) if key in self._items else None

    def wholes(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers, zero too; empty where there is none."""
        return self._wholes(key, self._items.get(key, []))

    def _wholes(self, key: str, value: object) -> tuple[int, ...]:
        if not isinstance(value, list) or any(isinstance(v, bool) or not isinstance(v, int) or v < 0 for v in value):
            raise self.bad(key, f"{value!r} are not whole numbers")
        return tuple(value)

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        """True or false."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self.bad(key, f"{value!r} is neither true nor false")
        return value

    def texts(self, key: str, choices: Sequence[str] = (), default: Sequence[str] | None = None) -> tuple[str, ...]:
        """A list of texts; of `choices`, where there are any, at least one and each once."""
        value = self._get(key, list(default) if default is not None else None)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.bad(key, f"{value!r} is not a list of texts")
        if choices and (not value or len(set(value)) < len(value)):
            raise self.bad(key, f"{value!r} is empty or says something twice; choose from {', '.join(choices)}")
        return tuple(self._chosen(key, v, choices) for v in value)

    def table(self, key: str, shape: type[Any]) -> Table | None:
        """A table below this one; None where there is none."""
        value = self._get(key, {}) if self.has(key) else None
        if value is not None and not isinstance(value, dict):
            raise self.bad(key, f"{value!r} is not a table")
        return None if value is None else Table(value, self._file, shape, f"{self._place}{key}.")

    def tables(self, key: str, shape: type[Any]) -> tuple[Table, ...]:
        """A list of tables."""
        value = self._get(key, None)
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.bad(key, f"{value!r} is not a list of tables")
        if len(value) > _MOST_TABLES:
            raise TargetNumberTooLarge(f"{len(value)} tables, more than {_MOST_TABLES}", where=self.at(key))
        return tuple(Table(v, self._file, shape, f"{self._place}{key}[{i}].") for i, v in enumerate(value))

    def _get(self, key: str, default: object) -> object:
        if key not in self._items and default is None:
            raise TargetKeyMissing("key missing", where=self.at(key))
        return self._items.get(key, default)

    def _chosen(self, key: str, value: _T, choices: Sequence[_T]) -> _T:
        if choices and value not in choices:
            raise self.bad(key, f"{value!r} is not one of {', '.join(map(str, choices))}")
        return value


def refuse_unknown(items: Mapping[str, object], known: Sequence[str], place: str) -> None:
    """LAM-TARGET-003 for the first key that is not among the known ones, with the one that was meant."""
    for key in items:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]}?" if close else None
            raise TargetKeyUnknown("unknown key", where=f"{place}{key}", hint=hint)
