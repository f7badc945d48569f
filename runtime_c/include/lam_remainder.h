/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Remainders of numbers of two scales, as float32 has them.  Bit-exact twin of codegen/ops/remainder.py.
 *
 * No state, no floats, no undefined behaviour within the ranges stated.
 */
#ifndef LAM_REMAINDER_H
#define LAM_REMAINDER_H

#include "lam_base.h"

/* steps * factor, below 2^42, rounded to 24 bits, halves to even: what float32 holds of it. */
static inline uint64_t lam_float_product(uint32_t steps, uint32_t factor)
{
    const uint64_t product = (uint64_t)steps * factor;
    uint32_t unit = 1, rest;

    for (uint32_t above = (uint32_t)(product >> 24); above != 0u; above >>= 1) {
        unit <<= 1;
    }
    rest = (uint32_t)product & (unit - 1u);
    return product - rest + (rest * 2u > unit || (rest * 2u == unit && ((uint32_t)product & unit) != 0u) ? unit : 0u);
}

/* a * ma * 2^da modulo b * mb * 2^db, with a's sign, both of them below 2^62; 0 for b = 0.  `down` bits are rounded off,
 * with which 31 are left. */
static inline int32_t lam_remainder_of(int32_t a, int32_t b, int32_t ma, int32_t da, int32_t mb, int32_t db, int32_t down)
{
    const uint64_t divisor = lam_float_product((uint32_t)(b < 0 ? -b : b), (uint32_t)mb) << db;
    const uint64_t number = lam_float_product((uint32_t)(a < 0 ? -a : a), (uint32_t)ma) << da;
    const uint64_t rest = divisor == 0u ? 0u : number % divisor;
    const int32_t size = (int32_t)((rest + (((uint64_t)1 << down) >> 1)) >> down);

    return a < 0 ? -size : size;
}

#endif /* LAM_REMAINDER_H */
