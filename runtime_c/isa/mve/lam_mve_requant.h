/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What the Helium (Armv8.1-M MVE) primitives share: whether the processor has Helium, requantization of four sums in one
 * vector, and its portable twin.
 *
 * The primitives are assembly where __ARM_FEATURE_MVE says so, and plain C with the same results everywhere else, so
 * that generated kernels run and are tested on any host.  Assembly and not intrinsics: four to eight sums live in the
 * even general registers, and compilers spill them.
 *
 * A packed stream is an array of int32_t words whose bytes, least significant first, hold weights of 8 bits.
 *
 *   LAM_MVE_SINGLE   multiplier as of lam_requant_single_high; shift is 32 - s, s = 33 .. 62, as VRSHL takes it
 *   LAM_MVE_TFLITE   multiplier and exponent as of lam_requant_tflite; exponent -31 .. -1
 *   LAM_MVE_ORT      the bits of a float32 scale as of lam_requant_ort; no shift
 *   LAM_MVE_UP       LAM_MVE_TFLITE for outputs whose least value is the zero point or more, as behind a ReLU: which way
 *                    halves of negative values go does not matter there
 */
#ifndef LAM_MVE_REQUANT_H
#define LAM_MVE_REQUANT_H

#include "lam_base.h"
#include "lam_mve.h"
#include "lam_requant.h"
#include "lam_requant_ort.h"

enum { LAM_MVE_SINGLE = 0, LAM_MVE_TFLITE = 1, LAM_MVE_ORT = 2, LAM_MVE_UP = 3 };

#if LAM_MVE

/* Four sums in `q` to output values less zero point, limited to q6 .. q7; multipliers in q4, shifts in q5, t is free.
 * In mode ort q6 and q7 hold floats: LAM_MVE_LIMITS_ORT makes them. */
#define LAM_MVE_SCALE_SINGLE(q, m, s, t) \
    "vmulh.s32 " q ", " q ", " m "\n" \
    "vrshl.s32 " q ", " q ", " s "\n"
/* Halves away from zero: one less before the rounding shift of a negative value. */
#define LAM_MVE_SCALE_TFLITE(q, m, s, t) \
    "vqrdmulh.s32 " q ", " q ", " m "\n" \
    "vshr.s32 " t ", " q ", #31\n" \
    "vadd.i32 " q ", " q ", " t "\n" \
    "vrshl.s32 " q ", " q ", " s "\n"
#define LAM_MVE_SCALE_UP(q, m, s, t) \
    "vqrdmulh.s32 " q ", " q ", " m "\n" \
    "vrshl.s32 " q ", " q ", " s "\n"
#define LAM_MVE_SCALE_ORT(q, m, s, t) \
    "vcvt.f32.s32 " q ", " q "\n" \
    "vmul.f32 " q ", " q ", " m "\n"

#define LAM_MVE_CLAMP_SINGLE(q, low, high) \
    "vmax.s32 " q ", " q ", " low "\n" \
    "vmin.s32 " q ", " q ", " high "\n"
#define LAM_MVE_CLAMP_TFLITE LAM_MVE_CLAMP_SINGLE
#define LAM_MVE_CLAMP_UP LAM_MVE_CLAMP_SINGLE
#define LAM_MVE_CLAMP_ORT(q, low, high) \
    "vmaxnm.f32 " q ", " q ", " low "\n" \
    "vminnm.f32 " q ", " q ", " high "\n" \
    "vcvtn.s32.f32 " q ", " q "\n"

/* Four scaled sums in q5 to outputs of the whole range of int8, by saturation; r9 is the zero point. */
#define LAM_MVE_FULL_SINGLE \
    "vadd.i32 q5, q5, r9\n" \
    "vqmovnb.s32 q5, q5\n" \
    "vqmovnb.s16 q5, q5\n"
#define LAM_MVE_FULL_TFLITE LAM_MVE_FULL_SINGLE
#define LAM_MVE_FULL_UP LAM_MVE_FULL_SINGLE
#define LAM_MVE_FULL_ORT \
    "vcvtn.s32.f32 q5, q5\n" \
    "vqadd.s32 q5, q5, r9\n" \
    "vqmovnb.s32 q5, q5\n" \
    "vqmovnb.s16 q5, q5\n"

/* Floats to integers. */
#define LAM_MVE_ROUND_SINGLE(q) ""
#define LAM_MVE_ROUND_TFLITE(q) ""
#define LAM_MVE_ROUND_UP(q) ""
#define LAM_MVE_ROUND_ORT(q) "vcvtn.s32.f32 " q ", " q "\n"

/* Outputs of two pixels less the zero point, those of the second one in the upper half of each lane of `q`, to outputs: of the
 * whole range of int8 or uint8, or within what the job has at `low`; t is free. */
