/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * From accumulators to activations, sixteen at a time.  Bit-exact twin of lam_requant.h and lam_requant_ort.h for
 * factors that the compiler has checked (codegen/kernels/fast.py has the derivations):
 *
 *   LAM_LANES_SINGLE   every shift is 33 .. 62, and kept less 33
 *   LAM_LANES_RAISED   every shift is 27 .. 62, and kept less 27; |acc| * 2^6 < 2^31
 *   LAM_LANES_TFLITE   every exponent is -31 .. -1, and kept as its complement; |acc| < 2^30
 *   LAM_LANES_LINED    of TFLite by one product and one sum (codegen/kernels/lined.py), whose offset the bias has
 *   LAM_LANES_REAL     the same by one fused product and sum of real numbers, rounded (codegen/kernels/real_line.py)
 *   LAM_LANES_MIRRORED by one cut towards zero, with the zero point added behind it
 *   LAM_LANES_ORT      any scale
 *   LAM_LANES_NONE     the accumulators themselves
 */
#ifndef LAM_LANES_REQUANT_H
#define LAM_LANES_REQUANT_H

#include "lam_lanes_vector.h"

#define LAM_LANES_NONE 0
#define LAM_LANES_SINGLE 1
#define LAM_LANES_TFLITE 2
#define LAM_LANES_ORT 3
#define LAM_LANES_RAISED 4
#define LAM_LANES_LINED 5
#define LAM_LANES_REAL 6
#define LAM_LANES_MIRRORED 7

/* A layer's factors in memory; what its mode does not have is NULL.  With `per_channel` 0 there is one of each. */
typedef struct lam_lanes_factors {
    const int32_t *multiplier;
    const int8_t *shift;
    const float *scale;
    const lam_range *range;
    const int32_t *addend; /* of LAM_LANES_LINED: the last byte is its shift */
    const float *added;    /* of LAM_LANES_REAL and LAM_LANES_MIRRORED, to the product with scale */
} lam_lanes_factors;

/* The same in registers, for sixteen channels.  `offset` is what is added: see lam_lanes_rescale. */
typedef struct lam_lanes_rq {
    lam_lanes_v multiplier, shift, offset, low, high;
} lam_lanes_rq;

static inline LAM_LANES_ALWAYS int32_t lam_lanes_bits(float value)
{
    int32_t bits;
    (void)memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Factors of `count` channels from `channel` on. */
static inline LAM_LANES_ALWAYS lam_lanes_rq lam_lanes_factors_of(lam_lanes_factors f, int mode, int per_channel, int32_t channel,
                                                           int32_t count)
{
    int32_t zp, low, high;
    lam_lanes_rq rq;
    if (mode == LAM_LANES_NONE) {
        rq.multiplier = rq.shift = rq.offset = rq.low = rq.high = lam_lanes_splat(0);
        return rq;
    }
    zp = f.range->zero_point;
    low = f.range->low;
    high = f.range->high;
    if (mode == LAM_LANES_ORT) {
        rq.multiplier = per_channel ? lam_lanes_load(f.scale + channel, count) : lam_lanes_splat(lam_lanes_bits(f.scale[0]));
        rq.shift = rq.multiplier;
        rq.offset = lam_lanes_splat(zp);
        rq.low = lam_lanes_splat(lam_lanes_bits((float)(low - zp)));
        rq.high = lam_lanes_splat(lam_lanes_bits((float)(high - zp)));
        return rq;
    }
    if (mode == LAM_LANES_REAL || mode == LAM_LANES_MIRRORED) {
        rq.multiplier = per_channel ? lam_lanes_load(f.scale + channel, count) : lam_lanes_splat(lam_lanes_bits(f.scale[0]));
        rq.shift = per_channel ? lam_lanes_load(f.added + channel, count) : lam_lanes_splat(lam_lanes_bits(f.added[0]));
        rq.offset = lam_lanes_splat(zp);
        rq.low = lam_lanes_splat(low);
        rq.high = lam_lanes_splat(high);
        return rq;
    }
    rq.multiplier = per_channel ? lam_lanes_load(f.multiplier + channel, count) : lam_lanes_splat(f.multiplier[0]);
    rq.low = lam_lanes_splat(low);
    rq.high = lam_lanes_splat(high);
    if (mode == LAM_LANES_LINED) {
        rq.offset = per_channel ? lam_lanes_load(f.addend + channel, count) : lam_lanes_splat(f.addend[0]);
        rq.shift = lam_lanes_and(rq.offset, lam_lanes_splat(255));
        return rq;
    }
    rq.shift = per_channel ? lam_lanes_load_s8(f.shift + channel, count) : lam_lanes_splat(f.shift[0]);
    rq.offset = lam_lanes_splat(2 * zp + 1);
    return rq;
}

/* The output values, zero point included.  With `saturates` 0 they are limited to low .. high; else the type's own
 * bounds are the limits, and storing them is what limits.
 *
 *   single   floor((floor(high / 2^(s - 33)) + 2 zp + 1) / 2), high being the product's upper half
 *   raised   the same of acc * 2^6
 *   tflite   r = (acc * M + 2^30) >> 31, then r / 2^e rounded with halves away from zero:
 *            ((r + (r < 0 ? -1 : 0)) >> (e - 1)) + 1) >> 1; the zero point goes in before the last shift
 *   lined    floor((high + addend) / 2^(addend & 255))
 *   real     rint(fma(acc, scale, added)); mirrored: trunc(fma(acc, scale, added with the sign of acc)) + zp
 */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_rescale(lam_lanes_v acc, const lam_lanes_rq *rq, int mode, int saturates)
{
    lam_lanes_v v;
    if (mode == LAM_LANES_NONE) {
        return acc;
    }
    if (mode == LAM_LANES_ORT) {
        return lam_lanes_add(lam_lanes_scale(acc, rq->multiplier, rq->low, rq->high), rq->offset);
    }
    if (mode == LAM_LANES_REAL || mode == LAM_LANES_MIRRORED) {
        v = (mode == LAM_LANES_REAL) ? lam_lanes_real(acc, rq->multiplier, rq->shift)
                                     : lam_lanes_add(lam_lanes_real_cut(acc, rq->multiplier, rq->shift), rq->offset);
        return saturates ? v : lam_lanes_clamp(v, rq->low, rq->high);
    }
    if (mode == LAM_LANES_LINED) {
        v = lam_lanes_sra(lam_lanes_add(lam_lanes_mul_high(acc, rq->multiplier), rq->offset), rq->shift);
        return saturates ? v : lam_lanes_clamp(v, rq->low, rq->high);
    }
    if (mode == LAM_LANES_TFLITE) {
        v = lam_lanes_mul_round(acc, rq->multiplier);
        v = lam_lanes_add(v, lam_lanes_sign(v));
    } else {
        v = lam_lanes_mul_high((mode == LAM_LANES_RAISED) ? lam_lanes_times_64(acc) : acc, rq->multiplier);
    }
    v = lam_lanes_halve(lam_lanes_add(lam_lanes_sra(v, rq->shift), rq->offset));
    return saturates ? v : lam_lanes_clamp(v, rq->low, rq->high);
}

#endif /* LAM_LANES_REQUANT_H */
