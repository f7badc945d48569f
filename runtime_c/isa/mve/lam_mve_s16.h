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

/* Eight inputs by eight weights of an output, and what begins and ends the loop over them. */
#define LAM_MVE_S16_PRODUCT(w, acc) \
    "vldrb.s16 q1, [%[" w "]], #8\n" \
    "vmladava.s16 %[" acc "], q0, q1\n"
#define LAM_MVE_S16_LONG_PRODUCT(w, acc) \
    "vldrb.s16 q1, [%[" w "]], #8\n" \
    "vmlaldava.s16 %Q[" acc "], %R[" acc "], q0, q1\n"
#define LAM_MVE_S16(products) \
    "dlstp.16 lr, %[inputs]\n" \
    "1:\n" \
    "vldrh.16 q0, [%[x]], #16\n" products \
    "letp lr, 1b\n"

#if !LAM_MVE

static inline void lam_mve_s16_dot(int32_t *acc, int32_t outputs, const int16_t *x, const int8_t *w, int32_t inputs)
{
    for (int32_t o = 0; o < outputs; o++, w += inputs) {
        for (int32_t m = 0; m < inputs; m++) {
            acc[o] += x[m] * w[m];
        }
    }
}

static inline void lam_mve_s16_long_dot(int64_t *acc, int32_t outputs, const int16_t *x, const int8_t *w, int32_t inputs)
{
    for (int32_t o = 0; o < outputs; o++, w += inputs) {
        for (int32_t m = 0; m < inputs; m++) {
            acc[o] += x[m] * w[m];
        }
    }
}

#endif

static inline void lam_mve_s16_4(int32_t *acc, const int16_t *x, const int8_t *w, int32_t inputs)
{
#if LAM_MVE
    register int32_t acc0 __asm__("r6") = acc[0];
    register int32_t acc1 __asm__("r8") = acc[1];
    register int32_t acc2 __asm__("r10") = acc[2];
    register int32_t acc3 __asm__("r12") = acc[3];
    const int8_t *w1 = w + inputs, *w2 = w1 + inputs, *w3 = w2 + inputs;
    __asm volatile(
        LAM_MVE_S16(LAM_MVE_S16_PRODUCT("w0", "acc0") LAM_MVE_S16_PRODUCT("w1", "acc1") LAM_MVE_S16_PRODUCT("w2", "acc2")
                        LAM_MVE_S16_PRODUCT("w3", "acc3"))
        : [acc0] "+r"(acc0), [acc1] "+r"(acc1), [acc2] "+r"(acc2), [acc3] "+r"(acc3), [x] "+&r"(x), [w0] "+&l"(w), [w1] "+&l"(w1),
          [w2] "+&l"(w2), [w3] "+&l"(w3)
        : [inputs] "r"(inputs)
        : "lr", "q0", "q1", "memory");
    acc[0] = acc0;
    acc[1] = acc1;
    acc[2] = acc2;
    acc[3] = acc3;
#else
    lam_mve_s16_dot(acc, 4, x, w, inputs);
#endif
}

static inline void lam_mve_s16_2(int32_t *acc, const int16_t *x, const int8_t *w, int32_t inputs)
{
#if LAM_MVE
    register int32_t acc0 __asm__("r6") = acc[0];
    register int32_t acc1 __asm__("r8") = acc[1];
    const int8_t *w1 = w + inputs;
    __asm volatile(LAM_MVE_S16(LAM_MVE_S16_PRODUCT("w0", "acc0") LAM_MVE_S16_PRODUCT("w1", "acc1"))
                   : [acc0] "+r"(acc0), [acc1] "+r"(acc1), [x] "+&r"(x), [w0] "+&l"(w), [w1] "+&l"(w1)
                   : [inputs] "r"(inputs)
                   : "lr", "q0", "q1", "memory");
    acc[0] = acc0;
    acc[1] = acc1;
#else
    lam_mve_s16_dot(acc, 2, x, w, inputs);
#endif
}

static inline void lam_mve_s16_1(int32_t *acc, const int16_t *x, const int8_t *w, int32_t inputs)
{
#if LAM_MVE
    register int32_t acc0 __asm__("r6") = acc[0];
    __asm volatile(LAM_MVE_S16(LAM_MVE_S16_PRODUCT("w0", "acc0"))
                   : [acc0] "+r"(acc0), [x] "+&r"(x), [w0] "+&l"(w)
                   : [inputs] "r"(inputs)
                   : "lr", "q0", "q1", "memory");
    acc[0] = acc0;
#else
    lam_mve_s16_dot(acc, 1, x, w, inputs);
#endif
}

static inline void lam_mve_s16_long_2(int64_t *acc, const int16_t *x, const int8_t *w, int32_t inputs)
{
#if LAM_MVE
    register int64_t acc0 __asm__("r4") = acc[0];
    register int64_t acc1 __asm__("r10") = acc[1];
    const int8_t *w1 = w + inputs;
    __asm volatile(LAM_MVE_S16(LAM_MVE_S16_LONG_PRODUCT("w0", "acc0") LAM_MVE_S16_LONG_PRODUCT("w1", "acc1"))
                   : [acc0] "+r"(acc0), [acc1] "+r"(acc1), [x] "+&r"(x), [w0] "+&l"(w), [w1] "+&l"(w1)
                   : [inputs] "r"(inputs)
                   : "lr", "q0", "q1", "memory");
    acc[0] = acc0;
    acc[1] = acc1;
#else
    lam_mve_s16_long_dot(acc, 2, x, w, inputs);
#endif
}

static inline void lam_mve_s16_long_1(int64_t *acc, const int16_t *x, const int8_t *w, int32_t inputs)
{
#if LAM_MVE
    register int64_t acc0 __asm__("r4") = acc[0];
    __asm volatile(LAM_MVE_S16(LAM_MVE_S16_LONG_PRODUCT("w0", "acc0"))
                   : [acc0] "+r"(acc0), [x] "+&r"(x), [w0] "+&l"(w)
                   : [inputs] "r"(inputs)
                   : "lr", "q0", "q1", "memory");
    acc[0] = acc0;
#else
    lam_mve_s16_long_dot(acc, 1, x, w, inputs);
#endif
}

#endif /* LAM_MVE_S16_H */
