"""Fields of a protobuf message as they lie in a file, found without parsing what is in them.

Decides: how many parts a file may have that is parsed at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.errors import ModelUnreadable

MAX_FIELDS = 200_000

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Kinds of fields."""


def fields(data: bytes, start: int, stop: int, where: str) -> Iterator[tuple[int, int, int, int]]:
    """Field number, wire type, first and last byte of each field of one message.

    Raises:
        ModelUnreadable: LAM-IMPORT-003, for what is cut off or no message.
    """
    at = start
    while at < stop:
        tag, first = varint(data, at, stop, where)
        number, wire = tag >> 3, tag & 7
        if wire == BYTES:
            length, first = varint(data, first, stop, where)
            last = first + length
        elif wire == VARINT:
            _, last = varint(data, first, stop, where)
        elif wire in (FIXED64, FIXED32):
            last = first + (8 if wire == FIXED64 else 4)
        else:
            raise ModelUnreadable(f"no protobuf message at byte {at}", where=where)
        if last > stop or number == 0:
            raise ModelUnreadable(f"the file is cut off or damaged at byte {at}", where=where)
        yield number, wire, first, last
        at = last


def varint(data: bytes, at: int, stop: int, where: str) -> tuple[int, int]:
    """A whole number of variable length, and the byte behind it; LAM-IMPORT-003 where it does not end before `stop`."""
    value = 0
    for position in range(at, min(at + 10, stop)):
        byte = data[position]
        value |= (byte & 0x7F) << (7 * (position - at))
        if byte < 0x80:
            return value, position + 1
    raise ModelUnreadable(f"the file is cut off or damaged at byte {at}", where=where)
