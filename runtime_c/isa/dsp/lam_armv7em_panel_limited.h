/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The panels of lam_armv7em_panel.h whose outputs have bounds of their own, on weights of 8 bits and (`w`) on those that were
 * widened at compile time: LIMITED, as lam_armv7em_byte.h has it, two channels of a pixel at a time, which are stored together.
 */
#ifndef LAM_ARMV7EM_PANEL_LIMITED_H
#define LAM_ARMV7EM_PANEL_LIMITED_H

#include "lam_armv7em_panel_wide.h"

/* A panel, and the limits of its outputs. */
typedef struct lam_panel_limited {
    lam_panel panel;
    uint32_t limits;
} lam_panel_limited;

/* Moves `count` bytes of each pixel back, whose outputs begin `channels` apart. */
LAM_INLINE void lam_panel_limit(uint8_t *y, int32_t pixels, int32_t channels, int32_t count, uint32_t limits)
{
    for (int32_t p = 0; p < pixels; p++) {
        for (int32_t o = 0; o < count; o++) {
            uint8_t *const to = y + p * channels + o;
            *to = lam_limited_byte(*to, limits, LAM_PANEL_LIMITED);
        }
    }
}

/* As lam_panel_odd. */
LAM_INLINE void lam_panel_odd_limited(const lam_panel_limited *panel, const uint32_t *w, uint8_t *y, int32_t pixels, int wide,
                                      int mode)
{
    lam_panel_odd(&panel->panel, w, y, pixels, wide, mode, LAM_PANEL_LIMITED);
    lam_panel_limit(y, pixels, panel->panel.channels, 1, panel->limits);
}

#if LAM_BLOCKS
/* Sums to bytes as ever, which are put together by two: those of a pixel at r6, which is moved on, of others r7 bytes further
 * each.  The multipliers' registers have the limits then, which stand `at` bytes from sp. */
#define LAM_BYTES_OF(store, a, m) store(LAM_SATURATE_LIMITED, a, m)
#define LAM_LIMITS_LOADED(at) "ldr r2, [sp, #" at "]\n\tlsr r3, r2, #16\n\t"
#define LAM_TWO_STORED(a, b, to) \
    "orr.w " a ", " a ", " b ", lsl #8\n\t" \
    "uqadd8 " a ", " a ", r2\n\t" \
    "usub8 " a ", " a ", r3\n\t" \
    "strh " a ", " to "\n\t"
#define LAM_TWO_1 "[r6], #2"
#define LAM_LIMITED_3(store, before, between, at) \
    before LAM_BYTES_OF(store, "r9", "r2") LAM_BYTES_OF(store, "r10", "r2") LAM_BYTES_OF(store, "r8", "r2") \
    between LAM_BYTES_OF(store, "r12", "r3") LAM_BYTES_OF(store, "lr", "r3") LAM_BYTES_OF(store, "r11", "r3") \
    LAM_LIMITS_LOADED(at) LAM_TWO_STORED("r9", "r12", LAM_STORE_2) LAM_TWO_STORED("r10", "lr", LAM_STORE_3) \
    LAM_TWO_STORED("r8", "r11", LAM_TWO_1)
#define LAM_LIMITED_2(store, before, between, at) \
    before LAM_BYTES_OF(store, "r9", "r2") LAM_BYTES_OF(store, "r8", "r2") \
    between LAM_BYTES_OF(store, "r12", "r3") LAM_BYTES_OF(store, "r11", "r3") \
    LAM_LIMITS_LOADED(at) LAM_TWO_STORED("r9", "r12", LAM_STORE_2) LAM_TWO_STORED("r8", "r11", LAM_TWO_1)
#define LAM_LIMITED_1(store, before, between, at) \
    before LAM_BYTES_OF(store, "r8", "r2") between LAM_BYTES_OF(store, "r11", "r3") \
    LAM_LIMITS_LOADED(at) LAM_TWO_STORED("r8", "r11", LAM_TWO_1)
#define LAM_LIMITED_1W LAM_LIMITED_1
#define LAM_LIMITED_2W LAM_LIMITED_2
#define LAM_LIMITED_3W LAM_LIMITED_3
#define LAM_PANEL_LIMITED_OF(pixels, wide, mode) \
    LAM_PANEL_ASM(LAM_PIXELS_##pixels##wide, LAM_FIRST_##pixels##wide, LAM_PANEL_TURN_OF(LAM_NEXT_##pixels##wide), \
                  LAM_BYTES_##pixels##wide, \
                  LAM_LIMITED_##pixels##wide(LAM_BYTE_##mode, LAM_BEFORE_##mode, LAM_BETWEEN_##mode, "28"), "32", \
                  "ldr r7, [r0, #20]\n\tstr r7, [sp, #28]\n\t")
#else
static inline void lam_panel_limited_plain(const lam_panel_limited *panel, uint8_t *y, int32_t pixels, int wide, int mode)
{
    const lam_panel *const own = &panel->panel;
    lam_panel_plain(own, y, pixels, wide, mode, LAM_PANEL_LIMITED);
    lam_panel_limit(y, pixels, own->channels, own->channels & ~1, panel->limits);
}

#define LAM_IS_WIDE_ 0
#define LAM_IS_WIDE_W 1
#define LAM_PANEL_LIMITED_OF(pixels, wide, mode) \
    lam_panel_limited_plain(panel, y, pixels, LAM_IS_WIDE_##wide, LAM_PANEL_##mode)
#endif

LAM_PANEL void lam_panel_1_tflite_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(1, , TFLITE);
}

LAM_PANEL void lam_panel_1_lined_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(1, , LINED);
}

LAM_PANEL void lam_panel_1_single_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(1, , SINGLE);
}

LAM_PANEL void lam_panel_2_tflite_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(2, , TFLITE);
}

LAM_PANEL void lam_panel_2_lined_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(2, , LINED);
}

LAM_PANEL void lam_panel_2_single_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(2, , SINGLE);
}

LAM_PANEL void lam_panel_3_tflite_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(3, , TFLITE);
}

LAM_PANEL void lam_panel_3_lined_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(3, , LINED);
}

LAM_PANEL void lam_panel_3_single_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(3, , SINGLE);
}

LAM_PANEL void lam_panel_1w_tflite_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(1, W, TFLITE);
}

LAM_PANEL void lam_panel_1w_lined_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(1, W, LINED);
}

LAM_PANEL void lam_panel_1w_single_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(1, W, SINGLE);
}

LAM_PANEL void lam_panel_2w_tflite_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(2, W, TFLITE);
}

LAM_PANEL void lam_panel_2w_lined_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(2, W, LINED);
}

LAM_PANEL void lam_panel_2w_single_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(2, W, SINGLE);
}

LAM_PANEL void lam_panel_3w_tflite_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(3, W, TFLITE);
}

LAM_PANEL void lam_panel_3w_lined_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(3, W, LINED);
}

LAM_PANEL void lam_panel_3w_single_limited(const lam_panel_limited *panel, uint8_t *y)
{
    LAM_PANEL_LIMITED_OF(3, W, SINGLE);
}

#endif /* LAM_ARMV7EM_PANEL_LIMITED_H */
