/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers on weights of 4 bits, or of 8, with a factor of 16 bits per group of inputs, one pixel, eight channels at a time.
 *
 * Inputs are read 16 at a time, those of a group in `chunks` of them; those of the last group in `rest`, if it has fewer.
 * Channels c and c + 4 of a block share bytes: the number of the latter is above, that of the former, with 8 added, below.
 * The products with whole bytes are then 16 times the latter's sum, plus the former's and 8 times the inputs' sum.
 *
 * A block's sums of each group are kept in memory, and taken from there one channel after another, of as many groups as
 * there are lanes: eight where all sums fit 16 bits, else four.  The parts that are not a channel's own are taken off there.  One
 * product of vectors by their factors adds them to the channel's total.  Of bytes each channel has its own, and its own sums,
 * of which four are taken at a time.
 *
 * A block of the stream:
 *
 *   each group, per chunk      16 words: channels 0 and 4, 1 and 5, 2 and 6, 3 and 7; of bytes 32, those of each channel
 *   8 words                    biases, the input's zero point folded in
 *   as many groups as lanes    for each of channels 0, 4, 1, 5, 2, 6, 3 and 7 the factors, 16 bits each, of bytes in order; where groups have zero
 *                              points, then for each channel in order their products with factors; where there are lanes
 *                              left for these, they are the factors of as many more groups, whose sums are those of inputs
 *                              (8 times the factors are taken off them of channels 0 to 3 where that is not done to sums)
 *   2 times                    4 words of multipliers and one of shifts, where each channel has its own
 */
#ifndef LAM_MVE_GROUPS_H
#define LAM_MVE_GROUPS_H

#include "lam_mve_requant.h"

/* What one call works on.  The assembly knows the order. */
typedef struct {
    const int8_t *x;          /* whole chunks */
    const int8_t *rest;       /* those behind whole groups */
    int32_t *sums;            /* of each group eight words, in as many as lanes: what the blocks keep */
    uint8_t *y;               /* outputs, at the first channel of the first block; it goes on */
    const int32_t *w;         /* the first block */
    const int32_t *end;       /* behind the last block */
    int32_t groups;           /* of `chunks` chunks: for the portable twin */
    int32_t zero_point;       /* of the output */
    int32_t low;              /* least output value less zero_point */
    int32_t high;             /* greatest output value less zero_point */
    int32_t *sums_end;        /* behind the last groups of these: a word of the assembly's */
    int32_t multiplier;       /* of all channels, where they share it */
    int32_t shift;            /* the same */
    const void *inputs;       /* of each group the sum of its inputs, zeros up to the lanes: in 16 bits, or 8 times that as large as lanes */
} lam_mve_groups_job;

#if LAM_MVE

LAM_STATIC_ASSERT(sizeof(lam_mve_groups_job) == 56, mve_groups_job_is_14_words);

/* 16 inputs by the bytes of two channels: whole bytes, and what is above in them. */
#define LAM_MVE_GROUPS_PAIRS(product) \
    "vldrb.8 q0, [r1], #16\n" \
    LAM_MVE_GROUPS_TWO(product, "r0", "r8") \
    LAM_MVE_GROUPS_TWO(product, "r2", "r10") \
    LAM_MVE_GROUPS_TWO(product, "r4", "r12") \
    LAM_MVE_GROUPS_TWO(product, "r6", "lr")
#define LAM_MVE_GROUPS_TWO(product, both, upper) \
    "vldrw.32 q1, [r5], #16\n" \
    product ".s8 " both ", q0, q1\n" \
    "vshr.s8 q1, q1, #4\n" \
    product ".s8 " upper ", q0, q1\n"
/* 16 inputs by those of each. */
#define LAM_MVE_GROUPS_OCTET(product) \
    "vldrb.8 q0, [r1], #16\n" \
    LAM_MVE_GROUPS_BYTES(product, "r0", "r2") \
    LAM_MVE_GROUPS_BYTES(product, "r4", "r6") \
    LAM_MVE_GROUPS_BYTES(product, "r8", "r10") \
    LAM_MVE_GROUPS_BYTES(product, "r12", "lr")
