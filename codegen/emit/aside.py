"""The folder aside, in which a project is made ready before it is moved into place.

It lies inside the project's folder, hence on the same file system, and belongs to one process at a time: who holds the
lock on its file `lock`.  A process that is killed leaves it behind without the lock, and the next one cleans it up.

    lock          held while somebody writes
    new/          the new files, whole, before any of them is moved
    old/          the files that will be replaced or removed
    journal.json  there while files are being moved: what is being put where; without it the project is whole
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from codegen.emit.listing import digest, is_inside, is_listing
from codegen.errors import OutputBusy, OutputNotOurs
from codegen.resources import ASIDE, JOURNAL

_PATIENCE_S = 30.0
_POLL_S = 0.02


@contextlib.contextmanager
def folder_aside(folder: Path) -> Iterator[Path]:
    """The folder aside for this process alone; what a killed process left is put right and cleaned up before.

    Raises:
        OutputBusy: LAM-EMIT-004, somebody else has held it for half a minute.
    """
    aside = folder / ASIDE
    lock = _locked(aside, time.monotonic() + _PATIENCE_S)
    try:
        restore(folder)
        _clean(aside)
        yield aside
    finally:
        if not (folder / JOURNAL).exists():
            _clean(aside)
            _leave(aside, lock=True)
        os.close(lock)


def _locked(aside: Path, until: float) -> int:
    """The open lock file, locked, and still the one that stands at its path."""
    while True:
        if aside.is_symlink():
            raise OutputNotOurs(f"its {ASIDE} is a symbolic link", where=str(aside.parent))
        with contextlib.suppress(FileExistsError):
            aside.mkdir(parents=True)
        try:
            lock = os.open(aside / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            continue
        except OSError:
            _leave(aside, lock=False)
            raise
        if _try_lock(aside, lock) and _is_at(lock, aside / "lock"):
            return lock
        os.close(lock)
        if time.monotonic() > until:
            raise OutputBusy("is being written by another process", where=str(aside.parent))
        time.sleep(_POLL_S)


def _try_lock(aside: Path, lock: int) -> bool:
    import fcntl  # POSIX has it; whoever writes no project does not need it

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        os.close(lock)
        _leave(aside, lock=True)
        raise
    return True


def _leave(aside: Path, *, lock: bool) -> None:
    """The folder aside is gone when nobody else has something in it."""
    with contextlib.suppress(OSError):
        if lock:
            (aside / "lock").unlink()
        aside.rmdir()


def _is_at(lock: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), os.lstat(path))
    except FileNotFoundError:
        return False


def _clean(aside: Path) -> None:
    """What is of no use any more is gone; what cannot be removed is left to the next process."""
    for part in ("new", "old"):
        with contextlib.suppress(OSError):
            shutil.rmtree(aside / part)
    with contextlib.suppress(OSError):
        (aside / "journal.tmp").unlink()


def write_aside(aside: Path, files: Mapping[str, bytes]) -> None:
    """The new files lie whole in new/, and on the disk."""
    (aside / "new").mkdir()
    for path, data in files.items():
        target = aside / "new" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        _write_durably(target, data)
        old = aside.parent / path
        if old.is_file() and not old.is_symlink():
            shutil.copymode(old, target)


def move_into_place(aside: Path, files: Mapping[str, bytes], gone: tuple[str, ...]) -> None:
    """The files of new/ stand in the folder, those in `gone` do not; at an error everything is as before."""
    folder = aside.parent
    (aside / "old").mkdir()
    for path in (*files, *gone):
        if os.path.lexists(folder / path):
            _keep(folder / path, aside / "old" / path)
    paths = {path: digest(data) for path, data in files.items()} | dict.fromkeys(gone, "0" * 64)
    made = [str(p.relative_to(folder)) for p in _missing_parents(folder, files)]
    _write_durably(aside / "journal.tmp", json.dumps({"files": paths, "made": made}).encode("utf-8"))
    with contextlib.ExitStack() as undo:
        undo.callback(restore, folder)
        (aside / "journal.tmp").rename(folder / JOURNAL)
        _sync(aside)
        for path in gone:
            (folder / path).unlink()
        for path in files:
            _move(aside / "new" / path, folder / path)
        for parent in _parents(folder, gone):
            with contextlib.suppress(OSError):
                parent.rmdir()
        for parent in {folder, *_parents(folder, files)}:
            _sync(parent)
        (folder / JOURNAL).unlink()
        undo.pop_all()


def restore(folder: Path) -> None:
    """After moves that did not come to an end the project is as it was before them; without such, nothing happens.

    A file that somebody changed since then is left as it is.
    """
    aside, journal = folder / ASIDE, folder / JOURNAL
    if not journal.exists():
        return
    files, made = _read_journal(journal)
    for path, written in files.items():
        place, old = folder / path, aside / "old" / path
        moved_in = place.is_file() and not place.is_symlink() and digest(place.read_bytes()) == written
        if os.path.lexists(old) and (moved_in or not os.path.lexists(place)):
            _move(old, place)
        elif moved_in:
            place.unlink()
    for path in made:
        with contextlib.suppress(OSError):
            (folder / path).rmdir()
    journal.unlink()


def _read_journal(journal: Path) -> tuple[dict[str, str], list[str]]:
    """What was being moved; LAM-EMIT-002 for a journal that this module did not write."""
    try:
        read = json.loads(journal.read_bytes())
        files, made = read["files"], read["made"]
        roots = (journal.parent.parent, journal.parent / "old")
        ours = is_listing(files) and all(is_inside(path) for path in made)
        ours = ours and not any(p.is_symlink() for root in roots for p in _parents(root, (*files, *made)))
    except (ValueError, KeyError, TypeError, RecursionError):
        ours = False
    if not ours:
        raise OutputNotOurs(f"holds a {ASIDE} that cannot be read", where=str(journal.parent.parent))
    return files, made


def _parents(root: Path, paths: Mapping[str, object] | tuple[str, ...]) -> list[Path]:
    """The folders under `root` that these paths go through, the deepest first."""
    found = {root / parent for path in paths for parent in Path(path).parents} - {root}
    return sorted(found, key=lambda p: (-len(p.parts), p))


def _missing_parents(root: Path, paths: Mapping[str, object]) -> list[Path]:
    return [parent for parent in _parents(root, paths) if not parent.exists()]


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.replace(target)


def _keep(source: Path, target: Path) -> None:
    """A second name for a file, or where the file system has no such thing, a copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def _write_durably(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """What was renamed in a folder is on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
