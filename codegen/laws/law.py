"""A law: what every operator keeps, as a sentence and a trial on a case."""

from __future__ import annotations

from collections.abc import Callable

from codegen.errors import LawBroken
from codegen.ops.case import Case
from codegen.records import record


@record
class Law:
    """`sentence` says what holds; `holds` raises where it does not; `is_asked` says of which cases it is one."""

    name: str
    sentence: str
    holds: Callable[[Case], None]
    is_asked: Callable[[Case], bool] = lambda case: True


def must(holds: object, found: str) -> None:
    """Raise LAM-PLUGIN-009 with what was found, unless it holds."""
    if not holds:
        raise LawBroken(found)
