/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers on weights of 4 bits with a factor of 16 bits per group of inputs, many pixels, four channels at a time.
 *
 * A group's weights are taken apart once for all pixels, and stay in registers: those of the first 16 inputs, and of the first
 * channel those of the second 16; the others of these are kept in the job.  Sums of all groups and pixels are written to memory.
 * Then they are taken up again of two pixels, one channel after another, of as many groups as there are lanes: eight where all
 * sums fit 16 bits, else four.  One product of vectors by their factors adds them to the channel's total.
 *
 * Pixels are in memory by groups: of a group `chunks` vectors of each pixel.  Where pixels are odd there is room for one more.
 * Or they lie where they are, an even number of them, whose inputs fill all vectors.
 *
 * A block of the stream:
 *
 *   each group, per chunk      8 words: channels 0 and 1, 2 and 3, which share bytes: the former is below, with 8 added
 *                              and, where groups have zero points, behind their chunks one word of a byte for each channel, for
 *                              0 and 2 less 8
 *   4 words                    biases, the input's zero point folded in
 *   as many groups as lanes    for each channel the factors, 16 bits each
 *   4 words and one            multipliers and shifts, where each channel has its own
 */
#ifndef LAM_MVE_OPENED_H
#define LAM_MVE_OPENED_H

#include "lam_mve_requant.h"

/* What one call works on.  The assembly knows the order. */
typedef struct {
    const int8_t *x;         /* pixels by groups */
    const int32_t *w;        /* the block */
    const int32_t *w_end;    /* behind its groups of `chunks` chunks */
    int32_t *sums;           /* of each group and pixel four words */
    int32_t stride;          /* bytes of a group's sums */
    const int32_t *bias;     /* of the block, and what follows it */
    uint8_t *y;              /* outputs of the first pixel of those that are made */
    int32_t y_step;          /* bytes to those of the next; 0 where there is only one */
    int32_t *first;          /* sums of its first group */
    int32_t *first_end;      /* behind those of the last pixel that is made, and of one more where they are odd */
    int32_t set_step;        /* bytes from the sums of the last channel of a pixel to the groups that the next lanes have */
    int32_t zero_point;      /* of the output */
    int32_t low;             /* least output value less zero_point */
    int32_t high;            /* greatest output value less zero_point */
    int32_t multiplier;      /* of all channels, where they share it */
    int32_t shift;           /* the same */
    int32_t kept[12];        /* weights, for the assembly */
    int32_t x_step;          /* bytes from behind the pixels of a group to those of the next, where they lie apart */
} lam_mve_opened_job;

#if LAM_MVE

LAM_STATIC_ASSERT(sizeof(lam_mve_opened_job) == 116, mve_opened_job_is_29_words);

/* What is added to numbers: 8 is taken off the lower ones, or the group has its own. */
#define LAM_MVE_OPENED_ADDED_0(at) \
    "mvn r0, #7\n" \
    "mvn r4, #7\n"
#define LAM_MVE_OPENED_ADDED_1(at) \
    "ldrsb r0, [r5, #" at "]\n" \
    "ldrsb r2, [r5, #" at " + 1]\n" \
    "ldrsb r4, [r5, #" at " + 2]\n" \
    "ldrsb r6, [r5, #" at " + 3]\n"
#define LAM_MVE_OPENED_UPPER_0(q, added) ""
#define LAM_MVE_OPENED_UPPER_1(q, added) "vadd.i8 " q ", " q ", " added "\n"
#define LAM_MVE_OPENED_BEHIND_0 ""
#define LAM_MVE_OPENED_BEHIND_1 "adds r5, r5, #4\n"

/* Two channels' weights to two registers; q7 has the lower bits' mask. */
#define LAM_MVE_OPENED_TWO(own, low, high, low_added, high_added) \
    "vldrw.32 q6, [r5], #16\n" \
    "vand " low ", q6, q7\n" \
    "vshr.s8 " high ", q6, #4\n" \
    "vadd.i8 " low ", " low ", " low_added "\n" LAM_MVE_OPENED_UPPER_##own(high, high_added)
#define LAM_MVE_OPENED_FOUR(own, at) \
    LAM_MVE_OPENED_ADDED_##own(at) \
    "vmov.i8 q7, #15\n" \
    LAM_MVE_OPENED_TWO(own, "q0", "q1", "r0", "r2") \
    LAM_MVE_OPENED_TWO(own, "q2", "q3", "r4", "r6")
