/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The square root of a float32, rounded to nearest even: the chip's instruction, or an exact root of an integer.
 */
#ifndef LAM_F32_SQRT_H
#define LAM_F32_SQRT_H

#include "lam_f32.h"

/* The root without an instruction for it. */
static inline float lam_f32_sqrt_exact(float x)
{
    uint32_t bits = lam_f32_bits(x);
    if ((bits & ~LAM_F32_SIGN) == 0u || bits == LAM_F32_INFINITY || lam_f32_is_nan(x)) {
        return x;
    }
    if ((bits & LAM_F32_SIGN) != 0u) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    /* x = bits * 2^power, bits from 2^23 on */
    int32_t power = (int32_t)(bits >> 23) - 150;
    if (power > -150) {
        bits = (bits & 0x7FFFFFu) | 0x800000u;
    } else {
        for (power = -149; bits < 0x800000u; power--) {
            bits <<= 1;
        }
    }
    if (power % 2 != 0) {
        bits <<= 1;
        power--;
    }
    /* 26 more bits in front make 25 or 26 of the root; what is left over decides halves */
    const uint64_t square = (uint64_t)bits << 26;
    uint32_t root = 0u;
    for (uint32_t bit = 1u << 25; bit != 0u; bit >>= 1) {
        const uint64_t more = root + bit;
        if (more * more <= square) {
            root += bit;
        }
    }
    const uint32_t rest = (uint64_t)root * root != square ? 1u : 0u;
    const float whole = (float)(int32_t)((root << 2) | rest);
    return whole * lam_f32_from_bits((uint32_t)(power / 2 - 13 - 2 + 127) << 23);
}

static inline float lam_f32_sqrt(float x)
{
#if defined(__GNUC__) && defined(__SSE2__)
    __asm__("sqrtss %0, %0" : "+x"(x));
    return x;
#elif defined(__GNUC__) && defined(__aarch64__)
    __asm__("fsqrt %s0, %s0" : "+w"(x));
    return x;
#elif defined(__GNUC__) && defined(__ARM_FP) && (__ARM_FP & 4) && !defined(__SOFTFP__)
    __asm__("vsqrt.f32 %0, %0" : "+t"(x));
    return x;
#elif defined(__GNUC__) && defined(__riscv_flen)
    __asm__("fsqrt.s %0, %0" : "+f"(x));
    return x;
#else
    return lam_f32_sqrt_exact(x);
#endif
}

#endif /* LAM_F32_SQRT_H */
