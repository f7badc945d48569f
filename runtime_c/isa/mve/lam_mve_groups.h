/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers on weights of 4 bits with a factor of 16 bits per group of inputs, one pixel, eight channels at a time.
 *
 * Inputs are read 16 at a time, those of a group in `chunks` of them; those of the last group in `rest`, if it has fewer.
 * Channels c and c + 4 of a block share bytes: the number of the latter is above, that of the former, with 8 added, below.
 * The products with whole bytes are then 16 times the latter's sum, plus the former's and 8 times the inputs' sum.
 *
 * A block of the stream:
 *
 *   8 words                    biases, the input's zero point folded in
 *   of each 8 groups 32 words  for each channel the products of factors and zero points, 16 bits each; where groups have any
 *   each group, per chunk      16 words: channels 0 and 4, 1 and 5, 2 and 6, 3 and 7
 *   each group                 4 words: the factors of the eight channels, 16 bits each
 *   2 times                    4 words of multipliers and one of shifts, where each channel has its own
 */
#ifndef LAM_MVE_GROUPS_H
#define LAM_MVE_GROUPS_H

#include "lam_mve_requant.h"

/* What one call works on.  The assembly knows the order. */
typedef struct {
    const int8_t *x;       /* whole chunks */
    const int32_t *less;   /* of each group five words: lam_mve_groups_put */
    const int16_t *sums;   /* of each group the sum of its inputs, zeros up to eight; where groups have zero points */
    uint8_t *y;            /* outputs, at the first channel of the first block; it goes on */
    const int32_t *w;      /* the first block */
    const int32_t *end;    /* behind the last block */
    int32_t groups;        /* of `chunks` chunks: for the portable twin */
    int32_t zero_point;    /* of the output */
    int32_t low;           /* least output value less zero_point */
    int32_t high;          /* greatest output value less zero_point */
    int32_t eights;        /* of groups with zero points */
    int32_t multiplier;    /* of all channels, where they share it */
    int32_t shift;         /* the same */
} lam_mve_groups_job;

#if LAM_MVE

LAM_STATIC_ASSERT(sizeof(lam_mve_groups_job) == 52, mve_groups_job_is_13_words);

/* 16 inputs by the bytes of two channels: whole bytes, and what is above in them. */
#define LAM_MVE_GROUPS_CHUNK(product) \
    "vldrb.8 q0, [r1], #16\n" \
    LAM_MVE_GROUPS_TWO(product, "r0", "r8") \
    LAM_MVE_GROUPS_TWO(product, "r2", "r10") \
    LAM_MVE_GROUPS_TWO(product, "r4", "r12") \
    LAM_MVE_GROUPS_TWO(product, "r6", "lr")
#define LAM_MVE_GROUPS_TWO(product, both, upper) \
    "vldrw.32 q1, [r5], #16\n" \
    "vmladava.s8 " both ", q0, q1\n" \
    "vshr.s8 q1, q1, #4\n" \
    product ".s8 " upper ", q0, q1\n"
/* A group: sums of whole bytes begin with what is taken off.  `tested`: what becomes of whether turns are left, in lr. */
#define LAM_MVE_GROUPS_FIRST(tested) "ldm r3!, {r0, r2, r4, r6, lr}\n" tested LAM_MVE_GROUPS_CHUNK("vmladav")
#define LAM_MVE_GROUPS_MORE LAM_MVE_GROUPS_CHUNK("vmladava")
#define LAM_MVE_GROUPS_1(tested) LAM_MVE_GROUPS_FIRST(tested) LAM_MVE_GROUPS_TAKEN
#define LAM_MVE_GROUPS_2(tested) LAM_MVE_GROUPS_FIRST(tested) LAM_MVE_GROUPS_MORE LAM_MVE_GROUPS_TAKEN
#define LAM_MVE_GROUPS_3(tested) LAM_MVE_GROUPS_FIRST(tested) LAM_MVE_GROUPS_MORE LAM_MVE_GROUPS_MORE LAM_MVE_GROUPS_TAKEN
#define LAM_MVE_GROUPS_4(tested) \
    LAM_MVE_GROUPS_FIRST(tested) LAM_MVE_GROUPS_MORE LAM_MVE_GROUPS_MORE LAM_MVE_GROUPS_MORE LAM_MVE_GROUPS_TAKEN
#define LAM_MVE_GROUPS_0(tested) ""

