"""Model files as bytes.

Decides: how large a file may be that is read at all.
"""

from __future__ import annotations

from pathlib import Path

from codegen.errors import ModelMissing, ModelTooLarge

MAX_FILE_BYTES = 512 * 2**20


def read_file(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """All bytes of a model's file.

    Raises:
        ModelMissing: LAM-IMPORT-002.
        ModelTooLarge: LAM-IMPORT-004, more than `limit` bytes.
    """
    if not path.is_file():
        raise ModelMissing("no such file" if not path.exists() else "not a file", where=str(path))
    try:
        size = path.stat().st_size
        if size > limit:
            raise ModelTooLarge(f"the file has {size} bytes, at most {limit} are read", where=str(path))
        return path.read_bytes()
    except OSError as error:
        raise ModelMissing(f"the file cannot be read: {error.strerror}", where=str(path)) from error
