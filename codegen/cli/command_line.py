"""One command line, run; every way it may end becomes an exit code.

Decides: what a failure is called that no verb has an id for.  Leaves to `codegen.cli` what Ctrl-C ends with.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

import click

from codegen.cli.console import abandon_output, fail, output_is_lost, say
from codegen.cli.group import GROUP
from codegen.cli.renamed import old_names_told
from codegen.errors import (
    CompileError,
    InternalFault,
    MemoryExhausted,
    OutputLost,
    PluginFault,
    SystemRefused,
    UsageWrong,
)
from codegen.resources import PLUGIN_MODULES


def run_line(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code, or raises KeyboardInterrupt."""
    as_json = "--json" in arguments
    try:
        with old_names_told(lambda line: say(line, err=True)):
            code = GROUP.main(args=list(arguments), prog_name="lamina", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        return fail(UsageWrong(error.format_message().replace("\n", " ")), as_json)
    except (click.Abort, KeyboardInterrupt) as error:
        say("stopped", err=True)
        raise KeyboardInterrupt from error
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        return fail(_refused(error), as_json)
    except MemoryError as error:
        return fail(MemoryExhausted(str(error) or "no more memory"), as_json)
    except CompileError as error:  # of a file that is read while the line itself is
        return fail(error, as_json)
    except Exception as error:  # the only place: what gets here is a fault of the compiler
        if "--debug" in arguments:
            say(traceback.format_exc(), err=True)
        return fail(_fault(error), as_json)


def _fault(error: Exception) -> CompileError:
    """Of the plug-in's code, where it came from there; else of the compiler."""
    said = f"{type(error).__name__}: {error}"[:300]
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if str(frame.f_globals.get("__name__", "")).startswith(PLUGIN_MODULES):
            return PluginFault(said, where=f"{frame.f_code.co_filename}, line {line}")
    return InternalFault(said)


def _refused(error: OSError) -> CompileError:
    """What the system's refusal of a file, a process or the printing itself is called."""
    found = error.strerror or str(error)
    if error.filename is None and output_is_lost():
        abandon_output()
        return OutputLost(found, where="standard output")
    return SystemRefused(found, where=str(error.filename or ""))
