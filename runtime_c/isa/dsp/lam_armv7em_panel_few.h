/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The panels of lam_armv7em_panel.h on weights of 4 bits: a field is a weight plus 8, so that none has a sign, and a mask makes
 * a pair of two.  Each group of two channels is a word:
 *
 *   bits 0 and 16 on      the pair of the first and third weight of the first channel
 *   bits 4 and 20 on      its second and fourth
 *   bits 8 to 15, 24 on   the same of the second channel; 0 of a channel without a partner
 *
 * To the sums of a pixel -8 times the sum of its column is added, before the products.  In `own` panels channels have zero
 * points of their own: behind the biases a word has what each weight is more than its field, that of the first channel in the
 * lower half; `more` is the sum of the column itself.  Sums that wait in memory have none of that.  What fills a column up is
 * zero.
 */
#ifndef LAM_ARMV7EM_PANEL_FEW_H
#define LAM_ARMV7EM_PANEL_FEW_H

#include "lam_armv7em_panel_shifted.h"

/* Adds what a pixel adds to the sums of `channels` channels, then the products, [channel][pixel]; returns the place behind. */
static inline const uint32_t *lam_panel_add_few(const lam_panel_shifted *panel, const uint32_t *w, int32_t *sums, int32_t pixels,
                                                int32_t channels, int own)
{
    const uint32_t *x = panel->panel.column;
    for (int32_t j = 0; j < channels; j++) {
        const int32_t times = own ? lam_low((j == 0) ? w[0] : w[0] >> 16) : 1;
        for (int32_t p = 0; p < pixels; p++) {
            sums[j * pixels + p] += panel->more[p] * times;
        }
    }
    w += own ? 1 : 0;
    for (int32_t i = 0; i < panel->panel.groups; i++, x += 2 * pixels, w++) {
        for (int32_t j = 0; j < channels; j++) {
            const uint32_t even = (w[0] >> (8 * j)) & 0x000F000Fu, odd = (w[0] >> (8 * j + 4)) & 0x000F000Fu;
            for (int32_t p = 0; p < pixels; p++) {
                sums[j * pixels + p] = lam_both(even, x[p], sums[j * pixels + p]);
                sums[j * pixels + p] = lam_both(odd, x[pixels + p], sums[j * pixels + p]);
            }
        }
    }
    return w;
}

/* As lam_panel_odd; behind the bias stands what is more, of `own`. */
LAM_INLINE void lam_panel_odd_few(const lam_panel_shifted *panel, const uint32_t *w, uint8_t *y, int32_t pixels, int own, int mode,
                                  int type)
{
    int32_t sums[3];
    for (int32_t p = 0; p < pixels; p++) {
        sums[p] = (int32_t)w[0];
    }
    w = lam_panel_add_few(panel, w + 1, sums, pixels, 1, own);
    for (int32_t p = 0; p < pixels; p++) {
        y[p * panel->panel.channels] = lam_panel_byte(sums[p], w[0], (int32_t)w[1], panel->panel.centre, mode, type);
    }
}

#if LAM_BLOCKS
/* As the groups of bytes, with the mask in r6: 19 instructions for 24 products. */
#define LAM_GROUP_3Q \
    "ldr r5, [r1], #4\n\t" \
    "ldmia r0!, {r2, r3, r4}\n\t" \
    "and.w r7, r6, r5\n\t" \
    "smlad r9, r7, r3, r9\n\t" \
    "smlad r10, r7, r4, r10\n\t" \
    "smlad r8, r7, r2, r8\n\t" \
    "and.w r7, r6, r5, lsr #8\n\t" \
    "smlad r12, r7, r3, r12\n\t" \
    "smlad lr, r7, r4, lr\n\t" \
    "smlad r11, r7, r2, r11\n\t" \
    "and.w r7, r6, r5, lsr #4\n\t" \
    "ldmia r0!, {r2, r3, r4}\n\t" \
    "smlad r8, r7, r2, r8\n\t" \
    "smlad r9, r7, r3, r9\n\t" \
    "smlad r10, r7, r4, r10\n\t" \
    "and.w r7, r6, r5, lsr #12\n\t" \
    "smlad r11, r7, r2, r11\n\t" \
    "smlad r12, r7, r3, r12\n\t" \
    "smlad lr, r7, r4, lr\n\t"
#define LAM_BYTES_3Q "72"

#define LAM_GROUP_2Q \
    "ldr r5, [r1], #4\n\t" \
    "ldmia r0!, {r2, r3, r4, r7}\n\t" \
    "and.w r10, r6, r5\n\t" \
    "smlad r9, r10, r3, r9\n\t" \
    "smlad r8, r10, r2, r8\n\t" \
    "and.w r10, r6, r5, lsr #8\n\t" \
    "smlad r12, r10, r3, r12\n\t" \
    "smlad r11, r10, r2, r11\n\t" \
    "and.w r10, r6, r5, lsr #4\n\t" \
    "smlad r8, r10, r4, r8\n\t" \
    "smlad r9, r10, r7, r9\n\t" \
    "and.w r10, r6, r5, lsr #12\n\t" \
    "smlad r11, r10, r4, r11\n\t" \
    "smlad r12, r10, r7, r12\n\t"
