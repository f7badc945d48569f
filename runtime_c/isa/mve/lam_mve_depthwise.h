/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Depthwise convolution with Helium: one dot product per output.
 *
 * Rows are first interleaved, 16 channels at a time, so that a word holds one channel of one column in up to four rows:
 *
 *   plane[column][channel 0 .. 15][row 0 .. 3]       64 bytes per column; one plane per four kernel rows
 *
 * A window of one channel is then up to four words that one gathering load brings, and one instruction multiplies with
 * its up to 16 weights.
 *
 * The packed stream has one block per four channels: 4 words of biases, then, where each channel has its own (`each`),
 * 4 of multipliers and 1 of shifts (as in lam_mve_dense.h), then the kernel_h * kernel_w weights of each channel, a byte
 * each.
 */
#ifndef LAM_MVE_DEPTHWISE_H
#define LAM_MVE_DEPTHWISE_H

#include "lam_mve_requant.h"

/* What one call works on: a run of output pixels of some blocks of four channels.  The assembly knows the order. */
typedef struct {
    const int8_t *planes; /* the first pixel's first column, at the first block's channels */
    uint8_t *y;           /* the first pixel's outputs */
    const int32_t *w;     /* the first block */
    const int32_t *end;   /* behind the last block */
    int32_t count;        /* pixels, 1 or more */
    int32_t zero_point;   /* of the output */
    int32_t y_step;       /* bytes from pixel to pixel */
    int32_t taps;         /* weights of one channel */
    const uint8_t *order; /* for each byte of the window the number of its weight */
    uint32_t mask;        /* bit i: byte i of the window has a weight */
    int32_t x_step;       /* bytes from pixel to pixel: 64 times the stride */
    int32_t low;          /* least output value less zero_point */
    int32_t high;         /* greatest output value less zero_point */
    int32_t work[3];      /* for the assembly: bounds as the mode wants them, in the last two */
    int32_t offsets[4];   /* of the window's words, in bytes from its first column */
    /* for windows of more than four words: */
    const int8_t *expanded; /* weights of one block: for each four words 16 bytes of each channel */
    const int32_t *places;  /* offsets of all words */
    int32_t vectors;        /* fours of words */
    /* where all channels share them, four times each: */
    int32_t multiplier[4];
    int32_t shift[4];
} lam_mve_planes;

/* Makes all channels share these. */
static inline void lam_mve_share(lam_mve_planes *job, int32_t multiplier, int32_t shift)
{
    for (int32_t c = 0; c < 4; c++) {
        job->multiplier[c] = multiplier;
        job->shift[c] = shift;
    }
}

#if LAM_MVE

LAM_STATIC_ASSERT(sizeof(lam_mve_planes) == 124, mve_planes_is_31_words);

/* Otherwise by limits. */
#define LAM_MVE_BOUND(MODE) \
    "ldrd r0, r2, [r11, #56]\n" \
    "vdup.32 q6, r0\n" \
    LAM_MVE_BOUND_LOW_##MODE \
    "vdup.32 q6, r2\n" \
    LAM_MVE_BOUND_HIGH_##MODE \
    "vadd.i32 q5, q5, r9\n"
#define LAM_MVE_BOUND_LOW_SINGLE "vmax.s32 q5, q5, q6\n"
#define LAM_MVE_BOUND_LOW_TFLITE LAM_MVE_BOUND_LOW_SINGLE
#define LAM_MVE_BOUND_LOW_UP LAM_MVE_BOUND_LOW_SINGLE
#define LAM_MVE_BOUND_LOW_ORT "vmaxnm.f32 q5, q5, q6\n"
#define LAM_MVE_BOUND_HIGH_SINGLE "vmin.s32 q5, q5, q6\n"
#define LAM_MVE_BOUND_HIGH_TFLITE LAM_MVE_BOUND_HIGH_SINGLE
#define LAM_MVE_BOUND_HIGH_UP LAM_MVE_BOUND_HIGH_SINGLE
#define LAM_MVE_BOUND_HIGH_ORT \
    "vminnm.f32 q5, q5, q6\n" \
    "vcvtn.s32.f32 q5, q5\n"

