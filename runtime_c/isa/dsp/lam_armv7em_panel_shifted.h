/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The panels of lam_armv7em_panel.h on weights that are stored as bytes, so much less than they are: to the sums of a pixel the
 * shift times the sum of its column is added, before the products.  What fills a column up is zero here.
 */
#ifndef LAM_ARMV7EM_PANEL_SHIFTED_H
#define LAM_ARMV7EM_PANEL_SHIFTED_H

#include "lam_armv7em_panel.h"

/* A panel, and what is added to the sums of each of its pixels. */
typedef struct lam_panel_shifted {
    lam_panel panel;
    int32_t more[3];
} lam_panel_shifted;

/* Makes what is added, of columns that are there, for weights that are `shift` less. */
LAM_INLINE void lam_panel_share(lam_panel_shifted *panel, int32_t shift, int32_t pixels)
{
    const uint32_t *x = panel->panel.column;
    int32_t sums[3] = {0, 0, 0};
    for (const uint32_t *const end = x + 2 * pixels * panel->panel.groups; x != end; x += 2 * pixels) {
        for (int32_t p = 0; p < pixels; p++) {
            sums[p] = lam_both(x[p], 0x00010001u, sums[p]);
            sums[p] = lam_both(x[pixels + p], 0x00010001u, sums[p]);
        }
    }
    for (int32_t p = 0; p < pixels; p++) {
        panel->more[p] = sums[p] * shift;
    }
}

LAM_PANEL void lam_panel_share_1(lam_panel_shifted *panel, int32_t shift)
{
    lam_panel_share(panel, shift, 1);
}

LAM_PANEL void lam_panel_share_2(lam_panel_shifted *panel, int32_t shift)
{
    lam_panel_share(panel, shift, 2);
}

LAM_PANEL void lam_panel_share_3(lam_panel_shifted *panel, int32_t shift)
{
    lam_panel_share(panel, shift, 3);
}

/* As lam_panel_odd. */
LAM_INLINE void lam_panel_odd_shifted(const lam_panel_shifted *panel, const uint32_t *w, uint8_t *y, int32_t pixels, int mode,
                                      int type)
{
    lam_panel_odd_and(&panel->panel, panel->more, w, y, pixels, 0, mode, type);
}

#if LAM_BLOCKS
/* Before the first group, from the biases of both channels. */
#define LAM_MORE_3 \
    "ldrd r2, r3, [sp, #28]\n\t" \
    "ldr r4, [sp, #36]\n\t" \
    "add.w r9, r8, r3\n\t" \
    "add.w r10, r8, r4\n\t" \
    "add.w r8, r8, r2\n\t" \
    "add.w r12, r11, r3\n\t" \
    "add.w lr, r11, r4\n\t" \
    "add.w r11, r11, r2\n\t"
#define LAM_MORE_2 \
    "ldrd r2, r3, [sp, #28]\n\t" \
    "add.w r9, r8, r3\n\t" \
    "add.w r8, r8, r2\n\t" \
    "add.w r12, r11, r3\n\t" \
    "add.w r11, r11, r2\n\t"
#define LAM_MORE_1 \
    "ldr r2, [sp, #28]\n\t" \
    "add.w r8, r8, r2\n\t" \
    "add.w r11, r11, r2\n\t"
#define LAM_PANEL_MORE "ldrd r2, r3, [r0, #20]\n\tldr r4, [r0, #28]\n\tstrd r2, r3, [sp, #28]\n\tstr r4, [sp, #36]\n\t"
#define LAM_PANEL_SHIFTED_OF(pixels, mode, type) \
    LAM_PANEL_ASM(LAM_PIXELS_##pixels, LAM_MORE_##pixels LAM_NEXT_##pixels, LAM_PANEL_TURN_OF(LAM_NEXT_##pixels), \
                  LAM_BYTES_##pixels, \
                  LAM_STORES_##pixels(LAM_BYTE_##mode, LAM_SATURATE_##type, LAM_BEFORE_##mode, LAM_BETWEEN_##mode), "40", \
                  LAM_PANEL_MORE)
#else
#define LAM_PANEL_SHIFTED_OF(pixels, mode, type) \
    lam_panel_plain_and(&panel->panel, panel->more, y, pixels, 0, LAM_PANEL_##mode, LAM_PANEL_##type)
#endif

LAM_PANEL void lam_panel_1_tflite_s8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(1, TFLITE, S8);
}

LAM_PANEL void lam_panel_1_tflite_u8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(1, TFLITE, U8);
}

LAM_PANEL void lam_panel_1_lined_s8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(1, LINED, S8);
}

LAM_PANEL void lam_panel_1_lined_u8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(1, LINED, U8);
}

LAM_PANEL void lam_panel_1_single_s8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(1, SINGLE, S8);
}

LAM_PANEL void lam_panel_1_single_u8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(1, SINGLE, U8);
}

LAM_PANEL void lam_panel_2_tflite_s8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(2, TFLITE, S8);
}

LAM_PANEL void lam_panel_2_tflite_u8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(2, TFLITE, U8);
}

LAM_PANEL void lam_panel_2_lined_s8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(2, LINED, S8);
}

LAM_PANEL void lam_panel_2_lined_u8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(2, LINED, U8);
}

LAM_PANEL void lam_panel_2_single_s8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(2, SINGLE, S8);
}

LAM_PANEL void lam_panel_2_single_u8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(2, SINGLE, U8);
}

LAM_PANEL void lam_panel_3_tflite_s8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(3, TFLITE, S8);
}

LAM_PANEL void lam_panel_3_tflite_u8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(3, TFLITE, U8);
}

LAM_PANEL void lam_panel_3_lined_s8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(3, LINED, S8);
}

LAM_PANEL void lam_panel_3_lined_u8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(3, LINED, U8);
}

LAM_PANEL void lam_panel_3_single_s8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(3, SINGLE, S8);
}

LAM_PANEL void lam_panel_3_single_u8_shifted(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_SHIFTED_OF(3, SINGLE, U8);
}

#endif /* LAM_ARMV7EM_PANEL_SHIFTED_H */
