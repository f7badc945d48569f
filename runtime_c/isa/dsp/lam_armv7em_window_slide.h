/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Depthwise windows of any size, and weights of few bits, some neighbouring outputs of one channel at a time, on the DSP
 * extension of Armv7E-M.
 *
 * Kernel rows are summed two at a time, so that an SMLAD adds two taps; the last one of an odd number follows alone, two
 * weights of it in a register.  So weights come in pairs: those of the taps of rows 0 and 1, from left to right, those of
 * rows 2 and 3, and so on, then neighbours of the row without a partner.  For each channel there are
 *
 *   where channels have zero points of their own, a byte: what is added to each field of this one
 *   words of pairs, 2 of weights of 8 bits, 4 of 4 bits, 8 of 2 bits: of pair n the first from bit n * bits on, the second
 *   from bit 16 + n * bits on.  Weights of few bits stand there without a sign: plus half of what their bits hold,
 *   or less that byte
 *   the last weight of a row without a partner, a byte, where its number is odd
 *   twice the shift, and 1 more where the channel is the last one
 *   the bias; of LINED the addend in 16 bits comes before a bias of 24
 *   the multiplier, as lam_armv7em_byte.h has it
 *
 * Multipliers and shifts are those of lam_armv7em_slide.h.  The portable twin says what is computed.  Sums wrap nowhere: the
 * compiler has proved the bound of every partial sum.
 */
#ifndef LAM_ARMV7EM_WINDOW_SLIDE_H
#define LAM_ARMV7EM_WINDOW_SLIDE_H

#include "lam_armv7em_slide.h"

/* A block: where the first column inside each row is, the outputs of the first pixel, the weights, 2 * zero point + 1 of the
 * outputs, and the zero point of the inputs, which stands for columns outside. */
typedef struct lam_window_slide {
    const void *const *rows;
    uint8_t *y;
    const uint8_t *weights;
    int32_t centre;
    int32_t zero;
} lam_window_slide;

/* A block whose outputs have bounds of their own, and these. */
typedef struct lam_window_slide_limited {
    lam_window_slide slide;
    uint32_t limits;
} lam_window_slide_limited;

#if LAM_BLOCKS
/* r0 and r1 the rows, r3 and r4 what is loaded, r5 to r7, r2 and then r8 on weights, sums in those behind.  Weights are taken
 * apart before the rows are loaded: r1 is behind those of the channel meanwhile, r0 has a word, r3 and r4 what takes fields
 * apart. */
#define LAM_SLIDE_TAP_3 "r2"
#define LAM_SLIDE_TAP_4 "r8"
#define LAM_SLIDE_TAP_5 "r9"
#define LAM_SLIDE_TAP_6 "r10"
#define LAM_SLIDE_TAP_7 "r11"
#define LAM_SLIDE_MULTIPLY_3 "smlabt"
#define LAM_SLIDE_MULTIPLY_4 "smlabb"
#define LAM_SLIDE_MULTIPLY_5 "smlabt"
#define LAM_SLIDE_MULTIPLY_6 "smlabb"
#define LAM_SLIDE_MULTIPLY_7 "smlabt"
#define LAM_SLIDE_LAST_3 "r6"
#define LAM_SLIDE_LAST_4 "r7"
#define LAM_SLIDE_LAST_5 "r7"
#define LAM_SLIDE_LAST_6 "r2"
#define LAM_SLIDE_LAST_7 "r2"

/* Weights of a pass: a word, the pair of it that a turn to the right brings down, and the one without a partner. */
#define LAM_SLIDE_TAKEN_S8 "ldr r1, [sp]\n\t"
#define LAM_SLIDE_TAKEN_S4 "ldr r1, [sp]\n\tmov r3, #0x000f000f\n\tmov r4, #0x00080008\n\t"
#define LAM_SLIDE_TAKEN_S2 "ldr r1, [sp]\n\tmov r3, #0x00030003\n\tmov r4, #0x00020002\n\t"
/* Of channels with a number of their own, that lies `at` behind the last byte. */
#define LAM_SLIDE_TAKEN_U4(at) "ldr r1, [sp]\n\tmov r3, #0x000f000f\n\t" LAM_SLIDE_OWN(at)
#define LAM_SLIDE_TAKEN_U2(at) "ldr r1, [sp]\n\tmov r3, #0x00030003\n\t" LAM_SLIDE_OWN(at)
#define LAM_SLIDE_OWN(at) "ldrsb r4, [r1, #" #at "]\n\tpkhbt r4, r4, r4, lsl #16\n\t"
#define LAM_SLIDE_WORD(at) "ldr r0, [r1, #" #at "]\n\t"
#define LAM_SLIDE_TAKE_S8(pair, turn) "sxtb16 " LAM_SLIDE_TAP_##pair ", r0, ror #" #turn "\n\t"
#define LAM_SLIDE_TAKE_S4(pair, turn) \
    "and " LAM_SLIDE_TAP_##pair ", r3, r0, lsr #" #turn "\n\t" \
    "ssub16 " LAM_SLIDE_TAP_##pair ", " LAM_SLIDE_TAP_##pair ", r4\n\t"
