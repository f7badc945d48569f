/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dot products of int8 vectors with four output channels at a time, requantized and stored: dense layers, pointwise
 * convolutions and, after lam_mve_window.h, all other ones.
 *
 * The packed stream has one block per four output channels:
 *
 *   4 words   biases, the input's zero point folded in
 *   4 words   multipliers           )  where each channel has its own (`each`); otherwise
 *   1 word    shifts, a byte each   )  the job has those that all channels share
 *   16 words per 16 inputs: 16 weights of each of the four channels; zeros beyond the last input
 *
 * so that a block is 9 + 16 * chunks words, or 4 + 16 * chunks.  No state; nothing is read beyond what is stated.
 */
#ifndef LAM_MVE_DENSE_H
#define LAM_MVE_DENSE_H

#include "lam_mve_requant.h"

/* What one call works on.  The assembly knows the order. */
typedef struct {
    const int8_t *x0;     /* inputs of the first pixel */
    const int8_t *x1;     /* pairs: of the second one; columns: for the assembly */
    uint8_t *y0;          /* outputs of the first pixel, at the first channel of the first block */
    uint8_t *y1;          /* pairs: of the second one */
    const int32_t *w;     /* the first block */
    const int32_t *end;   /* behind the last block */
    int32_t count;        /* columns: pixels; vector: inputs */
    int32_t zero_point;   /* of the output */
    int32_t low;          /* least output value less zero_point */
    int32_t high;         /* greatest output value less zero_point */
    int32_t chunks;       /* pairs and vector: of 16 inputs */
    int32_t multiplier;   /* of all channels, where they share it */
    int32_t shift;        /* the same */
    /* row pairs, of several rows: */
    const int8_t **table;     /* for each row of the window the inputs of the first pixel, and of the second one */
    const int8_t **table_end; /* behind them */
    const int8_t **next;      /* for the assembly */
    int32_t turns;            /* of the loop over a row, 2 or more, or over a vector's inputs; else not read */
} lam_mve_job;

#if LAM_MVE

LAM_STATIC_ASSERT(sizeof(lam_mve_job) == 68, mve_job_is_17_words);

#define LAM_MVE_JOB(name) register lam_mve_job *const name __asm("r11") = job

/* Multipliers to q4, shifts to q5: before the first block, or at each one. */
#define LAM_MVE_SHARED_ONE \
    "ldrd r0, r2, [r11, #44]\n" \
    "vdup.32 q4, r0\n" \
    "vdup.32 q5, r2\n"
#define LAM_MVE_SHARED_EACH ""
#define LAM_MVE_OWN_ONE ""
#define LAM_MVE_OWN_EACH \
    "vldrw.32 q4, [r5], #16\n" \
    "vldrb.s32 q5, [r5], #4\n"

/* Limits to q6 and q7, the stream to r5. */
#define LAM_MVE_OPEN(MODE, FACTORS) \
    LAM_MVE_SHARED_##FACTORS \
    "ldrd r0, r2, [r11, #32]\n" \
    "vdup.32 q6, r0\n" \
    "vdup.32 q7, r2\n" LAM_MVE_LIMITS_##MODE \
    "ldr r5, [r11, #16]\n"

/* 16 inputs of two pixels for four channels: sums r0 r2 r4 r6 and r8 r10 r12 lr. */
#define LAM_MVE_PAIRS_CHUNK \
    "vldrb.8 q0, [r1], #16\n" \
    "vldrw.32 q2, [r5], #64\n" \
    "vldrb.8 q1, [r3], #16\n" \
    "vmladava.s8 r0, q0, q2\n" \
    "vldrw.32 q3, [r5, #-48]\n" \
    "vmladava.s8 r8, q1, q2\n" \
    "vmladava.s8 r2, q0, q3\n" \
    "vldrw.32 q2, [r5, #-32]\n" \
    "vmladava.s8 r10, q1, q3\n" \
    "vmladava.s8 r4, q0, q2\n" \
    "vldrw.32 q3, [r5, #-16]\n" \
    "vmladava.s8 r12, q1, q2\n" \
    "vmladava.s8 r6, q0, q3\n" \
    "vmladava.s8 lr, q1, q3\n"

/* Factors by what limits outputs: from low to high, in q6 and q7; or the whole range of int8, by saturation, with the zero
 * point in q6. */
#define LAM_MVE_PAIRS_OPEN_WITHIN \
    "ldrd r0, r2, [r11, #32]\n" \
    "vdup.16 q6, r0\n" \
    "vdup.16 q7, r2\n"
