"""Records as text or JSON: aligned columns, and dictionaries that scripts can read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from codegen.errors import one_line
from codegen.report.columns import fitting, shortened, size_text

_T = TypeVar("_T")
_LONGEST_TEXT = 2000


class Fixed(float):
    """A number with a fixed count of decimals in a table."""

    decimals: int

    def __new__(cls, value: float, decimals: int) -> Fixed:
        """The number."""
        made = super().__new__(cls, value)
        made.decimals = decimals
        return made

    def __format__(self, spec: str) -> str:
        return f"{float(self):.{self.decimals}f}"


def text_table(
    headers: Sequence[str], rows: Sequence[Sequence[object]], *, keep: int = 1, least: Sequence[str] = ()
) -> str:
    """Columns two spaces apart, numbers to the right; a dash stands for None.

    Where a width is asked for, columns of `least` are left out first and the first `keep` never, which are shortened.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    shown, widths, gone = fitting(headers, cells, keep, least)
    right = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in shown]
    sizes = [widths[i] for i in shown]
    rule, end = ["-" * w for w in widths], len(headers) - 1
    lines = ([shortened(line[i], widths[i], last=i == end) for i in shown] for line in (headers, rule, *cells))
    return "\n".join([*(_line(line, sizes, right) for line in lines), *([gone] if gone else [])])


def markdown_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of a page in Markdown."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def text_pairs(pairs: Sequence[tuple[str, object]]) -> str:
    """One `name  value` per line, the values aligned."""
    width = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"  {name.ljust(width)}  {_cell(value)}".rstrip() for name, value in pairs)


def as_json(record: object) -> str:
    """A record (dataclass, mapping, sequence, number, text) as JSON; what is not a finite number is null."""
    return json.dumps(plain(record), indent=1, allow_nan=False)


def plain(value: object) -> Any:
    """The value in JSON's own types."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str | bool | None):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value
    if isinstance(value, Sequence | set | frozenset):
        return [plain(item) for item in value]
    raise AssertionError(f"{type(value).__name__} has no form in JSON")


def readable(value: _T) -> _T:
    """The same record with every text in it on one line and without what a terminal would obey."""
    found: Any = value
    if isinstance(value, str):
        found = one_line(value, _LONGEST_TEXT)
    elif isinstance(value, Path):
        found = Path(one_line(str(value), _LONGEST_TEXT))
    elif is_dataclass(value) and not isinstance(value, type):
        found = replace(value, **{f.name: readable(getattr(value, f.name)) for f in fields(value)})
    elif isinstance(value, Mapping):
        found = {readable(key): readable(item) for key, item in value.items()}
    elif isinstance(value, list | tuple):
        found = type(value)(readable(item) for item in value)
    return cast("_T", found)


def bound_text(arena_bytes: int, lower_bound_bytes: int) -> str:
    """How far an arena is above what no placement of the same tensors can beat."""
    if arena_bytes <= lower_bound_bytes:
        return "no placement of these groups takes less"
    return f"{arena_bytes - lower_bound_bytes} B above what a placement of these groups takes at least"


def shape_text(shape: Sequence[int]) -> str:
    """A shape as 1x8x8x16."""
    return "x".join(map(str, shape)) or "scalar"


def share_text(part: int, whole: int | None) -> str:
    """The part's size, and which share of the whole it is."""
    return size_text(part) if not whole else f"{size_text(part)} of {size_text(whole)} ({part / whole:.1%})"


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
    return "  ".join(padded).rstrip()
