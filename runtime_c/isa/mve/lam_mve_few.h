/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The dot products of lam_mve_dense.h on weights of 4 bits, two channels in the bytes of a vector.
 *
 * A block of the packed stream is as there, but for two things: 16 inputs take 8 words, first 16 bytes of the first channel
 * (lower 4 bits) and the second one (upper 4 bits), then those of the third and the fourth; and the biases of the first
 * and the third channel are 16 times theirs, as their products are summed, so that one shift takes their weights apart.
 *
 * Sums of so small weights leave room: in mode single 16 times each is requantized, which is why shifts are those of
 * lam_mve_requant.h less 4, of factors up to 4.
 */
#ifndef LAM_MVE_FEW_H
#define LAM_MVE_FEW_H

#include "lam_mve_columns.h"

#if LAM_MVE

/* 16 inputs in q0 by the bytes in q1, which are of two channels: 16 times the sum of the first, and the sum of the second. */
#define LAM_MVE_FEW_TWO(op, low, high) \
    "vshl.i8 q2, q1, #4\n" \
    "vshr.s8 q1, q1, #4\n" \
    op ".s8 " low ", q0, q2\n" \
    op ".s8 " high ", q0, q1\n"

/* Two sums by lower bits, and two by upper ones: all as they are, or in mode single 16 times. */
#define LAM_MVE_FEW_LESS_SINGLE(low0, high0, low1, high1) \
    "lsl " high0 ", " high0 ", #4\n" \
    "lsl " high1 ", " high1 ", #4\n"
#define LAM_MVE_FEW_LESS_TFLITE(low0, high0, low1, high1) \
    "asr " low0 ", " low0 ", #4\n" \
    "asr " low1 ", " low1 ", #4\n"
#define LAM_MVE_FEW_LESS_UP LAM_MVE_FEW_LESS_TFLITE
#define LAM_MVE_FEW_LESS_ORT LAM_MVE_FEW_LESS_TFLITE
#define LAM_MVE_FEW_LESS_ONE(MODE) LAM_MVE_FEW_LESS_##MODE("r0", "r2", "r4", "r6")
#define LAM_MVE_FEW_LESS_BOTH(MODE) LAM_MVE_FEW_LESS_ONE(MODE) LAM_MVE_FEW_LESS_##MODE("r8", "r10", "r12", "lr")

/* 16 inputs of two pixels in columns, as LAM_MVE_READ_TWO, and of one. */
#define LAM_MVE_FEW_READ_TWO(product, load, x_step, at) \
    "vldrb.8 q5, [r1, #" #x_step "]\n" \
    "vldrw.32 q1, [r5, #" at "]\n" load LAM_MVE_FEW_READ_WEIGHTS(product, "r0", "r2", "r8", "r10") \
    "vldrw.32 q1, [r5, #" at " + 16]\n" LAM_MVE_FEW_READ_WEIGHTS(product, "r4", "r6", "r12", "lr")
#define LAM_MVE_FEW_READ_WEIGHTS(product, low0, high0, low1, high1) \
    "vshl.i8 q0, q1, #4\n" \
    product " " low0 ", q4, q0\n" \
    product " " low1 ", q5, q0\n" \
    "vshr.s8 q1, q1, #4\n" \
    product " " high0 ", q4, q1\n" \
    product " " high1 ", q5, q1\n"
#define LAM_MVE_FEW_READ_ONE(product, x, at) \
    "vldrb.8 q4, [r1, #" x "]\n" \
    "vldrw.32 q1, [r5, #" at "]\n" \
    "vshl.i8 q0, q1, #4\n" \
    product " r0, q4, q0\n" \
    "vshr.s8 q1, q1, #4\n" \
    product " r2, q4, q1\n" \
    "vldrw.32 q1, [r5, #" at " + 16]\n" \
    "vshl.i8 q0, q1, #4\n" \
    product " r4, q4, q0\n" \
    "vshr.s8 q1, q1, #4\n" \
    product " r6, q4, q1\n"

#define LAM_MVE_FEW_MORE_TWO(x_step, head, at) \
    LAM_MVE_FEW_READ_TWO("vmladava.s8", LAM_MVE_LOAD_NEXT, x_step, head " + " at)
