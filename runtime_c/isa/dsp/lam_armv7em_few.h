/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The products of columns of lam_armv7em.h on weights of 4 and of 2 bits.
 *
 * A field is a weight plus half of the numbers that its bits hold, so that none has a sign: a mask makes a pair of two of
 * them, and the caller adds that much less times the sum of the column.  A word has the weights of two groups (of four, of
 * 2 bits each); those of its first group are
 *
 *   bits 0 and 16 on              the pair of the first and third weight
 *   one field above each of them  the pair of the second and fourth
 *
 * and those of the next group follow above.  The last word of a row of weights may have fewer groups.
 */
#ifndef LAM_ARMV7EM_FEW_H
#define LAM_ARMV7EM_FEW_H

#include "lam_armv7em.h"

/* The pair of fields of `bits` bits whose first one begins at bit `at`. */
static inline uint32_t lam_few_pair(uint32_t word, int32_t at, int32_t bits)
{
    const uint32_t field = ((uint32_t)1 << bits) - 1u;
    return (word >> at) & (field | (field << 16));
}

/* The products of `groups` groups of `pixels` pixels side by side in x with `channels` channels, whose words take turns
 * among `turn` of them.  Sums channel by channel, the pixels of each.  Returns the place behind the last word. */
LAM_INLINE const uint32_t *lam_few_dot(int32_t *acc, int32_t pixels, int32_t channels, const uint32_t *x, int32_t step,
                                       const uint32_t *w, int32_t turn, int32_t groups, int32_t bits)
{
    const int32_t per_word = 8 / bits;
    for (int32_t i = 0; i < groups; i++, x += step) {
        const int32_t at = (i & (per_word - 1)) * 2 * bits;
        for (int32_t c = 0; c < channels; c++) {
            const uint32_t even = lam_few_pair(w[c], at, bits), odd = lam_few_pair(w[c], at + bits, bits);
            for (int32_t p = 0; p < pixels; p++) {
                int32_t *const sum = acc + c * pixels + p;
                *sum = lam_both(even, x[2 * p], *sum);
                *sum = lam_both(odd, x[2 * p + 1], *sum);
            }
        }
        w += ((i + 1) & (per_word - 1)) == 0 ? turn : 0;
    }
    return w + ((groups & (per_word - 1)) != 0 ? turn : 0);
}

#if LAM_BLOCKS

/* `steps` steps on `words` words each, from `from` on: four at a time, then what is left. */
#define LAM_IN_FOURS(run, step, from, words) \
    do { \
        for (const uint32_t *const end = (from) + (words) * (steps & -4); (from) != end;) { \
            run(step step step step); \
        } \
        LAM_PASSED(from); \
        if ((steps & 2) != 0) { \
            run(step step); \
        } \
        if ((steps & 1) != 0) { \
            run(step); \
        } \
    } while (0)

/* As LAM_FOUR_SUMS, with a mask in lr. */
#define LAM_FEW_ASM(mask, all) \
    __asm__ volatile("mov lr, #" mask "\n\t" all \
                     : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3), [x] "+r"(x_), [w] "+r"(w_) \
                     : \
                     : "r0", "r1", "r2", "r3", "r4", "r12", "lr", "memory")
#define LAM_FEW_ASM_S4(all) LAM_FEW_ASM("0x000f000f", all)
#define LAM_FEW_ASM_S2(all) LAM_FEW_ASM("0x00030003", all)
#define LAM_FEW_SUMS(run, step, words) \
    do { \
        register int32_t a0 __asm__("r8") = acc[0]; \
        register int32_t a1 __asm__("r9") = acc[1]; \
        register int32_t a2 __asm__("r10") = acc[2]; \
        register int32_t a3 __asm__("r11") = acc[3]; \
        register const uint32_t *x_ __asm__("r5") = x; \
        register const uint32_t *w_ __asm__("r6") = w; \
        LAM_IN_FOURS(run, step, w_, words); \
        acc[0] = a0; \
        acc[1] = a1; \
        acc[2] = a2; \
        acc[3] = a3; \
        x = x_; \
        w = w_; \
    } while (0)

