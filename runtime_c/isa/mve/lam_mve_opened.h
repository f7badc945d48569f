/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers on weights of 4 bits, or of 8, with a factor of 16 bits per group of inputs, up to four pixels and four channels at a time.
 *
 * Inputs of a group, 16 or 32 of each pixel, stay in registers for all channels of a part, but for those of the
 * third and fourth one where there are 32: these are kept in the job.  Channels c and c + 2 of a block share bytes: the number of the latter is above, that
 * of the former, with 8 added, below.  The products with whole bytes are then 16 times the latter's sum, plus the former's and 8
 * times the inputs' sum, which is taken off, unless groups have zero points and it is taken off with these.  Of bytes each channel
 * has its own, and its own sums.
 *
 * The sums of as many groups as there are lanes are kept in memory: eight where they all fit 16 bits, else four.  Then they are
 * taken up again, one pixel and two channels after another: one product of vectors by their factors adds a channel's to its total.
 * Where groups fill lanes more than once, totals are kept in memory, too.
 *
 * A part of the stream:
 *
 *   for groups in lanes
 *     each group, each block     per two channels that share bytes (0 and 2, 1 and 3), per chunk of 16 inputs: 4 words; of bytes 4 each
 *     each block, per two        for each channel the factors, 16 bits each, and, where groups have zero points, these times
 *                                factors, with the opposite sign; and behind those of the last lanes 2 biases, the input's zero
 *                                point folded in, and multiplier and shift of each channel, where it has its own
 */
#ifndef LAM_MVE_OPENED_H
#define LAM_MVE_OPENED_H

#include "lam_mve_requant.h"

/* What one call works on.  The assembly knows the order. */
typedef struct {
    const int8_t *x[4];      /* the pixels' next inputs */
    int32_t *sums_at;        /* sums of the next group: of all blocks, two channels at a time, whole bytes' and the upper one's */
    const int32_t *w;        /* the stream, which goes on */
    int32_t blocks;          /* of the part */
    int16_t *inputs_at;      /* where sums of the next group's inputs go, with the opposite sign */
    int32_t less[4];         /* 8 times these */
    int32_t kept[8];         /* inputs, for the assembly */
    int32_t *sums;           /* those of the first group in lanes */
    int32_t stride;          /* bytes of a group's sums */
    int32_t *totals;         /* of all blocks, two channels at a time, of four pixels each; it goes on */
    int32_t y_step[3];       /* bytes to outputs of other pixels than the first; 0 where there is none */
    uint8_t *y;              /* those of the first pixel; it goes on */
    int32_t zero_point;      /* of the output */
    int32_t low;             /* least output value less zero_point */
    int32_t high;            /* greatest output value less zero_point */
    int32_t multiplier;      /* of all channels, where they share it */
    int32_t shift;           /* the same */
    const int32_t *sums_end; /* behind those of the first group */
    int16_t *inputs;         /* of each pixel as many as lanes */
} lam_mve_opened_job;

#if LAM_MVE

LAM_STATIC_ASSERT(sizeof(lam_mve_opened_job) == 136, mve_opened_job_is_34_words);

/* What is done for as many pixels. */
#define LAM_MVE_OPENED_OF_1(a, b, c, d) a
#define LAM_MVE_OPENED_OF_2(a, b, c, d) a b
#define LAM_MVE_OPENED_OF_3(a, b, c, d) a b c
#define LAM_MVE_OPENED_OF_4(a, b, c, d) a b c d
#define LAM_MVE_OPENED_LAST_1(d) ""
#define LAM_MVE_OPENED_LAST_2 LAM_MVE_OPENED_LAST_1
#define LAM_MVE_OPENED_LAST_3 LAM_MVE_OPENED_LAST_1
#define LAM_MVE_OPENED_LAST_4(d) d

/* Inputs to q0 .. q3, and of second chunks those of three pixels to q4 .. q6, of which the third one's are kept, as are the
 * fourth one's. */
#define LAM_MVE_OPENED_FLIP_SIGNED ""
#define LAM_MVE_OPENED_FLIP_UNSIGNED "vmov.i8 q7, #128\n"
#define LAM_MVE_OPENED_READ_SIGNED(q, r) "vldrb.8 " q ", [" r "], #16\n"
#define LAM_MVE_OPENED_READ_UNSIGNED(q, r) LAM_MVE_OPENED_READ_SIGNED(q, r) "veor " q ", " q ", q7\n"
#define LAM_MVE_OPENED_READ_1(sign, count) \
    LAM_MVE_OPENED_OF_##count(LAM_MVE_OPENED_READ_##sign("q0", "r0"), LAM_MVE_OPENED_READ_##sign("q1", "r2"), \
                              LAM_MVE_OPENED_READ_##sign("q2", "r4"), LAM_MVE_OPENED_READ_##sign("q3", "r6"))
