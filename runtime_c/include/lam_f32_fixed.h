/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What the functions of float32 are made of: a float32 taken apart, fixed-point products, and a float32 put together.
 * Bit-exact twin of codegen/float32/fixed.py.
 *
 * A number in Qn is raw / 2^n.  The integers are the same with or without a floating-point unit, in every compiler mode.
 */
#ifndef LAM_F32_FIXED_H
#define LAM_F32_FIXED_H

#include "lam_f32.h"
#include "lam_fixed.h"

/* Bits without the sign, and some of their values. */
#define LAM_F32_SIZE(bits) ((bits) & ~LAM_F32_SIGN)
#define LAM_F32_ONE 0x3F800000u

/* Leading zero bits of x, which is not 0. */
static inline int32_t lam_f32_zeros(uint32_t x)
{
#if defined(__GNUC__) && (defined(__ARM_FEATURE_CLZ) || defined(__x86_64__) || defined(__i386__) || defined(__powerpc__))
    return __builtin_clz(x);
#else
    int32_t zeros = 0;
    zeros += (x < 0x00010000u) ? 16 : 0;
    zeros += ((x << zeros) < 0x01000000u) ? 8 : 0;
    zeros += ((x << zeros) < 0x10000000u) ? 4 : 0;
    zeros += ((x << zeros) < 0x40000000u) ? 2 : 0;
    zeros += ((x << zeros) < 0x80000000u) ? 1 : 0;
    return zeros;
#endif
}

/* Leading zero bits of x, which is not 0. */
static inline int32_t lam_f32_zeros_64(uint64_t x)
{
    const uint32_t high = (uint32_t)(x >> 32);
    return (high != 0u) ? lam_f32_zeros(high) : 32 + lam_f32_zeros((uint32_t)x);
}

/* floor(a * b / 2^32). */
static inline int32_t lam_f32_high(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b) >> 32);
}

/* The exponent e of a normal number of size bits: 2^e <= |x| < 2^(e + 1). */
static inline int32_t lam_f32_exponent(uint32_t size)
{
    return (int32_t)(size >> 23) - 127;
}

/* |x| / 2^e of a normal number, 2^23 .. 2^24 - 1. */
static inline uint32_t lam_f32_mantissa(uint32_t size)
{
    return (size & 0x007FFFFFu) | 0x00800000u;
}

/* The bits of value / 2^30 * 2^exponent, rounded to nearest.
 *
 *   value     2^30 .. 2^31, or so little outside that it rounds to one of them
 *   exponent  -126 .. 127
 */
static inline uint32_t lam_f32_pack(int32_t exponent, uint32_t value)
{
    return ((uint32_t)(exponent + 126) << 23) + ((value + 64u) >> 7);
}

/* As lam_f32_pack for value of 2^29 .. 2^32 - 1. */
static inline uint32_t lam_f32_pack_about(int32_t exponent, uint32_t value)
{
    if (value < ((uint32_t)1 << 30)) {
        return lam_f32_pack(exponent - 1, value << 1);
    }
    return (value < LAM_F32_SIGN) ? lam_f32_pack(exponent, value) : lam_f32_pack(exponent + 1, value >> 1);
}

/* As lam_f32_pack with exponents from -150 on, where the result is denormal. */
static inline uint32_t lam_f32_pack_denormal(int32_t exponent, uint32_t value)
{
    const int32_t below = (exponent < -126) ? -126 - exponent : 0;
    return ((uint32_t)(exponent + below + 126) << 23) + ((value + ((uint32_t)64 << below)) >> (7 + below));
}

/* The bits of |x| * factor / 2^31 * 2^exponent, rounded once, for a normal x and a factor of 2^27 .. 2^32 - 1. */
static inline uint32_t lam_f32_scaled(uint32_t size, int32_t exponent, uint32_t factor)
{
    const uint32_t value = (uint32_t)(((uint64_t)(lam_f32_mantissa(size) << 8) * factor) >> 32);
    const int32_t zeros = lam_f32_zeros(value);
    const int32_t power = lam_f32_exponent(size) + exponent + 1 - zeros;
    return (power < -150) ? 0u : lam_f32_pack_denormal(power, (value << zeros) >> 1);
}

/* value / 2^fraction_bits as a float32 with this sign bit; 0 is +0.  The result is normal. */
static inline float lam_f32_from_fixed(uint32_t sign, uint64_t value, int32_t fraction_bits)
{
    int32_t zeros;

    if (value == 0u) {
        return lam_f32_from_bits(0u);
    }
    zeros = lam_f32_zeros_64(value);
    return lam_f32_from_bits(sign | lam_f32_pack(63 - zeros - fraction_bits, (uint32_t)((value << zeros) >> 33)));
}

