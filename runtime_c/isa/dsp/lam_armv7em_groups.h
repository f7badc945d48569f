/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers on weights of 4 bits with a factor of 16 bits per group of inputs: one pixel by four channels, two by two, or
 * three by one.
 *
 * The column of a pixel, or of two, in words: four totals, then for each whole group
 *
 *   4 words   the sum of its inputs, of two pixels in turn; times -8, where groups have no zero points
 *   1 word    the mask of a pair of fields, times two, and 1 where a group follows
 *   pairs     its inputs, as lam_widen_s8 makes them: of two pixels four inputs in turn
 *   4 words   the totals with this group: channel by channel, the pixels of each
 *
 * That of three pixels has three totals, and three sums of inputs.
 *
 * The weights of four channels: for each group a byte of each, or 16 bits, what is added to its fields, if there are zero points;
 * its words as lam_armv7em_few.h has them, two groups of four in each; and the factor of each channel.  Those of two have 16 bits.
 */
#ifndef LAM_ARMV7EM_GROUPS_H
#define LAM_ARMV7EM_GROUPS_H

#include "lam_armv7em_few.h"

#define LAM_GROUPS_TOTALS 4
#define LAM_GROUPS_HEAD 5
#define LAM_THREES_TOTALS 3
#define LAM_THREES_HEAD 4

/* The factor of channel c, of the two words that hold those of four; what is added to its fields, of one word or two. */
static inline int32_t lam_groups_factor(const uint32_t *w, int32_t c)
{
    return (int16_t)(uint16_t)((w[c / 2] >> (16 * (c % 2))) & 0xFFFFu);
}

static inline int32_t lam_groups_zero(const uint32_t *w, int32_t c, int32_t words)
{
    return words == 2 ? lam_groups_factor(w, c) : (int8_t)(uint8_t)((w[0] >> (8 * c)) & 0xFFu);
}

#if LAM_BLOCKS

#define LAM_GROUPS_ZEROS_0 ""
#define LAM_GROUPS_ZERO(a) \
    "ldrsb r4, [%[w]], #1\n\t" \
    "mul %[" a "], %[" a "], r4\n\t"
#define LAM_GROUPS_ZEROS_1 LAM_GROUPS_ZERO("a0") LAM_GROUPS_ZERO("a1") LAM_GROUPS_ZERO("a2") LAM_GROUPS_ZERO("a3")
#define LAM_GROUPS_ZEROS_2 \
    "ldrd r0, r1, [%[w]], #8\n\t" \
    "smulbt %[a1], %[a0], r0\n\t" \
    "smulbb %[a2], %[a0], r1\n\t" \
    "smulbt %[a3], %[a0], r1\n\t" \
    "smulbb %[a0], %[a0], r0\n\t"
#define LAM_GROUPS_OWN_0 ""
#define LAM_GROUPS_OWN_1 \
    "ldr r4, [%[w]], #4\n\t" \
    "smulbt %[a2], %[a2], r4\n\t" \
    "smulbt %[a3], %[a3], r4\n\t" \
    "smulbb %[a0], %[a0], r4\n\t" \
    "smulbb %[a1], %[a1], r4\n\t"
#define LAM_GROUPS_TIMES(total, a) \
    "ldrsh r4, [%[w]], #2\n\t" \
    "mla " total ", %[" a "], r4, " total "\n\t"
/* Totals in r0 to r3 and sums by their factors: of 32 bits, or of 16. */
#define LAM_GROUPS_SCALED_0 \
    LAM_GROUPS_TIMES("r0", "a0") LAM_GROUPS_TIMES("r1", "a1") LAM_GROUPS_TIMES("r2", "a2") LAM_GROUPS_TIMES("r3", "a3")
#define LAM_GROUPS_SCALED_1 \
    "ldrd r4, r12, [%[w]], #8\n\t" \
    "smlabb r0, %[a0], r4, r0\n\t" \
    "smlabt r1, %[a1], r4, r1\n\t" \
    "smlabb r2, %[a2], r12, r2\n\t" \
    "smlabt r3, %[a3], r12, r3\n\t"