#define LAM_MVE_PAIRS_OPEN_FULL \
    "ldr r0, [r11, #28]\n" \
    "vdup.16 q6, r0\n"
#define LAM_MVE_TWO_BYTES_WITHIN \
    "ldr r9, [r11, #28]\n" \
    "vmax.s16 q0, q0, q6\n" \
    "vmin.s16 q0, q0, q7\n" \
    "vadd.i16 q0, q0, r9\n"
#define LAM_MVE_TWO_BYTES_FULL \
    "vqadd.s16 q0, q0, q6\n" \
    "vqmovnb.s16 q0, q0\n"

/* What else is added to the sums of two pixels, in q0 and q1: nothing but in lam_mve_shifted.h. */
#define LAM_MVE_TWO_MORE_WITHIN ""
#define LAM_MVE_TWO_MORE_FULL ""

/* Sums of two pixels to outputs, and back to 1 for the next block. */
#define LAM_MVE_TWO_OUTPUTS(MODE, BOUNDS) \
    "vmov q0[2], q0[0], r0, r4\n" \
    "vmov q0[3], q0[1], r2, r6\n" \
    "vmov q1[2], q1[0], r8, r12\n" \
    "vmov q1[3], q1[1], r10, lr\n" \
    LAM_MVE_TWO_MORE_##BOUNDS \
    LAM_MVE_SCALE_##MODE("q0", "q4", "q5", "q2") LAM_MVE_ROUND_##MODE("q0") \
    LAM_MVE_SCALE_##MODE("q1", "q4", "q5", "q2") LAM_MVE_ROUND_##MODE("q1") \
    "vqmovnb.s32 q0, q0\n" \
    "ldrd r1, r3, [r11, #8]\n" \
    "vqmovnt.s32 q0, q1\n" \
    LAM_MVE_TWO_BYTES_##BOUNDS \
    "vstrb.32 q0, [r1], #4\n" \
    "vshr.u32 q0, q0, #16\n" \
    "ldr r0, [r11, #20]\n" \
    "vstrb.32 q0, [r3], #4\n" \
    "strd r1, r3, [r11, #8]\n" \
    "cmp r5, r0\n" \
    "bne 1b\n"

/* r9 counts two chunks at a time; an odd number enters in the middle.  `less`: what becomes of the sums then. */
#define LAM_MVE_PAIRS_BY(MODE, FACTORS, BOUNDS, chunk, less) \
    __asm volatile( \
        LAM_MVE_SHARED_##FACTORS LAM_MVE_PAIRS_OPEN_##BOUNDS \
        "ldr r5, [r11, #16]\n" \
        "1:\n" \
        "ldrd r1, r3, [r11, #0]\n" \
        "ldr r9, [r11, #40]\n" \
        "ldrd r0, r2, [r5], #8\n" \
        "ldrd r4, r6, [r5], #8\n" \
        LAM_MVE_OWN_##FACTORS \
        "mov r8, r0\n" \
        "mov r10, r2\n" \
        "mov r12, r4\n" \
        "mov lr, r6\n" \
        "adds r9, r9, #1\n" \
        "lsrs r9, r9, #1\n" \
        "bcc 3f\n" \
        "2:\n" \
        chunk \
        "3:\n" \
        chunk \
        "subs r9, r9, #1\n" \
        "bne 2b\n" \
        less \
        LAM_MVE_TWO_OUTPUTS(MODE, BOUNDS) \
        : : "r"(held) : LAM_MVE_CLOBBERS)
#define LAM_MVE_PAIRS(MODE, FACTORS) \
    do { \
        if (full != 0) { \
            LAM_MVE_PAIRS_BY(MODE, FACTORS, FULL, LAM_MVE_PAIRS_CHUNK, ""); \
        } else { \
            LAM_MVE_PAIRS_BY(MODE, FACTORS, WITHIN, LAM_MVE_PAIRS_CHUNK, ""); \
        } \
    } while (0)

/* As above, with `chunks` unrolled: where rows and turns of the loop are more than one, the table's next row is in r9 or
 * waits in the job while r9 counts turns. */
#define LAM_MVE_ROW_PAIRS(MODE, FACTORS, BOUNDS, begin, row, chunks, turn_end, row_end) \
    __asm volatile( \
        LAM_MVE_SHARED_##FACTORS LAM_MVE_PAIRS_OPEN_##BOUNDS \
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
        LAM_MVE_TWO_OUTPUTS(MODE, BOUNDS) \
        : : "r"(held) : LAM_MVE_CLOBBERS)

