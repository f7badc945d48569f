"""log of float32; bit-exact twin of runtime_c/include/lam_f32_log.h.  Accuracy: docs/numerics.md."""

from __future__ import annotations

import numpy as np

from codegen.float32.arrays import Float32Array, Int64Array, by_blocks
from codegen.float32.fixed import from_fixed, high, leading_zeros_64, polynomial, signed
from codegen.float32.words import INFINITY, LEAST_NORMAL, NAN, SIGN, bits_of, exponent_of, from_bits, mantissa_of

LOG_2 = 49946518145322874  # log(2) in Q56
_LESS = (-1073741715, 715827685, -537314006, 430000503)
INVERSE = np.ravel(
    [
        [3004130131, 2878302691, 2762592030, 2655825188, 2557003786, 2465272708, 2379895298, 2300233531],
        [2225732040, 2147483648, 2036132644, 1922223125, 1820383490, 1728791868, 1645975491, 1570730897],
    ]
).astype(np.uint64)
_LOGARITHM = np.ravel(
    [
        [-1441783120, -1258013172, -1081784665, -912502959, -749641086, -592729852, -441349696, -295123921],
        [-153713048, 0, 228683449, 475944080, 709741511, 931466471, 1142304742, 1343275546],
    ]
).astype(np.int64)


def log_less(r: Int64Array) -> Int64Array:
    """log(1 + r) / r - 1 in Q31, for r in Q35, |r| < 0.0315."""
    x = r >> 3
    return high(polynomial(_LESS, x), x)


def log_fixed(m: Int64Array, exponent: Int64Array) -> Int64Array:
    """log(m / 2^31 * 2^exponent) in Q56, for m of 2^31 .. 2^32 - 1.

    The number is 2^k * z with z of 0.7 .. 1.4, and z times the table's reciprocal of its interval is 1 + r.  In the
    interval around 1 the table has 1 and 0, so that the result is as exact relative to itself.
    """
    above = m - 0x33000000
    entry, down = (above >> 27) & 15, above >> 31
    r = signed((m.astype(np.uint64) * INVERSE[entry]) >> (27 + down).astype(np.uint64))
    rest = (r * log_less(r)) >> 10
    return np.asarray((exponent + down) * LOG_2 + (_LOGARITHM[entry] << 24) + (r << 21) + rest)


@by_blocks
def log(x: Float32Array) -> Float32Array:
    """The logarithm of base e: NaN below 0, -infinity of both zeros."""
    bits = bits_of(x)
    size = bits & ~SIGN
    some = np.clip(size, 1, INFINITY - 1)
    zeros = leading_zeros_64(some) - 32
    m = np.where(some < LEAST_NORMAL, some << zeros, mantissa_of(some) << 8)
    result = log_fixed(m, np.where(some < LEAST_NORMAL, -118 - zeros, exponent_of(some)))
    found = bits_of(from_fixed(np.where(result < 0, SIGN, 0), np.abs(result), 56))
    found = np.where(bits >= INFINITY, np.where(bits == INFINITY, INFINITY, NAN), found)
    return from_bits(np.where(size == 0, SIGN | INFINITY, found))