/* Eight sums to q0 and q1. */
#define LAM_MVE_GROUPS_GATHERED \
    "vmov q0[2], q0[0], r0, r4\n" \
    "vmov q0[3], q0[1], r2, r6\n" \
    "vmov q1[2], q1[0], r8, r12\n" \
    "vmov q1[3], q1[1], r10, lr\n"
/* The sums of a group times its factors, to the totals in q4 and q5; r9 is -16. */
#define LAM_MVE_GROUPS_TAKEN \
    LAM_MVE_GROUPS_GATHERED \
    "vldrh.s32 q3, [r5], #8\n" \
    "vmla.s32 q0, q1, r9\n" \
    "vldrh.s32 q2, [r5], #8\n" \
    "vmul.i32 q1, q1, q2\n" \
    "vmul.i32 q0, q0, q3\n" \
    "vadd.i32 q5, q5, q1\n" \
    "vadd.i32 q4, q4, q0\n"

/* Where groups have zero points: of each channel the sum of theirs times factors and sums of inputs. */
#define LAM_MVE_GROUPS_OWN_0 ""
#define LAM_MVE_GROUPS_OWN_1 \
    "ldr r3, [r11, #8]\n" \
    "ldr r9, [r11, #40]\n" \
    "movs r0, #0\nmovs r2, #0\nmovs r4, #0\nmovs r6, #0\n" \
    "mov r8, #0\nmov r10, #0\nmov r12, #0\nmov lr, #0\n" \
    "4:\n" \
    "vldrh.16 q0, [r3], #16\n" \
    LAM_MVE_GROUPS_ZERO("r0") LAM_MVE_GROUPS_ZERO("r2") LAM_MVE_GROUPS_ZERO("r4") LAM_MVE_GROUPS_ZERO("r6") \
    LAM_MVE_GROUPS_ZERO("r8") LAM_MVE_GROUPS_ZERO("r10") LAM_MVE_GROUPS_ZERO("r12") LAM_MVE_GROUPS_ZERO("lr") \
    "subs r9, r9, #1\n" \
    "bne 4b\n" \
    LAM_MVE_GROUPS_GATHERED \
    "vadd.i32 q4, q4, q0\n" \
    "vadd.i32 q5, q5, q1\n"
#define LAM_MVE_GROUPS_ZERO(sum) \
    "vldrh.16 q1, [r5], #16\n" \
    "vmladava.s16 " sum ", q0, q1\n"

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
#define LAM_MVE_GROUPS_OUTPUTS(MODE, FACTORS, q) \
    LAM_MVE_GROUPS_FACTORS_##FACTORS \
    LAM_MVE_SCALE_##MODE(q, "q2", "q3", "q1") \
    LAM_MVE_CLAMP_##MODE(q, "q6", "q7") \
    "vadd.i32 " q ", " q ", r9\n" \
    "vstrb.32 " q ", [r3], #4\n"

/* `turn`: what a turn of the loop takes; `last`: what follows it. */
#define LAM_MVE_GROUPS_BY(MODE, FACTORS, own, turn, last) \
    __asm volatile( \
        "ldrd r0, r2, [r11, #32]\n" \
        "vdup.32 q6, r0\n" \
        "vdup.32 q7, r2\n" LAM_MVE_LIMITS_##MODE \
        "ldr r5, [r11, #16]\n" \
        "1:\n" \
        "vldrw.32 q4, [r5], #16\n" \
        "vldrw.32 q5, [r5], #16\n" \
        own \
        "ldrd r1, r3, [r11]\n" \
        "mvn r9, #15\n" \
        "2:\n" \
        turn \
        "bne 2b\n" \
        last \
        "ldr r3, [r11, #12]\n" \
        "ldr r9, [r11, #28]\n" \
        LAM_MVE_GROUPS_SHARED_##FACTORS \
        LAM_MVE_GROUPS_OUTPUTS(MODE, FACTORS, "q4") \
        LAM_MVE_GROUPS_OUTPUTS(MODE, FACTORS, "q5") \
        "ldr r0, [r11, #20]\n" \
        "str r3, [r11, #12]\n" \
        "cmp r5, r0\n" \
        "bne 1b\n" \
        : : "r"(held) : LAM_MVE_CLOBBERS)
