"""Text that fits the width which somebody asks for (columns.within): sentences, commands, pages in Markdown.

Decides: where lines are broken.  A command is continued with a backslash, so that it can be copied; a word that is
longer than a line (a path) stays whole; tables fit by themselves (columns.py).
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence

from codegen.report.columns import line_limit
from codegen.report.table import text_table

_COMMAND = re.compile(r" *(lamina|python|pip|dask|apt-get|make|npm|cargo) ")
_LEAD = re.compile(r" *(?:[-*] |\d+\. |\S+(?: \S+){0,3} {2,})?")
"""What the lines below the first one stand under: a list's mark, or the name before a value."""
_ITEM = re.compile(r" *(?:[-*]|\d+\.) ")
_CODE = "    "
_FENCE = "```"


def wrapped(text: str) -> str:
    """The lines, none longer than the width."""
    return "\n".join(itertools.chain.from_iterable(_broken(line) for line in text.split("\n")))


def continued(command: str, limit: int, lead: str = "") -> list[str]:
    """The lines of a shell command, which end with a backslash where it goes on."""
    if len(lead) + len(command) <= limit:
        return [lead + command]
    command, mark, comment = command.partition(" # ")
    *lines, last = _fill(command, limit - 2, lead, lead + _CODE)
    return [*([f"{lead}# {comment.strip()}"] if mark else []), *(f"{line} \\" for line in lines), last]


def wrapped_page(text: str) -> str:
    """A page in Markdown: paragraphs broken anew, code as it is, a table that does not fit as a list of its rows."""
    limit = line_limit()
    if limit is None:
        return text
    in_code, done, said = False, list[str](), list[str]()
    for is_table, found in itertools.groupby(text.split("\n"), lambda line: line.startswith("|")):
        lines = list(found)
        if is_table and not in_code:
            done += [*_paragraph(said), *_table(lines, limit)]
            continue
        for line in lines:
            fence = line.lstrip().startswith(_FENCE)
            if not (fence or in_code or (line.startswith(_CODE) and not said)) and line and not line.startswith("#"):
                done += _paragraph(said) if _ITEM.match(line) else ()
                said.append(line)
                continue
            done += _paragraph(said)
            in_code ^= fence
            done += _broken(line) if _COMMAND.match(line) else [line]
    return "\n".join([*done, *_paragraph(said)])


def _paragraph(said: list[str]) -> list[str]:
    """The lines of a paragraph or of an item of a list, which `said` then has no more."""
    if not said:
        return []
    item = _ITEM.match(said[0])
    lead = item[0] if item else ""
    text = " ".join([said[0][len(lead) :], *(line.strip() for line in said[1:])])
    said.clear()
    return _fill(text, line_limit() or len(text), lead, " " * len(lead))


def _broken(line: str) -> list[str]:
    limit = line_limit()
    if limit is None or len(line) <= limit:
        return [line]
    if _COMMAND.match(line):
        return continued(line.lstrip(), limit, line[: len(line) - len(line.lstrip())])
    found = _LEAD.match(line)
    lead = found[0] if found is not None and len(found[0]) <= limit // 2 else ""
    below = len(lead) if lead.strip() else len(lead) + 2
    return _fill(line[len(lead) :], limit, lead, " " * below)


def _fill(text: str, limit: int, lead: str, below: str) -> list[str]:
    return textwrap.wrap(
        text, limit, initial_indent=lead, subsequent_indent=below, break_long_words=False, break_on_hyphens=False
    )


def _table(lines: Sequence[str], limit: int) -> Iterator[str]:
    """A table of Markdown; each row with its cells below its first one where the table is too wide."""
    headers, _, *rows = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines)
    even = len({len(headers), *map(len, rows)}) == 1
    if max(map(len, lines)) <= limit or not rows or not even:
        yield from lines if even else itertools.chain.from_iterable(map(_broken, lines))
        return
    aligned = [max(len(row[i]) for row in (headers, *rows)) for i in range(len(headers))]
    if sum(aligned) + 2 * len(aligned) <= limit:
        yield from text_table(headers, rows, keep=len(headers)).split("\n")
        return
    for row in rows:
        yield from _broken(row[0])
        for header, cell in zip(headers[1:], row[1:], strict=True):
            if cell:
                yield from _fill(f"{header}: {cell}" if header else cell, limit, "  ", _CODE)
