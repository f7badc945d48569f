/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The dot products of lam_mve_dense.h and lam_mve_columns.h on weights of 4 bits with zero points of their own.
 *
 * A block of the packed stream is as there, but for three things.  16 inputs take 8 words, first 16 bytes of the first
 * channel and the second one, then those of the third and the fourth: the upper 4 bits are a number with a sign, of the
 * second or the fourth channel, the lower ones a number without, which is 8 more; beyond the last input both are 0.  Behind
 * the weights is a word of what is added to the numbers of each channel, a byte each.  And for pairs and vectors the bias of the second and the fourth
 * channel is 16 times it and that of the one before, as their sums are: the bytes themselves are multiplied, what the lower
 * bits make of that is taken off, and the rest shifted back.  Each sum of a pixel's inputs is made once, and each
 * channel adds its number times that.  Where sums are requantized with one rounding they are lifted, 16 times them; those of
 * columns by `lift` bits, none or three, as the bytes are that weights become.
 */
#ifndef LAM_MVE_ZEROS_H
#define LAM_MVE_ZEROS_H

#include "lam_mve_columns.h"

/* A job, and the sums of the inputs of its two pixels, or of the one.  The assembly knows the order. */
typedef struct {
    lam_mve_job job;
    int32_t totals[2];
} lam_mve_zeros_job;

#if LAM_MVE

/* Weights as columns have them, of lanes of so many bits: as they are, or 8 times them. */
#define LAM_MVE_ZEROS_UP_0(bits, q) ""
#define LAM_MVE_ZEROS_UP_3(bits, q) "vshl.i" bits " " q ", " q ", #3\n"

/* A block of 8 or 16 inputs in q0 .. q3, as LAM_MVE_KEPT_OPEN has it; `bits`: of a lane. */
#define LAM_MVE_ZEROS_OPEN(LIFT, load, bits, head) \
    load " q0, [r5, #" head "]\n" \
    load " q2, [r5, #" head " + 16]\n" \
    "vmov.i" bits " q4, #15\n" \
    "vshr.s" bits " q1, q0, #4\n" \
    "ldrsb r0, [r5, #" head " + 32]\n" \
    "vand q0, q0, q4\n" \
    "ldrsb r2, [r5, #" head " + 33]\n" \
    "vshr.s" bits " q3, q2, #4\n" \
    "ldrsb r4, [r5, #" head " + 34]\n" \
    "vand q2, q2, q4\n" \
    "ldrsb r6, [r5, #" head " + 35]\n" \
    "vadd.i" bits " q0, q0, r0\n" \
    "vadd.i" bits " q1, q1, r2\n" \
    "vadd.i" bits " q2, q2, r4\n" \
    "vadd.i" bits " q3, q3, r6\n" \
    LAM_MVE_ZEROS_UP_##LIFT(bits, "q0") LAM_MVE_ZEROS_UP_##LIFT(bits, "q1") \
    LAM_MVE_ZEROS_UP_##LIFT(bits, "q2") LAM_MVE_ZEROS_UP_##LIFT(bits, "q3")
