/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The dot products of lam_mve_dense.h and lam_mve_columns.h on weights that are bytes and a shift for all of them, as those
 * of uint8 less their zero point are: each sum has the shift times the sum of its pixel's inputs besides, which is made once.
 *
 * The packed stream is as there.  Pairs and vectors find what their pixels add in the job, columns behind each window.
 */
#ifndef LAM_MVE_SHIFTED_H
#define LAM_MVE_SHIFTED_H

#include "lam_mve_zeros.h"

#if LAM_MVE

/* By what limits outputs, as without a shift. */
#define LAM_MVE_PAIRS_OPEN_FULL_SHIFTED LAM_MVE_PAIRS_OPEN_FULL
#define LAM_MVE_PAIRS_OPEN_WITHIN_SHIFTED LAM_MVE_PAIRS_OPEN_WITHIN
#define LAM_MVE_TWO_BYTES_FULL_SHIFTED LAM_MVE_TWO_BYTES_FULL
#define LAM_MVE_TWO_BYTES_WITHIN_SHIFTED LAM_MVE_TWO_BYTES_WITHIN

/* What is added to the sums of two pixels: from the job, or from the last words of the windows before r1, or of the one at r1. */
#define LAM_MVE_TWO_MORE_FULL_SHIFTED \
    "ldrd r1, r3, [r11, #68]\n" \
    "vadd.i32 q0, q0, r1\n" \
    "vadd.i32 q1, q1, r3\n"
#define LAM_MVE_TWO_MORE_WITHIN_SHIFTED LAM_MVE_TWO_MORE_FULL_SHIFTED
#define LAM_MVE_COLUMNS_MORE_S8_SHIFTED(x_step) \
    "ldr r0, [r1, #-4 - " #x_step "]\n" \
    "ldr r2, [r1, #-4]\n" \
    "vadd.i32 q4, q4, r0\n" \
    "vadd.i32 q5, q5, r2\n"
#define LAM_MVE_COLUMNS_MORE_U8_SHIFTED LAM_MVE_COLUMNS_MORE_S8_SHIFTED
#define LAM_MVE_COLUMNS_MORE_WITHIN_SHIFTED LAM_MVE_COLUMNS_MORE_S8_SHIFTED
#define LAM_MVE_COLUMNS_LAST_S8_SHIFTED(x_step) \
    "ldr r0, [r1, #" #x_step " - 4]\n" \
    "vadd.i32 q4, q4, r0\n"
#define LAM_MVE_COLUMNS_LAST_U8_SHIFTED LAM_MVE_COLUMNS_LAST_S8_SHIFTED
#define LAM_MVE_COLUMNS_LAST_WITHIN_SHIFTED LAM_MVE_COLUMNS_LAST_S8_SHIFTED

/* As LAM_MVE_ZEROS_TURNS and LAM_MVE_ZEROS_PAIRS_IN. */
#define LAM_MVE_TWO LAM_MVE_PAIRS_CHUNK LAM_MVE_PAIRS_CHUNK
#define LAM_MVE_FIVE LAM_MVE_TWO LAM_MVE_THREE
#define LAM_MVE_SHIFTED_TURNS(LOOP, MODE, FACTORS, BOUNDS) \
    do { \
        if (turn == 6) { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_SIX); \
        } else if (turn == 5) { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_FIVE); \
        } else if (turn == 4) { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_FOUR); \
        } else if (turn == 3) { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_THREE); \
        } else if (turn == 2) { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_TWO); \
        } else { \
            LOOP(MODE, FACTORS, BOUNDS, LAM_MVE_PAIRS_CHUNK); \
        } \
    } while (0)
