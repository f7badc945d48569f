"""Files of named arrays (.npz), read with one clear refusal and written whole or not at all.

Decides: what counts as a readable file, and that the same arrays give the same bytes.  What the arrays mean is left to
the caller.
"""

from __future__ import annotations

import itertools
import lzma
import re
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from codegen.datafiles import open_file, written_file
from codegen.errors import ArraysNotWritable, DataFileBad, DataKeyMissing, FileTooLarge, first_line
from codegen.ir.quant import Array

MAX_DATA_BYTES = 4 << 30
"""Of a file of arrays, and of all that it unpacks to."""

_LONGEST_NAME = 4096
_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")
"""Of .npz and .npy files."""
_HEADER = (SyntaxError, TypeError, AttributeError, tokenize.TokenError)
"""What numpy says of a header that is no description of an array."""
_PACKED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error)
_NUMBERS = (ValueError, EOFError, LookupError, RuntimeError, ArithmeticError, MemoryError)
_UNREADABLE = (OSError, *_NUMBERS, *_HEADER, *_PACKED)
_JPEG_HINT = (
    "JPEG files need a file for --config with jpeg = true in [preprocess]; docs/preprocess.md shows whole files"
)


def read_npz(path: Path, keys: Iterable[str] | None = None) -> dict[str, Array]:
    """The file's arrays by name: all of them, or those of `keys` that are there; a .npy file holds one array, x.

    Raises:
        DataFileBad: LAM-API-003, no such file, not an array file, cut off, or holding pickled objects.
        FileSpecial: LAM-API-020, a pipe or a device.
        FileTooLarge: LAM-API-021, more than MAX_DATA_BYTES in the file, or in the arrays when unpacked.
    """
    with open_file(path, MAX_DATA_BYTES, lambda found: DataFileBad(found, where=str(path))) as file:
        try:
            content = np.load(file, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return {"x": content}
            wanted = content.files if keys is None else [k for k in keys if k in content.files]
            _check_unpacked(content, path)
            return {name: np.asarray(content[name]) for name in wanted}
        except _UNREADABLE as error:
            said = first_line(error) if _is_of_arrays(file) else "it is neither an .npz nor an .npy file"
            raise DataFileBad(f"no readable arrays: {said}", where=str(path)) from error


def _is_of_arrays(file: IO[bytes]) -> bool:
    """Whether a file begins as one of numpy's does; of another one numpy says that it may be pickled."""
    file.seek(0)
    return file.read(8).startswith(_BEGINNINGS)


def _check_unpacked(content: Any, path: Path) -> None:
    """LAM-API-021 for an archive that says its members take more than is read; unpacking stops at what it says."""
    total = sum(member.file_size for member in content.zip.infolist())
    if total > MAX_DATA_BYTES:
        raise FileTooLarge(f"unpacks to {total} bytes, at most {MAX_DATA_BYTES} are read", where=str(path))


def need(arrays: Mapping[str, Array], key: str, where: str) -> Array:
    """One array; LAM-API-004 naming those that are there when it is missing."""
    if key not in arrays:
        there = ", ".join(sorted(arrays)) or "none of the arrays that are looked for"
        hint = _JPEG_HINT if key == "x" and "jpeg" in arrays else None
        raise DataKeyMissing(f"no array {key!r}; it has {there}", where=where, hint=hint)
    return arrays[key]


def write_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write the arrays to `path`, compressed; LAM-API-008 when that fails, and then nothing is left behind."""

    def refused(found: str) -> ArraysNotWritable:
        return ArraysNotWritable(found, where=str(path))

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused(error.strerror or type(error).__name__) from error
    with written_file(path, refused) as file:
        _write_zip(file, arrays)


def _write_zip(file: IO[bytes], arrays: Mapping[str, Array]) -> None:
    """Members with fixed dates."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in zip(_member_names(arrays), arrays.values(), strict=True):
            member = zipfile.ZipInfo(f"{name}.npy")
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as out:
                np.lib.format.write_array(out, np.asarray(array), allow_pickle=False)


def _member_names(names: Iterable[str]) -> list[str]:
    """A name in the archive for each array: its own, but for what an archive cannot hold or an unpacker would follow.

    NUL and half characters become a space, steps to the folder above lose their dots, long names their middle; one that
    is then taken gets a number.
    """
    found: dict[str, None] = {}
    for name in names:
        text = re.sub("[\0\ud800-\udfff]", " ", name)
        text = "/".join("__" if part == ".." else part for part in text.split("/"))
        if len(text) > _LONGEST_NAME:
            text = f"{text[: _LONGEST_NAME // 2]} ... {text[-_LONGEST_NAME // 2 :]}"
        variations = itertools.chain([text], (f"{text}.{number}" for number in itertools.count(1)))
        found[next(free for free in variations if free not in found)] = None
    return list(found)
