"""exp, expm1, sigmoid, tanh, sinh and cosh of float32; bit-exact twin of runtime_c/include/lam_f32_exp.h.

A number becomes octaves, x * log2(e) in Q32: the whole part is the exponent of the result, the fraction goes through
one polynomial.  Accuracy: docs/numerics.md.
"""

from __future__ import annotations

import numpy as np

from codegen.float32.arrays import Float32Array, Int64Array, by_blocks
from codegen.float32.fixed import grown, high, polynomial, reciprocal, scaled, signed, square
from codegen.float32.words import INFINITY, NAN, ONE, SIGN, exponent_of, from_bits, mantissa_of, pack, pack_about, parts

LOG2_E = 3098164009  # log2(e) in Q31
EXP_LEAST = 0x42CFF1B4  # -103.97208: what is below is less than half the least denormal number
EXP_MOST = 0x42B17217  # 88.72283: what is above is beyond the greatest number
HYPERBOLIC_MOST = 0x42B2D4FC  # 89.41598, for sinh and cosh
HALF = 0x3F000000
_FRACTION = (1518500250, 1052544207, 364784023, 84281733, 14604927, 2034856, 235034)
_EXPM1 = (1073741824, 536870958, 178956976, 44737780, 8947686, 1502999, 214342)
_SINH = (715827917, 35790567, 857878)
_TANH = (-1431655495, 572646733, -231498617, 91490127, -28576889)


def exp2_fraction(f: Int64Array) -> Int64Array:
    """2^(f / 2^32) in Q30, of the low 32 bits of f: a polynomial of degree 6 around the middle."""
    return polynomial(_FRACTION, signed(f ^ SIGN))


def in_octaves(size: Int64Array, doublings: int) -> Int64Array:
    """|x| * 2^doublings * log2(e) in Q32, for 2^-33 <= |x| * 2^doublings < 2^7."""
    return np.asarray((mantissa_of(size) * LOG2_E) >> (22 - doublings - exponent_of(size)))


def decay(octaves: Int64Array) -> Int64Array:
    """e^-(octaves * log(2)) in Q31, for octaves above 0 in Q32."""
    return np.asarray(exp2_fraction(-octaves) >> np.minimum(-1 - (-octaves >> 32), 31))


@by_blocks
def exp(x: Float32Array) -> Float32Array:
    """e^x, as IEEE 754 has it: +0 below the least denormal number, infinity above the greatest number."""
    sign, size = parts(x)
    octaves = in_octaves(np.clip(size, 0x32800000, np.where(sign != 0, EXP_LEAST, EXP_MOST)), 0)
    octaves = np.where(sign != 0, -octaves, octaves)
    result = pack(octaves >> 32, exp2_fraction(octaves))
    result = np.where(size < 0x32800000, ONE, result)
    result = np.where((sign == 0) & (size > EXP_MOST), INFINITY, result)
    result = np.where((sign != 0) & (size > EXP_LEAST), 0, result)
    return from_bits(np.where(size > INFINITY, NAN, result))


@by_blocks
def expm1(x: Float32Array) -> Float32Array:
    """e^x - 1: x times a polynomial next to 0; -0 stays -0."""
    sign, size = parts(x)
    near = np.clip(size, 0x32800000, HALF - 1)
    fixed = (mantissa_of(near) << 8) >> (-1 - exponent_of(near))
    result = sign | scaled(near, 1, polynomial(_EXPM1, np.where(sign != 0, -fixed, fixed)))
    octaves = in_octaves(np.clip(size, HALF, EXP_MOST), 0)
    k = octaves >> 32
    above = pack_about(k, exp2_fraction(octaves) - ((1 << 30) >> np.minimum(k, 31)))
    below = SIGN | pack_about(-1, SIGN - decay(octaves))
    result = np.where(size < HALF, result, np.where(sign != 0, below, above))
    result = np.where(size < 0x32800000, sign | size, result)
    result = np.where(size > EXP_MOST, np.where(sign != 0, SIGN | ONE, INFINITY), result)
    return from_bits(np.where(size > INFINITY, NAN, result))


@by_blocks
def sigmoid(x: Float32Array) -> Float32Array:
    """1 / (1 + e^-x)."""
    sign, size = parts(x)
    octaves = in_octaves(np.clip(size, 0x33000000, EXP_LEAST), 0)
    part = reciprocal(decay(octaves))
    product = exp2_fraction(-octaves) * part
    less = (product < 1 << 61).astype(np.int64)
    below = pack((-octaves >> 32) - less, (product << less) >> 31)
    result = np.where(sign != 0, below, pack(-1, part))
    result = np.where(size < 0x33000000, HALF, result)
    result = np.where(size > EXP_LEAST, np.where(sign != 0, 0, ONE), result)
    return from_bits(np.where(size > INFINITY, NAN, result))


def _near_zero(size: Int64Array) -> Int64Array:
    """tanh(x) of |x| < 1/2 in Q30, divided by 2^e."""
    value, squared = mantissa_of(size) << 7, square(size, -1)
    return np.asarray(value + high(high(polynomial(_TANH, squared), squared), value))


@by_blocks
def tanh(x: Float32Array) -> Float32Array:
    """The hyperbolic tangent; -0 stays -0."""
    sign, size = parts(x)
    near = np.clip(size, 0x39000000, HALF - 1)
    less = decay(in_octaves(np.clip(size, HALF, 0x41200000), 1))
    value = np.where(size < HALF, _near_zero(near), ((SIGN - less) * reciprocal(less)) >> 31)
    exponent = np.where(size < HALF, exponent_of(near), -1)
    small = (value < 1 << 30).astype(np.int64)
    result = np.where(size > 0x41200000, ONE, pack(exponent - small, value << small))
    result = np.where(size < 0x39000000, size, result)
    return from_bits(np.where(size > INFINITY, NAN, sign | result))


def _half_sum(size: Int64Array, less: bool) -> Int64Array:
    """Bits of e^|x| / 2 plus (or less) e^-|x| / 2, for 2^-13 <= |x| <= 89.4160."""
    octaves = in_octaves(np.clip(size, 0x39000000, HYPERBOLIC_MOST), 0)
    k = octaves >> 32
    other = decay(octaves) >> np.minimum(k + 1, 31)
    return pack_about(k - 1, exp2_fraction(octaves) + (-other if less else other))


@by_blocks
def sinh(x: Float32Array) -> Float32Array:
    """The hyperbolic sine."""
    sign, size = parts(x)
    near = np.clip(size, 0x39000000, HALF - 1)
    squared = square(near, -1)
    small = pack_about(exponent_of(near), grown(mantissa_of(near) << 7, squared, polynomial(_SINH, squared)))
    result = np.where(size < HALF, small, _half_sum(size, less=True))
    result = np.where(size < 0x39000000, size, result)
    result = np.where(size > HYPERBOLIC_MOST, INFINITY, result)
    return from_bits(np.where(size > INFINITY, NAN, sign | result))


@by_blocks
def cosh(x: Float32Array) -> Float32Array:
    """The hyperbolic cosine."""
    _, size = parts(x)
    result = np.where(size < 0x39000000, ONE, _half_sum(size, less=False))
    result = np.where(size > HYPERBOLIC_MOST, INFINITY, result)
    return from_bits(np.where(size > INFINITY, NAN, result))
