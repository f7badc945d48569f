/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * 32-bit fixed-point arithmetic as gemmlowp and TFLite have it.  Bit-exact twin of codegen/ops/fixed_functions.py and of
 * mode `tflite` in codegen/ops/softmax.py.
 *
 * A number of k integer bits is raw / 2^(31 - k).  No state, no libc, no undefined behaviour within the ranges stated.
 */
#ifndef LAM_FIXED_H
#define LAM_FIXED_H

#include "lam_base.h"
#include "lam_requant.h"
#include "lam_wrap.h"

/* Leading zero bits of x; 32 for 0. */
static inline int32_t lam_leading_zeros(uint32_t x)
{
    int32_t count = 0;

    if (x == 0u) {
        return 32;
    }
    while ((x & 0x80000000u) == 0u) {
        x <<= 1;
        count++;
    }
    return count;
}

/* 1 / (1 + a) for 0 <= a < 2^31, no integer bits on either side: three steps of Newton and Raphson.
 *
 * Every sum stays within 32 bits: 0.5 <= d <= 1, 1 <= x <= 48/17 - 16/17, both of them near 1 / d at the end. */
static inline int32_t lam_fixed_reciprocal(int32_t a)
{
    const int32_t half = (int32_t)(((int64_t)a + 0x80000000LL) >> 1);
    int32_t x = 1515870810 + lam_rounding_doubling_high_mul(half, -1010580540);
    int32_t i;

    for (i = 0; i < 3; i++) {
        const int32_t rest = ((int32_t)1 << 29) - lam_rounding_doubling_high_mul(half, x);
        x += lam_clamp_i64((int64_t)lam_rounding_doubling_high_mul(x, rest) * 4, INT32_MIN, INT32_MAX);
    }
    return lam_clamp_i64((int64_t)x * 2, INT32_MIN, INT32_MAX);
}

/* x / 2^exponent rounded to nearest, for x >= 0 and exponent 1 .. 62. */
static inline int32_t lam_fixed_halved(int32_t x, int32_t exponent)
{
    return (int32_t)(((int64_t)x + ((int64_t)1 << (exponent - 1))) >> exponent);
}

/* x / 2^exponent rounded half up, for 0 <= x < 2^62 and exponent 1 .. 62; the result fits 32 bits. */
static inline int32_t lam_fixed_halved_64(int64_t x, int32_t exponent)
{
    return (int32_t)((x + ((int64_t)1 << (exponent - 1))) >> exponent);
}

/* A table of 513 entries over all 16-bit numbers, linear in between.  Twin of codegen/ops/lut16.py where steps fit 16 bits. */
static inline int32_t lam_table_s16(int32_t v, const int16_t *table)
{
    const int32_t index = 256 + (v >> 7);
    const int32_t base = table[index];
    return base + (((table[index + 1] - base) * (v & 0x7F) + 64) >> 7);
}

/* The same for any table: steps and results wrap around in 16 bits.  Twin of codegen/ops/lut16.py:look_between. */
static inline int16_t lam_lut_s16(int32_t v, const int16_t *table)
{
    const int32_t index = 256 + (v >> 7);
    const int32_t base = table[index];
    const int32_t step = lam_wrap_i16((uint32_t)(table[index + 1] - base));
    return lam_wrap_i16((uint32_t)(base + ((step * (v & 0x7F) + 64) >> 7)));
}

/* exp of a number below zero, from its table over -10 .. 0.  below * 2^exponent fits int32_t. */
static inline int16_t lam_exp_s16(int32_t below, int32_t multiplier, int32_t exponent, const int16_t *table)
{
    const int32_t steps = lam_requant_tflite_q(below, multiplier, exponent, 32767, INT16_MIN, INT16_MAX);
    return (int16_t)lam_table_s16(steps, table);
}

/* A table of 256 entries, linear in between, `beyond` from its last entry on.  One entry is 2^bits steps. */
static inline int32_t lam_curve_s16(uint32_t steps, int32_t bits, int32_t beyond, const uint16_t *table)
{
    const uint32_t entry = steps >> bits;
    if (entry >= 255u) {
        return beyond;
    }
    const uint32_t low = table[entry], high = table[entry + 1u];
    return (int32_t)((low << bits) + (steps & (((uint32_t)1 << bits) - 1u)) * (high - low));
}

