/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Two neighbouring outputs of a window of three columns from 4 products for 6, on the DSP extension of Armv7E-M: all channels
 * of two or three pairs of outputs, from planes of 16 bits to stored bytes.
 *
 * Of the inputs d0 to d3 of a pair and the weights g0 to g2, for each input channel and kernel row, four planes have
 *
 *   d1 + d2, times g0 + g1 + g2              d3 - d1, times g2
 *   d2 - d1, times g0 - g1 + g2              d0 - d2, times g0
 *
 * in this order.  With the sums p, q, r, s of their products the second output is r + (p - q) / 2 and the first one
 * s + (p + q) / 2; what is halved is even.  A plane lies as columns of panels do (lam_armv7em_panel.h), a pair of outputs for a
 * pixel; the next plane begins where it ends.  For each two channels the weights have
 *
 *   twice the bias of both
 *   for the first three planes, for each group: the pair of the first and third weight of both channels, then the pair of the
 *   second and fourth
 *   the multiplier of both, and their shifts or addends, as panels have them
 *   the pairs of the last plane
 *
 * A channel without a partner comes last, alone.  The portable twin below says what is computed.  Sums wrap nowhere: the
 * compiler has proved the bound of every partial sum.
 */
#ifndef LAM_ARMV7EM_WINOGRAD_H
#define LAM_ARMV7EM_WINOGRAD_H

#include "lam_armv7em_panel_wide.h"

