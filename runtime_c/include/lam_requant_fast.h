/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Requantization from the high half of one product, for 32-bit chips.  Exact: the derivation is in
 * codegen/lower/kernels/fast.py; the compiler uses it only where the stated ranges hold.
 *
 * lam_twice_* give twice the output value, with one half added and before saturation; lam_halved_* halve it (floor) and
 * saturate to a type.
 *
 *   centre   2 * zero point + 1
 */
#ifndef LAM_REQUANT_FAST_H
#define LAM_REQUANT_FAST_H

#include "lam_base.h"
#include "lam_requant.h"

/* Mode `single`.
 *
 *   multiplier  0, or 2^30 .. 2^31 - 1
 *   shift       the right shift less 33, 0 .. 29
 */
static inline int32_t lam_twice_single(int32_t acc, int32_t multiplier, int32_t shift, int32_t centre)
{
    return ((int32_t)(((int64_t)acc * multiplier) >> 32) >> shift) + centre;
}

/* Mode `double`.
 *
 *   acc         -2^30 + 1 .. 2^30 - 1
 *   multiplier  0, or 2^30 .. 2^31 - 1
 *   shift       the right shift less 1, 0 .. 30
 */
static inline int32_t lam_twice_double(int32_t acc, int32_t multiplier, int32_t shift, int32_t centre)
{
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
    int32_t rounded;
    __asm__("smmulr %0, %1, %2" : "=r"(rounded) : "r"(acc * 2), "r"(multiplier));
#else
    const int32_t rounded = (int32_t)(((int64_t)acc * multiplier + ((int64_t)1 << 30)) >> 31);
#endif
    return ((rounded + (rounded >> 31)) >> shift) + centre;
}

/* floor(v / 2), saturated to -128 .. 127. */
static inline int32_t lam_halved_s8(int32_t v)
{
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
    int32_t half;
    __asm__("ssat %0, #8, %1, asr #1" : "=r"(half) : "r"(v));
    return half;
#else
    return lam_clamp_i32(v >> 1, -128, 127);
#endif
}

/* floor(v / 2), saturated to 0 .. 255. */
static inline int32_t lam_halved_u8(int32_t v)
{
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
    int32_t half;
    __asm__("usat %0, #8, %1, asr #1" : "=r"(half) : "r"(v));
    return half;
#else
    return lam_clamp_i32(v >> 1, 0, 255);
#endif
}

/* floor(v / 2), saturated to 0 .. 127. */
static inline int32_t lam_halved_u7(int32_t v)
{
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
    int32_t half;
    __asm__("usat %0, #7, %1, asr #1" : "=r"(half) : "r"(v));
    return half;
#else
    return lam_clamp_i32(v >> 1, 0, 127);
#endif
}

#endif /* LAM_REQUANT_FAST_H */
