"""Writes a project whole or not at all: built in a folder aside, then moved into place."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from codegen.errors import OutputNotOurs, OutputNotWritable

_MARK = "manifest.json"


def write_project(out: Path, files: Mapping[str, bytes]) -> None:
    """Put the files at `out`, replacing an earlier project of this tool and nothing else.

    Raises:
        OutputNotOurs: `out` holds something that is not a generated project.
        OutputNotWritable: the folder cannot be made or filled (no permission, disk full); nothing is left behind.
    """
    out = Path(os.path.abspath(out))
    aside: Path | None = None
    try:
        _check_replaceable(out)
        out.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        for path, data in files.items():
            target = aside / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        aside.chmod(0o755)
        _swap(aside, out)
    except OSError as error:
        raise OutputNotWritable(error.strerror or type(error).__name__, where=str(out)) from error
    finally:
        if aside is not None:
            shutil.rmtree(aside, ignore_errors=True)


def _check_replaceable(out: Path) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise OutputNotOurs("is a file, not a folder", where=str(out))
    names = {p.name for p in out.iterdir()}
    if names and not ({_MARK, "include", "src"} <= names):
        raise OutputNotOurs(f"holds {len(names)} other file(s), such as {min(names)}", where=str(out))


def _swap(aside: Path, out: Path) -> None:
    """Move the new folder into place; the old one stays until the new one is there."""
    if not out.exists():
        aside.rename(out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.parent))
    out.rename(old / "project")
    try:
        aside.rename(out)
    except OSError:
        (old / "project").rename(out)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
