/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * exp, expm1, sigmoid and tanh of float32, at most 1 unit in the last place from the true value (docs/numerics.md).
 * Bit-exact twin of codegen/float32/exponential.py.
 */
#ifndef LAM_F32_EXP_H
#define LAM_F32_EXP_H

#include "lam_f32_fixed.h"

#define LAM_F32_LOG2_E 3098164009u /* log2(e) in Q31 */

/* 2^(f / 2^32) in Q30: a polynomial of degree 6 around the middle. */
static inline uint32_t lam_f32_exp2_fraction(uint32_t f)
{
    static const int32_t c[7] = {1518500250, 1052544207, 364784023, 84281733, 14604927, 2034856, 235034};

    return (uint32_t)lam_f32_polynomial_6(c, (int32_t)(f ^ LAM_F32_SIGN));
}

/* |x| * 2^doublings * log2(e) in Q32, for 2^-33 <= |x| * 2^doublings < 2^7. */
static inline int64_t lam_f32_in_octaves(uint32_t size, int32_t doublings)
{
    const uint64_t product = (uint64_t)lam_f32_mantissa(size) * LAM_F32_LOG2_E;
    return (int64_t)(product >> (22 - doublings - lam_f32_exponent(size)));
}

/* e^x, as IEEE 754 has it: +0 below the least denormal number, infinity above the greatest number. */
static inline float lam_f32_exp(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits);
    int64_t octaves;

    if (size > LAM_F32_INFINITY) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    if (size < 0x32800000u) { /* 2^-26 */
        return 1.0f;
    }
    if (size > (((bits & LAM_F32_SIGN) != 0u) ? 0x42CFF1B4u : 0x42B17217u)) { /* -103.97208, 88.72283 */
        return lam_f32_from_bits(((bits & LAM_F32_SIGN) != 0u) ? 0u : LAM_F32_INFINITY);
    }
    octaves = lam_f32_in_octaves(size, 0);
    octaves = ((bits & LAM_F32_SIGN) != 0u) ? -octaves : octaves;
    return lam_f32_from_bits(lam_f32_pack_denormal((int32_t)(octaves >> 32), lam_f32_exp2_fraction((uint32_t)octaves)));
}

/* e^-(octaves * log(2)) in Q31, for octaves above 0 in Q32. */
static inline uint32_t lam_f32_decay(int64_t octaves)
{
    const int32_t right = -1 - (int32_t)(-octaves >> 32);
    return lam_f32_exp2_fraction((uint32_t)-octaves) >> ((right > 31) ? 31 : right);
}

/* e^x - 1: x times a polynomial next to 0. */
static inline float lam_f32_expm1(float x)
{
    static const int32_t c[7] = {1073741824, 536870958, 178956976, 44737780, 8947686, 1502999, 214342};
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN;
    int64_t octaves;
    int32_t k;

    if (size < 0x32800000u) { /* 2^-26 */
        return x;
    }
    if (size > 0x42B17217u) { /* 88.72283 */
        const uint32_t end = (sign != 0u) ? sign | LAM_F32_ONE : LAM_F32_INFINITY;
        return lam_f32_from_bits((size > LAM_F32_INFINITY) ? LAM_F32_NAN : end);
    }
    if (size < 0x3F000000u) { /* 1/2 */
        const int32_t fixed = (int32_t)((lam_f32_mantissa(size) << 8) >> (-1 - lam_f32_exponent(size)));
        const int32_t slope = lam_f32_polynomial_6(c, (sign != 0u) ? -fixed : fixed);
        return lam_f32_from_bits(sign | lam_f32_scaled(size, 1, (uint32_t)slope));
    }
    octaves = lam_f32_in_octaves(size, 0);
    if (sign != 0u) {
        return lam_f32_from_bits(sign | lam_f32_pack_about(-1, LAM_F32_SIGN - lam_f32_decay(octaves)));
    }
    k = (int32_t)(octaves >> 32);
    return lam_f32_from_bits(
        lam_f32_pack_about(k, lam_f32_exp2_fraction((uint32_t)octaves) - (((uint32_t)1 << 30) >> ((k > 31) ? 31 : k))));
}

