/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums of 16-bit inputs by weights of 4 and of 2 bits, two products at a time.
 *
 * Inputs come in fours.  Each byte of a filter holds the fields of one input, without a sign, of two outputs, of four with 2
 * bits; of four inputs the bytes are those of the first, the third, the second and the fourth, so that a mask makes pairs.
 */
#ifndef LAM_ARMV7EM_FEW_S16_H
#define LAM_ARMV7EM_FEW_S16_H

#include "lam_armv7em_few.h"
#include "lam_armv7em_s16.h"

/* The sum of so many inputs, which come in fours. */
static inline int32_t lam_few_s16_total(const int16_t *x, int32_t inputs)
{
    int32_t total = 0;
    for (int32_t m = 0; m < inputs; m += 4) {
        total = lam_both(lam_s16_pair(x + m), 0x00010001u, total);
        total = lam_both(lam_s16_pair(x + m + 2), 0x00010001u, total);
    }
    return total;
}

#if LAM_BLOCKS && defined(__ARMEL__)

/* Four inputs, and the products of two of them with a pair of fields of a word: left to choose registers for four sums, the
 * compiler copies these in each turn. */
#define LAM_FEW_S16_INPUTS \
    "ldr r1, [%[x]], #4\n\t" \
    "ldr r2, [%[x]], #4\n\t"
#define LAM_FEW_S16_WORD "ldr r0, [%[w]], #4\n\t"
#define LAM_FEW_S16_BOTH(at, x, acc) \
    "and r3, r4, r0" at "\n\t" \
    "smlad %[" acc "], " x ", r3, %[" acc "]\n\t"
#define LAM_FEW_S16_WORD_4(acc0, acc1) \
    LAM_FEW_S16_WORD LAM_FEW_S16_BOTH("", "r1", acc0) LAM_FEW_S16_BOTH(", lsr #4", "r1", acc1) \
        LAM_FEW_S16_BOTH(", lsr #8", "r2", acc0) LAM_FEW_S16_BOTH(", lsr #12", "r2", acc1)
#define LAM_FEW_S16_FOUR_4 LAM_FEW_S16_INPUTS LAM_FEW_S16_WORD_4("a0", "a1")
#define LAM_FEW_S16_FOUR_4_TWO LAM_FEW_S16_FOUR_4 LAM_FEW_S16_WORD_4("a2", "a3")
#define LAM_FEW_S16_FOUR_2 \
    LAM_FEW_S16_INPUTS LAM_FEW_S16_WORD LAM_FEW_S16_BOTH("", "r1", "a0") LAM_FEW_S16_BOTH(", lsr #2", "r1", "a1") \
        LAM_FEW_S16_BOTH(", lsr #4", "r1", "a2") LAM_FEW_S16_BOTH(", lsr #6", "r1", "a3") LAM_FEW_S16_BOTH(", lsr #8", "r2", "a0") \
            LAM_FEW_S16_BOTH(", lsr #10", "r2", "a1") LAM_FEW_S16_BOTH(", lsr #12", "r2", "a2") \
                LAM_FEW_S16_BOTH(", lsr #14", "r2", "a3")

/* Eights, and four that are left, by a mask of fields; `bytes` bytes of filters for each eight. */
#define LAM_FEW_S16_SUMS(mask, four, bytes) \
    register int32_t a0 __asm__("r8") = acc[0]; \
    register int32_t a1 __asm__("r9") = acc[1]; \
    register int32_t a2 __asm__("r10") = acc[2]; \
    register int32_t a3 __asm__("r11") = acc[3]; \
    register const int16_t *x_ __asm__("r5") = x; \
    register const uint8_t *w_ __asm__("r6") = w; \
    for (const uint8_t *const end = w_ + (inputs >> 3) * (bytes); w_ != end;) { \
        LAM_FOUR_SUMS_ASM("mov r4, #" mask "\n\t" four four); \
    } \
    if ((inputs & 4) != 0) { \
        LAM_FOUR_SUMS_ASM("mov r4, #" mask "\n\t" four); \
    } \
    acc[0] = a0; \
    acc[1] = a1; \
    acc[2] = a2; \
    acc[3] = a3

/* Their products with the fields of a filter of 2 bits, and of two filters of 4 bits, whose words lie in turn: four outputs. */
static inline void lam_few_s16_2(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
    LAM_FEW_S16_SUMS("0x00030003", LAM_FEW_S16_FOUR_2, 8);
}

static inline void lam_few_s16_4_two(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
    LAM_FEW_S16_SUMS("0x000F000F", LAM_FEW_S16_FOUR_4_TWO, 16);
}

/* The same of one filter of 4 bits, two outputs. */
static inline void lam_few_s16_4(int32_t *sums, const int16_t *x, const uint8_t *w, int32_t inputs)
{
    int32_t acc[4] = { sums[0], sums[1], 0, 0 };
    LAM_FEW_S16_SUMS("0x000F000F", LAM_FEW_S16_FOUR_4, 8);
    sums[0] = acc[0];
    sums[1] = acc[1];
}

#else

/* The products of inputs with the fields of filters, whose words lie in turn, each of so many outputs. */
static inline void lam_few_s16_dot(int32_t *acc, int32_t filters, const int16_t *x, const uint8_t *w, int32_t inputs, int32_t bits)
{
    const int32_t outputs = 8 / bits;
    for (int32_t m = 0; m < inputs; m += 4) {
        const uint32_t low = lam_s16_pair(x + m), high = lam_s16_pair(x + m + 2);
        for (int32_t f = 0; f < filters; f++, w += 4) {
            const uint32_t few = lam_word(w);
            for (int32_t o = 0; o < outputs; o++) {
                int32_t *const sum = acc + f * outputs + o;
                *sum = lam_both(low, lam_few_pair(few, o * bits, bits), *sum);
                *sum = lam_both(high, lam_few_pair(few, 8 + o * bits, bits), *sum);
            }
        }
    }
}

static inline void lam_few_s16_4(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
    lam_few_s16_dot(acc, 1, x, w, inputs, 4);
}

static inline void lam_few_s16_4_two(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
    lam_few_s16_dot(acc, 2, x, w, inputs, 4);
}

static inline void lam_few_s16_2(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
    lam_few_s16_dot(acc, 1, x, w, inputs, 2);
}

#endif

#endif /* LAM_ARMV7EM_FEW_S16_H */
