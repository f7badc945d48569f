/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers on weights of 4 bits with a factor of 16 bits per group of inputs: three pixels by two channels, or two by
 * two, two groups at a time, whose sums fit 16 bits.
 *
 * Fields are multiplied where they lie, and inputs so much that products are 2^16 times what they stand for: sums are in the
 * upper half of an accumulator, which is turned for the second group.  One SMLAD multiplies both sums by both factors.
 *
 * The column, in words, for each two groups:
 *
 *   of each pixel       what is taken off its sums: of the first group in the upper half, of the second one in the lower
 *   1 word              1 where groups follow
 *   pairs               of four inputs the even ones of each pixel, then the odd ones
 *   of each pixel       sums of the inputs of both groups, if they have zero points
 *
 * The weights of two channels: for each two groups their words, channel by channel; then of each channel both factors, and, if
 * there are zero points, both products of zero points and factors.  Of the fields of halves, from the highest, pairs of eight
 * inputs have: where there are threes, those of even and odd inputs of the first four, then of the others, and fields of even
 * ones have a sign, those of odd ones 8 added; else the order of lam_armv7em_few.h, and all have 8 added.
 */
#ifndef LAM_ARMV7EM_GROUP_HALVES_H
#define LAM_ARMV7EM_GROUP_HALVES_H

#include "lam_armv7em.h"

#if LAM_BLOCKS

#define LAM_GROUP_HALVES_TIMES_1(step) step
#define LAM_GROUP_HALVES_TIMES_2(step) step step
#define LAM_GROUP_HALVES_MORE_1(step)
#define LAM_GROUP_HALVES_MORE_2(step) step
#define LAM_GROUP_HALVES_SIGNED ", #0xF000F000\n\t"
#define LAM_GROUP_HALVES_LESS ", #0x0F000F00\n\t"

/* Eight inputs of three pixels by two channels: 39 instructions per 48 products.  [c] to [e]: what the second channel's first
 * products are added to. */
#define LAM_GROUP_HALVES_THREE(c, d, e, field) \
    "ldmia %[x]!, {r0, r1, r2}\n\t" \
    "and lr, r4" field \
    "smlad r11, lr, r0, " c "\n\t" \
    "smlad r12, lr, r1, " d "\n\t" \
    "smlad r7, lr, r2, " e "\n\t" \
    "and lr, r3" field \
    "smlad r8, lr, r0, r8\n\t" \
    "smlad r9, lr, r1, r9\n\t" \
    "smlad r10, lr, r2, r10\n\t"
#define LAM_GROUP_HALVES_3X2_FROM(c, d, e) \
    "ldrd r3, r4, [%[w]], #8\n\t" \
    LAM_GROUP_HALVES_THREE(c, d, e, LAM_GROUP_HALVES_SIGNED) LAM_GROUP_HALVES_THREE("r11", "r12", "r7", LAM_GROUP_HALVES_LESS) \
    "lsl r4, r4, #8\n\t" \
    "lsl r3, r3, #8\n\t" \
    LAM_GROUP_HALVES_THREE("r11", "r12", "r7", LAM_GROUP_HALVES_SIGNED) \
    LAM_GROUP_HALVES_THREE("r11", "r12", "r7", LAM_GROUP_HALVES_LESS)
#define LAM_GROUP_HALVES_3X2 LAM_GROUP_HALVES_3X2_FROM("r11", "r12", "r7")
#define LAM_GROUP_HALVES_THREES_0 ""
#define LAM_GROUP_HALVES_THREES_1 \
    "ldmia %[x]!, {r0, r1, r2}\n\t" \
    "ldrd r3, r4, [%[w]], #8\n\t" \
    "smlad r8, r0, r3, r8\n\t" \
    "smlad r9, r1, r3, r9\n\t" \
    "smlad r10, r2, r3, r10\n\t" \
    "smlad r11, r0, r4, r11\n\t" \
    "smlad r12, r1, r4, r12\n\t" \
    "smlad r7, r2, r4, r7\n\t"

/* Eight inputs of two pixels by two channels: 29 instructions per 32 products, or 27 where all fields have 8 added, whose mask is
 * in r7 then. */
#define LAM_GROUP_HALVES_TWO(x0, x1, c, d, pair) \
    pair("r12") \
    "smlad r10, lr, " x0 ", " c "\n\t" \
    "smlad r11, lr, " x1 ", " d "\n\t" \
    pair("r4") \
    "smlad r8, lr, " x0 ", r8\n\t" \
    "smlad r9, lr, " x1 ", r9\n\t"
