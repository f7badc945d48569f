/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Elementwise operators with Helium.  The loops' own predicates leave out what is beyond the last element, so that any
 * count will do; each element is read before it is written, so that the output may be an input.
 *
 * `numbers` are a layer's constants, in the order stated.  Bounds are of the output, unless they are said to be less its
 * zero point.
 */
#ifndef LAM_MVE_ELEMENTS_H
#define LAM_MVE_ELEMENTS_H

#include "lam_mve_requant.h"

#if LAM_MVE

/* Widening loads and narrowing stores take their address from r0 .. r7 only, hence "l". */
#define LAM_MVE_ADD(LOAD) \
    __asm volatile( \
        "ldr %[p], [%[numbers], #0]\n" \
        "vdup.32 q2, %[p]\n" \
        "ldr %[p], [%[numbers], #16]\n" \
        "vdup.32 q5, %[p]\n" \
        "ldr %[p], [%[numbers], #20]\n" \
        "vdup.32 q6, %[p]\n" \
        "ldrd %[p], %[q], [%[numbers], #4]\n" \
        "ldr %[numbers], [%[numbers], #12]\n" \
        "wlstp.32 lr, %[n], 2f\n" \
        "1:\n" \
        LOAD " q0, [%[a]], #4\n" \
        LOAD " q1, [%[b]], #4\n" \
        "vmlas.s32 q0, q2, %[q]\n" \
        "vmla.s32 q0, q1, %[p]\n" \
        "vshl.s32 q0, %[numbers]\n" \
        "vmax.s32 q0, q0, q5\n" \
        "vmin.s32 q0, q0, q6\n" \
        "vstrb.32 q0, [%[y]], #4\n" \
        "letp lr, 1b\n" \
        "2:\n" \
        : [y] "+&l"(y), [a] "+&l"(a), [b] "+&l"(b), [numbers] "+&r"(numbers), [p] "=&r"(work[0]), [q] "=&r"(work[1]) \
        : [n] "r"(n) \
        : "lr", "q0", "q1", "q2", "q5", "q6", "memory")

#define LAM_MVE_FACTORS_ALL(MODE) \
    "ldr %[p], [%[numbers], #0]\n" \
    "vdup.32 q4, %[p]\n" \
    "ldr %[p], [%[numbers], #4]\n" \
    "vdup.32 q5, %[p]\n" \
    "ldr %[p], [%[numbers], #12]\n" \
    "vdup.32 q6, %[p]\n" \
    "ldr %[p], [%[numbers], #16]\n" \
    "vdup.32 q7, %[p]\n" LAM_MVE_LIMITS_##MODE

#define LAM_MVE_SCALED(MODE) \
    LAM_MVE_SCALE_##MODE("q0", "q4", "q5", "q1") \
    LAM_MVE_CLAMP_##MODE("q0", "q6", "q7") \
    "vadd.i32 q0, q0, %[numbers]\n" \
    "vstrb.32 q0, [%[y]], #4\n" \
    "letp lr, 1b\n" \
    "2:\n"

#define LAM_MVE_MUL(MODE, LOAD) \
    __asm volatile( \
        LAM_MVE_FACTORS_ALL(MODE) \
        "ldrd %[p], %[q], [%[numbers], #20]\n" \
        "ldr %[numbers], [%[numbers], #8]\n" \
        "wlstp.32 lr, %[n], 2f\n" \
        "1:\n" \
        LOAD " q0, [%[a]], #4\n" \
        LOAD " q1, [%[b]], #4\n" \
        "vsub.i32 q0, q0, %[p]\n" \
        "vsub.i32 q1, q1, %[q]\n" \
        "vmul.i32 q0, q0, q1\n" \
        LAM_MVE_SCALED(MODE) \
        : [y] "+&l"(y), [a] "+&l"(a), [b] "+&l"(b), [numbers] "+&r"(numbers), [p] "=&r"(work[0]), [q] "=&r"(work[1]) \
        : [n] "r"(n) \
        : "lr", "q0", "q1", "q4", "q5", "q6", "q7", "memory")