#define LAM_MVE_GROUPS_BYTES(product, one, next) \
    "vldrw.32 q1, [r5], #16\n" \
    "vldrw.32 q2, [r5], #16\n" \
    product ".s8 " one ", q0, q1\n" \
    product ".s8 " next ", q0, q2\n"
#define LAM_MVE_GROUPS_CHUNK_AROUND LAM_MVE_GROUPS_PAIRS
#define LAM_MVE_GROUPS_CHUNK_OWN LAM_MVE_GROUPS_PAIRS
#define LAM_MVE_GROUPS_CHUNK_FOLDED LAM_MVE_GROUPS_PAIRS
#define LAM_MVE_GROUPS_CHUNK_RAW LAM_MVE_GROUPS_PAIRS
#define LAM_MVE_GROUPS_CHUNK_RAW_FOLDED LAM_MVE_GROUPS_PAIRS
#define LAM_MVE_GROUPS_CHUNK_BYTES LAM_MVE_GROUPS_OCTET
#define LAM_MVE_GROUPS_CHUNK_BYTES_OWN LAM_MVE_GROUPS_OCTET
#define LAM_MVE_GROUPS_0(chunk) ""
#define LAM_MVE_GROUPS_1(chunk) chunk("vmladav") LAM_MVE_GROUPS_TAKEN
#define LAM_MVE_GROUPS_2(chunk) chunk("vmladav") chunk("vmladava") LAM_MVE_GROUPS_TAKEN
#define LAM_MVE_GROUPS_3(chunk) chunk("vmladav") chunk("vmladava") chunk("vmladava") LAM_MVE_GROUPS_TAKEN
#define LAM_MVE_GROUPS_4(chunk) \
    chunk("vmladav") chunk("vmladava") chunk("vmladava") chunk("vmladava") LAM_MVE_GROUPS_TAKEN

/* Eight sums to memory. */
#define LAM_MVE_GROUPS_TAKEN "stm r9!, {r0, r2, r4, r6, r8, r10, r12, lr}\n"

/* Of groups in lanes the sums of a channel and of the one four further, which r1 and q4 and q5 have the places of, by their
 * factors to both totals; r1 goes on by `step`, and r9 is -16.  `off`: 8 times the sums of inputs are taken off. */
#define LAM_MVE_GROUPS_LANES(total, further, step, read, load, bytes, type, off) \
    read " q0, [r1, q4]\n" \
    read " q1, [r1, q5]\n" \
    load " q2, [r5], #" bytes "\n" \
    "vmla." type " q0, q1, r9\n" off \
    "vmladava." type " " total ", q0, q2\n" \
    load " q2, [r5], #" bytes "\n" \
    "add r1, r1, #" step "\n" \
    "vmladava." type " " further ", q1, q2\n"
#define LAM_MVE_GROUPS_IN_8(total, further, step, off) \
    LAM_MVE_GROUPS_LANES(total, further, step, "vldrh.u16", "vldrh.16", "16", "s16", off("16"))
#define LAM_MVE_GROUPS_IN_4(total, further, step, off) \
    LAM_MVE_GROUPS_LANES(total, further, step, "vldrw.u32", "vldrh.s32", "8", "s32", off("32"))
#define LAM_MVE_GROUPS_ALL_8(off) \
    LAM_MVE_GROUPS_IN_8("r0", "r8", "4", off) LAM_MVE_GROUPS_IN_8("r2", "r10", "4", off) \
    LAM_MVE_GROUPS_IN_8("r4", "r12", "4", off) LAM_MVE_GROUPS_IN_8("r6", "lr", "244", off)