#define LAM_MVE_OPENED_READ_2(sign, count) \
    LAM_MVE_OPENED_READ_1(sign, count) \
    LAM_MVE_OPENED_LAST_##count(LAM_MVE_OPENED_READ_##sign("q6", "r6") "vstrw.32 q6, [r11, #64]\n") \
    LAM_MVE_OPENED_OF_##count(LAM_MVE_OPENED_READ_##sign("q4", "r0"), LAM_MVE_OPENED_READ_##sign("q5", "r2"), \
                              LAM_MVE_OPENED_READ_##sign("q6", "r4"), "vstrw.32 q6, [r11, #48]\n")
/* Their sums times -8 to r8, r10, r12 and lr. */
#define LAM_MVE_OPENED_EIGHTS_1(count) \
    "vmov.i8 q7, #248\n" \
    LAM_MVE_OPENED_OF_##count("vmladav.s8 r8, q0, q7\n", "vmladav.s8 r10, q1, q7\n", "vmladav.s8 r12, q2, q7\n", \
                              "vmladav.s8 lr, q3, q7\n")
#define LAM_MVE_OPENED_EIGHTS_2(count) \
    LAM_MVE_OPENED_EIGHTS_1(count) \
    LAM_MVE_OPENED_OF_##count("vmladava.s8 r8, q4, q7\n", "vmladava.s8 r10, q5, q7\n", "vmladava.s8 r12, q6, q7\n", \
                              "vldrw.32 q6, [r11, #64]\n" \
                              "vmladava.s8 lr, q6, q7\n" \
                              "vldrw.32 q6, [r11, #48]\n")
/* What becomes of these: they are taken off sums, or an eighth is kept, or both. */
#define LAM_MVE_OPENED_LESS \
    "add r1, r11, #32\n" \
    "stm r1, {r8, r10, r12, lr}\n"
#define LAM_MVE_OPENED_KEEP(lanes, count) \
    "ldr r3, [r11, #28]\n" \
    LAM_MVE_OPENED_OF_##count("asrs r8, r8, #3\nstrh r8, [r3]\n", "asrs r10, r10, #3\nstrh r10, [r3, #2 * " #lanes "]\n", \
                              "asrs r12, r12, #3\nstrh r12, [r3, #4 * " #lanes "]\n", \
                              "asrs lr, lr, #3\nstrh lr, [r3, #6 * " #lanes "]\n") \
    "adds r3, r3, #2\n" \
    "str r3, [r11, #28]\n"
#define LAM_MVE_OPENED_SUMMED_AROUND(eights, lanes, count) eights LAM_MVE_OPENED_LESS
#define LAM_MVE_OPENED_SUMMED_OWN(eights, lanes, count) eights LAM_MVE_OPENED_LESS LAM_MVE_OPENED_KEEP(lanes, count)
#define LAM_MVE_OPENED_SUMMED_RAW(eights, lanes, count) eights LAM_MVE_OPENED_KEEP(lanes, count)
#define LAM_MVE_OPENED_SUMMED_BYTES(eights, lanes, count) ""
#define LAM_MVE_OPENED_SUMMED_BYTES_OWN LAM_MVE_OPENED_SUMMED_RAW

/* What comes from the bytes of one channel to those of the second. */
#define LAM_MVE_OPENED_UPPER "vshr.s8 q7, q7, #4\n"
#define LAM_MVE_OPENED_NEXT "vldrw.32 q7, [r5], #16\n"
/* The sums of two channels; `first`: the first product with whole bytes. */
#define LAM_MVE_OPENED_BY(count, product, a, b, c, d) \
    LAM_MVE_OPENED_OF_##count(product ".s8 " a ", q0, q7\n", product ".s8 " b ", q1, q7\n", product ".s8 " c ", q2, q7\n", \
                              product ".s8 " d ", q3, q7\n")
#define LAM_MVE_OPENED_CHUNKS_1(first, count, next) \
    "vldrw.32 q7, [r5], #16\n" \
    LAM_MVE_OPENED_BY(count, first, "r0", "r2", "r4", "r6") \
    next \
    LAM_MVE_OPENED_BY(count, "vmladav", "r8", "r10", "r12", "lr")
#define LAM_MVE_OPENED_CHUNKS_2(first, count, next) \
    LAM_MVE_OPENED_CHUNKS_1(first, count, next) \
    "vldrw.32 q7, [r5], #16\n" \
    LAM_MVE_OPENED_OF_##count("vmladava.s8 r0, q4, q7\n", "vmladava.s8 r2, q5, q7\n", "vmladava.s8 r4, q6, q7\n", \
                              "vldrw.32 q6, [r11, #64]\n" \
                              "vmladava.s8 r6, q6, q7\n") \
    next \
    LAM_MVE_OPENED_LAST_##count("vmladava.s8 lr, q6, q7\n" \
                                "vldrw.32 q6, [r11, #48]\n") \
    LAM_MVE_OPENED_OF_##count("vmladava.s8 r8, q4, q7\n", "vmladava.s8 r10, q5, q7\n", "vmladava.s8 r12, q6, q7\n", "")