#define LAM_MVE_ZEROS_COLUMNS(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step, load, product, bits) \
    LAM_MVE_COLUMNS(MODE, FACTORS, BOUNDS, last, y_step, "", LAM_MVE_ZEROS_OPEN(LIFT, load, bits, LAM_MVE_HEAD_##FACTORS), \
                    LAM_MVE_KEPT_TWO(load, product, x_step), LAM_MVE_KEPT_ONE(load, product), "r8", "q6", \
                    LAM_MVE_AGAIN_##FACTORS, "36")
#define LAM_MVE_ZEROS_COLUMNS_8(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_ZEROS_COLUMNS(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step, "vldrb.s16", "vmladava.s16", "16")
#define LAM_MVE_ZEROS_COLUMNS_16(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_ZEROS_COLUMNS(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step, "vldrb.8", "vmladava.s8", "8")

/* A block's bytes to where the job's table is, which r5 is set to as if they followed a head; where a block ends it is set back,
 * in the place of what a block's weights take. */
#define LAM_MVE_ZEROS_BYTES(LIFT, head, at) \
    "vldrw.32 q0, [r5, #" head " + " at "]\n" \
    "vldrw.32 q1, [r5, #" head " + " at " + 16]\n" \
    "vand q4, q0, q5\n" \
    "vshr.s8 q0, q0, #4\n" \
    "vadd.i8 q4, q4, r0\n" \
    "vadd.i8 q0, q0, r2\n" LAM_MVE_ZEROS_UP_##LIFT("8", "q4") LAM_MVE_ZEROS_UP_##LIFT("8", "q0") \
    "vstrw.32 q4, [r8], #64\n" \
    "vstrw.32 q0, [r8, #-48]\n" \
    "vand q4, q1, q5\n" \
    "vshr.s8 q1, q1, #4\n" \
    "vadd.i8 q4, q4, r4\n" \
    "vadd.i8 q1, q1, r6\n" LAM_MVE_ZEROS_UP_##LIFT("8", "q4") LAM_MVE_ZEROS_UP_##LIFT("8", "q1") \
    "vstrw.32 q4, [r8, #-32]\n" \
    "vstrw.32 q1, [r8, #-16]\n"
#define LAM_MVE_ZEROS_BYTES_32(LIFT, head) LAM_MVE_ZEROS_BYTES(LIFT, head, "0") LAM_MVE_ZEROS_BYTES(LIFT, head, "32")
#define LAM_MVE_ZEROS_BYTES_48(LIFT, head) LAM_MVE_ZEROS_BYTES_32(LIFT, head) LAM_MVE_ZEROS_BYTES(LIFT, head, "64")
#define LAM_MVE_ZEROS_BYTES_64(LIFT, head) LAM_MVE_ZEROS_BYTES_48(LIFT, head) LAM_MVE_ZEROS_BYTES(LIFT, head, "96")
#define LAM_MVE_ZEROS_UNPACKED(LIFT, head, inputs) \
    "vldrw.32 q2, [r5]\n" \
    "ldr r8, [r11, #52]\n" \
    "vmov.i8 q5, #15\n" \
    "ldrsb r0, [r5, #" head " + 2 * " #inputs "]\n" \
    "ldrsb r2, [r5, #" head " + 2 * " #inputs " + 1]\n" \
    "ldrsb r4, [r5, #" head " + 2 * " #inputs " + 2]\n" \
    "ldrsb r6, [r5, #" head " + 2 * " #inputs " + 3]\n" \
    LAM_MVE_ZEROS_BYTES_##inputs(LIFT, head) \
    "str r5, [r11, #56]\n" \
    "sub r5, r8, #" head " + 4 * " #inputs "\n"
#define LAM_MVE_ZEROS_BACK(head, inputs) \
    "0\n" \
    "ldr r5, [r11, #56]\n" \
    "add r5, r5, #" head " + 2 * " #inputs " + 4"
#define LAM_MVE_ZEROS_READ(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step, inputs, two) \
    LAM_MVE_COLUMNS(MODE, FACTORS, BOUNDS, last, y_step, "ldr r0, [r11, #28]\nvdup.16 q3, r0\n", \
                    LAM_MVE_ZEROS_UNPACKED(LIFT, LAM_MVE_HEAD_##FACTORS, inputs), \
                    two LAM_MVE_SUMS_FIRST "vadd.i32 q4, q4, q2\n" LAM_MVE_SUMS_SECOND "vadd.i32 q5, q5, q2\n", \
                    LAM_MVE_ONE_##inputs(LAM_MVE_HEAD_##FACTORS) LAM_MVE_SUMS_FIRST "vadd.i32 q4, q4, q2\n", "q3", "q0", "", \
                    LAM_MVE_ZEROS_BACK(LAM_MVE_HEAD_##FACTORS, inputs))
#define LAM_MVE_ZEROS_COLUMNS_32(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_ZEROS_READ(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step, 32, \
                       LAM_MVE_FIRST_TWO(x_step, LAM_MVE_HEAD_##FACTORS) \
                       LAM_MVE_LAST_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "16", "64"))
#define LAM_MVE_ZEROS_COLUMNS_48(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_ZEROS_READ(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step, 48, \
                       LAM_MVE_FIRST_TWO(x_step, LAM_MVE_HEAD_##FACTORS) \
                       LAM_MVE_MORE_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "64") \
                       LAM_MVE_LAST_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "32", "128"))
#define LAM_MVE_ZEROS_COLUMNS_64(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step) \
    LAM_MVE_ZEROS_READ(LIFT, MODE, FACTORS, BOUNDS, last, x_step, y_step, 64, \
                       LAM_MVE_FIRST_TWO(x_step, LAM_MVE_HEAD_##FACTORS) \
                       LAM_MVE_MORE_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "64") \
                       LAM_MVE_MORE_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "128") \
                       LAM_MVE_LAST_TWO(x_step, LAM_MVE_HEAD_##FACTORS, "48", "192"))

/* As lam_mve_columns; of more than 16 inputs the job's table is where a block's bytes go, 4 times as many.  In the place of inputs
 * that a window lacks are numbers which make up for what is added, and biases are as they are. */
#define lam_mve_zeros_columns(job, lift, mode, factors, bounds, inputs, last, x_step, y_step) \
    do { \
        register lam_mve_job *const held __asm("r11") = (job); \
        held->x1 = lam_mve_pairs_end(held, (x_step)); \
        LAM_MVE_ZEROS_COLUMNS_##inputs(lift, mode, factors, bounds, last, x_step, y_step); \
    } while (0)

LAM_STATIC_ASSERT(sizeof(lam_mve_zeros_job) == 76, mve_zeros_job_is_19_words);

#define LAM_MVE_ZEROS_JOB(name) register lam_mve_zeros_job *const name __asm("r11") = own

/* 16 inputs of two pixels for four channels, as LAM_MVE_PAIRS_CHUNK; q7 has the lower bits' mask. */
#define LAM_MVE_ZEROS_TWO(low0, high0, low1, high1) \
    "vand q2, q3, q7\n" \
    "vmladava.s8 " high0 ", q0, q3\n" \
    "vmladava.s8 " low0 ", q0, q2\n" \
    "vmladava.s8 " high1 ", q1, q3\n" \
    "vmladava.s8 " low1 ", q1, q2\n"
#define LAM_MVE_ZEROS_1 \
    "vldrb.8 q0, [r1], #16\n" \
    "vldrw.32 q3, [r5], #32\n" \
    "vldrb.8 q1, [r3], #16\n" LAM_MVE_ZEROS_TWO("r0", "r2", "r8", "r10") \
    "vldrw.32 q3, [r5, #-16]\n" LAM_MVE_ZEROS_TWO("r4", "r6", "r12", "lr")
#define LAM_MVE_ZEROS_2 LAM_MVE_ZEROS_1 LAM_MVE_ZEROS_1
#define LAM_MVE_ZEROS_3 LAM_MVE_ZEROS_2 LAM_MVE_ZEROS_1
#define LAM_MVE_ZEROS_4 LAM_MVE_ZEROS_2 LAM_MVE_ZEROS_2
#define LAM_MVE_ZEROS_5 LAM_MVE_ZEROS_4 LAM_MVE_ZEROS_1
#define LAM_MVE_ZEROS_6 LAM_MVE_ZEROS_4 LAM_MVE_ZEROS_2

/* What the upper bits alone make, 16 times both in SINGLE; and what is added to each channel, times as much. */
#define LAM_MVE_ZEROS_LESS(low, high) \
    "sub " high ", " high ", " low "\n" \
    "asr " high ", " high ", #4\n"
#define LAM_MVE_ZEROS_LESS_TFLITE LAM_MVE_ZEROS_LESS
#define LAM_MVE_ZEROS_LESS_UP LAM_MVE_ZEROS_LESS
#define LAM_MVE_ZEROS_LESS_ORT LAM_MVE_ZEROS_LESS
#define LAM_MVE_ZEROS_LESS_SINGLE(low, high) \
    "sub " high ", " high ", " low "\n" \
    "lsl " low ", " low ", #4\n"
#define LAM_MVE_ZEROS_ADDED_TFLITE(q) ""
#define LAM_MVE_ZEROS_ADDED_UP(q) ""
#define LAM_MVE_ZEROS_ADDED_ORT(q) ""
#define LAM_MVE_ZEROS_ADDED_SINGLE(q) "vshl.i32 " q ", " q ", #4\n"

/* By what limits outputs, as LAM_MVE_TWO_BYTES; q2 is free. */
#define LAM_MVE_ZEROS_OPEN_FULL \
    "ldr r0, [r11, #28]\n" \
    "vdup.16 q6, r0\n"
#define LAM_MVE_ZEROS_OPEN_WITHIN ""
#define LAM_MVE_ZEROS_BYTES_FULL LAM_MVE_TWO_BYTES_FULL
#define LAM_MVE_ZEROS_BYTES_WITHIN \
    "ldrd r0, r2, [r11, #32]\n" \
    "ldr r9, [r11, #28]\n" \
    "vdup.16 q2, r0\n" \
    "vdup.16 q3, r2\n" \
    "vmax.s16 q0, q0, q2\n" \
    "vmin.s16 q0, q0, q3\n" \
    "vadd.i16 q0, q0, r9\n"

/* As LAM_MVE_ROW_PAIRS. */
#define LAM_MVE_ZEROS_PAIRS(MODE, FACTORS, BOUNDS, begin, row, chunks, turn_end, row_end) \
    __asm volatile( \
        LAM_MVE_SHARED_##FACTORS LAM_MVE_ZEROS_OPEN_##BOUNDS \
        "vmov.i8 q7, #15\n" \
        "ldr r5, [r11, #16]\n" \
        "1:\n" \
        "ldm r5, {r8, r10, r12, lr}\n" \
        "ldm r5!, {r0, r2, r4, r6}\n" \
        LAM_MVE_OWN_##FACTORS \
        begin \
        "2:\n" \
        row \
        "3:\n" \
        chunks \
        turn_end \
        row_end \
        LAM_MVE_ZEROS_LESS_##MODE("r0", "r2") \
        LAM_MVE_ZEROS_LESS_##MODE("r4", "r6") \
        LAM_MVE_ZEROS_LESS_##MODE("r8", "r10") \
        LAM_MVE_ZEROS_LESS_##MODE("r12", "lr") \
        "ldrd r1, r3, [r11, #68]\n" \
        "vldrb.s32 q2, [r5], #4\n" LAM_MVE_ZEROS_ADDED_##MODE("q2") \
        "vmov q0[2], q0[0], r0, r4\n" \
        "vmov q0[3], q0[1], r2, r6\n" \
        "vmov q1[2], q1[0], r8, r12\n" \
        "vmov q1[3], q1[1], r10, lr\n" \
        "vmla.s32 q0, q2, r1\n" \
        "vmla.s32 q1, q2, r3\n" \
        LAM_MVE_SCALE_##MODE("q0", "q4", "q5", "q2") LAM_MVE_ROUND_##MODE("q0") \
        LAM_MVE_SCALE_##MODE("q1", "q4", "q5", "q2") LAM_MVE_ROUND_##MODE("q1") \
        "vqmovnb.s32 q0, q0\n" \
        "ldrd r1, r3, [r11, #8]\n" \
        "vqmovnt.s32 q0, q1\n" \
        LAM_MVE_ZEROS_BYTES_##BOUNDS \
        "vstrb.32 q0, [r1], #4\n" \
        "vshr.u32 q0, q0, #16\n" \
        "ldr r0, [r11, #20]\n" \
        "vstrb.32 q0, [r3], #4\n" \
        "strd r1, r3, [r11, #8]\n" \
        "cmp r5, r0\n" \
        "bne 1b\n" \
        : : "r"(held) : LAM_MVE_CLOBBERS)

/* One row of one turn, one row, rows of one turn, rows; and three rows without a loop. */
#define LAM_MVE_ZEROS_ONE_TURN(MODE, FACTORS, BOUNDS, chunks) \
    LAM_MVE_ZEROS_PAIRS(MODE, FACTORS, BOUNDS, "", "ldrd r1, r3, [r11, #0]\n", chunks, "", "")
#define LAM_MVE_ZEROS_ONE_ROW(MODE, FACTORS, BOUNDS, chunks) \
    LAM_MVE_ZEROS_PAIRS(MODE, FACTORS, BOUNDS, "ldr r9, [r11, #64]\n", "ldrd r1, r3, [r11, #0]\n", chunks, LAM_MVE_TURN_END, "")
#define LAM_MVE_ZEROS_ROWS_OF_A_TURN(MODE, FACTORS, BOUNDS, chunks) \
    LAM_MVE_ZEROS_PAIRS(MODE, FACTORS, BOUNDS, "ldr r9, [r11, #52]\n", "ldrd r1, r3, [r9], #8\n", chunks, "", LAM_MVE_ROW_END)
#define LAM_MVE_ZEROS_ROWS(MODE, FACTORS, BOUNDS, chunks) \
    LAM_MVE_ZEROS_PAIRS(MODE, FACTORS, BOUNDS, "ldr r9, [r11, #52]\n", \
                        "ldrd r1, r3, [r9], #8\nstr r9, [r11, #60]\nldr r9, [r11, #64]\n", chunks, LAM_MVE_TURN_END, \
                        "ldr r9, [r11, #60]\n" LAM_MVE_ROW_END)
#define LAM_MVE_ZEROS_NINE_ROW LAM_MVE_ZEROS_3 "ldrd r1, r3, [r9], #8\n"
#define LAM_MVE_ZEROS_NINE(MODE, FACTORS, BOUNDS) \
    LAM_MVE_ZEROS_PAIRS(MODE, FACTORS, BOUNDS, "ldr r9, [r11, #52]\n", "ldrd r1, r3, [r9], #8\n", \
                        LAM_MVE_ZEROS_NINE_ROW LAM_MVE_ZEROS_NINE_ROW LAM_MVE_ZEROS_3, "", "")
#if defined(__OPTIMIZE_SIZE__)
#define LAM_MVE_UNROLLS 0
#else
#define LAM_MVE_UNROLLS 1
#endif

/* The loop by how many chunks it takes at a time. */
#define LAM_MVE_ZEROS_TURNS(LOOP, MODE, FACTORS, BOUNDS) \
    do { \
        if (turn == 6) { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_ZEROS_6); \
        } else if (turn == 5) { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_ZEROS_5); \
        } else if (turn == 4) { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_ZEROS_4); \
        } else if (turn == 3) { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_ZEROS_3); \
        } else if (turn == 2) { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_ZEROS_2); \
        } else { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_ZEROS_1); \
        } \
    } while (0)
