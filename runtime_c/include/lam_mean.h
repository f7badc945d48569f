/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Means in integers.  Bit-exact twin of codegen/ops/average.py:mean().
 */
#ifndef LAM_MEAN_H
#define LAM_MEAN_H

#include "lam_base.h"
#include "lam_requant.h"

/* total / count rounded to nearest, halves away from zero, limited to low .. high: TFLite's AVERAGE_POOL_2D.
 *
 *   total      sum of `count` values of 8 bits, zero point included
 *   count      1 .. 2^22 - 1
 *
 * |total| + count / 2 stays below 2^31.  No state, no libc.
 */
static inline int32_t lam_mean_q(int32_t total, int32_t count, int32_t low, int32_t high)
{
    const int32_t half = count / 2;
    return lam_clamp_i32((total > 0 ? total + half : total - half) / count, low, high);
}

/* As lam_mean_q where the sum, of up to 48 bits, needs more than 32. */
static inline int32_t lam_mean_64_q(int64_t total, int32_t count, int32_t low, int32_t high)
{
    const int32_t half = count / 2;
    return lam_clamp_i64((total > 0 ? total + half : total - half) / count, low, high);
}

#endif /* LAM_MEAN_H */