/* 1 / (1 + exp(-x)) of a 16-bit number, result of scale 2^-15, from the table of codegen/ops/sigmoid16.py, its twin.
 *
 *   factor   0 .. 65535; (x * factor + half) >> shift has scale 1 / 12288
 *   half     2^(shift - 1), 0 for shift 0
 */
static inline int32_t lam_logistic_s16(int32_t x, int32_t factor, int32_t half, int32_t shift, const uint16_t *table)
{
    const int64_t steps = ((int64_t)x * factor + half) >> shift;
    const int32_t r = lam_curve_s16((uint32_t)(steps < 0 ? -steps : steps), 9, (int32_t)0x7FFF << 10, table);
    return (steps < 0 ? ((int32_t)1 << 25) + (1 << 9) - 1 - r : r + (1 << 9)) >> 10;
}

/* As lam_logistic_s16, of tanh(x). */
static inline int32_t lam_tanh_s16(int32_t x, int32_t factor, int32_t half, int32_t shift, const uint16_t *table)
{
    const int64_t steps = ((int64_t)x * factor + half) >> shift;
    const int32_t r = lam_curve_s16((uint32_t)(steps < 0 ? -steps : steps), 8, (int32_t)0xFFFF << 8, table);
    return (steps < 0 ? ((int32_t)1 << 23) + (1 << 7) - 1 - r : r + (1 << 7) - ((int32_t)1 << 23)) >> 8;
}

/* x * 2^bits: saturated to the left, rounded to the right (bits below 0, down to -31). */
static inline int32_t lam_fixed_left(int32_t x, int32_t bits)
{
    if (bits < 0) {
        return lam_rounding_divide_by_pot(x, -bits);
    }
    return lam_clamp_i64((int64_t)x * ((int64_t)1 << bits), INT32_MIN, INT32_MAX);
}

/* a / b in steps of the output, for |a| and |b| below 2^16.  Twin of codegen/ops/div.py: golden.
 *
 *   multiplier   2^30 .. 2^31 - 1, or 0
 *   exponent     -31 .. 22, 15 where |a| may be 2^9 and more
 */
static inline int32_t lam_fixed_quotient(int32_t a, int32_t b, int32_t multiplier, int32_t exponent)
{
    const int32_t n = (b < 0) ? -a : a;
    const uint32_t d = (uint32_t)((b < 0) ? -b : b);
    const int32_t zeros = lam_leading_zeros(d);
    const int32_t headroom = lam_leading_zeros((uint32_t)((n < 0) ? -n - 1 : n)) - 1;
    const int32_t right = 31 - zeros + headroom - exponent;
    int32_t product;

    if (d == 0u) {
        return (n > 0) ? 131072 : (n < 0) ? -131072 : 0;
    }
    if (right > 31) {
        return 0;
    }
    product = lam_fixed_reciprocal((int32_t)((d << zeros) & 0x7FFFFFFFu));
    product = lam_rounding_doubling_high_mul((int32_t)((int64_t)n * ((int64_t)1 << headroom)), product);
    return lam_rounding_divide_by_pot(lam_rounding_doubling_high_mul(product, multiplier), right);
}

/* 1 / sqrt(x) as a multiplier of 31 bits and an exponent of -15 .. 0, for x >= 0; 0 counts as 1.  Twin: inverse_sqrt. */
static inline int32_t lam_fixed_inverse_sqrt(int32_t x, int32_t *exponent)
{
    int32_t shift = 11, root = (int32_t)1 << 28;
    int32_t pairs, half, i;

    if (x <= 1) {
        *exponent = 0;
        return INT32_MAX;
    }
    while (x >= ((int32_t)1 << 29)) {
        x /= 4;
        shift++;
    }
    pairs = (lam_leading_zeros((uint32_t)x) - 1) / 2 - 1;
    shift -= pairs;
    half = lam_rounding_divide_by_pot((x * ((int32_t)1 << (2 * pairs))) >> 1, 1);
    for (i = 0; i < 5; i++) {
        const int32_t square = lam_rounding_doubling_high_mul(root, root);
        const int32_t cube = lam_fixed_left(lam_rounding_doubling_high_mul(square, root), 6);
        root = lam_fixed_left(lam_rounding_doubling_high_mul(402653184, root) - lam_rounding_doubling_high_mul(half, cube), 3);
    }
    root = lam_rounding_doubling_high_mul(root, 1518500250);
    *exponent = (shift < 0) ? 0 : -shift;
    return (shift < 0) ? root * ((int32_t)1 << -shift) : root;
}

