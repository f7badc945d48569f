/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dot products of few inputs, as of lam_mve_dense.h: one block of four channels after another, and all pixels of a run for
 * each, two at a time, so that a weight serves twice.  Those of 8 and of 16 inputs stay in registers.
 *
 *   lam_mve_columns(job, mode, factors, bounds, inputs, last, x_step, y_step)
 *
 *   job       x0, y0, w, end, count, zero_point; low and high (WITHIN); multiplier and shift (ONE)
 *   mode      SINGLE, TFLITE, ORT or UP, as of lam_mve_requant.h
 *   factors   EACH: channels have their own, in the stream; ONE: the job has what all of them share
 *   bounds    S8 or U8: outputs have the whole range of that type; WITHIN: they go from low to high
 *   inputs    8, 16, 32, 48 or 64
 *   last      whether `count` is odd: 0, with which it is 2 or more, 1, then 3 or more, or 2 where that is not known
 *   x_step    bytes from the inputs of a pixel to those of the next, 127 at most
 *   y_step    bytes from its outputs to those of the next, 4095 at most
 *
 * All but the job are spelled as they stand here: numbers are part of instructions.
 */
#ifndef LAM_MVE_COLUMNS_H
#define LAM_MVE_COLUMNS_H

#include "lam_mve_dense.h"

/* Where the pixels end that are made two at a time. */
static inline const int8_t *lam_mve_pairs_end(const lam_mve_job *job, int32_t x_step)
{
    return job->x0 + job->count / 2 * 2 * x_step;
}

#if LAM_MVE

/* Factors to q6 and q7, before the first block or at each one; where a block has its weights; multipliers once more. */
#define LAM_MVE_COLUMNS_SHARED_ONE \
    "ldrd r0, r2, [r11, #44]\n" \
    "vdup.32 q6, r0\n" \
    "vdup.32 q7, r2\n"
#define LAM_MVE_COLUMNS_SHARED_EACH ""
#define LAM_MVE_COLUMNS_OWN_ONE ""
#define LAM_MVE_COLUMNS_OWN_EACH \
    "vldrw.32 q6, [r5, #16]\n" \
    "vldrb.s32 q7, [r5, #32]\n"
#define LAM_MVE_HEAD_ONE "16"
#define LAM_MVE_HEAD_EACH "36"
#define LAM_MVE_AGAIN_ONE \
    "ldr r0, [r11, #44]\n" \
    "vdup.32 q6, r0\n"
#define LAM_MVE_AGAIN_EACH "vldrw.32 q6, [r5, #16]\n"

/* Sums of two pixels in q4 and q5 by their factors, to integers; t is free, or q6 itself, which `again` reads then. */
#define LAM_MVE_SCALE_TWO_SINGLE(t, again) LAM_MVE_SCALE_SINGLE("q4", "q6", "q7", t) LAM_MVE_SCALE_SINGLE("q5", "q6", "q7", t)
#define LAM_MVE_SCALE_TWO_UP(t, again) LAM_MVE_SCALE_UP("q4", "q6", "q7", t) LAM_MVE_SCALE_UP("q5", "q6", "q7", t)
#define LAM_MVE_SCALE_TWO_TFLITE(t, again) \
    "vqrdmulh.s32 q4, q4, q6\n" \
    "vqrdmulh.s32 q5, q5, q6\n" \
    "vshr.s32 " t ", q4, #31\n" \
    "vadd.i32 q4, q4, " t "\n" \
    "vshr.s32 " t ", q5, #31\n" \
    "vrshl.s32 q4, q4, q7\n" \
    "vadd.i32 q5, q5, " t "\n" \
    "vrshl.s32 q5, q5, q7\n" again
#define LAM_MVE_SCALE_TWO_ORT(t, again) \
    LAM_MVE_SCALE_ORT("q4", "q6", "q7", t) LAM_MVE_SCALE_ORT("q5", "q6", "q7", t) \
    LAM_MVE_ROUND_ORT("q4") LAM_MVE_ROUND_ORT("q5")