#define LAM_MVE_ZEROS_PAIRS_IN(MODE, FACTORS, BOUNDS) \
    do { \
        if (rows == 1 && chunks == turn) { \
            LAM_MVE_ZEROS_TURNS(LAM_MVE_ZEROS_ONE_TURN, MODE, FACTORS, BOUNDS); \
        } else if (rows == 1) { \
            LAM_MVE_ZEROS_TURNS(LAM_MVE_ZEROS_ONE_ROW, MODE, FACTORS, BOUNDS); \
        } else if (rows == 3 && chunks == 3 && LAM_MVE_UNROLLS) { \
            LAM_MVE_ZEROS_NINE(MODE, FACTORS, BOUNDS); \
        } else if (chunks == turn) { \
            LAM_MVE_ZEROS_TURNS(LAM_MVE_ZEROS_ROWS_OF_A_TURN, MODE, FACTORS, BOUNDS); \
        } else { \
            LAM_MVE_ZEROS_TURNS(LAM_MVE_ZEROS_ROWS, MODE, FACTORS, BOUNDS); \
        } \
    } while (0)
#define LAM_MVE_ZEROS_PAIRS_OF(MODE, FACTORS) \
    do { \
        if (full != 0) { \
            LAM_MVE_ZEROS_PAIRS_IN(MODE, FACTORS, FULL); \
        } else { \
            LAM_MVE_ZEROS_PAIRS_IN(MODE, FACTORS, WITHIN); \
        } \
    } while (0)

