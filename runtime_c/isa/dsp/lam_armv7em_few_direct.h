/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * One pixel by one to four channels of 4 bits, inputs widened where they lie: no column is made, and each four channels widen
 * them anew.  Inputs are whole fours; words are those of lam_armv7em_few.h, in turn among the channels.
 */
#ifndef LAM_ARMV7EM_FEW_DIRECT_H
#define LAM_ARMV7EM_FEW_DIRECT_H

#include "lam_armv7em_few.h"

/* The sum of so many bytes, whole fours. */
LAM_INLINE int32_t lam_few_total(const void *bytes, int32_t count, int is_signed)
{
    const uint8_t *x = (const uint8_t *)bytes;
#if LAM_BLOCKS
    /* with the sign bit turned each is 128 more */
    const uint32_t turned = is_signed ? 0x80808080u : 0u;
    uint32_t sum = 0;
    for (const uint8_t *const end = x + (count & ~7); x != end; x += 8) {
        const uint32_t a = lam_word(x) ^ turned, b = lam_word(x + 4) ^ turned;
        __asm__("usada8 %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(0));
        __asm__("usada8 %0, %1, %2, %0" : "+r"(sum) : "r"(b), "r"(0));
    }
    if ((count & 4) != 0) {
        const uint32_t last = lam_word(x) ^ turned;
        __asm__("usada8 %0, %1, %2, %0" : "+r"(sum) : "r"(last), "r"(0));
    }
    return (int32_t)sum - (is_signed ? 128 * count : 0);
#else
    int32_t sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += is_signed ? (int8_t)x[i] : x[i];
    }
    return sum;
#endif
}

LAM_BLOCK int32_t lam_few_total_s8(const void *bytes, int32_t count)
{
    return lam_few_total(bytes, count, 1);
}

LAM_BLOCK int32_t lam_few_total_u8(const void *bytes, int32_t count)
{
    return lam_few_total(bytes, count, 0);
}

/* The products of `groups` fours of inputs. */
LAM_INLINE const uint32_t *lam_few_direct(int32_t *acc, const void *bytes, const uint32_t *w, int32_t groups, int32_t channels,
                                          int is_signed)
{
    const uint8_t *x = (const uint8_t *)bytes;
    for (int32_t i = 0; i < groups; i++, x += 4) {
        const uint32_t word = lam_word(x);
        const uint32_t even = is_signed ? lam_even_s8(word) : lam_even_u8(word);
        const uint32_t odd = is_signed ? lam_odd_s8(word) : lam_odd_u8(word);
        const int32_t at = 8 * (i & 1);
        for (int32_t c = 0; c < channels; c++) {
            acc[c] = lam_both(lam_few_pair(w[c], at, 4), even, acc[c]);
            acc[c] = lam_both(lam_few_pair(w[c], at + 4, 4), odd, acc[c]);
        }
        w += (at != 0) ? channels : 0;
    }
    return w + (((groups & 1) != 0) ? channels : 0);
}

#if LAM_BLOCKS
/* Eight inputs by a word of each channel: 6 instructions, and 9 for each channel. */
#define LAM_FEW_WIDENED(extend) \
    "ldr r0, [%[x]], #4\n\t" \
    "ldr r2, [%[x]], #4\n\t" extend "16 r1, r0, ror #8\n\t" extend "16 r0, r0\n\t" extend "16 r3, r2, ror #8\n\t" extend \
    "16 r2, r2\n\t"
#define LAM_FEW_CHANNELS_1 LAM_1X4S4_ONE("a0")
#define LAM_FEW_CHANNELS_2 LAM_FEW_CHANNELS_1 LAM_1X4S4_ONE("a1")
#define LAM_FEW_CHANNELS_3 LAM_FEW_CHANNELS_2 LAM_1X4S4_ONE("a2")
#define LAM_FEW_CHANNELS_4 LAM_FEW_CHANNELS_3 LAM_1X4S4_ONE("a3")
#define LAM_FEW_STEP_S8(channels) LAM_FEW_WIDENED("sxtb") LAM_FEW_CHANNELS_##channels
#define LAM_FEW_STEP_U8(channels) LAM_FEW_WIDENED("uxtb") LAM_FEW_CHANNELS_##channels
#define LAM_FEW_DIRECT(channels, step, is_signed) \
    const uint32_t *x = (const uint32_t *)bytes; \
    const int32_t steps = groups >> 1; \
    LAM_FEW_SUMS(LAM_FEW_ASM_S4, step(channels), channels); \
    return lam_few_direct(acc, x, w, groups & 1, channels, is_signed)
#else
#define LAM_FEW_DIRECT(channels, step, is_signed) return lam_few_direct(acc, bytes, w, groups, channels, is_signed)
#endif

/* Adds the products of `groups` fours of inputs with each channel to its sum; returns the place behind the words. */
LAM_BLOCK const uint32_t *lam_few_direct_1_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t groups)
{
    LAM_FEW_DIRECT(1, LAM_FEW_STEP_S8, 1);
}

LAM_BLOCK const uint32_t *lam_few_direct_1_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t groups)
{
    LAM_FEW_DIRECT(1, LAM_FEW_STEP_U8, 0);
}

LAM_BLOCK const uint32_t *lam_few_direct_2_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t groups)
{
    LAM_FEW_DIRECT(2, LAM_FEW_STEP_S8, 1);
}

LAM_BLOCK const uint32_t *lam_few_direct_2_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t groups)
{
    LAM_FEW_DIRECT(2, LAM_FEW_STEP_U8, 0);
}

LAM_BLOCK const uint32_t *lam_few_direct_3_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t groups)
{
    LAM_FEW_DIRECT(3, LAM_FEW_STEP_S8, 1);
}

LAM_BLOCK const uint32_t *lam_few_direct_3_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t groups)
{
    LAM_FEW_DIRECT(3, LAM_FEW_STEP_U8, 0);
}

LAM_BLOCK const uint32_t *lam_few_direct_4_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t groups)
{
    LAM_FEW_DIRECT(4, LAM_FEW_STEP_S8, 1);
}

LAM_BLOCK const uint32_t *lam_few_direct_4_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t groups)
{
    LAM_FEW_DIRECT(4, LAM_FEW_STEP_U8, 0);
}

#endif /* LAM_ARMV7EM_FEW_DIRECT_H */