#define LAM_GROUP_HALVES_PAIR_SIGNED(word) "and lr, " word LAM_GROUP_HALVES_SIGNED
#define LAM_GROUP_HALVES_PAIR_LESS(word) "and lr, " word LAM_GROUP_HALVES_LESS
#define LAM_GROUP_HALVES_PAIR_0(word) "and lr, r7, " word ", lsl #8\n\t"
#define LAM_GROUP_HALVES_PAIR_1(word) "and lr, r7, " word ", lsl #4\n\t"
#define LAM_GROUP_HALVES_PAIR_2(word) "and lr, r7, " word "\n\t"
#define LAM_GROUP_HALVES_PAIR_3(word) "and lr, r7, " word ", lsr #4\n\t"
#define LAM_GROUP_HALVES_FOUR(c, d, even, odd) \
    "ldmia %[x]!, {r0, r1, r2, r3}\n\t" \
    LAM_GROUP_HALVES_TWO("r0", "r1", c, d, even) LAM_GROUP_HALVES_TWO("r2", "r3", "r10", "r11", odd)
#define LAM_GROUP_HALVES_2X2_FROM_1(c, d) \
    "ldrd r4, r12, [%[w]], #8\n\t" \
    LAM_GROUP_HALVES_FOUR(c, d, LAM_GROUP_HALVES_PAIR_SIGNED, LAM_GROUP_HALVES_PAIR_LESS) \
    "lsl r4, r4, #8\n\t" \
    "lsl r12, r12, #8\n\t" \
    LAM_GROUP_HALVES_FOUR("r10", "r11", LAM_GROUP_HALVES_PAIR_SIGNED, LAM_GROUP_HALVES_PAIR_LESS)
#define LAM_GROUP_HALVES_2X2_FROM_0(c, d) \
    "ldrd r4, r12, [%[w]], #8\n\t" \
    LAM_GROUP_HALVES_FOUR(c, d, LAM_GROUP_HALVES_PAIR_0, LAM_GROUP_HALVES_PAIR_1) \
    LAM_GROUP_HALVES_FOUR("r10", "r11", LAM_GROUP_HALVES_PAIR_2, LAM_GROUP_HALVES_PAIR_3)
#define LAM_GROUP_HALVES_TWOS_0 ""
#define LAM_GROUP_HALVES_TWOS_1 \
    "ldrd r0, r1, [%[x]], #8\n\t" \
    "ldrd r2, r3, [%[w]], #8\n\t" \
    "smlad r8, r0, r2, r8\n\t" \
    "smlad r9, r1, r2, r9\n\t" \
    "smlad r10, r0, r3, r10\n\t" \
    "smlad r11, r1, r3, r11\n\t"

/* All groups of a column of three pixels, of `steps` (1 or 2) times eight inputs each, by two channels, added to acc, channel by
 * channel; `zeros`: whether there are zero points.  Both are numerals.  w goes on.  The compiler does not know what is on the
 * stack meanwhile: it keeps its own in these registers.  Totals are there in the order of r7 to r12. */
#define lam_group_halves_3x2(acc, column, w, zeros, steps) \
    do { \
        register int32_t t5_ __asm__("r0") = (acc)[5]; \
        register int32_t t0_ __asm__("r1") = (acc)[0]; \
        register int32_t t1_ __asm__("r2") = (acc)[1]; \
        register int32_t t2_ __asm__("r3") = (acc)[2]; \
        register int32_t t3_ __asm__("r8") = (acc)[3]; \
        register int32_t t4_ __asm__("r9") = (acc)[4]; \
        register const uint32_t *x_ __asm__("r5") = (column); \
        register const uint32_t *w_ __asm__("r6") = (w); \
        __asm__ volatile("push {r4, r7, r10, r11, r12, lr}\n\t" \
                         "push {r0, r1, r2, r3, r8, r9}\n" \
                         "1:\n\t" \
                         "ldmia %[x]!, {r8, r9, r10, lr}\n\t" \
                         "lsrs lr, lr, #1\n\t" LAM_GROUP_HALVES_3X2_FROM("r8", "r9", "r10") \
                             LAM_GROUP_HALVES_MORE_##steps(LAM_GROUP_HALVES_3X2) \
                         "ror r7, r7, #16\n\t" \
                         "ror r8, r8, #16\n\t" \
                         "ror r9, r9, #16\n\t" \
                         "ror r10, r10, #16\n\t" \
                         "ror r11, r11, #16\n\t" \
                         "ror r12, r12, #16\n\t" LAM_GROUP_HALVES_TIMES_##steps(LAM_GROUP_HALVES_3X2) \
                         "ldmia sp, {r0, r1, r2, r3, r4}\n\t" \
                         "ldr lr, [%[w]], #4\n\t" \
                         "smlad r8, r8, lr, r1\n\t" \
                         "smlad r9, r9, lr, r2\n\t" \
                         "smlad r10, r10, lr, r3\n\t" \
                         "ldr lr, [%[w]], #4\n\t" \
                         "ldr r1, [sp, #20]\n\t" \
                         "smlad r7, r7, lr, r0\n\t" \
                         "smlad r11, r11, lr, r4\n\t" \
                         "smlad r12, r12, lr, r1\n\t" LAM_GROUP_HALVES_THREES_##zeros \
                         "stmia sp, {r7, r8, r9, r10, r11, r12}\n\t" \
                         "bcs 1b\n\t" \
                         "pop {r0, r1, r2, r3, r8, r9}\n\t" \
                         "pop {r4, r7, r10, r11, r12, lr}\n\t" \
                         : "+r"(t0_), "+r"(t1_), "+r"(t2_), "+r"(t3_), "+r"(t4_), "+r"(t5_), [x] "+r"(x_), [w] "+r"(w_) \
                         : \
                         : "cc", "memory"); \
        (acc)[0] = t0_; \
        (acc)[1] = t1_; \
        (acc)[2] = t2_; \
        (acc)[3] = t3_; \
        (acc)[4] = t4_; \
        (acc)[5] = t5_; \
        (w) = w_; \
    } while (0)