/* x * x in Q(30 - 2 * at), for a normal x below 2^at; at is -1, 0 or 1.  0 where x is below 2^-15. */
static inline int32_t lam_f32_fixed_square(uint32_t size, int32_t at)
{
    const int32_t right = 2 * (at - 1 - lam_f32_exponent(size));
    const int32_t value = (int32_t)(lam_f32_mantissa(size) << 7);
    return (right > 31) ? 0 : lam_f32_high(value, value) >> right;
}

/* c + x * rest for x in Q32. */
static inline int32_t lam_f32_step(int32_t c, int32_t rest, int32_t x)
{
    return c + lam_f32_high(rest, x);
}

/* c[0] + x * (c[1] + x * (c[2] + x * rest)) for x in Q32. */
static inline int32_t lam_f32_steps_3(const int32_t *c, int32_t rest, int32_t x)
{
    return lam_f32_step(c[0], lam_f32_step(c[1], lam_f32_step(c[2], rest, x), x), x);
}

/* The polynomial of coefficients c[0] .. c[2] at x in Q32. */
static inline int32_t lam_f32_polynomial_2(const int32_t *c, int32_t x)
{
    return lam_f32_step(c[0], lam_f32_step(c[1], c[2], x), x);
}

/* The polynomial of coefficients c[0] .. c[3] at x in Q32. */
static inline int32_t lam_f32_polynomial_3(const int32_t *c, int32_t x)
{
    return lam_f32_steps_3(c, c[3], x);
}

/* The polynomial of coefficients c[0] .. c[4] at x in Q32. */
static inline int32_t lam_f32_polynomial_4(const int32_t *c, int32_t x)
{
    return lam_f32_step(c[0], lam_f32_polynomial_3(c + 1, x), x);
}

/* The polynomial of coefficients c[0] .. c[5] at x in Q32. */
static inline int32_t lam_f32_polynomial_5(const int32_t *c, int32_t x)
{
    return lam_f32_steps_3(c, lam_f32_polynomial_2(c + 3, x), x);
}

/* The polynomial of coefficients c[0] .. c[6] at x in Q32. */
static inline int32_t lam_f32_polynomial_6(const int32_t *c, int32_t x)
{
    return lam_f32_steps_3(c, lam_f32_polynomial_3(c + 3, x), x);
}

/* 2^31 / (1 + d / 2^31) for 0 <= d < 2^31, to about 2 units: a cubic, then two steps of Newton and Raphson. */
static inline uint32_t lam_f32_fixed_reciprocal(uint32_t d)
{
    static const int32_t cubic[4] = {714587280, -476391520, 357293640, -238195760};
    const uint32_t whole = d | LAM_F32_SIGN;
    int32_t y = lam_f32_polynomial_3(cubic, (int32_t)((d << 1) ^ LAM_F32_SIGN));
    int32_t rest;

    rest = (int32_t)(0u - (uint32_t)(((uint64_t)whole * (uint32_t)y) >> 29));
    y += lam_f32_high(y, rest);
    rest = (int32_t)(0u - (uint32_t)(((uint64_t)whole * (uint32_t)y) >> 29));
    return (uint32_t)(2 * (int64_t)y + (((int64_t)y * rest) >> 31));
}

/* value * (1 + square * slope), for both in Q32, |square * slope| < 1/2; value and result are below 2^32. */
static inline uint32_t lam_f32_grown(uint32_t value, int32_t square, int32_t slope)
{
    const int32_t more = lam_f32_high(slope, square);
    return value + (uint32_t)(int32_t)(((int64_t)value * more) >> 32);
}

/* 2^31 * sqrt(v / 2^32) for 2^30 <= v < 2^32, to about 2 units: 1 / sqrt by a quartic and one step of Newton and Raphson,
 * then one step on the root. */
static inline uint32_t lam_f32_fixed_root(uint32_t v)
{
    static const int32_t quartic[5] = {679478356, -525377566, 603504646, -1321976780, 2042526300};
    int32_t y = lam_f32_polynomial_4(quartic, (int32_t)(v - 0xA0000000u));
    const int32_t near = (int32_t)(((uint64_t)v * (uint32_t)lam_f32_high(y, y)) >> 32);
    uint32_t root;
    int64_t rest;

    y += lam_f32_high(y, (((int32_t)1 << 26) - near) * 32);
    root = (uint32_t)(((uint64_t)v * (uint32_t)y) >> 30);
    rest = (int64_t)((uint64_t)v << 30) - (int64_t)((uint64_t)root * root);
    return root + (uint32_t)(lam_f32_high(y, (int32_t)(rest >> 16)) >> 13);
}

#endif /* LAM_F32_FIXED_H */