/* The same of two pixels by two channels. */
#define LAM_GROUPS_BOTH_0 \
    LAM_GROUPS_TIMES("r0", "a0") \
    "mla r1, %[a1], r4, r1\n\t" LAM_GROUPS_TIMES("r2", "a2") \
    "mla r3, %[a3], r4, r3\n\t"
#define LAM_GROUPS_BOTH_1 \
    "ldr r4, [%[w]], #4\n\t" \
    "smlabb r0, %[a0], r4, r0\n\t" \
    "smlabb r1, %[a1], r4, r1\n\t" \
    "smlabt r2, %[a2], r4, r2\n\t" \
    "smlabt r3, %[a3], r4, r3\n\t"
/* Eight inputs of two pixels by two channels, the pair of fields in r7: 27 instructions per 32 products. */
#define LAM_GROUPS_PAIR(from, at, x0, x1, a, b) \
    "and r7, lr, " from at "\n\t" \
    "smlad %[" a "], r7, " x0 ", %[" a "]\n\t" \
    "smlad %[" b "], r7, " x1 ", %[" b "]\n\t"
#define LAM_GROUPS_INPUTS(even, odd) \
    LAM_FEW_INPUTS \
    LAM_GROUPS_PAIR("r4", even, "r0", "r2", "a0", "a1") LAM_GROUPS_PAIR("r12", even, "r0", "r2", "a2", "a3") \
    LAM_GROUPS_PAIR("r4", odd, "r1", "r3", "a0", "a1") LAM_GROUPS_PAIR("r12", odd, "r1", "r3", "a2", "a3")
#define LAM_GROUPS_2X2 \
    "ldrd r4, r12, [%[w]], #8\n\t" LAM_GROUPS_INPUTS("", ", lsr #4") LAM_GROUPS_INPUTS(", lsr #8", ", lsr #12")
/* Eight inputs of three pixels by a channel, whose words take turns with another's: 19 instructions per 24 products. */
#define LAM_GROUPS_THREE(even, odd) \
    "ldmia %[x]!, {r0, r1, r2, r3, r7, r11}\n\t" \
    "and r12, lr, r4" even "\n\t" \
    "smlad %[a0], r12, r0, %[a0]\n\t" \
    "smlad %[a1], r12, r2, %[a1]\n\t" \
    "smlad %[a2], r12, r7, %[a2]\n\t" \
    "and r12, lr, r4, lsr " odd "\n\t" \
    "smlad %[a0], r12, r1, %[a0]\n\t" \
    "smlad %[a1], r12, r3, %[a1]\n\t" \
    "smlad %[a2], r12, r11, %[a2]\n\t"
#define LAM_GROUPS_3X1 "ldr r4, [%[w]], #8\n\t" LAM_GROUPS_THREE("", "#4") LAM_GROUPS_THREE(", lsr #8", "#12")
/* What its groups have of a word of two channels; r11 is how far that lies behind w. */
#define LAM_GROUPS_HALF \
    "ldrsh r4, [%[w], r11]\n\t" \
    "add %[w], %[w], #4\n\t"
#define LAM_GROUPS_HALVES_0 ""
#define LAM_GROUPS_HALVES_1 \
    LAM_GROUPS_HALF \
    "mul %[a0], %[a0], r4\n\t" \
    "mul %[a1], %[a1], r4\n\t" \
    "mul %[a2], %[a2], r4\n\t"
#define LAM_GROUPS_STEPS_1(step) step
#define LAM_GROUPS_STEPS_2(step) step step
#define LAM_GROUPS_STEPS_3(step) step step step
#define LAM_GROUPS_STEPS_4(step) step step step step
/* The totals before the group lie as far behind x as the group and they take. */
#define LAM_GROUPS_ASM(zeros, steps, scaled, back) \
    "1:\n\t" \
    "ldmia %[x]!, {r8, r9, r10, r11, lr}\n\t" \
    "lsrs lr, lr, #1\n\t" zeros steps \
    "ldrd r0, r1, [%[x], #-" back "]\n\t" \
    "ldrd r2, r3, [%[x], #8 - " back "]\n\t" scaled \
    "stmia %[x]!, {r0, r1, r2, r3}\n\t" \
    "bcs 1b\n\t"