/* One pixel, as LAM_MVE_VECTOR_BY; q3 has the mask. */
#define LAM_MVE_ZEROS_VECTOR_CHUNK \
    "vldrb.8 q0, [r1], #16\n" \
    "vldrb.8 q1, [r5], #32\n" \
    "vand q2, q1, q3\n" \
    "vmladava.s8 r2, q0, q1\n" \
    "vmladava.s8 r0, q0, q2\n" \
    "vldrb.8 q1, [r5, #-16]\n" \
    "vand q2, q1, q3\n" \
    "vmladava.s8 r6, q0, q1\n" \
    "vmladava.s8 r4, q0, q2\n"
#define LAM_MVE_ZEROS_VECTOR_TWO LAM_MVE_ZEROS_VECTOR_CHUNK LAM_MVE_ZEROS_VECTOR_CHUNK
#define LAM_MVE_ZEROS_VECTOR_FOUR LAM_MVE_ZEROS_VECTOR_TWO LAM_MVE_ZEROS_VECTOR_TWO
#define LAM_MVE_ZEROS_VECTOR_BY(MODE, FACTORS, count, loop) \
    __asm volatile( \
        LAM_MVE_OPEN(MODE, FACTORS) \
        "vmov.i8 q3, #15\n" \
        "ldr r3, [r11, #8]\n" \
        "ldr r8, [r11, #" count "]\n" \
        "ldr r9, [r11, #28]\n" \
        "ldr r10, [r11, #20]\n" \
        "ldr r12, [r11, #0]\n" \
        "1:\n" \
        "ldrd r0, r2, [r5], #8\n" \
        "ldrd r4, r6, [r5], #8\n" \
        LAM_MVE_OWN_##FACTORS \
        "mov r1, r12\n" \
        loop \
        LAM_MVE_ZEROS_LESS_##MODE("r0", "r2") \
        LAM_MVE_ZEROS_LESS_##MODE("r4", "r6") \
        "ldr r1, [r11, #68]\n" \
        "vldrb.s32 q1, [r5], #4\n" LAM_MVE_ZEROS_ADDED_##MODE("q1") \
        "vmov q0[2], q0[0], r0, r4\n" \
        "vmov q0[3], q0[1], r2, r6\n" \
        "vmla.s32 q0, q1, r1\n" \
        LAM_MVE_SCALE_##MODE("q0", "q4", "q5", "q2") \
        LAM_MVE_CLAMP_##MODE("q0", "q6", "q7") \
        "vadd.i32 q0, q0, r9\n" \
        "vstrb.32 q0, [r3], #4\n" \
        "cmp r5, r10\n" \
        "bne 1b\n" \
        : : "r"(held) : LAM_MVE_CLOBBERS)
