/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The panels of lam_armv7em_panel_two.h whose outputs have bounds of their own.
 */
#ifndef LAM_ARMV7EM_PANEL_TWO_LIMITED_H
#define LAM_ARMV7EM_PANEL_TWO_LIMITED_H

#include "lam_armv7em_panel_few_limited.h"
#include "lam_armv7em_panel_two.h"

/* As lam_panel_odd_few. */
LAM_INLINE void lam_panel_odd_two_limited(const lam_panel_few_limited *panel, const uint32_t *w, uint8_t *y, int32_t pixels,
                                          int own, int mode)
{
    lam_panel_odd_two(&panel->shifted, w, y, pixels, own, mode, LAM_PANEL_LIMITED);
    lam_panel_limit(y, pixels, panel->shifted.panel.channels, 1, panel->limits);
}

LAM_PANEL void lam_panel_1t_tflite_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(1, T, TFLITE);
}

LAM_PANEL void lam_panel_1t_lined_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(1, T, LINED);
}

LAM_PANEL void lam_panel_1t_single_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(1, T, SINGLE);
}

LAM_PANEL void lam_panel_2t_tflite_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(2, T, TFLITE);
}

LAM_PANEL void lam_panel_2t_lined_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(2, T, LINED);
}

LAM_PANEL void lam_panel_2t_single_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(2, T, SINGLE);
}

LAM_PANEL void lam_panel_3t_tflite_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(3, T, TFLITE);
}

LAM_PANEL void lam_panel_3t_lined_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(3, T, LINED);
}

LAM_PANEL void lam_panel_3t_single_limited(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_FEW_LIMITED_OF(3, T, SINGLE);
}

LAM_PANEL void lam_panel_1t_tflite_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(1, T, TFLITE);
}

LAM_PANEL void lam_panel_1t_lined_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(1, T, LINED);
}

LAM_PANEL void lam_panel_1t_single_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(1, T, SINGLE);
}

LAM_PANEL void lam_panel_2t_tflite_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(2, T, TFLITE);
}

LAM_PANEL void lam_panel_2t_lined_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(2, T, LINED);
}

LAM_PANEL void lam_panel_2t_single_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(2, T, SINGLE);
}

LAM_PANEL void lam_panel_3t_tflite_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(3, T, TFLITE);
}

LAM_PANEL void lam_panel_3t_lined_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(3, T, LINED);
}

LAM_PANEL void lam_panel_3t_single_limited_own(const lam_panel_few_limited *panel, uint8_t *y)
{
    LAM_OWN_LIMITED_OF(3, T, SINGLE);
}

#endif /* LAM_ARMV7EM_PANEL_TWO_LIMITED_H */