/* 1 / sqrt(x) as a multiplier of 31 bits that is shifted right by 31 + *right, for 0 <= x < 2^62; 0 counts as 1.
 * Twin: inverse_sqrt_64. */
static inline int32_t lam_fixed_inverse_sqrt_64(int64_t x, int32_t *right)
{
    int32_t pairs = 0, exponent, factor;

    while (x >= ((int64_t)1 << 30)) {
        x >>= 2;
        pairs++;
    }
    factor = lam_fixed_inverse_sqrt((int32_t)x, &exponent);
    *right = pairs - exponent;
    return factor;
}

/* 1 / sqrt(x) of a 16-bit number, 32767 for x <= 0.  Twin of codegen/ops/inverse_sqrt.py: golden.
 *
 *   multiplier  2^30 .. 2^31 - 1, or 0
 *   exponent    -31 .. 4, of roots in steps of 2^-20
 */
static inline int32_t lam_inverse_sqrt_s16(int32_t x, int32_t multiplier, int32_t exponent)
{
    int32_t power, factor, root;

    if (x <= 0) {
        return INT16_MAX;
    }
    factor = lam_fixed_inverse_sqrt(x, &power);
    root = lam_requant_tflite(1, factor, power + 20);
    return lam_requant_tflite_q(root, multiplier, exponent, 0, INT16_MIN, INT16_MAX);
}

/* log(x) with out_bits integer bits, for 1 <= x < 2^in_bits of in_bits integer bits.  Twin: logarithm. */
static inline int32_t lam_fixed_logarithm(int32_t x, int32_t in_bits, int32_t out_bits)
{
    const int32_t bits = out_bits + 1;
    const int32_t quarter = lam_rounding_divide_by_pot((int32_t)1 << 29, bits);
    const int32_t zeros_a = lam_leading_zeros((uint32_t)x);
    const int32_t r_a = lam_fixed_left(lam_rounding_doubling_high_mul(lam_fixed_left(x, zeros_a - 1), 1518500250), 1);
    const int32_t power_a = lam_clamp_i64((int64_t)lam_fixed_left(in_bits - zeros_a, 31 - bits) + quarter, INT32_MIN, INT32_MAX);
    const int32_t zeros_b = lam_leading_zeros((uint32_t)lam_rounding_doubling_high_mul(x, 1518500250)) - 1;
    const int32_t r_b = lam_fixed_left(x, zeros_b);
    const int32_t power_b = lam_clamp_i64((int64_t)lam_fixed_left(in_bits - zeros_b, 31 - bits) - quarter, INT32_MIN, INT32_MAX);
    const int32_t r = (r_a < r_b) ? r_a : r_b;
    const int32_t power = (power_a > power_b) ? power_a : power_b;
    const int32_t p = (int32_t)(((int64_t)r + 1805811301 + 1) >> 1);
    const int32_t q = 2 * (r - 1805811301);
    const int32_t square = lam_rounding_doubling_high_mul(q, q);
    const int32_t numerator = lam_rounding_doubling_high_mul(q, r)
        + lam_rounding_doubling_high_mul(lam_rounding_doubling_high_mul(q, square), 117049297);
    const int32_t inner = 1057819769 + q + lam_rounding_doubling_high_mul(127690142, square);
    const int32_t denominator = lam_rounding_doubling_high_mul(p, inner) + lam_rounding_doubling_high_mul(638450708, q);
    const int32_t rest = lam_rounding_doubling_high_mul(lam_rounding_divide_by_pot(numerator, bits),
                                                        lam_fixed_reciprocal(denominator));
    return lam_fixed_left(lam_rounding_doubling_high_mul(power, 1488522236) + rest, 1);
}

#endif /* LAM_FIXED_H */
