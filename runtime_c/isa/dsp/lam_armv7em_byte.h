/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * From a sum to its byte, as blocks of assembly take it on the DSP extension of Armv7E-M, and as their portable twins do.
 *
 * TFLITE multipliers stand doubled, as SMMLAR takes them beside the sum itself: without a sign, less 2^32.  LINED has an
 * addend in place of the shift: twice the output is the high half of the product and that.
 *
 * Outputs with bounds of their own are moved so that the lower one is that of a type, to which they are saturated as ever; a
 * sum of bytes moves them back, and stops at the upper one.  Of LIMITED that is 255, from where they are moved on without a
 * bound.  What they are moved by stands in `limits`: in bytes 0 and 1 what is added, in bytes 2 and 3 what LIMITED takes off.
 */
#ifndef LAM_ARMV7EM_BYTE_H
#define LAM_ARMV7EM_BYTE_H

#include "lam_base.h"
#include "lam_requant_fast.h"

/* How sums become outputs.  LOW is TFLITE where what is below the zero point ends at it: its rounding does not matter. */
enum { LAM_PANEL_TFLITE, LAM_PANEL_LOW, LAM_PANEL_SINGLE, LAM_PANEL_RAISED, LAM_PANEL_LINED };

/* The type that outputs are saturated to.  FLOOR: moved back by a sum that saturates to the same sign's 8 bits; LIMITED: both. */
enum { LAM_PANEL_S8, LAM_PANEL_U8, LAM_PANEL_FLOOR_S8, LAM_PANEL_FLOOR_U7, LAM_PANEL_FLOOR_U8, LAM_PANEL_LIMITED };

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
    if (type == LAM_PANEL_FLOOR_U7) {
        return (uint8_t)lam_halved_u7(twice);
    }
    return (uint8_t)((type == LAM_PANEL_S8 || type == LAM_PANEL_FLOOR_S8) ? lam_halved_s8(twice) : lam_halved_u8(twice));
}

/* A byte of a type with bounds of its own, moved back. */
static inline uint8_t lam_limited_byte(uint8_t byte, uint32_t limits, int type)
{
    const int32_t added = (int32_t)(limits & 0xFFu), taken = (int32_t)(limits >> 24);
    if (type == LAM_PANEL_FLOOR_S8 || type == LAM_PANEL_FLOOR_U7) {
        return (uint8_t)lam_clamp_i32((int8_t)byte + added, -128, 127);
    }
    return (uint8_t)(lam_clamp_i32(byte + added, 0, 255) - taken);
}

/* The same in assembly, of the sum `a`: multiplier `m`, shift r4, 2 * zero point + 1 in r5; of LINED r5 is the addend.
 * No flag changes. */
#define LAM_BYTE_TFLITE(saturate, a, m) \
    "smmlar " a ", " a ", " m ", " a "\n\t" \
    "sub.w " a ", " a ", " a ", lsr #31\n\t" \
    "asr.w " a ", " a ", r4\n\t" \
    "add.w " a ", " a ", r5\n\t" saturate(a)
#define LAM_BYTE_LOW(saturate, a, m) \
    "smmlar " a ", " a ", " m ", " a "\n\t" \
    "asr.w " a ", " a ", r4\n\t" \
    "add.w " a ", " a ", r5\n\t" saturate(a)
#define LAM_BYTE_SINGLE(saturate, a, m) \
    "smmul " a ", " a ", " m "\n\t" \
    "asr.w " a ", " a ", r4\n\t" \
    "add.w " a ", " a ", r5\n\t" saturate(a)
#define LAM_BYTE_LINED(saturate, a, m) \
    "smmla " a ", " a ", " m ", r5\n\t" saturate(a)
#define LAM_BYTE_RAISED(saturate, a, m) "lsl.w " a ", " a ", #6\n\t" LAM_BYTE_SINGLE(saturate, a, m)
/* Half of what is in `a`, saturated to the type; then, of bounds of its own, moved back by the limits in `l`. */
#define LAM_SATURATE_S8(a) "ssat " a ", #8, " a ", asr #1\n\t"
#define LAM_SATURATE_U8(a) "usat " a ", #8, " a ", asr #1\n\t"
#define LAM_SATURATE_FLOOR_S8(a) LAM_SATURATE_S8(a)
#define LAM_SATURATE_FLOOR_U7(a) "usat " a ", #7, " a ", asr #1\n\t"
#define LAM_SATURATE_FLOOR_U8(a) LAM_SATURATE_U8(a)
#define LAM_SATURATE_LIMITED(a) LAM_SATURATE_U8(a)
#define LAM_LIMIT_S8(a, l) ""
#define LAM_LIMIT_U8(a, l) ""
#define LAM_LIMIT_FLOOR_S8(a, l) "qadd8 " a ", " a ", " l "\n\t"
#define LAM_LIMIT_FLOOR_U7(a, l) LAM_LIMIT_FLOOR_S8(a, l)
#define LAM_LIMIT_FLOOR_U8(a, l) "uqadd8 " a ", " a ", " l "\n\t"
#define LAM_LIMIT_LIMITED(a, l) LAM_LIMIT_FLOOR_U8(a, l) "sub.w " a ", " a ", " l ", lsr #16\n\t"

#endif /* LAM_ARMV7EM_BYTE_H */
