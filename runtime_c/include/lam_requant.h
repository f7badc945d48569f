/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * From accumulator to activation, in integers.  Bit-exact twin of codegen/fixedpoint.py.
 *
 *   single   one rounding, half up, 64-bit product:              lam_requant_single*
 *   tflite   the two roundings of TFLite and CMSIS-NN:           lam_requant_tflite*
 *
 * A function that ends in _q does the whole step and returns the output value; the others return the scaled
 * accumulator before the zero point.  Common to all _q functions:
 *
 *   zp          output zero point
 *   low, high   least and greatest output value, a fused activation's bounds included; low <= high
 *   ranges      low - zp and high - zp fit int32_t; so it is for every type up to 16 bits, and for int32_t with zp = 0
 *
 * No state, no libc, no undefined behaviour within the ranges stated; nothing is checked at run time, the compiler has
 * proved the ranges.
 */
#ifndef LAM_REQUANT_H
#define LAM_REQUANT_H

#include "lam_base.h"

/* C99 leaves the right shift of a negative value to the implementation.  Everything below needs the arithmetic one,
 * which every compiler for the supported targets has; another one is refused here instead of giving wrong results. */
LAM_STATIC_ASSERT(((int32_t)-1 >> 1) == (int32_t)-1, right_shift_of_int32_is_arithmetic);
LAM_STATIC_ASSERT(((int64_t)-3 >> 1) == (int64_t)-2, right_shift_of_int64_is_arithmetic);

/* v limited to low .. high. */
static inline int32_t lam_clamp_i32(int32_t v, int32_t low, int32_t high)
{
    const int32_t raised = (v < low) ? low : v;
    return (raised > high) ? high : raised;
}

/* v limited to low .. high, which fit 32 bits; so does the result. */
static inline int32_t lam_clamp_i64(int64_t v, int32_t low, int32_t high)
{
    if (v < low) {
        return low;
    }
    return (v > high) ? high : (int32_t)v;
}

/* (acc * multiplier + 2^(shift - 1)) >> shift: acc * multiplier / 2^shift, rounded half up.
 *
 *   |acc * multiplier| <= 2^62, which 32 x 31 bits and 48 x 15 bits keep
 *   shift   1 .. 62
 *
 * The 64-bit sum cannot overflow.  The result may need 62 bits when shift is small.
 */
static inline int64_t lam_scale_half_up(int64_t acc, int32_t multiplier, int32_t shift)
{
    return ((acc * multiplier) + ((int64_t)1 << (shift - 1))) >> shift;
}

/* Scale one accumulator, mode `single`; saturates to int32_t.
 *
 *   multiplier  0, or 2^30 .. 2^31 - 1
 *   shift       right shift, 1 .. 62; from 31 on nothing can saturate
 */
static inline int32_t lam_requant_single(int32_t acc, int32_t multiplier, int32_t shift)
{
    return lam_clamp_i64(lam_scale_half_up(acc, multiplier, shift), INT32_MIN, INT32_MAX);
}

/* The whole step, mode `single`.  Twin: requantize_single. */
static inline int32_t lam_requant_single_q(int32_t acc, int32_t multiplier, int32_t shift, int32_t zp, int32_t low,
                                           int32_t high)
{
    return lam_clamp_i64(lam_scale_half_up(acc, multiplier, shift), low - zp, high - zp) + zp;
}

/* As lam_requant_single for shift 33 .. 62 (a scale below one quarter): the same value from the high half of the
 * product, so that 32-bit chips need one multiplication and 32-bit shifts.
 *
 *   floor((P + 2^(s-1)) / 2^s) = floor((floor(P / 2^32) + 2^(s-33)) / 2^(s-32)), for 2^(s-1) is a multiple of 2^32
 *
 * A multiplier of 0 goes with any shift in the range.  |result| <= 2^29: neither sum can overflow.
 */
static inline int32_t lam_requant_single_high(int32_t acc, int32_t multiplier, int32_t shift)
{
    const int32_t product_high = (int32_t)(((int64_t)acc * multiplier) >> 32);
    return (product_high + ((int32_t)1 << (shift - 33))) >> (shift - 32);
}

