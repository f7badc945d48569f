"""Weights of 2 and 4 bits as kernels store them: several in an element of 8, 16 or 32 bits, the first one lowest.

Decides nothing about which layers have them: `TensorType.bits` says that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.ir.quant import Array
from codegen.records import record

_ELEMENTS = (8, 16, 32)
_WORD = 32
_HALF = 16


@record
class Fields:
    """Fields of `bits` bits in elements of `element` bits, with a sign or `unsigned`."""

    bits: int
    element: int
    unsigned: bool = False

    @classmethod
    def holding(cls, bits: int, count: int) -> Fields:
        """The least elements that hold so many."""
        return cls(bits, next(size for size in _ELEMENTS if size >= bits * count))

    @classmethod
    def holding_turns(cls, bits: int, counts: tuple[int, ...], run: int, turn: int) -> Fields:
        """The largest that a run of taps fills, and a turn of them, of each of the `counts` of fields of a tap.

        A larger element is one load for more fields.  Where runs fill none, the least that hold those of one tap.
        """
        least = cls.holding(bits, max(counts))
        every = (cls(bits, size) for size in reversed(_ELEMENTS) if size > least.element)
        return next((f for f in every if not any(n % f.in_turn(c) for n in (run, turn) for c in counts)), least)

    @property
    def ctype(self) -> str:
        """The C99 type of an element."""
        return f"uint{self.element}_t"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of an element."""
        return np.dtype(f"uint{self.element}")

    @property
    def right(self) -> int:
        """By how much a field at the top of a word is shifted to give its number."""
        return _WORD - self.bits

    @property
    def mask(self) -> int:
        """The bits of a field."""
        return (1 << self.bits) - 1

    @property
    def sign(self) -> int:
        """The bit of a field that says that its number is below zero."""
        return 1 << (self.bits - 1)

    def in_turn(self, count: int) -> int:
        """How many times `count` fields go into an element: a power of two."""
        return 1 << (self.element // (self.bits * count)).bit_length() - 1

    def left(self, index: int) -> int:
        """By how much an element is shifted, as a word, to have a field at the top."""
        return self.right - self.bits * index

    def place(self, index: int) -> int:
        """By how much an element is shifted to have a field at the bottom."""
        return self.bits * index

    @property
    def partial(self) -> bool:
        """Whether elements are less than a word."""
        return self.element < _WORD

    def is_last(self, index: int) -> bool:
        """Whether a field is the uppermost one, whose sign an element with a sign has."""
        return self.place(index + 1) == self.element

    def half_left(self, index: int) -> int:
        """By how much a byte is shifted, as 16 bits, to have a field at the top."""
        return _HALF - self.bits * (index + 1)

    def packed(self, rows: Array) -> Array:
        """Elements of the last axis, whose fields fit into one, as numbers of this type."""
        places = self.bits * np.arange(rows.shape[-1], dtype=np.uint64)
        fields = rows.astype(np.int64).astype(np.uint64) & np.uint64(self.mask)
        return np.asarray((fields << places).sum(axis=-1).astype(self.dtype))


def filled_to(rows: Array, multiple: int, axis: int) -> Array:
    """Zeros behind an axis up to a multiple."""
    missing = [(0, 0)] * rows.ndim
    missing[axis] = (0, -rows.shape[axis] % multiple)
    return np.pad(rows, missing)


_NIBBLES = Fields(4, 8)


def nibbles(rows: Array, axis: int) -> Array:
    """Bytes, uint8, of two numbers of 4 bits each that are neighbours along an axis, of which there are even many."""
    low, high = (np.take(rows, range(first, rows.shape[axis], 2), axis) for first in (0, 1))
    return _NIBBLES.packed(np.stack([low, high], axis=-1))
