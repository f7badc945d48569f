/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Depthwise convolution of lam_mve_depthwise.h on weights of 4 bits: in the packed stream a channel has two of them in a
 * byte, the first in the lower bits, and whole bytes.  `taps` of the job are those bytes; `order` has 32 entries: for each
 * byte of the window where its weight lies, then by how much that is shifted to have the weight on top.
 *
 * Sums of so small weights leave room: in mode single lam_mve_depthwise_s4 requantizes 16 times the sum, which is why its
 * shifts are those of lam_mve_requant.h less 4, of factors up to 4.
 */
#ifndef LAM_MVE_DEPTHWISE_FEW_H
#define LAM_MVE_DEPTHWISE_FEW_H

#include "lam_mve_depthwise.h"

#if LAM_MVE

/* The weights of four channels as windows, as LAM_MVE_FOUR_TAPS; q5 has what each byte is shifted by. */
#define LAM_MVE_FEW_WEIGHTS_EACH "add r12, r5, #36\n"
#define LAM_MVE_FEW_WEIGHTS_ONE "add r12, r5, #16\n"
#define LAM_MVE_FEW_TAPS(q) \
    "vpst\n" \
    "vldrbt.u8 " q ", [r12, q6]\n" \
    "add r12, r12, r8\n" \
    "vshl.s8 " q ", " q ", q5\n" \
    "vshr.s8 " q ", " q ", #4\n"
#define LAM_MVE_FEW_FOUR_TAPS \
    "vldrb.8 q5, [r3, #16]\n" LAM_MVE_FEW_TAPS("q0") LAM_MVE_FEW_TAPS("q1") LAM_MVE_FEW_TAPS("q2") LAM_MVE_FEW_TAPS("q3")

/* 16 times the sums in mode single. */
#define LAM_MVE_LIFT_SINGLE(q) "vshl.i32 " q ", " q ", #4\n"
#define LAM_MVE_LIFT_TFLITE(q) ""
#define LAM_MVE_LIFT_UP(q) ""
#define LAM_MVE_LIFT_ORT(q) ""

#else

/* The weight of a byte of the window, of the channel whose weights begin at byte `first`. */
static inline int32_t lam_mve_few_weight(const int32_t *stream, int32_t first, const uint8_t *order, int32_t byte)
{
    const int32_t two = lam_mve_byte(stream, first + order[byte]);
    return order[16 + byte] == 0 ? two >> 4 : ((two & 15) ^ 8) - 8;
}

#endif

/* As lam_mve_expand. */
static inline void lam_mve_expand_s4(int8_t *to, const int32_t *stream, int32_t first, const uint8_t *order, uint32_t mask)
{
#if LAM_MVE
    const int8_t *taps = (const int8_t *)(const void *)stream + first;
    __asm volatile(
        "vldrb.8 q1, [%[order]]\n"
        "vldrb.8 q2, [%[order], #16]\n"
        "vmsr p0, %[mask]\n"
        "vpst\n"
        "vldrbt.u8 q0, [%[taps], q1]\n"
        "vshl.s8 q0, q0, q2\n"
        "vshr.s8 q0, q0, #4\n"
        "vstrb.8 q0, [%[to]]\n"
        :
        : [to] "r"(to), [taps] "r"(taps), [order] "r"(order), [mask] "r"(mask)
        : "q0", "q1", "q2", LAM_MVE_PREDICATE, "memory");
#else
    for (int32_t i = 0; i < 16; i++) {
        to[i] = (int8_t)((mask >> i & 1u) != 0 ? lam_mve_few_weight(stream, first, order, i) : 0);
    }
#endif
}

/* As lam_mve_depthwise. */
#if LAM_MVE
#define lam_mve_depthwise_s4(job, mode, factors, bounds, stride, last, y_step) \
    do { \
        register lam_mve_planes *const held __asm("r11") = (job); \
        LAM_MVE_DEPTHWISE(mode, factors, bounds, stride, last, y_step, \
                          LAM_MVE_FEW_WEIGHTS_##factors LAM_MVE_FEW_FOUR_TAPS, \
                          LAM_MVE_LIFT_##mode("q5") LAM_MVE_LIFT_##mode("q6") LAM_MVE_BOTH_##mode(factors), \
                          LAM_MVE_LIFT_##mode("q5") LAM_MVE_FACTORS_##mode(factors)); \
    } while (0)
#else
static inline void lam_mve_depthwise_each_s4(lam_mve_planes *job, int mode, int each)
{
    const int32_t head = lam_mve_head(each);
    for (const int32_t *w = job->w; w != job->end; w += head + job->taps, job->planes += 16, job->y += 4) {
        for (int32_t i = 0; i < 4 * job->count; i++) {
            const int32_t c = i % 4, pixel = i / 4;
            const int8_t *const x = job->planes + pixel * job->x_step + 4 * c;
            int32_t acc = w[c];
            for (int32_t lane = 0; lane < 16; lane++) {
                if ((job->mask >> lane & 1u) != 0) {
                    acc += x[job->offsets[lane / 4] + lane % 4] * lam_mve_few_weight(w + head, c * job->taps, job->order, lane);
                }
            }
            acc *= mode == LAM_MVE_SINGLE ? 16 : 1;
            job->y[pixel * job->y_step + c] = lam_mve_depthwise_output(job, w, c, acc, mode, each);
        }
    }
}

#define lam_mve_depthwise_s4(job, mode, factors, bounds, stride, last, y_step) \
    lam_mve_depthwise_each_s4(job, LAM_MVE_##mode, LAM_MVE_##factors)
#endif

#endif /* LAM_MVE_DEPTHWISE_FEW_H */
