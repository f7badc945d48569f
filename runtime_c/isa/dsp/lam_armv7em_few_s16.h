/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums of 16-bit inputs by weights of 4 and of 2 bits, two products at a time.
 *
 * Inputs come in fours.  Each byte of a filter holds the fields of one input, without a sign, of two outputs, of four with 2
 * bits; of four inputs the bytes are those of the first, the third, the second and the fourth, so that a mask makes pairs.
 */
#ifndef LAM_ARMV7EM_FEW_S16_H
#define LAM_ARMV7EM_FEW_S16_H

#include "lam_armv7em_few.h"
#include "lam_armv7em_s16.h"

/* The sum of so many inputs. */
static inline int32_t lam_few_s16_total(const int16_t *x, int32_t inputs)
{
    int32_t total = 0;
    for (int32_t m = 0; m < inputs; m += 2) {
        total = lam_both(lam_s16_pair(x + m), 0x00010001u, total);
    }
    return total;
}

#if LAM_BLOCKS && defined(__ARMEL__)

/* Four inputs, and the products of two of them with a pair of fields of the word in %[few]. */
#define LAM_FEW_S16_FOUR(products) \
    "ldr %[few], [%[w]], #4\n\t" \
    "ldr %[x0], [%[x]], #4\n\t" \
    "ldr %[x1], [%[x]], #4\n\t" products
#define LAM_FEW_S16_BOTH(at, x, acc) \
    "and %[pair], %[mask], %[few]" at "\n\t" \
    "smlad %[" acc "], %[" x "], %[pair], %[" acc "]\n\t"
#define LAM_FEW_S16_FOUR_4 \
    LAM_FEW_S16_FOUR(LAM_FEW_S16_BOTH("", "x0", "a0") LAM_FEW_S16_BOTH(", lsr #4", "x0", "a1") \
                     LAM_FEW_S16_BOTH(", lsr #8", "x1", "a0") LAM_FEW_S16_BOTH(", lsr #12", "x1", "a1"))
#define LAM_FEW_S16_FOUR_2 \
    LAM_FEW_S16_FOUR(LAM_FEW_S16_BOTH("", "x0", "a0") LAM_FEW_S16_BOTH(", lsr #2", "x0", "a1") \
                     LAM_FEW_S16_BOTH(", lsr #4", "x0", "a2") LAM_FEW_S16_BOTH(", lsr #6", "x0", "a3") \
                     LAM_FEW_S16_BOTH(", lsr #8", "x1", "a0") LAM_FEW_S16_BOTH(", lsr #10", "x1", "a1") \
                     LAM_FEW_S16_BOTH(", lsr #12", "x1", "a2") LAM_FEW_S16_BOTH(", lsr #14", "x1", "a3"))

/* Eights, and four that are left. */
#define LAM_FEW_S16_IN_EIGHTS(run, four) \
    do { \
        for (const uint8_t *const end = w + (inputs & -8); w != end;) { \
            run(four four); \
        } \
        if ((inputs & 4) != 0) { \
            run(four); \
        } \
    } while (0)

/* Their products with the fields of a filter, two outputs of 4 bits. */
static inline void lam_few_s16_4(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
    int32_t acc0 = acc[0], acc1 = acc[1];
    uint32_t few, x0, x1, pair;
#define LAM_FEW_S16_RUN(steps) \
    __asm__ volatile(steps \
                     : [a0] "+r"(acc0), [a1] "+r"(acc1), [x] "+r"(x), [w] "+r"(w), [few] "=&r"(few), [x0] "=&r"(x0), \
                       [x1] "=&r"(x1), [pair] "=&r"(pair) \
                     : [mask] "r"(0x000F000Fu) \
                     : "memory")
    LAM_FEW_S16_IN_EIGHTS(LAM_FEW_S16_RUN, LAM_FEW_S16_FOUR_4);
#undef LAM_FEW_S16_RUN
    acc[0] = acc0;
    acc[1] = acc1;
}

/* The same of four outputs of 2 bits. */
static inline void lam_few_s16_2(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
    int32_t acc0 = acc[0], acc1 = acc[1], acc2 = acc[2], acc3 = acc[3];
    uint32_t few, x0, x1, pair;
#define LAM_FEW_S16_RUN(steps) \
    __asm__ volatile(steps \
                     : [a0] "+r"(acc0), [a1] "+r"(acc1), [a2] "+r"(acc2), [a3] "+r"(acc3), [x] "+r"(x), [w] "+r"(w), \
                       [few] "=&r"(few), [x0] "=&r"(x0), [x1] "=&r"(x1), [pair] "=&r"(pair) \
                     : [mask] "r"(0x00030003u) \
                     : "memory")
    LAM_FEW_S16_IN_EIGHTS(LAM_FEW_S16_RUN, LAM_FEW_S16_FOUR_2);
#undef LAM_FEW_S16_RUN
    acc[0] = acc0;
    acc[1] = acc1;
    acc[2] = acc2;
    acc[3] = acc3;
}

#else

/* The products of inputs with the fields of a filter, of so many outputs. */
static inline void lam_few_s16_dot(int32_t *acc, int32_t outputs, const int16_t *x, const uint8_t *w, int32_t inputs, int32_t bits)
{
    for (int32_t m = 0; m < inputs; m += 4) {
        const uint32_t few = lam_word(w + m), low = lam_s16_pair(x + m), high = lam_s16_pair(x + m + 2);
        for (int32_t o = 0; o < outputs; o++) {
            acc[o] = lam_both(low, lam_few_pair(few, o * bits, bits), acc[o]);
            acc[o] = lam_both(high, lam_few_pair(few, 8 + o * bits, bits), acc[o]);
        }
    }
}

static inline void lam_few_s16_4(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
    lam_few_s16_dot(acc, 2, x, w, inputs, 4);
}

static inline void lam_few_s16_2(int32_t *acc, const int16_t *x, const uint8_t *w, int32_t inputs)
{
    lam_few_s16_dot(acc, 4, x, w, inputs, 2);
}

#endif

#endif /* LAM_ARMV7EM_FEW_S16_H */
