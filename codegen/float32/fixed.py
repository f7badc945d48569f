"""What the functions of float32 are made of; bit-exact twin of runtime_c/include/lam_f32.h and lam_f32_fixed.h.

Decides: how a float32 is taken apart and put together, and what a fixed-point product keeps.
Leaves to the files of the functions which polynomial is evaluated where.

Everything in between is int64: `bits` are 0 .. 2^32 - 1, `size` are bits without the sign, a number in Qn is
raw / 2^n.  C has the same integers in 32 bits where they fit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]
Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Ints = int | Int64Array

BLOCK = 1 << 14
"""Numbers that a function works on at a time, so that what it keeps in between stays in the cache."""

NAN = 0x7FC00000
INFINITY = 0x7F800000
SIGN = 0x80000000
ONE = 0x3F800000
LEAST_NORMAL = 0x00800000


def by_blocks(function: Callable[[Float32Array], Float32Array]) -> Callable[[npt.NDArray[Any]], Float32Array]:
    """A function of one row of numbers takes arrays of every shape and size."""

    @functools.wraps(function)
    def over_all(x: npt.NDArray[Any]) -> Float32Array:
        row = np.asarray(x, np.float32).reshape(-1)
        result = np.empty_like(row)
        for first in range(0, row.size, BLOCK):
            result[first : first + BLOCK] = function(row[first : first + BLOCK])
        return result.reshape(np.shape(x))

    return over_all


def bits_of(x: Float32Array) -> Int64Array:
    """The 32 bits of each number."""
    return x.view(np.uint32).astype(np.int64)


def from_bits(bits: Int64Array) -> Float32Array:
    """The numbers that have these bits."""
    return np.asarray(bits).astype(np.uint32).view(np.float32)


def parts(x: Float32Array) -> tuple[Int64Array, Int64Array]:
    """Sign bit and size bits."""
    bits = bits_of(x)
    return bits & SIGN, bits & ~SIGN


def exponent_of(size: Int64Array) -> Int64Array:
    """The e of a normal number: 2^e <= |x| < 2^(e + 1)."""
    return (size >> 23) - 127


def mantissa_of(size: Int64Array) -> Int64Array:
    """|x| / 2^e of a normal number, 2^23 .. 2^24 - 1."""
    return (size & 0x7FFFFF) | 0x800000


def signed(word: Ints) -> Int64Array:
    """The low 32 bits, read as a number of two's complement."""
    return np.asarray(word).astype(np.uint32, casting="unsafe").view(np.int32).astype(np.int64)


def high(a: Ints, b: Ints) -> Int64Array:
    """floor(a * b / 2^32)."""
    return np.asarray((a * b) >> 32)


def polynomial(c: Sequence[Ints], x: Int64Array) -> Int64Array:
    """c[0] + x * (c[1] + x * (c[2] + ...)) for x in Q32."""
    total = np.asarray(c[-1])
    for one in reversed(c[:-1]):
        total = one + high(total, x)
    return total


def pack(exponent: Ints, value: Int64Array) -> Int64Array:
    """The bits of value / 2^30 * 2^exponent, rounded to nearest; denormal from exponent -127 on, down to -150.

    value is 2^30 .. 2^31, or so little outside that it rounds to one of them.
    """
    below = np.maximum(-126 - np.asarray(exponent), 0)
    return np.asarray(((exponent + below + 126) << 23) + ((value + (np.int64(64) << below)) >> (7 + below)))


def pack_about(exponent: Ints, value: Int64Array) -> Int64Array:
    """As `pack` for values of 2^29 .. 2^32 - 1, whose results are normal."""
    less, more = (value < 1 << 30).astype(np.int64), (value >= SIGN).astype(np.int64)
    return pack(exponent - less + more, (value << less) >> more)


def leading_zeros_64(value: Int64Array) -> Int64Array:
    """Leading zero bits of 64, for 0 < value < 2^63."""
    wide = value.astype(np.float64)
    above = np.frexp(wide)[1].astype(np.int64)
    over = (np.int64(1) << np.minimum(above - 1, 62)) > value  # float64 rounded up to a power of two
    return np.asarray(64 - above + over)


def from_fixed(sign: Int64Array, value: Int64Array, fraction_bits: int) -> Float32Array:
    """The number value / 2^fraction_bits as a normal float32 with this sign bit; 0 is +0."""
    some = np.maximum(value, 1)
    zeros = leading_zeros_64(some)
    top = np.where(zeros <= 33, some >> np.maximum(33 - zeros, 0), some << np.maximum(zeros - 33, 0))
    return from_bits(np.where(value == 0, 0, sign | pack(63 - zeros - fraction_bits, top)))


def square(size: Int64Array, at: int) -> Int64Array:
    """The square of x in Q(30 - 2 * at), for a normal x below 2^at; 0 where x is below 2^-15."""
    right = 2 * (at - 1 - exponent_of(size))
    value = mantissa_of(size) << 7
    return np.where(right > 31, 0, high(value, value) >> np.clip(right, 0, 31))


_RECIPROCAL = (714587280, -476391520, 357293640, -238195760)


def reciprocal(d: Int64Array) -> Int64Array:
    """2^31 / (1 + d / 2^31) for 0 <= d < 2^31, to about 2 units: a cubic, then two steps of Newton and Raphson."""
    whole = d | SIGN
    y = polynomial(_RECIPROCAL, signed((d << 1) ^ SIGN))
    y = y + high(y, signed(-((whole * y) >> 29)))
    return np.asarray(2 * y + ((y * signed(-((whole * y) >> 29))) >> 31))


def grown(value: Int64Array, square: Int64Array, slope: Ints) -> Int64Array:
    """The value times 1 + square * slope, for both in Q32."""
    return np.asarray(value + high(value, high(slope, square)))


_ROOT = (679478356, -525377566, 603504646, -1321976780, 2042526300)


def root(v: Int64Array) -> Int64Array:
    """The root 2^31 * sqrt(v / 2^32) for 2^30 <= v < 2^32, to about 2 units.

    1 / sqrt by a quartic and one step of Newton and Raphson, then one step on the root.
    """
    y = polynomial(_ROOT, v - 0xA0000000)
    y = y + high(y, ((1 << 26) - high(v, high(y, y))) * 32)
    found = (v * y) >> 30
    return np.asarray(found + (high(y, ((v << 30) - found * found) >> 16) >> 13))
