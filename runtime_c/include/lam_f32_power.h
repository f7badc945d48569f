/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * x to the power of y of float32, at most 1 unit in the last place from the true value (docs/numerics.md).
 * Bit-exact twin of codegen/float32/powers.py.
 */
#ifndef LAM_F32_POWER_H
#define LAM_F32_POWER_H

#include "lam_f32_exp.h"
#include "lam_f32_log.h"

/* A number in fixed point that is not 0. */
typedef struct lam_f32_wide {
    int64_t value;
    int32_t fraction_bits;
} lam_f32_wide;

/* log2(m / 2^31 * 2^exponent), for m of 2^31 .. 2^32 - 1 with 8 zeros behind, as lam_f32_log_fixed but to 37 bits: in Q62
 * next to 1, where it is small, and in Q55 elsewhere. */
static inline lam_f32_wide lam_f32_log2_wide(uint32_t m, int32_t exponent)
{
    static const int32_t c[5] = {-1073741824, 715827752, -536870628, 429920924, -358428383};
    static const int64_t logarithm[16] = {
        -17448752230752278, -15224730989558735, -13091977795874859, -11043296194569244, -9072308719709008, -7173337091848559,
        -5341303689960273,  -3571649655089107,  -1860266532006435,  0,                  2767573554791301,  5759971954986709,
        8589435952803826,   11272796473775028,  13824404058830674,  16256593555046021};
    const uint32_t above = m - 0x33000000u;
    const uint32_t entry = (above >> 27) & 15u;
    const int32_t down = (int32_t)(above >> 31);
    const int64_t r = (int64_t)(((uint64_t)m * lam_f32_log_inverse(entry)) >> down) - ((int64_t)1 << 62);
    const int32_t near = (int32_t)(r >> 26);
    const int32_t less = lam_f32_high(lam_f32_polynomial_4(c, (int32_t)(r >> 30)), near);
    const int64_t natural = r + (((int64_t)near * less) >> 9);
    /* times log2(e), which is 1 + 0.4427 */
    const int64_t more = (natural >> 32) * 3802721445LL + (int64_t)(((uint64_t)(uint32_t)natural * 3802721445u) >> 32);
    lam_f32_wide result;

    result.value = natural + (more >> 1);
    result.fraction_bits = 62;
    if (((exponent + down) != 0) || (entry != 9u)) {
        result.value = (exponent + down) * ((int64_t)1 << 55) + logarithm[entry] + (result.value >> 7);
        result.fraction_bits = 55;
    }
    return result;
}

/* What a number that is not 0 is: 0 for one with a fraction, 1 for an odd one, 2 for an even one or infinity. */
static inline int32_t lam_f32_parity(uint32_t size)
{
    const int32_t exponent = lam_f32_exponent(size);
    uint32_t m, one;

    if ((exponent < 0) || (exponent > 23)) {
        return (exponent < 0) ? 0 : 2;
    }
    m = lam_f32_mantissa(size);
    one = (uint32_t)1 << (23 - exponent);
    return ((m & (one - 1u)) != 0u) ? 0 : ((m & one) != 0u) ? 1 : 2;
}

/* |x| to the power of y in octaves, Q32, or some number of at least 2^40 in size; for finite numbers, |x| neither 0 nor 1. */
static inline int64_t lam_f32_power_octaves(uint32_t x, uint32_t y_bits)
{
    const uint32_t y = LAM_F32_SIZE(y_bits);
    const int32_t x_zeros = lam_f32_zeros(x), y_zeros = lam_f32_zeros(y);
    const lam_f32_wide log2 = (x < 0x00800000u) ? lam_f32_log2_wide(x << x_zeros, -118 - x_zeros)
                                               : lam_f32_log2_wide(lam_f32_mantissa(x) << 8, lam_f32_exponent(x));
    const uint64_t size = (uint64_t)((log2.value < 0) ? -log2.value : log2.value);
    const int32_t zeros = lam_f32_zeros_64(size);
    const uint32_t m = (y < 0x00800000u) ? y << (y_zeros - 8) : lam_f32_mantissa(y);
    const int32_t exponent = (y < 0x00800000u) ? -118 - y_zeros : lam_f32_exponent(y);
    const int32_t right = zeros + log2.fraction_bits - exponent - 33;
    int64_t octaves;

    if (right > 63) {
        return 0;
    }
    octaves = (right < 22) ? (int64_t)1 << 40 : (int64_t)((((size << zeros) >> 24) * m) >> right);
    return ((log2.value < 0) != (y_bits >= LAM_F32_SIGN)) ? -octaves : octaves;
}

/* x to the power of y, as IEEE 754's pow: 1 where y is 0 or x is 1, whatever the other is; NaN for x below 0 and y with a
 * fraction. */
static inline float lam_f32_power(float x, float y)
{
    const uint32_t x_bits = lam_f32_bits(x), y_bits = lam_f32_bits(y);
    const uint32_t x_size = LAM_F32_SIZE(x_bits), y_size = LAM_F32_SIZE(y_bits);
    uint32_t sign;
    int64_t octaves;

    if ((y_size == 0u) || (x_bits == LAM_F32_ONE)) {
        return 1.0f;
    }
    if ((x_size > LAM_F32_INFINITY) || (y_size > LAM_F32_INFINITY)) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    sign = (lam_f32_parity(y_size) == 1) ? x_bits & LAM_F32_SIGN : 0u;
    if ((x_size == 0u) || (x_size == LAM_F32_INFINITY) || ((y_size == LAM_F32_INFINITY) && (x_size != LAM_F32_ONE))) {
        return lam_f32_from_bits(sign | (((x_size > LAM_F32_ONE) == (y_bits < LAM_F32_SIGN)) ? LAM_F32_INFINITY : 0u));
    }
    if ((x_bits >= LAM_F32_SIGN) && (lam_f32_parity(y_size) == 0)) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    if (x_size == LAM_F32_ONE) {
        return lam_f32_from_bits(sign | LAM_F32_ONE);
    }
    octaves = lam_f32_power_octaves(x_size, y_bits);
    if (octaves >= ((int64_t)128 << 32)) {
        return lam_f32_from_bits(sign | LAM_F32_INFINITY);
    }
    if (octaves < -((int64_t)150 << 32)) {
        return lam_f32_from_bits(sign);
    }
    return lam_f32_from_bits(sign | lam_f32_pack_denormal((int32_t)(octaves >> 32), lam_f32_exp2_fraction((uint32_t)octaves)));
}

#endif /* LAM_F32_POWER_H */
