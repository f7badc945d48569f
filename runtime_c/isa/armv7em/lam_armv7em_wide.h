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
    "ldmia %[x]!, {r2, r3, r4, r5}\n\t" \
    "ldrd %[w0], %[w1], [%[w]], #8\n\t" \
    "smlad %[a0], %[w0], r2, %[a0]\n\t" \
    "smlad %[a1], %[w0], r4, %[a1]\n\t" \
    "smlad %[a0], %[w1], r3, %[a0]\n\t" \
    "smlad %[a1], %[w1], r5, %[a1]\n\t" \
    "ldrd %[w0], %[w1], [%[w]], #8\n\t" \
    "smlad %[a2], %[w0], r2, %[a2]\n\t" \
    "smlad %[a3], %[w0], r4, %[a3]\n\t" \
    "smlad %[a2], %[w1], r3, %[a2]\n\t" \
    "smlad %[a3], %[w1], r5, %[a3]\n\t"
#define LAM_2X2W_ASM(steps) \
    do { \
        uint32_t w0, w1; \
        __asm__ volatile(steps \
                         : [a0] "+r"(acc[0]), [a1] "+r"(acc[1]), [a2] "+r"(acc[2]), [a3] "+r"(acc[3]), [x] "+r"(x), [w] "+r"(w), \
                           [w0] "=&r"(w0), [w1] "=&r"(w1) \
                         : \
                         : "r2", "r3", "r4", "r5", "memory"); \
    } while (0)
#endif

LAM_BLOCK const uint32_t *lam_dot_2x2w(int32_t acc[4], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_IN_TURNS(LAM_2X2W_ASM, LAM_2X2W, 4);
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
    LAM_IN_TURNS(LAM_1X2W_ASM, LAM_1X2W, 4);
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
    "ldmia %[x]!, {r2, r3, r4, r5, r6, r8}\n\t" \
    "ldrd %[w0], %[w1], [%[w]], #16\n\t" \
    "smlad %[a0], %[w0], r2, %[a0]\n\t" \
    "smlad %[a1], %[w0], r4, %[a1]\n\t" \
    "smlad %[a2], %[w0], r6, %[a2]\n\t" \
    "smlad %[a0], %[w1], r3, %[a0]\n\t" \
    "smlad %[a1], %[w1], r5, %[a1]\n\t" \
    "smlad %[a2], %[w1], r8, %[a2]\n\t"
#define LAM_3X1W_ASM(steps) \
    do { \
        uint32_t w0, w1; \
        __asm__ volatile(steps \
                         : [a0] "+r"(acc[0]), [a1] "+r"(acc[1]), [a2] "+r"(acc[2]), [x] "+r"(x), [w] "+r"(w), \
                           [w0] "=&r"(w0), [w1] "=&r"(w1) \
                         : \
                         : "r2", "r3", "r4", "r5", "r6", "r8", "memory"); \
    } while (0)
#endif

LAM_BLOCK void lam_dot_3x1w(int32_t acc[3], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_IN_TURNS(LAM_3X1W_ASM, LAM_3X1W, 4);
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
    "ldrd %[x0], %[x1], [%[x]], #8\n\t" \
    "ldmia %[w]!, {r2, r3, r4, r5}\n\t" \
    "smlad %[a0], r2, %[x0], %[a0]\n\t" \
    "smlad %[a1], r4, %[x0], %[a1]\n\t" \
    "smlad %[a0], r3, %[x1], %[a0]\n\t" \
    "smlad %[a1], r5, %[x1], %[a1]\n\t" \
    "ldmia %[w]!, {r2, r3, r4, r5}\n\t" \
    "smlad %[a2], r2, %[x0], %[a2]\n\t" \
    "smlad %[a3], r4, %[x0], %[a3]\n\t" \
    "smlad %[a2], r3, %[x1], %[a2]\n\t" \
    "smlad %[a3], r5, %[x1], %[a3]\n\t"
#define LAM_1X4W_ASM(steps) \
    do { \
        uint32_t x0, x1; \
        __asm__ volatile(steps \
                         : [a0] "+r"(acc[0]), [a1] "+r"(acc[1]), [a2] "+r"(acc[2]), [a3] "+r"(acc[3]), [x] "+r"(x), [w] "+r"(w), \
                           [x0] "=&r"(x0), [x1] "=&r"(x1) \
                         : \
                         : "r2", "r3", "r4", "r5", "memory"); \
    } while (0)
#endif

LAM_BLOCK const uint32_t *lam_dot_1x4w(int32_t acc[4], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_IN_TURNS(LAM_1X4W_ASM, LAM_1X4W, 8);
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