#define LAM_SLIDE_TAKE_S2(pair, turn) LAM_SLIDE_TAKE_S4(pair, turn)
#define LAM_SLIDE_TAKE_U4(pair, turn) \
    "and " LAM_SLIDE_TAP_##pair ", r3, r0, lsr #" #turn "\n\t" \
    "sadd16 " LAM_SLIDE_TAP_##pair ", " LAM_SLIDE_TAP_##pair ", r4\n\t"
#define LAM_SLIDE_TAKE_U2(pair, turn) LAM_SLIDE_TAKE_U4(pair, turn)
#define LAM_SLIDE_SINGLE(pair) "ldrsb " LAM_SLIDE_TAP_##pair ", [r1, #-10]\n\t"

/* The pointers of a pass, which its first column inside moves on to the next channel. */
#define LAM_SLIDE_ROWS(at) "ldrd r0, r1, [sp, #" #at "]\n\t"
#define LAM_SLIDE_KEEP_ROWS(at) "strd r0, r1, [sp, #" #at "]\n\t"
#define LAM_SLIDE_ROW(at) "ldr r0, [sp, #" #at "]\n\t"
#define LAM_SLIDE_KEEP_ROW(at) "str r0, [sp, #" #at "]\n\t"
#define LAM_SLIDE_LONE_A(load, at) load " r3, [r0" at "\n\t"
#define LAM_SLIDE_LONE_B(load, at) load " r4, [r0" at "\n\t"
/* A sum that begins with what is in another one. */
#define LAM_SLIDE_BEGIN(sum, from) "mov " LAM_SLIDE_SUM_##sum ", " LAM_SLIDE_SUM_##from "\n\t"

/* All channels of a block: `pointers` of rows, the bytes of the stack that are taken, those of a channel's weights; `last` is
 * the last sum, whose register has the bias before; `passes` the products, `stores` the outputs.  On the stack are the weights,
 * 2 * zero point + 1, y, the pair of the inputs' zero point, and the pointers. */
#define LAM_WINDOW_SLIDE(slide, pointers, frame, bytes, last, passes, stores) \
    LAM_WINDOW_SLIDE_ASM(TFLITE, slide, pointers, frame, bytes, last, passes, stores, "")
/* The same of outputs that take one product and one sum. */
#define LAM_WINDOW_SLIDE_LINED(slide, pointers, frame, bytes, last, passes, stores) \
    LAM_WINDOW_SLIDE_ASM(LINED, slide, pointers, frame, bytes, last, passes, stores, "")
/* Both with bounds of its own, of a lam_window_slide_limited: the limits lie behind all that, in the last word of the frame. */
#define LAM_WINDOW_SLIDE_LIMITED(slide, pointers, frame, limits, bytes, last, passes, stores) \
    LAM_WINDOW_SLIDE_ASM(TFLITE, slide, pointers, frame, bytes, last, passes, LAM_SLIDE_WITHIN(limits, stores), \
                         LAM_WINDOW_SLIDE_KEPT)
#define LAM_WINDOW_SLIDE_LINED_LIMITED(slide, pointers, frame, limits, bytes, last, passes, stores) \
    LAM_WINDOW_SLIDE_ASM(LINED, slide, pointers, frame, bytes, last, passes, LAM_SLIDE_WITHIN(limits, stores), \
                         LAM_WINDOW_SLIDE_KEPT)
