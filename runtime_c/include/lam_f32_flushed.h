/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Products and sums of float32 that know no numbers below the least normal one: what is read or made there is a zero of
 * the same sign, before it is rounded, as Helium has it.  Bit-exact twin of add_product in codegen/ops/float32/sums.py.
 */
#ifndef LAM_F32_FLUSHED_H
#define LAM_F32_FLUSHED_H

#include "lam_f32_fixed.h"

#define LAM_F32_LEAST 0x00800000u /* the least normal number */

static inline float lam_f32_flush(float x)
{
    const uint32_t bits = lam_f32_bits(x);
    return (LAM_F32_SIZE(bits) < LAM_F32_LEAST) ? lam_f32_from_bits(bits & LAM_F32_SIGN) : x;
}

/* Whether the product of two normal numbers, which rounds to the least normal one, is below it. */
static inline int32_t lam_f32_rounds_up_to_least(float a, float b)
{
    const uint32_t first = LAM_F32_SIZE(lam_f32_bits(a)), second = LAM_F32_SIZE(lam_f32_bits(b));
    const uint64_t product = (uint64_t)lam_f32_mantissa(first) * lam_f32_mantissa(second);

    return (lam_f32_exponent(first) + lam_f32_exponent(second) == -127) && ((product >> 47) == 0u);
}

/* acc + a * b, the product rounded. */
static inline float lam_f32_flushed(float a, float b, float acc)
{
    const float x = lam_f32_flush(a), y = lam_f32_flush(b);
    float product = lam_f32_product(x, y);

    if ((LAM_F32_SIZE(lam_f32_bits(product)) == LAM_F32_LEAST) && lam_f32_rounds_up_to_least(x, y)) {
        product = lam_f32_from_bits(lam_f32_bits(product) & LAM_F32_SIGN);
    }
    return lam_f32_flush(lam_f32_flush(acc) + lam_f32_flush(product));
}

#endif /* LAM_F32_FLUSHED_H */