#define LAM_MVE_SHIFTED_PAIRS_IN(MODE, FACTORS, BOUNDS) \
    do { \
        if (rows == 1 && chunks == turn) { \
            LAM_MVE_SHIFTED_TURNS(LAM_MVE_ONE_TURN, MODE, FACTORS, BOUNDS); \
        } else if (rows == 1) { \
            LAM_MVE_SHIFTED_TURNS(LAM_MVE_ONE_ROW, MODE, FACTORS, BOUNDS); \
        } else if (rows == 3 && chunks == 3) { \
            LAM_MVE_NINE(MODE, FACTORS, BOUNDS); \
        } else if (chunks == turn) { \
            LAM_MVE_SHIFTED_TURNS(LAM_MVE_ROWS_OF_A_TURN, MODE, FACTORS, BOUNDS); \
        } else { \
            LAM_MVE_SHIFTED_TURNS(LAM_MVE_ROWS, MODE, FACTORS, BOUNDS); \
        } \
    } while (0)
#define LAM_MVE_SHIFTED_PAIRS_OF(MODE, FACTORS) \
    do { \
        if (full != 0) { \
            LAM_MVE_SHIFTED_PAIRS_IN(MODE, FACTORS, FULL_SHIFTED); \
        } else { \
            LAM_MVE_SHIFTED_PAIRS_IN(MODE, FACTORS, WITHIN_SHIFTED); \
        } \
    } while (0)

#define LAM_MVE_SHIFTED_VECTOR_BY(MODE, FACTORS, count, loop) \
    LAM_MVE_VECTOR_BY(MODE, FACTORS, count, loop, "ldr r1, [r11, #68]\n", "vadd.i32 q0, q0, r1\n")
#define LAM_MVE_SHIFTED_VECTOR_OF(MODE, FACTORS) \
    do { \
        if (LAM_MVE_TURN(turn) == 4) { \
            LAM_MVE_SHIFTED_VECTOR_BY(MODE, FACTORS, "64", LAM_MVE_VECTOR_TURNS(LAM_MVE_VECTOR_FOUR)); \
        } else if (LAM_MVE_TURN(turn) == 2) { \
            LAM_MVE_SHIFTED_VECTOR_BY(MODE, FACTORS, "64", LAM_MVE_VECTOR_TURNS(LAM_MVE_VECTOR_TWO)); \
        } else { \
            LAM_MVE_SHIFTED_VECTOR_BY(MODE, FACTORS, "24", LAM_MVE_VECTOR_INPUTS(LAM_MVE_VECTOR_CHUNK)); \
        } \
    } while (0)

#else

/* One block of four channels of so many inputs, of the job's pixel 0 or 1, of rows of `row`; its outputs to y. */
static inline void lam_mve_shifted_block(const lam_mve_zeros_job *own, const int32_t *w, int32_t pixel, int32_t rows,
                                         int32_t row, int32_t inputs, uint8_t *y, int mode, int each)
{
    const lam_mve_job *const job = &own->job;
    for (int32_t c = 0; c < 4; c++) {
        int32_t acc = w[c] + own->totals[pixel];
        for (int32_t k = 0; k < inputs; k++) {
            acc += lam_mve_zeros_input(job, pixel, rows, row, k) * lam_mve_byte(w + lam_mve_head(each), k / 16 * 64 + c * 16 + k % 16);
        }
        y[c] = (uint8_t)lam_mve_requant(mode, acc, lam_mve_multiplier(w, c, each, job->multiplier),
                                        lam_mve_shift(w, c, each, job->shift), job->zero_point, job->low, job->high);
    }
}

#endif

/* What the job's two pixels add, of `rows` rows of n inputs. */
static inline LAM_MVE_FOLDED void lam_mve_shifted_sum(lam_mve_zeros_job *own, int32_t rows, int32_t n, int32_t shift)
{
    lam_mve_zeros_sum(own, rows, n);
    own->totals[0] *= shift;
    own->totals[1] *= shift;
}

/* What the job's one pixel adds, of n inputs. */
static inline void lam_mve_shifted_sum_one(lam_mve_zeros_job *own, int32_t n, int32_t shift)
{
    lam_mve_zeros_sum_one(own, n);
    own->totals[0] *= shift;
}

