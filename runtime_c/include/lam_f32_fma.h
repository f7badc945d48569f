/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * a * b + c of float32, rounded once: the chip's instruction, or integers.  Bit-exact twin of codegen/float32/fused.py.
 */
#ifndef LAM_F32_FMA_H
#define LAM_F32_FMA_H

#include "lam_f32_fixed.h"

/* LAM_F32_HARDWARE_FMA: the compiler may use the chip's instruction. */
#ifndef LAM_F32_HARDWARE_FMA
#if defined(__GNUC__) && (defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__) || defined(__FP_FAST_FMAF))
#define LAM_F32_HARDWARE_FMA 1
#else
#define LAM_F32_HARDWARE_FMA 0
#endif
#endif

/* value / 2^62 * 2^exponent, rounded to nearest even, for value of 2^62 .. 2^63 - 1 whose last bit says whether there is
 * more behind it. */
static inline uint32_t lam_f32_rounded_once(int32_t exponent, uint64_t value)
{
    const int32_t below = (exponent < -126) ? -126 - exponent : 0;
    const int32_t right = 39 + ((below > 24) ? 24 : below);
    const uint64_t sticky = (below > 24) ? value >> 1 | 1u : value;
    const uint64_t kept = sticky >> right, rest = sticky & (((uint64_t)1 << right) - 1u), half = (uint64_t)1 << (right - 1);

    if (exponent > 127) {
        return LAM_F32_INFINITY;
    }
    return ((uint32_t)(exponent + below + 126) << 23) + (uint32_t)kept
        + (((rest > half) || ((rest == half) && ((kept & 1u) != 0u))) ? 1u : 0u);
}

/* The 24 bits of a number that is not 0, and its exponent. */
static inline uint32_t lam_f32_normal(uint32_t size, int32_t *exponent)
{
    const int32_t zeros = lam_f32_zeros(size);
    *exponent = (size < 0x00800000u) ? -118 - zeros : lam_f32_exponent(size);
    return (size < 0x00800000u) ? size << (zeros - 8) : lam_f32_mantissa(size);
}

/* value / 2^right for value below 2^63, with a last bit that says whether there is more behind it. */
static inline uint64_t lam_f32_sticky_right(uint64_t value, int32_t right)
{
    if (right > 62) {
        return 1u;
    }
    return (value >> right) | (((value & (((uint64_t)1 << right) - 1u)) != 0u) ? 1u : 0u);
}

/* In integers. */
static inline float lam_f32_whole_fma(float a, float b, float c)
{
    const uint32_t a_bits = lam_f32_bits(a), b_bits = lam_f32_bits(b), c_bits = lam_f32_bits(c);
    const uint32_t a_size = LAM_F32_SIZE(a_bits), b_size = LAM_F32_SIZE(b_bits), c_size = LAM_F32_SIZE(c_bits);
    uint32_t sign = (a_bits ^ b_bits) & LAM_F32_SIGN;
    uint64_t product, other;
    int32_t a_exponent, b_exponent, c_exponent, exponent, zeros;

    if ((a_size >= LAM_F32_INFINITY) || (b_size >= LAM_F32_INFINITY) || (a_size == 0u) || (b_size == 0u)) {
        return lam_f32_product(a, b) + c; /* nothing to round in the product */
    }
    if (c_size >= LAM_F32_INFINITY) {
        return c;
    }
    product = (uint64_t)lam_f32_normal(a_size, &a_exponent) * lam_f32_normal(b_size, &b_exponent);
    exponent = a_exponent + b_exponent + 2; /* product * 2^14 / 2^62 * 2^exponent */
    product <<= 14;
    if (c_size != 0u) {
        other = (uint64_t)lam_f32_normal(c_size, &c_exponent) << 37; /* half of 2^62, so that the sum stays below 2^63 */
        c_exponent += 2;
        if (c_exponent > exponent) {
            product = lam_f32_sticky_right(product, c_exponent - exponent);
            exponent = c_exponent;
        } else {
            other = lam_f32_sticky_right(other, exponent - c_exponent);
        }
        if (sign == (c_bits & LAM_F32_SIGN)) {
            product += other;
        } else if (product >= other) {
            product -= other;
        } else {
            product = other - product;
            sign ^= LAM_F32_SIGN;
        }
        if (product == 0u) {
            return 0.0f;
        }
    }
    zeros = lam_f32_zeros_64(product) - 1;
    return lam_f32_from_bits(sign | lam_f32_rounded_once(exponent - zeros, product << zeros));
}

/* a * b + c, rounded once. */
static inline float lam_f32_fma(float a, float b, float c)
{
#if LAM_F32_HARDWARE_FMA
    return __builtin_fmaf(a, b, c);
#else
    return lam_f32_whole_fma(a, b, c);
#endif
}

#endif /* LAM_F32_FMA_H */