#define LAM_MVE_OPENED_BEGIN_AROUND(chunks, count) \
    "ldm r1, {r0, r2, r4, r6}\n" LAM_MVE_OPENED_CHUNKS_##chunks("vmladava", count, LAM_MVE_OPENED_UPPER)
#define LAM_MVE_OPENED_BEGIN_OWN LAM_MVE_OPENED_BEGIN_AROUND
#define LAM_MVE_OPENED_BEGIN_RAW(chunks, count) LAM_MVE_OPENED_CHUNKS_##chunks("vmladav", count, LAM_MVE_OPENED_UPPER)
#define LAM_MVE_OPENED_BEGIN_BYTES(chunks, count) LAM_MVE_OPENED_CHUNKS_##chunks("vmladav", count, LAM_MVE_OPENED_NEXT)
#define LAM_MVE_OPENED_BEGIN_BYTES_OWN LAM_MVE_OPENED_BEGIN_BYTES
#define LAM_MVE_OPENED_TWO(chunks, zeros, count) \
    LAM_MVE_OPENED_BEGIN_##zeros(chunks, count) \
    "stm r3!, {r0, r2, r4, r6, r8, r10, r12, lr}\n"
/* All blocks, as many as r9 says: two a turn where groups are small. */
#define LAM_MVE_OPENED_BLOCK(chunks, zeros, count) LAM_MVE_OPENED_TWO(chunks, zeros, count) LAM_MVE_OPENED_TWO(chunks, zeros, count)
#define LAM_MVE_OPENED_BLOCKS_1(block) \
    "adds r9, r9, #1\n" \
    "lsrs r9, r9, #1\n" \
    "bcc 2f\n" \
    "1:\n" block \
    "2:\n" block
#define LAM_MVE_OPENED_BLOCKS_2(block) "1:\n" block

/* The sums of the next group, of `chunks` chunks, 1 or 2, and `count` pixels, 1 to 4.  `sign`: SIGNED or UNSIGNED inputs;
 * `zeros`: AROUND none, OWN zero points, RAW where 8 is taken off with these, or BYTES and BYTES_OWN of bytes.  All but the job are numerals and names. */
#define lam_mve_opened_sums(job, chunks, sign, zeros, lanes, count) \
    do { \
        register lam_mve_opened_job *const held __asm("r11") = (job); \
        __asm volatile( \
            "ldm r11, {r0, r2, r4, r6}\n" LAM_MVE_OPENED_FLIP_##sign LAM_MVE_OPENED_READ_##chunks(sign, count) \
            "stm r11, {r0, r2, r4, r6}\n" LAM_MVE_OPENED_SUMMED_##zeros(LAM_MVE_OPENED_EIGHTS_##chunks(count), lanes, count) \
            "ldrd r3, r5, [r11, #16]\n" \
            "ldr r9, [r11, #24]\n" \
            LAM_MVE_OPENED_BLOCKS_##chunks(LAM_MVE_OPENED_BLOCK(chunks, zeros, count)) \
            "subs r9, r9, #1\n" \
            "bne 1b\n" \
            "strd r3, r5, [r11, #16]\n" \
            : : "r"(held) : LAM_MVE_CLOBBERS); \
    } while (0)

/* Of groups in lanes the sums of a pixel and two channels, which r1 and q4 and q5 have the places of, by their factors in q2 and
 * q3 to both totals; r1 goes on by `step`, and r9 is -16. */
#define LAM_MVE_OPENED_PIXEL(product, total, upper, step, read, type) \
    read " q0, [r1, q4]\n" \
    read " q1, [r1, q5]\n" \
    "vmla." type " q0, q1, r9\n" \
    "add r1, r1, #" step "\n" \
    product "." type " " total ", q0, q2\n" \
    product "." type " " upper ", q1, q3\n"
#define LAM_MVE_OPENED_PIXELS_1(product, step, read, type) LAM_MVE_OPENED_PIXEL(product, "r0", "r8", step, read, type)
#define LAM_MVE_OPENED_PIXELS_2(product, step, read, type) \
    LAM_MVE_OPENED_PIXELS_1(product, "4", read, type) LAM_MVE_OPENED_PIXEL(product, "r2", "r10", step, read, type)
#define LAM_MVE_OPENED_PIXELS_3(product, step, read, type) \
    LAM_MVE_OPENED_PIXELS_2(product, "4", read, type) LAM_MVE_OPENED_PIXEL(product, "r4", "r12", step, read, type)
#define LAM_MVE_OPENED_PIXELS_4(product, step, read, type) \
    LAM_MVE_OPENED_PIXELS_3(product, "4", read, type) LAM_MVE_OPENED_PIXEL(product, "r6", "lr", step, read, type)