#define LAM_GROUPS_BY(column, w, all) \
    do { \
        register int32_t a0 __asm__("r8"); \
        register int32_t a1 __asm__("r9"); \
        register int32_t a2 __asm__("r10"); \
        register int32_t a3 __asm__("r11"); \
        register uint32_t *x_ __asm__("r5") = (column) + LAM_GROUPS_TOTALS; \
        register const uint32_t *w_ __asm__("r6") = (w); \
        __asm__ volatile(all \
                         : [a0] "=&r"(a0), [a1] "=&r"(a1), [a2] "=&r"(a2), [a3] "=&r"(a3), [x] "+r"(x_), [w] "+r"(w_) \
                         : \
                         : "r0", "r1", "r2", "r3", "r4", "r12", "lr", "cc", "memory"); \
        (w) = w_; \
    } while (0)

/* The whole groups of a column, of `steps` (1, 2 or 4) times eight inputs, by four channels; `zeros`: words of what is added to
 * their fields; `halves`: whether their sums fit 16 bits.  All are numerals.  w goes on behind their weights. */
#define lam_groups_1x4(column, w, zeros, halves, steps) \
    LAM_GROUPS_BY(column, w, \
                  LAM_GROUPS_ASM(LAM_GROUPS_ZEROS_##zeros, LAM_GROUPS_STEPS_##steps(LAM_1X4S4), LAM_GROUPS_SCALED_##halves, \
                                 "(36 + 16 * " #steps ")"))

/* Those of two pixels by two channels; the compiler does not know that r7 is on the stack meanwhile. */
#define lam_groups_2x2(column, w, zeros, halves, steps) \
    LAM_GROUPS_BY(column, w, \
                  "push {r7}\n" LAM_GROUPS_ASM(LAM_GROUPS_OWN_##zeros, LAM_GROUPS_STEPS_##steps(LAM_GROUPS_2X2), \
                                               LAM_GROUPS_BOTH_##halves, "(36 + 32 * " #steps ")") "pop {r7}\n\t")

/* Those of three pixels by channel `c` of two, 0 or 1; w begins with the word of so many, and `steps` may be 3, too. */
#define lam_groups_3x1(column, w, c, zeros, steps) \
    do { \
        register int32_t a0 __asm__("r8"); \
        register int32_t a1 __asm__("r9"); \
        register int32_t a2 __asm__("r10"); \
        register int32_t half_ __asm__("r11") = -2 * (c); \
        register uint32_t *x_ __asm__("r5") = (column) + LAM_THREES_TOTALS; \
        register const uint32_t *w_ __asm__("r6") = (w); \
        __asm__ volatile("push {r7, r11}\n" \
                         "1:\n\t" \
                         "ldmia %[x]!, {r8, r9, r10, lr}\n\t" \
                         "lsrs lr, lr, #1\n\t" LAM_GROUPS_HALVES_##zeros LAM_GROUPS_STEPS_##steps(LAM_GROUPS_3X1) \
                         "ldr r11, [sp, #4]\n\t" LAM_GROUPS_HALF \
                         "ldrd r0, r1, [%[x], #-(28 + 48 * " #steps ")]\n\t" \
                         "ldr r2, [%[x], #-(20 + 48 * " #steps ")]\n\t" \
                         "mla r0, %[a0], r4, r0\n\t" \
                         "mla r1, %[a1], r4, r1\n\t" \
                         "mla r2, %[a2], r4, r2\n\t" \
                         "stmia %[x]!, {r0, r1, r2}\n\t" \
                         "bcs 1b\n\t" \
                         "pop {r7, r11}\n\t" \
                         : [a0] "=&r"(a0), [a1] "=&r"(a1), [a2] "=&r"(a2), [half] "+r"(half_), [x] "+r"(x_), [w] "+r"(w_) \
                         : \
                         : "r0", "r1", "r2", "r3", "r4", "r12", "lr", "cc", "memory"); \
        (w) = w_; \
    } while (0)

#else

static inline const uint32_t *lam_groups_each(uint32_t *column, const uint32_t *w, int32_t pixels, int32_t zeros, int32_t steps)
{
    const int32_t channels = 4 / pixels;
    const uint32_t *total = column;
    uint32_t *x = column + LAM_GROUPS_TOTALS, left;
    do {
        int32_t acc[4];
        left = x[4];
        for (int32_t i = 0; i < 4; i++) {
            acc[i] = (int32_t)x[i];
            if (zeros != 0) {
                acc[i] *= (pixels == 2) ? lam_groups_factor(w, i / 2) : lam_groups_zero(w, i, zeros);
            }
        }
        x += LAM_GROUPS_HEAD;
        w = lam_few_dot(acc, pixels, channels, x, 2 * pixels, w + zeros, channels, 2 * steps, 4);
        x += 4 * pixels * steps;
        for (int32_t i = 0; i < 4; i++, x++, total++) {
            *x = *total + (uint32_t)(acc[i] * lam_groups_factor(w, i / pixels));
        }
        w += channels / 2;
        total = x - LAM_GROUPS_TOTALS;
    } while ((left & 1u) != 0u);
    return w;
}

#define lam_groups_1x4(column, w, zeros, halves, steps) \
    do { \
        (w) = lam_groups_each((column), (w), 1, (zeros), (steps)); \
    } while (0)
#define lam_groups_2x2(column, w, zeros, halves, steps) \
    do { \
        (w) = lam_groups_each((column), (w), 2, (zeros), (steps)); \
    } while (0)

static inline const uint32_t *lam_groups_three(uint32_t *column, const uint32_t *w, int32_t c, int32_t zeros, int32_t steps)
{
    const uint32_t *total = column;
    uint32_t *x = column + LAM_THREES_TOTALS, left;
    do {
        int32_t acc[3];
        left = x[3];
        for (int32_t i = 0; i < 3; i++) {
            acc[i] = (int32_t)x[i];
            if (zeros != 0) {
                acc[i] *= lam_groups_factor(w - c, c);
            }
        }
        x += LAM_THREES_HEAD;
        w = lam_few_dot(acc, 3, 1, x, 6, w + zeros, 2, 2 * steps, 4);
        x += 12 * steps;
        for (int32_t i = 0; i < 3; i++, x++, total++) {
            *x = *total + (uint32_t)(acc[i] * lam_groups_factor(w - c, c));
        }
        w += 1;
        total = x - LAM_THREES_TOTALS;
    } while ((left & 1u) != 0u);
    return w;
}

#define lam_groups_3x1(column, w, c, zeros, steps) \
    do { \
        (w) = lam_groups_three((column), (w), (c), (zeros), (steps)); \
    } while (0)

#endif

/* The head of a group whose inputs sum up to `a`, of a second pixel to `b`, or to the same, with `left` groups behind it; the place
 * of its pairs. */
static inline uint32_t *lam_groups_head(uint32_t *x, int32_t a, int32_t b, int32_t left)
{
    x[0] = x[2] = (uint32_t)a;
    x[1] = x[3] = (uint32_t)b;
    x[4] = 0x001E001Eu + (uint32_t)(left != 0);
    return x + LAM_GROUPS_HEAD;
}

/* The head of a group of three pixels, whose inputs sum up to `sums`. */
static inline void lam_threes_head(uint32_t *x, const int32_t sums[3], int32_t left)
{
    (void)memcpy(x, sums, 3 * sizeof *sums);
    x[3] = 0x001E001Eu + (uint32_t)(left != 0);
}

#endif /* LAM_ARMV7EM_GROUPS_H */
