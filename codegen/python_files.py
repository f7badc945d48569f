"""Python that a user names: files that are run, and functions in them that are called.

Decides: that whatever such code raises is one refusal, with the first line of what it said and where.  Nothing is run
here that was not named.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from codegen.errors import CompileError, first_line

Refusal = Callable[[str], CompileError]
"""Makes the refusal of what was found."""

FILES_RUN: dict[str, Path] = {}
"""By the name of its module: what this process has run."""


def run_python(path: Path, name: str, refused: Refusal) -> ModuleType:
    """The module that a file is, under a name that tells it from others; run whenever this is called."""
    if not path.is_file():
        raise refused("no such file")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise refused("is no Python file: its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with guarded(refused):
        spec.loader.exec_module(module)
    FILES_RUN[name] = path.absolute()
    return module


@contextmanager
def guarded(refused: Refusal) -> Iterator[None]:
    """What a user's code raises becomes one refusal; refusals of the house stay what they are."""
    with caught(lambda error: refused(told(error))):
        yield


def told(error: BaseException) -> str:
    """What was raised, and the last line of a user's file that it came through."""
    said = f"{type(error).__name__}: {first_line(error)}"
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        path = FILES_RUN.get(str(frame.f_globals.get("__name__", "")))
        if path is not None:
            return f"{said} ({path.name}, line {line})"
    return said


@contextmanager
def caught(refused: Callable[[BaseException], CompileError]) -> Iterator[None]:
    """The same of code that raises what it likes, a framework's on a user's file: `refused` is told what was raised."""
    try:
        yield
    except CompileError:
        raise
    except (Exception, SystemExit) as error:
        raise refused(error) from error