#define LAM_MVE_OPENED_LANES(product, load, bytes, read, type, count) \
    load " q2, [r5], #" bytes "\n" \
    load " q3, [r5], #" bytes "\n" LAM_MVE_OPENED_PIXELS_##count(product, "36 - 4 * " #count, read, type)
#define LAM_MVE_OPENED_LANES_8(product, count) LAM_MVE_OPENED_LANES(product, "vldrh.16", "16", "vldrh.u16", "s16", count)
#define LAM_MVE_OPENED_LANES_4(product, count) LAM_MVE_OPENED_LANES(product, "vldrh.s32", "8", "vldrw.u32", "s32", count)
/* The same of bytes, whose sums take 32 bits each: those of the first four groups have the places in q4, of others in q5. */
#define LAM_MVE_OPENED_OF_BYTES(product, total, upper, places, at, more) \
    "vldrw.u32 q0, [" places ", #" at "\n" \
    "vldrw.u32 q1, [" places ", #16 + " more "]\n" \
    product ".s32 " total ", q0, q2\n" \
    product ".s32 " upper ", q1, q3\n"
#define LAM_MVE_OPENED_BYTES_BY(product, places, count) \
    LAM_MVE_OPENED_OF_BYTES(product, "r0", "r8", places, "32]!", "0") \
    LAM_MVE_OPENED_OF_##count("", LAM_MVE_OPENED_OF_BYTES(product, "r2", "r10", places, "4]", "4"), \
                              LAM_MVE_OPENED_OF_BYTES(product, "r4", "r12", places, "8]", "8"), \
                              LAM_MVE_OPENED_OF_BYTES(product, "r6", "lr", places, "12]", "12"))
#define LAM_MVE_OPENED_BYTES_8(product, count) \
    "vldrh.s32 q2, [r5], #16\n" \
    "vldrh.s32 q3, [r5], #-8\n" LAM_MVE_OPENED_BYTES_BY(product, "q4", count) \
    "vldrh.s32 q2, [r5], #16\n" \
    "vldrh.s32 q3, [r5], #8\n" LAM_MVE_OPENED_BYTES_BY("vmladava", "q5", count) "adds r1, r1, #32\n"
#define LAM_MVE_OPENED_BYTES_4(product, count) \
    "vldrh.s32 q2, [r5], #8\n" \
    "vldrh.s32 q3, [r5], #8\n" LAM_MVE_OPENED_BYTES_BY(product, "q4", count) "adds r1, r1, #32\n"
#define LAM_MVE_OPENED_SCALED_AROUND(lanes, product, count) LAM_MVE_OPENED_LANES_##lanes(product, count)
#define LAM_MVE_OPENED_SCALED_OWN LAM_MVE_OPENED_SCALED_AROUND
#define LAM_MVE_OPENED_SCALED_RAW LAM_MVE_OPENED_SCALED_AROUND
#define LAM_MVE_OPENED_SCALED_BYTES(lanes, product, count) LAM_MVE_OPENED_BYTES_##lanes(product, count)
#define LAM_MVE_OPENED_SCALED_BYTES_OWN LAM_MVE_OPENED_SCALED_BYTES
/* These places, in bytes behind r1. */
#define LAM_MVE_OPENED_PLACES(bits) \
    "movs r0, #0\n" \
    "ldr r2, [r11, #84]\n" \
    "movs r4, #16\n" \
    "vidup.u" bits " q4, r0, #1\n" \
    "vmul.i" bits " q4, q4, r2\n" \
    "vadd.i" bits " q5, q4, r4\n"
#define LAM_MVE_OPENED_PLACES_8 LAM_MVE_OPENED_PLACES("16")
#define LAM_MVE_OPENED_PLACES_4 LAM_MVE_OPENED_PLACES("32")
/* Those of bytes, before the first. */
#define LAM_MVE_OPENED_PLACED \
    "movs r0, #0\n" \
    "ldrd r4, r2, [r11, #80]\n" \
    "subs r4, r4, #32\n" \
    "vidup.u32 q4, r0, #1\n" \
    "vmul.i32 q4, q4, r2\n" \
    "vadd.i32 q4, q4, r4\n" \
    "lsls r2, r2, #2\n" \
    "vadd.i32 q5, q4, r2\n"
#define LAM_MVE_OPENED_PLACES_AROUND(lanes) LAM_MVE_OPENED_PLACES_##lanes
#define LAM_MVE_OPENED_PLACES_OWN LAM_MVE_OPENED_PLACES_AROUND
#define LAM_MVE_OPENED_PLACES_RAW LAM_MVE_OPENED_PLACES_AROUND
#define LAM_MVE_OPENED_PLACES_BYTES(lanes) LAM_MVE_OPENED_PLACED
#define LAM_MVE_OPENED_PLACES_BYTES_OWN LAM_MVE_OPENED_PLACES_BYTES

