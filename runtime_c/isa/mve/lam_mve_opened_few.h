/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers on weights of 4 bits with a factor of 16 bits per group of inputs, of one pixel or two that others leave over.
 *
 * The stream and what is done with it are those of lam_mve_opened.h, but sums of more channels take the place of those of more
 * pixels: of two pixels four channels are made at a time, of one eight, which has to have an even number of blocks for that.
 * Words that channels have behind the factors of their groups are gathered, as they lie apart.
 */
#ifndef LAM_MVE_OPENED_FEW_H
#define LAM_MVE_OPENED_FEW_H

#include "lam_mve_opened.h"

#if LAM_MVE

/* What is taken off sums, of each pixel in turn. */
#define LAM_MVE_FEW_TURNS_1 \
    "mov r10, r8\n" \
    "mov r12, r8\n" \
    "mov lr, r8\n"
#define LAM_MVE_FEW_TURNS_2 \
    "mov r12, r8\n" \
    "mov lr, r10\n"

/* The sums of two channels. */
#define LAM_MVE_FEW_BYTES(product, q0, q1, count, a, b, c, d) \
    "vldrw.32 q7, [r5], #16\n" \
    LAM_MVE_OPENED_OF_##count(product ".s8 " a ", " q0 ", q7\n", product ".s8 " b ", " q1 ", q7\n", "", "") \
    "vshr.s8 q7, q7, #4\n"
#define LAM_MVE_FEW_UPPER(product, q0, q1, count, a, b, c, d) \
    LAM_MVE_OPENED_OF_##count(product ".s8 " c ", " q0 ", q7\n", product ".s8 " d ", " q1 ", q7\n", "", "")
#define LAM_MVE_FEW_CHUNKS_1(first, count, a, b, c, d) \
    LAM_MVE_FEW_BYTES(first, "q0", "q1", count, a, b, c, d) LAM_MVE_FEW_UPPER("vmladav", "q0", "q1", count, a, b, c, d)
#define LAM_MVE_FEW_CHUNKS_2(first, count, a, b, c, d) \
    LAM_MVE_FEW_CHUNKS_1(first, count, a, b, c, d) \
    LAM_MVE_FEW_BYTES("vmladava", "q4", "q5", count, a, b, c, d) LAM_MVE_FEW_UPPER("vmladava", "q4", "q5", count, a, b, c, d)
/* Those of all channels that are made at a time. */
#define LAM_MVE_FEW_ALL_1(chunks, first) \
    LAM_MVE_FEW_CHUNKS_##chunks(first, 1, "r0", "", "r8", "") LAM_MVE_FEW_CHUNKS_##chunks(first, 1, "r2", "", "r10", "") \
    LAM_MVE_FEW_CHUNKS_##chunks(first, 1, "r4", "", "r12", "") LAM_MVE_FEW_CHUNKS_##chunks(first, 1, "r6", "", "lr", "")
#define LAM_MVE_FEW_ALL_2(chunks, first) \
    LAM_MVE_FEW_CHUNKS_##chunks(first, 2, "r0", "r2", "r8", "r10") LAM_MVE_FEW_CHUNKS_##chunks(first, 2, "r4", "r6", "r12", "lr")
#define LAM_MVE_FEW_BLOCK_AROUND(chunks, count) "ldm r1, {r0, r2, r4, r6}\n" LAM_MVE_FEW_ALL_##count(chunks, "vmladava")
#define LAM_MVE_FEW_BLOCK_OWN LAM_MVE_FEW_BLOCK_AROUND
#define LAM_MVE_FEW_BLOCK_RAW(chunks, count) LAM_MVE_FEW_ALL_##count(chunks, "vmladav")
#define LAM_MVE_FEW_BLOCK(chunks, zeros, count) \
    LAM_MVE_FEW_BLOCK_##zeros(chunks, count) \
    "stm r3!, {r0, r2, r4, r6, r8, r10, r12, lr}\n"
/* All of them, of as many blocks as r9 says: two a turn of two pixels. */
#define LAM_MVE_FEW_BLOCKS_1(block) "lsrs r9, r9, #1\n" LAM_MVE_OPENED_BLOCKS_2(block)
#define LAM_MVE_FEW_BLOCKS_2(block) LAM_MVE_OPENED_BLOCKS_1(block)