#define LAM_MVE_GROUPS_TURN_1(chunks) LAM_MVE_GROUPS_##chunks("cmp lr, #0\n")
#define LAM_MVE_GROUPS_TURN_2(chunks) LAM_MVE_GROUPS_TURN_1(chunks) LAM_MVE_GROUPS_##chunks("")
#define LAM_MVE_GROUPS_TURN_4(chunks) \
    LAM_MVE_GROUPS_TURN_2(chunks) LAM_MVE_GROUPS_##chunks("") LAM_MVE_GROUPS_##chunks("")

/* All blocks of the job, of groups of `chunks` (1, 2 or 4) chunks, `turn` (1, 2 or 4) of which make a turn of the loop, and
 * one of `rest`; `own`: whether groups have zero points.  All but the job are numerals, mode and factors names. */
#define lam_mve_groups(job, mode, factors, own, turn, chunks, rest) \
    do { \
        register lam_mve_groups_job *const held __asm("r11") = (job); \
        LAM_MVE_GROUPS_BY(mode, factors, LAM_MVE_GROUPS_OWN_##own, LAM_MVE_GROUPS_TURN_##turn(chunks), LAM_MVE_GROUPS_##rest("")); \
    } while (0)

#else

/* Number i of those of 16 bits from a word on. */
static inline int32_t lam_mve_groups_half(const int32_t *words, int32_t i)
{
    return (int16_t)(uint16_t)(((uint32_t)words[i / 2] >> (16 * (i % 2))) & 0xFFFFu);
}

/* Where channel c of a block has its total of one group, and what it adds. */
static inline uint32_t lam_mve_groups_total(const int8_t *x, const int32_t *w, int32_t c, int32_t chunks, int32_t less)
{
    int32_t sum = c < 4 ? less : 0;
    for (int32_t i = 0; i < 16 * chunks; i++) {
        const int32_t two = lam_mve_byte(w, i / 16 * 64 + c % 4 * 16 + i % 16);
        sum += x[i] * (c < 4 ? two & 15 : two >> 4);
    }
    return (uint32_t)sum * (uint32_t)lam_mve_groups_half(w + 16 * chunks, c);
}

static inline void lam_mve_groups_each(lam_mve_groups_job *job, int mode, int each, int own, int32_t groups, int32_t chunks,
                                       int32_t rest)
{
    for (const int32_t *w = job->w; w != job->end;) {
        const int32_t *at = w + 8;
        uint32_t total[8];
        for (int32_t c = 0; c < 8; c++) {
            total[c] = (uint32_t)w[c];
            for (int32_t g = 0; own != 0 && g < 8 * job->eights; g++) {
                const int32_t zero = lam_mve_groups_half(at + g / 8 * 32 + c * 4, g % 8);
                total[c] += (uint32_t)(job->sums[g] * zero);
            }
        }
        at += own != 0 ? 32 * job->eights : 0;
        for (int32_t g = 0; g < groups + (rest != 0); g++) {
            const int32_t size = g < groups ? chunks : rest;
            for (int32_t c = 0; c < 8; c++) {
                total[c] += lam_mve_groups_total(job->x + g * 16 * chunks, at, c, size, job->less[5 * g]);
            }
            at += 16 * size + 4;
        }
        for (int32_t c = 0; c < 8; c++) {
            const int32_t *const factors = at + c / 4 * 5;
            const int32_t multiplier = each != 0 ? factors[c % 4] : job->multiplier;
            const int32_t shift = each != 0 ? lam_mve_byte(factors + 4, c % 4) : job->shift;
            job->y[c] = (uint8_t)lam_mve_requant(mode, (int32_t)total[c], multiplier, shift, job->zero_point, job->low, job->high);
        }
        job->y += 8;
        w = at + (each != 0 ? 10 : 0);
    }
}

#define lam_mve_groups(job, mode, factors, own, turn, chunks, rest) \
    lam_mve_groups_each(job, LAM_MVE_##mode, LAM_MVE_##factors, own, (job)->groups, chunks, rest)

#endif

/* What the blocks read of a group whose inputs sum up to so much: 8 times that, to be taken off four sums, and whether the
 * loop takes more turns than its own. */
static inline void lam_mve_groups_put(int32_t *less, int32_t group, int32_t sum, int32_t more)
{
    for (int32_t i = 0; i < 4; i++) {
        less[5 * group + i] = -8 * sum;
    }
    less[5 * group + 4] = more;
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