/* The last inputs of a pixel, `at` bytes behind its first ones; r1 goes on by two pixels. */
#define LAM_MVE_LOAD_LAST(load, x_step, at) \
    ".if 2 * " #x_step " - " at " < 128\n" \
    load " q4, [r1], #2 * " #x_step " - " at "\n" \
    ".else\n" \
    load " q4, [r1]\n" \
    "add r1, r1, #2 * " #x_step " - " at "\n" \
    ".endif\n"

/* Sums of the first pixel, r0 r2 r4 r6, and of the second one, r8 r10 r12 lr. */
#define LAM_MVE_SUMS_FIRST \
    "vmov q4[2], q4[0], r0, r4\n" \
    "vmov q4[3], q4[1], r2, r6\n"
#define LAM_MVE_SUMS_SECOND \
    "vmov q5[2], q5[0], r8, r12\n" \
    "vmov q5[3], q5[1], r10, lr\n"

/* Per block all pixels: the end of those in twos r9, multipliers q6, shifts q7.  `two` and `one`: sums with their biases to q4
 * and q5.  `zero`: the zero point's register; `bytes`: of a block's weights. */
#define LAM_MVE_COLUMNS(MODE, FACTORS, BOUNDS, last, y_step, begin, open, two, one, zero, t, again, bytes) \
    __asm volatile( \
        LAM_MVE_COLUMNS_SHARED_##FACTORS begin \
        "ldr r5, [r11, #16]\n" \
        "ldr r9, [r11, #4]\n" \
        "1:\n" \
        "ldr r1, [r11, #0]\n" \
        "ldr r3, [r11, #8]\n" \
        LAM_MVE_COLUMNS_OWN_##FACTORS open \
        "add r0, r3, #4\n" \
        "str r0, [r11, #8]\n" \
        ".if " #last " == 2\n" \
        "cmp r1, r9\n" \
        "beq 3f\n" \
        ".endif\n" \
        "2:\n" \
        two \
        LAM_MVE_SCALE_TWO_##MODE(t, again) \
        "vqmovnb.s32 q4, q4\n" \
        "vqmovnt.s32 q4, q5\n" \
        LAM_MVE_BYTES_##BOUNDS("q4", zero, "q5", "32") \
        LAM_MVE_STORE_NEXT("q4", y_step) \
        "vshr.u32 q4, q4, #16\n" \
        LAM_MVE_STORE_NEXT("q4", y_step) \
        "cmp r1, r9\n" \
        "bne 2b\n" \
        "3:\n" \
        ".if " #last " == 2\n" \
        "ldr r0, [r11, #24]\n" \
        "lsls r0, r0, #31\n" \
        "beq 4f\n" \
        ".endif\n" \
        ".if " #last "\n" \
        one \
        LAM_MVE_SCALE_##MODE("q4", "q6", "q7", "q5") LAM_MVE_ROUND_##MODE("q4") \
        "vqmovnb.s32 q4, q4\n" \
        LAM_MVE_BYTES_##BOUNDS("q4", zero, "q5", "32") \
        "vstrb.32 q4, [r3]\n" \
        ".endif\n" \
        "4:\n" \
        "ldr r0, [r11, #20]\n" \
        "add r5, r5, #" LAM_MVE_HEAD_##FACTORS " + " bytes "\n" \
        "cmp r5, r0\n" \
        "bne 1b\n" \
        : : "r"(held) : LAM_MVE_CLOBBERS)

/* What else is added to the sums of two pixels, in q4 and q5, or of the last one: nothing but in lam_mve_shifted.h. */
#define LAM_MVE_COLUMNS_MORE_S8(x_step) ""
#define LAM_MVE_COLUMNS_MORE_U8(x_step) ""
#define LAM_MVE_COLUMNS_MORE_WITHIN(x_step) ""
#define LAM_MVE_COLUMNS_LAST_S8(x_step) ""
#define LAM_MVE_COLUMNS_LAST_U8(x_step) ""
#define LAM_MVE_COLUMNS_LAST_WITHIN(x_step) ""

