/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums of 16-bit inputs by weights of 8 bits with Helium: eight inputs at a time, any number of them, of four outputs, two or
 * one, whose weights lie one output after another.
 */
#ifndef LAM_MVE_S16_H
#define LAM_MVE_S16_H

#include "lam_base.h"
#include "lam_mve.h"

/* The sums of a function: of each its type, its number and the register that it is in. */
#define LAM_MVE_S16_ONE(of) of(int32_t, 0, "r6")
#define LAM_MVE_S16_TWO(of) LAM_MVE_S16_ONE(of) of(int32_t, 1, "r8")
#define LAM_MVE_S16_FOUR(of) LAM_MVE_S16_TWO(of) of(int32_t, 2, "r10") of(int32_t, 3, "r12")
#define LAM_MVE_S16_LONG_ONE(of) of(int64_t, 0, "r4")
#define LAM_MVE_S16_LONG_TWO(of) LAM_MVE_S16_LONG_ONE(of) of(int64_t, 1, "r10")

#if LAM_MVE

/* What is made of each: where it begins, eight inputs by eight weights of its output, its operands, and what it becomes. */
#define LAM_MVE_S16_BEGINS(type, o, name) \
    register type acc##o __asm__(name) = acc[o]; \
    const int8_t *w##o = w + (o) * inputs;
#define LAM_MVE_S16_PRODUCTS(type, o, name) \
    "vldrb.s16 q1, [%[w" #o "]], #8\n" \
    "vmladava.s16 %[acc" #o "], q0, q1\n"
#define LAM_MVE_S16_LONG_PRODUCTS(type, o, name) \
    "vldrb.s16 q1, [%[w" #o "]], #8\n" \
    "vmlaldava.s16 %Q[acc" #o "], %R[acc" #o "], q0, q1\n"
#define LAM_MVE_S16_OPERANDS(type, o, name) , [acc##o] "+r"(acc##o), [w##o] "+&l"(w##o)
#define LAM_MVE_S16_ENDS(type, o, name) acc[o] = acc##o;

#define LAM_MVE_S16(sums, products) \
    sums(LAM_MVE_S16_BEGINS) \
    __asm volatile( \
        "dlstp.16 lr, %[inputs]\n" \
        "1:\n" \
        "vldrh.16 q0, [%[x]], #16\n" sums(products) \
        "letp lr, 1b\n" \
        : [x] "+&r"(x) sums(LAM_MVE_S16_OPERANDS) \
        : [inputs] "r"(inputs) \
        : "lr", "q0", "q1", "memory"); \
    sums(LAM_MVE_S16_ENDS)

#else

#define LAM_MVE_S16_COUNTS(type, o, name) +1

#define LAM_MVE_S16(sums, products) \
    for (int32_t o = 0; o < sums(LAM_MVE_S16_COUNTS); o++, w += inputs) { \
        for (int32_t m = 0; m < inputs; m++) { \
            acc[o] += x[m] * w[m]; \
        } \
    }

#endif

static inline void lam_mve_s16_4(int32_t *acc, const int16_t *x, const int8_t *w, int32_t inputs)
{
    LAM_MVE_S16(LAM_MVE_S16_FOUR, LAM_MVE_S16_PRODUCTS)
}

static inline void lam_mve_s16_2(int32_t *acc, const int16_t *x, const int8_t *w, int32_t inputs)
{
    LAM_MVE_S16(LAM_MVE_S16_TWO, LAM_MVE_S16_PRODUCTS)
}

static inline void lam_mve_s16_1(int32_t *acc, const int16_t *x, const int8_t *w, int32_t inputs)
{
    LAM_MVE_S16(LAM_MVE_S16_ONE, LAM_MVE_S16_PRODUCTS)
}

static inline void lam_mve_s16_long_2(int64_t *acc, const int16_t *x, const int8_t *w, int32_t inputs)
{
    LAM_MVE_S16(LAM_MVE_S16_LONG_TWO, LAM_MVE_S16_LONG_PRODUCTS)
}

static inline void lam_mve_s16_long_1(int64_t *acc, const int16_t *x, const int8_t *w, int32_t inputs)
{
    LAM_MVE_S16(LAM_MVE_S16_LONG_ONE, LAM_MVE_S16_LONG_PRODUCTS)
}

#endif /* LAM_MVE_S16_H */