#define LAM_BYTES_2Q "54"

#define LAM_GROUP_1Q \
    "ldr r5, [r1], #4\n\t" \
    "ldmia r0!, {r2, r3}\n\t" \
    "and.w r10, r6, r5\n\t" \
    "smlad r8, r10, r2, r8\n\t" \
    "and.w r10, r6, r5, lsr #8\n\t" \
    "smlad r11, r10, r2, r11\n\t" \
    "and.w r10, r6, r5, lsr #4\n\t" \
    "smlad r8, r10, r3, r8\n\t" \
    "and.w r10, r6, r5, lsr #12\n\t" \
    "smlad r11, r10, r3, r11\n\t"
#define LAM_BYTES_1Q "38"

/* Before the first group, from the biases of both channels: LAM_MORE_*, or those times what each channel is more. */
#define LAM_MASK "mov.w r6, #0x000f000f\n\t"
#define LAM_OWN "ldr r5, [r1], #4\n\tsxth r7, r5\n\tasrs r5, r5, #16\n\t"
#define LAM_OWN_3 \
    LAM_OWN "ldrd r2, r3, [sp, #28]\n\t" \
            "ldr r4, [sp, #36]\n\t" \
            "mla r9, r3, r7, r8\n\t" \
            "mla r10, r4, r7, r8\n\t" \
            "mla r8, r2, r7, r8\n\t" \
            "mla r12, r3, r5, r11\n\t" \
            "mla lr, r4, r5, r11\n\t" \
            "mla r11, r2, r5, r11\n\t"
#define LAM_OWN_2 \
    LAM_OWN "ldrd r2, r3, [sp, #28]\n\t" \
            "mla r9, r3, r7, r8\n\t" \
            "mla r8, r2, r7, r8\n\t" \
            "mla r12, r3, r5, r11\n\t" \
            "mla r11, r2, r5, r11\n\t"
#define LAM_OWN_1 \
    LAM_OWN "ldr r2, [sp, #28]\n\t" \
            "mla r8, r2, r7, r8\n\t" \
            "mla r11, r2, r5, r11\n\t"
/* The same of sums that are there. */
#define LAM_ADDED_3 \
    "ldrd r2, r3, [sp, #28]\n\t" \
    "ldr r4, [sp, #36]\n\t" \
    "add.w r8, r8, r2\n\t" \
    "add.w r9, r9, r3\n\t" \
    "add.w r10, r10, r4\n\t" \
    "add.w r11, r11, r2\n\t" \
    "add.w r12, r12, r3\n\t" \
    "add.w lr, lr, r4\n\t"
#define LAM_ADDED_2 \
    "ldrd r2, r3, [sp, #28]\n\t" \
    "add.w r8, r8, r2\n\t" \
    "add.w r9, r9, r3\n\t" \
    "add.w r11, r11, r2\n\t" \
    "add.w r12, r12, r3\n\t"
#define LAM_ADDED_1 LAM_MORE_1
#define LAM_FEW_OF(pixels, first, mode, type) \
    LAM_PANEL_ASM(LAM_PIXELS_##pixels, first LAM_MASK LAM_GROUP_##pixels##Q, LAM_GROUP_##pixels##Q, LAM_BYTES_##pixels##Q, \
                  LAM_STORES_##pixels(LAM_BYTE_##mode, LAM_SATURATE_##type, LAM_BEFORE_##mode, LAM_BETWEEN_##mode), "40", \
                  LAM_PANEL_MORE)
