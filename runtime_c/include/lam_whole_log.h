/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Logarithms of whole numbers.  Bit-exact twin of codegen/ops/whole.py.  No state, no undefined behaviour.
 */
#ifndef LAM_WHOLE_LOG_H
#define LAM_WHOLE_LOG_H

#include "lam_fixed.h"

/* The natural logarithm of a in units of 2^-24, plus b, wrapping around; INT32_MIN where a is not above 0. */
static inline int32_t lam_log(int32_t a, int32_t b)
{
    const int32_t zeros = a < 32768 ? 16 : 0; /* of a small number bits would be cut off that count */

    if (a <= 0) {
        return INT32_MIN;
    }
    return lam_wrap_i32((uint32_t)lam_fixed_logarithm(a * ((int32_t)1 << zeros), 31 - zeros, 7) + (uint32_t)b);
}

#endif /* LAM_WHOLE_LOG_H */