/* The sum of two pairs, and what the second leaves of the first, half by half: each fits 16 bits. */
static inline uint32_t lam_pairs_sum(uint32_t a, uint32_t b)
{
#if LAM_ARMV7EM
    uint32_t pair;
    __asm__("sadd16 %0, %1, %2" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
#else
    return lam_pair(lam_low(a) + lam_low(b), lam_high(a) + lam_high(b));
#endif
}

static inline uint32_t lam_pairs_difference(uint32_t a, uint32_t b)
{
#if LAM_ARMV7EM
    uint32_t pair;
    __asm__("ssub16 %0, %1, %2" : "=r"(pair) : "r"(a), "r"(b));
    return pair;
#else
    return lam_pair(lam_low(a) - lam_low(b), lam_high(a) - lam_high(b));
#endif
}

/* Two channels of four neighbouring inputs, to the planes of one pair of outputs; each plane is `plane` words. */
LAM_INLINE void lam_plane_pairs(uint32_t *to, int32_t plane, uint32_t d0, uint32_t d1, uint32_t d2, uint32_t d3)
{
    to[0] = lam_pairs_sum(d1, d2);
    to[plane] = lam_pairs_difference(d2, d1);
    to[2 * plane] = lam_pairs_difference(d3, d1);
    to[3 * plane] = lam_pairs_difference(d0, d2);
}

/* What `pairs` pairs of outputs read of a kernel row, to the planes.  The first column lies between `from` and `end`, the next
 * ones behind it; each has `channels` bytes, whole fours. */
LAM_INLINE void lam_planes(uint32_t *to, const void *from, const void *end, int32_t channels, int32_t plane, int32_t pairs,
                           int is_signed)
{
#define LAM_EVEN(word) (is_signed ? lam_even_s8(word) : lam_even_u8(word))
#define LAM_ODD(word) (is_signed ? lam_odd_s8(word) : lam_odd_u8(word))
    for (const uint8_t *byte = (const uint8_t *)from; byte != (const uint8_t *)end; byte += 4, to += 2 * pairs) {
        const uint32_t first = lam_word(byte), second = lam_word(byte + channels);
        uint32_t a = LAM_EVEN(first), b = LAM_EVEN(second), e = LAM_ODD(first), f = LAM_ODD(second);
        for (int32_t p = 0; p < pairs; p++) {
            const uint32_t third = lam_word(byte + (2 * p + 2) * channels), fourth = lam_word(byte + (2 * p + 3) * channels);
            const uint32_t c = LAM_EVEN(third), d = LAM_EVEN(fourth), g = LAM_ODD(third), h = LAM_ODD(fourth);
            lam_plane_pairs(to + p, plane, a, b, c, d);
            lam_plane_pairs(to + pairs + p, plane, e, f, g, h);
            a = c;
            b = d;
            e = g;
            f = h;
        }
    }
#undef LAM_EVEN
#undef LAM_ODD
}

/* The sums of `channels` channels (1 or 2) whose weights begin at w: of the first outputs, [channel][pair], then of the second
 * ones.  Returns the place of the factors. */
static inline const uint32_t *lam_winograd_sums(const lam_panel *panel, const uint32_t *w, int32_t *sums, int32_t pairs,
                                                int32_t channels)
{
    const int32_t count = channels * pairs, words = 2 * pairs * panel->groups;
    int32_t *const second = sums + count;
    lam_panel plane = *panel;
    for (int32_t j = 0; j < count; j++) {
        sums[j] = (int32_t)w[j / pairs];
        second[j] = 0;
    }
    w = lam_panel_add(&plane, w + channels, sums, pairs, channels, 1);
    plane.column += words;
    w = lam_panel_add(&plane, w, second, pairs, channels, 1);
    for (int32_t j = 0; j < count; j++) {
        sums[j] = (sums[j] + second[j]) >> 1;
        second[j] = sums[j] - second[j];
    }
    plane.column += words;
    const uint32_t *const factors = lam_panel_add(&plane, w, second, pairs, channels, 1);
    plane.column += words;
    (void)lam_panel_add(&plane, factors + channels + 1, sums, pairs, channels, 1);
    return factors;
}

/* The outputs of a channel without a partner, whose weights stand alone: its multiplier and its shift are two words. */
LAM_INLINE void lam_winograd_odd(const lam_panel *panel, const uint32_t *w, uint8_t *y, int32_t pairs, int mode, int type)
{
    int32_t sums[6];
    const uint32_t *const factors = lam_winograd_sums(panel, w, sums, pairs, 1);
    for (int32_t p = 0; p < 2 * pairs; p++) {
        const int32_t sum = sums[p % 2 * pairs + p / 2];
        y[p * panel->channels] = lam_panel_byte(sum, factors[0], (int32_t)factors[1], panel->centre, mode, type);
    }
}

#if LAM_BLOCKS
/* The registers are those of a panel.  On the stack lie the sums of a plane at sp; centre, place and step of the second outputs
 * from 24 on and of the first ones from 36 on; the planes at 48; where to jump into a turn at 52, where the plane ends at 56,
 * what is done then at 60; the bytes of a plane at 64; the factors of both channels from 68 on.  A plane that is gone through
 * ends where the next one begins. */
#if LAM_SMALL
#define LAM_WINOGRAD_LESS "1"
#else
#define LAM_WINOGRAD_LESS "7"
#endif
#define LAM_WINOGRAD_PLANE(then) \
    "ldr r7, [sp, #64]\n\t" \
    "add.w r7, r7, r0\n\t" \
    "str r7, [sp, #56]\n\t" \
    "adr.w r7, " then " + 1\n\t" \
    "str r7, [sp, #60]\n\t" \
    "ldr pc, [sp, #52]\n"
/* From the sums p in `p` and q in `q` to (p + q) / 2 and (p - q) / 2. */
#define LAM_HALVES(p, q) \
    "adds " p ", " p ", " q "\n\t" \
    "asrs " p ", " p ", #1\n\t" \
    "sub.w " q ", " p ", " q "\n\t"
#define LAM_HALVES_2 LAM_HALVES("r2", "r8") LAM_HALVES("r3", "r9") LAM_HALVES("r4", "r11") LAM_HALVES("r5", "r12")
#define LAM_HALVES_3 \
    LAM_HALVES("r2", "r8") LAM_HALVES("r3", "r9") LAM_HALVES("r4", "r10") LAM_HALVES("r5", "r11") LAM_HALVES("r6", "r12") \
    LAM_HALVES("r7", "lr")
#define LAM_SAVED_2 "{r2, r3, r4, r5}"
#define LAM_SAVED_3 "{r2, r3, r4, r5, r6, r7}"
#define LAM_ALIKE_2 "mov r9, r8\n\tmov r12, r11\n\t"
#define LAM_ALIKE_3 "mov r9, r8\n\tmov r10, r8\n\tmov r12, r11\n\tmov lr, r11\n\t"
#define LAM_WINOGRAD_ASM(pairs, stores) \
    do { \
        register const void *panel_ __asm__("r0") = panel; \
        register uint8_t *y_ __asm__("r1") = y; \
        __asm__ volatile("push {r7}\n\t" \
                         "sub sp, sp, #84\n\t" \
                         "ldmia r0, {r2, r3, r4, r5, r6}\n\t" \
                         "str r6, [sp, #24]\n\t" \
                         "str r6, [sp, #36]\n\t" \
                         "str r1, [sp, #40]\n\t" \
                         "add.w r1, r1, r5\n\t" \
                         "str r1, [sp, #28]\n\t" \
                         "lsls r5, r5, #1\n\t" \
                         "str r5, [sp, #32]\n\t" \
                         "str r5, [sp, #44]\n\t" \
                         "str r2, [sp, #48]\n\t" \
                         "lsls r7, r4, #3\n\t" \
                         "movs r0, #" LAM_PIXELS_##pairs "\n\t" \
                         "mul r7, r7, r0\n\t" \
                         "str r7, [sp, #64]\n\t" \
                         "and r4, r4, #" LAM_WINOGRAD_LESS "\n\t" \
                         "movs r0, #" LAM_BYTES_##pairs##W "\n\t" \
                         "mul r4, r4, r0\n\t" \
                         ".p2align 2\n\t" \
                         "adr.w r7, 3f\n\t" \
                         "subs r7, r7, r4\n\t" \
                         "orr r7, r7, #1\n\t" \
                         "str r7, [sp, #52]\n\t" \
                         "mov r1, r3\n" \
                         "1:\n\t" \
                         "ldr r0, [sp, #48]\n\t" \
                         "ldrd r8, r11, [r1], #8\n\t" \
                         LAM_ALIKE_##pairs \
                         LAM_WINOGRAD_PLANE("4f") \
                         "2:\n\t" \
                         LAM_TURN_OF(LAM_NEXT_##pairs##W) \
                         "3:\n\t" \
                         "ldr r7, [sp, #56]\n\t" \
                         "cmp r0, r7\n\t" \
                         "bne.w 2b\n\t" \
                         "ldr pc, [sp, #60]\n" \
                         "4:\n\t" \
                         "stmia.w sp, " LAM_SUMS_##pairs "\n\t" \
                         "mov.w r8, #0\n\t" \
                         "mov.w r11, #0\n\t" \
                         LAM_ALIKE_##pairs \
                         LAM_WINOGRAD_PLANE("5f") \
                         "5:\n\t" \
                         "ldmia.w sp, " LAM_SAVED_##pairs "\n\t" \
                         LAM_HALVES_##pairs \
                         "stmia.w sp, " LAM_SAVED_##pairs "\n\t" \
                         LAM_WINOGRAD_PLANE("6f") \
                         "6:\n\t" \
                         "ldmia r1!, {r2, r3, r4}\n\t" \
                         "add r7, sp, #68\n\t" \
                         "stmia.w r7, {r2, r3, r4}\n\t" \
                         "add r7, sp, #24\n\t" \
                         "ldmia.w r7, {r5, r6, r7}\n\t" \
                         stores \
                         "str r6, [sp, #28]\n\t" \
                         "ldmia.w sp, " LAM_SUMS_##pairs "\n\t" \
                         LAM_WINOGRAD_PLANE("7f") \
                         "7:\n\t" \
                         "add r7, sp, #68\n\t" \
                         "ldmia.w r7, {r2, r3, r4}\n\t" \
                         "add r7, sp, #36\n\t" \
                         "ldmia.w r7, {r5, r6, r7}\n\t" \
                         stores \
                         "str r6, [sp, #40]\n\t" \
                         "bpl.w 1b\n\t" \
                         "add sp, sp, #84\n\t" \
                         "pop {r7}\n\t" \
                         : "+r"(panel_), "+r"(y_) \
                         : \
                         : "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory"); \
    } while (0)
#define LAM_WINOGRAD_OF(pairs, mode, type) \
    LAM_WINOGRAD_ASM(pairs, \
                     LAM_STORES_##pairs(LAM_BYTE_##mode, LAM_SATURATE_##type, LAM_BEFORE_##mode, LAM_BETWEEN_##mode))
#else
static inline void lam_winograd_plain(const lam_panel *panel, uint8_t *y, int32_t pairs, int mode, int type)
{
    const uint32_t *w = panel->weights;
    for (int last = 0; !last; y += 2) {
        int32_t sums[12];
        const uint32_t *const factors = lam_winograd_sums(panel, w, sums, pairs, 2);
        for (int32_t j = 0; j < 4 * pairs; j++) {
            const int32_t channel = j / pairs % 2, pixel = 2 * (j % pairs) + j / (2 * pairs);
            const int32_t place = lam_panel_place(factors[2], channel, mode);
            y[pixel * panel->channels + channel] = lam_panel_byte(sums[j], factors[channel], place, panel->centre, mode, type);
        }
        w = factors + 3 + 4 * panel->groups;
        last = (mode == LAM_PANEL_LINED) ? (factors[2] & 1u) != 0u : (factors[2] >> 31) != 0u;
    }
}

#define LAM_WINOGRAD_OF(pairs, mode, type) lam_winograd_plain(panel, y, pairs, LAM_PANEL_##mode, LAM_PANEL_##type)
#endif

/* Two or three pairs: the outputs of all channels, by mode and type. */
LAM_PANEL void lam_winograd_2_tflite_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(2, TFLITE, S8);
}

LAM_PANEL void lam_winograd_2_tflite_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(2, TFLITE, U8);
}

LAM_PANEL void lam_winograd_2_lined_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(2, LINED, S8);
}

LAM_PANEL void lam_winograd_2_lined_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(2, LINED, U8);
}

LAM_PANEL void lam_winograd_2_single_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(2, SINGLE, S8);
}

LAM_PANEL void lam_winograd_2_single_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(2, SINGLE, U8);
}

LAM_PANEL void lam_winograd_3_tflite_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(3, TFLITE, S8);
}

LAM_PANEL void lam_winograd_3_tflite_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(3, TFLITE, U8);
}

LAM_PANEL void lam_winograd_3_lined_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(3, LINED, S8);
}

LAM_PANEL void lam_winograd_3_lined_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(3, LINED, U8);
}

LAM_PANEL void lam_winograd_3_single_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(3, SINGLE, S8);
}

LAM_PANEL void lam_winograd_3_single_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WINOGRAD_OF(3, SINGLE, U8);
}

#endif /* LAM_ARMV7EM_WINOGRAD_H */
