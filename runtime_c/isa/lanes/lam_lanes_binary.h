/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums, differences and products of two rows of bytes, element by element.  Bit-exact twin of templates/kernels/binary.c.j2
 * and the functions it calls.
 */
#ifndef LAM_LANES_BINARY_H
#define LAM_LANES_BINARY_H

#include "lam_lanes_requant.h"

/* One operand in registers: what is subtracted, and its factor.  For a sum in mode `single` only the factor, in mode
 * `tflite` the multiplier and the right shift in three parts: `shift`, `half` of its unit, `away` -1 unless it is 0. */
typedef struct lam_lanes_operand {
    lam_lanes_v zero, factor, shift, half, away;
} lam_lanes_operand;

/* The sum in registers.  `offset` is added before the last step (single), or after it (ort). */
typedef struct lam_lanes_sum {
    lam_lanes_operand a, b;
    lam_lanes_rq rq;
} lam_lanes_sum;

/* `count` bytes, widened. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_bytes(const void *p, int32_t at, int is_signed, int32_t count)
{
    return is_signed ? lam_lanes_load_s8((const int8_t *)p + at, count) : lam_lanes_load_u8((const uint8_t *)p + at, count);
}

static inline LAM_LANES_ALWAYS lam_lanes_operand lam_lanes_scaled_operand(int32_t zero, int32_t multiplier, int32_t exponent)
{
    lam_lanes_operand o;
    o.zero = lam_lanes_splat(-zero);
    o.factor = lam_lanes_splat(multiplier);
    o.shift = lam_lanes_splat(-exponent);
    o.half = lam_lanes_splat((exponent == 0) ? 0 : (int32_t)1 << (-exponent - 1));
    o.away = lam_lanes_splat((exponent == 0) ? 0 : -1);
    return o;
}

/* lam_requant_tflite(v, factor, -shift) for |v| < 2^30 and exponents -31 .. 0: halves go away from zero. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_scaled(lam_lanes_v v, const lam_lanes_operand *o)
{
    const lam_lanes_v r = lam_lanes_mul_round(v, o->factor);
    return lam_lanes_sra(lam_lanes_add(lam_lanes_add(r, lam_lanes_and(lam_lanes_sign(r), o->away)), o->half), o->shift);
}

/* y = a + b.  single: sum = [ma, mb, offset, shift]; tflite: sum = [ma, ea, mb, eb, my, ey] and the zero points, negative
 * sums by a negative mb; ort: scale = [a, b, y], for a difference the second negative. */