/* A pair of the word in r12 by one pair of inputs, or two. */
#define LAM_FEW_1(at, x0, a) \
    "and r4, lr, r12" at "\n\t" \
    "smlad %[" a "], r4, " x0 ", %[" a "]\n\t"
#define LAM_FEW_2(at, x0, x1, a, b) \
    LAM_FEW_1(at, x0, a) \
    "smlad %[" b "], r4, " x1 ", %[" b "]\n\t"
#define LAM_FEW_INPUTS "ldmia %[x]!, {r0, r1, r2, r3}\n\t"

/* Two pixels times one channel: the two pairs of a group. */
#define LAM_FEW_GROUP(even, odd, a, b) \
    LAM_FEW_2(even, "r0", "r2", a, b) \
    LAM_FEW_2(odd, "r1", "r3", a, b)

/* Two pixels times two channels, whose words are loaded anew as they are wanted: 29 instructions per 32 products. */
#define LAM_2X2S4 \
    "ldr r12, [%[w]]\n\t" LAM_FEW_INPUTS \
    LAM_FEW_GROUP("", ", lsr #4", "a0", "a1") \
    "ldr r12, [%[w], #4]\n\t" \
    LAM_FEW_GROUP("", ", lsr #4", "a2", "a3") LAM_FEW_INPUTS \
    LAM_FEW_GROUP(", lsr #8", ", lsr #12", "a2", "a3") \
    "ldr r12, [%[w]], #8\n\t" \
    LAM_FEW_GROUP(", lsr #8", ", lsr #12", "a0", "a1")
#define LAM_2X2S2 \
    "ldr r12, [%[w]]\n\t" LAM_FEW_INPUTS \
    LAM_FEW_GROUP("", ", lsr #2", "a0", "a1") \
    "ldr r12, [%[w], #4]\n\t" \
    LAM_FEW_GROUP("", ", lsr #2", "a2", "a3") LAM_FEW_INPUTS \
    LAM_FEW_GROUP(", lsr #4", ", lsr #6", "a2", "a3") \
    "ldr r12, [%[w]]\n\t" \
    LAM_FEW_GROUP(", lsr #4", ", lsr #6", "a0", "a1") LAM_FEW_INPUTS \
    LAM_FEW_GROUP(", lsr #8", ", lsr #10", "a0", "a1") \
    "ldr r12, [%[w], #4]\n\t" \
    LAM_FEW_GROUP(", lsr #8", ", lsr #10", "a2", "a3") LAM_FEW_INPUTS \
    LAM_FEW_GROUP(", lsr #12", ", lsr #14", "a2", "a3") \
    "ldr r12, [%[w]], #8\n\t" \
    LAM_FEW_GROUP(", lsr #12", ", lsr #14", "a0", "a1")

/* One pixel times a channel: the pairs of two groups. */
#define LAM_FEW_TWO_GROUPS(p, q, r, s, a) \
    LAM_FEW_1(p, "r0", a) LAM_FEW_1(q, "r1", a) LAM_FEW_1(r, "r2", a) LAM_FEW_1(s, "r3", a)

/* One pixel times four channels: 37 instructions per 32 products. */
#define LAM_1X4S4_ONE(a) \
    "ldr r12, [%[w]], #4\n\t" \
    LAM_FEW_TWO_GROUPS("", ", lsr #4", ", lsr #8", ", lsr #12", a)
#define LAM_1X4S4 \
    LAM_FEW_INPUTS LAM_1X4S4_ONE("a0") LAM_1X4S4_ONE("a1") LAM_1X4S4_ONE("a2") LAM_1X4S4_ONE("a3")
#define LAM_1X4S2_LOW(at, a) \
    "ldr r12, [%[w], #" at "]\n\t" \
    LAM_FEW_TWO_GROUPS("", ", lsr #2", ", lsr #4", ", lsr #6", a)
