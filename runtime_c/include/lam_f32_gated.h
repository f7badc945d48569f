/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * x times a share of it, of float32: swish, mish, gelu and gelu_tanh, at most 1 unit in the last place from the true value,
 * 3 of swish by a denormal alpha (docs/numerics.md).  Bit-exact twin of codegen/float32/gated.py.
 *
 * The share falls to 0 as 2^-octaves on one side of 0.  There it stays a mantissa and an exponent until x is multiplied.
 */
#ifndef LAM_F32_GATED_H
#define LAM_F32_GATED_H

#include "lam_f32_erf.h"
#include "lam_f32_exp.h"

/* A product of two mantissas, 48 bits, times a factor of 32 bits, shifted to the right by 16 and so many more. */
static inline uint64_t lam_f32_by_factor(uint64_t product, uint32_t factor, int32_t right)
{
    const uint64_t rest = ((product & 0xFFFFu) * factor) >> 16;
    return ((uint64_t)(uint32_t)(product >> 16) * factor + rest) >> ((right > 63) ? 63 : right);
}

/* The number of these bits, which is normal, times part, in Q31, and times 2^-octaves where it falls. */
static inline float lam_f32_share(uint32_t bits, uint32_t falls, int64_t octaves, uint32_t part)
{
    int32_t exponent = 0;

    if (falls != 0u) {
        part = (uint32_t)(((uint64_t)lam_f32_exp2_fraction((uint32_t)-octaves) * part) >> 30);
        exponent = (int32_t)(-octaves >> 32);
    }
    return lam_f32_from_bits((bits & LAM_F32_SIGN) | lam_f32_scaled(LAM_F32_SIZE(bits), exponent, part));
}

/* The number of these bits above 0, and times 0 below: -0, or NaN of -infinity. */
static inline float lam_f32_ended(uint32_t bits)
{
    const uint32_t below = (LAM_F32_SIZE(bits) < LAM_F32_INFINITY) ? LAM_F32_SIGN : LAM_F32_NAN;
    return lam_f32_from_bits((bits <= LAM_F32_INFINITY) ? bits : below);
}

/* x / (1 + e^-(alpha * x)): the product of both mantissas is exact. */
static inline float lam_f32_swish(float x, float alpha)
{
    const uint32_t bits = lam_f32_bits(x), factor = lam_f32_bits(alpha), a = LAM_F32_SIZE(bits), b = LAM_F32_SIZE(factor);
    const int32_t exponent = lam_f32_exponent(a) + lam_f32_exponent(b);
    int64_t octaves;

    /* |alpha * x| below 2^-25 or from 256 on; one of them denormal, infinite or NaN */
    if (exponent < -25 || exponent > 7 || a - 0x00800000u >= 0x7F000000u || b - 0x00800000u >= 0x7F000000u) {
        return x * lam_f32_sigmoid(alpha * x);
    }
    octaves = (int64_t)lam_f32_by_factor((uint64_t)lam_f32_mantissa(a) * lam_f32_mantissa(b), LAM_F32_LOG2_E, 29 - exponent);
    return lam_f32_share(bits, (bits ^ factor) & LAM_F32_SIGN, octaves, lam_f32_fixed_reciprocal(lam_f32_decay(octaves)));
}

/* x * tanh(log(1 + e^x)): with d = e^-|x|, (1 + 2d) / (1 + 2d + 2d^2), or d * (1 + d/2) / (1 + d + d^2/2) below 0. */
static inline float lam_f32_mish(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), below = bits & LAM_F32_SIGN;
    uint32_t d, squared, upper, lower;
    int64_t octaves;
    int32_t zeros;

    if (size >= 0x42E00000u) { /* 112 */
        return lam_f32_ended(bits);
    }
    if (size < 0x00800000u) {
        return 0.6f * x;
    }
    octaves = lam_f32_in_octaves((size < 0x32000000u) ? 0x32000000u : size, 0); /* 2^-27 */
    d = lam_f32_decay(octaves);
    squared = (uint32_t)(((uint64_t)d * d) >> 31);
    upper = ((uint32_t)1 << 29) + (d >> ((below != 0u) ? 3 : 1));
    lower = ((uint32_t)1 << 29) + ((below != 0u) ? (d >> 2) + (squared >> 3) : (d + squared) >> 1);
    zeros = lam_f32_zeros(lower);
    upper = (uint32_t)(((uint64_t)upper * lam_f32_fixed_reciprocal((lower << zeros) & ~LAM_F32_SIGN)) >> (31 - zeros));
    return lam_f32_share(bits, below, octaves, upper);
}

