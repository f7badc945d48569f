/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * asin, acos and atan of float32, at most 1 unit in the last place from the true value
 * (docs/numerics.md).  Bit-exact twin of codegen/float32/arc.py.
 */
#ifndef LAM_F32_ARC_H
#define LAM_F32_ARC_H

#include "lam_f32_fixed.h"

#define LAM_F32_HALF_PI 3373259426u /* pi / 2 in Q31, pi in Q30 */

/* asin(s) / s less 1, over s^2, for s^2 up to 1/4 in Q32. */
static inline int32_t lam_f32_asin_slope(int32_t square)
{
    static const int32_t c[6] = {715827591, 322144491, 191193561, 136655640, 61858549, 161341557};
    return lam_f32_polynomial_5(c, square);
}

/* asin(|x|) / 2^e in Q30 for 2^-13 <= |x| < 1/2. */
static inline uint32_t lam_f32_asin_near(uint32_t size)
{
    const int32_t square = lam_f32_fixed_square(size, -1);
    return lam_f32_grown(lam_f32_mantissa(size) << 7, square, lam_f32_asin_slope(square));
}

/* 2 * asin(sqrt((1 - |x|) / 2)) = acos(|x|) as value / 2^30 * 2^exponent, for 1/2 <= |x| < 1; exponent 0 or below. */
static inline uint32_t lam_f32_acos_far(uint32_t size, int32_t *exponent)
{
    const uint32_t less = 0x01000000u - lam_f32_mantissa(size); /* (1 - |x|) * 2^24 */
    const int32_t zeros = lam_f32_zeros(less), odd = (7 - zeros) & 1;

    *exponent = (7 - zeros + odd) / 2;
    return lam_f32_grown(lam_f32_fixed_root((less << zeros) >> odd), (int32_t)(less << 7),
                         lam_f32_asin_slope((int32_t)(less << 7)));
}

/* The arc sine; NaN beyond -1 .. 1. */
static inline float lam_f32_asin(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN;
    uint32_t value;
    int32_t exponent;

    if (size < 0x39000000u) { /* 2^-13 */
        return x;
    }
    if (size < 0x3F000000u) { /* 1/2 */
        return lam_f32_from_bits(sign | lam_f32_pack_about(lam_f32_exponent(size), lam_f32_asin_near(size)));
    }
    if (size >= LAM_F32_ONE) {
        return lam_f32_from_bits((size > LAM_F32_ONE) ? LAM_F32_NAN : sign | 0x3FC90FDBu);
    }
    value = lam_f32_acos_far(size, &exponent);
    value = (exponent < -30) ? 0u : (uint32_t)(((uint64_t)value << 1) >> -exponent);
    return lam_f32_from_fixed(sign, LAM_F32_HALF_PI - value, 31);
}

/* The arc cosine; NaN beyond -1 .. 1. */
static inline float lam_f32_acos(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN;
    const uint32_t half_pi = LAM_F32_HALF_PI / 2u;
    uint32_t value;
    int32_t exponent;

    if (size < 0x32000000u) { /* 2^-27 */
        return lam_f32_from_bits(0x3FC90FDBu);
    }
    if (size < 0x3F000000u) { /* 1/2 */
        value = (size < 0x39000000u) ? lam_f32_mantissa(size) << 7 : lam_f32_asin_near(size);
        value >>= -lam_f32_exponent(size);
        return lam_f32_from_fixed(0u, (sign != 0u) ? half_pi + value : half_pi - value, 30);
    }
    if (size >= LAM_F32_ONE) {
        return lam_f32_from_bits((size > LAM_F32_ONE) ? LAM_F32_NAN : (sign != 0u) ? 0x40490FDBu : 0u);
    }
    value = lam_f32_acos_far(size, &exponent);
    if (sign == 0u) {
        return lam_f32_from_bits(lam_f32_pack_about(exponent, value));
    }
    return lam_f32_from_fixed(0u, LAM_F32_HALF_PI - (value >> -exponent), 30);
}

/* atan(|x|) in Q31, for 1/8 <= |x| < 8: atan(p / q) + atan(z), z = (q * |x| - p) / (q + p * |x|) within 0.137. */
static inline uint32_t lam_f32_atan_middle(uint32_t size)
{
    static const int32_t c[3] = {-1431655219, 858814566, -596861169};
    static const uint8_t intervals[24] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6};
    static const uint8_t fractions[7][2] = {{1, 4}, {1, 2}, {3, 4}, {1, 1}, {4, 3}, {2, 1}, {4, 1}};
    static const uint32_t angles[7] = {526087673u,  995675659u,  1381908109u, 1686629713u,
                                       1991351318u, 2377583767u, 2847171753u};
    const uint32_t interval = intervals[(size - 0x3E000000u) >> 21];
    const uint32_t p = fractions[interval][0], q = fractions[interval][1];
    const uint32_t x = lam_f32_mantissa(size) << (lam_f32_exponent(size) + 5); /* in Q28 */
    const uint64_t below = ((uint64_t)q << 28) + (uint64_t)p * x;
    const int32_t zeros = lam_f32_zeros_64(below);
    const uint32_t whole = (uint32_t)((below << zeros) >> 32);
    const int64_t above = (int64_t)((uint64_t)q * x) - (int64_t)((uint64_t)p << 28);
    /* 2^31 / (below / 2^28 / 2^(35 - zeros)), below that as a fraction of 1 .. 2 */
    const int64_t quotient = above * (int64_t)lam_f32_fixed_reciprocal(whole & ~LAM_F32_SIGN);
    const int32_t z = (int32_t)(quotient >> (62 - zeros)); /* in Q32 */
    const int32_t square = lam_f32_high(z, z);
    const int32_t bent = lam_f32_high(lam_f32_high(lam_f32_polynomial_2(c, square), square), z);

    return angles[interval] + (uint32_t)((z + bent) >> 1);
}

/* The arc tangent. */
static inline float lam_f32_atan(float x)
{
    static const int32_t c[3] = {-1431655219, 858814566, -596861169};
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN;
    uint32_t value;
    int32_t square;

    if (size < 0x39000000u) { /* 2^-13 */
        return x;
    }
    if (size < 0x3E000000u) { /* 1/8 */
        square = lam_f32_fixed_square(size, -1);
        value = lam_f32_grown(lam_f32_mantissa(size) << 7, square, lam_f32_polynomial_2(c, square));
        return lam_f32_from_bits(sign | lam_f32_pack_about(lam_f32_exponent(size), value));
    }
    if (size < 0x41000000u) { /* 8 */
        return lam_f32_from_fixed(sign, lam_f32_atan_middle(size), 31);
    }
    if (size >= 0x4C800000u) { /* 2^26 */
        return lam_f32_from_bits((size > LAM_F32_INFINITY) ? LAM_F32_NAN : sign | 0x3FC90FDBu);
    }
    /* pi / 2 - atan(1 / x); 1 / x in Q34, below 2^31 */
    value = lam_f32_fixed_reciprocal((lam_f32_mantissa(size) << 8) & ~LAM_F32_SIGN) >> (lam_f32_exponent(size) - 3);
    square = (int32_t)(((uint64_t)value * value) >> 36);
    value = lam_f32_grown(value, square, lam_f32_polynomial_2(c, square));
    return lam_f32_from_fixed(sign, LAM_F32_HALF_PI - (value >> 3), 31);
}

#endif /* LAM_F32_ARC_H */
