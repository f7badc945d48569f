"""How measures are printed: as a table of Markdown, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any


def print_markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table, line by line as it is made."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def print_records(records: Sequence[Any], heads: Sequence[str], *, as_json: bool) -> None:
    """Dataclasses as JSON, or as a table with a head for each field."""
    rows = [asdict(record) for record in records]
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    cells = [["-" if v is None else str(v) for v in row.values()] for row in rows]
    widths = [max(len(line[i]) for line in (heads, *cells)) for i in range(len(heads))]
    for line in (heads, ["-" * w for w in widths], *cells):
        first, *rest = zip(line, widths, strict=True)
        print("| " + " | ".join([first[0].ljust(first[1]), *(text.rjust(width) for text, width in rest)]) + " |")
