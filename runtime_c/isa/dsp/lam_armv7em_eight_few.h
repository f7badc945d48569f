/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Pointwise layers of eight inputs as those of lam_armv7em_eight.h, on weights of 4 and of 2 bits in the order of
 * lam_armv7em_panel_few.h.  Before pixels pass by fields of a channel become what its weights are, with zero points of their own
 * or without, so that nothing is added to the sums of a pixel.
 */
#ifndef LAM_ARMV7EM_EIGHT_FEW_H
#define LAM_ARMV7EM_EIGHT_FEW_H

#include "lam_armv7em_eight.h"
#include "lam_armv7em_panel_two.h"

#if LAM_BLOCKS
/* The weights of a channel, whose words begin `first` and `second` bytes from r7: `less` makes r5, which is added to each. */
#define LAM_EIGHT_FIELDS(first, second, mask, less, even, odd, even2, odd2) \
    "ldr r8, [r7, #" first "]\n\t" \
    "ldr r10, [r7, #" second "]\n\t" \
    "mov.w r6, #" mask "\n\t" less "and.w r9, r6, r8, lsr #" odd "\n\t" \
    "and.w r8, r6, r8" even "\n\t" \
    "and.w r11, r6, r10, lsr #" odd2 "\n\t" \
    "and.w r10, r6, r10" even2 "\n\t" \
    "sadd16 r8, r8, r5\n\t" \
    "sadd16 r9, r9, r5\n\t" \
    "sadd16 r10, r10, r5\n\t" \
    "sadd16 r11, r11, r5\n\t"
#define LAM_EIGHT_Q_0(first, second, less) LAM_EIGHT_FIELDS(first, second, "0x000f000f", less, "", "4", "", "4")
#define LAM_EIGHT_Q_1(first, second, less) \
    LAM_EIGHT_FIELDS(first, second, "0x000f000f", less, ", lsr #8", "12", ", lsr #8", "12")
#define LAM_EIGHT_T_0(at, less) LAM_EIGHT_FIELDS(at, at, "0x00030003", less, "", "2", ", lsr #8", "10")
#define LAM_EIGHT_T_1(at, less) LAM_EIGHT_FIELDS(at, at, "0x00030003", less, ", lsr #4", "6", ", lsr #12", "14")
/* -8 and -2 twice, and what stands of a channel of `own`. */
#define LAM_EIGHT_LESS_Q "mvn.w r5, #0x00070007\n\t"
#define LAM_EIGHT_LESS_T "mvn.w r5, #0x00010001\n\t"
#define LAM_EIGHT_LESS_0 "ldr r5, [r7, #8]\n\tpkhbt r5, r5, r5, lsl #16\n\t"
#define LAM_EIGHT_LESS_1 "ldr r5, [r7, #8]\n\tpkhtb r5, r5, r5, asr #16\n\t"
#define LAM_EIGHT_Q(n) LAM_EIGHT_Q_##n("8", "12", LAM_EIGHT_LESS_Q)
#define LAM_EIGHT_Q_OWN(n) LAM_EIGHT_Q_##n("12", "16", LAM_EIGHT_LESS_##n)
#define LAM_EIGHT_T(n) LAM_EIGHT_T_##n("8", LAM_EIGHT_LESS_T)
#define LAM_EIGHT_T_OWN(n) LAM_EIGHT_T_##n("12", LAM_EIGHT_LESS_##n)
#define LAM_EIGHT_FACTORS_Q "16"
#define LAM_EIGHT_FACTORS_Q_OWN "20"
#define LAM_EIGHT_FACTORS_T "12"
#define LAM_EIGHT_FACTORS_T_OWN "16"

/* As LAM_EIGHT, on the weights that a letter names. */
#define LAM_EIGHT_FEW(panel, outputs, count, apart, type, letter) \
    LAM_EIGHT_ASM(panel, outputs, count, apart, type, LAM_EIGHT_##letter, LAM_EIGHT_FACTORS_##letter)
#else
static inline void lam_eight_plain_few(const lam_panel *panel, uint8_t *y, int32_t count, int own, int32_t bits, int type)
{
    lam_panel_shifted one = {.panel = *panel, .more = {0, 0, 0}};
    for (int32_t p = 0; p < count; p++, one.panel.column += 4, y += panel->channels) {
        lam_panel_few_share_1(&one, own ? 1 : ((bits == 4) ? -8 : -2));
        lam_panel_plain_few(&one, y, 1, own, bits, LAM_PANEL_LINED, type);
    }
}
#endif

#endif /* LAM_ARMV7EM_EIGHT_FEW_H */
