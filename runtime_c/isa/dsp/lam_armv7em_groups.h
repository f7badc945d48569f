/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers on weights of 4 bits, or of 8, with a factor of 16 bits per group of inputs: one pixel by four channels, two by
 * two, or three by two.
 *
 * The column of a pixel, or of two, in words: four totals, then for each whole group
 *
 *   4 words   the sum of its inputs, of two pixels in turn; times -8, where groups have no zero points; of bytes zeros there
 *   1 word    the mask of a pair of fields, times two, and 1 where a group follows
 *   pairs     its inputs, as lam_widen_s8 makes them: of two pixels four inputs in turn
 *   4 words   the totals with this group: channel by channel, the pixels of each
 *
 * That of three pixels has no totals, three sums of inputs, and pairs pixel by pixel: of four inputs the first pair of each
 * pixel, then the second.
 *
 * The weights of four channels: for each group a byte of each, or 16 bits, what is added to its fields, if there are zero points;
 * its words as lam_armv7em_few.h has them, two groups of four in each, of bytes two words for one; and the factor of each channel.
 * Those of two have 16 bits, as bytes have.
 */
#ifndef LAM_ARMV7EM_GROUPS_H
#define LAM_ARMV7EM_GROUPS_H

#include "lam_armv7em_few.h"

#define LAM_GROUPS_TOTALS 4
#define LAM_GROUPS_HEAD 5
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
/* Eight inputs of three pixels by two channels: 40 instructions per 48 products.  The words of both channels are in r3 and r4,
 * which takes their pairs and has to be loaded anew.  [c] to [e]: what the second channel's first products are added to. */
#define LAM_GROUPS_BY_THREE(pair, a, b, c, to_a, to_b, to_c) \
    "smlad " to_a ", " pair ", r0, " a "\n\t" \
    "smlad " to_b ", " pair ", r1, " b "\n\t" \
    "smlad " to_c ", " pair ", r2, " c "\n\t"
#define LAM_GROUPS_FIRST(pair) LAM_GROUPS_BY_THREE(pair, "r8", "r9", "r10", "r8", "r9", "r10")
#define LAM_GROUPS_SECOND(c, d, e) LAM_GROUPS_BY_THREE("r4", c, d, e, "r11", "r12", "r7")
#define LAM_GROUPS_THREE(at, c, d, e, pair) \
    "ldmia %[x]!, {r0, r1, r2}\n\t" \
    "and r4, lr, r4" at "\n\t" LAM_GROUPS_SECOND(c, d, e) \
    "and " pair ", lr, r3" at "\n\t" LAM_GROUPS_FIRST(pair)
#define LAM_GROUPS_3X2_FROM(c, d, e) \
    "ldrd r3, r4, [%[w]], #8\n\t" LAM_GROUPS_THREE("", c, d, e, "r4") \
    "ldr r4, [%[w], #-4]\n\t" LAM_GROUPS_THREE(", lsr #4", "r11", "r12", "r7", "r4") \
    "ldr r4, [%[w], #-4]\n\t" LAM_GROUPS_THREE(", lsr #8", "r11", "r12", "r7", "r4") \
    "ldr r4, [%[w], #-4]\n\t" LAM_GROUPS_THREE(", lsr #12", "r11", "r12", "r7", "r3")
#define LAM_GROUPS_3X2 LAM_GROUPS_3X2_FROM("r11", "r12", "r7")
/* The same of bytes: 38 instructions per 48 products. */
#define LAM_GROUPS_THREE_BYTES(turned, c, d, e) \
    "ldmia %[x]!, {r0, r1, r2}\n\t" \
    "sxtb16 lr, r4" turned "\n\t" LAM_GROUPS_BY_THREE("lr", c, d, e, "r11", "r12", "r7") \
    "sxtb16 lr, r3" turned "\n\t" LAM_GROUPS_FIRST("lr")
