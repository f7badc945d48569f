/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The dot products of lam_mve_dense.h on weights of 4 bits, two channels in the bytes of a vector.
 *
 * A block of the packed stream is as there, but for two things: 16 inputs take 8 words, first 16 bytes of the first channel
 * (lower 4 bits) and the second one (upper 4 bits), then those of the third and the fourth; and the biases of the first
 * and the third channel are 16 times theirs, as their products are summed, so that one shift takes their weights apart.
 */
#ifndef LAM_MVE_FEW_H
#define LAM_MVE_FEW_H

#include "lam_mve_dense.h"

#if LAM_MVE

/* 16 inputs in q0 by the bytes in q1, which are of two channels: 16 times the sum of the first, and the sum of the second. */
#define LAM_MVE_FEW_TWO(op, low, high) \
    "vshl.i8 q2, q1, #4\n" \
    "vshr.s8 q1, q1, #4\n" \
    op ".s8 " low ", q0, q2\n" \
    op ".s8 " high ", q0, q1\n"

#define LAM_MVE_FEW_COLUMNS_CHUNK(op, at, w0, w1) \
    "vldrb.8 q0, [r1, #" at "]\n" \
    "vldrw.32 q1, [r5, #" w0 "]\n" LAM_MVE_FEW_TWO(op, "r0", "r2") \
    "vldrw.32 q1, [r5, #" w1 "]\n" LAM_MVE_FEW_TWO(op, "r4", "r6")
#define LAM_MVE_FEW_LESS(low, other) \
    "asr " low ", " low ", #4\n" \
    "asr " other ", " other ", #4\n"

#define LAM_MVE_FEW_CHUNKS_1 LAM_MVE_FEW_COLUMNS_CHUNK("vmladav", "0", "0", "16")
#define LAM_MVE_FEW_CHUNKS_2 LAM_MVE_FEW_CHUNKS_1 LAM_MVE_FEW_COLUMNS_CHUNK("vmladava", "16", "32", "48")
#define LAM_MVE_FEW_CHUNKS_3 LAM_MVE_FEW_CHUNKS_2 LAM_MVE_FEW_COLUMNS_CHUNK("vmladava", "32", "64", "80")
#define LAM_MVE_FEW_CHUNKS_4 LAM_MVE_FEW_CHUNKS_3 LAM_MVE_FEW_COLUMNS_CHUNK("vmladava", "48", "96", "112")

/* Sums of columns begin with 0: their biases are as they are, and added behind the shift. */
#define LAM_MVE_FEW_COLUMNS_OF(MODE, FACTORS) \
    do { \
        if (chunks == 1) { \
            LAM_MVE_COLUMNS(MODE, FACTORS, LAM_MVE_FEW_CHUNKS_1 LAM_MVE_FEW_LESS("r0", "r4"), "32"); \
        } else if (chunks == 2) { \
            LAM_MVE_COLUMNS(MODE, FACTORS, LAM_MVE_FEW_CHUNKS_2 LAM_MVE_FEW_LESS("r0", "r4"), "64"); \
        } else if (chunks == 3) { \
            LAM_MVE_COLUMNS(MODE, FACTORS, LAM_MVE_FEW_CHUNKS_3 LAM_MVE_FEW_LESS("r0", "r4"), "96"); \
        } else { \
            LAM_MVE_COLUMNS(MODE, FACTORS, LAM_MVE_FEW_CHUNKS_4 LAM_MVE_FEW_LESS("r0", "r4"), "128"); \
        } \
    } while (0)

/* 16 inputs of two pixels for four channels, as LAM_MVE_PAIRS_CHUNK. */
#define LAM_MVE_FEW_PAIRS_TWO(low0, high0, low1, high1) \
    "vshl.i8 q2, q3, #4\n" \
    "vshr.s8 q3, q3, #4\n" \
    "vmladava.s8 " low0 ", q0, q2\n" \
    "vmladava.s8 " low1 ", q1, q2\n" \
    "vmladava.s8 " high0 ", q0, q3\n" \
    "vmladava.s8 " high1 ", q1, q3\n"
#define LAM_MVE_FEW_PAIRS_CHUNK \
    "vldrb.8 q0, [r1], #16\n" \
    "vldrb.8 q1, [r3], #16\n" \
    "vldrw.32 q3, [r5], #32\n" LAM_MVE_FEW_PAIRS_TWO("r0", "r2", "r8", "r10") \
    "vldrw.32 q3, [r5, #-16]\n" LAM_MVE_FEW_PAIRS_TWO("r4", "r6", "r12", "lr")

