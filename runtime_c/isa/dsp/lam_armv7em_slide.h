/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Depthwise windows of 3x3 taps, some neighbouring outputs of one channel at a time, on the DSP extension of Armv7E-M.
 *
 * Inputs of the first two rows are taken in pairs, so that an SMLAD adds two taps; those of the third row follow alone.  For
 * each channel the weights have 18 bytes, tap (row, column):
 *
 *   (0, 0) (0, 1) (1, 0) (1, 1)    as SXTB16 takes them apart
 *   (0, 2) (2, 0) (1, 2) (2, 1)    the first rows' in even places; from the second byte on the third row's, with
 *   (2, 2)                         this
 *   twice the shift, and 1 more where the channel is the last one
 *   the bias; of LINED the addend in 16 bits comes before a bias of 24
 *   the multiplier, as lam_armv7em_byte.h has it
 *
 * Weights of 16 bits (WIDE) have 28 bytes a channel, whole words:
 *
 *   the pairs of (0, 0) and (1, 0), (0, 1) and (1, 1), (0, 2) and (1, 2), (2, 0) and (2, 1), the first in the lower half
 *   (2, 2) in the lower half, in the upper one twice the shift, and 1 more where the channel is the last one, or the addend
 *   the bias, the multiplier
 *
 * Multipliers and shifts are those of lam_twice_* (lam_requant_fast.h): of SINGLE the right shift less 33.  The portable twin says what is computed.  Sums wrap nowhere: the compiler has proved the bound of every partial sum.
 */
#ifndef LAM_ARMV7EM_SLIDE_H
#define LAM_ARMV7EM_SLIDE_H

#include "lam_armv7em.h"
#include "lam_armv7em_byte.h"

/* A block: the first column inside each row, the outputs of the first pixel, the weights, 2 * zero point + 1 of the outputs,
 * and the zero point of the inputs, which stands for columns outside. */
typedef struct lam_slide {
    const void *rows[3];
    uint8_t *y;
    const uint8_t *weights;
    int32_t centre;
    int32_t zero;
} lam_slide;

/* A block whose outputs have bounds of their own, and these. */
typedef struct lam_slide_limited {
    lam_slide slide;
    uint32_t limits;
} lam_slide_limited;

#if LAM_BLOCKS
/* r0 to r2 the rows, r3 and r4 what is loaded, r5 to r7 weights, r8 to r12 and lr the sums.  Of two rows and of the third
 * one, the inputs of a column: the first column moves the pointers on to the next channel, later ones lie `at` bytes behind. */
#define LAM_SLIDE_PAIR(load, at) load " r3, [r0" at "\n\t" load " r4, [r1" at "\n\tpkhbt r3, r3, r4, lsl #16\n\t"
#define LAM_SLIDE_THIRD_A(load, at) load " r3, [r2" at "\n\t"
#define LAM_SLIDE_THIRD_B(load, at) load " r4, [r2" at "\n\t"
#define LAM_SLIDE_ZERO_A "ldr r3, [sp, #12]\n\t"
#define LAM_SLIDE_ZERO_B "ldr r4, [sp, #12]\n\t"
#define LAM_SLIDE_NEXT "], #1"
#define LAM_SLIDE_AT(offset) ", #" #offset "]"
#define LAM_SLIDE_S8 "ldrsb"
#define LAM_SLIDE_U8 "ldrb"
/* Products of a sum: of two rows with a tap's pair, beginning with what is in another sum; of the third row. */
#define LAM_SLIDE_TWO(sum, tap, from) \
    "smlad " LAM_SLIDE_SUM_##sum ", r3, " LAM_SLIDE_TAP_##tap ", " LAM_SLIDE_SUM_##from "\n\t"
