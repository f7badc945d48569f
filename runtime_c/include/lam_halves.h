/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Two sums in a word: low + 2^16 * high, modulo 2^32, each of them at the end in the range of int16_t.  What is added
 * meanwhile may leave it.
 */
#ifndef LAM_HALVES_H
#define LAM_HALVES_H

#include "lam_base.h"

/* The sum in the lower half. */
static inline int32_t lam_lower_sum(uint32_t both)
{
    return (int16_t)(uint16_t)(both & 0xFFFFu);
}

/* The sum in the upper half, of which `lower` is the one in the lower. */
static inline int32_t lam_upper_sum(uint32_t both, int32_t lower)
{
    return (int32_t)(both - (uint32_t)lower) >> 16;
}

/* The same number, of which the compiler knows nothing: it keeps it in a register, and spells no constant anew. */
static inline uint32_t lam_unknown(uint32_t number)
{
#if defined(__GNUC__) || defined(__clang__)
    __asm__("" : "+r"(number));
#endif
    return number;
}

#endif /* LAM_HALVES_H */
