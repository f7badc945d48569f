/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Powers of 31-bit numbers.  Bit-exact twin of codegen/ops/response.py.  No state, no floats, no undefined behaviour.
 */
#ifndef LAM_RESPONSE_H
#define LAM_RESPONSE_H

#include "lam_base.h"

/* Bits of d, which is above 0. */
static inline int32_t lam_response_bits(int32_t d)
{
    int32_t bits = 0;

    for (uint32_t rest = (uint32_t)d; rest != 0u; rest >>= 1) {
        bits++;
    }
    return bits;
}

/* A power of d, which has so many bits: from a curve of 257 numbers, times what a power of two becomes. */
static inline int32_t lam_response_factor(int32_t d, int32_t bits, const int32_t *curve, int32_t power)
{
    const int32_t mantissa = (int32_t)((uint32_t)d << (31 - bits));
    const int32_t *at = curve + ((mantissa >> 22) - 256);
    const int32_t f = at[0] + (int32_t)(((int64_t)(at[1] - at[0]) * (mantissa & 0x3FFFFF)) >> 22);

    return (int32_t)(((int64_t)f * power + ((int64_t)1 << 30)) >> 31);
}

#endif /* LAM_RESPONSE_H */
