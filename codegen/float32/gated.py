"""swish, mish, gelu and gelu_tanh of float32; bit-exact twin of runtime_c/include/lam_f32_gated.h.

Each is x times a share of it, which falls to 0 as 2^-octaves on one side of 0.  There it stays a mantissa and an
exponent until x is multiplied, so that results keep their digits down to the least denormal number.  Far below 0 they
are -0, and NaN of -infinity, as x * 0 is.  Accuracy: docs/numerics.md.
"""

from __future__ import annotations

import numpy as np

from codegen.float32.arrays import BoolArray, Float32Array, Int64Array, by_blocks, by_pairs
from codegen.float32.error_function import erf_far, erf_slope
from codegen.float32.exponential import LOG2_E, decay, exp2_fraction, in_octaves, sigmoid
from codegen.float32.fixed import leading_zeros_64, polynomial, reciprocal, scaled, signed, square
from codegen.float32.words import INFINITY, LEAST_NORMAL, NAN, SIGN, bits_of, exponent_of, from_bits, mantissa_of, parts

HALVED = 0x32800000  # 2^-26: below it the share of gelu and gelu_tanh is 1/2
GELU_ALL = 0x40B50000  # 5.65625: from here on gelu is x
ROOT_OF_TWO = 0x3FB504F4  # the first number above it
HALF_ROOT, ROOT = 1518500250, 3037000500  # sqrt(1/2) and sqrt(2) in Q31
GELU_LEAST = 0x41680000  # 14.5: below -14.5 gelu is less than half the least denormal number
TANH_LEAST = 0x41300000  # 11, likewise
MISH_LEAST = 0x42E00000  # 112, likewise
ONE_AND_A_HALF = 3 << 27  # in Q28
LINEAR, CUBIC = 158206542714, 3537102779  # sqrt(8 / pi) * log2(e) in Q36; that times 0.044715 in Q35
_TAIL = np.array(
    [
        [991108033, -237279513, 49738661, -9410748, 1638142, -268363, 40928],
        [795563942, -160603578, 29181429, -4872269, 757992, -111864, 15514],
        [659930046, -114300723, 18197100, -2701105, 377616, -50431, 6381],
        [1043796868, -295497581, 78652219, -19844040, 4777221, -1125989, 249791],
        [810981234, -182963180, 39564300, -8234704, 1655637, -327424, 61869],
        [660731799, -123229107, 22293146, -3920963, 671854, -113639, 18562],
        [556450073, -88187658, 13662066, -2071704, 307879, -45286, 6481],
        [898388568, -231723951, 58848185, -14721515, 3631279, -906032, 217407],
        [713708262, -147095418, 30010210, -6062049, 1212950, -244533, 48021],
        [591572622, -101382075, 17251427, -2915038, 489233, -82544, 13669],
        [504946104, -74007559, 10790184, -1565049, 225854, -32721, 4675],
    ],
    np.int64,
)


def _by_factor(product: Int64Array, factor: int, right: Int64Array) -> Int64Array:
    """A product of two mantissas, 48 bits, times a factor of 32 bits, shifted to the right by 16 and so many more."""
    upper, lower = (product >> 16).astype(np.uint64), (product & 0xFFFF).astype(np.uint64)
    whole = upper * np.uint64(factor) + ((lower * np.uint64(factor)) >> np.uint64(16))
    return np.asarray(whole >> np.minimum(right, 63).astype(np.uint64)).astype(np.int64)


def _share(x: Float32Array, falls: BoolArray, octaves: Int64Array, part: Int64Array) -> Float32Array:
    """The x times part, in Q31, and times 2^-octaves where it falls."""
    fallen = (exp2_fraction(-octaves) * part) >> 30
    sign, size = parts(x)
    exponent = np.where(falls, -octaves >> 32, 0)
    return from_bits(sign | scaled(np.maximum(size, LEAST_NORMAL), exponent, np.where(falls, fallen, part)))


def _ended(x: Float32Array) -> Float32Array:
    """Itself above 0, times 0 below: -0, or NaN of -infinity."""
    bits = bits_of(x)
    below = np.where((bits & ~SIGN) < INFINITY, SIGN, NAN)
    return from_bits(np.where(bits <= INFINITY, bits, below))