#define LAM_1X4S2_HIGH(a) \
    "ldr r12, [%[w]], #4\n\t" \
    LAM_FEW_TWO_GROUPS(", lsr #8", ", lsr #10", ", lsr #12", ", lsr #14", a)
#define LAM_1X4S2 \
    LAM_FEW_INPUTS LAM_1X4S2_LOW("0", "a0") LAM_1X4S2_LOW("4", "a1") LAM_1X4S2_LOW("8", "a2") LAM_1X4S2_LOW("12", "a3") \
    LAM_FEW_INPUTS LAM_1X4S2_HIGH("a0") LAM_1X4S2_HIGH("a1") LAM_1X4S2_HIGH("a2") LAM_1X4S2_HIGH("a3")

/* One pixel of the two that a column has room for, times a pair of channels: 20 instructions per 16 products. */
#define LAM_FEW_PAIR_ASM(mask, all) \
    __asm__ volatile("mov lr, #" mask "\n\t" all \
                     : [a0] "+r"(a0), [a1] "+r"(a1), [x] "+r"(x_), [w] "+r"(w_) \
                     : \
                     : "r0", "r1", "r2", "r3", "r4", "r12", "lr", "memory")
#define LAM_FEW_PAIR_ASM_S4(all) LAM_FEW_PAIR_ASM("0x000f000f", all)
#define LAM_FEW_PAIR_ASM_S2(all) LAM_FEW_PAIR_ASM("0x00030003", all)
#define LAM_FEW_PAIR(run, step) \
    do { \
        register int32_t a0 __asm__("r8") = acc[0]; \
        register int32_t a1 __asm__("r9") = acc[1]; \
        register const uint32_t *x_ __asm__("r5") = x; \
        register const uint32_t *w_ __asm__("r6") = w; \
        LAM_IN_FOURS(run, step, w_, 2); \
        acc[0] = a0; \
        acc[1] = a1; \
        x = x_; \
        w = w_; \
    } while (0)
#define LAM_FEW_FIRST_INPUTS \
    "ldrd r0, r1, [%[x]], #16\n\t" \
    "ldrd r2, r3, [%[x]], #16\n\t"
#define LAM_1X2S4 LAM_FEW_FIRST_INPUTS LAM_1X4S4_ONE("a0") LAM_1X4S4_ONE("a1")
#define LAM_1X2S2 \
    LAM_FEW_FIRST_INPUTS LAM_1X4S2_LOW("0", "a0") LAM_1X4S2_LOW("4", "a1") \
    LAM_FEW_FIRST_INPUTS LAM_1X4S2_HIGH("a0") LAM_1X4S2_HIGH("a1")

/* Three pixels times one channel of a pair: no register is left for the mask.  22 instructions per 24 products. */
#define LAM_FEW_THREE_ASM(all) \
    __asm__ volatile(all \
                     : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [x] "+r"(x_), [w] "+r"(w_) \
                     : \
                     : "r0", "r1", "r2", "r3", "r4", "r8", "r12", "lr", "memory")
#define LAM_FEW_THREE(step) \
    do { \
        register int32_t a0 __asm__("r9") = acc[0]; \
        register int32_t a1 __asm__("r10") = acc[1]; \
        register int32_t a2 __asm__("r11") = acc[2]; \
        register const uint32_t *x_ __asm__("r5") = x; \
        register const uint32_t *w_ __asm__("r6") = w; \
        LAM_IN_FOURS(LAM_FEW_THREE_ASM, step, w_, 2); \
        acc[0] = a0; \
        acc[1] = a1; \
        acc[2] = a2; \
        x = x_; \
        w = w_; \
    } while (0)
#define LAM_FEW_3(mask, x0, x1, x2) \
    "and r8, r4, #" mask "\n\t" \
    "smlad %[a0], r8, " x0 ", %[a0]\n\t" \
    "smlad %[a1], r8, " x1 ", %[a1]\n\t" \
    "smlad %[a2], r8, " x2 ", %[a2]\n\t"
