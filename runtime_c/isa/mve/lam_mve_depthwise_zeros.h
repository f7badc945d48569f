/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Depthwise convolution of lam_mve_depthwise_few.h on weights of 4 bits with zero points of their own: before a block's
 * weights is a word of what is added to those of each channel, a byte each.  They become bytes when they are taken apart.
 */
#ifndef LAM_MVE_DEPTHWISE_ZEROS_H
#define LAM_MVE_DEPTHWISE_ZEROS_H

#include "lam_mve_depthwise_few.h"

#if LAM_MVE

#define LAM_MVE_ZEROS_TAPS(q, at) \
    "ldrsb r0, [r5, #" at "]\n" \
    "vpstttt\n" \
    "vldrbt.u8 " q ", [r12, q6]\n" \
    "vshlt.s8 " q ", " q ", q5\n" \
    "vshrt.s8 " q ", " q ", #4\n" \
    "vaddt.i8 " q ", " q ", r0\n" \
    "add r12, r12, r8\n"
#define LAM_MVE_ZEROS_FOUR_TAPS(head) \
    "add r12, r5, #" head " + 4\n" \
    "vldrb.8 q5, [r3, #16]\n" LAM_MVE_ZEROS_TAPS("q0", head) LAM_MVE_ZEROS_TAPS("q1", head " + 1") \
    LAM_MVE_ZEROS_TAPS("q2", head " + 2") LAM_MVE_ZEROS_TAPS("q3", head " + 3")
#define LAM_MVE_ZEROS_WEIGHTS_EACH LAM_MVE_ZEROS_FOUR_TAPS("36")
#define LAM_MVE_ZEROS_WEIGHTS_ONE LAM_MVE_ZEROS_FOUR_TAPS("16")

#endif

/* As lam_mve_expand_s4; `less` is the byte of the stream with what is added. */
static inline void lam_mve_expand_zeros(int8_t *to, const int32_t *stream, int32_t first, const uint8_t *order, uint32_t mask,
                                        int32_t less)
{
#if LAM_MVE
    const int8_t *const bytes = (const int8_t *)(const void *)stream;
    const int32_t more = bytes[less];
    __asm volatile(
        "vldrb.8 q1, [%[order]]\n"
        "vldrb.8 q2, [%[order], #16]\n"
        "vmsr p0, %[mask]\n"
        "vpstttt\n"
        "vldrbt.u8 q0, [%[taps], q1]\n"
        "vshlt.s8 q0, q0, q2\n"
        "vshrt.s8 q0, q0, #4\n"
        "vaddt.i8 q0, q0, %[more]\n"
        "vstrb.8 q0, [%[to]]\n"
        :
        : [to] "r"(to), [taps] "r"(bytes + first), [order] "r"(order), [mask] "r"(mask), [more] "r"(more)
        : "q0", "q1", "q2", LAM_MVE_PREDICATE, "memory");
#else
    for (int32_t i = 0; i < 16; i++) {
        const int32_t weight = lam_mve_few_weight(stream, first, order, i) + lam_mve_byte(stream, less);
        to[i] = (int8_t)((mask >> i & 1u) != 0 ? weight : 0);
    }
#endif
}

/* As lam_mve_depthwise_s4. */
#if LAM_MVE
#define lam_mve_depthwise_zeros(job, mode, factors, bounds, stride, last, y_step) \
    do { \
        register lam_mve_planes *const held __asm("r11") = (job); \
        LAM_MVE_DEPTHWISE(mode, factors, bounds, stride, last, y_step, LAM_MVE_ZEROS_WEIGHTS_##factors, \
                          LAM_MVE_LIFT_##mode("q5") LAM_MVE_LIFT_##mode("q6") LAM_MVE_BOTH_##mode(factors), \
                          LAM_MVE_LIFT_##mode("q5") LAM_MVE_FACTORS_##mode(factors)); \
    } while (0)
#else
static inline void lam_mve_depthwise_each_zeros(lam_mve_planes *job, int mode, int each)
{
    const int32_t head = lam_mve_head(each);
    for (const int32_t *w = job->w; w != job->end; w += head + 1 + job->taps, job->planes += 16, job->y += 4) {
        for (int32_t c = 0; c < 4; c++) {
            int8_t taps[16];
            lam_mve_expand_zeros(taps, w + head, 4 + c * job->taps, job->order, job->mask, c);
            for (int32_t pixel = 0; pixel < job->count; pixel++) {
                const int8_t *const x = job->planes + pixel * job->x_step + 4 * c;
                int32_t acc = w[c];
                for (int32_t lane = 0; lane < 16; lane++) {
                    if ((job->mask >> lane & 1u) != 0) {
                        acc += x[job->offsets[lane / 4] + lane % 4] * taps[lane];
                    }
                }
                acc *= mode == LAM_MVE_SINGLE ? 16 : 1;
                job->y[pixel * job->y_step + c] = lam_mve_depthwise_output(job, w, c, acc, mode, each);
            }
        }
    }
}

#define lam_mve_depthwise_zeros(job, mode, factors, bounds, stride, last, y_step) \
    lam_mve_depthwise_each_zeros(job, LAM_MVE_##mode, LAM_MVE_##factors)
#endif

#endif /* LAM_MVE_DEPTHWISE_ZEROS_H */