#define LAM_MVE_FEW_PAIRS(MODE, FACTORS) \
    LAM_MVE_PAIRS_BY(MODE, FACTORS, LAM_MVE_FEW_PAIRS_CHUNK, LAM_MVE_FEW_LESS("r0", "r4") LAM_MVE_FEW_LESS("r8", "r12"))

/* One pixel; what is beyond the last input is left out, as in LAM_MVE_VECTOR. */
#define LAM_MVE_FEW_VECTOR_CHUNK \
    "vldrb.8 q0, [r1], #16\n" \
    "vldrb.8 q1, [r5], #32\n" LAM_MVE_FEW_TWO("vmladava", "r0", "r2") \
    "vldrb.8 q1, [r5, #-16]\n" LAM_MVE_FEW_TWO("vmladava", "r4", "r6")
#define LAM_MVE_FEW_VECTOR(MODE, FACTORS) \
    LAM_MVE_VECTOR_BY(MODE, FACTORS, "24", LAM_MVE_VECTOR_INPUTS(LAM_MVE_FEW_VECTOR_CHUNK), LAM_MVE_FEW_LESS("r0", "r4"))

#else

/* As lam_mve_block; `own`: biases are as they are. */
static inline void lam_mve_few_block(const int8_t *x, const int32_t *w, uint8_t *y, int32_t inputs, int mode, int each,
                                     const lam_mve_job *job, int own)
{
    for (int32_t c = 0; c < 4; c++) {
        const int32_t multiplier = lam_mve_multiplier(w, c, each, job->multiplier);
        const int32_t shift = lam_mve_shift(w, c, each, job->shift);
        int32_t acc = (own != 0 || (c & 1) != 0) ? w[c] : w[c] / 16;
        for (int32_t i = 0; i < inputs; i++) {
            const int32_t two = lam_mve_byte(w + lam_mve_head(each), i / 16 * 32 + (c >> 1) * 16 + i % 16);
            acc += x[i] * ((c & 1) != 0 ? two >> 4 : ((two & 15) ^ 8) - 8);
        }
        y[c] = (uint8_t)lam_mve_requant(mode, acc, multiplier, shift, job->zero_point, job->low, job->high);
    }
}

#endif

/* As lam_mve_columns, lam_mve_pairs and lam_mve_vector, on weights of 4 bits. */
static inline void lam_mve_columns_s4(lam_mve_job *job, int mode, int each, int32_t chunks)
{
#if LAM_MVE
    LAM_MVE_JOB(held);
    LAM_MVE_FORM(LAM_MVE_FEW_COLUMNS_OF);
#else
    const int32_t words = lam_mve_head(each) + 8 * chunks;
    for (const int32_t *w = job->w; w != job->end; w += words, job->y0 += 4) {
        for (int32_t i = 0; i < job->count; i++) {
            lam_mve_few_block(job->x0 + i * job->x_step, w, job->y0 + i * job->y_step, 16 * chunks, mode, each, job, 1);
        }
    }
#endif
}

static inline void lam_mve_pairs_s4(lam_mve_job *job, int mode, int each)
{
#if LAM_MVE
    LAM_MVE_JOB(held);
    LAM_MVE_FORM(LAM_MVE_FEW_PAIRS);
#else
    const int32_t words = lam_mve_head(each) + 8 * job->chunks;
    for (const int32_t *w = job->w; w != job->end; w += words, job->y0 += 4, job->y1 += 4) {
        lam_mve_few_block(job->x0, w, job->y0, 16 * job->chunks, mode, each, job, 0);
        lam_mve_few_block(job->x1, w, job->y1, 16 * job->chunks, mode, each, job, 0);
    }
#endif
}

static inline void lam_mve_vector_s4(lam_mve_job *job, int mode, int each)
{
#if LAM_MVE
    LAM_MVE_JOB(held);
    LAM_MVE_FORM(LAM_MVE_FEW_VECTOR);
#else
    const int32_t words = lam_mve_head(each) + 8 * job->chunks;
    for (const int32_t *w = job->w; w != job->end; w += words, job->y0 += 4) {
        lam_mve_few_block(job->x0, w, job->y0, job->count, mode, each, job, 0);
    }
#endif
}

#endif /* LAM_MVE_FEW_H */
