/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums of 16-bit inputs by weights of 4 and of 2 bits with Helium: eight inputs at a time, any number of them.
 *
 * Each byte of a filter holds the fields of one input, without a sign, of two outputs, of four with 2 bits.
 */
#ifndef LAM_MVE_FEW_S16_H
#define LAM_MVE_FEW_S16_H

#include "lam_base.h"
#include "lam_mve.h"

/* Eight inputs by the bytes in q1 and what is left of these above a field, and what begins and ends the loop over them. */
#define LAM_MVE_FEW_S16_BYTES(w, acc) \
    "vldrb.u16 q1, [%[" w "]], #8\n" \
    "vmladava.s16 %[" acc "], q0, q1\n"
#define LAM_MVE_FEW_S16_ABOVE(acc, bits) \
    "vshr.u16 q1, q1, #" bits "\n" \
    "vmladava.s16 %[" acc "], q0, q1\n"
#define LAM_MVE_FEW_S16(products) \
    "dlstp.16 lr, %[inputs]\n" \
    "1:\n" \
    "vldrh.16 q0, [%[x]], #16\n" products \
    "letp lr, 1b\n"

/* The sum of so many inputs. */
static inline int32_t lam_mve_few_s16_total(const int16_t *x, int32_t inputs)
{
#if LAM_MVE
    register int32_t total __asm__("r0") = 0;
    __asm volatile(
        "dlstp.16 lr, %[inputs]\n"
        "1:\n"
        "vldrh.16 q0, [%[x]], #16\n"
        "vaddva.s16 %[total], q0\n"
        "letp lr, 1b\n"
        : [total] "+r"(total), [x] "+&r"(x)
        : [inputs] "r"(inputs)
        : "lr", "q0", "memory");
    return total;
#else
    int32_t total = 0;
    for (int32_t m = 0; m < inputs; m++) {
        total += x[m];
    }
    return total;
#endif
}

#if LAM_MVE

/* What is added to a sum of inputs by fields: those by bytes from the field on, less those by what is above it, which is `once`
 * as large there.  Numbers wrap, but the result. */
static inline int32_t lam_mve_few_s16_field(int32_t acc, uint32_t bytes, uint32_t above, uint32_t once)
{
    return (int32_t)((uint32_t)acc + bytes - once * above);
}

#endif

/* Their products with the fields of a filter, two outputs of 4 bits. */
static inline void lam_mve_few_s16_4(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
#if LAM_MVE
    register uint32_t sum0 __asm__("r6") = 0;
    register uint32_t sum1 __asm__("r8") = 0;
    __asm volatile(LAM_MVE_FEW_S16(LAM_MVE_FEW_S16_BYTES("w", "sum0") LAM_MVE_FEW_S16_ABOVE("sum1", "4"))
                   : [sum0] "+r"(sum0), [sum1] "+r"(sum1), [x] "+&r"(x), [w] "+&l"(w)
                   : [inputs] "r"(inputs)
                   : "lr", "q0", "q1", "memory");
    acc[0] = lam_mve_few_s16_field(acc[0], sum0, sum1, 16);
    acc[1] = lam_mve_few_s16_field(acc[1], sum1, 0, 0);
#else
    for (int32_t m = 0; m < inputs; m++) {
        acc[0] += x[m] * (w[m] & 15);
        acc[1] += x[m] * (w[m] >> 4);
    }
#endif
}

/* The same of two filters, one behind the other. */
static inline void lam_mve_few_s16_4_two(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
#if LAM_MVE
    register uint32_t sum0 __asm__("r6") = 0;
    register uint32_t sum1 __asm__("r8") = 0;
    register uint32_t sum2 __asm__("r10") = 0;
    register uint32_t sum3 __asm__("r12") = 0;
    const uint8_t *w1 = w + inputs;
    __asm volatile(
        LAM_MVE_FEW_S16(LAM_MVE_FEW_S16_BYTES("w0", "sum0") LAM_MVE_FEW_S16_ABOVE("sum1", "4") LAM_MVE_FEW_S16_BYTES("w1", "sum2")
                            LAM_MVE_FEW_S16_ABOVE("sum3", "4"))
        : [sum0] "+r"(sum0), [sum1] "+r"(sum1), [sum2] "+r"(sum2), [sum3] "+r"(sum3), [x] "+&r"(x), [w0] "+&l"(w), [w1] "+&l"(w1)
        : [inputs] "r"(inputs)
        : "lr", "q0", "q1", "memory");
    acc[0] = lam_mve_few_s16_field(acc[0], sum0, sum1, 16);
    acc[1] = lam_mve_few_s16_field(acc[1], sum1, 0, 0);
    acc[2] = lam_mve_few_s16_field(acc[2], sum2, sum3, 16);
    acc[3] = lam_mve_few_s16_field(acc[3], sum3, 0, 0);
#else
    lam_mve_few_s16_4(acc, x, w, inputs);
    lam_mve_few_s16_4(acc + 2, x, w + inputs, inputs);
#endif
}

/* The same of four outputs of 2 bits. */
static inline void lam_mve_few_s16_2(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
#if LAM_MVE
    register uint32_t sum0 __asm__("r6") = 0;
    register uint32_t sum1 __asm__("r8") = 0;
    register uint32_t sum2 __asm__("r10") = 0;
    register uint32_t sum3 __asm__("r12") = 0;
    __asm volatile(
        LAM_MVE_FEW_S16(LAM_MVE_FEW_S16_BYTES("w", "sum0") LAM_MVE_FEW_S16_ABOVE("sum1", "2") LAM_MVE_FEW_S16_ABOVE("sum2", "2")
                            LAM_MVE_FEW_S16_ABOVE("sum3", "2"))
        : [sum0] "+r"(sum0), [sum1] "+r"(sum1), [sum2] "+r"(sum2), [sum3] "+r"(sum3), [x] "+&r"(x), [w] "+&l"(w)
        : [inputs] "r"(inputs)
        : "lr", "q0", "q1", "memory");
    acc[0] = lam_mve_few_s16_field(acc[0], sum0, sum1, 4);
    acc[1] = lam_mve_few_s16_field(acc[1], sum1, sum2, 4);
    acc[2] = lam_mve_few_s16_field(acc[2], sum2, sum3, 4);
    acc[3] = lam_mve_few_s16_field(acc[3], sum3, 0, 0);
#else
    for (int32_t m = 0; m < inputs; m++) {
        acc[0] += x[m] * (w[m] & 3);
        acc[1] += x[m] * ((w[m] >> 2) & 3);
        acc[2] += x[m] * ((w[m] >> 4) & 3);
        acc[3] += x[m] * (w[m] >> 6);
    }
#endif
}

#endif /* LAM_MVE_FEW_S16_H */
