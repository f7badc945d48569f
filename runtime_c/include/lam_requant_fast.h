/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Requantization from the high half of one product, for 32-bit chips.  Exact: the derivation is in
 * codegen/kernels/fast.py; the compiler uses it only where the stated ranges hold.
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

/* Cores without a 64-bit product: ARMv6-M, ARMv8-M Baseline.  Other compilers may ask for the same. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1 && !defined(LAM_NO_LONG_PRODUCT)
#define LAM_NO_LONG_PRODUCT 1
#endif

/* floor(a * b / 2^32); b is 0 .. 2^31 - 1.
 *
 * Without a 64-bit product, four of 16 x 16 bits: with a = ah * 2^16 + al and b = bh * 2^16 + bl, ah signed,
 *
 *   floor(a * b / 2^32) = ah * bh + floor((ah * bl + m) / 2^16),  m = al * bh + floor(al * bl / 2^16)
 *
 * where m < 2^31 and |ah * bl| < 2^31; their sum may need 33 bits and is taken in two parts.
 */
static inline int32_t lam_high_product(int32_t a, int32_t b)
{
#if defined(LAM_NO_LONG_PRODUCT)
    const uint32_t al = (uint32_t)a & 0xFFFFu, bl = (uint32_t)b & 0xFFFFu;
    const int32_t ah = a >> 16, bh = b >> 16;
    const uint32_t m = al * (uint32_t)bh + ((al * bl) >> 16);
    const int32_t rest = (ah * (int32_t)bl + (int32_t)(m & 0xFFFFu)) >> 16;
    return ah * bh + rest + (int32_t)(m >> 16);
#else
    return (int32_t)(((int64_t)a * b) >> 32);
#endif
}

/* floor((a * b + 2^31) / 2^32), b as above and a even: the doubling rounding high product of a / 2 and b. */
static inline int32_t lam_high_product_rounded(int32_t a, int32_t b)
{
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
    int32_t rounded;
    __asm__("smmulr %0, %1, %2" : "=r"(rounded) : "r"(a), "r"(b));
    return rounded;
#elif defined(LAM_NO_LONG_PRODUCT)
    return lam_high_product(a, b) + (int32_t)(((uint32_t)a * (uint32_t)b) >> 31);
#else
    const int64_t product = (int64_t)a * b;
    return (int32_t)(product >> 32) + (int32_t)(((uint64_t)product >> 31) & 1u);
#endif
}

/* The same and `more` besides. */
static inline int32_t lam_high_product_and(int32_t a, int32_t b, int32_t more)
{
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
    int32_t sum;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(sum) : "r"(a), "r"(b), "r"(more));
    return sum;
#else
    return lam_high_product_rounded(a, b) + more;
#endif
}

/* floor((a * b + 2^31) / 2^32), of results that fit. */
static inline int32_t lam_high_product_unsigned(int32_t a, uint32_t b)
{
    const int64_t product = (int64_t)a * b;
    return (int32_t)(product >> 32) + (int32_t)(((uint64_t)product >> 31) & 1u);
}

/* floor((2 * a * b + 2^31) / 2^32), b 2^30 .. 2^31 - 1, of results that fit: a and the product with 2 * b - 2^32. */
static inline int32_t lam_high_product_doubled(int32_t a, int32_t b)
{
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
    int32_t rounded;
    __asm__("smmlar %0, %1, %2, %1" : "=r"(rounded) : "r"(a), "r"((uint32_t)b << 1));
    return rounded;
#elif defined(__thumb2__) && defined(__GNUC__)
    uint32_t low; /* a * 2^32 + 2^31 and, by SMLAL, a * (2 * b - 2^32) */
    __asm__("mov.w %0, #0x80000000\n\tsmlal %0, %1, %1, %2" : "=&r"(low), "+r"(a) : "r"((uint32_t)b << 1));
    return a;
#elif defined(__riscv)
    return lam_high_product_unsigned(a, (uint32_t)b << 1); /* twice b: once for all outputs of a channel */
#else
    return lam_high_product_rounded((int32_t)(uint32_t)((uint64_t)(uint32_t)a << 1), b); /* the low 32 bits of 2 a */
#endif
}

/* Mode `single`.
 *
 *   multiplier  2^30 .. 2^31 - 1
 *   shift       the right shift less 33, 0 .. 30
 */
static inline int32_t lam_twice_single(int32_t acc, int32_t multiplier, int32_t shift, int32_t centre)
{
    return (lam_high_product(acc, multiplier) >> shift) + centre;
}

/* Mode `single` of larger factors.
 *
 *   acc         less than 2^25 in size
 *   multiplier  2^30 .. 2^31 - 1
 *   shift       the right shift less 27, 0 .. 30
 */
static inline int32_t lam_twice_raised(int32_t acc, int32_t multiplier, int32_t shift, int32_t centre)
{
    return (lam_high_product((int32_t)((uint32_t)acc << 6), multiplier) >> shift) + centre;
}