/* The whole step for shift 33 .. 62.  Twin: requantize_single. */
static inline int32_t lam_requant_single_high_q(int32_t acc, int32_t multiplier, int32_t shift, int32_t zp, int32_t low,
                                                int32_t high)
{
    return lam_clamp_i32(lam_requant_single_high(acc, multiplier, shift), low - zp, high - zp) + zp;
}

/* Scale a 64-bit accumulator (16-bit activations); saturates to int32_t.
 *
 *   acc         -2^47 .. 2^47 - 1, or fewer bits: |acc * multiplier| <= 2^62
 *   multiplier  0, or 2^14 .. 2^30 - 1
 *   shift       right shift, 1 .. 62
 *
 * TFLite's 64-bit MultiplyByQuantizedMultiplier is this with its multiplier reduced to 15 bits at compile time.
 */
static inline int32_t lam_requant_single_64(int64_t acc, int32_t multiplier, int32_t shift)
{
    return lam_clamp_i64(lam_scale_half_up(acc, multiplier, shift), INT32_MIN, INT32_MAX);
}

/* The whole step for a 64-bit accumulator.  Twin: requantize_single_64. */
static inline int32_t lam_requant_single_64_q(int64_t acc, int32_t multiplier, int32_t shift, int32_t zp, int32_t low,
                                              int32_t high)
{
    return lam_clamp_i64(lam_scale_half_up(acc, multiplier, shift), low - zp, high - zp) + zp;
}

/* The high half of 2 * a * b, rounded to nearest, ties towards plus infinity; -2^31 squared saturates to 2^31 - 1.
 *
 * Source: gemmlowp's SaturatingRoundingDoublingHighMul.  Its sign-dependent nudge and truncating division amount to
 * floor((a * b + 2^30) / 2^31) for either sign, which is what stands here.
 */
static inline int32_t lam_rounding_doubling_high_mul(int32_t a, int32_t b)
{
    const int64_t rounded = (((int64_t)a * b) + ((int64_t)1 << 30)) >> 31;
    return (rounded > INT32_MAX) ? INT32_MAX : (int32_t)rounded;
}

/* x / 2^exponent rounded to nearest, halves away from zero.  exponent 0 .. 31.
 * Source: gemmlowp's RoundingDivideByPOT. */
static inline int32_t lam_rounding_divide_by_pot(int32_t x, int32_t exponent)
{
    const int32_t mask = (int32_t)(((uint32_t)1 << exponent) - 1u);
    const int32_t threshold = (mask >> 1) + ((x < 0) ? 1 : 0);
    return (x >> exponent) + (((x & mask) > threshold) ? 1 : 0);
}

/* Scale one accumulator, mode `tflite`: TFLite's MultiplyByQuantizedMultiplier.
 *
 *   multiplier  0, or 2^30 .. 2^31 - 1
 *   exponent    -31 .. 30; positive is a left shift
 *   acc         acc * 2^exponent fits int32_t when exponent is positive (TFLite would overflow; the compiler refuses)
 */
static inline int32_t lam_requant_tflite(int32_t acc, int32_t multiplier, int32_t exponent)
{
    const int32_t left = (exponent > 0) ? exponent : 0;
    const int32_t right = (exponent > 0) ? 0 : -exponent;
    return lam_rounding_divide_by_pot(lam_rounding_doubling_high_mul(acc * ((int32_t)1 << left), multiplier), right);
}

/* The whole step, mode `tflite`.  Twin: requantize_tflite. */
static inline int32_t lam_requant_tflite_q(int32_t acc, int32_t multiplier, int32_t exponent, int32_t zp, int32_t low,
                                           int32_t high)
{
    return lam_clamp_i32(lam_requant_tflite(acc, multiplier, exponent), low - zp, high - zp) + zp;
}

/* lam_requant_tflite_q of a difference squared; the square fits int32_t. */
static inline int32_t lam_requant_squared_q(int32_t difference, int32_t multiplier, int32_t exponent, int32_t zp,
                                            int32_t low, int32_t high)
{
    return lam_requant_tflite_q(difference * difference, multiplier, exponent, zp, low, high);
}

#endif /* LAM_REQUANT_H */
