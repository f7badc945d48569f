"""exp, 1 / (1 + x), logistic and tanh on 32-bit fixed-point numbers, as gemmlowp computes them: TFLite, `tflite`.

A number of k integer bits is raw / 2^(31 - k).  Products are `saturating_rounding_doubling_high_mul` (the bits add up);
a change to fewer bits is a saturating left shift, to more bits a rounding right shift, halves away from zero.

    exp(-x)       the quarter of x by a polynomial around -1/8, each further bit of x by a factor
    1 / (1 + x)   Newton-Raphson, three steps from 48/17 - 32/17 d, d = (1 + x) / 2

Source: gemmlowp/fixedpoint/fixedpoint.h.  Twin of `reciprocal`: lam_fixed_reciprocal in runtime_c/include/lam_fixed.h.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from codegen.fixedpoint import (
    INT32_MAX,
    INT32_MIN,
    rounding_divide_by_pot,
    saturate,
    saturating_rounding_doubling_high_mul,
)

Raw = npt.NDArray[np.int64]

_EXP_EIGHTH = 1895147668
_THIRD = 715827883
_EXP_FACTORS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""exp(-2^i) for i = -2 .. 4, without integer bits."""
_48_OVER_17 = 1515870810
_MINUS_32_OVER_17 = -1010580540
_ONE_2 = 1 << 29
"""1 with two integer bits."""


def _product(a: Raw | int, b: Raw | int) -> Raw:
    return saturating_rounding_doubling_high_mul(np.asarray(a, np.int64), np.asarray(b, np.int64))


def _left(x: Raw, bits: int) -> Raw:
    """X * 2^bits, saturated to 32 bits."""
    return saturate(x << bits, INT32_MIN, INT32_MAX)


def exp_on_negative(a: Raw, integer_bits: int) -> Raw:
    """exp(a) without integer bits for a <= 0 of `integer_bits`; exp(0) is 2^31 - 1.

    Args:
        a: raw numbers -2^31 .. 0.
        integer_bits: 4 or 5.
    """
    fractional = 31 - integer_bits
    quarter = 1 << (fractional - 2)
    low = (a & (quarter - 1)) - quarter
    result = _exp_of_quarter(_left(low, integer_bits))
    rest = low - a
    for exponent, factor in zip(range(-2, 5), _EXP_FACTORS, strict=True):
        if integer_bits > exponent:
            result = np.where(rest & (1 << (fractional + exponent)), _product(result, factor), result)
    return np.where(a == 0, INT32_MAX, result)


def _exp_of_quarter(a: Raw) -> Raw:
    """exp(a) for -1/4 <= a < 0, no integer bits."""
    x = a + (1 << 28)
    x2 = _product(x, x)
    x3, x4 = _product(x2, x), _product(x2, x2)
    sums = _product(rounding_divide_by_pot(x4, 2) + x3, _THIRD) + x2
    tail = rounding_divide_by_pot(sums, 1)
    return _EXP_EIGHTH + _product(_EXP_EIGHTH, x + tail)


def _newton(a: Raw) -> Raw:
    """2 / (1 + a) with two integer bits, for 0 <= a <= 1 without integer bits."""
    half = (a + INT32_MAX + 1) >> 1  # a + (2^31 - 1) is not negative: halves up
    x = _48_OVER_17 + _product(half, _MINUS_32_OVER_17)
    for _ in range(3):
        x = x + _left(_product(x, _ONE_2 - _product(half, x)), 2)
    return np.asarray(x)


def reciprocal(a: Raw) -> Raw:
    """1 / (1 + a) for 0 <= a <= 1, no integer bits on either side."""
    return _left(_newton(a), 1)


def logistic(a: Raw, integer_bits: int = 4) -> Raw:
    """1 / (1 + exp(-a)) without integer bits, for a of `integer_bits`."""
    positive = reciprocal(exp_on_negative(-np.abs(a), integer_bits))
    return np.where(a == 0, 1 << 30, np.where(a > 0, positive, INT32_MAX - positive))


def tanh(a: Raw, integer_bits: int = 4) -> Raw:
    """Tanh(a) without integer bits, for a of `integer_bits`."""
    power = exp_on_negative(-np.abs(a), integer_bits + 1)
    # (1 - p) / (1 + p) = 2 / (1 + p) - 1
    size = _left(_newton(power) - _ONE_2, 2)
    return np.where(a == 0, 0, np.sign(a) * size)