#define LAM_WINDOW_SLIDE_KEPT "ldr r1, [r0, #20]\n\tpush {r1}\n\t"
#define LAM_WINDOW_SLIDE_ASM(mode, slide, pointers, frame, bytes, last, passes, stores, kept) \
    do { \
        register const void *slide_ __asm__("r0") = (slide); \
        __asm__ volatile("push {r7}\n\t" kept "ldr r1, [r0]\n\t" \
                         "ldm.w r1, {r1-r" #pointers "}\n\t" \
                         "push.w {r1-r" #pointers "}\n\t" \
                         "sub sp, sp, #16\n\t" \
                         "ldrd r3, r7, [r0, #4]\n\t" \
                         "ldrd r5, r6, [r0, #12]\n\t" \
                         "pkhbt r6, r6, r6, lsl #16\n\t" \
                         "strd r5, r3, [sp, #4]\n\t" \
                         "str r6, [sp, #12]\n\t" \
                         "1:\n\t" \
                         "add.w r7, r7, #" #bytes "\n\t" \
                         "str r7, [sp]\n\t" \
                         "ldr " LAM_SLIDE_SUM_##last ", [r7, #-8]\n\t" LAM_SLIDE_BIAS_##mode(LAM_SLIDE_SUM_##last) \
                         passes "ldr r7, [sp]\n\t" LAM_SLIDE_NUMBERS_##mode stores "str r6, [sp, #8]\n\t" \
                         "bcc.w 1b\n\t" \
                         "add sp, sp, #" #frame "\n\t" \
                         "pop {r7}\n\t" \
                         : "+r"(slide_) \
                         : \
                         : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory"); \
    } while (0)
#else
/* What a block is, beyond a lam_window_slide: as lam_slide_shape, and the window, the bits of a weight, the bytes of a
 * channel. */
typedef struct lam_window_shape {
    int32_t channels;
    int32_t pixels;
    int32_t stride;
    int32_t before;
    int32_t inside;
    int32_t rows;
    int32_t columns;
    int32_t bits;
    int32_t bytes;
    int32_t own; /* channels have zero points of their own */
} lam_window_shape;

static inline int32_t lam_window_input(const lam_window_slide *slide, const lam_window_shape *shape, int32_t row,
                                       int32_t column, int32_t channel, int is_signed)
{
    if (column < 0 || column >= shape->inside) {
        return slide->zero;
    }
    const uint8_t value = ((const uint8_t *)slide->rows[row])[column * shape->channels + channel];
    return is_signed ? (int8_t)value : value;
}

static inline int32_t lam_window_weight(const uint8_t *w, const lam_window_shape *shape, int32_t row, int32_t column)
{
    const int32_t paired = shape->rows & ~1, per_word = 16 / shape->bits;
    if (row == paired && column == (shape->columns & ~1)) {
        return (int8_t)w[shape->bytes - 10];
    }
    const int32_t pair = (row < paired) ? (row / 2) * shape->columns + column : (row / 2) * shape->columns + column / 2;
    const int32_t second = ((row < paired) ? row : column) & 1;
    const uint32_t word = lam_word(w + shape->own + 4 * (pair / per_word)) >> (shape->bits * (pair % per_word) + 16 * second);
    const int32_t field = (int32_t)(word & (((uint32_t)1 << shape->bits) - 1u));
    if (shape->own != 0) {
        return field + (int8_t)w[0];
    }
    return (shape->bits == 8) ? (int8_t)field : field - (1 << (shape->bits - 1));
}

static inline void lam_window_slide_plain(const lam_window_slide *slide, const lam_window_shape *shape, int is_signed, int mode,
                                          int type)
{
    const int is_lined = mode == LAM_PANEL_LINED;
    const uint8_t *w = slide->weights;
    for (int32_t channel = 0; channel < shape->channels; channel++, w += shape->bytes) {
        const uint8_t *const place = w + shape->bytes - 9;
        const int32_t shift = is_lined ? lam_slide_half(place) : place[0] >> 1;
        const int32_t word = (int32_t)lam_word(place + 1), bias = is_lined ? word >> 8 : word;
        uint8_t made[6]; /* a channel is read before any of its outputs is stored */
        for (int32_t p = 0; p < shape->pixels; p++) {
            int32_t acc = bias;
            for (int32_t row = 0; row < shape->rows; row++) {
                for (int32_t column = 0; column < shape->columns; column++) {
                    const int32_t at = p * shape->stride + column - shape->before;
                    acc += lam_window_weight(w, shape, row, column) *
                           lam_window_input(slide, shape, row, at, channel, is_signed);
                }
            }
            made[p] = lam_panel_byte(acc, lam_word(place + 5), shift, slide->centre, mode, type);
        }
        for (int32_t p = 0; p < shape->pixels; p++) {
            slide->y[p * shape->channels + channel] = made[p];
        }
    }
}

static inline void lam_window_slide_limited_plain(const lam_window_slide_limited *slide, const lam_window_shape *shape,
                                                  int is_signed, int mode, int type)
{
    lam_window_slide_plain(&slide->slide, shape, is_signed, mode, type);
    uint8_t *const y = slide->slide.y;
    lam_slide_limit(y, shape->channels, shape->pixels, slide->limits, type);
}
#endif

#endif /* LAM_ARMV7EM_WINDOW_SLIDE_H */
