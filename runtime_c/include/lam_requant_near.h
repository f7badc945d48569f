/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The whole step from accumulator to activation for ordinary scales, in 32-bit steps after one wide product: rounding and
 * zero point are one addend, so that a value costs a high multiply, an addition, a shift and a saturation.  Same values
 * as lam_requant_single_q and lam_requant_double_q wherever the conditions hold; codegen/lower/kernels/near.py proves
 * them for each layer.
 *
 * Common to all:
 *
 *   multiplier  0 .. 2^31 - 1
 *   shift       1 .. 21
 *   addend      (2 * zp + 1) * 2^(shift - 1), |zp| <= 255: half a step, and the zero point in steps
 *
 * Every result is before saturation, with its zero point.  No state, no undefined behaviour within the ranges stated.
 */
#ifndef LAM_REQUANT_NEAR_H
#define LAM_REQUANT_NEAR_H

#include "lam_base.h"

LAM_STATIC_ASSERT(((int32_t)-1 >> 1) == (int32_t)-1, near_right_shift_of_int32_is_arithmetic);
LAM_STATIC_ASSERT(((int64_t)-3 >> 1) == (int64_t)-2, near_right_shift_of_int64_is_arithmetic);

/* (2 * zp + 1) * 2^(shift - 1), from 2 * zp + 1. */
static inline int32_t lam_near_addend(int32_t twice_zp_1, int32_t shift)
{
    return twice_zp_1 * ((int32_t)1 << (shift - 1));
}

/* floor(a * b / 2^32) for b from 0 to 2^31 - 1.
 *
 * Cores without a 64-bit product (ARMv6-M, ARMv8-M Baseline) take four of 16 x 16 bits: with a = ah * 2^16 + al and
 * b = bh * 2^16 + bl (ah signed),
 *
 *   floor(a * b / 2^32) = ah * bh + floor((ah * bl + m) / 2^16),  m = al * bh + floor(al * bl / 2^16)
 *
 * where m < 2^31, and the sum is taken in two parts, for it may need 33 bits.
 */
static inline int32_t lam_near_high(int32_t a, int32_t b)
{
#if defined(LAM_NEAR_NO_LONG_PRODUCT) || (defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1)
    const uint32_t al = (uint32_t)a & 0xFFFFu, bl = (uint32_t)b & 0xFFFFu;
    const int32_t ah = a >> 16, bh = b >> 16;
    const uint32_t m = al * (uint32_t)bh + ((al * bl) >> 16);
    const int32_t rest = (ah * (int32_t)bl + (int32_t)(m & 0xFFFFu)) >> 16;
    return ah * bh + rest + (int32_t)(m >> 16);
#else
    return (int32_t)(((int64_t)a * b) >> 32);
#endif
}

/* Mode `single`, multiplier and shift + 32 as lam_requant_single_q has them.
 *
 *   floor((acc * M + 2^(s-1)) / 2^s) + zp = floor((floor(acc * M / 2^32) + (2 * zp + 1) * 2^(s-33)) / 2^(s-32))
 *
 * The high half is at most 2^30, the addend at most 511 * 2^20: the sum stays below 2^31.
 */
static inline int32_t lam_near_single(int32_t acc, int32_t multiplier, int32_t shift, int32_t addend)
{
    return (lam_near_high(acc, multiplier) + addend) >> shift;
}

/* floor((twice * M + 2^31) / 2^32): TFLite's rounding doubling high multiply of `twice` / 2 and M, for an even `twice`.
 * It is the high half plus the highest bit of the low one. */
static inline int32_t lam_near_doubled(int32_t twice, int32_t multiplier)
{
#if defined(LAM_NEAR_NO_LONG_PRODUCT) || (defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1)
    const uint32_t low = (uint32_t)twice * (uint32_t)multiplier;
    return lam_near_high(twice, multiplier) + (int32_t)(low >> 31);
#else
    const int64_t product = (int64_t)twice * multiplier;
    return (int32_t)(product >> 32) + (int32_t)((uint32_t)((uint64_t)product & 0xFFFFFFFFu) >> 31);
#endif
}

/* (v / 2^shift, halves away from zero) with what `addend` adds to it: half a step, less one for a negative value. */
static inline int32_t lam_near_divided(int32_t v, int32_t shift, int32_t addend)
{
    return (v + (v >> 31) + addend) >> shift;
}

/* Mode `double`, shift being minus the exponent of lam_requant_double_q; |acc| < 2^30. */
static inline int32_t lam_near_double(int32_t acc, int32_t multiplier, int32_t shift, int32_t addend)
{
    return lam_near_divided(lam_near_doubled(2 * acc, multiplier), shift, addend);
}

#endif /* LAM_REQUANT_NEAR_H */