/* Zero points times factors by the sums of inputs. */
#define LAM_MVE_OPENED_ZERO(load, at, type, total, upper) \
    load " q0, [r3, #" at "]\n" \
    "vmladava." type " " total ", q0, q2\n" \
    "vmladava." type " " upper ", q0, q3\n"
#define LAM_MVE_OPENED_ZEROS(load, bytes, type, count) \
    "ldr r3, [r11, #132]\n" \
    load " q2, [r5], #" bytes "\n" \
    load " q3, [r5], #" bytes "\n" \
    LAM_MVE_OPENED_OF_##count( \
        LAM_MVE_OPENED_ZERO(load, "0", type, "r0", "r8"), LAM_MVE_OPENED_ZERO(load, bytes, type, "r2", "r10"), \
        LAM_MVE_OPENED_ZERO(load, "2 * " bytes, type, "r4", "r12"), LAM_MVE_OPENED_ZERO(load, "3 * " bytes, type, "r6", "lr"))
#define LAM_MVE_OPENED_ZEROS_8(count) LAM_MVE_OPENED_ZEROS("vldrh.16", "16", "s16", count)
#define LAM_MVE_OPENED_ZEROS_4(count) LAM_MVE_OPENED_ZEROS("vldrh.s32", "8", "s32", count)
#define LAM_MVE_OPENED_ZEROS_AROUND(lanes, count) ""
#define LAM_MVE_OPENED_ZEROS_OWN(lanes, count) LAM_MVE_OPENED_ZEROS_##lanes(count)
#define LAM_MVE_OPENED_ZEROS_RAW LAM_MVE_OPENED_ZEROS_OWN
#define LAM_MVE_OPENED_ZEROS_BYTES LAM_MVE_OPENED_ZEROS_AROUND
#define LAM_MVE_OPENED_ZEROS_BYTES_OWN LAM_MVE_OPENED_ZEROS_OWN

/* Groups in lanes: all there are, or more that totals have. */
#define LAM_MVE_OPENED_TOTALS "{r0, r2, r4, r6, r8, r10, r12, lr}\n"
#define LAM_MVE_OPENED_TAKEN_ONCE(lanes, zeros, count) \
    LAM_MVE_OPENED_SCALED_##zeros(lanes, "vmladav", count) LAM_MVE_OPENED_ZEROS_##zeros(lanes, count)
#define LAM_MVE_OPENED_ADDED(lanes, zeros, count) \
    LAM_MVE_OPENED_SCALED_##zeros(lanes, "vmladava", count) LAM_MVE_OPENED_ZEROS_##zeros(lanes, count)
#define LAM_MVE_OPENED_TAKEN_MORE(lanes, zeros, count) \
    "ldr r3, [r11, #88]\n" \
    "ldm r3!, " LAM_MVE_OPENED_TOTALS \
    "str r3, [r11, #88]\n" LAM_MVE_OPENED_ADDED(lanes, zeros, count)
#define LAM_MVE_OPENED_BEGUN(zeros, lanes) \
    LAM_MVE_OPENED_PLACES_##zeros(lanes) \
    "ldr r1, [r11, #80]\n" \
    "ldr r5, [r11, #20]\n" \
    "mvn r9, #15\n" \
    "1:\n"
/* Until all blocks are done, whose sums r1 has gone on along. */
#define LAM_MVE_OPENED_DONE \
    "ldr r0, [r11, #128]\n" \
    "cmp r1, r0\n" \
    "bne 1b\n" \
    "str r5, [r11, #20]\n"

/* What is added to totals. */
#define LAM_MVE_OPENED_ADDS(added) \
    "ldr r3, [r11, #88]\n" \
    "ldm r3, " LAM_MVE_OPENED_TOTALS added \
    "ldr r3, [r11, #88]\n" \
    "stm r3!, " LAM_MVE_OPENED_TOTALS \
    "str r3, [r11, #88]\n" LAM_MVE_OPENED_DONE

/* The sums of groups in lanes to the totals of the part. */
#define lam_mve_opened_add(job, zeros, lanes, count) \
    do { \
        register lam_mve_opened_job *const held __asm("r11") = (job); \
        __asm volatile(LAM_MVE_OPENED_BEGUN(zeros, lanes) LAM_MVE_OPENED_ADDS(LAM_MVE_OPENED_ADDED(lanes, zeros, count)) \
                       : : "r"(held) : LAM_MVE_CLOBBERS); \
    } while (0)

/* Multiplier to q0, shift to q1: of the first channel of two, and of the second. */
#define LAM_MVE_OPENED_SPREAD(from) \
    "ldrd r0, r2, " from "\n" \
    "vdup.32 q0, r0\n" \
    "vdup.32 q1, r2\n"