#define LAM_MVE_OPENED_1(own) LAM_MVE_OPENED_FOUR(own, "32") LAM_MVE_OPENED_BEHIND_##own
#define LAM_MVE_OPENED_2(own) \
    LAM_MVE_OPENED_FOUR(own, "64") \
    LAM_MVE_OPENED_TWO(own, "q4", "q5", "r0", "r2") \
    "vstrw.32 q5, [r11, #64]\n" \
    LAM_MVE_OPENED_TWO(own, "q5", "q6", "r4", "r6") \
    "vstrw.32 q5, [r11, #80]\n" \
    "vstrw.32 q6, [r11, #96]\n" LAM_MVE_OPENED_BEHIND_##own

/* A group's inputs of two pixels: sums r0 r2 r4 r6 and r8 r10 r12 lr. */
#define LAM_MVE_OPENED_PIXEL(x, a, b, c, d) \
    "vmladav.s8 " a ", " x ", q0\n" \
    "vmladav.s8 " b ", " x ", q1\n" \
    "vmladav.s8 " c ", " x ", q2\n" \
    "vmladav.s8 " d ", " x ", q3\n"
#define LAM_MVE_OPENED_KEPT(at, one, other) \
    "vldrw.32 q5, [r11, #" at "]\n" \
    "vmladava.s8 " one ", q7, q5\n" \
    "vmladava.s8 " other ", q6, q5\n"
#define LAM_MVE_OPENED_PAIR_1(on) \
    "vldrb.8 q6, [r1], #16\n" on \
    "vldrb.8 q7, [r1], #16\n" on \
    LAM_MVE_OPENED_PIXEL("q6", "r0", "r2", "r4", "r6") \
    LAM_MVE_OPENED_PIXEL("q7", "r8", "r10", "r12", "lr")
#define LAM_MVE_OPENED_PAIR_2(on) \
    "vldrb.8 q6, [r1], #16\n" \
    "vldrb.8 q7, [r1], #16\n" on \
    LAM_MVE_OPENED_PIXEL("q6", "r0", "r2", "r4", "r6") \
    "vldrb.8 q6, [r1], #16\n" \
    "vmladava.s8 r0, q7, q4\n" \
    LAM_MVE_OPENED_PIXEL("q6", "r8", "r10", "r12", "lr") \
    "vldrb.8 q6, [r1], #16\n" on \
    LAM_MVE_OPENED_KEPT("64", "r2", "r10") \
    "vmladava.s8 r8, q6, q4\n" \
    LAM_MVE_OPENED_KEPT("80", "r4", "r12") \
    LAM_MVE_OPENED_KEPT("96", "r6", "lr")

/* From a pixel's inputs of a group to the next pixel's, and from the last one's to the next group. */
#define LAM_MVE_OPENED_ON_BY_GROUPS(chunks, step) ""
#define LAM_MVE_OPENED_ON_APART(chunks, step) "addw r1, r1, #(" #step " - 16 * " #chunks ")\n"
#define LAM_MVE_OPENED_BACK_BY_GROUPS ""
#define LAM_MVE_OPENED_BACK_APART \
    "ldr r0, [r11, #112]\n" \
    "add r1, r1, r0\n"

