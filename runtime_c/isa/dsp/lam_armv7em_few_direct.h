/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * One pixel by one to four channels of 4 and of 2 bits, inputs widened where they lie: no column is made, and each four channels widen
 * them anew.  Words are those of lam_armv7em_few.h, in turn among the channels; behind the last input zeros are read in place of
 * what makes it a whole four.
 */
#ifndef LAM_ARMV7EM_FEW_DIRECT_H
#define LAM_ARMV7EM_FEW_DIRECT_H

#include "lam_armv7em_few.h"

/* The next four bytes, of which `count` are left; zeros behind them. */
LAM_INLINE uint32_t lam_few_word(const uint8_t *x, int32_t count)
{
    uint32_t word = 0;
    if (count >= 4) {
        return lam_word(x);
    }
    for (int32_t i = 0; i < count; i++) {
        word |= (uint32_t)x[i] << (8 * i);
    }
    return word;
}

/* The sum of so many bytes. */
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
    for (int32_t left = count & 7; left > 0; left -= 4, x += 4) {
        const uint32_t last = lam_few_word(x, left) ^ turned;
        __asm__("usada8 %0, %1, %2, %0" : "+r"(sum) : "r"(last), "r"(0));
    }
    return (int32_t)sum - (is_signed ? 128 * ((count + 3) & ~3) : 0);
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

/* The products of `count` inputs. */
LAM_INLINE const uint32_t *lam_few_direct(int32_t *acc, const void *bytes, const uint32_t *w, int32_t count, int32_t channels,
                                          int32_t bits, int is_signed)
{
    const uint8_t *x = (const uint8_t *)bytes;
    const int32_t last = 16 - 2 * bits; /* where the last four of a word begin */
    int32_t at = 0;
    for (int32_t left = count; left > 0; left -= 4, x += 4) {
        const uint32_t word = lam_few_word(x, left);
        const uint32_t even = is_signed ? lam_even_s8(word) : lam_even_u8(word);
        const uint32_t odd = is_signed ? lam_odd_s8(word) : lam_odd_u8(word);
        for (int32_t c = 0; c < channels; c++) {
            acc[c] = lam_both(lam_few_pair(w[c], at, bits), even, acc[c]);
            acc[c] = lam_both(lam_few_pair(w[c], at + bits, bits), odd, acc[c]);
        }
        w += (at == last) ? channels : 0;
        at = (at == last) ? 0 : at + 2 * bits;
    }
    return w + ((at != 0) ? channels : 0);
}

#if LAM_BLOCKS
/* Eight inputs by a word of each channel, or by half of one: 6 instructions, and 9 for each channel. */
#define LAM_FEW_WIDENED(extend) \
    "ldr r0, [%[x]], #4\n\t" \
    "ldr r2, [%[x]], #4\n\t" extend "16 r1, r0, ror #8\n\t" extend "16 r0, r0\n\t" extend "16 r3, r2, ror #8\n\t" extend \
    "16 r2, r2\n\t"
#define LAM_FEW_CHANNELS_1 LAM_1X4S4_ONE("a0")
#define LAM_FEW_CHANNELS_2 LAM_FEW_CHANNELS_1 LAM_1X4S4_ONE("a1")
#define LAM_FEW_CHANNELS_3 LAM_FEW_CHANNELS_2 LAM_1X4S4_ONE("a2")
#define LAM_FEW_CHANNELS_4 LAM_FEW_CHANNELS_3 LAM_1X4S4_ONE("a3")
#define LAM_FEW_LOWS_1 LAM_1X4S2_LOW("0", "a0")
#define LAM_FEW_LOWS_2 LAM_FEW_LOWS_1 LAM_1X4S2_LOW("4", "a1")
#define LAM_FEW_LOWS_3 LAM_FEW_LOWS_2 LAM_1X4S2_LOW("8", "a2")
#define LAM_FEW_LOWS_4 LAM_FEW_LOWS_3 LAM_1X4S2_LOW("12", "a3")
#define LAM_FEW_HIGHS_1 LAM_1X4S2_HIGH("a0")
#define LAM_FEW_HIGHS_2 LAM_FEW_HIGHS_1 LAM_1X4S2_HIGH("a1")
#define LAM_FEW_HIGHS_3 LAM_FEW_HIGHS_2 LAM_1X4S2_HIGH("a2")
#define LAM_FEW_HIGHS_4 LAM_FEW_HIGHS_3 LAM_1X4S2_HIGH("a3")
#define LAM_FEW_STEP_S4(channels, extend) LAM_FEW_WIDENED(extend) LAM_FEW_CHANNELS_##channels
#define LAM_FEW_STEP_S2(channels, extend) \
    LAM_FEW_WIDENED(extend) LAM_FEW_LOWS_##channels LAM_FEW_WIDENED(extend) LAM_FEW_HIGHS_##channels
#define LAM_FEW_EXTEND_S8 "sxtb"
#define LAM_FEW_EXTEND_U8 "uxtb"
#define LAM_FEW_DIRECT(channels, few, type) \
    const uint32_t *x = (const uint32_t *)bytes; \
    const int32_t steps = count / (32 / few); \
    LAM_FEW_SUMS(LAM_FEW_ASM_S##few, LAM_FEW_STEP_S##few(channels, LAM_FEW_EXTEND_##type), channels); \
    return lam_few_direct(acc, x, w, count % (32 / few), channels, few, LAM_FEW_IS_##type)
#else
#define LAM_FEW_DIRECT(channels, few, type) return lam_few_direct(acc, bytes, w, count, channels, few, LAM_FEW_IS_##type)
#endif
#define LAM_FEW_IS_S8 1
#define LAM_FEW_IS_U8 0

/* Adds the products of `count` inputs with each channel to its sum; returns the place behind the words. */
LAM_BLOCK const uint32_t *lam_few_direct_1s4_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(1, 4, S8);
}

LAM_BLOCK const uint32_t *lam_few_direct_1s4_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(1, 4, U8);
}

LAM_BLOCK const uint32_t *lam_few_direct_2s4_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(2, 4, S8);
}

LAM_BLOCK const uint32_t *lam_few_direct_2s4_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(2, 4, U8);
}

LAM_BLOCK const uint32_t *lam_few_direct_3s4_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(3, 4, S8);
}

LAM_BLOCK const uint32_t *lam_few_direct_3s4_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(3, 4, U8);
}

LAM_BLOCK const uint32_t *lam_few_direct_4s4_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(4, 4, S8);
}

LAM_BLOCK const uint32_t *lam_few_direct_4s4_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(4, 4, U8);
}

LAM_BLOCK const uint32_t *lam_few_direct_1s2_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(1, 2, S8);
}

LAM_BLOCK const uint32_t *lam_few_direct_1s2_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(1, 2, U8);
}

LAM_BLOCK const uint32_t *lam_few_direct_2s2_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(2, 2, S8);
}

LAM_BLOCK const uint32_t *lam_few_direct_2s2_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(2, 2, U8);
}

LAM_BLOCK const uint32_t *lam_few_direct_3s2_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(3, 2, S8);
}

LAM_BLOCK const uint32_t *lam_few_direct_3s2_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(3, 2, U8);
}

LAM_BLOCK const uint32_t *lam_few_direct_4s2_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(4, 2, S8);
}

LAM_BLOCK const uint32_t *lam_few_direct_4s2_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t count)
{
    LAM_FEW_DIRECT(4, 2, U8);
}

#endif /* LAM_ARMV7EM_FEW_DIRECT_H */
