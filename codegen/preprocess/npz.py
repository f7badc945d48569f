"""Files of named arrays (.npz), read with one clear refusal and written whole or not at all.

Decides: what counts as a readable file, and that the same arrays give the same bytes.  What the arrays mean is left to
the caller.
"""

from __future__ import annotations

import itertools
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from codegen.errors import ArraysNotWritable, DataFileBad, DataKeyMissing
from codegen.ir.quant import Array

_LONGEST_NAME = 4096
_DAMAGED = (ValueError, EOFError, KeyError, RuntimeError, OverflowError, MemoryError)
_JPEG_HINT = (
    "JPEG files need a file for --config with jpeg = true in [preprocess]; docs/preprocess.md shows whole files"
)
_UNREADABLE = (OSError, *_DAMAGED, zipfile.BadZipFile, zlib.error)


def read_npz(path: Path, keys: Iterable[str] | None = None) -> dict[str, Array]:
    """The file's arrays by name: all of them, or those of `keys` that are there; a .npy file holds one array, x.

    Raises:
        DataFileBad: LAM-API-003, no such file, not an array file, cut off, or holding pickled objects.
    """
    try:
        with path.open("rb") as file:
            content = np.load(file, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return {"x": content}
            wanted = content.files if keys is None else [k for k in keys if k in content.files]
            return {name: np.asarray(content[name]) for name in wanted}
    except _UNREADABLE as error:
        problem = DataFileBad(_why(path, error), where=str(path))
        problem.is_usage = not path.exists()
        raise problem from error


def need(arrays: Mapping[str, Array], key: str, where: str) -> Array:
    """One array; LAM-API-004 naming those that are there when it is missing."""
    if key not in arrays:
        there = ", ".join(sorted(arrays)) or "none of the arrays that are looked for"
        hint = _JPEG_HINT if key == "x" and "jpeg" in arrays else None
        raise DataKeyMissing(f"no array {key!r}; it has {there}", where=where, hint=hint)
    return arrays[key]


def write_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write the arrays to `path`, compressed; LAM-API-008 when that fails, and then nothing is left behind."""
    aside: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            _write_zip(file, arrays)
        os.chmod(aside, 0o644)
        os.replace(aside, path)
        aside = None
    except OSError as error:
        raise ArraysNotWritable(error.strerror or type(error).__name__, where=str(path)) from error
    finally:
        if aside is not None:
            Path(aside).unlink(missing_ok=True)


def _write_zip(file: object, arrays: Mapping[str, Array]) -> None:
    """Members with fixed dates."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
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


def _why(path: Path, error: Exception) -> str:
    if not path.exists():
        return "no such file"
    if path.is_dir():
        return "is a folder"
    first = (str(error).splitlines() or [""])[0][:160]
    return f"no readable arrays: {first or type(error).__name__}"