/* Where multipliers and shifts are, and the weights behind them. */
#define LAM_MVE_MULTIPLIERS_EACH(q) "vldrw.32 " q ", [r5, #16]\n"
#define LAM_MVE_MULTIPLIERS_ONE(q) "vldrw.32 " q ", [r11, #92]\n"
#define LAM_MVE_SHIFTS_EACH(q) "vldrb.s32 " q ", [r5, #32]\n"
#define LAM_MVE_SHIFTS_ONE(q) "vldrw.32 " q ", [r11, #108]\n"
#define LAM_MVE_WEIGHTS_EACH "add r12, r5, #36\n"
#define LAM_MVE_WEIGHTS_ONE "add r12, r5, #16\n"

#define LAM_MVE_FACTORS_SINGLE(FACTORS) \
    LAM_MVE_MULTIPLIERS_##FACTORS("q6") \
    "vmulh.s32 q5, q5, q6\n" \
    LAM_MVE_SHIFTS_##FACTORS("q6") \
    "vrshl.s32 q5, q5, q6\n"
#define LAM_MVE_FACTORS_TFLITE(FACTORS) \
    LAM_MVE_MULTIPLIERS_##FACTORS("q6") \
    "vqrdmulh.s32 q5, q5, q6\n" \
    "vshr.s32 q6, q5, #31\n" \
    "vadd.i32 q5, q5, q6\n" \
    LAM_MVE_SHIFTS_##FACTORS("q6") \
    "vrshl.s32 q5, q5, q6\n"
#define LAM_MVE_FACTORS_UP(FACTORS) \
    LAM_MVE_MULTIPLIERS_##FACTORS("q6") \
    "vqrdmulh.s32 q5, q5, q6\n" \
    LAM_MVE_SHIFTS_##FACTORS("q6") \
    "vrshl.s32 q5, q5, q6\n"
#define LAM_MVE_FACTORS_ORT(FACTORS) \
    LAM_MVE_MULTIPLIERS_##FACTORS("q6") \
    "vcvt.f32.s32 q5, q5\n" \
    "vmul.f32 q5, q5, q6\n"

/* The windows of four channels from r12 on, r8 bytes apart; r12 goes behind them. */
#define LAM_MVE_FOUR_TAPS \
    "add r0, r12, r8\n" \
    "add r2, r0, r8\n" \
    "add r4, r2, r8\n" \
    "vpstttt\n" \
    "vldrbt.u8 q0, [r12, q6]\n" \
    "vldrbt.u8 q1, [r0, q6]\n" \
    "vldrbt.u8 q2, [r2, q6]\n" \
    "vldrbt.u8 q3, [r4, q6]\n" \
    "add r12, r4, r8\n"

/* Sums in q5 and q6 by their factors, to integers; q7 is free. */
#define LAM_MVE_BOTH_SINGLE(FACTORS) \
    LAM_MVE_MULTIPLIERS_##FACTORS("q7") \
    "vmulh.s32 q5, q5, q7\n" \
    "vmulh.s32 q6, q6, q7\n" \
    LAM_MVE_SHIFTS_##FACTORS("q7") \
    "vrshl.s32 q5, q5, q7\n" \
    "vrshl.s32 q6, q6, q7\n"
#define LAM_MVE_BOTH_UP(FACTORS) \
    LAM_MVE_MULTIPLIERS_##FACTORS("q7") \
    "vqrdmulh.s32 q5, q5, q7\n" \
    "vqrdmulh.s32 q6, q6, q7\n" \
    LAM_MVE_SHIFTS_##FACTORS("q7") \
    "vrshl.s32 q5, q5, q7\n" \
    "vrshl.s32 q6, q6, q7\n"
#define LAM_MVE_BOTH_TFLITE(FACTORS) \
    LAM_MVE_MULTIPLIERS_##FACTORS("q7") \
    "vqrdmulh.s32 q5, q5, q7\n" \
    "vqrdmulh.s32 q6, q6, q7\n" \
    "vshr.s32 q7, q5, #31\n" \
    "vadd.i32 q5, q5, q7\n" \
    "vshr.s32 q7, q6, #31\n" \
    "vadd.i32 q6, q6, q7\n" \
    LAM_MVE_SHIFTS_##FACTORS("q7") \
    "vrshl.s32 q5, q5, q7\n" \
    "vrshl.s32 q6, q6, q7\n"
#define LAM_MVE_BOTH_ORT(FACTORS) \
    LAM_MVE_MULTIPLIERS_##FACTORS("q7") \
    "vcvt.f32.s32 q5, q5\n" \
    "vcvt.f32.s32 q6, q6\n" \
    "vmul.f32 q5, q5, q7\n" \
    "vmul.f32 q6, q6, q7\n" \
    "vcvtn.s32.f32 q5, q5\n" \
    "vcvtn.s32.f32 q6, q6\n"