#define LAM_GROUPS_3X2B_HALF(c, d, e) \
    "ldrd r3, r4, [%[w]], #8\n\t" LAM_GROUPS_THREE_BYTES("", c, d, e) LAM_GROUPS_THREE_BYTES(", ror #8", "r11", "r12", "r7")
#define LAM_GROUPS_3X2B_FROM(c, d, e) LAM_GROUPS_3X2B_HALF(c, d, e) LAM_GROUPS_3X2B_HALF("r11", "r12", "r7")
#define LAM_GROUPS_3X2B LAM_GROUPS_3X2B_FROM("r11", "r12", "r7")
/* Without zero points both channels begin with the same. */
#define LAM_GROUPS_THREES_0(first, step) first("r8", "r9", "r10")
#define LAM_GROUPS_THREES_1(first, step) \
    "ldr r4, [%[w]], #4\n\t" \
    "smulbt r11, r8, r4\n\t" \
    "smulbt r12, r9, r4\n\t" \
    "smulbt r7, r10, r4\n\t" \
    "smulbb r8, r8, r4\n\t" \
    "smulbb r9, r9, r4\n\t" \
    "smulbb r10, r10, r4\n\t" step
/* Six totals on the stack, and sums by their factors. */
#define LAM_GROUPS_SIX(first, second, mla, mla_second) \
    first \
    "ldmia sp, {r0, r1, r2, r3, r4}\n\t" mla " r0, r8, lr, r0\n\t" mla " r1, r9, lr, r1\n\t" mla " r2, r10, lr, r2\n\t" second \
    "ldr r8, [sp, #20]\n\t" mla_second " r3, r11, lr, r3\n\t" mla_second " r4, r12, lr, r4\n\t" mla_second \
    " r8, r7, lr, r8\n\t" \
    "stmia sp, {r0, r1, r2, r3, r4, r8}\n\t"
#define LAM_GROUPS_SIX_0 LAM_GROUPS_SIX("ldrsh lr, [%[w]], #2\n\t", "ldrsh lr, [%[w]], #2\n\t", "mla", "mla")
#define LAM_GROUPS_SIX_1 LAM_GROUPS_SIX("ldr lr, [%[w]], #4\n\t", "", "smlabb", "smlabt")
#define LAM_GROUPS_MORE_1(step)
#define LAM_GROUPS_MORE_2(step) step
#define LAM_GROUPS_MORE_3(step) step step
#define LAM_GROUPS_MORE_4(step) step step step
#define LAM_GROUPS_STEPS_1(step) step
#define LAM_GROUPS_STEPS_2(step) step step
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