#define LAM_MVE_GROUPS_ALL_4(off) \
    LAM_MVE_GROUPS_IN_4("r0", "r8", "4", off) LAM_MVE_GROUPS_IN_4("r2", "r10", "4", off) \
    LAM_MVE_GROUPS_IN_4("r4", "r12", "4", off) LAM_MVE_GROUPS_IN_4("r6", "lr", "116", off)
/* These places, in bytes behind r1; r0 is 0 and r2 is 16. */
#define LAM_MVE_GROUPS_PLACES(bits) \
    "vidup.u" bits " q4, r0, #8\n" \
    "vshl.i" bits " q4, q4, #2\n" \
    "vadd.i" bits " q5, q4, r2\n"
#define LAM_MVE_GROUPS_PLACES_8 LAM_MVE_GROUPS_PLACES("16")
#define LAM_MVE_GROUPS_PLACES_4 LAM_MVE_GROUPS_PLACES("32")

/* 8 times the sums of inputs to q3, from r3, which goes on, or stays for zero points. */
#define LAM_MVE_GROUPS_OFF(bits) "vsub.i" bits " q0, q0, q3\n"
#define LAM_MVE_GROUPS_STAYS(bits) ""
#define LAM_MVE_GROUPS_OFF_AROUND LAM_MVE_GROUPS_OFF
#define LAM_MVE_GROUPS_OFF_FOLDED LAM_MVE_GROUPS_OFF
#define LAM_MVE_GROUPS_OFF_OWN LAM_MVE_GROUPS_OFF
#define LAM_MVE_GROUPS_OFF_RAW LAM_MVE_GROUPS_STAYS
#define LAM_MVE_GROUPS_OFF_RAW_FOLDED LAM_MVE_GROUPS_STAYS
#define LAM_MVE_GROUPS_EIGHTS_AROUND_8 "vldrh.16 q3, [r3], #16\n"
#define LAM_MVE_GROUPS_EIGHTS_AROUND_4 "vldrw.32 q3, [r3], #16\n"
#define LAM_MVE_GROUPS_EIGHTS_FOLDED_8 LAM_MVE_GROUPS_EIGHTS_AROUND_8
#define LAM_MVE_GROUPS_EIGHTS_FOLDED_4 LAM_MVE_GROUPS_EIGHTS_AROUND_4
#define LAM_MVE_GROUPS_EIGHTS_OWN_8 "vldrh.16 q3, [r3]\nvshl.i16 q3, q3, #3\n"
#define LAM_MVE_GROUPS_EIGHTS_OWN_4 "vldrh.s32 q3, [r3]\nvshl.i32 q3, q3, #3\n"
#define LAM_MVE_GROUPS_EIGHTS_RAW_8 ""
#define LAM_MVE_GROUPS_EIGHTS_RAW_4 ""
#define LAM_MVE_GROUPS_EIGHTS_RAW_FOLDED_8 ""
#define LAM_MVE_GROUPS_EIGHTS_RAW_FOLDED_4 ""

/* Of bytes the sums of four groups, which q5 has the places of, by the factors of each channel. */
#define LAM_MVE_GROUPS_BYTE(total, at) \
    "vldrw.u32 q0, [q5, #" at "\n" \
    "vldrh.s32 q2, [r5], #8\n" \
    "vmladava.s32 " total ", q0, q2\n"
#define LAM_MVE_GROUPS_ALL_BYTES \
    LAM_MVE_GROUPS_BYTE("r0", "128]!") LAM_MVE_GROUPS_BYTE("r2", "4]") LAM_MVE_GROUPS_BYTE("r4", "8]") \
    LAM_MVE_GROUPS_BYTE("r6", "12]") LAM_MVE_GROUPS_BYTE("r8", "16]") LAM_MVE_GROUPS_BYTE("r10", "20]") \
    LAM_MVE_GROUPS_BYTE("r12", "24]") LAM_MVE_GROUPS_BYTE("lr", "28]") \
    "adds r1, r1, #128\n"
/* These places, before the first. */
#define LAM_MVE_GROUPS_BACK \
    "sub r9, r1, #128\n" \
    "vadd.i32 q5, q4, r9\n"

