/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Requantization that rounds halves otherwise than up: to the even number, towards zero, away from zero.
 * Bit-exact twin of codegen/fixedpoint.py: requantize_rounded() and divide_by_pot().
 */
#ifndef LAM_REQUANT_ROUNDED_H
#define LAM_REQUANT_ROUNDED_H

#include "lam_base.h"
#include "lam_requant.h"

#define LAM_HALF_UP 0
#define LAM_HALF_EVEN 1
#define LAM_HALF_DOWN 2
#define LAM_HALF_AWAY 3

/* 1 where a half, of which `floor` lies below it and which is `negative` or not, goes down to `floor`, else 0. */
static inline int32_t lam_half_stays(int32_t floor, int32_t negative, int32_t rounding)
{
    return (rounding == LAM_HALF_EVEN)   ? 1 - (floor & 1)
           : (rounding == LAM_HALF_DOWN) ? 1 - negative
           : (rounding == LAM_HALF_AWAY) ? negative
                                         : 0;
}

/* clamp(zp + x / 2^shift), to nearest; shift 1 .. 62, and |x / 2^shift| + |zp| below 2^62. */
static inline int32_t lam_rounded_q(int64_t x, int32_t shift, int32_t rounding, int32_t zp, int32_t low, int32_t high)
{
    const int64_t floor = x >> shift, mask = ((int64_t)1 << shift) - 1;
    const int32_t stays = lam_half_stays((int32_t)(floor & 1), (x < 0) ? 1 : 0, rounding);
    return lam_clamp_i64(floor + (((x & mask) > (mask >> 1) + stays) ? 1 : 0), low - zp, high - zp) + zp;
}

/* The whole step: acc * multiplier / 2^shift.  |acc * multiplier| <= 2^62, shift 1 .. 62.  Twin: requantize_rounded. */
static inline int32_t lam_requant_rounded_q(int64_t acc, int32_t multiplier, int32_t shift, int32_t rounding, int32_t zp,
                                            int32_t low, int32_t high)
{
    return lam_rounded_q(acc * multiplier, shift, rounding, zp, low, high);
}

/* Twice acc / 2^(shift + 1), with one half added, as lam_twice_* of lam_requant_fast.h.
 *
 *   acc     -2^31 + 2 .. 2^31 - 2
 *   shift   1 .. 30
 *
 * A half that goes down is one unit of the sum below the half, and so is nothing else that this changes.
 */
static inline int32_t lam_twice_rounded(int32_t acc, int32_t rounding, int32_t shift, int32_t centre)
{
    const int32_t stays = lam_half_stays(acc >> shift >> 1, (acc < 0) ? 1 : 0, rounding);
    return ((acc - stays) >> shift) + centre;
}

#endif /* LAM_REQUANT_ROUNDED_H */