/* The sums of the next group: the names and numerals are those of lam_mve_opened_sums, `count` is 1 or 2. */
#define lam_mve_opened_few_sums(job, chunks, sign, zeros, lanes, count) \
    do { \
        register lam_mve_opened_job *const held __asm("r11") = (job); \
        __asm volatile( \
            "ldm r11, {r0, r2, r4, r6}\n" LAM_MVE_OPENED_FLIP_##sign LAM_MVE_OPENED_READ_##chunks(sign, count) \
            "stm r11, {r0, r2, r4, r6}\n" \
            LAM_MVE_OPENED_SUMMED_##zeros(LAM_MVE_OPENED_EIGHTS_##chunks(count) LAM_MVE_FEW_TURNS_##count, lanes, count) \
            "ldrd r3, r5, [r11, #16]\n" \
            "ldr r9, [r11, #24]\n" LAM_MVE_FEW_BLOCKS_##count(LAM_MVE_FEW_BLOCK(chunks, zeros, count)) \
            "subs r9, r9, #1\n" \
            "bne 1b\n" \
            "strd r3, r5, [r11, #16]\n" \
            : : "r"(held) : LAM_MVE_CLOBBERS); \
    } while (0)

/* Of two channels what groups in lanes have, behind which the stream goes on by more. */
#define LAM_MVE_FEW_LOADED(load, bytes, more) \
    load " q2, [r5], #" bytes "\n" \
    load " q3, [r5], #" bytes more "\n"
#define LAM_MVE_FEW_TWO_AROUND(load, bytes, more, pixels, zeros) LAM_MVE_FEW_LOADED(load, bytes, more) pixels
#define LAM_MVE_FEW_TWO_OWN(load, bytes, more, pixels, zeros) \
    LAM_MVE_FEW_LOADED(load, bytes, "") pixels LAM_MVE_FEW_LOADED(load, bytes, more) zeros
#define LAM_MVE_FEW_TWO_RAW LAM_MVE_FEW_TWO_OWN
#define LAM_MVE_FEW_ZERO(q, type, total, upper) \
    "vmladava." type " " total ", " q ", q2\n" \
    "vmladava." type " " upper ", " q ", q3\n"
#define LAM_MVE_FEW_ONE(zeros, product, more, load, bytes, read, type, total, upper, step) \
    LAM_MVE_FEW_TWO_##zeros(load, bytes, more, LAM_MVE_OPENED_PIXEL(product, total, upper, step, read, type), \
                            LAM_MVE_FEW_ZERO("q7", type, total, upper))
#define LAM_MVE_FEW_BOTH(zeros, product, more, load, bytes, read, type, total, upper, other, other_upper, step) \
    LAM_MVE_FEW_TWO_##zeros( \
        load, bytes, more, \
        LAM_MVE_OPENED_PIXEL(product, total, upper, "4", read, type) \
            LAM_MVE_OPENED_PIXEL(product, other, other_upper, step, read, type), \
        LAM_MVE_FEW_ZERO("q7", type, total, upper) load " q0, [r3, #" bytes "]\n" LAM_MVE_FEW_ZERO("q0", type, other, other_upper))
/* Of all channels that are made at a time. */
#define LAM_MVE_FEW_TAKEN_1(zeros, product, more, load, bytes, read, type) \
    LAM_MVE_FEW_ONE(zeros, product, more, load, bytes, read, type, "r0", "r8", "4") \
    LAM_MVE_FEW_ONE(zeros, product, more, load, bytes, read, type, "r2", "r10", "4") \
    LAM_MVE_FEW_ONE(zeros, product, more, load, bytes, read, type, "r4", "r12", "4") \
    LAM_MVE_FEW_ONE(zeros, product, more, load, bytes, read, type, "r6", "lr", "20")
#define LAM_MVE_FEW_TAKEN_2(zeros, product, more, load, bytes, read, type) \
    LAM_MVE_FEW_BOTH(zeros, product, more, load, bytes, read, type, "r0", "r8", "r2", "r10", "4") \
    LAM_MVE_FEW_BOTH(zeros, product, more, load, bytes, read, type, "r4", "r12", "r6", "lr", "20")