#define LAM_MVE_FEW_LAST_TWO(product, x_step, head, before, at) \
    LAM_MVE_FEW_READ_TWO(product, LAM_MVE_LOAD_LAST("vldrb.8", x_step, before), x_step, head " + " at)
#define LAM_MVE_FEW_FIRST_TWO(x_step, head) LAM_MVE_FEW_READ_TWO("vmladav.s8", LAM_MVE_LOAD_NEXT, x_step, head)
#define LAM_MVE_FEW_ONE_16(head) LAM_MVE_FEW_READ_ONE("vmladav.s8", "0", head)
#define LAM_MVE_FEW_ONE_32(head) LAM_MVE_FEW_ONE_16(head) LAM_MVE_FEW_READ_ONE("vmladava.s8", "16", head " + 32")
#define LAM_MVE_FEW_ONE_48(head) LAM_MVE_FEW_ONE_32(head) LAM_MVE_FEW_READ_ONE("vmladava.s8", "32", head " + 64")
#define LAM_MVE_FEW_ONE_64(head) LAM_MVE_FEW_ONE_48(head) LAM_MVE_FEW_READ_ONE("vmladava.s8", "48", head " + 96")

/* Biases are as they are, in mode single 16 times, and added behind the shift. */
#define LAM_MVE_FEW_READ(MODE, FACTORS, BOUNDS, last, x_step, y_step, two, one, bytes) \
    LAM_MVE_READ(MODE, FACTORS, BOUNDS, last, x_step, y_step, \
                 two LAM_MVE_FEW_LESS_BOTH(MODE), one LAM_MVE_FEW_LESS_ONE(MODE), bytes)
