"""The files that a TFLite model carries: a ZIP archive behind the flatbuffer.

Decides: that text files may be labels, and that an archive is read only where it is as small as such archives are, so
that neither its directory nor a file in it unpacks to more than the limits.
"""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from codegen.frontends.labels import MAX_LABEL_BYTES, lines_of
from codegen.ir.labels import Labels

MAX_ARCHIVED = 64
_MAX_DIRECTORY = 2**16
_END = struct.Struct("<4s4H2LH")
_END_MARK, _LOCATOR_MARK, _LOCATOR_BYTES = b"PK\x05\x06", b"PK\x06\x07", 20
_DAMAGED = (BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, LookupError)
"""What Python's reader raises of archives that are damaged, encrypted or of another kind."""


def archived_labels(data: bytes) -> tuple[Labels, ...]:
    """What each text file says line by line; an empty list for one that cannot be read."""
    if not _is_small(data):
        return ()
    try:
        with ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
            texts = [e for e in entries if e.filename.lower().endswith(".txt")] if len(entries) <= MAX_ARCHIVED else []
            return tuple(_lines(archive, entry) for entry in texts)
    except _DAMAGED:
        return ()


def _is_small(data: bytes) -> bool:
    """Whether a small directory, without a comment or 64-bit sizes, ends the file."""
    if len(data) < _END.size + _LOCATOR_BYTES:
        return False
    mark, *_, directory_bytes, _, comment = _END.unpack_from(data, len(data) - _END.size)
    is_wide = data.startswith(_LOCATOR_MARK, len(data) - _END.size - _LOCATOR_BYTES)
    return bool(mark == _END_MARK and comment == 0 and directory_bytes <= _MAX_DIRECTORY and not is_wide)


def _lines(archive: ZipFile, entry: ZipInfo) -> Labels:
    if entry.file_size > MAX_LABEL_BYTES or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        return ()
    try:
        with archive.open(entry) as file:
            return lines_of(file.read(MAX_LABEL_BYTES + 1))
    except _DAMAGED:
        return ()
