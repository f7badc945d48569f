/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * From accumulator to activation through one float32 product, as ONNX Runtime does it.
 * Bit-exact twin of codegen/fixedpoint.py:requantize_ort().  Needs IEEE single precision, rounding to nearest.
 */
#ifndef LAM_REQUANT_ORT_H
#define LAM_REQUANT_ORT_H

#include <float.h>

#include "lam_base.h"

#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "lam_requant_ort.h: results are defined to the bit, which -ffast-math and /fp:fast give up"
#endif
LAM_STATIC_ASSERT((FLT_RADIX == 2) && (FLT_MANT_DIG == 24), float_is_ieee_single_precision);
LAM_STATIC_ASSERT(sizeof(float) == sizeof(int32_t), float_has_32_bits);

/* A float whose value is a float.  Where the compiler computes in a wider format (x87: FLT_EVAL_METHOD 2, or -1 for
 * "cannot say"), gnu modes keep even assigned and cast values wide; only a trip through memory rounds them. */
#if defined(FLT_EVAL_METHOD) && (FLT_EVAL_METHOD == 0)
typedef float lam_stored_float;
#else
typedef volatile float lam_stored_float;
#endif

/* lam_requant_ort_q of an accumulator that is a float already. */
static inline int32_t lam_scaled_ort_q(float acc, float scale, int32_t zp, int32_t low, int32_t high)
{
    const float least = (float)(low - zp);
    const float most = (float)(high - zp);
    volatile float product;
    float v;
    float sum;
    int32_t bits;

    /* Volatile on every target.  The clamp alone does not separate the product from the addition below: a compiler
     * that knows the range of acc may drop the clamp, or copy the addition into its branches, and then fuse the two
     * into one multiply-add, whose unrounded product rounds differently next to a tie (gcc in gnu modes and clang
     * with -ffp-contract=fast fuse across statements, and pragmas do not stop them).  Nothing visible to the
     * preprocessor says whether that can happen: target attributes add the instruction after this header is read.
     * The cost is one store and one load per output, and that loops stay scalar. */
    product = acc * scale;
    v = product;
    v = (v < least) ? least : v;
    v = (v > most) ? most : v;
    /* At 1.5 * 2^23 the spacing of floats is one, so this addition rounds v half to even, and the low bits of the sum
     * are the result.  Reading the bits, instead of subtracting again, needs no second float operation and rounds to
     * a float even where sums are kept wider; such a sum is exact, or on the same side of a tie, before that. */
    sum = v + 12582912.0f;
    (void)memcpy(&bits, &sum, sizeof bits);
    return (bits - (int32_t)0x4B400000) + zp; /* 0x4B400000: the bits of 12582912.0f */
}

/* The whole step, mode `ort`: zp + rint(clamp((float)acc * scale, low - zp, high - zp)), half to even.
 *
 *   scale       finite float32
 *   zp          output zero point
 *   low, high   least and greatest output value; low <= high, |low - zp| and |high - zp| at most 2^22
 *
 * No state; memcpy of four bytes, which compilers turn into a register move.
 */
static inline int32_t lam_requant_ort_q(int32_t acc, float scale, int32_t zp, int32_t low, int32_t high)
{
    lam_stored_float wide;

    wide = (float)acc;
    return lam_scaled_ort_q(wide, scale, zp, low, high);
}

/* As lam_requant_ort_q for an accumulator of up to 48 bits, converted to float half to even in one step. */
static inline int32_t lam_requant_ort_64_q(int64_t acc, float scale, int32_t zp, int32_t low, int32_t high)
{
    lam_stored_float wide;

    wide = (float)acc;
    return lam_scaled_ort_q(wide, scale, zp, low, high);
}

#endif /* LAM_REQUANT_ORT_H */
