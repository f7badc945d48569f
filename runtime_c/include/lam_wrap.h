/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums that wrap around, as those of a chip's registers do: they are added up unsigned, and read as signed at the end.
 * Compilers make nothing of these functions.  No state, no undefined or implementation-defined behaviour.
 */
#ifndef LAM_WRAP_H
#define LAM_WRAP_H

#include "lam_base.h"

/* The number of the same 32 bits in two's complement. */
static inline int32_t lam_wrap_i32(uint32_t x)
{
    return x <= (uint32_t)INT32_MAX ? (int32_t)x : -(int32_t)(UINT32_MAX - x) - 1;
}

/* The number of the low 8 bits in two's complement. */
static inline int8_t lam_wrap_i8(uint32_t x)
{
    const int32_t low = (int32_t)(x & 255u);
    return (int8_t)(low < 128 ? low : low - 256);
}

/* The number of the low 16 bits in two's complement. */
static inline int16_t lam_wrap_i16(uint32_t x)
{
    const int32_t low = (int32_t)(x & 0xFFFFu);
    return (int16_t)(low < 32768 ? low : low - 65536);
}

#endif /* LAM_WRAP_H */
