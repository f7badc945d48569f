"""Powers of float32; bit-exact twin of runtime_c/include/lam_f32_power.h.  Accuracy: docs/numerics.md."""

from __future__ import annotations

import numpy as np

from codegen.float32.arrays import Float32Array, Int64Array, by_pairs
from codegen.float32.exponential import exp2_fraction
from codegen.float32.fixed import high, leading_zeros_64, polynomial
from codegen.float32.logarithm import INVERSE
from codegen.float32.words import (
    INFINITY,
    LEAST_NORMAL,
    NAN,
    ONE,
    SIGN,
    bits_of,
    exponent_of,
    from_bits,
    mantissa_of,
    pack,
)

LOG2_E_LESS_1 = 3802721445  # log2(e) - 1 in Q33
BEYOND = 1 << 40  # octaves in Q32 that no exponent has
_LESS = (-1073741824, 715827752, -536870628, 429920924, -358428383)
_LOG2 = np.ravel(
    [
        [-17448752230752278, -15224730989558735, -13091977795874859, -11043296194569244],
        [-9072308719709008, -7173337091848559, -5341303689960273, -3571649655089107],
        [-1860266532006435, 0, 2767573554791301, 5759971954986709],
        [8589435952803826, 11272796473775028, 13824404058830674, 16256593555046021],
    ]
).astype(np.int64)


def normal(size: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Mantissa of 2^31 .. 2^32 - 1 and exponent, of a number that is not 0."""
    zeros = leading_zeros_64(size) - 32
    denormal = size < LEAST_NORMAL
    m = np.where(denormal, size << zeros, mantissa_of(size) << 8)
    return m, np.where(denormal, -118 - zeros, exponent_of(size))


def log2_wide(m: Int64Array, exponent: Int64Array) -> tuple[Int64Array, Int64Array]:
    """log2(m / 2^31 * 2^exponent) to 37 bits, and its fraction bits: 62 next to 1, where it is small, 55 elsewhere."""
    above = m - 0x33000000
    entry, down = (above >> 27) & 15, above >> 31
    r = ((m.astype(np.uint64) * INVERSE[entry]) >> down.astype(np.uint64)).view(np.int64) - (1 << 62)
    near = r >> 26
    natural = r + ((near * high(polynomial(_LESS, r >> 30), near)) >> 9)
    fraction = (natural & 0xFFFFFFFF).astype(np.uint64) * np.uint64(LOG2_E_LESS_1)
    more = (natural >> 32) * LOG2_E_LESS_1 + (fraction >> np.uint64(32)).astype(np.int64)
    about_one = natural + (more >> 1)
    far = (exponent + down != 0) | (entry != 9)
    wide = ((exponent + down) << 55) + _LOG2[entry] + (about_one >> 7)
    return np.where(far, wide, about_one), np.where(far, 55, 62)


def parity(size: Int64Array) -> Int64Array:
    """What a number that is not 0 is: 0 for one with a fraction, 1 for an odd one, 2 for an even one or infinity."""
    exponent = exponent_of(size)
    one = np.int64(1) << (23 - np.clip(exponent, 0, 23))
    m = mantissa_of(size)
    whole = np.where((m & (one - 1)) != 0, 0, np.where((m & one) != 0, 1, 2))
    return np.where(exponent < 0, 0, np.where(exponent > 23, 2, whole))


def _octaves(x: Int64Array, y_bits: Int64Array) -> Int64Array:
    """|x| to the power of y in octaves, Q32, or BEYOND in size; for finite numbers, |x| neither 0 nor 1."""
    log2, fraction_bits = log2_wide(*normal(x))
    m, exponent = normal(y_bits & ~SIGN)
    size = np.abs(log2)
    zeros = leading_zeros_64(size)
    right = zeros + fraction_bits - exponent - 33
    top = (size << (zeros - 1)) >> 23
    product = (top * (m >> 8).astype(np.uint64).view(np.int64)).view(np.uint64)
    octaves = (product >> np.clip(right, 22, 63).astype(np.uint64)).astype(np.int64)
    octaves = np.where(right < 22, BEYOND, np.where(right > 63, 0, octaves))
    return np.where((log2 < 0) != (y_bits >= SIGN), -octaves, octaves)


def _finite(x: Int64Array, y_bits: Int64Array) -> Int64Array:
    """Bits of |x| to the power of y, both finite, |x| neither 0 nor 1."""
    octaves = _octaves(x, y_bits)
    result = pack(np.clip(octaves >> 32, -150, 127), exp2_fraction(octaves))
    result = np.where(octaves >= 128 << 32, INFINITY, result)
    return np.where(octaves < -(150 << 32), 0, result)


@by_pairs
def power(x: Float32Array, y: Float32Array) -> Float32Array:
    """X to the power of y, as IEEE 754's pow; both are broadcast as numpy does.

    1 where y is 0 or x is 1, whatever the other is; NaN for x below 0 and y with a fraction.
    """
    x_bits, y_bits = bits_of(x), bits_of(y)
    x_size, y_size = x_bits & ~SIGN, y_bits & ~SIGN
    kind = parity(np.maximum(y_size, 1))
    sign = np.where(kind == 1, x_bits & SIGN, 0)
    ends = (x_size == 0) | (x_size == INFINITY) | ((y_size == INFINITY) & (x_size != ONE))
    plain = ~ends & (x_size != ONE) & (x_size < INFINITY) & (y_size < INFINITY) & (y_size != 0)
    result = sign | _finite(np.where(plain, x_size, ONE + 1), np.where(plain, y_bits, ONE))
    result = np.where(x_size == ONE, sign | ONE, result)
    result = np.where((x_bits >= SIGN) & (kind == 0), NAN, result)
    grows = (x_size > ONE) == (y_bits < SIGN)
    result = np.where(ends, sign | np.where(grows, INFINITY, 0), result)
    result = np.where((x_size > INFINITY) | (y_size > INFINITY), NAN, result)
    return from_bits(np.where((y_size == 0) | (x_bits == ONE), ONE, result))
