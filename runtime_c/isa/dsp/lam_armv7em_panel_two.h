/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The panels of lam_armv7em_panel_few.h on weights of 2 bits: a word has two groups of two channels.
 */
#ifndef LAM_ARMV7EM_PANEL_TWO_H
#define LAM_ARMV7EM_PANEL_TWO_H

#include "lam_armv7em_panel_few.h"

/* As lam_panel_odd_few. */
LAM_INLINE void lam_panel_odd_two(const lam_panel_shifted *panel, const uint32_t *w, uint8_t *y, int32_t pixels, int own, int mode,
                                  int type)
{
    lam_panel_odd_bits(panel, w, y, pixels, own, 2, mode, type);
}

#if LAM_BLOCKS
/* The first group of a word, which is loaded, and the second one: 37 instructions for 48 products.  Both have as many bytes, for
 * the first has two short loads, the second a long one. */
#define LAM_GROUP_3T(loads, even, odd, even2, odd2) \
    loads "and.w r7, r6, r5" even "\n\t" \
          "smlad r9, r7, r3, r9\n\t" \
          "smlad r10, r7, r4, r10\n\t" \
          "smlad r8, r7, r2, r8\n\t" \
          "and.w r7, r6, r5, lsr #" even2 "\n\t" \
          "smlad r12, r7, r3, r12\n\t" \
          "smlad lr, r7, r4, lr\n\t" \
          "smlad r11, r7, r2, r11\n\t" \
          "and.w r7, r6, r5, lsr #" odd "\n\t" \
          "ldmia r0!, {r2, r3, r4}\n\t" \
          "smlad r8, r7, r2, r8\n\t" \
          "smlad r9, r7, r3, r9\n\t" \
          "smlad r10, r7, r4, r10\n\t" \
          "and.w r7, r6, r5, lsr #" odd2 "\n\t" \
          "smlad r11, r7, r2, r11\n\t" \
          "smlad r12, r7, r3, r12\n\t" \
          "smlad lr, r7, r4, lr\n\t"
#define LAM_BYTES_3T "70"

#define LAM_GROUP_2T(loads, even, odd, even2, odd2) \
    loads "and.w r10, r6, r5" even "\n\t" \
          "smlad r9, r10, r3, r9\n\t" \
          "smlad r8, r10, r2, r8\n\t" \
          "and.w r10, r6, r5, lsr #" even2 "\n\t" \
          "smlad r12, r10, r3, r12\n\t" \
          "smlad r11, r10, r2, r11\n\t" \
          "and.w r10, r6, r5, lsr #" odd "\n\t" \
          "smlad r8, r10, r4, r8\n\t" \
          "smlad r9, r10, r7, r9\n\t" \
          "and.w r10, r6, r5, lsr #" odd2 "\n\t" \
          "smlad r11, r10, r4, r11\n\t" \
          "smlad r12, r10, r7, r12\n\t"
#define LAM_BYTES_2T "52"

#define LAM_GROUP_1T(loads, even, odd, even2, odd2) \
    loads "and.w r10, r6, r5" even "\n\t" \
          "smlad r8, r10, r2, r8\n\t" \
          "and.w r10, r6, r5, lsr #" even2 "\n\t" \
          "smlad r11, r10, r2, r11\n\t" \
          "and.w r10, r6, r5, lsr #" odd "\n\t" \
          "smlad r8, r10, r3, r8\n\t" \
          "and.w r10, r6, r5, lsr #" odd2 "\n\t" \
          "smlad r11, r10, r3, r11\n\t"
#define LAM_BYTES_1T "36"

#define LAM_FIRST_OF(group, inputs) group("ldmia r1!, {r5}\n\tldmia r0!, " inputs "\n\t", "", "2", "4", "6")
#define LAM_SECOND_OF(group, inputs) group("ldmia.w r0!, " inputs "\n\t", ", lsr #8", "10", "12", "14")
#define LAM_INPUTS_1T "{r2, r3}"
#define LAM_INPUTS_2T "{r2, r3, r4, r7}"
#define LAM_INPUTS_3T "{r2, r3, r4}"
#define LAM_FIRST_1T LAM_FIRST_OF(LAM_GROUP_1T, LAM_INPUTS_1T)
#define LAM_FIRST_2T LAM_FIRST_OF(LAM_GROUP_2T, LAM_INPUTS_2T)
#define LAM_FIRST_3T LAM_FIRST_OF(LAM_GROUP_3T, LAM_INPUTS_3T)
/* A turn ends with the second group of a word; where it is not begun with a first one, that went before it. */
#if LAM_SMALL
#define LAM_TURN_TWO_OF(both) both
#else
#define LAM_TURN_TWO_OF(both) LAM_TURN_OF(both)
#endif
#define LAM_TURN_1T LAM_TURN_TWO_OF(LAM_FIRST_1T LAM_SECOND_OF(LAM_GROUP_1T, LAM_INPUTS_1T))
#define LAM_TURN_2T LAM_TURN_TWO_OF(LAM_FIRST_2T LAM_SECOND_OF(LAM_GROUP_2T, LAM_INPUTS_2T))
#define LAM_TURN_3T LAM_TURN_TWO_OF(LAM_FIRST_3T LAM_SECOND_OF(LAM_GROUP_3T, LAM_INPUTS_3T))
#define LAM_MASK_T "mov.w r6, #0x00030003\n\t"
#else
#define LAM_BITS_T 2
#endif