/* Weights in q0 .. q3; biases and the zero point have no register. */
#define LAM_MVE_KEPT(MODE, FACTORS, BOUNDS, last, x_step, y_step, load, product) \
    LAM_MVE_COLUMNS(MODE, FACTORS, BOUNDS, last, y_step, "", LAM_MVE_KEPT_OPEN(load, LAM_MVE_HEAD_##FACTORS), \
                    LAM_MVE_KEPT_TWO(load, product, x_step) LAM_MVE_COLUMNS_MORE_##BOUNDS(x_step), \
                    LAM_MVE_KEPT_ONE(load, product) LAM_MVE_COLUMNS_LAST_##BOUNDS(x_step), "r8", "q6", \
                    LAM_MVE_AGAIN_##FACTORS, "64")
#define LAM_MVE_KEPT_OPEN(load, head) \
    load " q0, [r5, #" head "]\n" \
    load " q1, [r5, #" head " + 16]\n" \
    load " q2, [r5, #" head " + 32]\n" \
    load " q3, [r5, #" head " + 48]\n"
#define LAM_MVE_KEPT_TWO(load, product, x_step) \
    load " q5, [r1, #" #x_step "]\n" \
    "ldm r5, {r0, r2, r4, r6}\n" \
    LAM_MVE_LOAD_LAST(load, x_step, "0") \
    "ldm r5, {r8, r10, r12, lr}\n" \
    product " r0, q4, q0\n" \
    product " r4, q4, q2\n" \
    product " r2, q4, q1\n" \
    product " r6, q4, q3\n" \
    product " r8, q5, q0\n" \
    "vmov q4[2], q4[0], r0, r4\n" \
    product " r12, q5, q2\n" \
    "vmov q4[3], q4[1], r2, r6\n" \
    product " r10, q5, q1\n" \
    product " lr, q5, q3\n" \
    LAM_MVE_SUMS_SECOND \
    "ldr r8, [r11, #28]\n"
#define LAM_MVE_KEPT_ONE(load, product) \
    load " q4, [r1]\n" \
    "ldm r5, {r0, r2, r4, r6}\n" \
    "ldr r8, [r11, #28]\n" \
    product " r0, q4, q0\n" \
    product " r2, q4, q1\n" \
    product " r4, q4, q2\n" \
    product " r6, q4, q3\n" \
    LAM_MVE_SUMS_FIRST
#define LAM_MVE_COLUMNS_8(MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_KEPT(MODE, FACTORS, BOUNDS, last, x_step, y_step, "vldrb.s16", "vmladava.s16")
#define LAM_MVE_COLUMNS_16(MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_KEPT(MODE, FACTORS, BOUNDS, last, x_step, y_step, "vldrb.8", "vmladava.s8")

/* Weights are read for each two pixels; biases in q2, the zero point in q3. */
#define LAM_MVE_READ(MODE, FACTORS, BOUNDS, last, x_step, y_step, two, one, bytes) \
    LAM_MVE_COLUMNS(MODE, FACTORS, BOUNDS, last, y_step, "ldr r0, [r11, #28]\nvdup.16 q3, r0\n", "vldrw.32 q2, [r5]\n", \
                    two LAM_MVE_SUMS_FIRST "vadd.i32 q4, q4, q2\n" LAM_MVE_SUMS_SECOND "vadd.i32 q5, q5, q2\n" \
                    LAM_MVE_COLUMNS_MORE_##BOUNDS(x_step), \
                    one LAM_MVE_SUMS_FIRST "vadd.i32 q4, q4, q2\n" LAM_MVE_COLUMNS_LAST_##BOUNDS(x_step), "q3", "q0", "", bytes)
#define LAM_MVE_LOAD_NEXT "vldrb.8 q4, [r1], #16\n"
/* 16 inputs, by weights from `at` on; `load`: of the first pixel's inputs. */
#define LAM_MVE_READ_TWO(product, load, x_step, at) \
    "vldrb.8 q5, [r1, #" #x_step "]\n" \
    "vldrw.32 q0, [r5, #" at "]\n" load \
    product " r8, q5, q0\n" \
    "vldrw.32 q1, [r5, #" at " + 16]\n" \
    product " r0, q4, q0\n" \
    product " r10, q5, q1\n" \
    "vldrw.32 q0, [r5, #" at " + 32]\n" \
    product " r2, q4, q1\n" \
    "vldrw.32 q1, [r5, #" at " + 48]\n" \
    product " r12, q5, q0\n" \
    product " r4, q4, q0\n" \
    product " lr, q5, q1\n" \
    product " r6, q4, q1\n"
#define LAM_MVE_READ_ONE(product, x, at) \
    "vldrb.8 q4, [r1, #" x "]\n" \
    "vldrw.32 q0, [r5, #" at "]\n" \
    "vldrw.32 q1, [r5, #" at " + 16]\n" \
    product " r0, q4, q0\n" \
    "vldrw.32 q0, [r5, #" at " + 32]\n" \
    product " r2, q4, q1\n" \
    "vldrw.32 q1, [r5, #" at " + 48]\n" \
    product " r4, q4, q0\n" \
    product " r6, q4, q1\n"

#define LAM_MVE_FIRST_TWO(x_step, head) LAM_MVE_READ_TWO("vmladav.s8", LAM_MVE_LOAD_NEXT, x_step, head)
#define LAM_MVE_MORE_TWO(x_step, head, at) LAM_MVE_READ_TWO("vmladava.s8", LAM_MVE_LOAD_NEXT, x_step, head " + " at)
#define LAM_MVE_LAST_TWO(x_step, head, before, at) \
    LAM_MVE_READ_TWO("vmladava.s8", LAM_MVE_LOAD_LAST("vldrb.8", x_step, before), x_step, head " + " at)
#define LAM_MVE_ONE_32(head) LAM_MVE_READ_ONE("vmladav.s8", "0", head) LAM_MVE_READ_ONE("vmladava.s8", "16", head " + 64")
#define LAM_MVE_ONE_48(head) LAM_MVE_ONE_32(head) LAM_MVE_READ_ONE("vmladava.s8", "32", head " + 128")
#define LAM_MVE_ONE_64(head) LAM_MVE_ONE_48(head) LAM_MVE_READ_ONE("vmladava.s8", "48", head " + 192")

#define LAM_MVE_COLUMNS_32(MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_READ(MODE, FACTORS, BOUNDS, last, x_step, y_step, \
                 LAM_MVE_FIRST_TWO(x_step, LAM_MVE_HEAD_##FACTORS) \
                 LAM_MVE_LAST_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "16", "64"), \
                 LAM_MVE_ONE_32(LAM_MVE_HEAD_##FACTORS), "128")
#define LAM_MVE_COLUMNS_48(MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_READ(MODE, FACTORS, BOUNDS, last, x_step, y_step, \
                 LAM_MVE_FIRST_TWO(x_step, LAM_MVE_HEAD_##FACTORS) \
                 LAM_MVE_MORE_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "64") \
                 LAM_MVE_LAST_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "32", "128"), \
                 LAM_MVE_ONE_48(LAM_MVE_HEAD_##FACTORS), "192")
#define LAM_MVE_COLUMNS_64(MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_READ(MODE, FACTORS, BOUNDS, last, x_step, y_step, \
                 LAM_MVE_FIRST_TWO(x_step, LAM_MVE_HEAD_##FACTORS) \
                 LAM_MVE_MORE_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "64") \
                 LAM_MVE_MORE_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "128") \
                 LAM_MVE_LAST_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "48", "192"), \
                 LAM_MVE_ONE_64(LAM_MVE_HEAD_##FACTORS), "256")

#define lam_mve_columns(job, mode, factors, bounds, inputs, last, x_step, y_step) \
    do { \
        register lam_mve_job *const held __asm("r11") = (job); \
        held->x1 = lam_mve_pairs_end(held, (x_step)); \
        LAM_MVE_COLUMNS_##inputs(mode, factors, bounds, last, x_step, y_step); \
    } while (0)

#else

static inline void lam_mve_columns_each(lam_mve_job *job, int mode, int each, int32_t inputs, int32_t x_step, int32_t y_step)
{
    const int32_t words = lam_mve_head(each) + (inputs + 15) / 16 * 16;
    for (const int32_t *w = job->w; w != job->end; w += words, job->y0 += 4) {
        for (int32_t i = 0; i < job->count; i++) {
            lam_mve_block(job->x0 + i * x_step, w, job->y0 + i * y_step, inputs, mode, each, job);
        }
    }
}

#define lam_mve_columns(job, mode, factors, bounds, inputs, last, x_step, y_step) \
    lam_mve_columns_each(job, LAM_MVE_##mode, LAM_MVE_##factors, inputs, x_step, y_step)

#endif

#endif /* LAM_MVE_COLUMNS_H */
