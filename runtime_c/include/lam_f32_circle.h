/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * sin, cos and tan of float32, at most 1 unit in the last place from the true value (docs/numerics.md).
 * Bit-exact twin of codegen/float32/circle.py.
 */
#ifndef LAM_F32_CIRCLE_H
#define LAM_F32_CIRCLE_H

#include "lam_f32_fixed.h"

/* Quarter turns: the number of whole ones, modulo 4, and the rest of -1/2 .. 1/2 in Q62. */
typedef struct lam_f32_turn {
    uint32_t whole;
    int64_t rest;
} lam_f32_turn;

/* |x| * 2 / pi, for 2^-7 <= |x|: Payne and Hanek's product with those bits of 2 / pi that count for this exponent.
 * entries[i] has the 32 bits that end 8 * i behind the point. */
static inline lam_f32_turn lam_f32_turns(uint32_t size)
{
    static const uint32_t entries[25] = {
        0x00000000u, 0x000000A2u, 0x0000A2F9u, 0x00A2F983u, 0xA2F9836Eu, 0xF9836E4Eu, 0x836E4E44u, 0x6E4E4415u, 0x4E441529u,
        0x441529FCu, 0x1529FC27u, 0x29FC2757u, 0xFC2757D1u, 0x2757D1F5u, 0x57D1F534u, 0xD1F534DDu, 0xF534DDC0u, 0x34DDC0DBu,
        0xDDC0DB62u, 0xC0DB6295u, 0xDB629599u, 0x6295993Cu, 0x95993C43u, 0x993C4390u, 0x3C439041u};
    const uint32_t biased = size >> 23;
    const uint32_t *const bits = entries + ((biased - 120u) >> 3);
    const uint32_t m = lam_f32_mantissa(size) << (biased & 7u);
    uint64_t product = ((uint64_t)(m * bits[0]) << 32) | (((uint64_t)m * bits[8]) >> 32);
    lam_f32_turn turn;

    product += (uint64_t)m * bits[4];
    turn.whole = (uint32_t)((product + ((uint64_t)1 << 61)) >> 62);
    product -= (uint64_t)turn.whole << 62;
    turn.rest = (int64_t)product;
    turn.whole &= 3u;
    return turn;
}

/* The square of a rest, in Q32. */
static inline int32_t lam_f32_turn_square(int64_t rest)
{
    const int32_t part = (int32_t)(rest >> 30);
    return lam_f32_high(part, part);
}

/* cos of a rest, in Q30. */
static inline uint32_t lam_f32_turn_cos(int64_t rest)
{
    static const int32_t c[5] = {1073741824, -1324675869, 272375234, -22398331, 970267};
    return (uint32_t)lam_f32_polynomial_4(c, lam_f32_turn_square(rest));
}

/* |sin| of a rest that is not 0: value / 2^30 * 2^exponent, value of 2^30 .. 2^31. */
static inline uint32_t lam_f32_turn_sin(int64_t rest, int32_t *exponent)
{
    static const int32_t c[5] = {1686629713, -693598667, 85569259, -5026472, 169873};
    const uint64_t size = (uint64_t)((rest < 0) ? -rest : rest);
    const int32_t zeros = lam_f32_zeros_64(size);
    const uint32_t slope = (uint32_t)lam_f32_polynomial_4(c, lam_f32_turn_square(rest));
    const uint64_t product = (uint64_t)(uint32_t)((size << zeros) >> 33) * slope;
    const int32_t more = (product >= ((uint64_t)1 << 61)) ? 1 : 0;

    *exponent = 1 - zeros + more;
    return (uint32_t)(product >> (30 + more));
}

/* |sin| or |cos| of so many quarter turns, as bits, with a sign. */
static inline float lam_f32_turned(lam_f32_turn turn, uint32_t sign)
{
    int32_t exponent;
    uint32_t value;

    sign ^= (turn.whole & 2u) << 30;
    if ((turn.whole & 1u) != 0u) {
        return lam_f32_from_bits(sign | lam_f32_pack(-1, 2u * lam_f32_turn_cos(turn.rest)));
    }
    value = lam_f32_turn_sin(turn.rest, &exponent);
    return lam_f32_from_bits((sign ^ ((turn.rest < 0) ? LAM_F32_SIGN : 0u)) | lam_f32_pack(exponent, value));
}

/* x * (1 + x * x * slope) for |x| < 2^-7, slope in Q32. */
static inline float lam_f32_about_zero(uint32_t bits, int32_t slope)
{
    const uint32_t size = LAM_F32_SIZE(bits);
    uint32_t value;

    if (size < 0x39000000u) { /* 2^-13 */
        return lam_f32_from_bits(bits);
    }
    value = lam_f32_grown(lam_f32_mantissa(size) << 7, lam_f32_fixed_square(size, -1), slope);
    return lam_f32_from_bits((bits & LAM_F32_SIGN) | lam_f32_pack_about(lam_f32_exponent(size), value));
}

/* The sine of x radians; NaN of infinities. */
static inline float lam_f32_sin(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits);

    if (size >= LAM_F32_INFINITY) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    if (size < 0x3C000000u) { /* 2^-7 */
        return lam_f32_about_zero(bits, -715827883);
    }
    return lam_f32_turned(lam_f32_turns(size), bits & LAM_F32_SIGN);
}

/* The cosine of x radians; NaN of infinities. */
static inline float lam_f32_cos(float x)
{
    const uint32_t size = LAM_F32_SIZE(lam_f32_bits(x));
    lam_f32_turn turn;

    if (size >= LAM_F32_INFINITY) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    if (size < 0x3C000000u) { /* 2^-7 */
        const uint32_t square = (size < 0x39000000u) ? 0u : (uint32_t)lam_f32_fixed_square(size, -1);
        return lam_f32_from_bits(lam_f32_pack(-1, LAM_F32_SIGN - (square >> 2)));
    }
    turn = lam_f32_turns(size);
    turn.whole++;
    return lam_f32_turned(turn, 0u);
}

/* The tangent of x radians; NaN of infinities. */
static inline float lam_f32_tan(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits);
    lam_f32_turn turn;
    uint32_t sign, above, below;
    int32_t exponent;

    if (size >= LAM_F32_INFINITY) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    if (size < 0x3C000000u) { /* 2^-7 */
        return lam_f32_about_zero(bits, 1431655765);
    }
    turn = lam_f32_turns(size);
    above = lam_f32_turn_sin(turn.rest, &exponent);
    below = lam_f32_turn_cos(turn.rest);
    below = 2u * ((below < ((uint32_t)1 << 30)) ? below : ((uint32_t)1 << 30) - 1u);
    sign = (bits & LAM_F32_SIGN) ^ ((turn.rest < 0) ? LAM_F32_SIGN : 0u);
    if ((turn.whole & 1u) == 0u) {
        /* sin / cos, cos of 1/2 .. 1 in Q31 */
        above = (uint32_t)(((uint64_t)above * lam_f32_fixed_reciprocal((below << 1) & ~LAM_F32_SIGN)) >> 30);
        return lam_f32_from_bits(sign | lam_f32_pack_about(exponent, above));
    }
    above = (above < LAM_F32_SIGN) ? above : LAM_F32_SIGN - 1u;
    below = (uint32_t)(((uint64_t)below * lam_f32_fixed_reciprocal((above << 1) & ~LAM_F32_SIGN)) >> 31);
    return lam_f32_from_bits((sign ^ LAM_F32_SIGN) | lam_f32_pack_about(-1 - exponent, below));
}

#endif /* LAM_F32_CIRCLE_H */
