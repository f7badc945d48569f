/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Functions of one float32 number, and operations on two, that are made of the exact operations alone.  Bit-exact twin
 * of codegen/ops/float32/functions.py and binary.py.
 *
 * Where a comparison decides, NaN fails it.  No state, no libm, no undefined behaviour.
 */
#ifndef LAM_F32_ELEMENTWISE_H
#define LAM_F32_ELEMENTWISE_H

#include "lam_f32.h"
#include "lam_f32_root.h"

#define LAM_F32_WHOLE 8388608.0f /* 2^23: from here on every number is whole */

static inline float lam_f32_abs(float x)
{
    return lam_f32_from_bits(lam_f32_bits(x) & ~LAM_F32_SIGN);
}

/* |x| with the sign of y. */
static inline float lam_f32_signed_as(float x, float y)
{
    return lam_f32_from_bits((lam_f32_bits(x) & ~LAM_F32_SIGN) | (lam_f32_bits(y) & LAM_F32_SIGN));
}

/* Towards zero. */
static inline float lam_f32_truncated(float x)
{
    return lam_f32_abs(x) < LAM_F32_WHOLE ? lam_f32_signed_as((float)(int32_t)x, x) : x;
}

static inline float lam_f32_floor(float x)
{
    const float whole = lam_f32_truncated(x);
    return whole > x ? whole - 1.0f : whole;
}

static inline float lam_f32_ceil(float x)
{
    const float whole = lam_f32_truncated(x);
    return whole < x ? lam_f32_signed_as(whole + 1.0f, x) : whole;
}

/* Halves to even. */
static inline float lam_f32_round(float x)
{
    const float size = lam_f32_abs(x);
    return size < LAM_F32_WHOLE ? lam_f32_signed_as((size + LAM_F32_WHOLE) - LAM_F32_WHOLE, x) : x;
}

/* Towards zero, held in 32 bits; NaN is 0. */
static inline int32_t lam_f32_whole(float x)
{
    if (x >= 2147483648.0f) {
        return INT32_MAX;
    }
    return x >= -2147483648.0f ? (int32_t)x : (x < 0.0f ? INT32_MIN : 0);
}

/* Whole numbers in the order of x: -0 is 0, and NaN the largest. */
static inline int32_t lam_f32_order(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = bits & ~LAM_F32_SIGN;
    if (size > LAM_F32_INFINITY) {
        return INT32_MAX;
    }
    return size == 0u || bits == size ? (int32_t)size : -1 - (int32_t)size;
}

static inline float lam_f32_neg(float x)
{
    return -x;
}

static inline float lam_f32_relu(float x)
{
    return x <= 0.0f ? 0.0f : x;
}

static inline float lam_f32_leaky_relu(float x, float alpha)
{
    return x < 0.0f ? alpha * x : x;
}

static inline float lam_f32_thresholded_relu(float x, float alpha)
{
    return x > alpha ? x : 0.0f;
}

static inline float lam_f32_sign(float x)
{
    return x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x);
}

static inline float lam_f32_at_least(float x, float least)
{
    return x < least ? least : x;
}

static inline float lam_f32_at_most(float x, float most)
{
    return x > most ? most : x;
}

static inline float lam_f32_clip(float x, float least, float most)
{
    return lam_f32_at_most(lam_f32_at_least(x, least), most);
}

static inline float lam_f32_hard_sigmoid(float x, float alpha, float beta)
{
    return lam_f32_clip(lam_f32_product(alpha, x) + beta, 0.0f, 1.0f);
}

static inline float lam_f32_hard_swish(float x, float alpha, float beta)
{
    return x * lam_f32_hard_sigmoid(x, alpha, beta);
}

static inline float lam_f32_softsign(float x)
{
    return x / (1.0f + lam_f32_abs(x));
}

static inline float lam_f32_shrink(float x, float bias, float lambd)
{
    return x < -lambd ? x + bias : (x > lambd ? x - bias : 0.0f);
}

static inline float lam_f32_inverse(float x)
{
    return 1.0f / x;
}

static inline float lam_f32_rsqrt(float x)
{
    return 1.0f / lam_f32_sqrt(x);
}

static inline float lam_f32_squared(float x)
{
    return x * x;
}

static inline float lam_f32_prelu(float a, float b)
{
    return a < 0.0f ? a * b : a;
}

static inline float lam_f32_squared_difference(float a, float b)
{
    return (a - b) * (a - b);
}

/* The 24 bits of a number above 0 from the first one set, and its power of two. */
static inline uint32_t lam_f32_parts(uint32_t bits, int32_t *power)
{
    *power = (int32_t)(bits >> 23);
    if (*power > 0) {
        return (bits & 0x7fffffu) | 0x800000u;
    }
    for (*power = 1; bits < 0x800000u; *power -= 1) {
        bits <<= 1;
    }
    return bits;
}

/* a without its largest whole multiple of b, exact: of a's sign; NaN where a is infinite or b is 0. */
static inline float lam_f32_fmod(float a, float b)
{
    uint32_t rest = lam_f32_bits(lam_f32_abs(a)), step = lam_f32_bits(lam_f32_abs(b));
    if (step == 0u || step > LAM_F32_INFINITY || rest >= LAM_F32_INFINITY) {
        return (a * b) / (a * b);
    }
    if (rest < step) {
        return a;
    }
    /* both as 24 bits and a power of two */
    int32_t high = 0, low = 0;
    rest = lam_f32_parts(rest, &high);
    step = lam_f32_parts(step, &low);
    for (; high > low; high--) {
        rest = (rest >= step ? rest - step : rest) << 1;
    }
    rest = rest >= step ? rest - step : rest;
    if (rest == 0u) {
        return lam_f32_signed_as(0.0f, a);
    }
    for (; rest < 0x800000u; low--) {
        rest <<= 1;
    }
    rest = low > 0 ? (rest & 0x7fffffu) | ((uint32_t)low << 23) : rest >> (1 - low);
    return lam_f32_signed_as(lam_f32_from_bits(rest), a);
}

/* a without a whole multiple of b: 0, or of b's sign. */
static inline float lam_f32_mod(float a, float b)
{
    const float rest = lam_f32_fmod(a, b);
    if (lam_f32_abs(rest) <= 0.0f) {
        return lam_f32_signed_as(0.0f, b);
    }
    return (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

#endif /* LAM_F32_ELEMENTWISE_H */