#define LAM_MVE_SUMS(MODE) \
    __asm volatile( \
        LAM_MVE_FACTORS_ALL(MODE) \
        "ldr %[numbers], [%[numbers], #8]\n" \
        "wlstp.32 lr, %[n], 2f\n" \
        "1:\n" \
        "vldrw.32 q0, [%[sums]], #16\n" \
        LAM_MVE_SCALED(MODE) \
        : [y] "+&l"(y), [sums] "+&r"(sums), [numbers] "+&r"(numbers), [p] "=&r"(work) \
        : [n] "r"(n) \
        : "lr", "q0", "q1", "q4", "q5", "q6", "q7", "memory")

#else

/* Byte i, signed or not. */
static inline int32_t lam_mve_element(const uint8_t *x, int32_t i, int is_unsigned)
{
    return is_unsigned ? x[i] : (int32_t)(x[i] ^ 0x80u) - 128;
}

#endif

/* y = (numbers[2] + numbers[0] * a + numbers[1] * b) >> -numbers[3], limited to numbers[4 .. 5]. */
static inline void lam_mve_add(uint8_t *y, const uint8_t *a, const uint8_t *b, int32_t n, const int32_t *numbers,
                               int is_unsigned)
{
#if LAM_MVE
    int32_t work[2];
    if (is_unsigned) {
        LAM_MVE_ADD("vldrb.u32");
    } else {
        LAM_MVE_ADD("vldrb.s32");
    }
#else
    for (int32_t i = 0; i < n; i++) {
        const int32_t sum =
            numbers[2] + numbers[0] * lam_mve_element(a, i, is_unsigned) + numbers[1] * lam_mve_element(b, i, is_unsigned);
        y[i] = (uint8_t)lam_clamp_i32(sum >> -numbers[3], numbers[4], numbers[5]);
    }
#endif
}

/* y = (a - numbers[5]) * (b - numbers[6]), requantized by numbers[0 .. 1] (multiplier and shift as in
 * lam_mve_requant.h), zero point numbers[2], bounds less the zero point numbers[3 .. 4]. */