LAM_PANEL void lam_panel_1t_tflite_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, T, TFLITE, S8);
}

LAM_PANEL void lam_panel_1t_tflite_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, T, TFLITE, U8);
}

LAM_PANEL void lam_panel_1t_lined_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, T, LINED, S8);
}

LAM_PANEL void lam_panel_1t_lined_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, T, LINED, U8);
}

LAM_PANEL void lam_panel_1t_single_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, T, SINGLE, S8);
}

LAM_PANEL void lam_panel_1t_single_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, T, SINGLE, U8);
}

LAM_PANEL void lam_panel_1t_sums(const lam_panel_shifted *panel, int32_t *sums)
{
    LAM_FEW_SUMS_OF(1, T);
}

LAM_PANEL void lam_panel_2t_tflite_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, T, TFLITE, S8);
}

LAM_PANEL void lam_panel_2t_tflite_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, T, TFLITE, U8);
}

LAM_PANEL void lam_panel_2t_lined_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, T, LINED, S8);
}

LAM_PANEL void lam_panel_2t_lined_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, T, LINED, U8);
}

LAM_PANEL void lam_panel_2t_single_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, T, SINGLE, S8);
}

LAM_PANEL void lam_panel_2t_single_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, T, SINGLE, U8);
}

LAM_PANEL void lam_panel_2t_sums(const lam_panel_shifted *panel, int32_t *sums)
{
    LAM_FEW_SUMS_OF(2, T);
}

LAM_PANEL void lam_panel_3t_tflite_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, T, TFLITE, S8);
}

LAM_PANEL void lam_panel_3t_tflite_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, T, TFLITE, U8);
}

LAM_PANEL void lam_panel_3t_lined_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, T, LINED, S8);
}

LAM_PANEL void lam_panel_3t_lined_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, T, LINED, U8);
}

LAM_PANEL void lam_panel_3t_single_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, T, SINGLE, S8);
}

LAM_PANEL void lam_panel_3t_single_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, T, SINGLE, U8);
}

LAM_PANEL void lam_panel_3t_sums(const lam_panel_shifted *panel, int32_t *sums)
{
    LAM_FEW_SUMS_OF(3, T);
}

LAM_PANEL void lam_panel_1t_tflite_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, T, TFLITE, S8);
}

LAM_PANEL void lam_panel_1t_tflite_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, T, TFLITE, U8);
}

LAM_PANEL void lam_panel_1t_lined_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, T, LINED, S8);
}

LAM_PANEL void lam_panel_1t_lined_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, T, LINED, U8);
}

LAM_PANEL void lam_panel_1t_single_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, T, SINGLE, S8);
}

LAM_PANEL void lam_panel_1t_single_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, T, SINGLE, U8);
}

LAM_PANEL void lam_panel_2t_tflite_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, T, TFLITE, S8);
}

LAM_PANEL void lam_panel_2t_tflite_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, T, TFLITE, U8);
}

LAM_PANEL void lam_panel_2t_lined_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, T, LINED, S8);
}

LAM_PANEL void lam_panel_2t_lined_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, T, LINED, U8);
}

LAM_PANEL void lam_panel_2t_single_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, T, SINGLE, S8);
}

LAM_PANEL void lam_panel_2t_single_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, T, SINGLE, U8);
}

LAM_PANEL void lam_panel_3t_tflite_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, T, TFLITE, S8);
}

LAM_PANEL void lam_panel_3t_tflite_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, T, TFLITE, U8);
}

LAM_PANEL void lam_panel_3t_lined_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, T, LINED, S8);
}

LAM_PANEL void lam_panel_3t_lined_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, T, LINED, U8);
}

LAM_PANEL void lam_panel_3t_single_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, T, SINGLE, S8);
}

LAM_PANEL void lam_panel_3t_single_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, T, SINGLE, U8);
}

#endif /* LAM_ARMV7EM_PANEL_TWO_H */