/* Those of two pixels, likewise; `threes`: whether weights are those of layers that have them, a numeral too. */
#define lam_group_halves_2x2(acc, column, w, zeros, steps, threes) \
    do { \
        register int32_t t0_ __asm__("r0") = (acc)[0]; \
        register int32_t t1_ __asm__("r1") = (acc)[1]; \
        register int32_t t2_ __asm__("r2") = (acc)[2]; \
        register int32_t t3_ __asm__("r3") = (acc)[3]; \
        register const uint32_t *x_ __asm__("r5") = (column); \
        register const uint32_t *w_ __asm__("r6") = (w); \
        __asm__ volatile("push {r4, r7, r8, r9, r10, r11, r12, lr}\n\t" \
                         "push {r0, r1, r2, r3}\n\t" \
                         "mov r7, #0x0F000F00\n" \
                         "1:\n\t" \
                         "ldmia %[x]!, {r8, r9, lr}\n\t" \
                         "lsrs lr, lr, #1\n\t" LAM_GROUP_HALVES_2X2_FROM_##threes("r8", "r9") \
                             LAM_GROUP_HALVES_MORE_##steps(LAM_GROUP_HALVES_2X2_FROM_##threes("r10", "r11")) \
                         "ror r8, r8, #16\n\t" \
                         "ror r9, r9, #16\n\t" \
                         "ror r10, r10, #16\n\t" \
                         "ror r11, r11, #16\n\t" \
                             LAM_GROUP_HALVES_TIMES_##steps(LAM_GROUP_HALVES_2X2_FROM_##threes("r10", "r11")) \
                         "ldmia sp, {r0, r1, r2, r3}\n\t" \
                         "ldrd r4, r12, [%[w]], #8\n\t" \
                         "smlad r8, r8, r4, r0\n\t" \
                         "smlad r9, r9, r4, r1\n\t" \
                         "smlad r10, r10, r12, r2\n\t" \
                         "smlad r11, r11, r12, r3\n\t" LAM_GROUP_HALVES_TWOS_##zeros \
                         "stmia sp, {r8, r9, r10, r11}\n\t" \
                         "bcs 1b\n\t" \
                         "pop {r0, r1, r2, r3}\n\t" \
                         "pop {r4, r7, r8, r9, r10, r11, r12, lr}\n\t" \
                         : "+r"(t0_), "+r"(t1_), "+r"(t2_), "+r"(t3_), [x] "+r"(x_), [w] "+r"(w_) \
                         : \
                         : "cc", "memory"); \
        (acc)[0] = t0_; \
        (acc)[1] = t1_; \
        (acc)[2] = t2_; \
        (acc)[3] = t3_; \
        (w) = w_; \
    } while (0)

#else

/* Pair i of four of a word, where it is multiplied. */
static inline uint32_t lam_group_halves_field(uint32_t word, int32_t i, int32_t threes)
{
    if (threes != 0) {
        return ((i < 2) ? word : word << 8) & ((i % 2 == 0) ? 0xF000F000u : 0x0F000F00u);
    }
    return ((i < 3) ? word << (8 - 4 * i) : word >> 4) & 0x0F000F00u;
}

/* Sums go round in 32 bits. */
static inline uint32_t lam_group_halves_both(uint32_t a, uint32_t b, uint32_t acc)
{
    return acc + (uint32_t)(lam_low(a) * lam_low(b)) + (uint32_t)(lam_high(a) * lam_high(b));
}

