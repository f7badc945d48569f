"""asinh, acosh, atanh of float32; bit-exact twin of runtime_c/include/lam_f32_area.h.  Accuracy: docs/numerics.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.float32.arrays import Float32Array, Int64Array, by_blocks
from codegen.float32.fixed import from_fixed, grown, leading_zeros_64, polynomial, root, square
from codegen.float32.logarithm import log_fixed
from codegen.float32.words import INFINITY, NAN, ONE, bits_of, exponent_of, from_bits, mantissa_of, pack_about, parts

TINY, HALF, FIVE_QUARTERS = 0x39000000, 0x3F000000, 0x3FA00000  # TINY is 2^-13
_ASINH = (-715826903, 322065136, -190635844, 121013100, -56900148)
_ACOSH = (1073741823, -89478264, 20125438, -5908529, 1636375)
_ATANH = (1431654284, 859104599, 610808183, 508265127, 218979504, 761055292)


def _odd(size: Int64Array, c: Sequence[int]) -> Int64Array:
    """Bits of |x| * (1 + x^2 * p(x^2)) for |x| < 1/2; |x| itself below 2^-13."""
    some = np.clip(size, TINY, HALF - 1)
    squared = square(some, -1)
    value = grown(mantissa_of(some) << 7, squared, polynomial(c, squared))
    return np.where(size < TINY, size, pack_about(exponent_of(some), value))


def _log_sum(size: Int64Array, one: int) -> Int64Array:
    """log(|x| + sqrt(x^2 + one)) in Q56, one being 1 or -1, for 1/2 <= |x|, and 5/4 <= |x| for -1."""
    m, exponent = mantissa_of(size), exponent_of(size)
    squared = m * m + one * (np.int64(1) << (46 - 2 * np.minimum(exponent, 16)))
    even = leading_zeros_64(squared) & ~1
    total = (m << 6) + (root(squared >> (32 - even)) >> (even // 2 - 7))
    zeros = leading_zeros_64(total) - 32
    far = exponent > 15
    return log_fixed(np.where(far, m << 8, total << zeros), np.where(far, exponent + 1, exponent + 2 - zeros))


def _bits_of_fixed(sign: Int64Array, value: Int64Array, fraction_bits: int) -> Int64Array:
    return bits_of(from_fixed(sign, value, fraction_bits))


@by_blocks
def asinh(x: Float32Array) -> Float32Array:
    """The inverse of sinh."""
    sign, size = parts(x)
    far = _bits_of_fixed(sign, _log_sum(np.clip(size, HALF, INFINITY - 1), 1), 56)
    result = np.where(size < HALF, sign | _odd(size, _ASINH), far)
    result = np.where(size == INFINITY, sign | INFINITY, result)
    return from_bits(np.where(size > INFINITY, NAN, result))


def _acosh_near(t: Int64Array) -> Int64Array:
    """Bits of acosh(1 + t / 2^23) for 0 < t < 2^21: sqrt(2 * t) times a polynomial."""
    zeros = leading_zeros_64(t) - 32
    odd = zeros & 1
    value = (root((t << zeros) >> odd) * polynomial(_ACOSH, t << 9)) >> 30
    return pack_about(((10 - zeros + odd) >> 1) - 1, value)


@by_blocks
def acosh(x: Float32Array) -> Float32Array:
    """The inverse of cosh, 0 or above; NaN below 1."""
    bits = bits_of(x)
    far = _bits_of_fixed(np.zeros_like(bits), _log_sum(np.clip(bits, FIVE_QUARTERS, INFINITY - 1), -1), 56)
    result = np.where(bits < FIVE_QUARTERS, _acosh_near(np.clip(bits - ONE, 1, FIVE_QUARTERS - ONE - 1)), far)
    result = np.where(bits == ONE, 0, np.where(bits == INFINITY, INFINITY, result))
    return from_bits(np.where((bits < ONE) | (bits > INFINITY), NAN, result))


@by_blocks
def atanh(x: Float32Array) -> Float32Array:
    """The inverse of tanh; infinite at -1 and 1, NaN beyond."""
    sign, size = parts(x)
    m = mantissa_of(np.clip(size, HALF, ONE - 1))
    zeros = leading_zeros_64(0x1000000 - m) - 32
    twice = log_fixed((0x1000000 + m) << 7, np.zeros_like(m)) - log_fixed((0x1000000 - m) << zeros, 7 - zeros)
    far = _bits_of_fixed(sign, twice, 57)
    result = np.where(size < HALF, sign | _odd(size, _ATANH), far)
    return from_bits(np.where(size >= ONE, np.where(size > ONE, NAN, sign | INFINITY), result))