#define LAM_MVE_BYTES_S8(q, zero, t, low) \
    "vqadd.s16 " q ", " q ", " zero "\n" \
    "vqmovnb.s16 " q ", " q "\n"
#define LAM_MVE_BYTES_U8(q, zero, t, low) \
    "vqadd.s16 " q ", " q ", " zero "\n" \
    "vqmovunb.s16 " q ", " q "\n"
#define LAM_MVE_BYTES_WITHIN(q, zero, t, low) \
    "ldr r0, [r11, #" low "]\n" \
    "ldr r2, [r11, #" low " + 4]\n" \
    "vdup.16 " t ", r0\n" \
    "vmax.s16 " q ", " q ", " t "\n" \
    "vdup.16 " t ", r2\n" \
    "vmin.s16 " q ", " q ", " t "\n" \
    "vadd.i16 " q ", " q ", " zero "\n"
/* The same of sums that have a shift's share. */
#define LAM_MVE_BYTES_S8_SHIFTED LAM_MVE_BYTES_S8
#define LAM_MVE_BYTES_U8_SHIFTED LAM_MVE_BYTES_U8
#define LAM_MVE_BYTES_WITHIN_SHIFTED LAM_MVE_BYTES_WITHIN

/* Four outputs in the lowest bytes of `q`, to the pixel at r3, which goes on to the next one. */
#define LAM_MVE_STORE_NEXT(q, y_step) \
    ".if " #y_step " < 128\n" \
    "vstrb.32 " q ", [r3], #" #y_step "\n" \
    ".else\n" \
    "vstrb.32 " q ", [r3]\n" \
    "add r3, r3, #" #y_step "\n" \
    ".endif\n"

/* The form for a mode and for own or shared factors; both are constants. */
#define LAM_MVE_FORM_OF(FORM, FACTORS) \
    do { \
        if (mode == LAM_MVE_SINGLE) { \
            FORM(SINGLE, FACTORS); \
        } else if (mode == LAM_MVE_TFLITE) { \
            FORM(TFLITE, FACTORS); \
        } else if (mode == LAM_MVE_UP) { \
            FORM(UP, FACTORS); \
        } else { \
            FORM(ORT, FACTORS); \
        } \
    } while (0)
#define LAM_MVE_FORM(FORM) \
    do { \
        if (each != 0) { \
            LAM_MVE_FORM_OF(FORM, EACH); \
        } else { \
            LAM_MVE_FORM_OF(FORM, ONE); \
        } \
    } while (0)

#define LAM_MVE_LIMITS_SINGLE ""
#define LAM_MVE_LIMITS_TFLITE ""
#define LAM_MVE_LIMITS_UP ""
#define LAM_MVE_LIMITS_ORT \
    "vcvt.f32.s32 q6, q6\n" \
    "vcvt.f32.s32 q7, q7\n"

/* All but the stack pointer, r7 (some compilers' frame pointer) and r11, which holds the job. */
#define LAM_MVE_CLOBBERS \
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", \
        "q7", "cc", "memory"

#else

/* Whose factors: all channels share them, or each has its own. */
enum { LAM_MVE_ONE = 0, LAM_MVE_EACH = 1 };

/* Byte i of a packed stream, as a signed number. */
static inline int32_t lam_mve_byte(const int32_t *stream, int32_t i)
{
    const uint32_t byte = ((uint32_t)stream[i / 4] >> (8 * (i % 4))) & 0xFFu;
    return (int32_t)(byte ^ 0x80u) - 128;
}

/* Words of a block of a packed stream before its weights: biases, and factors where each channel has its own. */
static inline int32_t lam_mve_head(int each)
{
    return each != 0 ? 9 : 4;
}

/* Multiplier and shift of channel c of a block: its own, or what all channels share. */
static inline int32_t lam_mve_multiplier(const int32_t *block, int32_t c, int each, int32_t shared)
{
    return each != 0 ? block[4 + c] : shared;
}

static inline int32_t lam_mve_shift(const int32_t *block, int32_t c, int each, int32_t shared)
{
    return each != 0 ? lam_mve_byte(block + 8, c) : shared;
}

/* One lane: the output value; low and high are less the zero point. */
static inline int32_t lam_mve_requant(int mode, int32_t acc, int32_t multiplier, int32_t shift, int32_t zp, int32_t low,
                                      int32_t high)
{
    float scale;
    if (mode == LAM_MVE_SINGLE) {
        return lam_requant_single_high_q(acc, multiplier, 32 - shift, zp, low + zp, high + zp);
    }
    if (mode == LAM_MVE_TFLITE || mode == LAM_MVE_UP) {
        return lam_requant_tflite_q(acc, multiplier, shift, zp, low + zp, high + zp);
    }
    (void)memcpy(&scale, &multiplier, sizeof scale);
    return lam_requant_ort_q(acc, scale, zp, low + zp, high + zp);
}

#endif
#endif /* LAM_MVE_REQUANT_H */
