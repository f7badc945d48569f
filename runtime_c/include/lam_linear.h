/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Between integers and real numbers, as ONNX QuantizeLinear and DequantizeLinear have it, and averages through float32.
 * Bit-exact twin of codegen/fixedpoint.py: quantize_linear, dequantize_linear, and of codegen/ops/average.py.
 *
 * Every step is one float32 operation whose result goes through an object of its own: a product always through a
 * volatile one, so that no compiler joins it with an addition that follows; a sum or a quotient through a
 * lam_stored_float, so that no compiler keeps it wider than a float.  lam_requant_ort.h gives the reasons.
 */
#ifndef LAM_LINEAR_H
#define LAM_LINEAR_H

#include "lam_base.h"
#include "lam_requant.h"
#include "lam_requant_ort.h"

/* (float)centred * scale, where centred is q - zero_point.  Twin: dequantize_linear. */
static inline float lam_dequantize(int32_t centred, float scale)
{
    lam_stored_float whole;
    volatile float product;

    whole = (float)centred;
    product = whole * scale;
    return product;
}

/* As lam_dequantize where q - zero_point needs more than 32 bits. */
static inline float lam_dequantize_64(int64_t centred, float scale)
{
    lam_stored_float whole;
    volatile float product;

    whole = (float)centred;
    product = whole * scale;
    return product;
}

/* clamp(rint(real / scale) + zp, low, high), half to even; NaN becomes low.  Twin: quantize_linear.
 *
 *   scale      finite, above zero
 *   low, high  |low - zp| and |high - zp| at most 2^22: types of 8 and 16 bits
 *
 * Clamped as a float before it is rounded, which is the same for whole bounds; rounded as in lam_requant_ort_q.
 */
static inline int32_t lam_quantize_q(float real, float scale, int32_t zp, int32_t low, int32_t high)
{
    const float least = (float)(low - zp);
    const float most = (float)(high - zp);
    lam_stored_float steps;
    float v;
    float sum;
    int32_t bits;

    steps = real / scale;
    v = steps;
    v = (v > least) ? v : least;
    v = (v > most) ? most : v;
    sum = v + 12582912.0f;
    (void)memcpy(&bits, &sum, sizeof bits);
    return (bits - (int32_t)0x4B400000) + zp;
}

/* As lam_quantize_q with halves away from zero.  Twin: quantize_linear_away.
 *
 * The quotient is cut to a whole number, which moves on where the rest is a half or more: both are exact in a float. */
static inline int32_t lam_quantize_away_q(float real, float scale, int32_t zp, int32_t low, int32_t high)
{
    const float least = (float)(low - zp);
    const float most = (float)(high - zp);
    lam_stored_float steps;
    float v;
    int32_t whole;
    float rest;

    steps = real / scale;
    v = steps;
    v = (v > least) ? v : least;
    v = (v > most) ? most : v;
    whole = (int32_t)v;
    rest = v - (float)whole;
    whole += (rest >= 0.5f) ? 1 : 0;
    whole -= (rest <= -0.5f) ? 1 : 0;
    return lam_clamp_i32(whole, low - zp, high - zp) + zp;
}

/* lam_quantize_q of a + b: one float32 sum.  a and b are values of lam_dequantize. */
static inline int32_t lam_quantize_sum_q(float a, float b, float scale, int32_t zp, int32_t low, int32_t high)
{
    lam_stored_float sum;

    sum = a + b;
    return lam_quantize_q(sum, scale, zp, low, high);
}

/* lam_quantize_q of ((float)acc * x_scale) / count: the mean of `count` values whose centred sum is acc. */
static inline int32_t lam_quantize_mean_q(int32_t acc, float x_scale, int32_t count, float y_scale, int32_t zp, int32_t low,
                                          int32_t high)
{
    lam_stored_float mean;

    mean = lam_dequantize(acc, x_scale) / (float)count;
    return lam_quantize_q(mean, y_scale, zp, low, high);
}

/* As lam_quantize_mean_q where acc needs more than 32 bits. */
static inline int32_t lam_quantize_mean_64_q(int64_t acc, float x_scale, int32_t count, float y_scale, int32_t zp,
                                             int32_t low, int32_t high)
{
    lam_stored_float mean;

    mean = lam_dequantize_64(acc, x_scale) / (float)count;
    return lam_quantize_q(mean, y_scale, zp, low, high);
}

#endif /* LAM_LINEAR_H */
