/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * erf of float32, at most 1 unit in the last place from the true value (docs/numerics.md).
 * Bit-exact twin of codegen/float32/error_function.py.
 */
#ifndef LAM_F32_ERF_H
#define LAM_F32_ERF_H

#include "lam_f32_fixed.h"

/* erf(x) / x in Q30, of x * x in Q30, below 1. */
static inline int32_t lam_f32_erf_slope(int32_t square)
{
    static const int32_t c[7] = {1211587904, -1615450036, 1938507744, -1845423424, 1426488832, -881901568, 346968064};
    return lam_f32_polynomial_6(c, square);
}

/* erf(x) in Q30, of 2 * x in Q28, for x of 1 .. 4: a polynomial on each of six intervals, around its middle. */
static inline uint32_t lam_f32_erf_far(uint32_t halves)
{
    static const int32_t c[6][7] = {{990956468, 126981363, -79363460, 22484587, -410982, -1569631, 344149},
                                    {1059430640, 28333275, -24791673, 12103439, -3228372, 200313, 151999},
                                    {1072171244, 3834493, -4313791, 2916143, -1281088, 355052, -46375},
                                    {1073633782, 314764, -432790, 370201, -218613, 94819, -28003},
                                    {1073737204, 15673, -25467, 26202, -19196, 11161, -4614},
                                    {1073741702, 473, -888, 1062, -924, 678, -350}};
    return (uint32_t)lam_f32_polynomial_6(c[(halves >> 28) - 2u], (int32_t)((halves << 4) ^ LAM_F32_SIGN));
}

static inline float lam_f32_erf(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = bits & LAM_F32_SIGN;
    uint64_t product;
    int32_t less;

    if (size > 0x407FFFFFu) { /* 4 and above */
        return (size > LAM_F32_INFINITY) ? lam_f32_from_bits(LAM_F32_NAN) : lam_f32_from_bits(sign | LAM_F32_ONE);
    }
    if (size >= LAM_F32_ONE) {
        return lam_f32_from_bits(sign | lam_f32_pack(-1, 2u * lam_f32_erf_far(lam_f32_mantissa(size) << (lam_f32_exponent(size) + 6))));
    }
    if (size < 0x00800000u) {
        /* 2 / sqrt(pi) in Q31; the least bit is 2^-149. */
        return lam_f32_from_bits(sign | (uint32_t)(((uint64_t)size * 2423175810u + ((uint64_t)1 << 30)) >> 31));
    }
    product = (uint64_t)(lam_f32_mantissa(size) << 7) * (uint32_t)lam_f32_erf_slope(lam_f32_fixed_square(size, 0));
    less = (product < ((uint64_t)1 << 60)) ? 1 : (product < ((uint64_t)1 << 61)) ? 0 : -1;
    return lam_f32_from_bits(sign | lam_f32_pack(lam_f32_exponent(size) - less, (uint32_t)(product >> (30 - less))));
}

#endif /* LAM_F32_ERF_H */
