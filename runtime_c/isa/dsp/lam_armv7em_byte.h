/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * From a sum to its byte, as blocks of assembly take it on the DSP extension of Armv7E-M, and as their portable twins do.
 *
 * TFLITE multipliers stand doubled, as SMMLAR takes them beside the sum itself: without a sign, less 2^32.  LINED has an
 * addend in place of the shift: twice the output is the high half of the product and that.
 */
#ifndef LAM_ARMV7EM_BYTE_H
#define LAM_ARMV7EM_BYTE_H

#include "lam_base.h"
#include "lam_requant_fast.h"

/* How sums become outputs.  LOW is TFLITE where what is below the zero point ends at it: its rounding does not matter. */
enum { LAM_PANEL_TFLITE, LAM_PANEL_LOW, LAM_PANEL_SINGLE, LAM_PANEL_RAISED, LAM_PANEL_LINED, LAM_PANEL_S8, LAM_PANEL_U8 };

static inline uint8_t lam_panel_byte(int32_t acc, uint32_t multiplier, int32_t shift, int32_t centre, int mode, int type)
{
    int32_t twice;
    if (mode == LAM_PANEL_SINGLE) {
        twice = lam_twice_single(acc, (int32_t)multiplier, shift, centre);
    } else if (mode == LAM_PANEL_RAISED) {
        twice = lam_twice_raised(acc, (int32_t)multiplier, shift, centre);
    } else if (mode == LAM_PANEL_LINED) {
        twice = lam_high_product(acc, (int32_t)multiplier) + shift;
    } else {
        twice = lam_twice_tflite(acc, (int32_t)(multiplier >> 1), shift, centre);
    }
    return (uint8_t)((type == LAM_PANEL_S8) ? lam_halved_s8(twice) : lam_halved_u8(twice));
}

/* The same in assembly, of the sum `a`: multiplier `m`, shift r4, 2 * zero point + 1 in r5; of LINED r5 is the addend.
 * No flag changes. */
#define LAM_BYTE_TFLITE(saturate, a, m) \
    "smmlar " a ", " a ", " m ", " a "\n\t" \
    "sub.w " a ", " a ", " a ", lsr #31\n\t" \
    "asr.w " a ", " a ", r4\n\t" \
    "add.w " a ", " a ", r5\n\t" \
    saturate " " a ", #8, " a ", asr #1\n\t"
#define LAM_BYTE_LOW(saturate, a, m) \
    "smmlar " a ", " a ", " m ", " a "\n\t" \
    "asr.w " a ", " a ", r4\n\t" \
    "add.w " a ", " a ", r5\n\t" \
    saturate " " a ", #8, " a ", asr #1\n\t"
#define LAM_BYTE_SINGLE(saturate, a, m) \
    "smmul " a ", " a ", " m "\n\t" \
    "asr.w " a ", " a ", r4\n\t" \
    "add.w " a ", " a ", r5\n\t" \
    saturate " " a ", #8, " a ", asr #1\n\t"
#define LAM_BYTE_LINED(saturate, a, m) \
    "smmla " a ", " a ", " m ", r5\n\t" \
    saturate " " a ", #8, " a ", asr #1\n\t"
#define LAM_BYTE_RAISED(saturate, a, m) "lsl.w " a ", " a ", #6\n\t" LAM_BYTE_SINGLE(saturate, a, m)
#define LAM_SATURATE_S8 "ssat"
#define LAM_SATURATE_U8 "usat"

#endif /* LAM_ARMV7EM_BYTE_H */
