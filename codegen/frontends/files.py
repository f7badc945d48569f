"""Model files as bytes.

Decides: how large a file may be that is read at all.
"""

from __future__ import annotations

from pathlib import Path

from codegen.datafiles import open_file, read_file
from codegen.errors import CompileError, FileTooLarge, ModelMissing, ModelTooLarge

MAX_FILE_BYTES = 512 * 2**20
TFLITE_MARK = b"TFL3"
CAFFE_ENDINGS = (".prototxt", ".caffemodel")


def read_model_file(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """All bytes of a model's file.

    Raises:
        ModelMissing: LAM-IMPORT-002, no such file, a folder, or one that cannot be read.
        FileSpecial: LAM-API-020, a pipe or a device.
        ModelTooLarge: LAM-IMPORT-004, more than `limit` bytes.
    """
    try:
        return read_file(path, limit, lambda found: ModelMissing(found, where=str(path)))
    except FileTooLarge as error:
        raise ModelTooLarge(error.found, where=str(path)) from error


def begins_with(path: Path, count: int) -> bytes:
    """The file's first bytes; none of one that cannot be read."""
    try:
        with open_file(path, MAX_FILE_BYTES, lambda found: ModelMissing(found, where=str(path))) as file:
            return file.read(count)
    except (CompileError, OSError):
        return b""


def is_tflite(path: Path) -> bool:
    """Whether the file is a TFLite model, by its mark or, where it cannot be read, its ending."""
    return begins_with(path, 8)[4:] == TFLITE_MARK or path.suffix == ".tflite"


def is_caffe(path: Path) -> bool:
    """Whether the file is of a Caffe network, by its ending: the text, or the weights that were given by mistake."""
    return path.suffix in CAFFE_ENDINGS