#define LAM_SLIDE_A(sum, tap) LAM_SLIDE_ONE(LAM_SLIDE_SUM_##sum, "r3", tap)
#define LAM_SLIDE_B(sum, tap) LAM_SLIDE_ONE(LAM_SLIDE_SUM_##sum, "r4", tap)
#define LAM_SLIDE_ONE(sum, x, tap) LAM_SLIDE_MULTIPLY_##tap " " sum ", " x ", " LAM_SLIDE_LAST_##tap ", " sum "\n\t"
#define LAM_SLIDE_MULTIPLY_0 "smlabb"
#define LAM_SLIDE_MULTIPLY_1 "smlabt"
#define LAM_SLIDE_MULTIPLY_2 "smlabb"
#define LAM_SLIDE_TAP_0 "r5"
#define LAM_SLIDE_TAP_1 "r6"
#define LAM_SLIDE_TAP_2 "r7"
#define LAM_SLIDE_LAST_0 "r5"
#define LAM_SLIDE_LAST_1 "r5"
#define LAM_SLIDE_LAST_2 "r6"
#define LAM_SLIDE_SUM_0 "r8"
#define LAM_SLIDE_SUM_1 "r9"
#define LAM_SLIDE_SUM_2 "r10"
#define LAM_SLIDE_SUM_3 "r11"
#define LAM_SLIDE_SUM_4 "r12"
#define LAM_SLIDE_SUM_5 "lr"
/* The output of a sum; that of the first pixel moves y on to the next channel. */
#define LAM_SLIDE_STORE(mode, type, sum, at) \
    LAM_BYTE_##mode(LAM_SATURATE_##type, LAM_SLIDE_SUM_##sum, "r3") LAM_LIMIT_##type(LAM_SLIDE_SUM_##sum, "r7") \
    "strb " LAM_SLIDE_SUM_##sum ", [r6" at "\n\t"
/* Around the outputs with bounds of their own: the limits take the weights' register. */
#define LAM_SLIDE_WITHIN(limits, stores) "ldr r7, [sp, #" #limits "]\n\t" stores "ldr r7, [sp]\n\t"

/* The multiplier in r3, what else its mode needs in r4 and r5, y in r6, the carry: the channel is the last. */
#define LAM_SLIDE_NUMBERS_TFLITE \
    "ldrb r4, [r7, #-9]\n\t" \
    "ldr r3, [r7, #-4]\n\t" \
    "ldrd r5, r6, [sp, #4]\n\t" \
    "lsrs r4, r4, #1\n\t"
#define LAM_SLIDE_BIAS_TFLITE(sum) ""
#define LAM_SLIDE_BIAS_LOW(sum) ""
#define LAM_SLIDE_BIAS_SINGLE(sum) ""
#define LAM_SLIDE_BIAS_RAISED(sum) ""
#define LAM_SLIDE_BIAS_LINED(sum) "asr.w " sum ", " sum ", #8\n\t"
#define LAM_SLIDE_NUMBERS_LOW LAM_SLIDE_NUMBERS_TFLITE
#define LAM_SLIDE_NUMBERS_SINGLE LAM_SLIDE_NUMBERS_TFLITE
#define LAM_SLIDE_NUMBERS_RAISED LAM_SLIDE_NUMBERS_TFLITE
#define LAM_SLIDE_NUMBERS_LINED \
    "ldrsh r5, [r7, #-9]\n\t" \
    "ldr r3, [r7, #-4]\n\t" \
    "ldr r6, [sp, #8]\n\t" \
    "lsrs r4, r5, #1\n\t"
/* The same where the half behind the last weight has the shift or the addend, which are in r6. */
#define LAM_SLIDE_WIDE_NUMBERS_TFLITE \
    "ldr r3, [r7, #-4]\n\t" \
    "lsrs r4, r6, #17\n\t" \
    "ldrd r5, r6, [sp, #4]\n\t"
#define LAM_SLIDE_WIDE_NUMBERS_LOW LAM_SLIDE_WIDE_NUMBERS_TFLITE
#define LAM_SLIDE_WIDE_NUMBERS_SINGLE LAM_SLIDE_WIDE_NUMBERS_TFLITE
#define LAM_SLIDE_WIDE_NUMBERS_RAISED LAM_SLIDE_WIDE_NUMBERS_TFLITE
#define LAM_SLIDE_WIDE_NUMBERS_LINED \
    "asr.w r5, r6, #16\n\t" \
    "ldr r3, [r7, #-4]\n\t" \
    "ldr r6, [sp, #8]\n\t" \
    "lsrs r4, r5, #1\n\t"

