/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums of 16-bit inputs by weights of 8 bits, two products at a time, of four outputs, two or one.
 *
 * Inputs come in fours; of each four a word of every output's weights lies in turn, as bytes the first, the third, the second
 * and the fourth: SXTB16 takes pairs out of them that lie as inputs do.
 */
#ifndef LAM_ARMV7EM_S16_H
#define LAM_ARMV7EM_S16_H

#include "lam_armv7em.h"

/* Two inputs; they need not be aligned. */
static inline uint32_t lam_s16_pair(const int16_t *x)
{
#if LAM_ARMV7EM && defined(__ARMEL__)
    return lam_word(x);
#else
    return lam_pair(x[0], x[1]);
#endif
}

#if LAM_BLOCKS && defined(__ARMEL__)

/* Eights, and four that are left; `words` words for each four. */
#define LAM_S16_IN_EIGHTS(run, step, from, words) \
    do { \
        for (const uint32_t *const end = (from) + (inputs >> 3) * (2 * (words)); (from) != end;) { \
            run(step step); \
        } \
        if ((inputs & 4) != 0) { \
            run(step); \
        } \
    } while (0)

#define LAM_S16_1X4 \
    "ldr r12, [%[x]], #4\n\t" \
    "ldr lr, [%[x]], #4\n\t" \
    "ldmia %[w]!, {r0, r1, r2, r3}\n\t" LAM_1X4_PRODUCTS

static inline void lam_s16_4(int32_t *acc, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    register int32_t a0 __asm__("r8") = acc[0];
    register int32_t a1 __asm__("r9") = acc[1];
    register int32_t a2 __asm__("r10") = acc[2];
    register int32_t a3 __asm__("r11") = acc[3];
    register const int16_t *x_ __asm__("r5") = x;
    register const uint32_t *w_ __asm__("r6") = w;
    LAM_S16_IN_EIGHTS(LAM_FOUR_SUMS_ASM, LAM_S16_1X4, w_, 4);
    acc[0] = a0;
    acc[1] = a1;
    acc[2] = a2;
    acc[3] = a3;
}

/* Four inputs, the pairs of a word of weights, and their products with them. */
#define LAM_S16_INPUTS \
    "ldr %[x0], [%[x]], #4\n\t" \
    "ldr %[x1], [%[x]], #4\n\t"
#define LAM_S16_PAIRS(word) \
    "sxtb16 %[t], %[" word "]\n\t" \
    "sxtb16 %[" word "], %[" word "], ror #8\n\t"
#define LAM_S16_PRODUCTS(word, acc) \
    LAM_S16_PAIRS(word) \
    "smlad %[" acc "], %[t], %[x0], %[" acc "]\n\t" \
    "smlad %[" acc "], %[" word "], %[x1], %[" acc "]\n\t"
#define LAM_S16_LONG_PRODUCTS(word, acc) \
    LAM_S16_PAIRS(word) \
    "smlald %Q[" acc "], %R[" acc "], %[t], %[x0]\n\t" \
    "smlald %Q[" acc "], %R[" acc "], %[" word "], %[x1]\n\t"
#define LAM_S16_1X1(products) LAM_S16_INPUTS "ldr %[w0], [%[w]], #4\n\t" products("w0", "a0")
#define LAM_S16_1X2(products) LAM_S16_INPUTS "ldrd %[w0], %[w1], [%[w]], #8\n\t" products("w0", "a0") products("w1", "a1")

#define LAM_S16_ASM_1(steps) \
    __asm__ volatile(steps \
                     : [a0] "+r"(a0), [x] "+r"(x), [w] "+r"(w), [x0] "=&r"(x0), [x1] "=&r"(x1), [w0] "=&r"(w0), [t] "=&r"(t) \
                     : \
                     : "memory")
#define LAM_S16_ASM_2(steps) \
    __asm__ volatile(steps \
                     : [a0] "+r"(a0), [a1] "+r"(a1), [x] "+r"(x), [w] "+r"(w), [x0] "=&r"(x0), [x1] "=&r"(x1), \
                       [w0] "=&r"(w0), [w1] "=&r"(w1), [t] "=&r"(t) \
                     : \
                     : "memory")
#define LAM_S16_ONE(sum_t, products) \
    sum_t a0 = acc[0]; \
    uint32_t x0, x1, w0, t; \
    LAM_S16_IN_EIGHTS(LAM_S16_ASM_1, LAM_S16_1X1(products), w, 1); \
    acc[0] = a0
#define LAM_S16_TWO(sum_t, products) \
    sum_t a0 = acc[0], a1 = acc[1]; \
    uint32_t x0, x1, w0, w1, t; \
    LAM_S16_IN_EIGHTS(LAM_S16_ASM_2, LAM_S16_1X2(products), w, 2); \
    acc[0] = a0; \
    acc[1] = a1

static inline void lam_s16_2(int32_t *acc, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    LAM_S16_TWO(int32_t, LAM_S16_PRODUCTS);
}

static inline void lam_s16_1(int32_t *acc, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    LAM_S16_ONE(int32_t, LAM_S16_PRODUCTS);
}

static inline void lam_s16_long_2(int64_t *acc, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    LAM_S16_TWO(int64_t, LAM_S16_LONG_PRODUCTS);
}

static inline void lam_s16_long_1(int64_t *acc, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    LAM_S16_ONE(int64_t, LAM_S16_LONG_PRODUCTS);
}

#else

/* The products of four inputs and a word of weights, added to a sum. */
static inline int32_t lam_s16_four(const int16_t *x, uint32_t word, int32_t acc)
{
    return lam_both(lam_s16_pair(x + 2), lam_odd_s8(word), lam_both(lam_s16_pair(x), lam_even_s8(word), acc));
}

static inline void lam_s16_dot(int32_t *acc, int32_t outputs, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    for (int32_t m = 0; m < inputs; m += 4, w += outputs) {
        for (int32_t o = 0; o < outputs; o++) {
            acc[o] = lam_s16_four(x + m, w[o], acc[o]);
        }
    }
}

static inline void lam_s16_long_dot(int64_t *acc, int32_t outputs, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    for (int32_t m = 0; m < inputs; m += 4, w += outputs) {
        for (int32_t o = 0; o < outputs; o++) {
            acc[o] += lam_s16_four(x + m, w[o], 0);
        }
    }
}

static inline void lam_s16_4(int32_t *acc, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    lam_s16_dot(acc, 4, x, w, inputs);
}

static inline void lam_s16_2(int32_t *acc, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    lam_s16_dot(acc, 2, x, w, inputs);
}

static inline void lam_s16_1(int32_t *acc, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    lam_s16_dot(acc, 1, x, w, inputs);
}

static inline void lam_s16_long_2(int64_t *acc, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    lam_s16_long_dot(acc, 2, x, w, inputs);
}

static inline void lam_s16_long_1(int64_t *acc, const int16_t *x, const uint32_t *w, int32_t inputs)
{
    lam_s16_long_dot(acc, 1, x, w, inputs);
}

#endif

#endif /* LAM_ARMV7EM_S16_H */
