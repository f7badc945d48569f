/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums, roots and products of many whole numbers in fixed point.  Bit-exact twin of codegen/ops/total_pool.py.
 *
 * No state, no libc, no undefined behaviour within the ranges stated.
 */
#ifndef LAM_TOTAL_H
#define LAM_TOTAL_H

#include "lam_base.h"
#include "lam_signal.h"

/* x * 2^by, halves up, at most INT32_MAX; x below 2^62. */
static inline int32_t lam_scaled_u64(uint64_t x, int32_t by)
{
    if (by > 0) {
        const int32_t up = by < 31 ? by : 31;
        return x > ((uint32_t)INT32_MAX >> up) ? INT32_MAX : (int32_t)((uint32_t)x << up);
    }
    if (by < -62) {
        return 0;
    }
    if (by < 0) {
        x = (x >> -by) + ((x >> (-by - 1)) & 1u);
    }
    return x > (uint32_t)INT32_MAX ? INT32_MAX : (int32_t)x;
}

/* The root of x * 2^(2 * by), rounded down, at most INT32_MAX; by 0 .. 30.
 *
 * Of x as 64 bits the upper half has a root of 16 bits, and what that leaves over, divided by twice the root, gives the
 * lower 16, one too many at most (Zimmermann, Karatsuba Square Root, 1999). */
static inline int32_t lam_length_u64(uint64_t x, int32_t by)
{
    const uint32_t high = (uint32_t)(x >> 32);
    const uint32_t bits = high != 0u ? 32u + lam_bits_u32(high) : lam_bits_u32((uint32_t)x);
    const uint32_t pairs = (64u - bits) / 2u;
    uint32_t root = 0u;

    if (x == 0u) {
        return 0;
    }
    if ((uint32_t)by >= pairs) {
        return INT32_MAX;
    }
    x <<= 2u * pairs;
    uint32_t rest = (uint32_t)(x >> 32);
    for (uint32_t bit = (uint32_t)1 << 30; bit != 0u; bit >>= 2) {
        const uint32_t tried = root + bit;
        root >>= 1;
        if (rest >= tried) {
            rest -= tried;
            root += bit;
        }
    }
    const uint32_t low = (uint32_t)x;
    const uint32_t half = (rest << 15) | (low >> 17);
    const uint32_t more = half / root;
    const uint32_t left = ((half - more * root) << 1) | ((low >> 16) & 1u);
    root <<= 16;
    if (more > 0xFFFFu) {
        root |= 0xFFFFu;
    } else {
        root += more;
        root -= left <= 0xFFFFu && ((left << 16) | (low & 0xFFFFu)) < more * more ? 1u : 0u;
    }
    return (int32_t)(root >> (pairs - (uint32_t)by));
}

/* The highest 24 bits of m * d, halves up; the bits that go are added to the exponent.  m up to 2^24, d up to 255. */
static inline uint32_t lam_product_24(uint32_t m, uint32_t d, int32_t *exponent)
{
    const uint32_t x = m * d;
    if ((x >> 24) == 0u) {
        return x;
    }
    const uint32_t over = lam_bits_u32(x >> 24);
    *exponent += (int32_t)over;
    return (x >> over) + ((x >> (over - 1u)) & 1u);
}

/* The highest 31 bits of m * d likewise.  m up to 2^31, d up to 65535. */
static inline uint32_t lam_product_31(uint32_t m, uint32_t d, int32_t *exponent)
{
    const uint64_t x = (uint64_t)m * d;
    if ((x >> 31) == 0u) {
        return (uint32_t)x;
    }
    const uint32_t over = lam_bits_u32((uint32_t)(x >> 31));
    *exponent += (int32_t)over;
    return (uint32_t)(x >> over) + ((uint32_t)(x >> (over - 1u)) & 1u);
}

#endif /* LAM_TOTAL_H */
