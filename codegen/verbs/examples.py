"""examples: what the package carries to try things with, as a folder of the user's own."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from codegen.arguments import takes_declared
from codegen.datafiles import path_given
from codegen.errors import OutputNotOurs, OutputNotWritable
from codegen.records import record
from codegen.resources import resource_dir


@record
class CopiedExamples:
    """The folder, and the examples in it."""

    folder: str
    examples: tuple[str, ...]


@takes_declared
def copy_examples(out: str | Path = "examples") -> CopiedExamples:
    """Copies of all examples, in a new or empty folder `out`; LAM-EMIT-002 for another."""
    folder = path_given(out, "out")
    with _writable(folder):
        free = _free(folder)
    if not free:
        raise OutputNotOurs("is there already", where=str(folder))
    with _writable(folder):
        _copy(folder)
    pages = sorted(page.parent.relative_to(folder).as_posix() for page in folder.rglob("README.md"))
    return CopiedExamples(str(folder), tuple(pages))


def _free(folder: Path) -> bool:
    """Whether nothing has that name, or an empty folder."""
    if folder.is_symlink() or folder.exists():
        return folder.is_dir() and not any(folder.iterdir())
    return True


def _copy(folder: Path) -> None:
    """All or nothing."""
    left_out = shutil.ignore_patterns("__pycache__")
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        shutil.copytree(resource_dir("examples"), folder, ignore=left_out, dirs_exist_ok=True)
        undo.pop_all()


@contextlib.contextmanager
def _writable(folder: Path) -> Iterator[None]:
    """LAM-EMIT-001 for what the operating system refuses."""
    try:
        yield
    except OSError as error:
        raise OutputNotWritable(_reason(error), where=str(folder)) from error


def _reason(error: OSError) -> str:
    """What the system says; of several files that could not be copied, what it says of the first."""
    if isinstance(error, shutil.Error):
        return str(error.args[0][0][2])
    return error.strerror or type(error).__name__
