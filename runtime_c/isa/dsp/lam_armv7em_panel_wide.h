/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The panels of lam_armv7em_panel.h on weights that were widened at compile time: for each group the pair of the first and
 * third weight of both channels, then the pair of the second and fourth.  Twice the flash, and no SXTB16.
 */
#ifndef LAM_ARMV7EM_PANEL_WIDE_H
#define LAM_ARMV7EM_PANEL_WIDE_H

#include "lam_armv7em_panel.h"

#if LAM_BLOCKS
/* 16 instructions for 24 products. */
#define LAM_GROUP_3W(b1, b2, d1, d2) \
    "ldrd r5, r6, [r1], #8\n\t" \
    "ldmia r0!, {r2, r3, r4}\n\t" \
    "smlad r9, r5, r3, " b1 "\n\t" \
    "smlad r10, r5, r4, " b2 "\n\t" \
    "smlad r8, r5, r2, r8\n\t" \
    "smlad r12, r6, r3, " d1 "\n\t" \
    "smlad lr, r6, r4, " d2 "\n\t" \
    "smlad r11, r6, r2, r11\n\t" \
    "ldrd r5, r6, [r1], #8\n\t" \
    "ldmia r0!, {r2, r3, r4}\n\t" \
    "smlad r8, r5, r2, r8\n\t" \
    "smlad r9, r5, r3, r9\n\t" \
    "smlad r10, r5, r4, r10\n\t" \
    "smlad r11, r6, r2, r11\n\t" \
    "smlad r12, r6, r3, r12\n\t" \
    "smlad lr, r6, r4, lr\n\t"
#define LAM_FIRST_3W LAM_GROUP_3W("r8", "r8", "r11", "r11")
#define LAM_NEXT_3W LAM_GROUP_3W("r9", "r10", "r12", "lr")
#define LAM_BYTES_3W "60"

#define LAM_GROUP_2W(b0, b1) \
    "ldmia.w r1!, {r5, r6, r10, lr}\n\t" \
    "ldmia r0!, {r2, r3, r4, r7}\n\t" \
    "smlad r9, r5, r3, " b0 "\n\t" \
    "smlad r8, r5, r2, r8\n\t" \
    "smlad r12, r6, r3, " b1 "\n\t" \
    "smlad r11, r6, r2, r11\n\t" \
    "smlad r8, r10, r4, r8\n\t" \
    "smlad r9, r10, r7, r9\n\t" \
    "smlad r11, lr, r4, r11\n\t" \
    "smlad r12, lr, r7, r12\n\t"
#define LAM_FIRST_2W LAM_GROUP_2W("r8", "r11")
#define LAM_NEXT_2W LAM_GROUP_2W("r9", "r12")
#define LAM_BYTES_2W "38"

#define LAM_NEXT_1W \
    "ldmia.w r1!, {r5, r6, r10, lr}\n\t" \
    "ldmia r0!, {r2, r3}\n\t" \
    "smlad r8, r5, r2, r8\n\t" \
    "smlad r11, r6, r2, r11\n\t" \
    "smlad r8, r10, r3, r8\n\t" \
    "smlad r11, lr, r3, r11\n\t"
#define LAM_FIRST_1W LAM_NEXT_1W
#define LAM_BYTES_1W "22"

#define LAM_PIXELS_1W LAM_PIXELS_1
#define LAM_PIXELS_2W LAM_PIXELS_2
#define LAM_PIXELS_3W LAM_PIXELS_3
#define LAM_STORES_1W LAM_STORES_1
#define LAM_STORES_2W LAM_STORES_2
#define LAM_STORES_3W LAM_STORES_3
#define LAM_SUMS_1W LAM_SUMS_1
#define LAM_SUMS_2W LAM_SUMS_2
#define LAM_SUMS_3W LAM_SUMS_3
#define LAM_WIDE_OF(pixels, mode, type) LAM_PANEL_OF(pixels##W, mode, type)
#define LAM_WIDE_SUMS_OF(pixels) LAM_PANEL_SUMS_OF(pixels##W)
#else
#define LAM_WIDE_OF(pixels, mode, type) lam_panel_plain(panel, y, pixels, 1, LAM_PANEL_##mode, LAM_PANEL_##type)
#define LAM_WIDE_SUMS_OF(pixels) lam_panel_sums_plain(panel, sums, pixels, 1)
#endif

LAM_PANEL void lam_panel_1w_tflite_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(1, TFLITE, S8);
}

LAM_PANEL void lam_panel_1w_tflite_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(1, TFLITE, U8);
}

LAM_PANEL void lam_panel_1w_lined_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(1, LINED, S8);
}

LAM_PANEL void lam_panel_1w_lined_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(1, LINED, U8);
}

LAM_PANEL void lam_panel_1w_single_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(1, SINGLE, S8);
}

LAM_PANEL void lam_panel_1w_single_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(1, SINGLE, U8);
}

LAM_PANEL void lam_panel_1w_sums(const lam_panel *panel, int32_t *sums)
{
    LAM_WIDE_SUMS_OF(1);
}

LAM_PANEL void lam_panel_2w_tflite_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(2, TFLITE, S8);
}

LAM_PANEL void lam_panel_2w_tflite_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(2, TFLITE, U8);
}

LAM_PANEL void lam_panel_2w_lined_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(2, LINED, S8);
}

LAM_PANEL void lam_panel_2w_lined_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(2, LINED, U8);
}

LAM_PANEL void lam_panel_2w_single_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(2, SINGLE, S8);
}

LAM_PANEL void lam_panel_2w_single_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(2, SINGLE, U8);
}

LAM_PANEL void lam_panel_2w_sums(const lam_panel *panel, int32_t *sums)
{
    LAM_WIDE_SUMS_OF(2);
}

LAM_PANEL void lam_panel_3w_tflite_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(3, TFLITE, S8);
}

LAM_PANEL void lam_panel_3w_tflite_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(3, TFLITE, U8);
}

LAM_PANEL void lam_panel_3w_lined_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(3, LINED, S8);
}

LAM_PANEL void lam_panel_3w_lined_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(3, LINED, U8);
}

LAM_PANEL void lam_panel_3w_single_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(3, SINGLE, S8);
}

LAM_PANEL void lam_panel_3w_single_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_WIDE_OF(3, SINGLE, U8);
}

LAM_PANEL void lam_panel_3w_sums(const lam_panel *panel, int32_t *sums)
{
    LAM_WIDE_SUMS_OF(3);
}

#endif /* LAM_ARMV7EM_PANEL_WIDE_H */