/* As lam_mve_row_pairs; `turn` is 1 to 6. */
static inline LAM_MVE_FOLDED void lam_mve_shifted_pairs(lam_mve_zeros_job *own, int mode, int each, int full, int32_t rows,
                                                        int32_t chunks, int32_t turn)
{
#if LAM_MVE
    LAM_MVE_ZEROS_JOB(held);
    if (chunks != turn) {
        own->job.turns = chunks / turn;
    }
    LAM_MVE_FORM(LAM_MVE_SHIFTED_PAIRS_OF);
#else
    lam_mve_job *const job = &own->job;
    const int32_t inputs = 16 * rows * chunks;
    LAM_UNUSED(full);
    LAM_UNUSED(turn);
    for (const int32_t *w = job->w; w != job->end; w += lam_mve_head(each) + inputs, job->y0 += 4, job->y1 += 4) {
        lam_mve_shifted_block(own, w, 0, rows, 16 * chunks, inputs, job->y0, mode, each);
        lam_mve_shifted_block(own, w, 1, rows, 16 * chunks, inputs, job->y1, mode, each);
    }
#endif
}

/* As lam_mve_vector. */
static inline LAM_MVE_FOLDED void lam_mve_shifted_vector(lam_mve_zeros_job *own, int mode, int each, int32_t turn)
{
#if LAM_MVE
    LAM_MVE_ZEROS_JOB(held);
    own->job.turns = own->job.count / (16 * turn);
    LAM_MVE_FORM(LAM_MVE_SHIFTED_VECTOR_OF);
#else
    lam_mve_job *const job = &own->job;
    LAM_UNUSED(turn);
    for (const int32_t *w = job->w; w != job->end; w += lam_mve_head(each) + 16 * job->chunks, job->y0 += 4) {
        lam_mve_shifted_block(own, w, 0, 1, 1, job->count, job->y0, mode, each);
    }
#endif
}

/* As lam_mve_columns; windows have 4 bytes more, into which lam_mve_shifted_totals has put what they add. */
#if LAM_MVE
#define lam_mve_shifted_columns(job, mode, factors, bounds, inputs, last, x_step, y_step) \
    do { \
        register lam_mve_job *const held __asm("r11") = (job); \
        held->x1 = lam_mve_pairs_end(held, (x_step)); \
        LAM_MVE_COLUMNS_##inputs(mode, factors, bounds##_SHIFTED, last, x_step, y_step); \
    } while (0)
#else
static inline void lam_mve_shifted_columns_each(lam_mve_job *job, int mode, int each, int32_t inputs, int32_t x_step, int32_t y_step)
{
    lam_mve_zeros_job own = {.job = *job};
    for (const int32_t *w = job->w; w != job->end; w += lam_mve_head(each) + inputs, job->y0 += 4) {
        for (int32_t i = 0; i < job->count; i++) {
            own.job.x0 = job->x0 + i * x_step;
            (void)memcpy(own.totals, own.job.x0 + x_step - 4, 4);
            lam_mve_shifted_block(&own, w, 0, 1, 1, inputs, job->y0 + i * y_step, mode, each);
        }
    }
}

