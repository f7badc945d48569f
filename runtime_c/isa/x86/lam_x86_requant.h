/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * From accumulators to activations, sixteen at a time.  Bit-exact twin of lam_requant.h and lam_requant_ort.h for
 * factors that the compiler has checked (codegen/kernels/fast.py has the derivations):
 *
 *   LAM_X86_SINGLE   every shift is 33 .. 62, and kept less 33
 *   LAM_X86_TFLITE   every exponent is -31 .. -1, and kept as its complement; |acc| < 2^30
 *   LAM_X86_ORT      any scale
 *   LAM_X86_NONE     the accumulators themselves
 */
#ifndef LAM_X86_REQUANT_H
#define LAM_X86_REQUANT_H

#include "lam_x86_vector.h"

#define LAM_X86_NONE 0
#define LAM_X86_SINGLE 1
#define LAM_X86_TFLITE 2
#define LAM_X86_ORT 3

/* A layer's factors in memory; what its mode does not have is NULL.  With `per_channel` 0 there is one of each. */
typedef struct lam_x86_factors {
    const int32_t *multiplier;
    const int8_t *shift;
    const float *scale;
    const lam_range *range;
} lam_x86_factors;

/* The same in registers, for sixteen channels.  `offset` is what is added: see lam_x86_rescale. */
typedef struct lam_x86_rq {
    lam_x86_v multiplier, shift, offset, low, high;
} lam_x86_rq;

static inline LAM_X86_ALWAYS int32_t lam_x86_bits(float value)
{
    int32_t bits;
    (void)memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Factors of `count` channels from `channel` on. */
static inline LAM_X86_ALWAYS lam_x86_rq lam_x86_factors_of(lam_x86_factors f, int mode, int per_channel, int32_t channel,
                                                           int32_t count)
{
    int32_t zp, low, high;
    lam_x86_rq rq;
    if (mode == LAM_X86_NONE) {
        rq.multiplier = rq.shift = rq.offset = rq.low = rq.high = lam_x86_splat(0);
        return rq;
    }
    zp = f.range->zero_point;
    low = f.range->low;
    high = f.range->high;
    if (mode == LAM_X86_ORT) {
        rq.multiplier = per_channel ? lam_x86_load(f.scale + channel, count) : lam_x86_splat(lam_x86_bits(f.scale[0]));
        rq.shift = rq.multiplier;
        rq.offset = lam_x86_splat(zp);
        rq.low = lam_x86_splat(lam_x86_bits((float)(low - zp)));
        rq.high = lam_x86_splat(lam_x86_bits((float)(high - zp)));
        return rq;
    }
    if (per_channel) {
        rq.multiplier = lam_x86_load(f.multiplier + channel, count);
        rq.shift = lam_x86_load_s8(f.shift + channel, count);
    } else {
        rq.multiplier = lam_x86_splat(f.multiplier[0]);
        rq.shift = lam_x86_splat(f.shift[0]);
    }
    rq.offset = lam_x86_splat(2 * zp + 1);
    rq.low = lam_x86_splat(low);
    rq.high = lam_x86_splat(high);
    return rq;
}

/* The output values, zero point included.  With `saturates` 0 they are limited to low .. high; else the type's own
 * bounds are the limits, and storing them is what limits.
 *
 *   single   floor((floor(high / 2^(s - 33)) + 2 zp + 1) / 2), high being the product's upper half
 *   tflite   r = (acc * M + 2^30) >> 31, then r / 2^e rounded with halves away from zero:
 *            ((r + (r < 0 ? -1 : 0)) >> (e - 1)) + 1) >> 1; the zero point goes in before the last shift
 */
static inline LAM_X86_ALWAYS lam_x86_v lam_x86_rescale(lam_x86_v acc, const lam_x86_rq *rq, int mode, int saturates)
{
    lam_x86_v v;
    if (mode == LAM_X86_NONE) {
        return acc;
    }
    if (mode == LAM_X86_ORT) {
        return lam_x86_add(lam_x86_scale(acc, rq->multiplier, rq->low, rq->high), rq->offset);
    }
    if (mode == LAM_X86_TFLITE) {
        v = lam_x86_mul_round(acc, rq->multiplier);
        v = lam_x86_add(v, lam_x86_sign(v));
    } else {
        v = lam_x86_mul_high(acc, rq->multiplier);
    }
    v = lam_x86_halve(lam_x86_add(lam_x86_sra(v, rq->shift), rq->offset));
    return saturates ? v : lam_x86_clamp(v, rq->low, rq->high);
}

#endif /* LAM_X86_REQUANT_H */
