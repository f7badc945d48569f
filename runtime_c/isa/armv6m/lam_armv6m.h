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
/* One tap: r6, B inputs, C, D weights. */
#define LAM_ARMV6M_TAP                                                                                                   \
    "ldrsb r6, [%[x0], %[i]]\n\t"                                                                                        \
    "mov %[b], r12\n\t"                                                                                                  \
    "ldrsb %[b], [%[b], %[i]]\n\t"                                                                                       \
    "ldrsb %[c], [%[w0], %[i]]\n\t"                                                                                      \
    "mov %[d], %[c]\n\t"                                                                                                 \
    "muls %[d], r6, %[d]\n\t"                                                                                            \
    "add r8, %[d]\n\t"                                                                                                   \
    "muls %[c], %[b], %[c]\n\t"                                                                                          \
    "add r10, %[c]\n\t"                                                                                                  \
    "mov %[d], lr\n\t"                                                                                                   \
    "ldrsb %[d], [%[d], %[i]]\n\t"                                                                                       \
    "muls r6, %[d], r6\n\t"                                                                                              \
    "add r9, r6\n\t"                                                                                                     \
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
    /* Named, or else the compiler finds no place for seven of seven: r7 is the frame pointer where there is one. */
    register int32_t i __asm__("r4") = -count;
    register const int8_t *p __asm__("r0") = x0 + count;
    register const int8_t *b __asm__("r1") = x1 + count;
    register const int8_t *q __asm__("r2") = w0 + count;
    register const int8_t *c __asm__("r3") = w1 + count;
    register int32_t *d __asm__("r5") = sums;
    __asm__ volatile(".syntax unified\n\t"
                     "push {%[d]}\n\t"
                     "mov r12, %[b]\n\t"
                     "mov lr, %[c]\n\t"
                     "ldr r6, [%[d], #0]\n\t"
                     "mov r8, r6\n\t"
                     "ldr r6, [%[d], #4]\n\t"
                     "mov r9, r6\n\t"
                     "ldr r6, [%[d], #8]\n\t"
                     "mov r10, r6\n\t"
                     "ldr r6, [%[d], #12]\n\t"
                     "mov r11, r6\n\t"
                     "lsrs r6, %[i], #1\n\t"
                     "bcc 1f\n\t" LAM_ARMV6M_TAP
                     "beq 2f\n"
                     "1:\n\t" LAM_ARMV6M_TAP LAM_ARMV6M_TAP
                     "bne 1b\n"
                     "2:\n\t"
                     "pop {%[d]}\n\t"
                     "mov r6, r8\n\t"
                     "str r6, [%[d], #0]\n\t"
                     "mov r6, r9\n\t"
                     "str r6, [%[d], #4]\n\t"
                     "mov r6, r10\n\t"
                     "str r6, [%[d], #8]\n\t"
                     "mov r6, r11\n\t"
                     "str r6, [%[d], #12]\n\t"
                     : [i] "+l"(i), [b] "+l"(b), [c] "+l"(c), [d] "+l"(d)
                     : [x0] "l"(p), [w0] "l"(q)
                     : "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
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