/* What is done before sums are taken, and for as many as there are lanes. */
#define LAM_MVE_GROUPS_BEFORE_AROUND ""
#define LAM_MVE_GROUPS_BEFORE_OWN ""
#define LAM_MVE_GROUPS_BEFORE_FOLDED ""
#define LAM_MVE_GROUPS_BEFORE_RAW ""
#define LAM_MVE_GROUPS_BEFORE_RAW_FOLDED ""
#define LAM_MVE_GROUPS_BEFORE_BYTES LAM_MVE_GROUPS_BACK
#define LAM_MVE_GROUPS_BEFORE_BYTES_OWN LAM_MVE_GROUPS_BACK
#define LAM_MVE_GROUPS_SCALED_OF(zeros, lanes) LAM_MVE_GROUPS_EIGHTS_##zeros##_##lanes LAM_MVE_GROUPS_ALL_##lanes(LAM_MVE_GROUPS_OFF_##zeros)
#define LAM_MVE_GROUPS_SCALED_AROUND(lanes) LAM_MVE_GROUPS_SCALED_OF(AROUND, lanes)
#define LAM_MVE_GROUPS_SCALED_OWN(lanes) LAM_MVE_GROUPS_SCALED_OF(OWN, lanes)
#define LAM_MVE_GROUPS_SCALED_FOLDED(lanes) LAM_MVE_GROUPS_SCALED_OF(FOLDED, lanes)
#define LAM_MVE_GROUPS_SCALED_RAW(lanes) LAM_MVE_GROUPS_SCALED_OF(RAW, lanes)
#define LAM_MVE_GROUPS_SCALED_RAW_FOLDED(lanes) LAM_MVE_GROUPS_SCALED_OF(RAW_FOLDED, lanes)
#define LAM_MVE_GROUPS_SCALED_BYTES(lanes) LAM_MVE_GROUPS_ALL_BYTES
#define LAM_MVE_GROUPS_SCALED_BYTES_OWN(lanes) LAM_MVE_GROUPS_ALL_BYTES LAM_MVE_GROUPS_ALL_BYTES

/* Where groups have zero points: of each channel theirs times factors by the sums of inputs, at r3. */
#define LAM_MVE_GROUPS_ZERO(total, load, bytes, type) \
    load " q1, [r5], #" bytes "\n" \
    "vmladava." type " " total ", q0, q1\n"
#define LAM_MVE_GROUPS_ZEROS(load, bytes, type) \
    load " q0, [r3], #" bytes "\n" \
    LAM_MVE_GROUPS_ZERO("r0", load, bytes, type) LAM_MVE_GROUPS_ZERO("r2", load, bytes, type) \
    LAM_MVE_GROUPS_ZERO("r4", load, bytes, type) LAM_MVE_GROUPS_ZERO("r6", load, bytes, type) \
    LAM_MVE_GROUPS_ZERO("r8", load, bytes, type) LAM_MVE_GROUPS_ZERO("r10", load, bytes, type) \
    LAM_MVE_GROUPS_ZERO("r12", load, bytes, type) LAM_MVE_GROUPS_ZERO("lr", load, bytes, type)
#define LAM_MVE_GROUPS_TIMES_AROUND(lanes) ""
#define LAM_MVE_GROUPS_TIMES_FOLDED(lanes) ""
#define LAM_MVE_GROUPS_TIMES_RAW_FOLDED(lanes) ""
#define LAM_MVE_GROUPS_TIMES_OWN(lanes) LAM_MVE_GROUPS_ZEROS_##lanes
#define LAM_MVE_GROUPS_TIMES_RAW(lanes) LAM_MVE_GROUPS_ZEROS_##lanes
#define LAM_MVE_GROUPS_TIMES_BYTES(lanes) ""
#define LAM_MVE_GROUPS_TIMES_BYTES_OWN(lanes) LAM_MVE_GROUPS_ZEROS_8
#define LAM_MVE_GROUPS_ZEROS_8 LAM_MVE_GROUPS_ZEROS("vldrh.16", "16", "s16")
#define LAM_MVE_GROUPS_ZEROS_4 LAM_MVE_GROUPS_ZEROS("vldrh.s32", "8", "s32")