#define LAM_3X1_GROUP(mask, bits) \
    "ldmia %[x]!, {r0, r1, r2, r3, r12, lr}\n\t" \
    LAM_FEW_3(mask, "r0", "r2", "r12") \
    "lsr r4, r4, #" bits "\n\t" \
    LAM_FEW_3(mask, "r1", "r3", "lr")
#define LAM_3X1S4 \
    "ldr r4, [%[w]], #8\n\t" \
    LAM_3X1_GROUP("0x000f000f", "4") "lsr r4, r4, #4\n\t" \
    LAM_3X1_GROUP("0x000f000f", "4")
#define LAM_3X1S2 \
    "ldr r4, [%[w]], #8\n\t" \
    LAM_3X1_GROUP("0x00030003", "2") "lsr r4, r4, #2\n\t" \
    LAM_3X1_GROUP("0x00030003", "2") "lsr r4, r4, #2\n\t" \
    LAM_3X1_GROUP("0x00030003", "2") "lsr r4, r4, #2\n\t" \
    LAM_3X1_GROUP("0x00030003", "2")

#endif

/* As lam_dot_2x2, lam_dot_1x2, lam_dot_3x1 and lam_dot_1x4, on weights of 4 and of 2 bits. */
LAM_BLOCK const uint32_t *lam_dot_2x2s4(int32_t acc[4], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    const int32_t steps = groups >> 1;
    LAM_FEW_SUMS(LAM_FEW_ASM_S4, LAM_2X2S4, 2);
    groups &= 1;
#endif
    return lam_few_dot(acc, 2, 2, x, 4, w, 2, groups, 4);
}

LAM_BLOCK const uint32_t *lam_dot_2x2s2(int32_t acc[4], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    const int32_t steps = groups >> 2;
    LAM_FEW_SUMS(LAM_FEW_ASM_S2, LAM_2X2S2, 2);
    groups &= 3;
#endif
    return lam_few_dot(acc, 2, 2, x, 4, w, 2, groups, 2);
}

LAM_BLOCK const uint32_t *lam_dot_1x2s4(int32_t acc[2], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    const int32_t steps = groups >> 1;
    LAM_FEW_PAIR(LAM_FEW_PAIR_ASM_S4, LAM_1X2S4);
    groups &= 1;
#endif
    return lam_few_dot(acc, 1, 2, x, 4, w, 2, groups, 4);
}

LAM_BLOCK const uint32_t *lam_dot_1x2s2(int32_t acc[2], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    const int32_t steps = groups >> 2;
    LAM_FEW_PAIR(LAM_FEW_PAIR_ASM_S2, LAM_1X2S2);
    groups &= 3;
#endif
    return lam_few_dot(acc, 1, 2, x, 4, w, 2, groups, 2);
}

LAM_BLOCK void lam_dot_3x1s4(int32_t acc[3], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    const int32_t steps = groups >> 1;
    LAM_FEW_THREE(LAM_3X1S4);
    groups &= 1;
#endif
    lam_few_dot(acc, 3, 1, x, 6, w, 2, groups, 4);
}

LAM_BLOCK void lam_dot_3x1s2(int32_t acc[3], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    const int32_t steps = groups >> 2;
    LAM_FEW_THREE(LAM_3X1S2);
    groups &= 3;
#endif
    lam_few_dot(acc, 3, 1, x, 6, w, 2, groups, 2);
}

LAM_BLOCK const uint32_t *lam_dot_1x4s4(int32_t acc[4], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    const int32_t steps = groups >> 1;
    LAM_FEW_SUMS(LAM_FEW_ASM_S4, LAM_1X4S4, 4);
    groups &= 1;
#endif
    return lam_few_dot(acc, 1, 4, x, 2, w, 4, groups, 4);
}

LAM_BLOCK const uint32_t *lam_dot_1x4s2(int32_t acc[4], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    const int32_t steps = groups >> 2;
    LAM_FEW_SUMS(LAM_FEW_ASM_S2, LAM_1X4S2, 4);
    groups &= 3;
#endif
    return lam_few_dot(acc, 1, 4, x, 2, w, 4, groups, 2);
}

#endif /* LAM_ARMV7EM_FEW_H */