/* 1 / (1 + e^-x). */
static inline float lam_f32_sigmoid(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits);
    int64_t octaves;
    uint64_t product;
    uint32_t part;
    int32_t exponent;

    if (size > LAM_F32_INFINITY) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    if (size < 0x33000000u) { /* 2^-25 */
        return 0.5f;
    }
    if (size > 0x42CFF1B4u) { /* 103.97208 */
        return ((bits & LAM_F32_SIGN) != 0u) ? 0.0f : 1.0f;
    }
    octaves = lam_f32_in_octaves(size, 0);
    part = lam_f32_fixed_reciprocal(lam_f32_decay(octaves));
    if ((bits & LAM_F32_SIGN) == 0u) {
        return lam_f32_from_bits(lam_f32_pack(-1, part));
    }
    exponent = (int32_t)(-octaves >> 32);
    product = (uint64_t)lam_f32_exp2_fraction((uint32_t)-octaves) * part;
    if (product < ((uint64_t)1 << 61)) {
        product <<= 1;
        exponent--;
    }
    return lam_f32_from_bits(lam_f32_pack_denormal(exponent, (uint32_t)(product >> 31)));
}

/* tanh(x) / x - 1 in Q32, for |x| < 1/2. */
static inline int32_t lam_f32_tanh_less(uint32_t size)
{
    static const int32_t c[5] = {-1431655495, 572646733, -231498617, 91490127, -28576889};
    const int32_t square = lam_f32_fixed_square(size, -1);
    return lam_f32_high(lam_f32_polynomial_4(c, square), square);
}

static inline float lam_f32_tanh(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN;
    uint32_t decay, value;
    int32_t exponent;

    if (size < 0x39000000u) { /* 2^-13 */
        return x;
    }
    if (size > 0x41200000u) { /* 10 */
        return (size > LAM_F32_INFINITY) ? lam_f32_from_bits(LAM_F32_NAN) : lam_f32_from_bits(sign | LAM_F32_ONE);
    }
    if (size < 0x3F000000u) { /* 1/2 */
        value = lam_f32_mantissa(size) << 7;
        value = (uint32_t)lam_f32_step((int32_t)value, lam_f32_tanh_less(size), (int32_t)value);
        exponent = lam_f32_exponent(size);
    } else {
        decay = lam_f32_decay(lam_f32_in_octaves(size, 1));
        value = (uint32_t)(((uint64_t)(LAM_F32_SIGN - decay) * lam_f32_fixed_reciprocal(decay)) >> 31);
        exponent = -1;
    }
    if (value < ((uint32_t)1 << 30)) {
        value <<= 1;
        exponent--;
    }
    return lam_f32_from_bits(sign | lam_f32_pack(exponent, value));
}

/* e^|x| / 2 plus (or less) e^-|x| / 2, for 2^-13 <= |x| <= 89.4160, as bits. */
static inline uint32_t lam_f32_half_sum(uint32_t size, int32_t less)
{
    const int64_t octaves = lam_f32_in_octaves(size, 0);
    const int32_t k = (int32_t)(octaves >> 32);
    const uint32_t grown = lam_f32_exp2_fraction((uint32_t)octaves);
    const uint32_t decay = lam_f32_decay(octaves) >> ((k > 30) ? 31 : k + 1);
    return lam_f32_pack_about(k - 1, (less != 0) ? grown - decay : grown + decay);
}

static inline float lam_f32_sinh(float x)
{
    static const int32_t c[3] = {715827917, 35790567, 857878};
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN;

    if (size < 0x39000000u) { /* 2^-13 */
        return x;
    }
    if (size > 0x42B2D4FCu) { /* 89.41598 */
        return lam_f32_from_bits((size > LAM_F32_INFINITY) ? LAM_F32_NAN : sign | LAM_F32_INFINITY);
    }
    if (size < 0x3F000000u) { /* 1/2 */
        const int32_t square = lam_f32_fixed_square(size, -1);
        const uint32_t value = lam_f32_grown(lam_f32_mantissa(size) << 7, square, lam_f32_polynomial_2(c, square));
        return lam_f32_from_bits(sign | lam_f32_pack_about(lam_f32_exponent(size), value));
    }
    return lam_f32_from_bits(sign | lam_f32_half_sum(size, 1));
}

static inline float lam_f32_cosh(float x)
{
    const uint32_t size = LAM_F32_SIZE(lam_f32_bits(x));

    if (size < 0x39000000u) { /* 2^-13 */
        return 1.0f;
    }
    if (size > 0x42B2D4FCu) { /* 89.41598 */
        return lam_f32_from_bits((size > LAM_F32_INFINITY) ? LAM_F32_NAN : LAM_F32_INFINITY);
    }
    return lam_f32_from_bits(lam_f32_half_sum(size, 0));
}

#endif /* LAM_F32_EXP_H */
