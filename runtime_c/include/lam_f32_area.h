/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * asinh, acosh and atanh of float32, at most 1 unit in the last place from the true value (docs/numerics.md).
 * Bit-exact twin of codegen/float32/area.py.
 */
#ifndef LAM_F32_AREA_H
#define LAM_F32_AREA_H

#include "lam_f32_fixed.h"
#include "lam_f32_log.h"

/* |x| * (1 + x^2 * p(x^2)) / 2^e in Q30 for 2^-13 <= |x| < 1/2, p of 5 (count 5) or 6 coefficients in Q32. */
static inline uint32_t lam_f32_odd(uint32_t size, const int32_t *c, int32_t count)
{
    const int32_t square = lam_f32_fixed_square(size, -1);
    const int32_t slope = (count == 5) ? lam_f32_polynomial_4(c, square) : lam_f32_polynomial_5(c, square);
    return lam_f32_grown(lam_f32_mantissa(size) << 7, square, slope);
}

/* log(|x| + sqrt(x^2 + one)) in Q56, one being 1 or -1, for 1/2 <= |x|, and 5/4 <= |x| for -1. */
static inline int64_t lam_f32_log_sum(uint32_t size, int32_t one)
{
    const uint32_t m = lam_f32_mantissa(size);
    const int32_t exponent = lam_f32_exponent(size);
    const uint64_t unit = (uint64_t)1 << (46 - 2 * ((exponent < 16) ? exponent : 16));
    const uint64_t square = (one > 0) ? (uint64_t)m * m + unit : (uint64_t)m * m - unit;
    const int32_t even = lam_f32_zeros_64(square) & ~1;
    uint32_t sum;
    int32_t zeros;

    if (exponent > 15) {
        return lam_f32_log_fixed(m << 8, exponent + 1);
    }
    sum = (m << 6) + (lam_f32_fixed_root((uint32_t)((square << even) >> 32)) >> (even / 2 - 7)); /* over 2^e, in Q29 */
    zeros = lam_f32_zeros(sum);
    return lam_f32_log_fixed(sum << zeros, exponent + 2 - zeros);
}

/* The inverse of sinh. */
static inline float lam_f32_asinh(float x)
{
    static const int32_t c[5] = {-715826903, 322065136, -190635844, 121013100, -56900148};
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN;

    if ((size < 0x39000000u) || (size == LAM_F32_INFINITY)) { /* 2^-13 */
        return x;
    }
    if (size > LAM_F32_INFINITY) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    if (size < 0x3F000000u) { /* 1/2 */
        return lam_f32_from_bits(sign | lam_f32_pack_about(lam_f32_exponent(size), lam_f32_odd(size, c, 5)));
    }
    return lam_f32_from_fixed(sign, (uint64_t)lam_f32_log_sum(size, 1), 56);
}

/* The inverse of cosh, 0 or above; NaN below 1. */
static inline float lam_f32_acosh(float x)
{
    static const int32_t c[5] = {1073741823, -89478264, 20125438, -5908529, 1636375};
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits);

    if ((bits < LAM_F32_ONE) || (bits > LAM_F32_INFINITY)) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    if ((bits == LAM_F32_ONE) || (bits == LAM_F32_INFINITY)) {
        return (bits == LAM_F32_ONE) ? 0.0f : x;
    }
    if (bits < 0x3FA00000u) { /* 5/4: sqrt(2 * t) times a polynomial in t, which is x - 1 */
        const uint32_t t = size - LAM_F32_ONE; /* in Q23 */
        const int32_t zeros = lam_f32_zeros(t), odd = zeros & 1;
        const uint32_t root = lam_f32_fixed_root((t << zeros) >> odd);
        const uint32_t factor = (uint32_t)lam_f32_polynomial_4(c, (int32_t)(t << 9));
        return lam_f32_from_bits(lam_f32_pack_about((10 - zeros + odd) / 2 - 1, (uint32_t)(((uint64_t)root * factor) >> 30)));
    }
    return lam_f32_from_fixed(0u, (uint64_t)lam_f32_log_sum(size, -1), 56);
}

/* The inverse of tanh; infinite at -1 and 1, NaN beyond. */
static inline float lam_f32_atanh(float x)
{
    static const int32_t c[6] = {1431654284, 859104599, 610808183, 508265127, 218979504, 761055292};
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN;
    uint32_t m;
    int32_t zeros;
    int64_t twice;

    if (size < 0x39000000u) { /* 2^-13 */
        return x;
    }
    if (size < 0x3F000000u) { /* 1/2 */
        return lam_f32_from_bits(sign | lam_f32_pack_about(lam_f32_exponent(size), lam_f32_odd(size, c, 6)));
    }
    if (size >= LAM_F32_ONE) {
        return lam_f32_from_bits((size > LAM_F32_ONE) ? LAM_F32_NAN : sign | LAM_F32_INFINITY);
    }
    /* (log(1 + |x|) - log(1 - |x|)) / 2 */
    m = lam_f32_mantissa(size);
    zeros = lam_f32_zeros(0x01000000u - m);
    twice = lam_f32_log_fixed((0x01000000u + m) << 7, 0) - lam_f32_log_fixed((0x01000000u - m) << zeros, 7 - zeros);
    return lam_f32_from_fixed(sign, (uint64_t)twice, 57);
}

#endif /* LAM_F32_AREA_H */
