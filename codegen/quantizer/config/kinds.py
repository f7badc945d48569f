"""What a key of the configuration may hold, said once: for the reader, for its refusals and for the page.

Decides: the forms of values.  Leaves to `keys` and `settings` which key takes which.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from codegen.records import record

_LARGEST = 3.4e38
"""Of float32, in which ranges are held, but for its last steps."""


@record
class Kind:
    """`takes` in words; `read` gives the value as the program holds it, ValueError for another."""

    takes: str
    read: Callable[[Any], Any]


def one_of(*words: str) -> Kind:
    """One of some words."""
    return Kind(", ".join(f"`{word}`" for word in words), lambda v: _held(v, isinstance(v, str) and v in words))


def whole(low: int, high: int, *others: int) -> Kind:
    """A whole number between two, or one of some others."""
    takes = ", ".join([f"{low} to {high}", *map(str, others)])
    return Kind(takes, lambda v: _held(v, type(v) is int and (low <= v <= high or v in others)))


def real(low: float, high: float, takes: str = "") -> Kind:
    """A real number between two, both included."""
    return Kind(takes or f"{low:g} to {high:g}", lambda v: float(_held(v, is_number(v) and low <= v <= high)))


def several(kind: Kind) -> Kind:
    """A list of one or more values, none twice."""
    return Kind(f"a list of {kind.takes}", lambda v: _listed(kind, v))


def switch() -> Kind:
    """Off, on, or on where it pays."""
    words = {"off": "off", "try": "try", "on": "on", True: "on", False: "off"}
    return Kind("true, false or `try`", lambda v: words[_held(v, isinstance(v, str | bool) and v in words)])


def is_number(value: object) -> bool:
    """Whether a value is a number that float32 can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _held(value: Any, fits: bool) -> Any:
    if not fits:
        raise ValueError
    return value


def _listed(kind: Kind, value: object) -> tuple[Any, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError
    found = tuple(kind.read(v) for v in value)
    return _held(found, len(set(found)) == len(found))  # type: ignore[no-any-return]


def _pair(value: object) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(is_number(v) for v in value):
        raise ValueError
    low, high = (float(v) for v in value)
    return _held((low, high), low <= 0 <= high and low < high)  # type: ignore[no-any-return]


def _named(value: object) -> tuple[tuple[str, str], ...]:
    pairs = tuple(value.items()) if isinstance(value, dict) else ()
    return _held(pairs, bool(pairs) and all(isinstance(name, str) and name for pair in pairs for name in pair))  # type: ignore[no-any-return]


def _grouped(value: object) -> tuple[bool, int]:
    if value in ("tensor", "channel"):
        return value == "channel", 0
    word, _, number = value.partition(":") if isinstance(value, str) else ("", "", "")
    size = int(number) if number.isascii() and number.isdigit() and len(number) < 6 else 0
    return _held((True, size), word == "group" and size >= 2)  # type: ignore[no-any-return]


def _steps(value: object) -> tuple[float, ...]:
    listed = tuple(value) if isinstance(value, list | tuple) else ()
    return _held(tuple(map(float, listed)), bool(listed) and all(is_number(v) and v > 0 for v in listed))  # type: ignore[no-any-return]


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_THOUSANDS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def _counted(value: object, units: dict[str, int]) -> int:
    if type(value) is int:
        return _held(value, value > 0)  # type: ignore[no-any-return]
    text = value.strip().upper() if isinstance(value, str) else ""
    digits, unit = (text[:-1], text[-1:]) if text[-1:] in units else (text, "")
    try:
        number = float(digits)
    except ValueError:
        number = math.nan
    return int(_held(number, 0 < number * units[unit] < 1 << 53) * units[unit])


FLAG = Kind("true or false", lambda v: _held(v, isinstance(v, bool)))
TEXT = Kind("a text", lambda v: _held(v, isinstance(v, str) and bool(v.strip())))
RANGE = Kind("[low, high] with zero between them", _pair)
STEPS = Kind("a list of numbers above zero", _steps)
NAMED = Kind('a table of names, such as `{ h = "h_next" }`', _named)
GRANULARITY = Kind("`tensor`, `channel` or `group:N`", _grouped)
BYTES = Kind("bytes, or a text such as `512K` or `2M`", lambda v: _counted(v, _UNITS))
COUNT = Kind("a number, or a text such as `500K` or `20M`", lambda v: _counted(v, _THOUSANDS))


def words_of(values: Sequence[str]) -> Kind:
    """One of the words that a type lists."""
    return one_of(*values)
