"""What commands share: options, refusals as text or JSON, and what is said to a terminal."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Any, TextIO, TypeVar

import click

from codegen.cli.renamed import Renamed
from codegen.errors import CompileError, OutputLost, one_line
from codegen.old_names import OLD_MODES
from codegen.report.columns import within
from codegen.report.table import as_json as to_json
from codegen.report.table import readable

Decorated = Callable[..., Any]
_T = TypeVar("_T")

_ID = re.compile(r"^LAM-[A-Z0-9-]+", re.MULTILINE)
_WIDE = "codegen.wide"
_COLUMNS = 80
_UNITS = {"": 1, "K": 1024, "M": 1024 * 1024}


class Command(click.Command):
    """A command whose refusals (CompileError) become one line on standard error and exit code 1."""

    def __init__(self, name: str, *, example: str, **kwargs: Any) -> None:
        """Show the example below the help, on a line of its own."""
        super().__init__(name, **kwargs)
        self.epilog = f"\b\nExample:\n  {example}"

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; its result is the exit code, None for 0."""
        try:
            return super().invoke(ctx)
        except CompileError as error:
            return fail(error, bool(ctx.params.get("as_json")))


def fail(error: CompileError, as_json: bool) -> int:
    """Print a refusal, one line per problem; with --json also as JSON on standard output.  Returns the exit code."""
    say(error.text(), err=True, mark=_ID)
    if as_json:
        errors = [{"id": e.code, "message": e.found, "where": e.where, "hint": e.hint} for e in error.problems()]
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


def _wide(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[_WIDE] = value


def _width() -> int | None:
    """Letters that a line of a table may have: 80, or what a wider terminal has; no limit with --wide."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None and ctx.meta.get(_WIDE):
        return None
    return max(_COLUMNS, shutil.get_terminal_size((_COLUMNS, 24)).columns) if _is_watched(sys.stdout) else _COLUMNS


def common(function: Decorated) -> Decorated:
    """The options --wide, -v, -q and --debug."""
    for option in (
        click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an internal fault."),
        click.option("-q", "--quiet", is_flag=True, help="Print nothing but refusals."),
        click.option("-v", "--verbose", is_flag=True, help="Print more."),
        click.option(
            "--wide", is_flag=True, expose_value=False, callback=_wide, help="Show all columns of tables, however wide."
        ),
    ):
        function = option(function)
    return function


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
model_argument = click.argument("model")
target_option = click.option(
    "-t", "--target", default="host", show_default=True, help="A name of `lamina targets`, or a .toml file."
)
requant_option = click.option(
    "--requant",
    type=Renamed(["single", "tflite", "ort"], OLD_MODES),
    help="Rounding of results; TFLite's own (tflite) for its models, else the target's default.",
)


def _shapes(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> Mapping[str, tuple[int, ...]] | None:
    """Shapes by name; a usage error for what is not NAME=1,3,224,224, or for a name that comes twice."""
    found: dict[str, tuple[int, ...]] = {}
    for value in values:
        name, _, sizes = value.rpartition("=")
        if not name or not re.fullmatch(r" *-?[0-9]{1,15} *(, *-?[0-9]{1,15} *)*", sizes):
            raise click.BadParameter(f"{value!r} is no shape; write NAME=1,3,224,224", ctx, param)
        if name in found:
            raise click.BadParameter(f"two shapes for {name!r}", ctx, param)
        found[name] = tuple(int(size) for size in sizes.split(","))
    return found or None


shape_option = click.option(
    "--shape",
    "shapes",
    multiple=True,
    callback=_shapes,
    metavar="NAME=N,N,..",
    help="Shape of an input whose dimensions the model leaves open; an open batch is 1 without.",
)


def _bytes(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A number of bytes above zero: 65536, 64K or 1M (1024 and 1024 * 1024 bytes); else a usage error."""
    if value is None:
        return None
    found = re.fullmatch(r"([0-9]{1,15})([kKmM]?)", value.strip())
    size = int(found[1]) * _UNITS[found[2].upper()] if found else 0
    if size < 1:
        raise click.BadParameter(f"{value!r} is no number of bytes; write 65536, 64K or 1M", ctx, param)
    return size


def plan_options(function: Decorated) -> Decorated:
    """The options --optimize, --arena-limit and --stream-input."""
    for option in (
        click.option("--stream-input", is_flag=True, help="Take the input row by row; it is never held whole."),
        click.option("--arena-limit", callback=_bytes, metavar="BYTES", help="Working memory at most, such as 64K."),
        click.option(
            "--optimize",
            type=click.Choice(["memory", "balanced", "speed", "size"]),
            help="Which memory plan to take; by default what the target says. size: balanced, with the smallest code.",
        ),
    ):
        function = option(function)
    return function


stack_option = click.option(
    "--measure-stack", is_flag=True, help="Measure the stack on the emulated chip; needs its compiler and emulator."
)
config_option = click.option("--config", metavar="FILE", help="TOML file of the model: its [preprocess] table.")


def show(text: Callable[[_T], str], result: _T, *, as_json: bool, quiet: bool, record: object = None) -> None:
    """Print the result as text, or it (or the `record` that stands for it) as JSON.

    Nothing when quiet; JSON is still printed, for it was asked for.
    """
    if as_json:
        say(to_json(result if record is None else record))
    elif not quiet:
        with within(_width()):
            shown = text(readable(result))
        say(shown)


def is_terminal() -> bool:
    """Whether somebody watches standard error."""
    return sys.stderr is not None and sys.stderr.isatty()