/* Multipliers to q2, shifts to q3. */
#define LAM_MVE_GROUPS_SHARED_ONE \
    "ldrd r0, r2, [r11, #44]\n" \
    "vdup.32 q2, r0\n" \
    "vdup.32 q3, r2\n"
#define LAM_MVE_GROUPS_SHARED_EACH ""
#define LAM_MVE_GROUPS_FACTORS_ONE ""
#define LAM_MVE_GROUPS_FACTORS_EACH \
    "vldrw.32 q2, [r5], #16\n" \
    "vldrb.s32 q3, [r5], #4\n"
#define LAM_MVE_GROUPS_OUTPUTS(MODE, FACTORS) \
    LAM_MVE_GROUPS_FACTORS_##FACTORS \
    LAM_MVE_SCALE_##MODE("q0", "q2", "q3", "q1") \
    LAM_MVE_CLAMP_##MODE("q0", "q6", "q7") \
    "vadd.i32 q0, q0, r9\n" \
    "vstrb.32 q0, [r3], #4\n"

/* `turn`: what a turn of the loop takes; `last`: what follows it; `before`, `taken`: how groups in lanes are taken up.  r11 is the end of the
 * sums there, where the job's place is kept. */
#define LAM_MVE_GROUPS_BY(MODE, FACTORS, lanes, turn, last, before, taken) \
    __asm volatile( \
        "ldrd r0, r2, [r11, #32]\n" \
        "vdup.32 q6, r0\n" \
        "vdup.32 q7, r2\n" LAM_MVE_LIMITS_##MODE \
        "movs r0, #0\n" \
        "movs r2, #16\n" LAM_MVE_GROUPS_PLACES_##lanes \
        "ldr r5, [r11, #16]\n" \
        "ldr r0, [r11, #40]\n" \
        "str r11, [r0]\n" \
        "1:\n" \
        "ldrd r1, r3, [r11]\n" \
        "ldr r9, [r11, #8]\n" \
        "2:\n" \
        turn \
        "cmp r1, r3\n" \
        "bne 2b\n" \
        last \
        "ldm r5!, {r0, r2, r4, r6, r8, r10, r12, lr}\n" \
        "ldr r1, [r11, #8]\n" \
        "ldr r3, [r11, #52]\n" \
        "ldr r11, [r11, #40]\n" \
        "mvn r9, #15\n" \
        before \
        "4:\n" \
        taken \
        "cmp r1, r11\n" \
        "bne 4b\n" \
        "ldr r11, [r11]\n" \
        "ldr r3, [r11, #12]\n" \
        "ldr r9, [r11, #28]\n" \
        "vmov q0[2], q0[0], r0, r4\n" \
        "vmov q0[3], q0[1], r2, r6\n" \
        LAM_MVE_GROUPS_SHARED_##FACTORS \
        LAM_MVE_GROUPS_OUTPUTS(MODE, FACTORS) \
        "vmov q0[2], q0[0], r8, r12\n" \
        "vmov q0[3], q0[1], r10, lr\n" \
        LAM_MVE_GROUPS_OUTPUTS(MODE, FACTORS) \
        "ldr r0, [r11, #20]\n" \
        "str r3, [r11, #12]\n" \
        "cmp r5, r0\n" \
        "bne 1b\n" \
        : : "r"(held) : LAM_MVE_CLOBBERS)
#define LAM_MVE_GROUPS_TURN_1(group) group
#define LAM_MVE_GROUPS_TURN_2(group) group group
#define LAM_MVE_GROUPS_TURN_4(group) group group group group
#define LAM_MVE_GROUPS_TURN_8(group) group group group group group group group group