#define LAM_MVE_THREE LAM_MVE_PAIRS_CHUNK LAM_MVE_PAIRS_CHUNK LAM_MVE_PAIRS_CHUNK
#define LAM_MVE_FOUR LAM_MVE_PAIRS_CHUNK LAM_MVE_THREE
#define LAM_MVE_SIX LAM_MVE_THREE LAM_MVE_THREE
#define LAM_MVE_TURN_END \
    "subs r9, r9, #1\n" \
    "bne 3b\n"
#define LAM_MVE_ROW_END \
    "ldr r1, [r11, #56]\n" \
    "cmp r9, r1\n" \
    "bne 2b\n"
/* One row of one turn, one row, rows of one turn, rows. */
#define LAM_MVE_ONE_TURN(MODE, FACTORS, BOUNDS, chunks) \
    LAM_MVE_ROW_PAIRS(MODE, FACTORS, BOUNDS, "", "ldrd r1, r3, [r11, #0]\n", chunks, "", "")
#define LAM_MVE_ONE_ROW(MODE, FACTORS, BOUNDS, chunks) \
    LAM_MVE_ROW_PAIRS(MODE, FACTORS, BOUNDS, "ldr r9, [r11, #64]\n", "ldrd r1, r3, [r11, #0]\n", chunks, LAM_MVE_TURN_END, "")
#define LAM_MVE_ROWS_OF_A_TURN(MODE, FACTORS, BOUNDS, chunks) \
    LAM_MVE_ROW_PAIRS(MODE, FACTORS, BOUNDS, "ldr r9, [r11, #52]\n", "ldrd r1, r3, [r9], #8\n", chunks, "", LAM_MVE_ROW_END)
#define LAM_MVE_ROWS(MODE, FACTORS, BOUNDS, chunks) \
    LAM_MVE_ROW_PAIRS(MODE, FACTORS, BOUNDS, "ldr r9, [r11, #52]\n", \
                      "ldrd r1, r3, [r9], #8\nstr r9, [r11, #60]\nldr r9, [r11, #64]\n", chunks, LAM_MVE_TURN_END, \
                      "ldr r9, [r11, #60]\n" LAM_MVE_ROW_END)
/* Three rows without a loop. */
#define LAM_MVE_NINE_ROW LAM_MVE_THREE "ldrd r1, r3, [r9], #8\n"
#if defined(__OPTIMIZE_SIZE__)
#define LAM_MVE_NINE(MODE, FACTORS, BOUNDS) LAM_MVE_ROWS_OF_A_TURN(MODE, FACTORS, BOUNDS, LAM_MVE_THREE)
#else
#define LAM_MVE_NINE(MODE, FACTORS, BOUNDS) \
    LAM_MVE_ROW_PAIRS(MODE, FACTORS, BOUNDS, "ldr r9, [r11, #52]\n", "ldrd r1, r3, [r9], #8\n", \
                      LAM_MVE_NINE_ROW LAM_MVE_NINE_ROW LAM_MVE_THREE, "", "")
#endif
#define LAM_MVE_ROW_PAIRS_OF(MODE, FACTORS) \
    do { \
        if (full != 0) { \
            LAM_MVE_ROW_PAIRS_IN(MODE, FACTORS, FULL); \
        } else { \
            LAM_MVE_ROW_PAIRS_IN(MODE, FACTORS, WITHIN); \
        } \
    } while (0)
#define LAM_MVE_ROW_PAIRS_IN(MODE, FACTORS, BOUNDS) \
    do { \
        if (rows == 1 && turn == 4 && chunks == 4) { \
            LAM_MVE_ONE_TURN(MODE, FACTORS, BOUNDS, LAM_MVE_FOUR); \
        } else if (rows == 1 && turn == 4) { \
            LAM_MVE_ONE_ROW(MODE, FACTORS, BOUNDS, LAM_MVE_FOUR); \
        } else if (rows == 1 && chunks == 3) { \
            LAM_MVE_ONE_TURN(MODE, FACTORS, BOUNDS, LAM_MVE_THREE); \
        } else if (rows == 1) { \
            LAM_MVE_ONE_ROW(MODE, FACTORS, BOUNDS, LAM_MVE_THREE); \
        } else if (rows == 3 && chunks == 3) { \
            LAM_MVE_NINE(MODE, FACTORS, BOUNDS); \
        } else if (turn == 3 && chunks == 3) { \
            LAM_MVE_ROWS_OF_A_TURN(MODE, FACTORS, BOUNDS, LAM_MVE_THREE); \
        } else if (turn == 3) { \
            LAM_MVE_ROWS(MODE, FACTORS, BOUNDS, LAM_MVE_THREE); \
        } else if (chunks == 6) { \
            LAM_MVE_ROWS_OF_A_TURN(MODE, FACTORS, BOUNDS, LAM_MVE_SIX); \
        } else { \
            LAM_MVE_ROWS(MODE, FACTORS, BOUNDS, LAM_MVE_SIX); \
        } \
    } while (0)

