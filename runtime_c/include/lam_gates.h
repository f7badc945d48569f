/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What gates of recurrences are made of.  Bit-exact twin of codegen/ops/recurrent.py.
 *
 * A gate's number has 26 bits behind the point, a share 31 of them, -2^31 and 2^31 themselves left out.  Everything is
 * rounded, halves up.  No state, no libc, no undefined behaviour within the ranges stated.
 */
#ifndef LAM_GATES_H
#define LAM_GATES_H

#include "lam_base.h"
#include "lam_requant.h"

/* x / 2^right, for right 0 .. 62 and |x| below 2^62. */
static inline int64_t lam_gate_halved(int64_t x, int32_t right)
{
    return (x + (((int64_t)1 << right) >> 1)) >> right;
}

/* A share of a number of 32 bits, or of two such numbers' difference. */
static inline int64_t lam_gate_share(int32_t share, int64_t x)
{
    return lam_gate_halved(share * x, 31);
}

/* What goes into a gate's function: both sums by their factors, 2^30 - 1 at most, within -bound .. bound. */
static inline int32_t lam_gate_number(int32_t x, int32_t mx, int32_t sum, int32_t mh, int32_t right, int32_t bound)
{
    return lam_clamp_i64(lam_gate_halved((int64_t)x * mx + (int64_t)sum * mh, right), -bound, bound);
}

/* The same, and `left`, a sum of what is left of states in steps of 2^-8 of theirs, |left| below 2^31. */
static inline int32_t lam_gate_number_finer(int32_t x, const int32_t *row, int32_t sum, int32_t left, int32_t bound)
{
    const int64_t more = lam_gate_halved((int64_t)left * row[1], 8);

    return lam_clamp_i64(lam_gate_halved((int64_t)x * row[0] + (int64_t)sum * row[1] + more, row[2]), -bound, bound);
}

/* The logistic function of a gate's number less a half, as a share, from a table of 769 entries over 0 .. 12. */
static inline int32_t lam_gate_curve(int32_t v, const uint16_t *table)
{
    const uint32_t size = (uint32_t)(v < 0 ? -v : v), entry = size >> 20;
    uint32_t found = (uint32_t)table[768] << 14;

    if (entry < 768u) {
        const uint32_t low = table[entry], high = table[entry + 1u];
        found = (low << 14) + (high - low) * ((size & 0xFFFFFu) >> 6);
    }
    return v < 0 ? -(int32_t)found : (int32_t)found;
}

/* 1 / (1 + exp(-v)) as a share, for v above -2^31. */
static inline int32_t lam_gate_logistic(int32_t v, const uint16_t *table)
{
    return ((int32_t)1 << 30) + lam_gate_curve(v, table);
}

/* tanh(v) as a share, for v above -2^31. */
static inline int32_t lam_gate_tanh(int32_t v, const uint16_t *table)
{
    return 2 * lam_gate_curve(lam_clamp_i64((int64_t)v * 2, -INT32_MAX, INT32_MAX), table);
}

#endif
