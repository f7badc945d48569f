"""asin, acos, atan of float32; bit-exact twin of runtime_c/include/lam_f32_arc.h.  Accuracy: docs/numerics.md."""

from __future__ import annotations

import numpy as np

from codegen.float32.arrays import Float32Array, Int64Array, by_blocks
from codegen.float32.fixed import from_fixed, grown, high, leading_zeros_64, polynomial, reciprocal, root, square
from codegen.float32.words import INFINITY, NAN, ONE, SIGN, exponent_of, from_bits, mantissa_of, pack_about, parts

HALF_PI = 3373259426  # pi / 2 in Q31, pi in Q30
HALF_PI_BITS, PI_BITS = 0x3FC90FDB, 0x40490FDB
TINY, EIGHTH, HALF, EIGHT = 0x39000000, 0x3E000000, 0x3F000000, 0x41000000  # TINY is 2^-13
BEYOND = 0x4C800000  # 2^26: the arc tangent is pi / 2
_ASIN = (715827591, 322144491, 191193561, 136655640, 61858549, 161341557)
_ATAN = (-1431655219, 858814566, -596861169)
_INTERVALS = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6], np.int64)
_ABOVE = np.array([1, 1, 3, 1, 4, 2, 4], np.int64)
_BELOW = np.array([4, 2, 4, 1, 3, 1, 1], np.int64)
_ANGLES = np.array([526087673, 995675659, 1381908109, 1686629713, 1991351318, 2377583767, 2847171753], np.int64)


def _asin_near(size: Int64Array) -> Int64Array:
    """asin(|x|) / 2^e in Q30 for 2^-13 <= |x| < 1/2."""
    squared = square(size, -1)
    return grown(mantissa_of(size) << 7, squared, polynomial(_ASIN, squared))


def _acos_far(size: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Exponent, 0 or below, and value of acos(|x|) = value / 2^30 * 2^exponent, for 1/2 <= |x| < 1.

    It is 2 * asin(sqrt((1 - |x|) / 2)).
    """
    less = 0x1000000 - mantissa_of(size)
    zeros = leading_zeros_64(less) - 32
    odd = (7 - zeros) & 1
    return (7 - zeros + odd) >> 1, grown(root((less << zeros) >> odd), less << 7, polynomial(_ASIN, less << 7))


@by_blocks
def asin(x: Float32Array) -> Float32Array:
    """The arc sine; NaN beyond -1 .. 1."""
    sign, size = parts(x)
    some = np.clip(size, TINY, HALF - 1)
    near = sign | pack_about(exponent_of(some), _asin_near(some))
    exponent, value = _acos_far(np.clip(size, HALF, ONE - 1))
    far = from_fixed(sign, HALF_PI - ((value << 1) >> -exponent), 31).view(np.uint32).astype(np.int64)
    result = np.where(size < TINY, sign | size, np.where(size < HALF, near, far))
    return from_bits(np.where(size >= ONE, np.where(size > ONE, NAN, sign | HALF_PI_BITS), result))


def _acos_middle(sign: Int64Array, size: Int64Array) -> Float32Array:
    """Below 1/2: pi / 2 less the arc sine."""
    some = np.clip(size, TINY, HALF - 1)
    below = np.clip(size, 0x32000000, HALF - 1)
    value = np.where(size < TINY, mantissa_of(size) << 7, _asin_near(some)) >> -exponent_of(below)
    return from_fixed(np.zeros_like(size), HALF_PI // 2 + np.where(sign != 0, value, -value), 30)


@by_blocks
def acos(x: Float32Array) -> Float32Array:
    """The arc cosine; NaN beyond -1 .. 1."""
    sign, size = parts(x)
    exponent, value = _acos_far(np.clip(size, HALF, ONE - 1))
    obtuse = from_fixed(np.zeros_like(size), HALF_PI - (value >> -exponent), 30)
    far = np.where(sign != 0, obtuse, from_bits(pack_about(exponent, value)))
    result = np.where(size < HALF, _acos_middle(sign, size), far).view(np.uint32).astype(np.int64)
    result = np.where(size < 0x32000000, HALF_PI_BITS, result)
    ends = np.where(size > ONE, NAN, np.where(sign != 0, PI_BITS, 0))
    return from_bits(np.where(size >= ONE, ends, result))


def _atan_middle(size: Int64Array) -> Int64Array:
    """atan(|x|) in Q31, for 1/8 <= |x| < 8: atan(p / q) + atan(z), z = (q * |x| - p) / (q + p * |x|) within 0.137."""
    interval = _INTERVALS[(size - EIGHTH) >> 21]
    p, q = _ABOVE[interval], _BELOW[interval]
    x = mantissa_of(size) << (exponent_of(size) + 5)
    below = (q << 28) + p * x
    zeros = leading_zeros_64(below)
    quotient = (q * x - (p << 28)) * reciprocal(((below << (zeros - 30)) >> 2) & ~SIGN)
    z = quotient >> (62 - zeros)
    squared = high(z, z)
    return np.asarray(_ANGLES[interval] + ((z + high(high(polynomial(_ATAN, squared), squared), z)) >> 1))


def _atan_near(size: Int64Array) -> Int64Array:
    """Bits for 2^-13 <= |x| < 1/8."""
    squared = square(size, -1)
    return pack_about(exponent_of(size), grown(mantissa_of(size) << 7, squared, polynomial(_ATAN, squared)))


def _atan_far(size: Int64Array) -> Int64Array:
    """atan(|x|) in Q31 for 8 <= |x| < 2^26: pi / 2 less atan(1 / |x|)."""
    value = reciprocal((mantissa_of(size) << 8) & ~SIGN) >> (exponent_of(size) - 3)
    squared = (value * value) >> 36
    return np.asarray(HALF_PI - (grown(value, squared, polynomial(_ATAN, squared)) >> 3))


@by_blocks
def atan(x: Float32Array) -> Float32Array:
    """The arc tangent."""
    sign, size = parts(x)
    middle = _atan_middle(np.clip(size, EIGHTH, EIGHT - 1))
    fixed = np.where(size < EIGHT, middle, _atan_far(np.clip(size, EIGHT, BEYOND - 1)))
    result = from_fixed(sign, fixed, 31).view(np.uint32).astype(np.int64)
    result = np.where(size < EIGHTH, sign | _atan_near(np.clip(size, TINY, EIGHTH - 1)), result)
    result = np.where(size < TINY, sign | size, result)
    result = np.where(size >= BEYOND, sign | HALF_PI_BITS, result)
    return from_bits(np.where(size > INFINITY, NAN, result))
