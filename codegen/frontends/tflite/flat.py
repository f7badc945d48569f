"""Tables and vectors of a flatbuffer, every offset checked before it is followed.

The flatbuffers package trusts the file: a wrong offset there reads other bytes, or runs for minutes through a vector of
2^32 elements.  Here each table's own index, each field and each vector must lie inside the file, and the numbers read
in all are bounded.  Source: flatbuffers.dev, "FlatBuffer binary format".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from codegen.errors import ModelTooLarge, ModelUnreadable
from codegen.ir.quant import Array
from codegen.records import record

MAX_ENTRIES = 1 << 21
"""Entries of all vectors but those of bytes."""


@dataclass(slots=True, eq=False)
class Flat:
    """The file's bytes, and how many entries may still be read."""

    data: bytes
    where: str
    left: int = field(default=MAX_ENTRIES)
    padded: bytes = field(init=False)

    def __post_init__(self) -> None:
        """Keep a copy with eight bytes more, for readers that take whole numbers from a damaged last table."""
        self.padded = self.data + bytes(8)

    def root(self) -> Table:
        """The outermost table."""
        return self.table_at(self.number(0, "<I"))

    def table_at(self, position: int) -> Table:
        """The table at `position`."""
        index = position - self.number(position, "<i")
        index_bytes, size = self.number(index, "<H"), self.number(index + 2, "<H")
        good = index_bytes >= 4 and index_bytes % 2 == 0 and size >= 4
        if not good or index + index_bytes > len(self.data) or position + size > len(self.data):
            raise self.broken(position)
        return Table(self, position, index, (index_bytes - 4) // 2, size)

    def number(self, position: int, code: str) -> int:
        """One integer."""
        if not 0 <= position <= len(self.data) - struct.calcsize(code):
            raise self.broken(position)
        return int(struct.unpack_from(code, self.data, position)[0])

    def vector(self, position: int, width: int) -> tuple[int, int]:
        """Position of the first element and number of elements of a vector; counted unless it is of bytes."""
        count = self.number(position, "<I")
        if count * width > len(self.data) - position - 4:
            raise self.broken(position)
        if width > 1:
            self.left -= count
            if self.left < 0:
                raise ModelTooLarge(f"more than {MAX_ENTRIES} entries in the model's lists", where=self.where)
        return position + 4, count

    def broken(self, position: int) -> ModelUnreadable:
        """The error for something that is not where it should be."""
        return ModelUnreadable(f"the file is cut off or damaged at byte {position}", where=self.where)


@record(eq=False)
class Table:
    """One table; fields are asked for by their number in the schema."""

    flat: Flat
    position: int
    index: int
    fields: int
    size: int

    def at(self, slot: int, width: int) -> int | None:
        """Where a field of `width` bytes lies; None when it is left out."""
        if slot >= self.fields:
            return None
        offset = self.flat.number(self.index + 4 + 2 * slot, "<H")
        if not offset:
            return None
        if offset < 4 or offset + width > self.size:
            raise self.flat.broken(self.position)
        return self.position + offset

    def scalar(self, slot: int, code: str, default: int = 0) -> int:
        """A number; `code` as in the struct module."""
        at = self.at(slot, struct.calcsize(f"<{code}"))
        return default if at is None else self.flat.number(at, f"<{code}")

    def target(self, slot: int) -> int | None:
        """What an offset field points to."""
        at = self.at(slot, 4)
        return None if at is None else at + self.flat.number(at, "<I")

    def table(self, slot: int) -> Table | None:
        """A table."""
        at = self.target(slot)
        return None if at is None else self.flat.table_at(at)

    def tables(self, slot: int) -> list[Table]:
        """A vector of tables."""
        at = self.target(slot)
        if at is None:
            return []
        first, count = self.flat.vector(at, 4)
        places = range(first, first + 4 * count, 4)
        return [self.flat.table_at(place + self.flat.number(place, "<I")) for place in places]

    def numbers(self, slot: int, dtype: str) -> Array | None:
        """A vector of numbers of a numpy type, little-endian; None when it is left out."""
        at = self.target(slot)
        if at is None:
            return None
        kind = np.dtype(dtype).newbyteorder("<")
        first, count = self.flat.vector(at, kind.itemsize)
        if not count:
            return np.zeros(0, dtype)
        return np.frombuffer(self.flat.data, kind, count, first).astype(np.dtype(dtype))

    def raw(self, slot: int) -> bytes | None:
        """A vector of bytes."""
        at = self.target(slot)
        if at is None:
            return None
        first, count = self.flat.vector(at, 1)
        return self.flat.data[first : first + count]

    def text(self, slot: int) -> str:
        """A string; bytes that are not UTF-8 are replaced."""
        return (self.raw(slot) or b"").decode("utf-8", errors="replace")

    def check_fields(self) -> None:
        """Refuse a table with a field outside itself."""
        for slot in range(self.fields):
            self.at(slot, 1)