#define lam_mve_shifted_columns(job, mode, factors, bounds, inputs, last, x_step, y_step) \
    lam_mve_shifted_columns_each(job, LAM_MVE_##mode, LAM_MVE_##factors, inputs, x_step, y_step)
#endif

/* To the last 4 bytes of each of `count` windows, 1 or more, `x_step` bytes apart: the shift times the sum of its inputs, 64 of
 * them at most.  `inputs` and `x_step` are numerals.
 *
 * lam_mve_shifted_windows copies the windows before, whose inputs lie one behind the other at x; `flip`, a numeral, as of
 * lam_mve_copy.  What is between a window's inputs and its last 4 bytes is not kept. */
#if LAM_MVE
#define LAM_MVE_TOTAL(inputs, at, whole, part, sum) \
    ".if " #inputs " >= 16 + " at "\n" whole(at) sum " %[total], q0\n" \
    ".elseif " #inputs " > " at "\n" part(at) sum " %[total], q0\n" \
    ".endif\n"
#define LAM_MVE_TOTALS(inputs, x_step, whole, part) \
    LAM_MVE_TOTAL(inputs, "0", whole, part, "vaddv.s8") LAM_MVE_TOTAL(inputs, "16", whole, part, "vaddva.s8") \
    LAM_MVE_TOTAL(inputs, "32", whole, part, "vaddva.s8") LAM_MVE_TOTAL(inputs, "48", whole, part, "vaddva.s8") \
    "mul %[total], %[total], %[times]\n" \
    "str %[total], [%[to], #" #x_step " - 4]\n" \
    "add %[to], %[to], #" #x_step "\n"
#define LAM_MVE_TOTAL_WHOLE(at) "vldrb.8 q0, [%[to], #" at "]\n"
#define LAM_MVE_TOTAL_PART(at) \
    "vpst\n" \
    "vldrbt.8 q0, [%[to], #" at "]\n"
#define LAM_MVE_COPIED_WHOLE(at) \
    "vldrb.8 q0, [%[x], #" at "]\n" \
    "veor q0, q0, q1\n" \
    "vstrb.8 q0, [%[to], #" at "]\n"
#define LAM_MVE_COPIED_PART(at) \
    "vpstt\n" \
    "vldrbt.8 q0, [%[x], #" at "]\n" \
    "veort q0, q0, q1\n" \
    "vstrb.8 q0, [%[to], #" at "]\n"
#define lam_mve_shifted_totals(windows, count, inputs, x_step, shift) \
    do { \
        int8_t *to_ = (windows); \
        register int32_t total_ __asm("r0"); \
        __asm volatile( \
            "vctp.8 %[rest]\n" \
            "dls lr, %[pixels]\n" \
            "1:\n" LAM_MVE_TOTALS(inputs, x_step, LAM_MVE_TOTAL_WHOLE, LAM_MVE_TOTAL_PART) "le lr, 1b\n" \
            : [to] "+&r"(to_), [total] "=&r"(total_) \
            : [rest] "r"((inputs) % 16), [pixels] "r"(count), [times] "r"(shift) \
            : "lr", "q0", LAM_MVE_PREDICATE, "memory"); \
    } while (0)
#define lam_mve_shifted_windows(windows, inputs_at, count, inputs, x_step, flip, shift) \
    do { \
        int8_t *to_ = (windows); \
        const void *from_ = (inputs_at); \
        register int32_t total_ __asm("r0"); \
        __asm volatile( \
            "vctp.8 %[rest]\n" \
            "vmov.i8 q1, #" #flip "\n" \
            "dls lr, %[pixels]\n" \
            "1:\n" LAM_MVE_TOTALS(inputs, x_step, LAM_MVE_COPIED_WHOLE, LAM_MVE_COPIED_PART) \
            "add %[x], %[x], #" #inputs "\n" \
            "le lr, 1b\n" \
            : [to] "+&r"(to_), [x] "+&r"(from_), [total] "=&r"(total_) \
            : [rest] "r"((inputs) % 16), [pixels] "r"(count), [times] "r"(shift) \
            : "lr", "q0", "q1", LAM_MVE_PREDICATE, "memory"); \
    } while (0)
#else
static inline void lam_mve_shifted_totals(int8_t *windows, int32_t count, int32_t inputs, int32_t x_step, int32_t shift)
{
    for (int32_t i = 0; i < count; i++, windows += x_step) {
        int32_t total = 0;
        for (int32_t k = 0; k < inputs; k++) {
            total += windows[k];
        }
        total *= shift;
        (void)memcpy(windows + x_step - 4, &total, 4);
    }
}

static inline void lam_mve_shifted_windows(int8_t *windows, const void *x, int32_t count, int32_t inputs, int32_t x_step,
                                           uint32_t flip, int32_t shift)
{
    const uint8_t *const bytes = (const uint8_t *)x;
    for (int32_t i = 0; i < count * inputs; i++) {
        windows[i / inputs * x_step + i % inputs] = (int8_t)((int32_t)(bytes[i] ^ flip ^ 0x80u) - 128);
    }
    lam_mve_shifted_totals(windows, count, inputs, x_step, shift);
}
#endif

#endif /* LAM_MVE_SHIFTED_H */
