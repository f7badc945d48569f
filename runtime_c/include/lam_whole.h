/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Quotients and remainders of whole numbers.  Bit-exact twin of codegen/ops/whole.py.
 *
 * Defined for every pair of numbers: by 0 a quotient is the number at the end of the range that has the sign of a (0 for
 * 0), and a remainder 0; INT32_MIN / -1 wraps around to INT32_MIN.  No state, no undefined behaviour.
 */
#ifndef LAM_WHOLE_H
#define LAM_WHOLE_H

#include "lam_base.h"

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

#endif /* LAM_WHOLE_H */
