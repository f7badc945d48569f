"""A float32 as the word that holds it, taken apart and put together; bit-exact twin of runtime_c/include/lam_f32.h.

`bits` are 0 .. 2^32 - 1, `size` are bits without the sign; both are int64.
"""

from __future__ import annotations

import numpy as np

from codegen.float32.arrays import Float32Array, Int64Array, Ints

NAN = 0x7FC00000
INFINITY = 0x7F800000
SIGN = 0x80000000
ONE = 0x3F800000
LEAST_NORMAL = 0x00800000


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
