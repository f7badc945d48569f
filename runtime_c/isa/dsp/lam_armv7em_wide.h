/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The products of columns of lam_armv7em.h on weights that were widened at compile time: for each word of four weights
 * there the pair of the first and third, then that of the second and fourth.  Twice the flash, and no SXTB16.
 */
#ifndef LAM_ARMV7EM_WIDE_H
#define LAM_ARMV7EM_WIDE_H

#include "lam_armv7em.h"

/* Two pixels times two channels: 11 instructions a group of 16 products. */
#if LAM_BLOCKS
#define LAM_2X2W \
    "ldmia %[x]!, {r0, r1, r2, r3}\n\t" \
    "ldrd r12, lr, [%[w]], #8\n\t" \
    "smlad %[a0], r12, r0, %[a0]\n\t" \
    "smlad %[a1], r12, r2, %[a1]\n\t" \
    "smlad %[a0], lr, r1, %[a0]\n\t" \
    "smlad %[a1], lr, r3, %[a1]\n\t" \
    "ldrd r12, lr, [%[w]], #8\n\t" \
    "smlad %[a2], r12, r0, %[a2]\n\t" \
    "smlad %[a3], r12, r2, %[a3]\n\t" \
    "smlad %[a2], lr, r1, %[a2]\n\t" \
    "smlad %[a3], lr, r3, %[a3]\n\t"
#endif

LAM_BLOCK const uint32_t *lam_dot_2x2w(int32_t acc[4], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_FOUR_SUMS(LAM_2X2W, 4);
#else
    for (int32_t i = 0; i < groups; i++, x += 4, w += 4) {
        for (int32_t j = 0; j < 4; j++) {
            acc[j] = lam_both(w[2 * (j >> 1)], x[2 * (j & 1)], acc[j]);
            acc[j] = lam_both(w[2 * (j >> 1) + 1], x[2 * (j & 1) + 1], acc[j]);
        }
    }
#endif
    return w;
}

/* Pixel A alone times two channels: 7 instructions a group of 8 products. */
#if LAM_BLOCKS
#define LAM_1X2W \
    "ldrd %[x0], %[x1], [%[x]], #16\n\t" \
    "ldrd %[w0], %[w1], [%[w]], #8\n\t" \
    "smlad %[a0], %[w0], %[x0], %[a0]\n\t" \
    "smlad %[a0], %[w1], %[x1], %[a0]\n\t" \
    "ldrd %[w0], %[w1], [%[w]], #8\n\t" \
    "smlad %[a1], %[w0], %[x0], %[a1]\n\t" \
    "smlad %[a1], %[w1], %[x1], %[a1]\n\t"
#define LAM_1X2W_ASM(steps) \
    do { \
        uint32_t w0, w1, x0, x1; \
        __asm__ volatile(steps \
                         : [a0] "+r"(acc[0]), [a1] "+r"(acc[1]), [x] "+r"(x), [w] "+r"(w), \
                           [w0] "=&r"(w0), [w1] "=&r"(w1), [x0] "=&r"(x0), [x1] "=&r"(x1) \
                         : \
                         : "memory"); \
    } while (0)
#endif

LAM_BLOCK const uint32_t *lam_dot_1x2w(int32_t acc[2], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_IN_TURNS(LAM_1X2W_ASM, LAM_1X2W, w, 4);
#else
    for (int32_t i = 0; i < groups; i++, x += 4, w += 4) {
        for (int32_t j = 0; j < 2; j++) {
            acc[j] = lam_both(w[2 * j], x[0], acc[j]);
            acc[j] = lam_both(w[2 * j + 1], x[1], acc[j]);
        }
    }
#endif
    return w;
}

/* Three pixels times one channel of a pair: 8 instructions a group of 12 products. */
#if LAM_BLOCKS
#define LAM_3X1W \
    "ldmia %[x]!, {r0, r1, r2, r3, r12, lr}\n\t" \
    "ldrd r4, r8, [%[w]], #16\n\t" \
    "smlad %[a0], r4, r0, %[a0]\n\t" \
    "smlad %[a1], r4, r2, %[a1]\n\t" \
    "smlad %[a2], r4, r12, %[a2]\n\t" \
    "smlad %[a0], r8, r1, %[a0]\n\t" \
    "smlad %[a1], r8, r3, %[a1]\n\t" \
    "smlad %[a2], r8, lr, %[a2]\n\t"
#endif

LAM_BLOCK void lam_dot_3x1w(int32_t acc[3], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_THREE_SUMS(LAM_3X1W, 4);
#else
    for (int32_t i = 0; i < groups; i++, x += 6, w += 4) {
        for (int32_t j = 0; j < 3; j++) {
            acc[j] = lam_both(w[0], x[2 * j], acc[j]);
            acc[j] = lam_both(w[1], x[2 * j + 1], acc[j]);
        }
    }
#endif
}

/* One pixel, whose groups lie 2 pairs apart, times four channels: 11 instructions a group of 16 products. */
#if LAM_BLOCKS
#define LAM_1X4W \
    "ldrd r12, lr, [%[x]], #8\n\t" \
    "ldmia %[w]!, {r0, r1, r2, r3}\n\t" \
    "smlad %[a0], r0, r12, %[a0]\n\t" \
    "smlad %[a1], r2, r12, %[a1]\n\t" \
    "smlad %[a0], r1, lr, %[a0]\n\t" \
    "smlad %[a1], r3, lr, %[a1]\n\t" \
    "ldmia %[w]!, {r0, r1, r2, r3}\n\t" \
    "smlad %[a2], r0, r12, %[a2]\n\t" \
    "smlad %[a3], r2, r12, %[a3]\n\t" \
    "smlad %[a2], r1, lr, %[a2]\n\t" \
    "smlad %[a3], r3, lr, %[a3]\n\t"
#endif

LAM_BLOCK const uint32_t *lam_dot_1x4w(int32_t acc[4], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_FOUR_SUMS(LAM_1X4W, 8);
#else
    for (int32_t i = 0; i < groups; i++, x += 2, w += 8) {
        for (int32_t j = 0; j < 4; j++) {
            acc[j] = lam_both(w[2 * j], x[0], acc[j]);
            acc[j] = lam_both(w[2 * j + 1], x[1], acc[j]);
        }
    }
#endif
    return w;
}

#endif /* LAM_ARMV7EM_WIDE_H */
