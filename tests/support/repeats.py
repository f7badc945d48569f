"""Places of the package that say the same six lines or more, to the letter.

Lines that say nothing are passed over: blank ones, comments, imports, and lone brackets.  A run that stands in two
places is one pair, whatever its length; lists of fields count like any other lines.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path

LEAST = 6
Line = tuple[str, int]
"""What it says, and its number."""


def repeats(paths: Iterable[Path]) -> list[tuple[str, str]]:
    """Pairs of `file:line` where runs of equal lines begin."""
    files = {path: list(_lines(path)) for path in paths}
    places: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path, lines in files.items():
        for i in range(len(lines) - LEAST + 1):
            places[tuple(text for text, _ in lines[i : i + LEAST])].append((path, i))
    pairs = {pair for found in places.values() for pair in combinations(found, 2)}
    begins = (pair for pair in sorted(pairs) if _before(pair) not in pairs)
    return [(_said(files, one), _said(files, other)) for one, other in begins]


def _before(pair: tuple[tuple[Path, int], tuple[Path, int]]) -> tuple[tuple[Path, int], tuple[Path, int]]:
    (one, i), (other, k) = pair
    return (one, i - 1), (other, k - 1)


def _said(files: dict[Path, list[Line]], place: tuple[Path, int]) -> str:
    path, i = place
    return f"{path}:{files[path][i][1]}"


def _lines(path: Path) -> Iterator[Line]:
    text = path.read_text(encoding="utf-8")
    skipped = _imports(text) if path.suffix == ".py" else set()
    for number, line in enumerate(text.splitlines(), 1):
        said = " ".join(line.split())
        if number not in skipped and any(map(str.isalnum, said)) and not said.startswith(("#", "/*", "* ", "//")):
            yield said, number


def _imports(text: str) -> set[int]:
    found = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom))
    return {line for node in found for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
