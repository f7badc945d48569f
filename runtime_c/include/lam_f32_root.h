/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The square root of float32, rounded to nearest as IEEE 754 has it: the chip's instruction, or integers.
 * Twin: numpy.sqrt.
 */
#ifndef LAM_F32_ROOT_H
#define LAM_F32_ROOT_H

#include "lam_f32_fixed.h"

/* LAM_F32_HARDWARE_ROOT: the chip has an instruction that this file knows. */
#ifndef LAM_F32_HARDWARE_ROOT
#if defined(__GNUC__) && (defined(__SSE__) || defined(__aarch64__) || (defined(__ARM_FP) && ((__ARM_FP & 4) != 0)) \
    || (defined(__riscv_flen) && defined(__riscv_fsqrt)))
#define LAM_F32_HARDWARE_ROOT 1
#else
#define LAM_F32_HARDWARE_ROOT 0
#endif
#endif

/* The 24 bits of sqrt(v * 2^16), rounded to nearest, for 2^30 <= v < 2^32. */
static inline uint32_t lam_f32_root_24(uint32_t v)
{
    const uint64_t wanted = (uint64_t)v << 16;
    uint32_t root = (lam_f32_fixed_root(v) + 64u) >> 7;
    uint64_t square = (uint64_t)root * root;

    if (wanted > square + root) {
        return root + 1u;
    }
    return (wanted <= square - root) ? root - 1u : root;
}

/* The square root in integers. */
static inline float lam_f32_whole_root(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits);
    uint32_t m;
    int32_t zeros, exponent;

    if ((size == 0u) || (bits == LAM_F32_INFINITY)) {
        return x;
    }
    if (bits > LAM_F32_INFINITY) {
        return lam_f32_from_bits(LAM_F32_NAN);
    }
    zeros = lam_f32_zeros(size);
    m = (size < 0x00800000u) ? size << zeros : lam_f32_mantissa(size) << 8;
    exponent = (size < 0x00800000u) ? -118 - zeros : lam_f32_exponent(size);
    m >>= ((uint32_t)exponent & 1u) ^ 1u;
    exponent = (exponent - (int32_t)((uint32_t)exponent & 1u)) / 2;
    return lam_f32_from_bits(((uint32_t)(exponent + 126) << 23) + lam_f32_root_24(m));
}

/* The square root; NaN below 0, -0 of -0. */
static inline float lam_f32_sqrt(float x)
{
#if LAM_F32_HARDWARE_ROOT && defined(__SSE__)
    float root;
    __asm__("sqrtss %1, %0" : "=x"(root) : "x"(x));
    return root;
#elif LAM_F32_HARDWARE_ROOT && defined(__aarch64__)
    float root;
    __asm__("fsqrt %s0, %s1" : "=w"(root) : "w"(x));
    return root;
#elif LAM_F32_HARDWARE_ROOT && defined(__arm__)
    float root;
    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(x));
    return root;
#elif LAM_F32_HARDWARE_ROOT
    float root;
    __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(x));
    return root;
#else
    return lam_f32_whole_root(x);
#endif
}

#endif /* LAM_F32_ROOT_H */
