/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * softplus of float32, at most 1 unit in the last place from the true value (docs/numerics.md).
 * Bit-exact twin of codegen/float32/soft.py.
 */
#ifndef LAM_F32_SOFT_H
#define LAM_F32_SOFT_H

#include "lam_f32_exp.h"
#include "lam_f32_log.h"

/* log(1 + t), t = 2^-octaves at most 2^-5. */
static inline float lam_f32_softplus_small(int64_t octaves)
{
    const uint32_t t = lam_f32_exp2_fraction((uint32_t)-octaves);
    const int32_t k = (int32_t)(-octaves >> 32);
    const int32_t less = lam_f32_log_less((int32_t)(t >> ((k < -36) ? 31 : -5 - k)));
    const uint32_t value = (uint32_t)((int64_t)t + (((int64_t)t * less) >> 31));
    const int32_t small = value < ((uint32_t)1 << 30);
    return lam_f32_from_bits(lam_f32_pack_denormal(k - small, value << small));
}

/* log(1 + e^x): max(x, 0) + log(1 + e^-|x|). */
static inline float lam_f32_softplus(float x)
{
    const uint32_t bits = lam_f32_bits(x), sign = bits & LAM_F32_SIGN;
    uint32_t size = LAM_F32_SIZE(bits);
    int64_t octaves;
    uint64_t whole;

    if (size > ((sign != 0u) ? 0x42CFF1B4u : 0x41900000u)) { /* 103.97208, 18 */
        return (size > LAM_F32_INFINITY) ? lam_f32_from_bits(LAM_F32_NAN) : (sign != 0u) ? 0.0f : x;
    }
    size = (size < 0x32000000u) ? 0x32000000u : size; /* 2^-27 */
    octaves = lam_f32_in_octaves(size, 0);
    if (sign != 0u && (octaves >> 32) >= 5) {
        return lam_f32_softplus_small(octaves);
    }
    whole = (sign != 0u) ? 0u : ((uint64_t)lam_f32_mantissa(size) << 37) >> (4 - lam_f32_exponent(size));
    return lam_f32_from_fixed(0u, whole + (uint64_t)lam_f32_log_fixed(LAM_F32_SIGN + lam_f32_decay(octaves), 0), 56);
}

#endif /* LAM_F32_SOFT_H */
