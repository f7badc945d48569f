/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The panels of lam_armv7em_panel_few.h whose outputs have bounds of their own, as those of lam_armv7em_panel_limited.h.
 */
#ifndef LAM_ARMV7EM_PANEL_FEW_LIMITED_H
#define LAM_ARMV7EM_PANEL_FEW_LIMITED_H

#include "lam_armv7em_panel_few.h"
#include "lam_armv7em_panel_limited.h"

/* A panel with what is added to its sums, and the limits of its outputs. */
typedef struct lam_panel_few_limited {
    lam_panel_shifted shifted;
    uint32_t limits;
} lam_panel_few_limited;

/* As lam_panel_odd_few. */
LAM_INLINE void lam_panel_odd_few_limited(const lam_panel_few_limited *panel, const uint32_t *w, uint8_t *y, int32_t pixels,
                                          int own, int mode)
{
    lam_panel_odd_few(&panel->shifted, w, y, pixels, own, mode, LAM_PANEL_LIMITED);
    lam_panel_limit(y, pixels, panel->shifted.panel.channels, 1, panel->limits);
}

#if LAM_BLOCKS
#define LAM_FEW_LIMITED_ASM(pixels, letter, started, mode) \
    LAM_FEW_ASM_OF(pixels, letter, started, \
                   LAM_LIMITED_##pixels(LAM_BYTE_##mode, LAM_BEFORE_##mode, LAM_BETWEEN_##mode, "40"), "44", \
                   LAM_PANEL_MORE "ldr r7, [r0, #32]\n\tstr r7, [sp, #40]\n\t")
#define LAM_FEW_LIMITED_OF(pixels, letter, mode) LAM_FEW_LIMITED_ASM(pixels, letter, LAM_MORE_##pixels, mode)
#define LAM_OWN_LIMITED_OF(pixels, letter, mode) LAM_FEW_LIMITED_ASM(pixels, letter, LAM_OWN_##pixels, mode)
#else
static inline void lam_panel_few_limited_plain(const lam_panel_few_limited *panel, uint8_t *y, int32_t pixels, int own,
                                               int32_t bits, int mode)
{
    const int32_t channels = panel->shifted.panel.channels;
    lam_panel_plain_few(&panel->shifted, y, pixels, own, bits, mode, LAM_PANEL_LIMITED);
    lam_panel_limit(y, pixels, channels, channels & ~1, panel->limits);
}

#define LAM_FEW_LIMITED_OF(pixels, letter, mode) \
    lam_panel_few_limited_plain(panel, y, pixels, 0, LAM_BITS_##letter, LAM_PANEL_##mode)
#define LAM_OWN_LIMITED_OF(pixels, letter, mode) \
    lam_panel_few_limited_plain(panel, y, pixels, 1, LAM_BITS_##letter, LAM_PANEL_##mode)
#endif

LAM_PANEL void lam_panel_1q_tflite_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(1, Q, TFLITE);
}

LAM_PANEL void lam_panel_1q_lined_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(1, Q, LINED);
}

LAM_PANEL void lam_panel_1q_single_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(1, Q, SINGLE);
}

LAM_PANEL void lam_panel_2q_tflite_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(2, Q, TFLITE);
}

LAM_PANEL void lam_panel_2q_lined_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(2, Q, LINED);
}

LAM_PANEL void lam_panel_2q_single_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(2, Q, SINGLE);
}

LAM_PANEL void lam_panel_3q_tflite_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(3, Q, TFLITE);
}

LAM_PANEL void lam_panel_3q_lined_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(3, Q, LINED);
}

LAM_PANEL void lam_panel_3q_single_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(3, Q, SINGLE);
}

LAM_PANEL void lam_panel_1q_tflite_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(1, Q, TFLITE);
}

LAM_PANEL void lam_panel_1q_lined_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(1, Q, LINED);
}

LAM_PANEL void lam_panel_1q_single_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(1, Q, SINGLE);
}

LAM_PANEL void lam_panel_2q_tflite_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(2, Q, TFLITE);
}

LAM_PANEL void lam_panel_2q_lined_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(2, Q, LINED);
}

LAM_PANEL void lam_panel_2q_single_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(2, Q, SINGLE);
}

LAM_PANEL void lam_panel_3q_tflite_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(3, Q, TFLITE);
}

LAM_PANEL void lam_panel_3q_lined_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(3, Q, LINED);
}

LAM_PANEL void lam_panel_3q_single_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(3, Q, SINGLE);
}

#endif /* LAM_ARMV7EM_PANEL_FEW_LIMITED_H */
