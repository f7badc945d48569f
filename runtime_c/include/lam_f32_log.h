/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * log of float32, at most 1 unit in the last place from the true value (docs/numerics.md).
 * Bit-exact twin of codegen/float32/logarithm.py.
 */
#ifndef LAM_F32_LOG_H
#define LAM_F32_LOG_H

#include "lam_f32_fixed.h"

/* About 1 / z in Q31, by sixteenths of 0.7 .. 1.4; that of z about 1 is 1. */
static inline uint32_t lam_f32_log_inverse(uint32_t entry)
{
    static const uint32_t inverse[16] = {3004130131u, 2878302691u, 2762592030u, 2655825188u, 2557003786u, 2465272708u,
                                         2379895298u, 2300233531u, 2225732040u, 2147483648u, 2036132644u, 1922223125u,
                                         1820383490u, 1728791868u, 1645975491u, 1570730897u};
    return inverse[entry];
}

/* log(1 + r) / r - 1 in Q31, for r in Q35, |r| < 0.0315. */
static inline int32_t lam_f32_log_less(int32_t r)
{
    static const int32_t c[4] = {-1073741715, 715827685, -537314006, 430000503};
    const int32_t x = r >> 3;
    return lam_f32_high(lam_f32_polynomial_3(c, x), x);
}

/* log(m / 2^31 * 2^exponent) in Q56, for m of 2^31 .. 2^32 - 1.
 *
 * The number is 2^k * z with z of 0.7 .. 1.4, and z times the table's reciprocal of its interval is 1 + r.  In the
 * interval around 1 the table has 1 and 0, so that the result is as exact relative to itself. */
static inline int64_t lam_f32_log_fixed(uint32_t m, int32_t exponent)
{
    static const int32_t logarithm[16] = {-1441783120, -1258013172, -1081784665, -912502959, -749641086, -592729852,
                                          -441349696,  -295123921,  -153713048,  0,          228683449,  475944080,
                                          709741511,   931466471,   1142304742,  1343275546};
    const uint32_t above = m - 0x33000000u; /* from 2^31 on where z is m / 2^32, below 1 */
    const uint32_t entry = (above >> 27) & 15u;
    const int32_t down = (int32_t)(above >> 31);
    const int32_t r = (int32_t)(uint32_t)(((uint64_t)m * lam_f32_log_inverse(entry)) >> (27 + down));
    const int64_t rest = ((int64_t)r * lam_f32_log_less(r)) >> 10;

    return (exponent + down) * 49946518145322874LL + (int64_t)logarithm[entry] * ((int32_t)1 << 24) + (int64_t)r * ((int32_t)1 << 21) + rest;
}

/* The logarithm of base e: NaN below 0, -infinity of both zeros. */
static inline float lam_f32_log(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits);
    int32_t zeros;
    int64_t result;

    if (size == 0u) {
        return lam_f32_from_bits(LAM_F32_SIGN | LAM_F32_INFINITY);
    }
    if (bits >= LAM_F32_INFINITY) {
        return lam_f32_from_bits((bits == LAM_F32_INFINITY) ? bits : LAM_F32_NAN);
    }
    if (size < 0x00800000u) {
        zeros = lam_f32_zeros(size);
        result = lam_f32_log_fixed(size << zeros, -118 - zeros);
    } else {
        result = lam_f32_log_fixed(lam_f32_mantissa(size) << 8, lam_f32_exponent(size));
    }
    return lam_f32_from_fixed((result < 0) ? LAM_F32_SIGN : 0u, (uint64_t)((result < 0) ? -result : result), 56);
}

#endif /* LAM_F32_LOG_H */
