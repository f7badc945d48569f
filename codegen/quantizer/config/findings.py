"""Reads tables by their kinds of values and gathers what is wrong with them, so that all of it is said at once.

Decides: how a problem of a configuration is named.  Every format's reader uses it.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from codegen.errors import CompileError, QuantConfigRejected, QuantKeyMissing, QuantKeyUnknown, QuantValueBad
from codegen.quantizer.config.kinds import Kind

MOST_ENTRIES = 65536
"""Of lists of layers and tensors."""
_MOST_GATHERED = 1000


class Findings:
    """The problems of one file, in its order."""

    def __init__(self, file: str) -> None:
        """Nothing is wrong yet."""
        self.file = file
        self._problems: list[CompileError] = []

    def at(self, place: str) -> str:
        """A key's place, as messages name it."""
        return f"{self.file}, {place}" if place else self.file

    def add(self, problems: Iterable[CompileError]) -> None:
        """Keep problems; past the first thousand nothing is learned from more."""
        self._problems += problems
        if len(self._problems) > _MOST_GATHERED:
            self.end()

    def bad(self, place: str, found: str, hint: str | None = None) -> None:
        """A value that its key does not take."""
        self.add([QuantValueBad(found, where=self.at(place), hint=hint)])

    def missing(self, place: str, found: str = "the key is missing") -> None:
        """A key that has to be there."""
        self.add([QuantKeyMissing(found, where=self.at(place))])

    def unknown(self, place: str, key: str, known: Iterable[str]) -> None:
        """A key that means nothing here; the one that was meant, or all that are known."""
        names = sorted(known)
        close = difflib.get_close_matches(key, names, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known here: {', '.join(names)}"
        self.add([QuantKeyUnknown("unknown key", where=self.at(f"{place}{key}"), hint=hint)])

    def end(self) -> None:
        """Refuse the file if anything was wrong: with the problem itself, or with all of them."""
        if len(self._problems) == 1:
            raise self._problems[0]
        if self._problems:
            raise QuantConfigRejected(self._problems, where=self.file)

    def values(
        self, items: Mapping[str, object], kinds: Mapping[str, Kind], place: str, others: Collection[str] = ()
    ) -> dict[str, Any]:
        """The values of a table's keys, but for those that are wrong; `place` ends in a point or is empty.

        `others` are keys that could stand here too, for the message on a key that cannot.
        """
        read: dict[str, Any] = {}
        for key, value in items.items():
            if key not in kinds:
                self.unknown(place, key, [*kinds, *others])
                continue
            try:
                read[key] = kinds[key].read(value)
            except ValueError:
                self.bad(f"{place}{key}", f"{value!r}; it takes {kinds[key].takes}")
        return read

    def table(self, items: Mapping[str, object], key: str, place: str) -> Mapping[str, object]:
        """A table below one; empty where there is none."""
        value = items.get(key, {})
        if isinstance(value, dict):
            return value
        self.bad(f"{place}{key}", f"{value!r} is not a table")
        return {}

    def tables(
        self, items: Mapping[str, object], key: str, place: str = ""
    ) -> Iterator[tuple[str, Mapping[str, object]]]:
        """The tables of a list, each with its place."""
        value = items.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self.bad(f"{place}{key}", "is not a list of tables")
            return
        if len(value) > MOST_ENTRIES:
            self.bad(f"{place}{key}", f"{len(value)} entries, more than {MOST_ENTRIES}")
            return
        yield from ((f"{place}{key}[{i}].", v) for i, v in enumerate(value))
