/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Functions of 16-bit numbers as straight pieces.  Bit-exact twin of codegen/ops/piecewise_linear.py.
 */
#ifndef LAM_PIECES_H
#define LAM_PIECES_H

#include "lam_base.h"
#include "lam_requant.h"

/* The last of `count` rising knots that is not above x; the first one never is.  Halves the range: 8 steps for 256. */
static inline int32_t lam_piece_of(const int16_t *knot, int32_t count, int32_t x)
{
    int32_t first = 0;
    while (count > 1) {
        const int32_t half = count / 2;
        if (knot[first + half] <= x) {
            first += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return first;
}

/* rise * slope + value * 2^9 in units of 2^-24, rounded half up and limited to low .. high.
 *
 *   rise   what x has come since its knot, 0 .. 65535
 *   slope  in units of 2^-24
 *   value  at the knot, in units of 2^-15
 */
static inline int32_t lam_on_piece(int32_t rise, int32_t slope, int32_t value, int32_t low, int32_t high)
{
    const int64_t y = (int64_t)rise * slope + (int64_t)value * 512 + ((int64_t)1 << 23);
    return lam_clamp_i64(y >> 24, low, high);
}

#endif /* LAM_PIECES_H */