static inline const uint32_t *lam_group_halves_each(int32_t *acc, const uint32_t *x, const uint32_t *w, int32_t pixels,
                                                    int32_t zeros, int32_t steps, int32_t threes)
{
    uint32_t left;
    do {
        const uint32_t *const pairs = x + pixels + 1, *const sums = pairs + 8 * steps * pixels, *const factors = w + 4 * steps;
        left = x[pixels];
        for (int32_t i = 0; i < 2 * pixels; i++) {
            const int32_t c = i / pixels, p = i % pixels;
            uint32_t sum = x[p], total = (uint32_t)acc[i];
            for (int32_t k = 0; k < 8 * steps; k++) {
                sum = (k == 4 * steps) ? (sum << 16) | (sum >> 16) : sum;
                sum = lam_group_halves_both(lam_group_halves_field(w[k / 4 * 2 + c], k % 4, threes), pairs[k * pixels + p], sum);
            }
            total = lam_group_halves_both(sum, factors[c], total);
            acc[i] = (int32_t)((zeros != 0) ? lam_group_halves_both(sums[p], factors[2 + c], total) : total);
        }
        x = sums + ((zeros != 0) ? pixels : 0);
        w = factors + ((zeros != 0) ? 4 : 2);
    } while (left != 0u);
    return w;
}

#define lam_group_halves_3x2(acc, column, w, zeros, steps) \
    do { \
        (w) = lam_group_halves_each((acc), (column), (w), 3, (zeros), (steps), 1); \
    } while (0)
#define lam_group_halves_2x2(acc, column, w, zeros, steps, threes) \
    do { \
        (w) = lam_group_halves_each((acc), (column), (w), 2, (zeros), (steps), (threes)); \
    } while (0)

#endif

/* Even inputs of a word as a pair, times 16 or 256; odd ones times 256. */
static inline uint32_t lam_group_halves_even(uint32_t word, int32_t threes)
{
    return (threes != 0) ? (lam_even_s8(word) & 0x0FFF0FFFu) << 4 : (word << 8) & 0xFF00FF00u;
}

/* `fours` fours of inputs of each of so many pixels, `step` bytes apart, with `flip` in their bytes, of one group of two.
 * Their sums, and what is taken off sums of products, go to a half of words at `sums`, if it is not null, and at `head`:
 * `first` says which.  */
static inline void lam_group_halves_group(uint32_t *x, const void *from, int32_t step, int32_t fours, uint32_t flip,
                                          int32_t pixels, int32_t threes, uint32_t *head, uint32_t *sums, int32_t first)
{
    for (int32_t p = 0; p < pixels; p++) {
        const uint8_t *byte = (const uint8_t *)from + p * step;
        uint32_t *to = x + p;
        int32_t even = 0, odd = 0; /* 256 times sums of these */
        for (int32_t i = 0; i < fours; i++, byte += 4, to += 2 * pixels) {
            const uint32_t word = lam_word(byte) ^ flip;
            to[0] = lam_group_halves_even(word, threes);
            to[pixels] = word & 0xFF00FF00u;
            even = lam_both(to[0], (threes != 0) ? 0x00100010u : 0x00010001u, even);
            odd = lam_both(to[pixels], 0x00010001u, odd);
        }
        const uint32_t all = (uint32_t)(even + odd), less = (0u - ((threes != 0) ? (uint32_t)odd : all)) << 11;
        head[p] = (first != 0) ? less : head[p] | (less >> 16);
        if (sums != NULL) {
            sums[p] = (first != 0) ? (all << 8) >> 16 : sums[p] | (all << 8);
        }
    }
}

/* Two groups of so many fours of inputs; the place behind them. */
static inline uint32_t *lam_group_halves_column(uint32_t *x, const void *from, int32_t step, int32_t fours, uint32_t flip,
                                                int32_t pixels, int32_t threes, int32_t zeros, int32_t left)
{
    const uint8_t *const byte = (const uint8_t *)from;
    uint32_t *const pairs = x + pixels + 1, *const second = pairs + 2 * fours * pixels, *const sums = second + 2 * fours * pixels;
    lam_group_halves_group(pairs, byte, step, fours, flip, pixels, threes, x, (zeros != 0) ? sums : NULL, 1);
    lam_group_halves_group(second, byte + 4 * fours, step, fours, flip, pixels, threes, x, (zeros != 0) ? sums : NULL, 0);
    x[pixels] = (uint32_t)left;
    return sums + ((zeros != 0) ? pixels : 0);
}

#endif /* LAM_ARMV7EM_GROUP_HALVES_H */
