"""Names of the past on the command line: understood, not shown in the help, and told on standard error."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from codegen.old_names import OLD_FLAGS, OldName, current


class Renamed(click.Choice):  # type: ignore[type-arg,unused-ignore]  # generic in newer releases of click
    """A choice that still understands the names which some of its values had before."""

    def __init__(self, choices: Sequence[str], old: Mapping[str, str]) -> None:
        """`old` gives the name of today for each of the past."""
        super().__init__(choices)
        self._old = old

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value, as it is called now."""
        where = param.opts[0] if param else ""
        return super().convert(current(value, self._old, where), param, ctx)


def flag_as_now(word: str) -> str:
    """A word of the command line; an option of the past, with its value or without, by its name of today."""
    flag, equals, value = word.partition("=")
    return f"{current(flag, OLD_FLAGS, 'options')}{equals}{value}"


@contextlib.contextmanager
def old_names_told(tell: Callable[[str], None]) -> Iterator[None]:
    """Give `tell` one line for each old name that is used."""
    told: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", OldName)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, OldName):
                usual(message, category, *place, **more)
            elif str(message) not in told:
                told.add(str(message))
                tell(f"note: {message}")

        warnings.showwarning = show
        yield
