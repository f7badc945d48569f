"""Writes a project into its folder: the whole of it or nothing, and never over what somebody else wrote.

The folder's manifest lists what was written there with the hash of each file.  Files that still have their hash are
replaced, or removed when the new project has none of that name; everything else stays.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from codegen.emit.aside import folder_aside, move_into_place, write_aside
from codegen.emit.listing import TOOL, read_listing, still_as_listed
from codegen.errors import OutputBlocked, OutputEdited, OutputNotOurs, OutputNotWritable
from codegen.records import record
from codegen.resources import ASIDE


@record
class Change:
    """What a folder needs to become the new project: files to write, and files to remove."""

    write: Mapping[str, bytes]
    remove: tuple[str, ...]


def write_project(out: Path, files: Mapping[str, bytes], *, force: bool = False, tool: str = TOOL) -> None:
    """The files stand at `out`, in place of an earlier project; what that did not write, and was not edited, is kept.

    At any error the folder is as it was.  `force`: edited files are replaced too.  `tool` is what manifests are signed
    with.

    Raises:
        OutputNotOurs: `out` holds something, and that is not a generated project.
        OutputEdited: files that would be replaced were edited, or are not the project's.
        OutputBlocked: a folder or a device stands where a file belongs, or a file or a link where a folder does.
        OutputBusy: another process has been writing there for half a minute.
        OutputNotWritable: the folder cannot be made or filled (no permission, disk full).
    """
    folder = Path(os.path.realpath(out))
    check_folder(out, tool)
    try:
        with _made(folder), folder_aside(folder) as aside:
            change = find_change(folder, files, force=force, tool=tool)
            if change.write or change.remove:
                write_aside(aside, change.write)
                move_into_place(aside, change.write, change.remove)
    except OSError as error:
        raise OutputNotWritable(error.strerror or type(error).__name__, where=str(out)) from error


def check_folder(out: Path, tool: str = TOOL) -> None:
    """LAM-EMIT-002 when the folder holds something that is neither a project nor one that was being written.

    For those who have much to do before they know what to write; nothing is changed.
    """
    folder = Path(os.path.realpath(out))
    try:
        _check_ours(folder, tool)
    except OSError as error:
        raise OutputNotWritable(error.strerror or type(error).__name__, where=str(out)) from error


def _check_ours(folder: Path, tool: str) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputNotOurs("is a file, not a folder", where=str(folder))
    names = {p.name for p in folder.iterdir()}
    if names and ASIDE not in names:
        read_listing(folder, tool)


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder is there; at an error those that had to be made are gone again."""
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    with contextlib.ExitStack() as undo:
        undo.callback(_remove, missing)
        folder.mkdir(parents=True, exist_ok=True)
        yield
        undo.pop_all()


def _remove(empty: Sequence[Path]) -> None:
    for path in empty:
        with contextlib.suppress(OSError):
            path.rmdir()


def find_change(folder: Path, files: Mapping[str, bytes], *, force: bool, tool: str = TOOL) -> Change:
    """What is to be written and removed; LAM-EMIT-003 and -005 when that would take something of somebody else's.

    A file that has its new content already is not written again.
    """
    listed = {} if {p.name for p in folder.iterdir()} <= {ASIDE} else read_listing(folder, tool)
    known = listed or {}
    paths = sorted({*files, *known})
    blocked = [what for path in paths for what in _blocked(folder, path)]
    if blocked:
        raise OutputBlocked("; ".join(dict.fromkeys(blocked)), where=str(folder))
    found = {path: _look(folder / path, path, files.get(path), known.get(path)) for path in paths}
    edited = [_said(folder, path, known) for path in paths if found[path] == "edited"]
    if edited and not force:
        old = " (written by a version that kept no hashes, so that edits cannot be told)" if listed is None else ""
        raise OutputEdited(", ".join(edited) + old, where=str(folder))
    write = {path: data for path, data in files.items() if found[path] != "same"}
    return Change(write, tuple(path for path in paths if path not in files and found[path] == "ours"))


def _look(place: Path, path: str, new: bytes | None, listed: str | None) -> Literal["absent", "same", "ours", "edited"]:
    """Whether a file has its new content, is as it was written, or is somebody's work."""
    if not os.path.lexists(place):
        return "absent"
    if place.is_symlink():
        return "edited"
    data = place.read_bytes()
    if data == new:
        return "same"
    return "ours" if listed is not None and still_as_listed(path, data, listed) else "edited"


def _blocked(folder: Path, path: str) -> list[str]:
    """Why a file cannot stand at its path: something else does, or something that is no folder on the way there."""
    found = []
    last = folder / path
    for way in (folder / parent for parent in reversed(Path(path).parents)):
        if os.path.lexists(way) and (way.is_symlink() or not way.is_dir()):
            kind = "a symbolic link" if way.is_symlink() else "a file"
            found.append(f"{way.relative_to(folder)} is {kind}, not a folder")
    if not found and os.path.lexists(last) and not last.is_symlink() and not last.is_file():
        found.append(f"{path} is {'a folder' if last.is_dir() else 'no ordinary file'}")
    return found


def _said(folder: Path, path: str, known: Mapping[str, str]) -> str:
    """A file that would be lost, and in what way it is not as it was written."""
    if path not in known:
        return f"{path} (not the project's)" if known else path
    if (folder / path).is_symlink():
        return f"{path} (a symbolic link)"
    ends = (folder / path).read_bytes().replace(b"\r\n", b"\n")
    return f"{path} (only its line ends)" if still_as_listed(path, ends, known[path]) else f"{path} (edited)"