#define LAM_MVE_ZEROS_VECTOR_OF(MODE, FACTORS) \
    do { \
        if (LAM_MVE_TURN(turn) == 4) { \
            LAM_MVE_ZEROS_VECTOR_BY(MODE, FACTORS, "64", LAM_MVE_VECTOR_TURNS(LAM_MVE_ZEROS_VECTOR_FOUR)); \
        } else if (LAM_MVE_TURN(turn) == 2) { \
            LAM_MVE_ZEROS_VECTOR_BY(MODE, FACTORS, "64", LAM_MVE_VECTOR_TURNS(LAM_MVE_ZEROS_VECTOR_TWO)); \
        } else { \
            LAM_MVE_ZEROS_VECTOR_BY(MODE, FACTORS, "24", LAM_MVE_VECTOR_INPUTS(LAM_MVE_ZEROS_VECTOR_CHUNK)); \
        } \
    } while (0)

#else

/* Weight k of channel c of a block less what is added to it, and that, behind so many chunks of inputs. */
static inline int32_t lam_mve_zeros_number(const int32_t *bytes, int32_t c, int32_t k)
{
    const int32_t two = lam_mve_byte(bytes, k / 16 * 32 + (c >> 1) * 16 + k % 16);
    return (c & 1) != 0 ? two >> 4 : two & 15;
}

