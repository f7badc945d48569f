"""What every refusal is: an id that never changes its meaning, a place, what was found there, and the way out.

Decides: how a refusal is spelled, in one line whatever a model says.  The causes stand in the other files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_PAGE = re.compile(r"\b(?:docs/([\w/]+)|(targets/README))\.md\b")
_LONGEST_PLACE = 400
LONGEST_FINDING = 600
_MOST_PROBLEMS = 50


def one_line(text: str, longest: int) -> str:
    """Text from a model for a terminal: what cannot be printed is escaped, the middle of a long one left out.

    Cannot be printed: control characters, ends of lines, marks that change the direction of writing, half characters.
    """
    half = longest // 2
    text = text if len(text) <= longest else f"{text[:half]} ... {text[-half:]}"
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode("ascii") for ch in text)


def first_line(error: BaseException) -> str:
    """The first line of what an exception of another library says; its kind when that is empty."""
    return ((str(error).splitlines() or [""])[0] or type(error).__name__)[:200]


class CompileError(Exception):
    """A refusal: what is wrong, where, and what to do.  Never a traceback for the user.

    Args:
        where: the node, tensor, file or option concerned.
        found: what was found there, in one sentence without a full stop.
        hint: overrides the class's way out.
    """

    code = "LAM-GENERAL-001"
    hint = ""
    longest = LONGEST_FINDING
    is_usage = False
    """Whether the command or call is at fault and not what it works on: it names something that is not there."""

    def __init__(self, found: str, *, where: str = "", hint: str | None = None) -> None:
        """Keep the parts, so that JSON and text spell the same error."""
        self.where = where
        self.found = found
        if hint is not None:
            self.hint = hint
        super().__init__(self.text())

    def text(self) -> str:
        """One line: id, place, finding, way out."""
        way_out = f" ({one_line(self.way_out(), LONGEST_FINDING)})" if self.hint else ""
        return f"{self.finding()}{way_out}"

    def way_out(self) -> str:
        """The hint, each page in it as the command that prints it wherever Lamina is installed."""
        return _PAGE.sub(lambda page: f"`lamina help {page[1] or page[2]}`", self.hint)

    def finding(self) -> str:
        """The line without the way out."""
        place = f"{one_line(self.where, _LONGEST_PLACE)}: " if self.where else ""
        return f"{self.code} {place}{one_line(self.found, self.longest)}"

    def problems(self) -> tuple[CompileError, ...]:
        """The single errors this one stands for."""
        return (self,)

    def __reduce__(self) -> tuple[Any, ...]:
        """Its parts, so that a refusal that another process met is the same here."""
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type[CompileError], args: tuple[Any, ...], parts: Mapping[str, Any]) -> CompileError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(parts)
    return error


class ModelRejected(CompileError):
    """The model has one or more problems; all of them are listed at once."""

    code = "LAM-IMPORT-001"
    hint = "each line names its own way out"

    def __init__(self, problems: Iterable[CompileError], *, where: str = "") -> None:
        """Gather the problems found in one model; there must be at least one."""
        self._problems = tuple(problems)
        assert self._problems, "a rejection needs a reason"
        super().__init__(f"{len(self._problems)} problem(s)", where=where)

    def text(self) -> str:
        """One line per problem, in the model's order, each once; past the first fifty their number."""
        lines = list(dict.fromkeys(p.text() for p in self._problems))
        if len(lines) > _MOST_PROBLEMS:
            lines[_MOST_PROBLEMS:] = [f"{self.code} and {len(lines) - _MOST_PROBLEMS} more problems"]
        return "\n".join(lines)

    def problems(self) -> tuple[CompileError, ...]:
        """The single errors, in the model's order."""
        return self._problems
