"""Whole numbers without a sign in the words that hold them, and what a shift leaves open."""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import Array

WORD = np.uint64(0xFFFFFFFF)


def unsigned(x: Array) -> Array:
    """Bits of s32 as the numbers of uint32, in 64 bits."""
    return np.asarray(x.astype(np.int64).astype(np.uint64) & WORD)


def as_words(x: Array) -> Array:
    """The low 32 bits of numbers of 64, as s32 of the same bits."""
    return np.asarray((x & WORD).astype(np.uint32).view(np.int32).reshape(x.shape))


def split(x: Array) -> Array:
    """Numbers of 64 bits as pairs of s32 along a new last axis, the low word first."""
    return np.stack([as_words(x), as_words(x >> np.uint64(32))], axis=-1)


def joined(pairs: Array) -> Array:
    """The numbers of 64 bits of such pairs."""
    return np.asarray(unsigned(pairs[..., 0]) | unsigned(pairs[..., 1]) << np.uint64(32))


def msb(x: Array) -> Array:
    """How many bits each number takes, of numbers below 2^32; 0 for 0."""
    return np.asarray(np.frexp(x.astype(np.float64))[1].astype(np.int64))