#define LAM_MVE_OPENED_FIRST_ONE LAM_MVE_OPENED_SPREAD("[r11, #120]")
#define LAM_MVE_OPENED_SECOND_ONE ""
#define LAM_MVE_OPENED_FIRST_EACH LAM_MVE_OPENED_SPREAD("[r5], #8")
#define LAM_MVE_OPENED_SECOND_EACH LAM_MVE_OPENED_FIRST_EACH

/* Totals of two channels to outputs less the zero point, those of the second one in the upper half of each lane of q. */
#define LAM_MVE_OPENED_RESULTS(q, mode, factors) \
    "vmov q2[2], q2[0], r0, r4\n" \
    "vmov q2[3], q2[1], r2, r6\n" \
    "vmov q3[2], q3[0], r8, r12\n" \
    "vmov q3[3], q3[1], r10, lr\n" \
    "ldrd r0, r2, [r5], #8\n" \
    "vadd.i32 q2, q2, r0\n" \
    "vadd.i32 q3, q3, r2\n" \
    LAM_MVE_OPENED_FIRST_##factors \
    LAM_MVE_SCALE_##mode("q2", "q0", "q1", "q7") LAM_MVE_ROUND_##mode("q2") \
    LAM_MVE_OPENED_SECOND_##factors \
    LAM_MVE_SCALE_##mode("q3", "q0", "q1", "q7") LAM_MVE_ROUND_##mode("q3") \
    "vqmovnb.s32 " q ", q2\n" \
    "vqmovnt.s32 " q ", q3\n"
/* Those of q6 and q2 to the bytes of four channels, which pixels have lanes of q6 of. */
#define LAM_MVE_OPENED_SATURATED(narrow) \
    "vqadd.s16 q6, q6, r8\n" \
    "vqadd.s16 q2, q2, r8\n" narrow "b.s16 q6, q6\n" narrow "t.s16 q6, q2\n"
#define LAM_MVE_OPENED_BYTES_S8 LAM_MVE_OPENED_SATURATED("vqmovn")
#define LAM_MVE_OPENED_BYTES_U8 LAM_MVE_OPENED_SATURATED("vqmovun")
#define LAM_MVE_OPENED_LIMITED(q) \
    "vmax.s16 " q ", " q ", q0\n" \
    "vmin.s16 " q ", " q ", q1\n" \
    "vadd.i16 " q ", " q ", r8\n"
#define LAM_MVE_OPENED_BYTES_WITHIN \
    "ldrd r0, r2, [r11, #112]\n" \
    "vdup.16 q0, r0\n" \
    "vdup.16 q1, r2\n" LAM_MVE_OPENED_LIMITED("q6") LAM_MVE_OPENED_LIMITED("q2") \
    "vmovnb.i16 q6, q6\n" \
    "vmovnt.i16 q6, q2\n"
/* A missing pixel's lie where the first one's do, which come last. */
#define LAM_MVE_OPENED_STORE(count) \
    "vmov r0, r4, q6[2], q6[0]\n" \
    "vmov r2, r6, q6[3], q6[1]\n" \
    "ldrd r8, r10, [r11, #92]\n" \
    "ldrd r12, r3, [r11, #100]\n" \
    LAM_MVE_OPENED_LAST_##count("str r6, [r3, r12]\n") \
    LAM_MVE_OPENED_OF_##count("", "", "str r4, [r3, r10]\n", "") \
    LAM_MVE_OPENED_OF_##count("", "str r2, [r3, r8]\n", "", "") \
    "str r0, [r3], #4\n" \
    "str r3, [r11, #104]\n"

/* Outputs of the part, once the sums of its last groups are there.  `bounds`: S8, U8 or WITHIN; `often`: ONCE, or MORE where
 * totals have those of others.  The names and numerals are those of lam_mve_requant.h and lam_mve_opened_sums. */
#define lam_mve_opened_outputs(job, mode, factors, bounds, often, zeros, lanes, count) \
    do { \
        register lam_mve_opened_job *const held __asm("r11") = (job); \
        __asm volatile(LAM_MVE_OPENED_BEGUN(zeros, lanes) \
                       LAM_MVE_OPENED_TAKEN_##often(lanes, zeros, count) LAM_MVE_OPENED_RESULTS("q6", mode, factors) \
                       LAM_MVE_OPENED_TAKEN_##often(lanes, zeros, count) LAM_MVE_OPENED_RESULTS("q2", mode, factors) \
                       "ldr r8, [r11, #108]\n" LAM_MVE_OPENED_BYTES_##bounds LAM_MVE_OPENED_STORE(count) LAM_MVE_OPENED_DONE \
                       : : "r"(held) : LAM_MVE_CLOBBERS); \
    } while (0)

#else

enum { LAM_MVE_OPENED_AROUND = 0, LAM_MVE_OPENED_OWN = 1, LAM_MVE_OPENED_RAW = 2, LAM_MVE_OPENED_BYTES = 3,
       LAM_MVE_OPENED_BYTES_OWN = 4 };