/* All blocks of the job, of groups of `chunks` (1, 2 or 4) chunks, `turn` (1, 2, 4 or 8) of which make a turn of the loop, and
 * one of `rest`; `lanes`: 8 or 4; `zeros`: AROUND none, OWN zero points, FOLDED where the sums of their inputs are kept as more
 * groups' sums, RAW and RAW_FOLDED the same where 8 is taken off with these; BYTES and
 * BYTES_OWN of bytes, with four lanes; of the latter zero points have eight.  All but the job are numerals and names. */
#define lam_mve_groups(job, mode, factors, lanes, zeros, turn, chunks, rest) \
    do { \
        register lam_mve_groups_job *const held __asm("r11") = (job); \
        LAM_MVE_GROUPS_BY(mode, factors, lanes, LAM_MVE_GROUPS_TURN_##turn(LAM_MVE_GROUPS_##chunks(LAM_MVE_GROUPS_CHUNK_##zeros)), \
                          LAM_MVE_GROUPS_##rest(LAM_MVE_GROUPS_CHUNK_##zeros), LAM_MVE_GROUPS_BEFORE_##zeros, \
                          LAM_MVE_GROUPS_SCALED_##zeros(lanes) LAM_MVE_GROUPS_TIMES_##zeros(lanes)); \
    } while (0)

#else

enum { LAM_MVE_GROUPS_AROUND = 0, LAM_MVE_GROUPS_OWN = 1, LAM_MVE_GROUPS_FOLDED = 2, LAM_MVE_GROUPS_RAW = 3,
       LAM_MVE_GROUPS_RAW_FOLDED = 4, LAM_MVE_GROUPS_BYTES = 5, LAM_MVE_GROUPS_BYTES_OWN = 6 };

/* Number i of those of 16 bits from a word on. */
static inline int32_t lam_mve_groups_half(const int32_t *words, int32_t i)
{
    return (int16_t)(uint16_t)(((uint32_t)words[i / 2] >> (16 * (i % 2))) & 0xFFFFu);
}

/* The sum of channel c of a block of one group, from whose number of the lower bits so much is taken off. */
static inline int32_t lam_mve_groups_sum(const int8_t *x, const int32_t *w, int32_t c, int32_t chunks, int32_t less, int bytes)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < 16 * chunks; i++) {
        if (bytes != 0) {
            sum += x[i] * lam_mve_byte(w, i / 16 * 128 + c * 16 + i % 16);
            continue;
        }
        const int32_t two = lam_mve_byte(w, i / 16 * 64 + c % 4 * 16 + i % 16);
        sum += x[i] * (c < 4 ? (two & 15) - less : two >> 4);
    }
    return sum;
}

/* Of group g and channel c of bytes the factor, or, where it has a zero point, this times it; eight groups have 64 words then. */
static inline int32_t lam_mve_groups_bytes_number(const int32_t *numbers, int32_t g, int32_t c, int own, int zero)
{
    const int32_t *const of_eight = numbers + g / 8 * (own != 0 ? 64 : 32);
    return zero != 0 ? lam_mve_groups_half(of_eight + 32 + 4 * c, g % 8)
                     : lam_mve_groups_half(of_eight + g % 8 / 4 * 16 + 2 * c, g % 4);
}

/* Of group g and of one of the eights of numbers that a block has of each: its number, `parts` eights of groups in lanes. */
static inline int32_t lam_mve_groups_number(const int32_t *numbers, int32_t g, int32_t lanes, int32_t parts, int32_t at)
{
    return lam_mve_groups_half(numbers + (g / lanes * 8 * parts + at) * (lanes / 2), g % lanes);
}

