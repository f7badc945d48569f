"""What commands share: options, refusals as text or JSON, and what is said to a terminal."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import traceback
from collections.abc import Callable
from typing import Any, TextIO, TypeVar

import click

from codegen.cli.renamed import flag_as_now
from codegen.errors import CompileError, OutputLost, one_line
from codegen.report.columns import within
from codegen.report.table import as_json as to_json
from codegen.report.table import readable
from codegen.report.wrapping import continued, wrapped, wrapped_page

Decorated = Callable[..., Any]
_T = TypeVar("_T")

_ID = re.compile(r"^LAM-[A-Z0-9-]+", re.MULTILINE)
_WIDE = "codegen.wide"
_DEBUG = "codegen.debug"
_COLUMNS = 80


class Command(click.Command):
    """A command whose refusals (CompileError) become one line on standard error and exit code 1."""

    def __init__(self, name: str, *, example: str, **kwargs: Any) -> None:
        """Show the example below the help, on a line of its own."""
        super().__init__(name, **kwargs)
        lines = [line for one in example.split("\n  ") for line in continued(one, _COLUMNS - 2, "  ")]
        self.epilog = "\n".join(["\b", "Example:", *lines])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the options by the names that they have now, or had before."""
        return super().parse_args(ctx, [flag_as_now(word) for word in args])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; its result is the exit code, None for 0."""
        try:
            return super().invoke(ctx)
        except CompileError as error:
            if ctx.meta.get(_DEBUG):
                _say_causes(error)
            return fail(error, bool(ctx.params.get("as_json")))


def _say_causes(error: CompileError) -> None:
    """The tracebacks of what a user's own Python raised."""
    for cause in (problem.__cause__ for problem in error.problems()):
        if cause is not None and not isinstance(cause, CompileError):
            say("".join(traceback.format_exception(cause)).rstrip(), err=True)


def fail(error: CompileError, as_json: bool) -> int:
    """Print a refusal, one line per problem; with --json also as JSON on standard output.  Returns the exit code."""
    say(error.text(), err=True, mark=_ID)
    if as_json:
        errors = [{"id": e.code, "message": e.found, "where": e.where, "hint": e.way_out()} for e in error.problems()]
        with contextlib.suppress(OutputLost):  # standard error has said it
            say(to_json({"error": errors[0], "errors": errors}))
    return 2 if error.is_usage else 1


def say(text: str, *, err: bool = False, mark: re.Pattern[str] | None = None) -> None:
    """Print lines of text: the only way to the terminal, which gets nothing but ends of lines that it would obey.

    Text of a model has no ends of lines by now: see `show`, and the errors for refusals.  What `mark` matches is red
    where a terminal shows colours and NO_COLOR does not forbid them.
    """
    shown = "\n".join(one_line(line, len(line)) for line in text.split("\n"))
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = shown.encode(encoding, "backslashreplace").decode(encoding)
    if mark is not None and _has_colors(stream):
        shown = mark.sub(lambda found: click.style(found[0], fg="red", bold=True), shown)
    try:
        click.echo(shown, err=err)
    except BrokenPipeError:
        raise
    except OSError as error:
        if not err:  # of standard error nobody could be told
            abandon_output()
            raise OutputLost(error.strerror or "cannot be written", where="standard output") from error


def abandon_output() -> None:
    """Let what is printed from now on go nowhere, so that the process can still say why, and end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def output_is_lost() -> bool:
    """Whether standard output takes nothing more; an empty line is tried."""
    try:
        click.echo("")
    except OSError:
        return True
    return False


def _has_colors(stream: TextIO | None) -> bool:
    """Whether colours are shown there, and wanted (no-color.org)."""
    return _is_watched(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _is_watched(stream: TextIO | None) -> bool:
    """Whether it is a terminal; a process may have been started without any stream."""
    return stream is not None and stream.isatty()


def _debug(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[_DEBUG] = value


def _wide(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[_WIDE] = value


def _width() -> int | None:
    """Letters that a line of a table may have: 80, or what a wider terminal or COLUMNS says; no limit with --wide."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None and ctx.meta.get(_WIDE):
        return None
    return max(_COLUMNS, shutil.get_terminal_size((_COLUMNS, 24)).columns)


def common(function: Decorated) -> Decorated:
    """The options --wide, -v, -q and --debug."""
    for option in (
        click.option(
            "--debug",
            is_flag=True,
            expose_value=False,
            callback=_debug,
            help="Show the traceback of an internal fault, or of what your own Python raised.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Print nothing but refusals."),
        click.option("-v", "--verbose", is_flag=True, help="Print more."),
        click.option(
            "--wide", is_flag=True, expose_value=False, callback=_wide, help="Show all columns of tables, however wide."
        ),
    ):
        function = option(function)
    return function


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def show(text: Callable[[_T], str], result: _T, *, as_json: bool, quiet: bool, record: object = None) -> None:
    """Print the result as text, or it (or the `record` that stands for it) as JSON.

    Nothing when quiet; JSON is still printed, for it was asked for.
    """
    if as_json:
        say(to_json(result if record is None else record))
    elif not quiet:
        say(_rendered(text, result, _width()))


def _rendered(text: Callable[[_T], str], result: _T, width: int | None) -> str:
    """The result as text of that width."""
    with within(width):
        return wrapped(text(readable(result)))


def say_page(text: str) -> None:
    """Print a page of the documentation, in Markdown."""
    with within(_width()):
        shown = wrapped_page(text)
    say(shown)


def say_lines(text: str) -> None:
    """Print lines of our own, broken where they are long."""
    with within(_width()):
        shown = wrapped(text)
    say(shown)


def is_terminal() -> bool:
    """Whether somebody watches standard error."""
    return sys.stderr is not None and sys.stderr.isatty()