enum { LAM_MVE_OPENED_ONCE = 0, LAM_MVE_OPENED_MORE = 1 };
enum { LAM_MVE_OPENED_SIGNED = 0, LAM_MVE_OPENED_UNSIGNED = 0x80 };

/* Whether groups have zero points. */
static inline int lam_mve_opened_apart(int zeros)
{
    return zeros != LAM_MVE_OPENED_AROUND && zeros != LAM_MVE_OPENED_BYTES;
}

/* An input, whose bits of `flip` are turned. */
static inline int32_t lam_mve_opened_input(const int8_t *x, int32_t i, uint32_t flip)
{
    return (int32_t)(((uint32_t)(uint8_t)x[i] ^ flip ^ 0x80u) & 0xFFu) - 128;
}

static inline void lam_mve_opened_sums_each(lam_mve_opened_job *job, int32_t chunks, uint32_t flip, int zeros, int32_t lanes)
{
    const int bytes = zeros >= LAM_MVE_OPENED_BYTES;
    for (int32_t p = 0; p < 4; p++) {
        int32_t sum = 0;
        for (int32_t i = 0; i < 16 * chunks; i++) {
            sum += lam_mve_opened_input(job->x[p], i, flip);
        }
        job->less[p] = zeros >= LAM_MVE_OPENED_RAW ? 0 : -8 * sum;
        if (lam_mve_opened_apart(zeros)) {
            job->inputs_at[p * lanes] = (int16_t)-sum;
        }
    }
    for (int32_t two = 0; two < 2 * job->blocks; two++) {
        for (int32_t p = 0; p < 4; p++) {
            int32_t both = job->less[p], upper = 0;
            for (int32_t i = 0; i < 16 * chunks; i++) {
                const int32_t x = lam_mve_opened_input(job->x[p], i, flip), at = bytes != 0 ? i / 16 * 32 + i % 16 : i;
                const int32_t byte = lam_mve_byte(job->w, at);
                both += x * byte;
                upper += x * (bytes != 0 ? lam_mve_byte(job->w, at + 16) : (byte - (byte & 15)) / 16);
            }
            job->sums_at[p] = both;
            job->sums_at[p + 4] = upper;
        }
        job->sums_at += 8;
        job->w += (bytes != 0 ? 8 : 4) * chunks;
    }
    for (int32_t p = 0; p < 4; p++) {
        job->x[p] += 16 * chunks;
    }
    job->inputs_at += lam_mve_opened_apart(zeros);
}

