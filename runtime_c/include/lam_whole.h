/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Quotients, remainders, powers and square roots of whole numbers.  Bit-exact twin of codegen/ops/whole.py.
 *
 * Defined for every pair of numbers: by 0 a quotient is the number at the end of the range that has the sign of a (0 for
 * 0), and a remainder 0; INT32_MIN / -1 wraps around to INT32_MIN.  No state, no undefined behaviour.
 */
#ifndef LAM_WHOLE_H
#define LAM_WHOLE_H

#include "lam_wrap.h"

/* a / b towards zero. */
static inline int32_t lam_quotient(int32_t a, int32_t b)
{
    if (b == 0) {
        return a > 0 ? INT32_MAX : (a < 0 ? INT32_MIN : 0);
    }
    return b == -1 && a == INT32_MIN ? INT32_MIN : a / b;
}

/* a - b * (a / b, rounded down): 0, or of b's sign. */
static inline int32_t lam_floor_remainder(int32_t a, int32_t b)
{
    const int32_t rest = b == 0 || b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* a / b, rounded down. */
static inline int32_t lam_floor_quotient(int32_t a, int32_t b)
{
    const int32_t rest = b == 0 || b == -1 ? 0 : a % b;
    return lam_quotient(a, b) - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
}

/* a - b * (a / b): 0, or of a's sign. */
static inline int32_t lam_remainder(int32_t a, int32_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

/* a by b bits to the left; 0 where b is below 0 or above 31. */
static inline int32_t lam_shift_left(int32_t a, int32_t b)
{
    return b < 0 || b > 31 ? 0 : lam_wrap_i32((uint32_t)a << b);
}

/* a by b bits to the right, zeros come in; 0 where b is below 0 or above 31. */
static inline int32_t lam_shift_right(int32_t a, int32_t b)
{
    return b < 0 || b > 31 ? 0 : lam_wrap_i32((uint32_t)a >> b);
}

/* a by b bits to the right, its sign comes in; 0 or -1 where b is below 0 or above 31. */
static inline int32_t lam_shift_down(int32_t a, int32_t b)
{
    const int32_t by = b < 0 || b > 31 ? 31 : b;
    return a < 0 ? -1 - (int32_t)((uint32_t)(-1 - a) >> by) : (int32_t)((uint32_t)a >> by);
}

/* a to the power of b, the low 32 bits; where b is below 0 what 1 divided by a to the -b is, towards zero. */
static inline int32_t lam_power(int32_t a, int32_t b)
{
    uint32_t square = (uint32_t)a, power = 1;

    if (b < 0) {
        return a == 0 ? INT32_MAX : (a == 1 || a == -1 ? (b % 2 != 0 ? a : 1) : 0);
    }
    for (uint32_t left = (uint32_t)b; left != 0u; left >>= 1) {
        power *= (left & 1u) != 0u ? square : 1u;
        square *= square;
    }
    return lam_wrap_i32(power);
}

/* The square root of a * 2^b, rounded down; 0 where a is below 0, or b below 0 or above 30. */
static inline int32_t lam_root(int32_t a, int32_t b)
{
    uint64_t rest = a < 0 || b < 0 || b > 30 ? 0 : (uint64_t)a << b;
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 60; bit != 0; bit >>= 2) {
        const uint64_t tried = root + bit;
        root >>= 1;
        if (rest >= tried) {
            rest -= tried;
            root += bit;
        }
    }
    return (int32_t)root;
}

#endif /* LAM_WHOLE_H */
