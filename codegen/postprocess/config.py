"""The keys of a `[postprocess]` table, checked; what they mean for a network is settled in program.py."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any

from codegen.configuration import known_keys
from codegen.errors import PostprocessValueBad
from codegen.postprocess.places import ENDS
from codegen.records import record

_EVERY = ("decode", "outputs", "most", "least")
_BOXES = ("size", "boxes", "overlap", "candidates", "by_label")
_SCORES = ("activation", "temperature")
KEYS: Mapping[str, tuple[str, ...]] = {
    "fastestdet": (*_EVERY, *_BOXES),
    "yunet": (*_EVERY, *_BOXES, "points"),
    "yolov3": (*_EVERY, *_BOXES, "anchors"),
    "yolov5": (*_EVERY, *_BOXES, "anchors", "normalized"),
    "yolov8": (*_EVERY, *_BOXES, "normalized"),
    "ssd": (*_EVERY, *_BOXES, "priors", "order", "scales", "activation", "background"),
    "labels": (*_EVERY, *_SCORES),
    "wake_words": (*_EVERY, *_SCORES, "window", "warm", "hold", "watch"),
    "ctc": ("decode", "outputs", "most", "blank"),
}
"""What a decoder may be told."""
ACTIVATIONS = ("none", "clip", "sigmoid", "softmax")
ORDERS = ("xywh", "yxhw")
_LARGEST = 1 << 20
_FOREIGN = re.compile(r"[^A-Za-z0-9_.:+ -]+")
"""What is not shown of a user's text, which stands in a comment of C."""
_LEAST, _OVERLAP = 0.25, 0.45
_COLDEST, _MOST_RUNS = 1e-6, (1 << 16) - 1


@record(kw_only=True)
class Table:
    """A table's values; what is None follows from the network.

    `anchors` are width and height of each anchor of each level, `priors` names the file with an SSD's boxes.  `boxes`
    says where they stand in an output that may be read in two ways.
    """

    decode: str
    file: str
    outputs: tuple[str, ...] | None = None
    most: int | None = None
    least: float = _LEAST
    size: tuple[int, int] | None = None
    boxes: str = ""
    overlap: float = _OVERLAP
    candidates: int | None = None
    by_label: bool = True
    points: bool = True
    anchors: tuple[tuple[float, ...], ...] | None = None
    normalized: bool = False
    priors: str = ""
    order: str = ORDERS[0]
    scales: tuple[float, float] = (10.0, 5.0)
    activation: str | None = None
    background: bool = True
    temperature: float = 1.0
    window: int = 4
    warm: int = 1
    hold: int = 0
    watch: tuple[int, ...] | None = None
    blank: int = 0
    said: tuple[str, ...] = ()


def parse_postprocess(table: Mapping[str, object], file: str) -> Table:
    """The table's keys, checked.

    Raises:
        ConfigKeyUnknown: LAM-PREPROCESS-002.
        PostprocessValueBad: LAM-POSTPROCESS-001.
    """
    reader = _Reader(table, file)
    decode = reader.word("decode", tuple(KEYS))
    known_keys(table, KEYS[decode], file, "postprocess.")
    return Table(decode=decode, file=file, said=reader.lines(), **reader.values())


