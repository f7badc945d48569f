"""erf of float32; bit-exact twin of runtime_c/include/lam_f32_erf.h.  Accuracy: docs/numerics.md."""

from __future__ import annotations

import numpy as np

from codegen.float32.arrays import Float32Array, Int64Array, by_blocks
from codegen.float32.fixed import polynomial, signed, square
from codegen.float32.words import (
    INFINITY,
    LEAST_NORMAL,
    NAN,
    ONE,
    SIGN,
    exponent_of,
    from_bits,
    mantissa_of,
    pack,
    parts,
)

FOUR = 0x40800000
TWO_OVER_ROOT_PI = 2423175810  # in Q31
_SLOPE = (1211587904, -1615450036, 1938507744, -1845423424, 1426488832, -881901568, 346968064)
_FAR = np.array(
    [
        [990956468, 126981363, -79363460, 22484587, -410982, -1569631, 344149],
        [1059430640, 28333275, -24791673, 12103439, -3228372, 200313, 151999],
        [1072171244, 3834493, -4313791, 2916143, -1281088, 355052, -46375],
        [1073633782, 314764, -432790, 370201, -218613, 94819, -28003],
        [1073737204, 15673, -25467, 26202, -19196, 11161, -4614],
        [1073741702, 473, -888, 1062, -924, 678, -350],
    ],
    np.int64,
)


def erf_slope(square: Int64Array) -> Int64Array:
    """erf(x) / x in Q30, of x * x in Q30, below 1."""
    return polynomial(_SLOPE, square)


def erf_far(halves: Int64Array) -> Int64Array:
    """erf(x) in Q30, of 2 * x in Q28, for x of 1 .. 4: a polynomial on each of six intervals, around its middle."""
    c = list(_FAR[(halves >> 28) - 2].T)
    return polynomial(c, signed((halves << 4) ^ SIGN))


def _near(size: Int64Array) -> Int64Array:
    """Bits for a normal |x| < 1: x times erf(x) / x, a polynomial in x * x."""
    product = (mantissa_of(size) << 7) * erf_slope(square(size, 0))
    less = np.where(product < 1 << 60, 1, np.where(product < 1 << 61, 0, -1))
    return pack(exponent_of(size) - less, product >> (30 - less))


def _far(size: Int64Array) -> Int64Array:
    """Bits for 1 <= |x| < 4."""
    return pack(-1, 2 * erf_far(mantissa_of(size) << (exponent_of(size) + 6)))


@by_blocks
def erf(x: Float32Array) -> Float32Array:
    """2 / sqrt(pi) times the integral of e^-(t * t) from 0 to x; -0 stays -0."""
    sign, size = parts(x)
    denormal = (np.minimum(size, LEAST_NORMAL) * TWO_OVER_ROOT_PI + (1 << 30)) >> 31
    result = np.where(size < LEAST_NORMAL, denormal, _near(np.clip(size, LEAST_NORMAL, ONE - 1)))
    result = np.where(size >= ONE, _far(np.clip(size, ONE, FOUR - 1)), result)
    result = np.where(size >= FOUR, ONE, result)
    return from_bits(np.where(size > INFINITY, NAN, sign | result))