static inline void lam_mve_groups_each(lam_mve_groups_job *job, int mode, int each, int32_t lanes, int zeros, int32_t groups,
                                       int32_t chunks, int32_t rest)
{
    const int bytes = zeros >= LAM_MVE_GROUPS_BYTES, folded = zeros == LAM_MVE_GROUPS_FOLDED || zeros == LAM_MVE_GROUPS_RAW_FOLDED;
    const int own = zeros != LAM_MVE_GROUPS_AROUND && zeros != LAM_MVE_GROUPS_BYTES && folded == 0;
    const int32_t chunk = bytes != 0 ? 32 : 16;
    const int32_t count = groups + (rest != 0), parts = own != 0 ? 2 : 1, less = zeros < LAM_MVE_GROUPS_RAW ? 8 : 0;
    const int16_t *const inputs = (const int16_t *)job->inputs;
    for (const int32_t *w = job->w; w != job->end;) {
        const int32_t *const bias = w + chunk * (groups * chunks + rest), *const numbers = bias + 8;
        const int32_t *const factors = numbers + (job->sums_end - job->sums) / 2 * parts;
        for (int32_t c = 0; c < 8; c++) {
            const int32_t multiplier = each != 0 ? factors[c / 4 * 5 + c % 4] : job->multiplier;
            const int32_t shift = each != 0 ? lam_mve_byte(factors + c / 4 * 5 + 4, c % 4) : job->shift;
            const int32_t at = c % 4 * 2 + c / 4;
            uint32_t total = (uint32_t)bias[c];
            for (int32_t g = 0; g < count; g++) {
                const int32_t *const own_w = w + chunk * chunks * g;
                const int32_t sum = lam_mve_groups_sum(job->x + g * 16 * chunks, own_w, c, g < groups ? chunks : rest, less, bytes);
                if (bytes != 0) {
                    total += (uint32_t)sum * (uint32_t)lam_mve_groups_bytes_number(numbers, g, c, own, 0);
                    total += own != 0 ? (uint32_t)(inputs[g] * lam_mve_groups_bytes_number(numbers, g, c, own, 1)) : 0u;
                    continue;
                }
                total += (uint32_t)sum * (uint32_t)lam_mve_groups_number(numbers, g, lanes, parts, at);
                if (own != 0) {
                    total += (uint32_t)(inputs[g] * lam_mve_groups_number(numbers, g, lanes, parts, 8 + c));
                } else if (folded != 0) {
                    const int32_t *const kept = job->sums + 8 * (count + g) + c;
                    const int32_t of_inputs = c < 4 ? kept[0] - 16 * kept[4] : kept[0];
                    total += (uint32_t)(of_inputs * lam_mve_groups_number(numbers, count + g, lanes, parts, at));
                }
            }
            job->y[c] = (uint8_t)lam_mve_requant(mode, (int32_t)total, multiplier, shift, job->zero_point, job->low, job->high);
        }
        job->y += 8;
        w = factors + (each != 0 ? 10 : 0);
    }
}

#define lam_mve_groups(job, mode, factors, lanes, zeros, turn, chunks, rest) \
    lam_mve_groups_each(job, LAM_MVE_##mode, LAM_MVE_##factors, lanes, LAM_MVE_GROUPS_##zeros, (job)->groups, chunks, rest)

#endif

/* The sum of a group's inputs as the sums of eight channels that blocks would keep. */
static inline void lam_mve_groups_keep(int32_t *sums, int32_t sum)
{
    for (int32_t i = 0; i < 4; i++) {
        sums[i] = 17 * sum;
        sums[i + 4] = sum;
    }
}

/* The sum of so many chunks of inputs. */
static inline int32_t lam_mve_chunks_sum(const int8_t *x, int32_t chunks)
{
#if LAM_MVE
    register int32_t sum __asm("r0") = 0;
    for (; chunks > 0; chunks--, x += 16) {
        __asm volatile("vldrb.8 q0, [%1]\nvaddva.s8 %0, q0\n" : "+r"(sum) : "r"(x) : "q0", "memory");
    }
    return sum;
#else
    int32_t sum = 0;
    for (int32_t i = 0; i < 16 * chunks; i++) {
        sum += x[i];
    }
    return sum;
#endif
}

#endif /* LAM_MVE_GROUPS_H */
