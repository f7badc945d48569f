/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Bilinear resizing with Helium: one output pixel, four channels at a time.
 */
#ifndef LAM_MVE_RESIZE_H
#define LAM_MVE_RESIZE_H

#include "lam_mve_elements.h"

/* What weights come to: 2 to this. */
enum { LAM_MVE_BILINEAR_PLACES = 22 };

#if LAM_MVE

/* What a pixel takes, as LDM loads it: to r0, from r1 .. r4 by the weights r9, r5, r6 and r8; numbers at r10, r12 channels. */
typedef struct {
    uint8_t *y;
    const uint8_t *a, *b, *c, *d;
    int32_t w1, w2, w3, w0;
    const int32_t *numbers;
    int32_t n;
} lam_mve_blend;

/* Four sums of four products each, of which FIRST makes the first; widening loads take their address from r0 .. r7 only. */
#define LAM_MVE_BLENDED(LOAD, FIRST) \
    "wlstp.32 lr, r12, 2f\n" \
    "1:\n" \
    LOAD " q0, [r1], #4\n" \
    LOAD " q1, [r2], #4\n" \
    FIRST \
    "vmla.s32 q0, q1, r5\n" \
    LOAD " q1, [r3], #4\n" \
    "vmla.s32 q0, q1, r6\n" \
    LOAD " q1, [r4], #4\n" \
    "vmla.s32 q0, q1, r8\n"

#define LAM_MVE_BLEND(MODE, LOAD) \
    __asm volatile( \
        "ldm r11, {r0, r1, r2, r3, r4, r5, r6, r8, r9, r10, r12}\n" \
        "vdup.32 q2, r9\n" \
        "ldr lr, [r10, #0]\n" \
        "vdup.32 q4, lr\n" \
        "ldr lr, [r10, #4]\n" \
        "vdup.32 q5, lr\n" \
        "ldr lr, [r10, #12]\n" \
        "vdup.32 q6, lr\n" \
        "ldr lr, [r10, #16]\n" \
        "vdup.32 q7, lr\n" \
        "ldr r9, [r10, #20]\n" \
        "ldr r10, [r10, #8]\n" \
        LAM_MVE_BLENDED(LOAD, "vmlas.s32 q0, q2, r9\n") \
        LAM_MVE_SCALE_##MODE("q0", "q4", "q5", "q1") \
        LAM_MVE_CLAMP_##MODE("q0", "q6", "q7") \
        "vadd.i32 q0, q0, r10\n" \
        "vstrb.32 q0, [r0], #4\n" \
        "letp lr, 1b\n" \
        "2:\n" \
        : : "r"(held) : LAM_MVE_CLOBBERS)

/* Halves away from zero: one less before the rounding shift of a negative sum. */
#define LAM_MVE_BLEND_ALIKE(LOAD) \
    __asm volatile( \
        "ldm r11, {r0, r1, r2, r3, r4, r5, r6, r8, r9, r10, r12}\n" \
        LAM_MVE_BLENDED(LOAD, "vmul.i32 q0, q0, r9\n") \
        "vshr.s32 q1, q0, #31\n" \
        "vadd.i32 q0, q0, q1\n" \
        "vrshr.s32 q0, q0, #22\n" \
        "vstrb.32 q0, [r0], #4\n" \
        "letp lr, 1b\n" \
        "2:\n" \
        : : "r"(held) : LAM_MVE_CLOBBERS)

#else

/* Channel m of the sum. */
static inline int32_t lam_mve_blended(const uint8_t *a, const uint8_t *c, int32_t beside, int32_t m, const int32_t *weights,
                                      int is_unsigned)
{
    return weights[0] * lam_mve_element(a, m, is_unsigned) + weights[1] * lam_mve_element(a + beside, m, is_unsigned) +
           weights[2] * lam_mve_element(c, m, is_unsigned) + weights[3] * lam_mve_element(c + beside, m, is_unsigned);
}

#endif

/* y = the mean of pixel a, the one `beside` elements behind it, c and the one behind that, by four weights, requantized by
 * numbers[0 .. 4] as in lam_mve_mul; numbers[5] is added to the sum first.  Sums of weights and elements fit 32 bits. */
static inline void lam_mve_bilinear(uint8_t *y, const uint8_t *a, const uint8_t *c, int32_t beside, int32_t n,
                                    const int32_t *weights, const int32_t *numbers, int mode, int is_unsigned)
{
#if LAM_MVE
    const lam_mve_blend job = {y, a, a + beside, c, c + beside, weights[1], weights[2], weights[3], weights[0], numbers, n};
    register const lam_mve_blend *const held __asm("r11") = &job;
    if (mode == LAM_MVE_SINGLE && is_unsigned) {
        LAM_MVE_BLEND(SINGLE, "vldrb.u32");
    } else if (mode == LAM_MVE_SINGLE) {
        LAM_MVE_BLEND(SINGLE, "vldrb.s32");
    } else if (is_unsigned) {
        LAM_MVE_BLEND(TFLITE, "vldrb.u32");
    } else {
        LAM_MVE_BLEND(TFLITE, "vldrb.s32");
    }
#else
    for (int32_t m = 0; m < n; m++) {
        const int32_t sum = lam_mve_blended(a, c, beside, m, weights, is_unsigned) + numbers[5];
        y[m] = (uint8_t)lam_mve_requant(mode, sum, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    }
#endif
}

/* The same between equal scales: the sum by 2^22, halves away from zero. */
static inline void lam_mve_bilinear_alike(uint8_t *y, const uint8_t *a, const uint8_t *c, int32_t beside, int32_t n,
                                          const int32_t *weights, int is_unsigned)
{
#if LAM_MVE
    const lam_mve_blend job = {y, a, a + beside, c, c + beside, weights[1], weights[2], weights[3], weights[0], NULL, n};
    register const lam_mve_blend *const held __asm("r11") = &job;
    if (is_unsigned) {
        LAM_MVE_BLEND_ALIKE("vldrb.u32");
    } else {
        LAM_MVE_BLEND_ALIKE("vldrb.s32");
    }
#else
    for (int32_t m = 0; m < n; m++) {
        const int32_t sum = lam_mve_blended(a, c, beside, m, weights, is_unsigned);
        y[m] = (uint8_t)((sum - ((sum < 0) ? 1 : 0) + (1 << (LAM_MVE_BILINEAR_PLACES - 1))) >> LAM_MVE_BILINEAR_PLACES);
    }
#endif
}

#endif /* LAM_MVE_RESIZE_H */