static inline int32_t lam_mve_zeros_less(const int32_t *bytes, int32_t c, int32_t chunks)
{
    return lam_mve_byte(bytes, 32 * chunks + c);
}

static inline void lam_mve_zeros_columns_each(const lam_mve_job *job, int lift, int mode, int each, int32_t inputs,
                                              int32_t x_step, int32_t y_step)
{
    const int32_t head = lam_mve_head(each), chunks = (inputs + 15) / 16, up = 1 << lift;
    uint8_t *y = job->y0;
    for (const int32_t *w = job->w; w != job->end; w += head + 8 * chunks + 1, y += 4) {
        for (int32_t i = 0; i < 4 * job->count; i++) {
            const int32_t c = i % 4;
            int32_t acc = w[c];
            for (int32_t k = 0; k < inputs; k++) {
                const int32_t weight = lam_mve_zeros_number(w + head, c, k) + lam_mve_zeros_less(w + head, c, chunks);
                acc += job->x0[i / 4 * x_step + k] * weight * up;
            }
            y[i / 4 * y_step + c] = (uint8_t)lam_mve_requant(mode, acc, lam_mve_multiplier(w, c, each, job->multiplier),
                                                             lam_mve_shift(w, c, each, job->shift), job->zero_point, job->low,
                                                             job->high);
        }
    }
}