/* By stride: r10 goes back so far that the first two pixels lie before their windows; the windows of a channel of two pixels,
 * to which q4 goes on, and of the last one; where the other three channels' are. */
#define LAM_MVE_BACK_1 "sub r10, r10, #128\n"
#define LAM_MVE_FIRST_1 "vldrw.u32 q5, [q4, #128]!\n"
#define LAM_MVE_FIRST_AT_1 "0"
#define LAM_MVE_SECOND_1 "vldrw.u32 q5, [q4, #64]\n"
#define LAM_MVE_SECOND_AT_1 "64"
#define LAM_MVE_LAST_1 "vldrw.u32 q5, [q4, #128]\n"
#define LAM_MVE_LAST_AT_1 "128"
#define LAM_MVE_BACK_2 "sub r10, r10, #256\n"
#define LAM_MVE_FIRST_2 "vldrw.u32 q5, [q4, #256]!\n"
#define LAM_MVE_FIRST_AT_2 "0"
#define LAM_MVE_SECOND_2 "vldrw.u32 q5, [q4, #128]\n"
#define LAM_MVE_SECOND_AT_2 "128"
#define LAM_MVE_LAST_2 "vldrw.u32 q5, [q4, #256]\n"
#define LAM_MVE_LAST_AT_2 "256"
#define LAM_MVE_BACK_N \
    "ldr r0, [r11, #40]\n" \
    "sub r10, r10, r0\n"
#define LAM_MVE_FIRST_N \
    "ldr r0, [r11, #40]\n" \
    "vadd.i32 q4, q4, r0\n" \
    "vldrw.u32 q5, [q4]\n"
#define LAM_MVE_FIRST_AT_N "0"
#define LAM_MVE_SECOND_N \
    "ldr r8, [r11, #40]\n" \
    "vadd.i32 q4, q4, r8\n" \
    "vldrw.u32 q5, [q4]\n"
#define LAM_MVE_SECOND_AT_N "0"
#define LAM_MVE_LAST_N LAM_MVE_FIRST_N
#define LAM_MVE_LAST_AT_N "0"

/* What a sum and its window have before the first one and at each one, by bounds: nothing but in lam_mve_depthwise_shifted.h. */
#define LAM_MVE_WINDOWS_OPEN_S8 ""
#define LAM_MVE_WINDOWS_OPEN_U8 ""
#define LAM_MVE_WINDOWS_OPEN_WITHIN ""
#define LAM_MVE_WINDOW_MORE_S8(sum, q) ""
#define LAM_MVE_WINDOW_MORE_U8(sum, q) ""
#define LAM_MVE_WINDOW_MORE_WITHIN(sum, q) ""

/* Sums of one pixel. */
#define LAM_MVE_WINDOW(BOUNDS, load, at, sum0, sum1, sum2, sum3) \
    load \
    "vldrw.u32 q6, [q4, #" at " + 4]\n" \
    "vmladav.s8 " sum0 ", q5, q0\n" LAM_MVE_WINDOW_MORE_##BOUNDS(sum0, "q5") \
    "vldrw.u32 q5, [q4, #" at " + 8]\n" \
    "vmladav.s8 " sum1 ", q6, q1\n" LAM_MVE_WINDOW_MORE_##BOUNDS(sum1, "q6") \
    "vldrw.u32 q6, [q4, #" at " + 12]\n" \
    "vmladav.s8 " sum2 ", q5, q2\n" LAM_MVE_WINDOW_MORE_##BOUNDS(sum2, "q5") \
    "vmladav.s8 " sum3 ", q6, q3\n" LAM_MVE_WINDOW_MORE_##BOUNDS(sum3, "q6")

