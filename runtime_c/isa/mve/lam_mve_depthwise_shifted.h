/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Depthwise convolution of lam_mve_depthwise.h on weights that are bytes and a shift for all of them: each window is
 * multiplied once more, by the shift.  `expanded` of the job is 16 bytes: the shift where a byte of the window has a weight,
 * else 0.
 */
#ifndef LAM_MVE_DEPTHWISE_SHIFTED_H
#define LAM_MVE_DEPTHWISE_SHIFTED_H

#include "lam_mve_depthwise.h"

/* As lam_mve_depthwise. */
#if LAM_MVE
/* The shift waits in q7 until the biases take it. */
#define LAM_MVE_WINDOWS_OPEN_S8_SHIFTED \
    "ldr r0, [r11, #80]\n" \
    "vldrb.8 q7, [r0]\n"
#define LAM_MVE_WINDOWS_OPEN_U8_SHIFTED LAM_MVE_WINDOWS_OPEN_S8_SHIFTED
#define LAM_MVE_WINDOWS_OPEN_WITHIN_SHIFTED LAM_MVE_WINDOWS_OPEN_S8_SHIFTED
#define LAM_MVE_WINDOW_MORE_S8_SHIFTED(sum, q) "vmladava.s8 " sum ", " q ", q7\n"
#define LAM_MVE_WINDOW_MORE_U8_SHIFTED LAM_MVE_WINDOW_MORE_S8_SHIFTED
#define LAM_MVE_WINDOW_MORE_WITHIN_SHIFTED LAM_MVE_WINDOW_MORE_S8_SHIFTED

#define lam_mve_depthwise_shifted(job, mode, factors, bounds, stride, last, y_step) \
    lam_mve_depthwise(job, mode, factors, bounds##_SHIFTED, stride, last, y_step)
#else
static inline void lam_mve_depthwise_each_shifted(lam_mve_planes *job, int mode, int each)
{
    const int32_t head = lam_mve_head(each);
    for (const int32_t *w = job->w; w != job->end; w += head + job->taps, job->planes += 16, job->y += 4) {
        for (int32_t i = 0; i < 4 * job->count; i++) {
            const int32_t c = i % 4, pixel = i / 4;
            const int8_t *const x = job->planes + pixel * job->x_step + 4 * c;
            int32_t acc = w[c];
            for (int32_t lane = 0; lane < 16; lane++) {
                if ((job->mask >> lane & 1u) != 0) {
                    const int32_t weight = lam_mve_byte(w + head, c * job->taps + job->order[lane]) + job->expanded[lane];
                    acc += x[job->offsets[lane / 4] + lane % 4] * weight;
                }
            }
            job->y[pixel * job->y_step + c] = lam_mve_depthwise_output(job, w, c, acc, mode, each);
        }
    }
}

#define lam_mve_depthwise_shifted(job, mode, factors, bounds, stride, last, y_step) \
    lam_mve_depthwise_each_shifted(job, LAM_MVE_##mode, LAM_MVE_##factors)
#endif

#endif /* LAM_MVE_DEPTHWISE_SHIFTED_H */