/* Mode `tflite`.
 *
 *   acc         -2^30 + 1 .. 2^30 - 1
 *   multiplier  2^30 .. 2^31 - 1
 *   shift       the right shift less 1, 0 .. 30
 */
static inline int32_t lam_twice_tflite(int32_t acc, int32_t multiplier, int32_t shift, int32_t centre)
{
    const int32_t rounded = lam_high_product_doubled(acc, multiplier);
    return ((rounded - ((rounded < 0) ? 1 : 0)) >> shift) + centre;
}

/* The same where all that is not above the zero point, -128 or more, becomes the least output.
 *
 * RISC-V has no instruction that saturates: sums that are not above 0 take the least value there is, which the clamp that
 * follows turns into the least output, and leave out the product and all that comes after it.
 */
static inline int32_t lam_twice_low(int32_t acc, int32_t multiplier, int32_t shift, int32_t centre)
{
#if defined(__riscv) && defined(__GNUC__)
    const uint32_t doubled = (uint32_t)multiplier << 1; /* for all outputs of a channel: not in the branch */
    int32_t twice = INT32_MIN;
    if (acc > 0) {
        twice = (lam_high_product_unsigned(acc, doubled) >> shift) + centre;
        if (twice < 2 * -128 + 1) {
            __builtin_unreachable(); /* above the zero point: no lower bound is to be looked at */
        }
    }
    return twice;
#else
    return (lam_high_product_doubled(acc, multiplier) >> shift) + centre;
#endif
}

/* Mode `tflite` with any exponent e: a shift below 0 is -1 - e for an e of 0 and more.  What depends on the shift alone is the
 * same for all outputs of a channel.
 *
 *   acc         acc and acc * 2^e less than 2^29 in size
 */
static inline int32_t lam_twice_any(int32_t acc, int32_t multiplier, int32_t shift, int32_t centre)
{
    const int32_t left = (shift < 0) ? -1 - shift : 0, right = (shift < 0) ? 0 : shift + 1, away = (shift < 0) ? 0 : -1;
    const int32_t rounded = lam_high_product_doubled((int32_t)((uint32_t)acc << left), multiplier);
    return (((rounded + ((rounded < 0) ? away : 0)) * 2) >> right) + centre;
}

/* Mode `tflite` by one product and one sum (codegen/kernels/lined.py): the output value before saturation.
 *
 *   addend      its last byte is a right shift of 0 .. 30: what a shift by a register reads of it
 */
static inline int32_t lam_lined(int32_t acc, int32_t multiplier, int32_t addend)
{
    const int32_t sum = lam_high_product(acc, multiplier) + addend;
#if defined(__thumb2__) && defined(__GNUC__)
    int32_t shifted;
    __asm__("asr %0, %1, %2" : "=r"(shifted) : "r"(sum), "r"(addend));
    return shifted;
#else
    return sum >> (addend & 31);
#endif
}

/* v / 2^shift, shift 1 .. 31, halves away from zero; `half` is 2^(shift - 1). */
static inline int32_t lam_divided_away(int32_t v, int32_t shift, int32_t half)
{
    return (v - ((v < 0) ? 1 : 0) + half) >> shift;
}

/* v limited to low .. high. */
static inline int32_t lam_limited(int32_t v, int32_t low, int32_t high)
{
    int32_t limited = lam_clamp_i32(v, low, high);
#if defined(__riscv) && defined(__GNUC__)
    __asm__("" : "+r"(limited)); /* no effect: the bounds are constants, but else the type's are found again, by two shifts */
#endif
    return limited;
}

/* floor(v / 2), saturated to -128 .. 127. */
static inline int32_t lam_halved_s8(int32_t v)
{
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
    int32_t half;
    __asm__("ssat %0, #8, %1, asr #1" : "=r"(half) : "r"(v));
    return half;
#else
    return lam_limited(v >> 1, -128, 127);
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
    return lam_limited(v >> 1, 0, 255);
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
    return lam_limited(v >> 1, 0, 127);
#endif
}

/* v, saturated to -128 .. 127. */
static inline int32_t lam_saturated_s8(int32_t v)
{
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
    int32_t saturated;
    __asm__("ssat %0, #8, %1" : "=r"(saturated) : "r"(v));
    return saturated;
#else
    return lam_limited(v, -128, 127);
#endif
}

/* v, saturated to 0 .. 255. */
static inline int32_t lam_saturated_u8(int32_t v)
{
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
    int32_t saturated;
    __asm__("usat %0, #8, %1" : "=r"(saturated) : "r"(v));
    return saturated;
#else
    return lam_limited(v, 0, 255);
#endif
}

/* v, saturated to 0 .. 127. */
static inline int32_t lam_saturated_u7(int32_t v)
{
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
    int32_t saturated;
    __asm__("usat %0, #7, %1" : "=r"(saturated) : "r"(v));
    return saturated;
#else
    return lam_limited(v, 0, 127);
#endif
}

#endif /* LAM_REQUANT_FAST_H */
