/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums of products for ARMv6-M (Cortex-M0, M0+).  It has eight registers for arithmetic, a multiply that overwrites a
 * factor, and signed byte loads that take two registers: compilers spend half of the instructions on moving and on
 * addresses.  Here one index counts up to 0 for all four addresses, and the sums stay in the high registers, to which ADD
 * reaches: 4 loads, 4 products, 4 sums, 3 moves and the index, 16 instructions for 4 products.
 *
 * The portable form beside it gives the same values.
 */
#ifndef LAM_ARMV6M_H
#define LAM_ARMV6M_H

#include "lam_base.h"

#if defined(__thumb__) && !defined(__thumb2__) && defined(__OPTIMIZE__) && (defined(__GNUC__) || defined(__clang__))
#define LAM_ARMV6M_BY_INSTRUCTION 1
#endif

#if defined(LAM_ARMV6M_BY_INSTRUCTION)
/* One tap: A, B inputs, C, D weights. */
#define LAM_ARMV6M_TAP                                                                                                   \
    "ldrsb %[a], [%[x0], %[i]]\n\t"                                                                                      \
    "mov %[b], r12\n\t"                                                                                                  \
    "ldrsb %[b], [%[b], %[i]]\n\t"                                                                                       \
    "ldrsb %[c], [%[w0], %[i]]\n\t"                                                                                      \
    "mov %[d], %[c]\n\t"                                                                                                 \
    "muls %[d], %[a], %[d]\n\t"                                                                                          \
    "add r8, %[d]\n\t"                                                                                                   \
    "muls %[c], %[b], %[c]\n\t"                                                                                          \
    "add r10, %[c]\n\t"                                                                                                  \
    "mov %[d], lr\n\t"                                                                                                   \
    "ldrsb %[d], [%[d], %[i]]\n\t"                                                                                       \
    "muls %[a], %[d], %[a]\n\t"                                                                                          \
    "add r9, %[a]\n\t"                                                                                                   \
    "muls %[b], %[d], %[b]\n\t"                                                                                          \
    "add r11, %[b]\n\t"                                                                                                  \
    "adds %[i], #1\n\t"
#endif

/* sums[2 * p + m] += sum over i of x_p[i] * w_m[i], for two pixels p and two channels m.
 *
 *   count    taps, 1 or more
 *   x1, w1   the second pixel's inputs and the second channel's weights
 */
static inline void lam_armv6m_sum_2x2(const int8_t *x0, const int8_t *x1, const int8_t *w0, const int8_t *w1, int32_t count,
                                      int32_t *sums)
{
#if defined(LAM_ARMV6M_BY_INSTRUCTION)
    int32_t i = -count, a, b, c, d;
    __asm__ volatile(".syntax unified\n\t"
                     "push {%[d]}\n\t"
                     "mov r12, %[b]\n\t"
                     "mov lr, %[c]\n\t"
                     "ldr %[a], [%[d], #0]\n\t"
                     "mov r8, %[a]\n\t"
                     "ldr %[a], [%[d], #4]\n\t"
                     "mov r9, %[a]\n\t"
                     "ldr %[a], [%[d], #8]\n\t"
                     "mov r10, %[a]\n\t"
                     "ldr %[a], [%[d], #12]\n\t"
                     "mov r11, %[a]\n\t"
                     "lsrs %[a], %[i], #1\n\t"
                     "bcc 1f\n\t" LAM_ARMV6M_TAP
                     "beq 2f\n"
                     "1:\n\t" LAM_ARMV6M_TAP LAM_ARMV6M_TAP
                     "bne 1b\n"
                     "2:\n\t"
                     "pop {%[d]}\n\t"
                     "mov %[a], r8\n\t"
                     "str %[a], [%[d], #0]\n\t"
                     "mov %[a], r9\n\t"
                     "str %[a], [%[d], #4]\n\t"
                     "mov %[a], r10\n\t"
                     "str %[a], [%[d], #8]\n\t"
                     "mov %[a], r11\n\t"
                     "str %[a], [%[d], #12]\n\t"
                     : [i] "+l"(i), [a] "=&l"(a), [b] "=&l"(b), [c] "=&l"(c), [d] "=&l"(d)
                     : [x0] "l"(x0 + count), [w0] "l"(w0 + count), "2"(x1 + count), "3"(w1 + count), "4"(sums)
                     : "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
#else
    for (int32_t i = 0; i < count; i++) {
        sums[0] += x0[i] * w0[i];
        sums[1] += x0[i] * w1[i];
        sums[2] += x1[i] * w0[i];
        sums[3] += x1[i] * w1[i];
    }
#endif
}

#endif /* LAM_ARMV6M_H */