/* The first pixel's sums of inputs. */
#define LAM_MVE_FEW_INPUTS_AROUND(load) ""
#define LAM_MVE_FEW_INPUTS_OWN(load) \
    "ldr r3, [r11, #132]\n" \
    load " q7, [r3]\n"
#define LAM_MVE_FEW_INPUTS_RAW LAM_MVE_FEW_INPUTS_OWN
#define LAM_MVE_FEW_LANES_8(zeros, product, more, count) \
    LAM_MVE_FEW_INPUTS_##zeros("vldrh.16") LAM_MVE_FEW_TAKEN_##count(zeros, product, more, "vldrh.16", "16", "vldrh.u16", "s16")
#define LAM_MVE_FEW_LANES_4(zeros, product, more, count) \
    LAM_MVE_FEW_INPUTS_##zeros("vldrh.s32") LAM_MVE_FEW_TAKEN_##count(zeros, product, more, "vldrh.s32", "8", "vldrw.u32", "s32")
#define LAM_MVE_FEW_FIRST_ONCE(lanes, zeros, more, count) LAM_MVE_FEW_LANES_##lanes(zeros, "vmladav", more, count)
#define LAM_MVE_FEW_FIRST_MORE(lanes, zeros, more, count) \
    "ldr r3, [r11, #88]\n" \
    "ldm r3!, " LAM_MVE_OPENED_TOTALS \
    "str r3, [r11, #88]\n" LAM_MVE_FEW_LANES_##lanes(zeros, "vmladava", more, count)