class _Reader:
    """The values of one table, by key."""

    def __init__(self, table: Mapping[str, object], file: str) -> None:
        self._table, self._file = table, file

    def values(self) -> dict[str, Any]:
        """Those that the table has."""
        return {key: _READERS[key](self, key) for key in self._table if key != "decode"}

    def lines(self) -> tuple[str, ...]:
        """The table as it stands in the file, near enough."""
        return tuple(f"{key} = {_spelled(value)}" for key, value in self._table.items())

    def bad(self, key: str, found: str) -> PostprocessValueBad:
        return PostprocessValueBad(found, where=f"{self._file}, postprocess.{key}")

    def word(self, key: str, known: tuple[str, ...]) -> str:
        """One of these."""
        value = self._table.get(key)
        if isinstance(value, str) and value in known:
            return value
        if key not in self._table:
            raise self.bad(key, f"is missing; it is one of {', '.join(known)}")
        close = difflib.get_close_matches(str(value), known, n=1)
        more = f"; did you mean {close[0]}?" if close else ""
        raise self.bad(key, f"{value!r} is not one of {', '.join(known)}{more}")

    def count(self, key: str, least: int = 1, most: int = _LARGEST) -> int:
        """A whole number."""
        value = self._table[key]
        if type(value) is not int or not least <= value <= most:
            raise self.bad(key, f"{value!r} is no whole number from {least} to {most}")
        return value

    def count_or_none(self, key: str) -> int:
        """A whole number, or 0."""
        return self.count(key, 0)

    def runs(self, key: str) -> int:
        """How many are remembered."""
        return self.count(key, most=_MOST_RUNS)

    def number(self, key: str) -> float:
        """A real number."""
        value = self._table[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e30:
            raise self.bad(key, f"{value!r} is no number")
        return float(value)

    def share(self, key: str) -> float:
        """A number of 0 .. 1."""
        if not 0 <= (found := self.number(key)) <= 1:
            raise self.bad(key, f"{found!r} is not within 0 .. 1")
        return found

    def temperature(self, key: str) -> float:
        """A number above zero, by which others may be divided."""
        if not (found := self.number(key)) >= _COLDEST:
            raise self.bad(key, f"{found!r} is not {_COLDEST} or above")
        return found

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self._table[key]
        if not isinstance(value, bool):
            raise self.bad(key, f"{value!r} is neither true nor false")
        return value

    def text(self, key: str) -> str:
        """A text that is not empty."""
        value = self._table[key]
        if not isinstance(value, str) or not value:
            raise self.bad(key, f"{value!r} is no name of a file")
        return value

    def size(self, key: str) -> tuple[int, int]:
        """Height and width."""
        found = self._list(key, "[height, width]")
        if len(found) != 2 or not all(type(v) is int and 0 < v <= 1 << 14 for v in found):
            raise self.bad(key, f"{found!r} is not [height, width]")
        return found[0], found[1]

    def names(self, key: str) -> tuple[str, ...]:
        """The names of outputs."""
        found = self._list(key, "a list of names of outputs")
        if not all(isinstance(v, str) for v in found) or len(set(found)) < len(found):
            raise self.bad(key, f"{found!r} is no list of names of outputs, each once")
        return tuple(found)

    def whole_numbers(self, key: str) -> tuple[int, ...]:
        """Numbers of labels."""
        found = self._list(key, "a list of numbers of labels")
        if not all(type(v) is int and v >= 0 for v in found) or len(set(found)) < len(found):
            raise self.bad(key, f"{found!r} is no list of numbers of labels, each once")
        return tuple(found)

    def scales(self, key: str) -> tuple[float, float]:
        """Divisors of middles and of sizes."""
        found = self._list(key, "[of middles, of sizes]")
        if len(found) != 2 or not all(_is_positive(v) for v in found):
            raise self.bad(key, f"{found!r} is not [of middles, of sizes], above zero")
        return float(found[0]), float(found[1])

    def anchors(self, key: str) -> tuple[tuple[float, ...], ...]:
        """Width and height of each anchor, a list for each level."""
        found = self._list(key, "a list for each level")
        if not all(isinstance(level, list) and level and len(level) % 2 == 0 for level in found):
            raise self.bad(key, "is not a list of widths and heights for each level: [[10, 13, 16, 30], [30, 61]]")
        if not all(_is_positive(v) for level in found for v in level):
            raise self.bad(key, "has what is no size above zero")
        return tuple(tuple(float(v) for v in level) for level in found)

    def activation(self, key: str) -> str:
        """What becomes of numbers."""
        return self.word(key, ACTIVATIONS)

    def end(self, key: str) -> str:
        """Where boxes stand."""
        return self.word(key, ENDS)

    def order(self, key: str) -> str:
        """Of a box's four numbers."""
        return self.word(key, ORDERS)

    def _list(self, key: str, wanted: str) -> list[Any]:
        value = self._table[key]
        if not isinstance(value, list) or not value:
            raise self.bad(key, f"{value!r} is not {wanted}")
        return value


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1e-30 < value < 1e30


def _spelled(value: object) -> str:
    """As TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{_FOREIGN.sub("?", value)}"'
    if isinstance(value, list):
        return f"[{', '.join(map(_spelled, value))}]"
    return str(value)


_READERS: Mapping[str, Callable[[_Reader, str], Any]] = {
    "outputs": _Reader.names,
    "most": _Reader.count,
    "least": _Reader.number,
    "size": _Reader.size,
    "boxes": _Reader.end,
    "overlap": _Reader.share,
    "candidates": _Reader.count,
    "by_label": _Reader.flag,
    "points": _Reader.flag,
    "anchors": _Reader.anchors,
    "normalized": _Reader.flag,
    "priors": _Reader.text,
    "order": _Reader.order,
    "scales": _Reader.scales,
    "activation": _Reader.activation,
    "background": _Reader.flag,
    "temperature": _Reader.temperature,
    "window": _Reader.runs,
    "warm": _Reader.count,
    "hold": _Reader.count_or_none,
    "watch": _Reader.whole_numbers,
    "blank": _Reader.count_or_none,
}