#define lam_mve_opened_sums(job, chunks, sign, zeros, lanes, count) \
    lam_mve_opened_sums_each(job, chunks, LAM_MVE_OPENED_##sign, LAM_MVE_OPENED_##zeros, lanes)

/* Number i of those of 16 bits from a word on. */
static inline int32_t lam_mve_opened_half(const int32_t *words, int32_t i)
{
    return lam_mve_byte(words, 2 * i + 1) * 256 + (lam_mve_byte(words, 2 * i) & 255);
}

/* What groups in lanes add to the total of pixel p and of the first or second of two channels, whose number is `two`. */
static inline uint32_t lam_mve_opened_total(const lam_mve_opened_job *job, int32_t two, int32_t second, int32_t p, int zeros,
                                            int32_t lanes)
{
    const int32_t words = job->stride / 4, groups = (int32_t)(job->sums_at - job->sums) / words;
    uint32_t total = 0;
    for (int32_t g = 0; g < groups; g++) {
        const int32_t *const at = job->sums + g * words + 8 * two + p;
        const int32_t sum = second != 0 ? at[4] : at[0] - (zeros < LAM_MVE_OPENED_BYTES ? 16 * at[4] : 0);
        total += (uint32_t)sum * (uint32_t)lam_mve_opened_half(job->w, second * lanes + g);
        if (lam_mve_opened_apart(zeros)) {
            total += (uint32_t)(job->inputs[p * lanes + g] * lam_mve_opened_half(job->w, (2 + second) * lanes + g));
        }
    }
    return total;
}

static inline void lam_mve_opened_add_each(lam_mve_opened_job *job, int zeros, int32_t lanes)
{
    for (int32_t two = 0; two < 2 * job->blocks; two++) {
        for (int32_t i = 0; i < 8; i++) {
            const uint32_t added = lam_mve_opened_total(job, two, i / 4, i % 4, zeros, lanes);
            job->totals[i] = (int32_t)((uint32_t)job->totals[i] + added);
        }
        job->totals += 8;
        job->w += lam_mve_opened_apart(zeros) ? 2 * lanes : lanes;
    }
}

#define lam_mve_opened_add(job, zeros, lanes, count) lam_mve_opened_add_each(job, LAM_MVE_OPENED_##zeros, lanes)

static inline void lam_mve_opened_outputs_each(lam_mve_opened_job *job, int mode, int each, int more, int zeros, int32_t lanes)
{
    for (int32_t two = 0; two < 2 * job->blocks; two++) {
        const int32_t *const bias = job->w + (lam_mve_opened_apart(zeros) ? 2 * lanes : lanes);
        for (int32_t i = 7; i >= 0; i--) {
            const int32_t second = i / 4, p = i % 4;
            const int32_t multiplier = each != 0 ? bias[2 + 2 * second] : job->multiplier;
            const int32_t shift = each != 0 ? bias[3 + 2 * second] : job->shift;
            const uint32_t before = (uint32_t)bias[second] + (uint32_t)(more != 0 ? job->totals[i] : 0);
            const int32_t total = (int32_t)(before + lam_mve_opened_total(job, two, second, p, zeros, lanes));
            job->y[(p > 0 ? job->y_step[p - 1] : 0) + two % 2 + 2 * second] =
                (uint8_t)lam_mve_requant(mode, total, multiplier, shift, job->zero_point, job->low, job->high);
        }
        job->totals += more != 0 ? 8 : 0;
        job->w = bias + (each != 0 ? 6 : 2);
        job->y += two % 2 * 4;
    }
}

#define lam_mve_opened_outputs(job, mode, factors, bounds, often, zeros, lanes, count) \
    lam_mve_opened_outputs_each(job, LAM_MVE_##mode, LAM_MVE_##factors, LAM_MVE_OPENED_##often, LAM_MVE_OPENED_##zeros, lanes)

#endif

/* Inputs of `count` pixels, `step` bytes apart; those that are missing to four are the last one's. */
static inline void lam_mve_opened_from(lam_mve_opened_job *job, const int8_t *x, int32_t step, int32_t count)
{
    for (int32_t p = 0; p < 4; p++, x += p < count ? step : 0) {
        job->x[p] = x;
    }
}

/* Outputs of `count` pixels, `step` bytes apart, of so many blocks. */
static inline void lam_mve_opened_to(lam_mve_opened_job *job, uint8_t *y, int32_t step, int32_t count, int32_t blocks)
{
    job->y = y;
    job->blocks = blocks;
    job->stride = 64 * blocks;
    job->sums_end = job->sums + 16 * blocks;
    for (int32_t p = 1; p < 4; p++) {
        job->y_step[p - 1] = p < count ? p * step : 0;
    }
}

/* A group's inputs of `pixels` pixels, `step` bytes apart: one behind the other, `chunks` vectors each, 1 or 2, a constant.  Of
 * the last of them there are `last` bytes, 1 to 16, and zeros behind.  All have the bits of `flip` turned. */
static inline void lam_mve_opened_put(int8_t *to, const void *from, int32_t pixels, int32_t step, int32_t chunks, int32_t last,
                                      uint32_t flip)
{
#if LAM_MVE
    if (chunks == 2) {
        __asm volatile(
            "vctp.8 %[last]\n"
            "vdup.8 q2, %[flip]\n"
            "dls lr, %[pixels]\n"
            "1:\n"
            "vldrb.8 q0, [%[from]]\n"
            "vpstt\n"
            "vldrbt.8 q1, [%[from], #16]\n"
            "veort q1, q1, q2\n"
            "veor q0, q0, q2\n"
            "add %[from], %[from], %[step]\n"
            "vstrb.8 q0, [%[to]], #32\n"
            "vstrb.8 q1, [%[to], #-16]\n"
            "le lr, 1b\n"
            : [to] "+&r"(to), [from] "+&r"(from)
            : [pixels] "r"(pixels), [step] "r"(step), [last] "r"(last), [flip] "r"(flip)
            : "lr", "q0", "q1", "q2", LAM_MVE_PREDICATE, "memory");
    } else {
        __asm volatile(
            "vctp.8 %[last]\n"
            "vdup.8 q2, %[flip]\n"
            "dls lr, %[pixels]\n"
            "1:\n"
            "vpstt\n"
            "vldrbt.8 q0, [%[from]]\n"
            "veort q0, q0, q2\n"
            "add %[from], %[from], %[step]\n"
            "vstrb.8 q0, [%[to]], #16\n"
            "le lr, 1b\n"
            : [to] "+&r"(to), [from] "+&r"(from)
            : [pixels] "r"(pixels), [step] "r"(step), [last] "r"(last), [flip] "r"(flip)
            : "lr", "q0", "q2", LAM_MVE_PREDICATE, "memory");
    }
#else
    const uint8_t *const bytes = (const uint8_t *)from;
    for (int32_t i = 0; i < 16 * chunks * pixels; i++) {
        const int32_t pixel = i / (16 * chunks), k = i % (16 * chunks);
        if (k < 16 * chunks - 16 + last) {
            to[i] = (int8_t)((int32_t)(bytes[pixel * step + k] ^ flip ^ 0x80u) - 128);
        } else {
            to[i] = 0;
        }
    }
#endif
}

#endif /* LAM_MVE_OPENED_H */