/* The sums of groups in lanes to the totals of the part. */
#define lam_mve_opened_few_add(job, zeros, lanes, count) \
    do { \
        register lam_mve_opened_job *const held __asm("r11") = (job); \
        __asm volatile(LAM_MVE_OPENED_BEGUN(zeros, lanes) LAM_MVE_OPENED_ADDS(LAM_MVE_FEW_LANES_##lanes(zeros, "vmladava", "", count)) \
                       : : "r"(held) : LAM_MVE_CLOBBERS); \
    } while (0)

/* Bytes of what two channels have of groups in lanes, of what they have behind that, and of all. */
#define LAM_MVE_FEW_FACTORS_AROUND(lanes) "4 * " #lanes
#define LAM_MVE_FEW_FACTORS_OWN(lanes) "8 * " #lanes
#define LAM_MVE_FEW_FACTORS_RAW LAM_MVE_FEW_FACTORS_OWN
#define LAM_MVE_FEW_BEHIND_ONE " + 8"
#define LAM_MVE_FEW_BEHIND_EACH " + 24"
#define LAM_MVE_FEW_STEP(factors, zeros, lanes) "(" LAM_MVE_FEW_FACTORS_##zeros(lanes) LAM_MVE_FEW_BEHIND_##factors ")"
#define LAM_MVE_FEW_STEPS_1 "4 * "
#define LAM_MVE_FEW_STEPS_2 "2 * "
/* The places of biases to q6, before those of the first channels. */
#define LAM_MVE_FEW_TURN_1 ""
#define LAM_MVE_FEW_TURN_2 "vshr.u32 q6, q6, #1\n"
#define LAM_MVE_FEW_BIASES(factors, zeros, lanes, count) \
    "movs r0, #0\n" \
    "movs r2, #" LAM_MVE_FEW_STEP(factors, zeros, lanes) "\n" \
    "vidup.u32 q6, r0, #1\n" LAM_MVE_FEW_TURN_##count \
    "ldr r0, [r11, #20]\n" \
    "vmul.i32 q6, q6, r2\n" \
    "subw r0, r0, #" LAM_MVE_FEW_STEPS_##count LAM_MVE_FEW_STEP(factors, zeros, lanes) " - " LAM_MVE_FEW_FACTORS_##zeros(lanes) "\n" \
    "vadd.i32 q6, q6, r0\n"
/* Multipliers to q0, shifts to q1: of the first channels of each two, and of the second ones. */
#define LAM_MVE_FEW_SPREAD_ONE(at) LAM_MVE_OPENED_FIRST_ONE
#define LAM_MVE_FEW_SPREAD_EACH(at) \
    "vldrw.u32 q0, [q6, #" at "]\n" \
    "vldrw.u32 q1, [q6, #" at " + 4]\n"
#define LAM_MVE_FEW_SECOND_ONE(at) ""
#define LAM_MVE_FEW_SECOND_EACH LAM_MVE_FEW_SPREAD_EACH
/* Totals to outputs less the zero point in q2, those of the second channels in the upper half of each lane. */
#define LAM_MVE_FEW_RESULTS(mode, factors, zeros, lanes, count) \
    "vmov q2[2], q2[0], r0, r4\n" \
    "vmov q2[3], q2[1], r2, r6\n" \
    "vmov q3[2], q3[0], r8, r12\n" \
    "vmov q3[3], q3[1], r10, lr\n" \
    "vldrw.u32 q0, [q6, #" LAM_MVE_FEW_STEPS_##count LAM_MVE_FEW_STEP(factors, zeros, lanes) "]!\n" \
    "vldrw.u32 q1, [q6, #4]\n" \
    "vadd.i32 q2, q2, q0\n" \
    "vadd.i32 q3, q3, q1\n" \
    LAM_MVE_FEW_SPREAD_##factors("8") \
    LAM_MVE_SCALE_##mode("q2", "q0", "q1", "q7") LAM_MVE_ROUND_##mode("q2") \
    LAM_MVE_FEW_SECOND_##factors("16") \
    LAM_MVE_SCALE_##mode("q3", "q0", "q1", "q7") LAM_MVE_ROUND_##mode("q3") \
    "vqmovnb.s32 q2, q2\n" \
    "vqmovnt.s32 q2, q3\n"
/* Bytes in q2 to their places behind r3, which the job keeps. */
#define LAM_MVE_FEW_STORE(on) \
    "vldrw.32 q0, [r11, #48]\n" \
    "vstrb.32 q2, [r3, q0]\n" \
    "adds r3, r3, #2\n" \
    "vshr.u32 q2, q2, #16\n" \
    "vstrb.32 q2, [r3, q0]\n" \
    "adds r3, r3, #" on "\n" \
    "str r3, [r11, #104]\n"
#define LAM_MVE_FEW_STORE_1 LAM_MVE_FEW_STORE("6")
#define LAM_MVE_FEW_STORE_2 LAM_MVE_FEW_STORE("2")

/* Outputs of the part: the names and numerals are those of lam_mve_opened_outputs. */
#define lam_mve_opened_few_outputs(job, mode, factors, bounds, often, zeros, lanes, count) \
    do { \
        register lam_mve_opened_job *const held __asm("r11") = (job); \
        __asm volatile(LAM_MVE_FEW_BIASES(factors, zeros, lanes, count) LAM_MVE_OPENED_BEGUN(zeros, lanes) \
                       LAM_MVE_FEW_FIRST_##often(lanes, zeros, LAM_MVE_FEW_BEHIND_##factors, count) \
                       LAM_MVE_FEW_RESULTS(mode, factors, zeros, lanes, count) \
                       "ldrd r3, r8, [r11, #104]\n" LAM_MVE_BYTES_##bounds("q2", "r8", "q0", "112") \
                       LAM_MVE_FEW_STORE_##count LAM_MVE_OPENED_DONE \
                       : : "r"(held) : LAM_MVE_CLOBBERS); \
    } while (0)

#else

#define lam_mve_opened_few_sums lam_mve_opened_sums
#define lam_mve_opened_few_add lam_mve_opened_add
#define lam_mve_opened_few_outputs lam_mve_opened_outputs

#endif

/* What one pixel or two have otherwise than lam_mve_opened_to says: how far sums lie apart, and where outputs go. */
static inline void lam_mve_opened_few(lam_mve_opened_job *job, int32_t count)
{
#if LAM_MVE
    const int32_t words = 4 * count * job->blocks;
    job->stride = 4 * words;
    job->sums_end = job->sums + words;
    for (int32_t i = 0; i < 4; i++) {
        const int32_t two = i / count;
        job->kept[i] = two / 2 * 4 + two % 2 + (i % count != 0 ? job->y_step[0] : 0);
    }
#else
    LAM_UNUSED(job);
    LAM_UNUSED(count);
#endif
}

#endif /* LAM_MVE_OPENED_FEW_H */