static inline void lam_mve_mul(uint8_t *y, const uint8_t *a, const uint8_t *b, int32_t n, const int32_t *numbers, int mode,
                               int is_unsigned)
{
#if LAM_MVE
    int32_t work[2];
    if (mode == LAM_MVE_SINGLE && is_unsigned) {
        LAM_MVE_MUL(SINGLE, "vldrb.u32");
    } else if (mode == LAM_MVE_SINGLE) {
        LAM_MVE_MUL(SINGLE, "vldrb.s32");
    } else if (mode == LAM_MVE_TFLITE && is_unsigned) {
        LAM_MVE_MUL(TFLITE, "vldrb.u32");
    } else if (mode == LAM_MVE_TFLITE) {
        LAM_MVE_MUL(TFLITE, "vldrb.s32");
    } else if (is_unsigned) {
        LAM_MVE_MUL(ORT, "vldrb.u32");
    } else {
        LAM_MVE_MUL(ORT, "vldrb.s32");
    }
#else
    for (int32_t i = 0; i < n; i++) {
        const int32_t product =
            (lam_mve_element(a, i, is_unsigned) - numbers[5]) * (lam_mve_element(b, i, is_unsigned) - numbers[6]);
        y[i] = (uint8_t)lam_mve_requant(mode, product, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    }
#endif
}

/* y = sums, requantized by numbers[0 .. 4] as in lam_mve_mul. */
static inline void lam_mve_scale_sums(uint8_t *y, const int32_t *sums, int32_t n, const int32_t *numbers, int mode)
{
#if LAM_MVE
    int32_t work;
    if (mode == LAM_MVE_SINGLE) {
        LAM_MVE_SUMS(SINGLE);
    } else {
        LAM_MVE_SUMS(TFLITE);
    }
#else
    for (int32_t i = 0; i < n; i++) {
        y[i] = (uint8_t)lam_mve_requant(mode, sums[i], numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    }
#endif
}

/* sums[m] += x[m] + x[m + channels] + ..: `pixels` pixels, 1 or more. */
static inline void lam_mve_add_pixels(int32_t *sums, const uint8_t *x, int32_t pixels, int32_t channels, int is_unsigned)
{
#if LAM_MVE
#define LAM_MVE_ADD_PIXELS(LOAD) \
    __asm volatile( \
        "1:\n" \
        "vctp.32 %[left]\n" \
        "vpst\n" \
        "vldrwt.u32 q0, [%[sums]]\n" \
        "mov r0, %[x]\n" \
        "dls lr, %[pixels]\n" \
        "2:\n" \
        "vpst\n" \
        LOAD " q1, [r0]\n" \
        "add r0, r0, %[channels]\n" \
        "vadd.i32 q0, q0, q1\n" \
        "le lr, 2b\n" \
        "vpst\n" \
        "vstrwt.32 q0, [%[sums]], #16\n" \
        "add %[x], %[x], #4\n" \
        "subs %[left], %[left], #4\n" \
        "bgt 1b\n" \
        : [sums] "+&r"(sums), [x] "+&r"(x), [left] "+&r"(left) \
        : [pixels] "r"(pixels), [channels] "r"(channels) \
        : "r0", "lr", "q0", "q1", "cc", LAM_MVE_PREDICATE, "memory")
/* The same of sixteen channels at a time. */
#define LAM_MVE_ADD_WIDE(LOAD) \
    __asm volatile( \
        "1:\n" \
        "vldrw.32 q0, [%[sums]]\n" \
        "vldrw.32 q1, [%[sums], #16]\n" \
        "vldrw.32 q2, [%[sums], #32]\n" \
        "vldrw.32 q3, [%[sums], #48]\n" \
        "mov r0, %[x]\n" \
        "dls lr, %[pixels]\n" \
        "2:\n" \
        LOAD " q4, [r0]\n" \
        LOAD " q5, [r0, #4]\n" \
        "vadd.i32 q0, q0, q4\n" \
        LOAD " q4, [r0, #8]\n" \
        "vadd.i32 q1, q1, q5\n" \
        LOAD " q5, [r0, #12]\n" \
        "vadd.i32 q2, q2, q4\n" \
        "add r0, r0, %[channels]\n" \
        "vadd.i32 q3, q3, q5\n" \
        "le lr, 2b\n" \
        "vstrw.32 q0, [%[sums]], #16\n" \
        "vstrw.32 q1, [%[sums]], #16\n" \
        "vstrw.32 q2, [%[sums]], #16\n" \
        "vstrw.32 q3, [%[sums]], #16\n" \
        "add %[x], %[x], #16\n" \
        "subs %[wide], %[wide], #1\n" \
        "bgt 1b\n" \
        : [sums] "+&r"(sums), [x] "+&r"(x), [wide] "+&r"(wide) \
        : [pixels] "r"(pixels), [channels] "r"(channels) \
        : "r0", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "cc", "memory")
    int32_t wide = channels >> 4, left = channels & 15;
    if (wide > 0) {
        if (is_unsigned) {
            LAM_MVE_ADD_WIDE("vldrb.u32");
        } else {
            LAM_MVE_ADD_WIDE("vldrb.s32");
        }
    }
    if (left > 0) {
        if (is_unsigned) {
            LAM_MVE_ADD_PIXELS("vldrbt.u32");
        } else {
            LAM_MVE_ADD_PIXELS("vldrbt.s32");
        }
    }
#undef LAM_MVE_ADD_WIDE
#undef LAM_MVE_ADD_PIXELS
#else
    for (int32_t i = 0; i < pixels * channels; i++) {
        sums[i % channels] += lam_mve_element(x, i, is_unsigned);
    }
#endif
}

/* y = table[x as an unsigned byte]. */
static inline void lam_mve_lut(uint8_t *y, const uint8_t *x, int32_t n, const uint8_t *table)
{
#if LAM_MVE
    __asm volatile(
        "wlstp.8 lr, %[n], 2f\n"
        "1:\n"
        "vldrb.8 q0, [%[x]], #16\n"
        "vldrb.u8 q1, [%[table], q0]\n"
        "vstrb.8 q1, [%[y]], #16\n"
        "letp lr, 1b\n"
        "2:\n"
        : [y] "+&r"(y), [x] "+&r"(x)
        : [n] "r"(n), [table] "r"(table)
        : "lr", "q0", "q1", "memory");
#else
    for (int32_t i = 0; i < n; i++) {
        y[i] = table[x[i]];
    }
#endif
}

/* y = x limited to low .. high, which are bytes of x's type. */
static inline void lam_mve_clamp(uint8_t *y, const uint8_t *x, int32_t n, int32_t low, int32_t high, int is_unsigned)
{
#if LAM_MVE
#define LAM_MVE_CLAMP_BYTES(T) \
    __asm volatile( \
        "vdup.8 q1, %[low]\n" \
        "vdup.8 q2, %[high]\n" \
        "wlstp.8 lr, %[n], 2f\n" \
        "1:\n" \
        "vldrb.8 q0, [%[x]], #16\n" \
        "vmax." T " q0, q0, q1\n" \
        "vmin." T " q0, q0, q2\n" \
        "vstrb.8 q0, [%[y]], #16\n" \
        "letp lr, 1b\n" \
        "2:\n" \
        : [y] "+&r"(y), [x] "+&r"(x) \
        : [n] "r"(n), [low] "r"(low), [high] "r"(high) \
        : "lr", "q0", "q1", "q2", "memory")
    if (is_unsigned) {
        LAM_MVE_CLAMP_BYTES("u8");
    } else {
        LAM_MVE_CLAMP_BYTES("s8");
    }
#undef LAM_MVE_CLAMP_BYTES
#else
    for (int32_t i = 0; i < n; i++) {
        y[i] = (uint8_t)lam_clamp_i32(lam_mve_element(x, i, is_unsigned), low, high);
    }
#endif
}

/* y = the greatest of x[0][m], x[1][m] .. x[taps - 1][m] for each of n channels; taps is 1 or more. */
static inline void lam_mve_max(uint8_t *y, const uint8_t *const *x, int32_t taps, int32_t n, int is_unsigned)
{
#if LAM_MVE
#define LAM_MVE_MAX(T) \
    __asm volatile( \
        "1:\n" \
        "vctp.8 %[left]\n" \
        "mov r0, %[x]\n" \
        "ldr r1, [r0], #4\n" \
        "add r1, r1, %[at]\n" \
        "vpst\n" \
        "vldrbt.8 q0, [r1]\n" \
        "wls lr, %[more], 3f\n" \
        "2:\n" \
        "ldr r1, [r0], #4\n" \
        "add r1, r1, %[at]\n" \
        "vpst\n" \
        "vldrbt.8 q1, [r1]\n" \
        "vmax." T " q0, q0, q1\n" \
        "le lr, 2b\n" \
        "3:\n" \
        "vpst\n" \
        "vstrbt.8 q0, [%[y]], #16\n" \
        "add %[at], %[at], #16\n" \
        "subs %[left], %[left], #16\n" \
        "bgt 1b\n" \
        : [y] "+&r"(y), [at] "+&r"(at), [left] "+&r"(left) \
        : [x] "r"(x), [more] "r"(more) \
        : "r0", "r1", "lr", "q0", "q1", "cc", LAM_MVE_PREDICATE, "memory")
    int32_t left = n, at = 0;
    const int32_t more = taps - 1;
    if (is_unsigned) {
        LAM_MVE_MAX("u8");
    } else {
        LAM_MVE_MAX("s8");
    }
#undef LAM_MVE_MAX
#else
    for (int32_t m = 0; m < n; m++) {
        int32_t greatest = lam_mve_element(x[0], m, is_unsigned);
        for (int32_t i = 1; i < taps; i++) {
            const int32_t other = lam_mve_element(x[i], m, is_unsigned);
            greatest = other > greatest ? other : greatest;
        }
        y[m] = (uint8_t)greatest;
    }
#endif
}

#endif /* LAM_MVE_ELEMENTS_H */
