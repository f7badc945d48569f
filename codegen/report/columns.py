"""Tables that fit a width: which columns are left out or shortened, and how sizes are written.

Decides: that a table is as wide as it likes unless somebody asks for a width (`within`), as the command line does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_WIDTH: ContextVar[int | None] = ContextVar("width", default=None)
_GAP = 2
_SHORTEST = 16
"""Letters that a shortened column keeps."""

Rows = Sequence[Sequence[str]]


class Size(int):
    """A number of bytes that a table shows as people read it: 490 B, 6.4 KiB, 1.3 MiB."""

    def __str__(self) -> str:
        """The size in the largest unit in which it is at least 1."""
        return size_text(self)


def size_text(count: int) -> str:
    """A number of bytes as 490 B, 6.4 KiB or 2 MiB; exact ones are in the JSON."""
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if abs(amount) < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.1f}".removesuffix(".0") + f" {unit}"


@contextmanager
def within(width: int | None) -> Iterator[None]:
    """Tables that are written inside have at most so many columns of letters; None is as many as they like."""
    token = _WIDTH.set(width)
    try:
        yield
    finally:
        _WIDTH.reset(token)


def line_limit() -> int | None:
    """How wide a line may be; None is as wide as it likes."""
    return _WIDTH.get()


def all_columns() -> bool:
    """Whether tables are as wide as they like."""
    return line_limit() is None


def fitting(headers: Sequence[str], cells: Rows, keep: int, least: Sequence[str]) -> tuple[list[int], list[int], str]:
    """Which columns are shown, how wide each of all is at most, and a line that names those left out.

    Columns of `least` go first, in that order, then others from the right; of the first `keep` none goes, they are
    shortened.
    """
    widths = [max(len(h), *(len(row[i]) for row in cells)) if cells else len(h) for i, h in enumerate(headers)]
    shown, limit = list(range(len(headers))), _WIDTH.get()
    if limit is None:
        return shown, widths, ""
    order = [headers.index(name) for name in least if name in headers]
    order += [i for i in reversed(shown) if i >= keep and i not in order]
    kept = [min(w, max(_SHORTEST, len(headers[i]))) if i < keep else w for i, w in enumerate(widths)]
    while _total(kept, shown) > limit and order:
        shown.remove(order.pop(0))
    gone = [headers[i] for i in range(len(headers)) if i not in shown]
    _widen(kept, widths, shown, limit)
    return shown, kept, f"(left out: {', '.join(gone)}; --wide shows all)" if gone else ""


def shortened(text: str, width: int, *, last: bool) -> str:
    """The text; its middle left out where it is longer, of the last column its end."""
    if len(text) <= width:
        return text
    head = width - 2 if last else (width - 2) // 2
    return f"{text[:head]}..{text[len(text) - (width - 2 - head) :]}"


def _total(widths: Sequence[int], shown: Sequence[int]) -> int:
    return sum(widths[i] for i in shown) + _GAP * (len(shown) - 1)


def _widen(kept: list[int], widths: Sequence[int], shown: Sequence[int], limit: int) -> None:
    """Give what is left of the line back to shortened columns, from the left."""
    for i in shown:
        kept[i] += max(0, min(widths[i] - kept[i], limit - _total(kept, shown)))


def score_text(value: float, unit: str) -> str:
    """A score as it is read: a share in percent, anything else with its unit."""
    return f"{value:.2%}" if unit == "share" else f"{value:.4g} {unit}".strip()
