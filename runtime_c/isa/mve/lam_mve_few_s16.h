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

/* Eight inputs by a field of their bytes in q1, and what begins and ends the loop over them. */
#define LAM_MVE_FEW_S16_LOWEST(acc) \
    "vand q2, q1, q3\n" \
    "vmladava.s16 " acc ", q0, q2\n"
#define LAM_MVE_FEW_S16_NEXT(bits) "vshr.u16 q1, q1, #" bits "\n"
#define LAM_MVE_FEW_S16_LAST(acc, bits) \
    LAM_MVE_FEW_S16_NEXT(bits) \
    "vmladava.s16 " acc ", q0, q1\n"
#define LAM_MVE_FEW_S16(mask, products) \
    "vmov.i16 q3, #" mask "\n" \
    "dlstp.16 lr, %[inputs]\n" \
    "1:\n" \
    "vldrb.u16 q1, [%[w]], #8\n" \
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

/* Their products with the fields of a filter, two outputs of 4 bits. */
static inline void lam_mve_few_s16_4(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
#if LAM_MVE
    register int32_t acc0 __asm__("r0") = acc[0];
    register int32_t acc1 __asm__("r2") = acc[1];
    __asm volatile(
        LAM_MVE_FEW_S16("15", LAM_MVE_FEW_S16_LOWEST("%[acc0]") LAM_MVE_FEW_S16_LAST("%[acc1]", "4"))
        : [acc0] "+r"(acc0), [acc1] "+r"(acc1), [x] "+&r"(x), [w] "+&l"(w)
        : [inputs] "r"(inputs)
        : "lr", "q0", "q1", "q2", "q3", "memory");
    acc[0] = acc0;
    acc[1] = acc1;
#else
    for (int32_t m = 0; m < inputs; m++) {
        acc[0] += x[m] * (w[m] & 15);
        acc[1] += x[m] * (w[m] >> 4);
    }
#endif
}

/* The same of four outputs of 2 bits. */
static inline void lam_mve_few_s16_2(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
#if LAM_MVE
    register int32_t acc0 __asm__("r0") = acc[0];
    register int32_t acc1 __asm__("r2") = acc[1];
    register int32_t acc2 __asm__("r4") = acc[2];
    register int32_t acc3 __asm__("r6") = acc[3];
    __asm volatile(
        LAM_MVE_FEW_S16("3", LAM_MVE_FEW_S16_LOWEST("%[acc0]") LAM_MVE_FEW_S16_NEXT("2") LAM_MVE_FEW_S16_LOWEST("%[acc1]")
                        LAM_MVE_FEW_S16_NEXT("2") LAM_MVE_FEW_S16_LOWEST("%[acc2]") LAM_MVE_FEW_S16_LAST("%[acc3]", "2"))
        : [acc0] "+r"(acc0), [acc1] "+r"(acc1), [acc2] "+r"(acc2), [acc3] "+r"(acc3), [x] "+&r"(x), [w] "+&l"(w)
        : [inputs] "r"(inputs)
        : "lr", "q0", "q1", "q2", "q3", "memory");
    acc[0] = acc0;
    acc[1] = acc1;
    acc[2] = acc2;
    acc[3] = acc3;
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