/* All pixels of a group, four a turn; r3 goes on along the sums. */
#define LAM_MVE_OPENED_PAIR(chunks, on) LAM_MVE_OPENED_PAIR_##chunks(on) "stm r3!, {r0, r2, r4, r6, r8, r10, r12, lr}\n"
#define LAM_MVE_OPENED_GROUP(chunks, own, lie, step) \
    LAM_MVE_OPENED_##chunks(own) \
    "ldr r9, [r11, #16]\n" \
    "tst r9, #32\n" \
    "add r9, r9, r3\n" \
    "bne 3f\n" \
    "2:\n" \
    LAM_MVE_OPENED_PAIR(chunks, LAM_MVE_OPENED_ON_##lie(chunks, step)) \
    "3:\n" \
    LAM_MVE_OPENED_PAIR(chunks, LAM_MVE_OPENED_ON_##lie(chunks, step)) \
    "cmp r3, r9\n" \
    "bne 2b\n" LAM_MVE_OPENED_BACK_##lie
#define LAM_MVE_OPENED_REST_0(own, lie, step) ""
#define LAM_MVE_OPENED_REST_1(own, lie, step) LAM_MVE_OPENED_GROUP(1, own, lie, step)

/* The sums of all groups and pixels.  `chunks`: of a group, 1 or 2; `rest`: of one more, 0 or 1; `own`: whether groups have zero
 * points; `lie`: BY_GROUPS, or APART where pixels are `step` bytes apart, no more than 4095.  All but the job are numerals and
 * names; `pixels` and `groups` are for the portable twin. */
#define lam_mve_opened_sums(job, own, chunks, rest, lie, step, pixels, groups) \
    do { \
        register lam_mve_opened_job *const held __asm("r11") = (job); \
        __asm volatile( \
            "ldrd r1, r5, [r11, #0]\n" \
            "ldr r3, [r11, #12]\n" \
            "1:\n" \
            LAM_MVE_OPENED_GROUP(chunks, own, lie, step) \
            "ldr r0, [r11, #8]\n" \
            "cmp r5, r0\n" \
            "bne 1b\n" \
            LAM_MVE_OPENED_REST_##rest(own, lie, step) \
            : : "r"(held) : LAM_MVE_CLOBBERS); \
    } while (0)

/* Of groups in lanes the sums of a channel of two pixels by their factors to both totals; r1 goes on by `step`. */
#define LAM_MVE_OPENED_LANES(total, other, step, read, load, bytes, type) \
    load " q4, [r5], #" bytes "\n" \
    read " q2, [r1, q0]\n" \
    read " q3, [r1, q1]\n" \
    "add r1, r1, " step "\n" \
    "vmladava." type " " total ", q2, q4\n" \
    "vmladava." type " " other ", q3, q4\n"
#define LAM_MVE_OPENED_IN_8(total, other, step) \
    LAM_MVE_OPENED_LANES(total, other, step, "vldrh.u16", "vldrh.16", "16", "s16")
#define LAM_MVE_OPENED_IN_4(total, other, step) \
    LAM_MVE_OPENED_LANES(total, other, step, "vldrw.u32", "vldrh.s32", "8", "s32")
#define LAM_MVE_OPENED_SET(lanes, last) \
    LAM_MVE_OPENED_IN_##lanes("r0", "r8", "#4") LAM_MVE_OPENED_IN_##lanes("r2", "r10", "#4") \
    LAM_MVE_OPENED_IN_##lanes("r4", "r12", "#4") LAM_MVE_OPENED_IN_##lanes("r6", "lr", last)
/* Their places, in bytes behind r1. */
#define LAM_MVE_OPENED_PLACES(bits) \
    "movs r0, #0\n" \
    "ldr r2, [r11, #16]\n" \
    "movs r4, #16\n" \
    "vidup.u" bits " q0, r0, #1\n" \
    "vmul.i" bits " q0, q0, r2\n" \
    "vadd.i" bits " q1, q0, r4\n"
#define LAM_MVE_OPENED_PLACES_8 LAM_MVE_OPENED_PLACES("16")
#define LAM_MVE_OPENED_PLACES_4 LAM_MVE_OPENED_PLACES("32")

/* Multipliers to q4, shifts to q5. */
#define LAM_MVE_OPENED_FACTORS_ONE \
    "ldrd r0, r2, [r11, #56]\n" \
    "vdup.32 q4, r0\n" \
    "vdup.32 q5, r2\n"
#define LAM_MVE_OPENED_FACTORS_EACH \
    "vldrw.32 q4, [r5]\n" \
    "vldrb.s32 q5, [r5, #16]\n"

/* Totals of two pixels to outputs, those of the second one in the upper half of each lane of q2. */
#define LAM_MVE_OPENED_RESULTS(mode, factors, bounds) \
    "vmov q2[2], q2[0], r0, r4\n" \
    "vmov q2[3], q2[1], r2, r6\n" \
    "vmov q3[2], q3[0], r8, r12\n" \
    "vmov q3[3], q3[1], r10, lr\n" \
    LAM_MVE_OPENED_FACTORS_##factors \
    LAM_MVE_SCALE_##mode("q2", "q4", "q5", "q6") LAM_MVE_ROUND_##mode("q2") \
    LAM_MVE_SCALE_##mode("q3", "q4", "q5", "q6") LAM_MVE_ROUND_##mode("q3") \
    "vqmovnb.s32 q2, q2\n" \
    "ldr r8, [r11, #44]\n" \
    "vqmovnt.s32 q2, q3\n" \
    LAM_MVE_BYTES_##bounds("q2", "r8", "q3", "48")
/* To r3 and r9 behind it, where r3 goes on; the second pixel's before the first's, which may lie on it. */
#define LAM_MVE_OPENED_STORE \
    "vshr.u32 q3, q2, #16\n" \
    "add r0, r3, r9\n" \
    "vstrb.32 q3, [r0]\n" \
    "vstrb.32 q2, [r3]\n" \
    "add r3, r0, r9\n"
#define LAM_MVE_OPENED_BIAS \
    "ldr r5, [r11, #20]\n" \
    "ldm r5, {r8, r10, r12, lr}\n" \
    "ldm r5!, {r0, r2, r4, r6}\n"

/* Groups fill the lanes more than once. */
#define LAM_MVE_OPENED_OUTPUTS_MORE(mode, factors, bounds, lanes, sets) \
    LAM_MVE_OPENED_PLACES_##lanes \
    "1:\n" \
    "ldr r1, [r11, #32]\n" \
    "ldr r3, [r11, #40]\n" \
    "movw r9, #" #sets "\n" \
    LAM_MVE_OPENED_BIAS \
    "2:\n" \
    LAM_MVE_OPENED_SET(lanes, "r3") \
    "subs r9, r9, #1\n" \
    "bne 2b\n" \
    LAM_MVE_OPENED_RESULTS(mode, factors, bounds) \
    "ldrd r3, r9, [r11, #24]\n" \
    LAM_MVE_OPENED_STORE \
    "ldrd r1, r5, [r11, #32]\n" \
    "str r3, [r11, #24]\n" \
    "adds r1, r1, #32\n" \
    "str r1, [r11, #32]\n" \
    "cmp r1, r5\n" \
    "bne 1b\n"

/* Once: r1 goes on to the next two pixels, or q0 has places and goes on, and r1 counts. */
#define LAM_MVE_OPENED_OUTPUTS_ONCE(mode, factors, bounds, lanes, sets) \
    LAM_MVE_OPENED_PLACES_##lanes \
    "ldrd r3, r9, [r11, #24]\n" \
    "ldrd r1, r5, [r11, #32]\n" \
    LAM_MVE_OPENED_ONCE_OPEN_##lanes \
    "1:\n" \
    LAM_MVE_OPENED_BIAS \
    LAM_MVE_OPENED_ONCE_##lanes \
    LAM_MVE_OPENED_RESULTS(mode, factors, bounds) \
    LAM_MVE_OPENED_STORE \
    LAM_MVE_OPENED_ONCE_END_##lanes \
    "bne 1b\n"
#define LAM_MVE_OPENED_ONCE_OPEN_8 ""
#define LAM_MVE_OPENED_ONCE_8 LAM_MVE_OPENED_SET(8, "#20")
#define LAM_MVE_OPENED_ONCE_END_8 \
    "ldr r0, [r11, #36]\n" \
    "cmp r1, r0\n"
#define LAM_MVE_OPENED_ONCE_OPEN_4 \
    "subs r5, r5, r1\n" \
    "subs r1, r1, #4\n" \
    "vadd.i32 q0, q0, r1\n" \
    "mov r1, r5\n"
#define LAM_MVE_OPENED_ADDRESSED(total, other, at, other_at) \
    "vldrh.s32 q4, [r5], #8\n" \
    "vldrw.u32 q2, [q0, #" at "]\n" \
    "vldrw.u32 q3, [q0, #" other_at "\n" \
    "vmladava.s32 " total ", q2, q4\n" \
    "vmladava.s32 " other ", q3, q4\n"
#define LAM_MVE_OPENED_ONCE_4 \
    LAM_MVE_OPENED_ADDRESSED("r0", "r8", "4", "20]") LAM_MVE_OPENED_ADDRESSED("r2", "r10", "8", "24]") \
    LAM_MVE_OPENED_ADDRESSED("r4", "r12", "12", "28]") LAM_MVE_OPENED_ADDRESSED("r6", "lr", "16", "32]!")
#define LAM_MVE_OPENED_ONCE_END_4 "subs r1, r1, #32\n"

/* Outputs of pixels by twos.  `bounds`: S8, U8 or WITHIN; `lanes`: 8 or 4; `often`: ONCE, or MORE where groups fill lanes more
 * often, `sets` times; `groups`: all of them, for the portable twin.  The names and numerals are those of lam_mve_requant.h. */
#define lam_mve_opened_outputs(job, mode, factors, bounds, lanes, often, sets, groups) \
    do { \
        register lam_mve_opened_job *const held __asm("r11") = (job); \
        __asm volatile(LAM_MVE_OPENED_OUTPUTS_##often(mode, factors, bounds, lanes, sets) : : "r"(held) : LAM_MVE_CLOBBERS); \
    } while (0)

#else

/* The number of channel c of a block that has input i of a group. */
static inline int32_t lam_mve_opened_number(const int32_t *w, int32_t c, int32_t i)
{
    const int32_t two = lam_mve_byte(w, i / 16 * 32 + c / 2 * 16 + i % 16);
    return c % 2 == 0 ? two & 15 : two >> 4;
}

#define LAM_MVE_OPENED_BY_GROUPS 0
#define LAM_MVE_OPENED_APART 1

static inline void lam_mve_opened_sums_each(lam_mve_opened_job *job, int own, int32_t chunks, int32_t rest, int apart, int32_t step,
                                            int32_t pixels, int32_t groups)
{
    const int8_t *x = job->x;
    const int32_t *w = job->w;
    for (int32_t g = 0; g < groups + (rest != 0); g++) {
        const int32_t inputs = 16 * (g < groups ? chunks : rest), pixel_step = apart != 0 ? step : inputs;
        for (int32_t i = 0; i < 4 * pixels; i++) {
            const int32_t c = i % 4, added = own != 0 ? lam_mve_byte(w + inputs / 2, c) : c % 2 * 8 - 8;
            int32_t sum = 0;
            for (int32_t k = 0; k < inputs; k++) {
                sum += x[i / 4 * pixel_step + k] * (lam_mve_opened_number(w, c, k) + added);
            }
            job->sums[g * (job->stride / 4) + i] = sum;
        }
        x += apart != 0 ? inputs : inputs * (job->stride / 16);
        w += inputs / 2 + own;
    }
}

#define lam_mve_opened_sums(job, own, chunks, rest, lie, step, pixels, groups) \
    lam_mve_opened_sums_each(job, own, chunks, rest, LAM_MVE_OPENED_##lie, step, pixels, groups)

/* Number i of those of 16 bits from a word on. */
static inline int32_t lam_mve_opened_half(const int32_t *words, int32_t i)
{
    return lam_mve_byte(words, 2 * i + 1) * 256 + (lam_mve_byte(words, 2 * i) & 255);
}

static inline void lam_mve_opened_outputs_each(lam_mve_opened_job *job, int mode, int each, int32_t lanes, int32_t sets,
                                               int32_t groups)
{
    const int32_t *const factors = job->bias + 4, *const own = factors + 2 * lanes * sets;
    while (job->first != job->first_end) {
        for (int32_t c = 0; c < 4; c++) {
            const int32_t multiplier = each != 0 ? own[c] : job->multiplier;
            const int32_t shift = each != 0 ? lam_mve_byte(own + 4, c) : job->shift;
            uint32_t total = (uint32_t)job->bias[c];
            for (int32_t g = 0; g < groups; g++) {
                const int32_t factor = lam_mve_opened_half(factors, (g / lanes * 4 + c) * lanes + g % lanes);
                total += (uint32_t)job->first[g * (job->stride / 4) + c] * (uint32_t)factor;
            }
            job->y[c] = (uint8_t)lam_mve_requant(mode, (int32_t)total, multiplier, shift, job->zero_point, job->low, job->high);
        }
        job->first += job->y_step != 0 ? 4 : 8;
        job->y += job->y_step;
    }
}

#define lam_mve_opened_outputs(job, mode, factors, bounds, lanes, often, sets, groups) \
    lam_mve_opened_outputs_each(job, LAM_MVE_##mode, LAM_MVE_##factors, lanes, sets, groups)

#endif

/* Which outputs are made next, of `count` pixels from `pixel` on, y_step apart from y: all that have a partner, or the last one.
 * Returns the pixel behind them. */
static inline int32_t lam_mve_opened_next(lam_mve_opened_job *job, uint8_t *y, int32_t y_step, int32_t pixel, int32_t count)
{
    const int32_t paired = count / 2 * 2, end = pixel < paired ? paired : count;
    job->y = y + pixel * y_step;
    job->y_step = pixel < paired ? y_step : 0;
    job->first = job->sums + 4 * pixel;
    job->first_end = job->sums + 4 * (end + end % 2);
    return end;
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