/* Half of erf(|x| / sqrt(2)) in Q31, for |x| of 2^-26 .. 5.65625. */
static inline uint32_t lam_f32_half_erf(uint32_t size)
{
    const uint32_t m = lam_f32_mantissa(size);
    const int32_t exponent = lam_f32_exponent(size);
    uint32_t slope;

    if (size >= 0x3FB504F4u) { /* sqrt(2) */
        return lam_f32_erf_far((uint32_t)(((uint64_t)(m << (exponent + 5)) * 3037000500u) >> 31)); /* sqrt(2) in Q31 */
    }
    slope = (uint32_t)lam_f32_erf_slope(lam_f32_fixed_square(size, 1) * 2);
    slope = (uint32_t)(((uint64_t)slope * 1518500250u) >> 30); /* sqrt(1/2) in Q31 */
    return (uint32_t)(((uint64_t)((m << 8) >> -exponent) * slope) >> 32);
}

/* x * P(x), P the normal distribution, for x of -14.5 .. -sqrt(2).
 *
 * P(-y) is e^(-y^2 / 2) times a smooth function: a polynomial on each quarter of an octave of y + 1.5, which has the
 * octave's factor in it. */
static inline float lam_f32_gelu_tail(uint32_t bits)
{
    static const int32_t c[11][7] = {{991108033, -237279513, 49738661, -9410748, 1638142, -268363, 40928},
                                     {795563942, -160603578, 29181429, -4872269, 757992, -111864, 15514},
                                     {659930046, -114300723, 18197100, -2701105, 377616, -50431, 6381},
                                     {1043796868, -295497581, 78652219, -19844040, 4777221, -1125989, 249791},
                                     {810981234, -182963180, 39564300, -8234704, 1655637, -327424, 61869},
                                     {660731799, -123229107, 22293146, -3920963, 671854, -113639, 18562},
                                     {556450073, -88187658, 13662066, -2071704, 307879, -45286, 6481},
                                     {898388568, -231723951, 58848185, -14721515, 3631279, -906032, 217407},
                                     {713708262, -147095418, 30010210, -6062049, 1212950, -244533, 48021},
                                     {591572622, -101382075, 17251427, -2915038, 489233, -82544, 13669},
                                     {504946104, -74007559, 10790184, -1565049, 225854, -32721, 4675}};
    const uint32_t size = LAM_F32_SIZE(bits), m = lam_f32_mantissa(size);
    const int32_t exponent = lam_f32_exponent(size);
    uint32_t moved = ((m << 8) >> (3 - exponent)) + ((uint32_t)3 << 27); /* y + 1.5 in Q28 */
    const int32_t zeros = lam_f32_zeros(moved);
    const int64_t octaves = (int64_t)lam_f32_by_factor((uint64_t)m * m, LAM_F32_LOG2_E, 30 - 2 * exponent);
    const int32_t *quarter;

    moved <<= zeros;
    quarter = c[(moved >> 29) + 3u - 4u * (uint32_t)zeros];
    return lam_f32_share(bits, 1u, octaves + (int64_t)((uint64_t)(3 - zeros) << 32),
                         (uint32_t)lam_f32_polynomial_6(quarter, (int32_t)((moved << 3) ^ LAM_F32_SIGN)));
}

/* x * P(x), P the normal distribution: (1 + erf(x / sqrt(2))) / 2, which cancels far below 0. */
static inline float lam_f32_gelu(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN;
    uint32_t half_erf;

    if (size >= ((sign != 0u) ? 0x41680000u : 0x40B50000u)) { /* 14.5, 5.65625 */
        return lam_f32_ended(bits);
    }
    if (size < 0x32800000u) { /* 2^-26 */
        return 0.5f * x;
    }
    if (sign != 0u && size >= 0x3FB504F4u) { /* sqrt(2) */
        return lam_f32_gelu_tail(bits);
    }
    half_erf = lam_f32_half_erf(size);
    return lam_f32_share(bits, 0u, 0, ((uint32_t)1 << 30) + ((sign != 0u) ? 0u - half_erf : half_erf));
}

/* x / (1 + e^-z), z = sqrt(8 / pi) * (x + 0.044715 * x^3), which is Gelu by tanh of z / 2. */
static inline float lam_f32_gelu_tanh(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN, m = lam_f32_mantissa(size);
    const int32_t exponent = lam_f32_exponent(size);
    uint64_t slope;
    int64_t octaves;

    if (size >= 0x41300000u) { /* 11 */
        return lam_f32_ended(bits);
    }
    if (size < 0x32800000u) { /* 2^-26 */
        return 0.5f * x;
    }
    /* in Q36; the factors are sqrt(8 / pi) * log2(e) in Q36, and that times 0.044715 in Q35 */
    slope = 158206542714ULL + lam_f32_by_factor((uint64_t)m * m, 3537102779u, 29 - 2 * exponent);
    octaves = (int64_t)((slope * m) >> (27 - exponent));
    return lam_f32_share(bits, sign, octaves, lam_f32_fixed_reciprocal(lam_f32_decay(octaves)));
}

#endif /* LAM_F32_GATED_H */
