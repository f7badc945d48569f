"""sin, cos and tan of float32; bit-exact twin of runtime_c/include/lam_f32_circle.h.  Accuracy: docs/numerics.md.

Angles become quarter turns by the product of Payne and Hanek, which is exact enough for every float32.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from codegen.float32.arrays import BoolArray, Float32Array, Int64Array, by_blocks
from codegen.float32.fixed import grown, high, leading_zeros_64, polynomial, reciprocal, square
from codegen.float32.words import INFINITY, NAN, SIGN, exponent_of, from_bits, mantissa_of, pack, pack_about, parts

TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041  # in Q192
_ENTRIES = np.array([(TWO_OVER_PI >> (192 - 8 * i)) & 0xFFFFFFFF for i in range(25)], np.uint64)
_COS = (1073741824, -1324675869, 272375234, -22398331, 970267)
_SIN = (1686629713, -693598667, 85569259, -5026472, 169873)
TINY, SMALL = 0x39000000, 0x3C000000  # 2^-13, 2^-7
SIXTH, THIRD = -715827883, 1431655765  # -1/6 and 1/3 in Q32
WHOLE = np.uint64(61)


class Turns(NamedTuple):
    """Quarter turns: the number of whole ones, modulo 4, and the rest of -1/2 .. 1/2 in Q62."""

    whole: Int64Array
    rest: Int64Array


def turns(size: Int64Array) -> Turns:
    """|x| * 2 / pi, for 2^-7 <= |x|, with those bits of 2 / pi that count for this exponent."""
    biased = size >> 23
    entry = (biased - 120) >> 3
    m = (mantissa_of(size) << (biased & 7)).astype(np.uint64)
    word = np.uint64(32)
    product = ((m * _ENTRIES[entry]) << word) | ((m * _ENTRIES[entry + 8]) >> word)
    product = product + m * _ENTRIES[entry + 4]
    whole = (product + (np.uint64(1) << WHOLE)) >> np.uint64(62)
    rest = product - (whole << np.uint64(62))
    return Turns((whole & np.uint64(3)).astype(np.int64), rest.view(np.int64))


def _turn_square(rest: Int64Array) -> Int64Array:
    return high(rest >> 30, rest >> 30)


def turn_cos(rest: Int64Array) -> Int64Array:
    """The cosine of a rest, in Q30."""
    return polynomial(_COS, _turn_square(rest))


def turn_sin(rest: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Exponent and value of |sin| of a rest that is not 0: value / 2^30 * 2^exponent, value of 2^30 .. 2^31."""
    size = np.maximum(np.abs(rest), 1)
    zeros = leading_zeros_64(size)
    top = np.where(zeros <= 33, size >> np.maximum(33 - zeros, 0), size << np.maximum(zeros - 33, 0))
    product = top * polynomial(_SIN, _turn_square(rest))
    more = (product >= 1 << 61).astype(np.int64)
    return 1 - zeros + more, product >> (30 + more)


def _turned(turn: Turns, sign: Int64Array) -> Int64Array:
    """Bits of |sin| or |cos| of so many quarter turns, with a sign."""
    sign = sign ^ ((turn.whole & 2) << 30)
    crosswise = sign | pack(-1, 2 * turn_cos(turn.rest))
    exponent, value = turn_sin(turn.rest)
    along = (sign ^ np.where(turn.rest < 0, SIGN, 0)) | pack(exponent, value)
    return np.where((turn.whole & 1) != 0, crosswise, along)


def _about_zero(sign: Int64Array, size: Int64Array, slope: int) -> Int64Array:
    """Bits of x * (1 + x * x * slope) for |x| < 2^-7, slope in Q32."""
    some = np.clip(size, TINY, SMALL - 1)
    value = grown(mantissa_of(some) << 7, square(some, -1), slope)
    return sign | np.where(size < TINY, size, pack_about(exponent_of(some), value))


def _finite(size: Int64Array) -> Int64Array:
    return np.clip(size, SMALL, INFINITY - 1)


def _real(size: Int64Array, bits: Int64Array) -> Float32Array:
    """The numbers, NaN where the argument is not finite."""
    return from_bits(np.where(size >= INFINITY, NAN, bits))


@by_blocks
def sin(x: Float32Array) -> Float32Array:
    """The sine of x radians; NaN of infinities."""
    sign, size = parts(x)
    result = _turned(turns(_finite(size)), sign)
    return _real(size, np.where(size < SMALL, _about_zero(sign, size, SIXTH), result))


@by_blocks
def cos(x: Float32Array) -> Float32Array:
    """The cosine of x radians; NaN of infinities."""
    _, size = parts(x)
    turn = turns(_finite(size))
    result = _turned(Turns(turn.whole + 1, turn.rest), np.zeros_like(size))
    less = np.where(size < TINY, 0, square(np.clip(size, TINY, SMALL - 1), -1)) >> 2
    return _real(size, np.where(size < SMALL, pack(-1, SIGN - less), result))


def _quotients(turn: Turns) -> tuple[BoolArray, Int64Array]:
    """Where sin is divided by cos, not cos by sin; and the quotients' bits without a sign."""
    exponent, above = turn_sin(turn.rest)
    below = 2 * np.minimum(turn_cos(turn.rest), (1 << 30) - 1)
    tangent = pack_about(exponent, (above * reciprocal((below << 1) & ~SIGN & 0xFFFFFFFF)) >> 30)
    above = np.minimum(above, SIGN - 1)
    cotangent = pack_about(-1 - exponent, (below * reciprocal((above << 1) & ~SIGN & 0xFFFFFFFF)) >> 31)
    along = (turn.whole & 1) == 0
    return along, np.where(along, tangent, cotangent)


@by_blocks
def tan(x: Float32Array) -> Float32Array:
    """The tangent of x radians; NaN of infinities."""
    sign, size = parts(x)
    turn = turns(_finite(size))
    along, quotient = _quotients(turn)
    turned = sign ^ np.where((turn.rest < 0) == along, SIGN, 0)
    return _real(size, np.where(size < SMALL, _about_zero(sign, size, THIRD), turned | quotient))