#define LAM_PANEL_FEW_OF(pixels, mode, type) LAM_FEW_OF(pixels, LAM_MORE_##pixels, mode, type)
#define LAM_PANEL_OWN_OF(pixels, mode, type) LAM_FEW_OF(pixels, LAM_OWN_##pixels, mode, type)
#define LAM_FEW_SUMS_OF(pixels) \
    LAM_PANEL_SUMS_ASM(LAM_PIXELS_##pixels, LAM_SUMS_##pixels, LAM_ADDED_##pixels LAM_MASK LAM_GROUP_##pixels##Q, \
                       LAM_GROUP_##pixels##Q, LAM_BYTES_##pixels##Q, "40", LAM_PANEL_MORE)
#else
static inline void lam_panel_plain_few(const lam_panel_shifted *panel, uint8_t *y, int32_t pixels, int own, int mode, int type)
{
    const uint32_t *w = panel->panel.weights;
    for (int last = 0; !last; y += 2, w += 3) {
        int32_t sums[6];
        for (int32_t j = 0; j < 2 * pixels; j++) {
            sums[j] = (int32_t)w[j / pixels];
        }
        w = lam_panel_add_few(panel, w + 2, sums, pixels, 2, own);
        last = lam_panel_store(&panel->panel, w, sums, y, pixels, mode, type);
    }
}

static inline void lam_panel_sums_plain_few(const lam_panel_shifted *panel, int32_t *sums, int32_t pixels)
{
    const uint32_t *w = panel->panel.weights;
    for (const int32_t *const end = sums + pixels * panel->panel.channels; sums != end; sums += 2 * pixels) {
        w = lam_panel_add_few(panel, w, sums, pixels, 2, 0);
    }
}

#define LAM_PANEL_FEW_OF(pixels, mode, type) lam_panel_plain_few(panel, y, pixels, 0, LAM_PANEL_##mode, LAM_PANEL_##type)
#define LAM_PANEL_OWN_OF(pixels, mode, type) lam_panel_plain_few(panel, y, pixels, 1, LAM_PANEL_##mode, LAM_PANEL_##type)
#define LAM_FEW_SUMS_OF(pixels) lam_panel_sums_plain_few(panel, sums, pixels)
#endif

LAM_PANEL void lam_panel_1q_tflite_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, TFLITE, S8);
}

LAM_PANEL void lam_panel_1q_tflite_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, TFLITE, U8);
}

LAM_PANEL void lam_panel_1q_lined_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, LINED, S8);
}

LAM_PANEL void lam_panel_1q_lined_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, LINED, U8);
}

LAM_PANEL void lam_panel_1q_single_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, SINGLE, S8);
}

LAM_PANEL void lam_panel_1q_single_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, SINGLE, U8);
}

LAM_PANEL void lam_panel_1q_sums(const lam_panel_shifted *panel, int32_t *sums)
{
    LAM_FEW_SUMS_OF(1);
}

LAM_PANEL void lam_panel_2q_tflite_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, TFLITE, S8);
}

LAM_PANEL void lam_panel_2q_tflite_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, TFLITE, U8);
}

LAM_PANEL void lam_panel_2q_lined_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, LINED, S8);
}

LAM_PANEL void lam_panel_2q_lined_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, LINED, U8);
}

LAM_PANEL void lam_panel_2q_single_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, SINGLE, S8);
}

LAM_PANEL void lam_panel_2q_single_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, SINGLE, U8);
}

LAM_PANEL void lam_panel_2q_sums(const lam_panel_shifted *panel, int32_t *sums)
{
    LAM_FEW_SUMS_OF(2);
}

LAM_PANEL void lam_panel_3q_tflite_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, TFLITE, S8);
}

LAM_PANEL void lam_panel_3q_tflite_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, TFLITE, U8);
}

LAM_PANEL void lam_panel_3q_lined_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, LINED, S8);
}

LAM_PANEL void lam_panel_3q_lined_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, LINED, U8);
}

LAM_PANEL void lam_panel_3q_single_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, SINGLE, S8);
}

LAM_PANEL void lam_panel_3q_single_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, SINGLE, U8);
}

LAM_PANEL void lam_panel_3q_sums(const lam_panel_shifted *panel, int32_t *sums)
{
    LAM_FEW_SUMS_OF(3);
}

LAM_PANEL void lam_panel_1q_tflite_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, TFLITE, S8);
}

LAM_PANEL void lam_panel_1q_tflite_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, TFLITE, U8);
}

LAM_PANEL void lam_panel_1q_lined_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, LINED, S8);
}

LAM_PANEL void lam_panel_1q_lined_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, LINED, U8);
}

LAM_PANEL void lam_panel_1q_single_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, SINGLE, S8);
}

LAM_PANEL void lam_panel_1q_single_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, SINGLE, U8);
}

LAM_PANEL void lam_panel_2q_tflite_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, TFLITE, S8);
}

LAM_PANEL void lam_panel_2q_tflite_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, TFLITE, U8);
}

LAM_PANEL void lam_panel_2q_lined_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, LINED, S8);
}

LAM_PANEL void lam_panel_2q_lined_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, LINED, U8);
}

LAM_PANEL void lam_panel_2q_single_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, SINGLE, S8);
}

LAM_PANEL void lam_panel_2q_single_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, SINGLE, U8);
}

LAM_PANEL void lam_panel_3q_tflite_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, TFLITE, S8);
}

LAM_PANEL void lam_panel_3q_tflite_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, TFLITE, U8);
}

LAM_PANEL void lam_panel_3q_lined_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, LINED, S8);
}

LAM_PANEL void lam_panel_3q_lined_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, LINED, U8);
}

LAM_PANEL void lam_panel_3q_single_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, SINGLE, S8);
}

LAM_PANEL void lam_panel_3q_single_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, SINGLE, U8);
}

#endif /* LAM_ARMV7EM_PANEL_FEW_H */