static inline LAM_LANES_ALWAYS lam_lanes_sum lam_lanes_sum_of(int mode, int sign, const int32_t *sum, const float *scale,
                                                        const int32_t *zero, const lam_range *range)
{
    const int32_t zp = range->zero_point, low = range->low, high = range->high;
    lam_lanes_sum s;
    s.rq.offset = s.rq.shift = s.rq.multiplier = lam_lanes_splat(0);
    s.rq.low = lam_lanes_splat(low);
    s.rq.high = lam_lanes_splat(high);
    if (mode == LAM_LANES_SINGLE) {
        s.a = lam_lanes_scaled_operand(0, sum[0], 0);
        s.b = lam_lanes_scaled_operand(0, sum[1], 0);
        s.rq.multiplier = lam_lanes_splat(sum[2]);
        s.rq.shift = lam_lanes_splat(sum[3]);
        s.rq.offset = lam_lanes_splat(zp);
    } else if (mode == LAM_LANES_TFLITE) {
        s.a = lam_lanes_scaled_operand(zero[0], sum[0], sum[1]);
        s.b = lam_lanes_scaled_operand(zero[1], sum[2], sum[3]);
        s.rq.multiplier = lam_lanes_splat(sum[4]);
        s.rq.shift = lam_lanes_splat(-sum[5] - 1);
        s.rq.offset = lam_lanes_splat(2 * zp + 1);
    } else {
        s.a = lam_lanes_scaled_operand(zero[0], lam_lanes_bits(scale[0]), 0);
        s.b = lam_lanes_scaled_operand(zero[1], lam_lanes_bits((sign < 0) ? -scale[1] : scale[1]), 0);
        s.rq.multiplier = lam_lanes_splat(lam_lanes_bits(scale[2]));
        s.rq.offset = lam_lanes_splat(zp);
        s.rq.low = lam_lanes_splat(lam_lanes_bits((float)(low - zp)));
        s.rq.high = lam_lanes_splat(lam_lanes_bits((float)(high - zp)));
    }
    return s;
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_sum_step(const lam_lanes_sum *s, int mode, int sign, int saturates, lam_lanes_v a,
                                                        lam_lanes_v b)
{
    lam_lanes_v v;
    if (mode == LAM_LANES_SINGLE) {
        v = lam_lanes_add(lam_lanes_add(lam_lanes_mul(a, s->a.factor), lam_lanes_mul(b, s->b.factor)), s->rq.multiplier);
        v = lam_lanes_add(lam_lanes_sra(v, s->rq.shift), s->rq.offset);
        return saturates ? v : lam_lanes_clamp(v, s->rq.low, s->rq.high);
    }
    a = lam_lanes_add(a, s->a.zero);
    b = lam_lanes_add(b, s->b.zero);
    if (mode == LAM_LANES_TFLITE) {
        a = lam_lanes_scaled(lam_lanes_mul(a, lam_lanes_splat(1 << 20)), &s->a);
        b = lam_lanes_scaled(lam_lanes_mul(b, lam_lanes_splat(1 << 20)), &s->b);
        v = (sign < 0) ? lam_lanes_add(a, lam_lanes_add(lam_lanes_xor(b, lam_lanes_splat(-1)), lam_lanes_splat(1))) : lam_lanes_add(a, b);
        return lam_lanes_rescale(v, &s->rq, mode, saturates);
    }
    v = lam_lanes_divide(lam_lanes_sum_f(lam_lanes_product(a, s->a.factor), lam_lanes_product(b, s->b.factor)), s->rq.multiplier,
                       s->rq.low, s->rq.high);
    return lam_lanes_add(v, s->rq.offset);
}

/* `count` sums. */
static inline LAM_LANES_ALWAYS void lam_lanes_sums(const lam_lanes_sum *s, int mode, int sign, int saturates, const void *a,
                                               int a_signed, const void *b, int b_signed, void *y, int type, int32_t count)
{
    int32_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const lam_lanes_v p = lam_lanes_bytes(a, i, a_signed, 16), q = lam_lanes_bytes(b, i, b_signed, 16);
        lam_lanes_put(y, i, lam_lanes_sum_step(s, mode, sign, saturates, p, q), 16, type);
    }
    if (i < count) {
        const lam_lanes_v p = lam_lanes_bytes(a, i, a_signed, count - i), q = lam_lanes_bytes(b, i, b_signed, count - i);
        lam_lanes_put(y, i, lam_lanes_sum_step(s, mode, sign, saturates, p, q), count - i, type);
    }
}

/* `count` products of centred values. */
static inline LAM_LANES_ALWAYS void lam_lanes_products(lam_lanes_factors factors, int mode, int saturates, const int32_t *zero,
                                                   const void *a, int a_signed, const void *b, int b_signed, void *y,
                                                   int type, int32_t count)
{
    const lam_lanes_rq rq = lam_lanes_factors_of(factors, mode, 0, 0, 16);
    const lam_lanes_v a_zero = lam_lanes_splat(-zero[0]), b_zero = lam_lanes_splat(-zero[1]);
    for (int32_t i = 0; i < count; i += 16) {
        const int32_t some = (count - i < 16) ? count - i : 16;
        const lam_lanes_v p = lam_lanes_add(lam_lanes_bytes(a, i, a_signed, some), a_zero);
        const lam_lanes_v q = lam_lanes_add(lam_lanes_bytes(b, i, b_signed, some), b_zero);
        lam_lanes_put(y, i, lam_lanes_rescale(lam_lanes_mul(p, q), &rq, mode, saturates), some, type);
    }
}

#endif /* LAM_LANES_BINARY_H */