#define LAM_MVE_FEW_COLUMNS_16(MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_FEW_READ(MODE, FACTORS, BOUNDS, last, x_step, y_step, \
                     LAM_MVE_FEW_LAST_TWO("vmladav.s8", x_step, LAM_MVE_HEAD_##FACTORS, "0", "0"), \
                     LAM_MVE_FEW_ONE_16(LAM_MVE_HEAD_##FACTORS), "32")
#define LAM_MVE_FEW_COLUMNS_32(MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_FEW_READ(MODE, FACTORS, BOUNDS, last, x_step, y_step, \
                     LAM_MVE_FEW_FIRST_TWO(x_step, LAM_MVE_HEAD_##FACTORS) \
                     LAM_MVE_FEW_LAST_TWO("vmladava.s8", x_step, LAM_MVE_HEAD_##FACTORS, "16", "32"), \
                     LAM_MVE_FEW_ONE_32(LAM_MVE_HEAD_##FACTORS), "64")
#define LAM_MVE_FEW_COLUMNS_48(MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_FEW_READ(MODE, FACTORS, BOUNDS, last, x_step, y_step, \
                     LAM_MVE_FEW_FIRST_TWO(x_step, LAM_MVE_HEAD_##FACTORS) \
                     LAM_MVE_FEW_MORE_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "32") \
                     LAM_MVE_FEW_LAST_TWO("vmladava.s8", x_step, LAM_MVE_HEAD_##FACTORS, "32", "64"), \
                     LAM_MVE_FEW_ONE_48(LAM_MVE_HEAD_##FACTORS), "96")
#define LAM_MVE_FEW_COLUMNS_64(MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_FEW_READ(MODE, FACTORS, BOUNDS, last, x_step, y_step, \
                     LAM_MVE_FEW_FIRST_TWO(x_step, LAM_MVE_HEAD_##FACTORS) \
                     LAM_MVE_FEW_MORE_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "32") \
                     LAM_MVE_FEW_MORE_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "64") \
                     LAM_MVE_FEW_LAST_TWO("vmladava.s8", x_step, LAM_MVE_HEAD_##FACTORS, "48", "96"), \
                     LAM_MVE_FEW_ONE_64(LAM_MVE_HEAD_##FACTORS), "128")

/* As lam_mve_columns, on weights of 4 bits, of 16, 32, 48 or 64 inputs. */
#define lam_mve_columns_s4(job, mode, factors, bounds, inputs, last, x_step, y_step) \
    do { \
        register lam_mve_job *const held __asm("r11") = (job); \
        held->x1 = lam_mve_pairs_end(held, (x_step)); \
        LAM_MVE_FEW_COLUMNS_##inputs(mode, factors, bounds, last, x_step, y_step); \
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

#define LAM_MVE_FEW_PAIRS_BY(MODE, FACTORS, BOUNDS) \
    LAM_MVE_PAIRS_BY(MODE, FACTORS, BOUNDS, LAM_MVE_FEW_PAIRS_CHUNK, LAM_MVE_FEW_LESS_BOTH(MODE))
#define LAM_MVE_FEW_PAIRS(MODE, FACTORS) \
    do { \
        if (full != 0) { \
            LAM_MVE_FEW_PAIRS_BY(MODE, FACTORS, FULL); \
        } else { \
            LAM_MVE_FEW_PAIRS_BY(MODE, FACTORS, WITHIN); \
        } \
    } while (0)

/* One pixel; what is beyond the last input is left out, as in LAM_MVE_VECTOR. */
#define LAM_MVE_FEW_VECTOR_CHUNK \
    "vldrb.8 q0, [r1], #16\n" \
    "vldrb.8 q1, [r5], #32\n" LAM_MVE_FEW_TWO("vmladava", "r0", "r2") \
    "vldrb.8 q1, [r5, #-16]\n" LAM_MVE_FEW_TWO("vmladava", "r4", "r6")
#define LAM_MVE_FEW_VECTOR(MODE, FACTORS) \
    LAM_MVE_VECTOR_BY(MODE, FACTORS, "24", LAM_MVE_VECTOR_INPUTS(LAM_MVE_FEW_VECTOR_CHUNK), LAM_MVE_FEW_LESS_ONE(MODE), "")

#else

/* As lam_mve_block; `own`: biases are as they are, in mode single 16 times. */
static inline void lam_mve_few_block(const int8_t *x, const int32_t *w, uint8_t *y, int32_t inputs, int mode, int each,
                                     const lam_mve_job *job, int own)
{
    for (int32_t c = 0; c < 4; c++) {
        const int32_t multiplier = lam_mve_multiplier(w, c, each, job->multiplier);
        const int32_t shift = lam_mve_shift(w, c, each, job->shift);
        const int32_t lifted = mode == LAM_MVE_SINGLE ? 16 : 1;
        int32_t acc = own != 0 ? w[c] / lifted : (c & 1) != 0 ? w[c] : w[c] / 16;
        for (int32_t i = 0; i < inputs; i++) {
            const int32_t two = lam_mve_byte(w + lam_mve_head(each), i / 16 * 32 + (c >> 1) * 16 + i % 16);
            acc += x[i] * ((c & 1) != 0 ? two >> 4 : ((two & 15) ^ 8) - 8);
        }
        y[c] = (uint8_t)lam_mve_requant(mode, acc * lifted, multiplier, shift, job->zero_point, job->low, job->high);
    }
}

static inline void lam_mve_columns_each_s4(lam_mve_job *job, int mode, int each, int32_t inputs, int32_t x_step, int32_t y_step)
{
    const int32_t words = lam_mve_head(each) + inputs / 2;
    for (const int32_t *w = job->w; w != job->end; w += words, job->y0 += 4) {
        for (int32_t i = 0; i < job->count; i++) {
            lam_mve_few_block(job->x0 + i * x_step, w, job->y0 + i * y_step, inputs, mode, each, job, 1);
        }
    }
}

#define lam_mve_columns_s4(job, mode, factors, bounds, inputs, last, x_step, y_step) \
    lam_mve_columns_each_s4(job, LAM_MVE_##mode, LAM_MVE_##factors, inputs, x_step, y_step)

#endif

/* As lam_mve_pairs and lam_mve_vector, on weights of 4 bits. */
static inline void lam_mve_pairs_s4(lam_mve_job *job, int mode, int each, int full)
{
#if LAM_MVE
    LAM_MVE_JOB(held);
    LAM_MVE_FORM(LAM_MVE_FEW_PAIRS);
#else
    LAM_UNUSED(full);
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