_HALF_SQRT_2 = 1518500250
_THREE_HALVES = (1 << 28) + (1 << 27)
"""1.5 with three integer bits."""


def inverse_sqrt(value: int) -> tuple[int, int]:
    """1 / sqrt(value) as a multiplier of 31 bits and an exponent, for value >= 1; five steps of Newton and Raphson.

    Source: tensorflow/lite/kernels/internal/common.h, GetInvSqrtQuantizedMultiplierExp.  Twin: lam_fixed_inverse_sqrt.
    """
    if value <= 1:
        return INT32_MAX, 0
    shift = 11
    while value >= 1 << 29:
        value //= 4
        shift += 1
    pairs = (31 - value.bit_length()) // 2 - 1
    shift -= pairs
    raw = np.array([value << (2 * pairs)], np.int64) >> 1
    half = rounding_divide_by_pot(raw, 1)
    x = np.array([1 << 28], np.int64)
    for _ in range(5):
        cube = _left(_product(_product(x, x), x), 6)
        x = _left(_product(_THREE_HALVES, x) - _product(half, cube), 3)
    root = int(_product(x, _HALF_SQRT_2)[0])
    if shift < 0:
        return root << -shift, 0
    return root, -shift


def inverse_sqrt_64(value: int) -> tuple[int, int]:
    """1 / sqrt(value) as m and r, m * 2^-(31 + r), for value below 2^62; 0 counts as 1.

    Twin: lam_fixed_inverse_sqrt_64.
    """
    right = 0
    while value >= 1 << 30:
        value >>= 2
        right += 1
    multiplier, exponent = inverse_sqrt(value)
    return multiplier, right - exponent


_LOG_2 = 1488522236
_SQRT_HALF = 1518500250
_SQRT_SQRT_HALF = 1805811301
_ALPHAS = (117049297, 127690142, 1057819769, 638450708)


def logarithm(x: Raw, in_bits: Raw | int, out_bits: int) -> Raw:
    """log(x) with `out_bits` integer bits for 1 <= x of `in_bits` integer bits.

    x is halved until it lies around sqrt(sqrt(1/2)), in one of two ways, and a rational function does the rest.
    Source: tensorflow/lite/kernels/internal/common.h, log_x_for_x_greater_than_or_equal_to_1_impl.
    Twin: lam_fixed_logarithm.
    """
    bits = out_bits + 1
    quarter = rounding_divide_by_pot(np.asarray(1 << 29, np.int64), bits)
    zeros_a = _leading_zeros(x)
    r_a = _left_by(_product(_left_by(x, zeros_a - 1), _SQRT_HALF), np.ones_like(x))
    power_a = saturate(_left_by(in_bits - zeros_a, np.full_like(x, 31 - bits)) + quarter, INT32_MIN, INT32_MAX)
    zeros_b = _leading_zeros(_product(x, _SQRT_HALF)) - 1
    r_b = _left_by(x, zeros_b)
    power_b = saturate(_left_by(in_bits - zeros_b, np.full_like(x, 31 - bits)) - quarter, INT32_MIN, INT32_MAX)
    r, power = np.minimum(r_a, r_b), np.maximum(power_a, power_b)
    alpha_n, alpha_d, alpha_i, alpha_f = _ALPHAS
    p = (r + _SQRT_SQRT_HALF + 1) >> 1
    q = 2 * (r - _SQRT_SQRT_HALF)
    square = _product(q, q)
    numerator = _product(q, r) + _product(_product(q, square), alpha_n)
    denominator = _product(p, alpha_i + q + _product(alpha_d, square)) + _product(alpha_f, q)
    rest = _product(rounding_divide_by_pot(numerator, bits), reciprocal(denominator))
    return _left(_product(power, _LOG_2) + rest, 1)


def _leading_zeros(x: Raw) -> Raw:
    return np.asarray(32 - np.frexp(x.astype(np.float64))[1].astype(np.int64))


def _left_by(x: Raw, bits: Raw) -> Raw:
    """X * 2^bits for any bits: saturated to the left, rounded to the right."""
    left = saturate(x << np.maximum(bits, 0), INT32_MIN, INT32_MAX)
    return np.where(bits >= 0, left, rounding_divide_by_pot(x, np.maximum(-bits, 0)))