/* All channels of a block: `last` is its last sum, whose register has the bias before; `two` the products of two rows, `third`
 * those of the third one, `stores` the outputs.  The compiler does not know what is on the stack meanwhile: r7, and the
 * weights, 2 * zero point + 1, y, and the pair of the inputs' zero point. */
#define LAM_SLIDE_BLOCK(mode, slide, last, two, third, stores) \
    LAM_SLIDE_ASM(slide, LAM_SLIDE_FIRST(mode, last) two, LAM_SLIDE_SECOND third, LAM_SLIDE_NUMBERS_##mode, stores, "16", "")
#define LAM_SLIDE_WIDE(mode, slide, last, two, third, stores) \
    LAM_SLIDE_ASM(slide, LAM_SLIDE_WIDE_FIRST(last) two, LAM_SLIDE_WIDE_SECOND third, LAM_SLIDE_WIDE_NUMBERS_##mode, stores, \
                  "16", "")
/* The same with bounds of its own, of a lam_slide_limited: the limits lie behind all that. */
#define LAM_SLIDE_LIMITED(mode, slide, last, two, third, stores) \
    LAM_SLIDE_ASM(slide, LAM_SLIDE_FIRST(mode, last) two, LAM_SLIDE_SECOND third, LAM_SLIDE_NUMBERS_##mode, \
                  LAM_SLIDE_WITHIN(16, stores), "20", LAM_SLIDE_KEPT)
#define LAM_SLIDE_WIDE_LIMITED(mode, slide, last, two, third, stores) \
    LAM_SLIDE_ASM(slide, LAM_SLIDE_WIDE_FIRST(last) two, LAM_SLIDE_WIDE_SECOND third, LAM_SLIDE_WIDE_NUMBERS_##mode, \
                  LAM_SLIDE_WITHIN(16, stores), "20", LAM_SLIDE_KEPT)
#define LAM_SLIDE_KEPT "ldr r1, [r0, #28]\n\tstr r1, [sp, #16]\n\t"
/* The bias and the weights of the first two rows, then those of the third one. */
#define LAM_SLIDE_FIRST(mode, last) \
    "ldr r5, [r7], #18\n\t" \
    "ldr r6, [r7, #-14]\n\t" \
    "ldr " LAM_SLIDE_SUM_##last ", [r7, #-8]\n\t" LAM_SLIDE_BIAS_##mode(LAM_SLIDE_SUM_##last) \
    "str.w r7, [sp]\n\t" \
    "sxtb16 r7, r6\n\t" \
    "sxtb16 r6, r5, ror #8\n\t" \
    "sxtb16 r5, r5\n\t"
#define LAM_SLIDE_SECOND \
    "ldr.w r7, [sp]\n\t" \
    "ldr r6, [r7, #-13]\n\t" \
    "sxtb16 r5, r6\n\t" \
    "asr.w r6, r6, #24\n\t"
#define LAM_SLIDE_WIDE_FIRST(last) \
    "ldrd r5, r6, [r7], #28\n\t" \
    "ldr " LAM_SLIDE_SUM_##last ", [r7, #-8]\n\t" \
    "str.w r7, [sp]\n\t" \
    "ldr r7, [r7, #-20]\n\t"
#define LAM_SLIDE_WIDE_SECOND \
    "ldr.w r7, [sp]\n\t" \
    "ldrd r5, r6, [r7, #-16]\n\t"
#define LAM_SLIDE_ASM(slide, two, third, numbers, stores, frame, kept) \
    do { \
        register const void *slide_ __asm__("r0") = (slide); \
        __asm__ volatile("push {r7}\n\t" \
                         "sub sp, sp, #" frame "\n\t" kept "ldmia.w r0, {r0, r1, r2, r5, r7, r8, r9}\n\t" \
                         "pkhbt r9, r9, r9, lsl #16\n\t" \
                         "strd r8, r5, [sp, #4]\n\t" \
                         "str.w r9, [sp, #12]\n" \
                         "1:\n\t" two third numbers stores "str.w r6, [sp, #8]\n\t" \
                         "bcc.w 1b\n\t" \
                         "add sp, sp, #" frame "\n\t" \
                         "pop {r7}\n\t" \
                         : "+r"(slide_) \
                         : \
                         : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory"); \
    } while (0)
#else
/* What a block is, beyond a lam_slide: neighbouring columns of a row and outputs lie `channels` apart, the first `before` of
 * the columns that it reads are outside, as are those behind the `inside` next ones. */
typedef struct lam_slide_shape {
    int32_t channels;
    int32_t pixels;
    int32_t stride;
    int32_t before;
    int32_t inside;
    int32_t wide; /* weights have 16 bits */
} lam_slide_shape;

static inline int32_t lam_slide_input(const lam_slide *slide, const lam_slide_shape *shape, int32_t row, int32_t column,
                                      int32_t channel, int is_signed)
{
    if (column < 0 || column >= shape->inside) {
        return slide->zero;
    }
    const uint8_t value = ((const uint8_t *)slide->rows[row])[column * shape->channels + channel];
    return is_signed ? (int8_t)value : value;
}

/* A number of 16 bits in two bytes. */
static inline int32_t lam_slide_half(const uint8_t *byte)
{
    return lam_low((uint32_t)byte[0] | ((uint32_t)byte[1] << 8));
}

static inline int32_t lam_slide_weight(const uint8_t *w, int32_t tap, int32_t wide)
{
    static const uint8_t place[9] = {0, 1, 4, 2, 3, 6, 5, 7, 8}, half[9] = {0, 2, 4, 1, 3, 5, 6, 7, 8};
    return (wide != 0) ? lam_slide_half(w + 2 * half[tap]) : (int8_t)w[place[tap]];
}

static inline void lam_slide_plain(const lam_slide *slide, const lam_slide_shape *shape, int is_signed, int mode, int type)
{
    const int is_lined = mode == LAM_PANEL_LINED;
    const int32_t bytes = (shape->wide != 0) ? 28 : 18, place = (shape->wide != 0) ? 18 : 9;
    const uint8_t *w = slide->weights;
    for (int32_t channel = 0; channel < shape->channels; channel++, w += bytes) {
        const int32_t shift = is_lined ? lam_slide_half(w + place) : w[place] >> 1;
        const int32_t word = (int32_t)lam_word(w + bytes - 8), bias = (is_lined && shape->wide == 0) ? word >> 8 : word;
        for (int32_t p = 0; p < shape->pixels; p++) {
            int32_t acc = bias;
            for (int32_t tap = 0; tap < 9; tap++) {
                const int32_t column = p * shape->stride + tap % 3 - shape->before;
                acc += lam_slide_weight(w, tap, shape->wide) *
                       lam_slide_input(slide, shape, tap / 3, column, channel, is_signed);
            }
            slide->y[p * shape->channels + channel] =
                lam_panel_byte(acc, lam_word(w + bytes - 4), shift, slide->centre, mode, type);
        }
    }
}

/* All outputs of a block that are bytes of a type with bounds of its own, moved back. */
static inline void lam_slide_limit(uint8_t *y, int32_t channels, int32_t pixels, uint32_t limits, int type)
{
    for (const uint8_t *const end = y + channels * pixels; y != end; y++) {
        *y = lam_limited_byte(*y, limits, type);
    }
}

static inline void lam_slide_limited_plain(const lam_slide_limited *slide, const lam_slide_shape *shape, int is_signed, int mode,
                                           int type)
{
    lam_slide_plain(&slide->slide, shape, is_signed, mode, type);
    uint8_t *const y = slide->slide.y;
    lam_slide_limit(y, shape->channels, shape->pixels, slide->limits, type);
}
#endif

#endif /* LAM_ARMV7EM_SLIDE_H */