/* The same on bytes. */
#define lam_groups_1x4b(column, w, zeros, halves, steps) \
    LAM_GROUPS_BY(column, w, \
                  LAM_GROUPS_ASM(LAM_GROUPS_ZEROS_##zeros, LAM_GROUPS_STEPS_##steps(LAM_1X4 LAM_1X4), LAM_GROUPS_SCALED_##halves, \
                                 "(36 + 16 * " #steps ")"))
#define lam_groups_2x2b(column, w, zeros, halves, steps) \
    LAM_GROUPS_BY(column, w, \
                  LAM_GROUPS_ASM(LAM_GROUPS_OWN_##zeros, LAM_GROUPS_STEPS_##steps(LAM_2X2 LAM_2X2), LAM_GROUPS_BOTH_##halves, \
                                 "(36 + 32 * " #steps ")"))

/* Those of three pixels by two channels, added to acc, channel by channel; `steps` may be 3, too.  x and w go on. */
#define lam_groups_3x2(acc, x, w, zeros, halves, steps) \
    LAM_GROUPS_3X2_BY(acc, x, w, LAM_GROUPS_THREES_##zeros(LAM_GROUPS_3X2_FROM, LAM_GROUPS_3X2), \
                      LAM_GROUPS_MORE_##steps(LAM_GROUPS_3X2), LAM_GROUPS_SIX_##halves)
#define lam_groups_3x2b(acc, x, w, zeros, halves, steps) \
    LAM_GROUPS_3X2_BY(acc, x, w, LAM_GROUPS_THREES_##zeros(LAM_GROUPS_3X2B_FROM, LAM_GROUPS_3X2B), \
                      LAM_GROUPS_MORE_##steps(LAM_GROUPS_3X2B), LAM_GROUPS_SIX_##halves)
#define LAM_GROUPS_3X2_BY(acc, x, w, first, more, scaled) \
    do { \
        register int32_t *acc_ __asm__("r4") = (acc); \
        register const uint32_t *x_ __asm__("r5") = (x); \
        register const uint32_t *w_ __asm__("r6") = (w); \
        __asm__ volatile("push {r4, r7}\n\t" \
                         "ldmia r4, {r0, r1, r2, r3, r8, r9}\n\t" \
                         "push {r0, r1, r2, r3, r8, r9}\n" \
                         "1:\n\t" \
                         "ldmia %[x]!, {r8, r9, r10, lr}\n\t" \
                         "lsrs lr, lr, #1\n\t" first more scaled \
                         "bcs 1b\n\t" \
                         "pop {r0, r1, r2, r3, r8, r9}\n\t" \
                         "pop {r4, r7}\n\t" \
                         "stmia r4, {r0, r1, r2, r3, r8, r9}\n\t" \
                         : [acc] "+r"(acc_), [x] "+r"(x_), [w] "+r"(w_) \
                         : \
                         : "r0", "r1", "r2", "r3", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory"); \
        (x) = x_; \
        (w) = w_; \
    } while (0)

#else

/* The products of `groups` groups of bytes, as lam_few_dot has them of fields. */
static inline const uint32_t *lam_groups_bytes(int32_t *acc, int32_t pixels, int32_t channels, const uint32_t *x,
                                               const uint32_t *w, int32_t groups)
{
    for (int32_t i = 0; i < groups; i++, x += 2 * pixels, w += channels) {
        for (int32_t j = 0; j < pixels * channels; j++) {
            const uint32_t *const pixel = x + j % pixels * 2;
            acc[j] = lam_both(lam_even_s8(w[j / pixels]), pixel[0], acc[j]);
            acc[j] = lam_both(lam_odd_s8(w[j / pixels]), pixel[1], acc[j]);
        }
    }
    return w;
}

static inline const uint32_t *lam_groups_each(uint32_t *column, const uint32_t *w, int32_t pixels, int32_t zeros, int32_t steps,
                                              int bytes)
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
        w = (bytes != 0) ? lam_groups_bytes(acc, pixels, channels, x, w + zeros, 2 * steps)
                         : lam_few_dot(acc, pixels, channels, x, 2 * pixels, w + zeros, channels, 2 * steps, 4);
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
        (w) = lam_groups_each((column), (w), 1, (zeros), (steps), 0); \
    } while (0)
#define lam_groups_1x4b(column, w, zeros, halves, steps) \
    do { \
        (w) = lam_groups_each((column), (w), 1, (zeros), (steps), 1); \
    } while (0)
#define lam_groups_2x2(column, w, zeros, halves, steps) \
    do { \
        (w) = lam_groups_each((column), (w), 2, (zeros), (steps), 0); \
    } while (0)
#define lam_groups_2x2b(column, w, zeros, halves, steps) \
    do { \
        (w) = lam_groups_each((column), (w), 2, (zeros), (steps), 1); \
    } while (0)

/* Pair k of channel c of the words of two. */
static inline uint32_t lam_groups_two_pair(const uint32_t *w, int32_t k, int32_t c, int bytes)
{
    if (bytes == 0) {
        return lam_few_pair(w[2 * (k / 4) + c], 4 * (k % 4), 4);
    }
    return (k % 2 != 0) ? lam_odd_s8(w[k / 2 * 2 + c]) : lam_even_s8(w[k / 2 * 2 + c]);
}

static inline const uint32_t *lam_groups_threes(int32_t acc[6], const uint32_t **at, const uint32_t *w, int32_t zeros, int32_t steps,
                                                int bytes)
{
    const uint32_t *x = *at;
    uint32_t left;
    do {
        const uint32_t *const zero = w, *const factor = w + zeros + (bytes != 0 ? 4 : 2) * steps;
        left = x[3];
        for (int32_t i = 0; i < 6; i++) {
            const int32_t c = i / 3;
            const uint32_t *pair = x + LAM_THREES_HEAD + i % 3;
            int32_t sum = (int32_t)x[i % 3] * ((zeros != 0) ? lam_groups_factor(zero, c) : 1);
            for (int32_t k = 0; k < 4 * steps; k++, pair += 3) {
                sum = lam_both(lam_groups_two_pair(w + zeros, k, c, bytes), *pair, sum);
            }
            acc[i] += sum * lam_groups_factor(factor, c);
        }
        x += LAM_THREES_HEAD + 12 * steps;
        w = factor + 1;
    } while ((left & 1u) != 0u);
    *at = x;
    return w;
}

#define lam_groups_3x2(acc, x, w, zeros, halves, steps) \
    do { \
        (w) = lam_groups_threes((acc), &(x), (w), (zeros), (steps), 0); \
    } while (0)
#define lam_groups_3x2b(acc, x, w, zeros, halves, steps) \
    do { \
        (w) = lam_groups_threes((acc), &(x), (w), (zeros), (steps), 1); \
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

/* A group of `bytes` inputs of each of three pixels, `step` bytes apart, filled to whole eights; what sums of inputs are taken
 * times, and whether another group follows.  Returns the place behind it. */
#define LAM_THREES(name, even, odd) \
    static inline uint32_t *name##_put(uint32_t *x, const uint32_t word[3], int32_t sums[3]) \
    { \
        for (int32_t p = 0; p < 3; p++) { \
            x[p] = even(word[p]); \
            x[p + 3] = odd(word[p]); \
            sums[p] = lam_both(x[p], 0x00010001u, sums[p]); \
            sums[p] = lam_both(x[p + 3], 0x00010001u, sums[p]); \
        } \
        return x + 6; \
    } \
    static inline uint32_t *name(uint32_t *x, const void *from, int32_t step, int32_t bytes, int32_t times, int32_t left) \
    { \
        const uint8_t *byte = (const uint8_t *)from, *const end = byte + (bytes & ~3); \
        uint32_t *const head = x; \
        int32_t sums[3] = {0, 0, 0}; \
        x += LAM_THREES_HEAD; \
        for (; byte != end; byte += 4) { \
            const uint32_t word[3] = {lam_word(byte), lam_word(byte + step), lam_word(byte + 2 * step)}; \
            x = name##_put(x, word, sums); \
        } \
        if ((bytes & 3) != 0) { \
            const int32_t last = bytes & 3; \
            const uint32_t word[3] = {lam_last_word(byte, last), lam_last_word(byte + step, last), \
                                      lam_last_word(byte + 2 * step, last)}; \
            x = name##_put(x, word, sums); \
        } \
        if (((bytes + 3) & 4) != 0) { \
            (void)memset(x, 0, 6 * sizeof *x); \
            x += 6; \
        } \
        for (int32_t p = 0; p < 3; p++) { \
            head[p] = (uint32_t)(sums[p] * times); \
        } \
        head[3] = 0x001E001Eu + (uint32_t)(left != 0); \
        return x; \
    }

LAM_THREES(lam_threes_s8, lam_even_s8, lam_odd_s8)
LAM_THREES(lam_threes_u8, lam_even_u8, lam_odd_u8)

#endif /* LAM_ARMV7EM_GROUPS_H */