/* Per block all pixels, two at a time: weights q0 .. q3, addresses of the window q4; r1 counts twos; r12 is the next block. */
#define LAM_MVE_DEPTHWISE(MODE, FACTORS, BOUNDS, stride, last, y_step, weights, both, one) \
    __asm volatile( \
        "ldr r5, [r11, #8]\n" \
        "ldr r9, [r11, #20]\n" \
        "ldr r12, [r11, #36]\n" \
        "vmsr p0, r12\n" \
        "1:\n" \
        "ldr r3, [r11, #32]\n" \
        "ldr r8, [r11, #28]\n" \
        "vldrb.8 q6, [r3]\n" \
        weights \
        "ldrd r10, r3, [r11, #0]\n" \
        "str r12, [r11, #52]\n" \
        "add r0, r10, #16\n" \
        "add r2, r3, #4\n" \
        "strd r0, r2, [r11, #0]\n" \
        LAM_MVE_BACK_##stride \
        "vldrw.32 q4, [r11, #64]\n" \
        "ldr r1, [r11, #16]\n" \
        "vadd.i32 q4, q4, r10\n" \
        "lsrs r1, r1, #1\n" \
        ".if " #last " == 2\n" \
        "beq 3f\n" \
        ".endif\n" \
        "2:\n" \
        LAM_MVE_WINDOWS_OPEN_##BOUNDS \
        LAM_MVE_WINDOW(BOUNDS, LAM_MVE_FIRST_##stride, LAM_MVE_FIRST_AT_##stride, "r0", "r2", "r4", "r6") \
        LAM_MVE_WINDOW(BOUNDS, LAM_MVE_SECOND_##stride, LAM_MVE_SECOND_AT_##stride, "r8", "r10", "r12", "lr") \
        "vldrw.32 q7, [r5]\n" \
        "vmov q5[2], q5[0], r0, r4\n" \
        "vmov q5[3], q5[1], r2, r6\n" \
        "vadd.i32 q5, q5, q7\n" \
        "vmov q6[2], q6[0], r8, r12\n" \
        "vmov q6[3], q6[1], r10, lr\n" \
        "vadd.i32 q6, q6, q7\n" \
        both \
        "vqmovnb.s32 q5, q5\n" \
        "vqmovnt.s32 q5, q6\n" \
        LAM_MVE_BYTES_##BOUNDS("q5", "r9", "q6", "44") \
        LAM_MVE_STORE_NEXT("q5", y_step) \
        "vshr.u32 q5, q5, #16\n" \
        "subs r1, r1, #1\n" \
        LAM_MVE_STORE_NEXT("q5", y_step) \
        "bne 2b\n" \
        "3:\n" \
        ".if " #last " == 2\n" \
        "ldr r0, [r11, #16]\n" \
        "lsls r0, r0, #31\n" \
        "beq 4f\n" \
        ".endif\n" \
        ".if " #last "\n" \
        LAM_MVE_WINDOWS_OPEN_##BOUNDS \
        LAM_MVE_WINDOW(BOUNDS, LAM_MVE_LAST_##stride, LAM_MVE_LAST_AT_##stride, "r0", "r2", "r4", "r6") \
        "vldrw.32 q7, [r5]\n" \
        "vmov q5[2], q5[0], r0, r4\n" \
        "vmov q5[3], q5[1], r2, r6\n" \
        "vadd.i32 q5, q5, q7\n" \
        one LAM_MVE_ROUND_##MODE("q5") \
        "vqmovnb.s32 q5, q5\n" \
        LAM_MVE_BYTES_##BOUNDS("q5", "r9", "q6", "44") \
        "vstrb.32 q5, [r3]\n" \
        ".endif\n" \
        "4:\n" \
        "ldr r5, [r11, #52]\n" \
        "ldr r0, [r11, #12]\n" \
        "cmp r5, r0\n" \
        "bne 1b\n" \
        : : "r"(held) : LAM_MVE_CLOBBERS, LAM_MVE_PREDICATE)

/* As above with any number of vectors per window; one block. */
#define LAM_MVE_DEPTHWISE_WIDE(MODE, FACTORS, FINISH) \
    __asm volatile( \
        "ldr r5, [r11, #8]\n" \
        "ldrd r8, r3, [r11, #0]\n" \
        "vldrw.32 q7, [r5]\n" \
        "ldr lr, [r11, #16]\n" \
        "dls lr, lr\n" \
        "1:\n" \
        "ldrd r12, r10, [r11, #80]\n" \
        "ldr r9, [r11, #88]\n" \
        "movs r0, #0\n" \
        "movs r2, #0\n" \
        "movs r4, #0\n" \
        "movs r6, #0\n" \
        "2:\n" \
        "vldrw.32 q4, [r10], #16\n" \
        "vldrb.8 q0, [r12], #64\n" \
        "vadd.i32 q4, q4, r8\n" \
        "vldrb.8 q1, [r12, #-48]\n" \
        "vldrw.u32 q5, [q4]\n" \
        "vldrw.u32 q6, [q4, #4]\n" \
        "vmladava.s8 r0, q5, q0\n" \
        "vmladava.s8 r2, q6, q1\n" \
        "vldrb.8 q2, [r12, #-32]\n" \
        "vldrb.8 q3, [r12, #-16]\n" \
        "vldrw.u32 q5, [q4, #8]\n" \
        "vldrw.u32 q6, [q4, #12]\n" \
        "vmladava.s8 r4, q5, q2\n" \
        "vmladava.s8 r6, q6, q3\n" \
        "subs r9, r9, #1\n" \
        "bne 2b\n" \
        "vmov q5[2], q5[0], r0, r4\n" \
        "vmov q5[3], q5[1], r2, r6\n" \
        "ldr r9, [r11, #20]\n" \
        "ldr r12, [r11, #40]\n" \
        "vadd.i32 q5, q5, q7\n" \
        LAM_MVE_FACTORS_##MODE(FACTORS) \
        FINISH \
        "ldr r2, [r11, #24]\n" \
        "vstrb.32 q5, [r3]\n" \
        "add r3, r3, r2\n" \
        "add r8, r8, r12\n" \
        "le lr, 1b\n" \
        : : "r"(held) : LAM_MVE_CLOBBERS)

#define LAM_MVE_DEPTHWISE_WIDE_OF(MODE, FACTORS) \
    do { \
        if (full) { \
            LAM_MVE_DEPTHWISE_WIDE(MODE, FACTORS, LAM_MVE_FULL_##MODE); \
        } else { \
            LAM_MVE_DEPTHWISE_WIDE(MODE, FACTORS, LAM_MVE_BOUND(MODE)); \
        } \
    } while (0)

#endif

#if LAM_MVE
/* As below, of three rows, 16 lanes and a step that loads take along; and of any lanes and step.  `begin` and `turn`: nothing,
 * or what makes u8 values s8 ones. */
#define LAM_MVE_INTERLEAVE(step, begin, turn) \
    __asm volatile( \
        begin \
        "dls lr, %[columns]\n" \
        "1:\n" \
        "vldrb.8 q0, [%[a]], " step "\n" \
        "vldrb.8 q1, [%[b]], " step "\n" \
        "vldrb.8 q2, [%[c]], " step "\n" turn \
        "vst40.8 {q0, q1, q2, q3}, [%[plane]]\n" \
        "vst41.8 {q0, q1, q2, q3}, [%[plane]]\n" \
        "vst42.8 {q0, q1, q2, q3}, [%[plane]]\n" \
        "vst43.8 {q0, q1, q2, q3}, [%[plane]]!\n" \
        "le lr, 1b\n" \
        : [plane] "+&r"(plane), [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c) \
        : [columns] "r"(columns) \
        : "lr", "q0", "q1", "q2", "q3", "q4", "memory")
#define LAM_MVE_INTERLEAVE_LANES(begin, turn) \
    __asm volatile( \
        "vctp.8 %[lanes]\n" begin \
        "dls lr, %[columns]\n" \
        "1:\n" \
        "vpsttt\n" \
        "vldrbt.8 q0, [%[a]]\n" \
        "vldrbt.8 q1, [%[b]]\n" \
        "vldrbt.8 q2, [%[c]]\n" turn \
        "vst40.8 {q0, q1, q2, q3}, [%[plane]]\n" \
        "vst41.8 {q0, q1, q2, q3}, [%[plane]]\n" \
        "vst42.8 {q0, q1, q2, q3}, [%[plane]]\n" \
        "vst43.8 {q0, q1, q2, q3}, [%[plane]]!\n" \
        "add %[a], %[a], %[step]\n" \
        "add %[b], %[b], %[step]\n" \
        "add %[c], %[c], %[step]\n" \
        "le lr, 1b\n" \
        : [plane] "+&r"(plane), [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c) \
        : [columns] "r"(columns), [step] "r"(step), [lanes] "r"(lanes) \
        : "lr", "q0", "q1", "q2", "q3", "q4", LAM_MVE_PREDICATE, "memory")
#define LAM_MVE_INTERLEAVE_BY(begin, turn) \
    do { \
        if (lanes == 16 && step == 64) { \
            LAM_MVE_INTERLEAVE("#64", begin, turn); \
        } else if (lanes == 16 && step == 32) { \
            LAM_MVE_INTERLEAVE("#32", begin, turn); \
        } else if (lanes == 16 && step == 16) { \
            LAM_MVE_INTERLEAVE("#16", begin, turn); \
        } else { \
            LAM_MVE_INTERLEAVE_LANES(begin, turn); \
        } \
    } while (0)
#endif

/* 16 channels of `columns` columns of up to four rows, `step` bytes apart, to plane[column][16][4].
 *
 *   lanes   channels to read, 1 .. 16; the others become anything
 *   four    whether there is a fourth row; without one its bytes become anything
 *   flip    0x80 for u8 values, else 0
 */
static inline void lam_mve_interleave(int8_t *plane, const void *a, const void *b, const void *c, const void *d,
                                      int32_t columns, int32_t step, int32_t lanes, int four, uint32_t flip)
{
#if LAM_MVE
    if (columns <= 0) {
        return;
    }
    if (four) {
        /* in memory, since without optimisation compilers run out of registers */
        const uint32_t setup[3] = {(uint32_t)lanes, flip, (uint32_t)columns};
        __asm volatile(
            "ldr lr, [%[setup]]\n"
            "vctp.8 lr\n"
            "ldr lr, [%[setup], #4]\n"
            "vdup.8 q4, lr\n"
            "ldr lr, [%[setup], #8]\n"
            "dls lr, lr\n"
            "1:\n"
            "vpstttt\n"
            "vldrbt.8 q0, [%[a]]\n"
            "vldrbt.8 q1, [%[b]]\n"
            "vldrbt.8 q2, [%[c]]\n"
            "vldrbt.8 q3, [%[d]]\n"
            "veor q0, q0, q4\n"
            "veor q1, q1, q4\n"
            "veor q2, q2, q4\n"
            "veor q3, q3, q4\n"
            "vst40.8 {q0, q1, q2, q3}, [%[plane]]\n"
            "vst41.8 {q0, q1, q2, q3}, [%[plane]]\n"
            "vst42.8 {q0, q1, q2, q3}, [%[plane]]\n"
            "vst43.8 {q0, q1, q2, q3}, [%[plane]]!\n"
            "add %[a], %[a], %[step]\n"
            "add %[b], %[b], %[step]\n"
            "add %[c], %[c], %[step]\n"
            "add %[d], %[d], %[step]\n"
            "le lr, 1b\n"
            : [plane] "+&r"(plane), [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [d] "+&r"(d)
            : [setup] "r"(setup), [step] "r"(step)
            : "lr", "q0", "q1", "q2", "q3", "q4", LAM_MVE_PREDICATE, "memory");
    } else if (flip != 0) {
        LAM_MVE_INTERLEAVE_BY("vmov.i8 q4, #128\n", "veor q0, q0, q4\nveor q1, q1, q4\nveor q2, q2, q4\n");
    } else {
        LAM_MVE_INTERLEAVE_BY("", "");
    }
#else
    const uint8_t *const rows[4] = {(const uint8_t *)a, (const uint8_t *)b, (const uint8_t *)c, (const uint8_t *)d};
    for (int32_t column = 0; column < columns; column++, plane += 64) {
        for (int32_t i = 0; i < 4 * lanes; i++) {
            const uint32_t byte = i % 4 < 3 || four ? rows[i % 4][column * step + i / 4] ^ flip : 0;
            plane[i] = (int8_t)((int32_t)(byte ^ 0x80u) - 128);
        }
    }
#endif
}

/* The weights of one channel as 16 bytes of a window: taps[order[i]] where bit i of mask is set, else 0. */
static inline void lam_mve_expand(int8_t *to, const int32_t *stream, int32_t first, const uint8_t *order, uint32_t mask)
{
#if LAM_MVE
    const int8_t *taps = (const int8_t *)(const void *)stream + first;
    __asm volatile(
        "vldrb.8 q1, [%[order]]\n"
        "vmsr p0, %[mask]\n"
        "vpst\n"
        "vldrbt.u8 q0, [%[taps], q1]\n"
        "vstrb.8 q0, [%[to]]\n"
        :
        : [to] "r"(to), [taps] "r"(taps), [order] "r"(order), [mask] "r"(mask)
        : "q0", "q1", LAM_MVE_PREDICATE, "memory");
#else
    for (int32_t i = 0; i < 16; i++) {
        to[i] = (int8_t)((mask >> i & 1u) != 0 ? lam_mve_byte(stream, first + order[i]) : 0);
    }
#endif
}

#if LAM_MVE
/* The bounds, as the mode wants them. */
static inline void lam_mve_bounds(lam_mve_planes *job, int mode)
{
    if (mode == LAM_MVE_ORT) {
        const float bounds[2] = {(float)job->low, (float)job->high};
        (void)memcpy(job->work + 1, bounds, sizeof bounds);
    } else {
        job->work[1] = job->low;
        job->work[2] = job->high;
    }
}
#else
/* The output of channel c of a block, of its sum. */
static inline uint8_t lam_mve_depthwise_output(const lam_mve_planes *job, const int32_t *block, int32_t c, int32_t acc,
                                               int mode, int each)
{
    const int32_t multiplier = lam_mve_multiplier(block, c, each, job->multiplier[c]);
    const int32_t shift = lam_mve_shift(block, c, each, job->shift[c]);
    return (uint8_t)lam_mve_requant(mode, acc, multiplier, shift, job->zero_point, job->low, job->high);
}
#endif

/* Outputs of the job's pixels for the one block at w, whose weights are expanded. */
static inline void lam_mve_depthwise_wide(lam_mve_planes *job, int mode, int each, int full)
{
#if LAM_MVE
    register lam_mve_planes *const held __asm("r11") = job;
    lam_mve_bounds(job, mode);
    LAM_MVE_FORM(LAM_MVE_DEPTHWISE_WIDE_OF);
#else
    LAM_UNUSED(full);
    for (int32_t i = 0; i < 4 * job->count; i++) {
        const int32_t c = i % 4, pixel = i / 4;
        const int8_t *const x = job->planes + pixel * job->x_step + 4 * c;
        int32_t acc = job->w[c];
        for (int32_t k = 0; k < 16 * job->vectors; k++) {
            acc += x[job->places[k / 4] + k % 4] * job->expanded[k / 16 * 64 + c * 16 + k % 16];
        }
        job->y[pixel * job->y_step + c] = lam_mve_depthwise_output(job, job->w, c, acc, mode, each);
    }
#endif
}

/* Outputs of the job's pixels and blocks, two pixels at a time; planes and y go on to what is behind the blocks.
 *
 *   mode, factors, bounds   as of lam_mve_columns.h
 *   stride                  1, 2 or N: x_step / 64
 *   last                    whether `count` is odd: 0, with which it is 2 or more, 1, then 3 or more, or 2 where that is not known
 *   y_step                  as of the job, 4095 at most
 *
 * All but the job are spelled as they stand here: they are part of instructions.
 */
#if LAM_MVE
#define lam_mve_depthwise(job, mode, factors, bounds, stride, last, y_step) \
    do { \
        register lam_mve_planes *const held __asm("r11") = (job); \
        LAM_MVE_DEPTHWISE(mode, factors, bounds, stride, last, y_step, LAM_MVE_WEIGHTS_##factors LAM_MVE_FOUR_TAPS, \
                          LAM_MVE_BOTH_##mode(factors), LAM_MVE_FACTORS_##mode(factors)); \
    } while (0)
#else
static inline void lam_mve_depthwise_each(lam_mve_planes *job, int mode, int each)
{
    const int32_t head = lam_mve_head(each);
    for (const int32_t *w = job->w; w != job->end; w += head + job->taps, job->planes += 16, job->y += 4) {
        for (int32_t i = 0; i < job->count; i++) {
            for (int32_t c = 0; c < 4; c++) {
                const int8_t *const x = job->planes + i * job->x_step + 4 * c;
                int32_t acc = w[c];
                for (int32_t lane = 0; lane < 16; lane++) {
                    if ((job->mask >> lane & 1u) != 0) {
                        const int32_t weight = lam_mve_byte(w + head, c * job->taps + job->order[lane]);
                        acc += x[job->offsets[lane / 4] + lane % 4] * weight;
                    }
                }
                job->y[i * job->y_step + c] = lam_mve_depthwise_output(job, w, c, acc, mode, each);
            }
        }
    }
}

#define lam_mve_depthwise(job, mode, factors, bounds, stride, last, y_step) \
    lam_mve_depthwise_each(job, LAM_MVE_##mode, LAM_MVE_##factors)
#endif

#endif /* LAM_MVE_DEPTHWISE_H */