/* One pixel; the loop's own predicate leaves out what is beyond the last input. */
#define LAM_MVE_VECTOR_CHUNK \
    "vldrb.8 q0, [r1], #16\n" \
    "vldrb.8 q1, [r5], #64\n" \
    "vldrb.8 q2, [r5, #-48]\n" \
    "vmladava.s8 r0, q0, q1\n" \
    "vmladava.s8 r2, q0, q2\n" \
    "vldrb.8 q1, [r5, #-32]\n" \
    "vldrb.8 q2, [r5, #-16]\n" \
    "vmladava.s8 r4, q0, q1\n" \
    "vmladava.s8 r6, q0, q2\n"
#define LAM_MVE_VECTOR_TWO LAM_MVE_VECTOR_CHUNK LAM_MVE_VECTOR_CHUNK
#define LAM_MVE_VECTOR_FOUR LAM_MVE_VECTOR_TWO LAM_MVE_VECTOR_TWO
/* A loop over inputs, the last of which may be fewer than 16; and one over turns of whole chunks. */
#define LAM_MVE_VECTOR_INPUTS(chunk) \
    "dlstp.8 lr, r8\n" \
    "2:\n" chunk "letp lr, 2b\n"
#define LAM_MVE_VECTOR_TURNS(chunks) \
    "dls lr, r8\n" \
    "2:\n" chunks "le lr, 2b\n"
/* `count`: where the job has what the loop begins with; `less` and `more`: what becomes of the sums, also once they are in q0. */
#define LAM_MVE_VECTOR_BY(MODE, FACTORS, count, loop, less, more) \
    __asm volatile( \
        LAM_MVE_OPEN(MODE, FACTORS) \
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
        less \
        "vmov q0[2], q0[0], r0, r4\n" \
        "vmov q0[3], q0[1], r2, r6\n" \
        more \
        LAM_MVE_SCALE_##MODE("q0", "q4", "q5", "q2") \
        LAM_MVE_CLAMP_##MODE("q0", "q6", "q7") \
        "vadd.i32 q0, q0, r9\n" \
        "vstrb.32 q0, [r3], #4\n" \
        "cmp r5, r10\n" \
        "bne 1b\n" \
        : : "r"(held) : LAM_MVE_CLOBBERS)
#if defined(__OPTIMIZE_SIZE__)
#define LAM_MVE_TURN(turn) 1
#else
#define LAM_MVE_TURN(turn) (turn)
#endif
#define LAM_MVE_VECTOR_OF(MODE, FACTORS) \
    do { \
        if (LAM_MVE_TURN(turn) == 4) { \
            LAM_MVE_VECTOR_BY(MODE, FACTORS, "64", LAM_MVE_VECTOR_TURNS(LAM_MVE_VECTOR_FOUR), "", ""); \
        } else if (LAM_MVE_TURN(turn) == 2) { \
            LAM_MVE_VECTOR_BY(MODE, FACTORS, "64", LAM_MVE_VECTOR_TURNS(LAM_MVE_VECTOR_TWO), "", ""); \
        } else { \
            LAM_MVE_VECTOR_BY(MODE, FACTORS, "24", LAM_MVE_VECTOR_INPUTS(LAM_MVE_VECTOR_CHUNK), "", ""); \
        } \
    } while (0)

#else

/* One pixel and one block of four channels: `inputs` of them, the rest of the chunks is not read. */
static inline void lam_mve_block(const int8_t *x, const int32_t *w, uint8_t *y, int32_t inputs, int mode, int each,
                                 const lam_mve_job *job)
{
    for (int32_t c = 0; c < 4; c++) {
        const int32_t multiplier = lam_mve_multiplier(w, c, each, job->multiplier);
        const int32_t shift = lam_mve_shift(w, c, each, job->shift);
        int32_t acc = w[c];
        for (int32_t i = 0; i < inputs; i++) {
            acc += x[i] * lam_mve_byte(w + lam_mve_head(each), i / 16 * 64 + c * 16 + i % 16);
        }
        y[c] = (uint8_t)lam_mve_requant(mode, acc, multiplier, shift, job->zero_point, job->low, job->high);
    }
}

