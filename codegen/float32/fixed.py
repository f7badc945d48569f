"""Fixed-point arithmetic inside the functions of float32; bit-exact twin of runtime_c/include/lam_f32_fixed.h.

Decides: what a fixed-point product keeps.  Leaves to the files of the functions which polynomial is evaluated where.

Everything in between is int64: a number in Qn is raw / 2^n.  C has the same integers in 32 bits where they fit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.float32.arrays import Float32Array, Int64Array, Ints
from codegen.float32.words import SIGN, exponent_of, from_bits, mantissa_of, pack


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


def scaled(size: Int64Array, exponent: Ints, factor: Int64Array) -> Int64Array:
    """The bits of |x| * factor / 2^31 * 2^exponent, rounded once, for a normal x and a factor of 2^27 .. 2^32 - 1."""
    value = ((mantissa_of(size) << 7) * factor) >> 31
    zeros = leading_zeros_64(value) - 32
    power = exponent_of(size) + exponent + 1 - zeros
    return np.where(power < -150, 0, pack(np.maximum(power, -150), (value << zeros) >> 1))


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