@by_pairs
def swish(x: Float32Array, alpha: Float32Array) -> Float32Array:
    """The quotient x / (1 + e^-(alpha * x)): the product of both mantissas is exact."""
    (signs, sizes), (flips, factors) = parts(x), parts(alpha)
    exponent = exponent_of(sizes) + exponent_of(factors)
    least, most = np.minimum(sizes, factors), np.maximum(sizes, factors)
    plain = (exponent < -25) | (exponent > 7) | (least < LEAST_NORMAL) | (most >= INFINITY)
    product = mantissa_of(sizes) * mantissa_of(factors)
    octaves = _by_factor(product, LOG2_E, 29 - np.where(plain, 0, exponent))
    result = _share(x, signs != flips, octaves, reciprocal(decay(octaves)))
    with np.errstate(all="ignore"):
        return np.where(plain, x * sigmoid(alpha * x), result)


@by_blocks
def mish(x: Float32Array) -> Float32Array:
    """The product x * tanh(log(1 + e^x)).

    With d = e^-|x|, the tanh is (1 + 2d) / (1 + 2d + 2d^2) above 0 and d * (1 + d/2) / (1 + d + d^2/2) below.
    """
    sign, size = parts(x)
    octaves = in_octaves(np.clip(size, 0x32000000, MISH_LEAST), 0)
    d = decay(octaves)
    squared = (d * d) >> 31
    below = sign != 0
    upper = (1 << 29) + (d >> np.where(below, 3, 1))
    lower = (1 << 29) + np.where(below, (d >> 2) + (squared >> 3), (d + squared) >> 1)
    zeros = leading_zeros_64(lower) - 32
    part = (upper * reciprocal((lower << zeros) & ~SIGN)) >> (31 - zeros)
    result = np.where(size < LEAST_NORMAL, np.float32(0.6) * x, _share(x, below, octaves, part))
    return np.where(size >= MISH_LEAST, _ended(x), result)


def _half_erf(size: Int64Array) -> Int64Array:
    """Half of erf(|x| / sqrt(2)) in Q31: a polynomial in x * x below sqrt(2), then one on each of six intervals."""
    near, far = np.clip(size, HALVED, ROOT_OF_TWO - 1), np.clip(size, ROOT_OF_TWO, GELU_ALL - 1)
    slope = (erf_slope(square(near, 1) << 1) * HALF_ROOT) >> 30
    small = (((mantissa_of(near) << 8) >> -exponent_of(near)) * slope) >> 32
    return np.where(size < ROOT_OF_TWO, small, erf_far(((mantissa_of(far) << (exponent_of(far) + 5)) * ROOT) >> 31))


def _tail(size: Int64Array) -> tuple[Int64Array, Int64Array]:
    """P(-y) as octaves and a part, y = |x| of 1.4 .. 14.5: e^(-y^2 / 2), and a smooth function of y.

    That function is a polynomial on each quarter of an octave of y + 1.5, and has the octave's factor in it.
    """
    some = np.clip(size, ROOT_OF_TWO, GELU_LEAST - 1)
    m, exponent = mantissa_of(some), exponent_of(some)
    moved = ((m << 8) >> (3 - exponent)) + ONE_AND_A_HALF
    zeros = leading_zeros_64(moved) - 32
    top = moved << zeros
    part = polynomial(list(_TAIL[(top >> 29) - 4 * zeros + 3].T), signed((top << 3) ^ SIGN))
    return _by_factor(m * m, LOG2_E, 30 - 2 * exponent) + ((3 - zeros) << 32), part


@by_blocks
def gelu(x: Float32Array) -> Float32Array:
    """The product x * P(x), P the normal distribution: (1 + erf(x / sqrt(2))) / 2, which cancels far below 0."""
    sign, size = parts(x)
    below, half_erf = sign != 0, _half_erf(size)
    falls = below & (size >= ROOT_OF_TWO)
    octaves, part = _tail(size)
    part = np.where(falls, part, (1 << 30) + np.where(below, -half_erf, half_erf))
    result = np.where(size < HALVED, np.float32(0.5) * x, _share(x, falls, octaves, part))
    return np.where(size >= np.where(below, GELU_LEAST, GELU_ALL), _ended(x), result)


@by_blocks
def gelu_tanh(x: Float32Array) -> Float32Array:
    """The quotient x / (1 + e^-z), z = sqrt(8 / pi) * (x + 0.044715 * x^3): Gelu by tanh of z / 2."""
    sign, size = parts(x)
    some = np.clip(size, HALVED, TANH_LEAST - 1)
    m, exponent = mantissa_of(some), exponent_of(some)
    slope = (LINEAR + _by_factor(m * m, CUBIC, 29 - 2 * exponent)).astype(np.uint64)
    octaves = ((slope * m.astype(np.uint64)) >> (27 - exponent).astype(np.uint64)).astype(np.int64)
    result = _share(x, sign != 0, octaves, reciprocal(decay(octaves)))
    result = np.where(size < HALVED, np.float32(0.5) * x, result)
    return np.where(size >= TANH_LEAST, _ended(x), result)