#define lam_mve_zeros_columns(job, lift, mode, factors, bounds, inputs, last, x_step, y_step) \
    lam_mve_zeros_columns_each(job, lift, LAM_MVE_##mode, LAM_MVE_##factors, inputs, x_step, y_step)

/* Input k of the job's pixel 0 or 1, of rows of so many inputs. */
static inline int32_t lam_mve_zeros_input(const lam_mve_job *job, int32_t pixel, int32_t rows, int32_t row, int32_t k)
{
    const int8_t *const one = pixel == 0 ? job->x0 : job->x1;
    return rows == 1 ? one[k] : job->table[k / row * 2 + pixel][k % row];
}

/* One pixel by one block of four channels, of `inputs` inputs in rows of `row`, padded to whole chunks; its outputs to y. */
static inline void lam_mve_zeros_block(const lam_mve_zeros_job *own, const int32_t *w, int32_t pixel, int32_t rows, int32_t row,
                                       int32_t inputs, uint8_t *y, int mode, int each)
{
    const lam_mve_job *const job = &own->job;
    const int32_t *const bytes = w + lam_mve_head(each);
    for (int32_t c = 0; c < 4; c++) {
        int32_t acc = (c & 1) != 0 ? (int32_t)((uint32_t)w[c] - (uint32_t)w[c - 1]) / 16 : w[c];
        for (int32_t k = 0; k < inputs; k++) {
            acc += lam_mve_zeros_input(job, pixel, rows, row, k) * lam_mve_zeros_number(bytes, c, k);
        }
        acc += own->totals[pixel] * lam_mve_zeros_less(bytes, c, (inputs + 15) / 16);
        acc *= mode == LAM_MVE_SINGLE ? 16 : 1;
        y[c] = (uint8_t)lam_mve_requant(mode, acc, lam_mve_multiplier(w, c, each, job->multiplier),
                                        lam_mve_shift(w, c, each, job->shift), job->zero_point, job->low, job->high);
    }
}

#endif

/* Adds the sums of n inputs from x0 and from x1 on to the job's. */
static inline void lam_mve_zeros_add(lam_mve_zeros_job *own, const int8_t *x0, const int8_t *x1, int32_t n)
{
#if LAM_MVE
    register int32_t first __asm("r0") = own->totals[0];
    register int32_t second __asm("r2") = own->totals[1];
    __asm volatile(
        "wlstp.8 lr, %[n], 2f\n"
        "1:\n"
        "vldrb.8 q0, [%[x0]], #16\n"
        "vldrb.8 q1, [%[x1]], #16\n"
        "vaddva.s8 %[first], q0\n"
        "vaddva.s8 %[second], q1\n"
        "letp lr, 1b\n"
        "2:\n"
        : [first] "+&r"(first), [second] "+&r"(second), [x0] "+&r"(x0), [x1] "+&r"(x1)
        : [n] "r"(n)
        : "lr", "q0", "q1", "memory");
    own->totals[0] = first;
    own->totals[1] = second;
#else
    for (int32_t i = 0; i < n; i++) {
        own->totals[0] += x0[i];
        own->totals[1] += x1[i];
    }
#endif
}

/* The sums of the inputs of the job's two pixels, of `rows` rows of n inputs: where its table has them, or of one row. */
static inline LAM_MVE_FOLDED void lam_mve_zeros_sum(lam_mve_zeros_job *own, int32_t rows, int32_t n)
{
    own->totals[0] = 0;
    own->totals[1] = 0;
    if (rows == 1) {
        lam_mve_zeros_add(own, own->job.x0, own->job.x1, n);
    } else {
        for (int32_t i = 0; i < rows; i++) {
            lam_mve_zeros_add(own, own->job.table[2 * i], own->job.table[2 * i + 1], n);
        }
    }
}

/* The sum of the inputs of the job's one pixel. */
static inline void lam_mve_zeros_sum_one(lam_mve_zeros_job *own, int32_t n)
{
#if LAM_MVE
    const int8_t *x = own->job.x0;
    register int32_t sum __asm("r0") = 0;
    __asm volatile(
        "wlstp.8 lr, %[n], 2f\n"
        "1:\n"
        "vldrb.8 q0, [%[x]], #16\n"
        "vaddva.s8 %[sum], q0\n"
        "letp lr, 1b\n"
        "2:\n"
        : [sum] "+&r"(sum), [x] "+&r"(x)
        : [n] "r"(n)
        : "lr", "q0", "memory");
    own->totals[0] = sum;
#else
    own->totals[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        own->totals[0] += own->job.x0[i];
    }
#endif
}

/* As lam_mve_row_pairs, of rows of chunks * 16 inputs; the loop takes `turn` chunks at a time, 1 to 6. */
static inline LAM_MVE_FOLDED void lam_mve_zeros_pairs(lam_mve_zeros_job *own, int mode, int each, int full, int32_t rows,
                                                      int32_t chunks, int32_t turn)
{
#if LAM_MVE
    LAM_MVE_ZEROS_JOB(held);
    if (chunks != turn) {
        own->job.turns = chunks / turn;
    }
    LAM_MVE_FORM(LAM_MVE_ZEROS_PAIRS_OF);
#else
    lam_mve_job *const job = &own->job;
    const int32_t inputs = 16 * rows * chunks, words = lam_mve_head(each) + 8 * rows * chunks + 1;
    LAM_UNUSED(full);
    LAM_UNUSED(turn);
    for (const int32_t *w = job->w; w != job->end; w += words, job->y0 += 4, job->y1 += 4) {
        lam_mve_zeros_block(own, w, 0, rows, 16 * chunks, inputs, job->y0, mode, each);
        lam_mve_zeros_block(own, w, 1, rows, 16 * chunks, inputs, job->y1, mode, each);
    }
#endif
}

/* As lam_mve_vector. */
static inline LAM_MVE_FOLDED void lam_mve_zeros_vector(lam_mve_zeros_job *own, int mode, int each, int32_t turn)
{
#if LAM_MVE
    LAM_MVE_ZEROS_JOB(held);
    own->job.turns = own->job.count / (16 * turn);
    LAM_MVE_FORM(LAM_MVE_ZEROS_VECTOR_OF);
#else
    lam_mve_job *const job = &own->job;
    LAM_UNUSED(turn);
    for (const int32_t *w = job->w; w != job->end; w += lam_mve_head(each) + 8 * job->chunks + 1, job->y0 += 4) {
        lam_mve_zeros_block(own, w, 0, 1, 1, job->count, job->y0, mode, each);
    }
#endif
}

#endif /* LAM_MVE_ZEROS_H */