#endif

/* The two pixels at x0 and x1, of chunks * 16 inputs, to y0 and y1.  `full`: low and high are those of int8. */
static inline void lam_mve_pairs(lam_mve_job *job, int mode, int each, int full)
{
#if LAM_MVE
    LAM_MVE_JOB(held);
    LAM_MVE_FORM(LAM_MVE_PAIRS);
#else
    LAM_UNUSED(full);
    const int32_t words = lam_mve_head(each) + 16 * job->chunks;
    for (const int32_t *w = job->w; w != job->end; w += words, job->y0 += 4, job->y1 += 4) {
        lam_mve_block(job->x0, w, job->y0, 16 * job->chunks, mode, each, job);
        lam_mve_block(job->x1, w, job->y1, 16 * job->chunks, mode, each, job);
    }
#endif
}

/* LAM_MVE_FOLDED: a function of which constants leave a small part; a copy of the whole would be larger than all parts. */
#if LAM_MVE
#define LAM_MVE_FOLDED __attribute__((always_inline))
#else
#define LAM_MVE_FOLDED
#endif

/* Two pixels as lam_mve_pairs, whose windows are `rows` rows of chunks * 16 inputs: where the job's table has them, or of one
 * row at x0 and x1.  The loop takes `turn` chunks at a time: 4 or 3 for one row, 6 or 3 for more, which divide `chunks`.
 * All are constants. */
static inline LAM_MVE_FOLDED void lam_mve_row_pairs(lam_mve_job *job, int mode, int each, int full, int32_t rows, int32_t chunks, int32_t turn)
{
#if LAM_MVE
    LAM_MVE_JOB(held);
    if (chunks != turn) {
        job->turns = chunks / turn;
    }
    LAM_MVE_FORM(LAM_MVE_ROW_PAIRS_OF);
#else
    const int32_t head = lam_mve_head(each);
    LAM_UNUSED(full);
    LAM_UNUSED(turn);
    for (const int32_t *w = job->w; w != job->end; w += head + 16 * rows * chunks, job->y0 += 4, job->y1 += 4) {
        for (int32_t i = 0; i < 8; i++) {
            const int32_t c = i % 4;
            int32_t acc = w[c];
            for (int32_t k = 0; k < 16 * rows * chunks; k++) {
                const int8_t *const one = i < 4 ? job->x0 : job->x1;
                const int8_t *const x = rows == 1 ? one : job->table[k / (16 * chunks) * 2 + i / 4];
                acc += x[k % (16 * chunks)] * lam_mve_byte(w + head, k / 16 * 64 + c * 16 + k % 16);
            }
            (i < 4 ? job->y0 : job->y1)[c] =
                (uint8_t)lam_mve_requant(mode, acc, lam_mve_multiplier(w, c, each, job->multiplier),
                                         lam_mve_shift(w, c, each, job->shift), job->zero_point, job->low, job->high);
        }
    }
#endif
}

/* All `places` pointers of a table go on by `step` bytes. */
static inline void lam_mve_slide(const int8_t **table, int32_t places, int32_t step)
{
#if LAM_MVE
    __asm volatile(
        "wlstp.32 lr, %[places], 2f\n"
        "1:\n"
        "vldrw.32 q0, [%[table]]\n"
        "vadd.i32 q0, q0, %[step]\n"
        "vstrw.32 q0, [%[table]], #16\n"
        "letp lr, 1b\n"
        "2:\n"
        : [table] "+&r"(table)
        : [places] "r"(places), [step] "r"(step)
        : "lr", "q0", "memory");
#else
    for (int32_t i = 0; i < places; i++) {
        table[i] += step;
    }
#endif
}

/* The pixel at x0, of `count` inputs, to y0.  `turn`, a constant: chunks that the loop takes at a time, 2 or 4 where they divide
 * whole ones, else 1. */
static inline void lam_mve_vector(lam_mve_job *job, int mode, int each, int32_t turn)
{
#if LAM_MVE
    LAM_MVE_JOB(held);
    job->turns = job->count / (16 * turn);
    LAM_MVE_FORM(LAM_MVE_VECTOR_OF);
#else
    (void)turn;
    const int32_t words = lam_mve_head(each) + 16 * job->chunks;
    for (const int32_t *w = job->w; w != job->end; w += words, job->y0 += 4) {
        lam_mve_block(job->x0, w, job->y0, job->count, mode, each, job);
    }
#endif
}

#endif /* LAM_MVE_DENSE_H */
