"""Options of custom operators: a map from names to numbers in a flexbuffer, every offset checked.

Source: flatbuffers.dev, "FlexBuffers" (the format from its end: the root's width, its type, the root).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from codegen.errors import AttributeBad
from codegen.records import record

_INT, _UINT, _FLOAT, _FAR_INT, _FAR_UINT, _FAR_FLOAT, _MAP, _BOOL = 1, 2, 3, 6, 7, 8, 9, 26
_SIGNED, _REAL, _FAR = (_INT, _FAR_INT), (_FLOAT, _FAR_FLOAT), (_FAR_INT, _FAR_UINT, _FAR_FLOAT)
_NUMBERS = (_INT, _UINT, _FLOAT, *_FAR, _BOOL)
_REALS = {2: "<e", 4: "<f", 8: "<d"}
"""By the bytes of one."""
Told = Mapping[str, float]
"""Options by their names; whole numbers and truth values are int."""
_MOST_ENTRIES = 64
_LONGEST_NAME = 64


class _BrokenError(Exception):
    pass


@record
class _Bytes:
    data: bytes

    def number(self, position: int, width: int, *, signed: bool = False) -> int:
        if width not in (1, 2, 4, 8) or not 0 <= position <= len(self.data) - width:
            raise _BrokenError
        return int.from_bytes(self.data[position : position + width], "little", signed=signed)

    def real(self, position: int, width: int) -> float:
        if width not in _REALS:
            raise _BrokenError
        bits = self.number(position, width).to_bytes(width, "little")
        return float(struct.unpack(_REALS[width], bits)[0])

    def target(self, position: int, width: int) -> int:
        """Where the offset at a position leads."""
        return position - self.number(position, width)

    def name(self, position: int) -> str:
        end = self.data.find(b"\0", position, position + _LONGEST_NAME) if position >= 0 else -1
        if end < 0:
            raise _BrokenError
        return self.data[position:end].decode("ascii", errors="replace")


def read_options(data: bytes, where: str) -> Told:
    """The numbers and truth values of a map, by name; LAM-IMPORT-013 for bytes that are none."""
    try:
        return _numbers(_Bytes(data))
    except _BrokenError as error:
        found = "its options are no flexbuffer" if data else "it has no options"
        hint = "the file is damaged, or written for another operator of this name: convert the model again"
        raise AttributeBad(found, where=where, hint=hint) from error


def _numbers(found: _Bytes) -> Told:
    end = len(found.data)
    if end < 3:
        raise _BrokenError
    root_width, kind = found.number(end - 1, 1), found.number(end - 2, 1)
    if kind >> 2 != _MAP:
        raise _BrokenError
    values, width = found.target(end - 2 - root_width, root_width), 1 << (kind & 3)
    names = found.target(values - 3 * width, width)
    name_width, count = found.number(values - 2 * width, width), found.number(values - width, width)
    if count > _MOST_ENTRIES:
        raise _BrokenError
    read: dict[str, float] = {}
    for i in range(count):
        name = found.name(found.target(names + i * name_width, name_width))
        kind = found.number(values + count * width + i, 1)
        if kind >> 2 in _NUMBERS:
            read[name] = _number(found, values + i * width, width, kind)
    return read


def _number(found: _Bytes, position: int, width: int, kind: int) -> float:
    own = kind >> 2
    if own in _FAR:
        position, width = found.target(position, width), 1 << (kind & 3)
    return found.real(position, width) if own in _REAL else found.number(position, width, signed=own in _SIGNED)
