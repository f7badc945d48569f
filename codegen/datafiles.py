"""Files that a user names: read whole within limits, written whole or not at all.

Decides: that only regular files are read (a pipe may never end, a device has no end), how much of each, how deep TOML
may nest, and that what stands at a path is replaced only when the new content is there.  Leaves to the callers how much
is enough for their kind of file, what it means, and which error says that it is missing.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from codegen.errors import (
    CompileError,
    FileSpecial,
    FileTooLarge,
    LabelsUnreadable,
    OptionBad,
    OutputIsInput,
    TomlNumberTooLong,
    TomlTooDeep,
)

MAX_TOML_BYTES = 1 << 20
MAX_TOML_DEPTH = 32
"""Tables and lists within each other; targets have three."""

Refusal = Callable[[str], CompileError]
"""Makes the error of a kind of file from what was found, for one that is missing, a folder or unreadable."""

_KEY_PARTS = re.compile(r"[\w\"'-][ \t]*\.")
_KEY_ENDS = re.compile(r"[^\w\"'.\- \t]+")
_LONGEST_INTEGER = 1 << 63
_LONGEST_PREFIX = 40


def path_given(given: object, option: str) -> Path:
    """The path that an option names; LAM-IMPORT-030 for anything else, such as None, and for NUL in it."""
    if not isinstance(given, str | os.PathLike):
        raise OptionBad(f"{given!r} is of type {type(given).__name__}", where=option, hint="give a path")
    if "\0" in os.fsdecode(given):
        raise OptionBad(f"{given!r} holds a character that no path may", where=option, hint="give a path")
    return Path(os.fsdecode(given))


def check_outputs(outputs: Sequence[Path], inputs: Iterable[Path]) -> None:
    """Refuse to write over what is read, and to write two files at one place; links are followed.

    Raises:
        OutputIsInput: LAM-API-024.
    """
    read = set(map(_place, inputs))
    for number, path in enumerate(outputs):
        if _place(path) in read:
            raise OutputIsInput("the command reads this file", where=str(path))
        if _place(path) in map(_place, outputs[:number]):
            raise OutputIsInput("two results would go into this file", where=str(path))


def check_place(path: Path, refused: Refusal) -> None:
    """Refuse a path that no file can be written at, before anything is computed."""
    place = Path(_place(path))
    try:
        if place.exists() and not place.is_file():
            raise refused("is a folder" if place.is_dir() else "is not a regular file")
        if not place.parent.is_dir():
            raise refused("its folder does not exist")
    except OSError as error:
        raise refused(error.strerror or type(error).__name__) from error


def _place(path: Path) -> str:
    """Where a path leads; one that no file can have stays, and is refused when it is opened."""
    return str(path) if "\0" in str(path) else os.path.realpath(path)


@contextmanager
def open_file(path: Path, limit: int, refused: Refusal) -> Iterator[IO[bytes]]:
    """A regular file of at most `limit` bytes, open for reading.

    Raises:
        FileSpecial: LAM-API-020, a pipe, a device or a socket.
        FileTooLarge: LAM-API-021.
        CompileError: what `refused` makes of any other reason.
    """
    try:
        _check_kind(path.stat().st_mode, path)
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        problem = refused(_reason(error))
        problem.is_usage = problem.is_usage or not os.path.exists(path)
        raise problem from error
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        _check_kind(found.st_mode, path)  # it may have been replaced since
        if found.st_size > limit:
            raise FileTooLarge(f"has {found.st_size} bytes, at most {limit} are read", where=str(path))
        yield file


def read_file(path: Path, limit: int, refused: Refusal) -> bytes:
    """All bytes of a regular file, also of one that grows while it is read; errors as of `open_file`."""
    with open_file(path, limit, refused) as file:
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise refused(_reason(error)) from error
    if len(data) > limit:
        raise FileTooLarge(f"has more than the {limit} bytes that are read", where=str(path))
    return data


def read_toml(path: Path, refused: Refusal) -> dict[str, object]:
    """The tables of a TOML file.

    Raises:
        TomlTooDeep: LAM-API-022, tables and lists nested, or keys with dots, deeper than MAX_TOML_DEPTH.
        TomlNumberTooLong: LAM-API-023, an integer beyond the 64 bits that TOML has.
        CompileError: as of `open_file`, and what `refused` makes of text that is not TOML.
    """
    try:
        text = read_file(path, MAX_TOML_BYTES, refused).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise refused("is not text in UTF-8") from error
    if any(len(_KEY_PARTS.findall(key)) > MAX_TOML_DEPTH for key in _KEY_ENDS.split(text)):
        raise TomlTooDeep(f"a key of more than {MAX_TOML_DEPTH} parts", where=str(path))
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise refused(str(error)) from error
    except RecursionError as error:
        raise TomlTooDeep(f"nests deeper than {MAX_TOML_DEPTH}", where=str(path)) from error
    except ValueError as error:  # Python reads no integer of more than 4300 digits
        raise TomlNumberTooLong("an integer of thousands of digits", where=str(path)) from error
    _check_values(tables, str(path))
    return tables


def read_labels(path: Path) -> tuple[str, ...]:
    """The lines of a text file without the spaces around them; the last one may lack its end.

    Raises:
        LabelsUnreadable: LAM-EMIT-007, no such file, no UTF-8, or an empty line.
        CompileError: as of `open_file`.
    """

    def refused(found: str) -> CompileError:
        return LabelsUnreadable(found, where=str(path))

    try:
        text = read_file(path, MAX_TOML_BYTES, refused).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refused("is not text in UTF-8") from error
    lines = tuple(line.strip() for line in text.removesuffix("\n").split("\n"))
    if "" in lines:
        raise refused(f"line {lines.index('') + 1} is empty")
    return lines


def _check_values(tables: dict[str, object], where: str) -> None:
    level: list[object] = [tables]
    for _ in range(MAX_TOML_DEPTH + 1):
        if any(isinstance(v, int) and not -_LONGEST_INTEGER <= v < _LONGEST_INTEGER for v in level):
            raise TomlNumberTooLong("an integer beyond 64 bits", where=where)
        level = [inner for value in level for inner in _inside(value)]
    if level:
        raise TomlTooDeep(f"nests deeper than {MAX_TOML_DEPTH}", where=where)


def _inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


@contextmanager
def written_file(path: Path, refused: Refusal) -> Iterator[IO[bytes]]:
    """A file that stands at `path` when the block ends without an error; a link there still points to it.

    `refused` makes the error of a path that cannot be written, or holds a folder, a pipe, a device or a socket; nothing
    is left behind then.
    """
    aside = ""
    try:
        place = Path(os.path.realpath(path))
        if place.exists() and not place.is_file():
            raise refused("is a folder" if place.is_dir() else "is not a regular file")
        handle, aside = tempfile.mkstemp(prefix=f".{place.name[:_LONGEST_PREFIX]}.", dir=place.parent)
        with open(handle, "wb") as file:
            yield file
        os.chmod(aside, 0o644)
        os.replace(aside, place)
        aside = ""
    except OSError as error:
        raise refused(error.strerror or type(error).__name__) from error
    finally:
        if aside:
            Path(aside).unlink(missing_ok=True)


def _check_kind(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError
    if not stat.S_ISREG(mode):  # a link was followed to what it points to
        raise FileSpecial("is not a regular file", where=str(path))


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a folder"
    return (error.strerror or "cannot be read") if isinstance(error, OSError) else "the path is none"
