/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * float32 from and to narrower types: float16, bfloat16, integers.  Bit-exact twin of codegen/float32/storage.py.
 *
 * Narrower floats are rounded to nearest, half to even, as ONNX's Cast has it, and infinite where they are too large.
 * Integers are cut towards zero and saturate; NaN is 0.  (ONNX leaves these two open; Arm's and RISC-V's instructions
 * saturate, x86's do not.)
 */
#ifndef LAM_F32_STORAGE_H
#define LAM_F32_STORAGE_H

#include "lam_f32_fixed.h"

/* m / 2^right, rounded to nearest, half to even; right of 1 .. 31. */
static inline uint32_t lam_f32_halves_to_even(uint32_t m, int32_t right)
{
    return (m + ((uint32_t)1 << (right - 1)) - 1u + ((m >> right) & 1u)) >> right;
}

/* The bits of x as a float16. */
static inline uint16_t lam_f32_to_f16(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits), sign = (bits >> 16) & 0x8000u;

    if (size >= 0x47800000u) { /* 2^16 */
        return (uint16_t)(sign | ((size > LAM_F32_INFINITY) ? 0x7E00u : 0x7C00u));
    }
    if (size >= 0x38800000u) { /* 2^-14 */
        return (uint16_t)(sign | lam_f32_halves_to_even(size - 0x38000000u, 13));
    }
    if (size < 0x33000000u) { /* 2^-25 */
        return (uint16_t)sign;
    }
    return (uint16_t)(sign | lam_f32_halves_to_even(lam_f32_mantissa(size), -1 - lam_f32_exponent(size)));
}

/* LAM_F32_HARDWARE_F16: the chip converts them itself, as AArch64 and every FPU of a Cortex-M do.
 * LAM_F32_SCALED_F16: a product takes an instruction, where it does not. */
#ifndef LAM_F32_HARDWARE_F16
#if defined(__GNUC__) && defined(__arm__) && defined(__ARM_FP) && defined(__ARM_ARCH_PROFILE) && (__ARM_ARCH_PROFILE == 77)
#define LAM_F32_HARDWARE_F16 1
#elif defined(__GNUC__) && defined(__aarch64__)
#define LAM_F32_HARDWARE_F16 1
#else
#define LAM_F32_HARDWARE_F16 0
#endif
#endif
#ifndef LAM_F32_SCALED_F16
#if defined(__riscv_flen)
#define LAM_F32_SCALED_F16 1
#else
#define LAM_F32_SCALED_F16 0
#endif
#endif

/* The number that has these bits as a float16 and is finite, as weights are: exact. */
static inline float lam_f32_from_finite_f16(uint16_t half)
{
#if LAM_F32_HARDWARE_F16
    float x = lam_f32_from_bits(half);

#if defined(__aarch64__)
    __asm__("fcvt %s0, %h0" : "+w"(x));
#else
    __asm__("vcvtb.f32.f16 %0, %0" : "+t"(x));
#endif
    return x;
#elif LAM_F32_SCALED_F16
    /* The sign is spread over three bits more; exponents are 112 less than those of a float32: 2^112 is the factor. */
    const uint32_t wide = (uint32_t)(int32_t)lam_wrap_i16(half);

    return lam_f32_from_bits((wide << 13) & 0x8FFFE000u) * lam_f32_from_bits(0x77800000u);
#else
    const uint32_t sign = ((uint32_t)half & 0x8000u) << 16, size = (uint32_t)half & 0x7FFFu;
    int32_t zeros;

    if (size >= 0x0400u) {
        return lam_f32_from_bits(sign | ((size << 13) + 0x38000000u));
    }
    if (size == 0u) {
        return lam_f32_from_bits(sign);
    }
    zeros = lam_f32_zeros(size);
    return lam_f32_from_bits(sign | (((uint32_t)(133 - zeros) << 23) + (size << (zeros - 8))));
#endif
}

/* The number that has these bits as a float16: exact. */
static inline float lam_f32_from_f16(uint16_t half)
{
#if !LAM_F32_HARDWARE_F16
    if ((half & 0x7C00u) == 0x7C00u) {
        return lam_f32_from_bits((((uint32_t)half & 0x8000u) << 16) | LAM_F32_INFINITY | (((uint32_t)half & 0x03FFu) << 13));
    }
#endif
    return lam_f32_from_finite_f16(half);
}

/* The nearest number that a float16 holds. */
static inline float lam_f32_as_float16(float x)
{
    return lam_f32_from_f16(lam_f32_to_f16(x));
}

/* The bits of x as a bfloat16, which is the upper half of a float32. */
static inline uint16_t lam_f32_to_bf16(float x)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits);
    const uint32_t rounded = (size > LAM_F32_INFINITY) ? LAM_F32_NAN >> 16 : lam_f32_halves_to_even(size, 16);
    return (uint16_t)(((bits >> 16) & 0x8000u) | rounded);
}

/* The number that has these bits as a bfloat16: exact. */
static inline float lam_f32_from_bf16(uint16_t upper)
{
    return lam_f32_from_bits((uint32_t)upper << 16);
}

/* The nearest number that a bfloat16 holds. */
static inline float lam_f32_as_bfloat16(float x)
{
    return lam_f32_from_bf16(lam_f32_to_bf16(x));
}

/* x cut towards zero, limited to low .. high, which includes 0; NaN is 0. */
static inline int32_t lam_f32_to_integer(float x, int32_t low, int32_t high)
{
    const uint32_t bits = lam_f32_bits(x), size = LAM_F32_SIZE(bits);
    uint32_t whole;

    if ((size < LAM_F32_ONE) || (size > LAM_F32_INFINITY)) {
        return 0;
    }
    if (size >= 0x4F000000u) { /* 2^31 */
        return ((bits & LAM_F32_SIGN) != 0u) ? low : high;
    }
    whole = (lam_f32_mantissa(size) << 8) >> (31 - lam_f32_exponent(size));
    return lam_clamp_i32(((bits & LAM_F32_SIGN) != 0u) ? -(int32_t)whole : (int32_t)whole, low, high);
}

/* x cut towards zero, limited to 0 .. 2^32 - 1; NaN is 0. */
static inline uint32_t lam_f32_to_u32(float x)
{
    const uint32_t bits = lam_f32_bits(x);

    if ((bits < LAM_F32_ONE) || (bits > LAM_F32_INFINITY)) {
        return 0u;
    }
    if (bits >= 0x4F800000u) { /* 2^32 */
        return UINT32_MAX;
    }
    return (lam_f32_mantissa(bits) << 8) >> (31 - lam_f32_exponent(bits));
}

static inline int32_t lam_f32_to_s32(float x)
{
    return lam_f32_to_integer(x, INT32_MIN, INT32_MAX);
}

static inline int8_t lam_f32_to_s8(float x)
{
    return (int8_t)lam_f32_to_integer(x, INT8_MIN, INT8_MAX);
}

static inline uint8_t lam_f32_to_u8(float x)
{
    return (uint8_t)lam_f32_to_integer(x, 0, UINT8_MAX);
}

static inline int16_t lam_f32_to_s16(float x)
{
    return (int16_t)lam_f32_to_integer(x, INT16_MIN, INT16_MAX);
}

static inline uint16_t lam_f32_to_u16(float x)
{
    return (uint16_t)lam_f32_to_integer(x, 0, UINT16_MAX);
}

#endif /* LAM_F32_STORAGE_H */
