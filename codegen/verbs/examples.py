"""examples: what the package carries to try things with, as a folder of the user's own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from codegen.arguments import takes_declared
from codegen.datafiles import path_given
from codegen.errors import OutputNotOurs, OutputNotWritable
from codegen.resources import resource_dir


@dataclass(frozen=True, slots=True)
class CopiedExamples:
    """The folder, and the examples in it."""

    folder: str
    examples: tuple[str, ...]


@takes_declared
def copy_examples(out: str | Path = "examples") -> CopiedExamples:
    """Copies of all examples, in a new or empty folder `out`; LAM-EMIT-002 for another."""
    folder = path_given(out, "out")
    if not _free(folder):
        raise OutputNotOurs("is there already", where=str(folder))
    source, left_out = resource_dir("examples"), shutil.ignore_patterns("__pycache__")
    try:
        shutil.copytree(source, folder, ignore=left_out, dirs_exist_ok=True)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise OutputNotWritable(error.strerror or type(error).__name__, where=str(folder)) from error
    pages = sorted(page.parent.relative_to(folder).as_posix() for page in folder.rglob("README.md"))
    return CopiedExamples(str(folder), tuple(pages))


def _free(folder: Path) -> bool:
    """Whether nothing has that name, or an empty folder."""
    if folder.is_symlink() or folder.exists():
        return folder.is_dir() and not any(folder.iterdir())
    return True
