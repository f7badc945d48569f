/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What float32 arithmetic stands on: bits, products that no compiler joins with a sum, the lesser and the greater of two.
 * Bit-exact twin of codegen/float32/.
 *
 * Every operation is the IEEE one, rounded to nearest even, and its result is a float32: nothing is kept wider, nothing
 * is fused, denormal numbers count.  A NaN is a NaN, whatever its payload.
 */
#ifndef LAM_F32_H
#define LAM_F32_H

#include <float.h>

#include "lam_base.h"

#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "lam_f32.h: results are defined to the bit, which -ffast-math and /fp:fast give up"
#endif
#if defined(__FINITE_MATH_ONLY__) && (__FINITE_MATH_ONLY__ == 1)
#error "lam_f32.h: infinities and NaN are values, which -ffinite-math-only gives up"
#endif
/* 16: only numbers narrower than float are computed in their own type. */
#if defined(FLT_EVAL_METHOD) && (FLT_EVAL_METHOD != 0) && (FLT_EVAL_METHOD != 16)
#error "lam_f32.h: float is computed in a wider type here (x87?); build with -msse2 -mfpmath=sse"
#endif
LAM_STATIC_ASSERT((FLT_RADIX == 2) && (FLT_MANT_DIG == 24) && (FLT_MAX_EXP == 128), f32_is_ieee_single_precision);
LAM_STATIC_ASSERT(sizeof(float) == sizeof(uint32_t), f32_has_32_bits);

/* clang and MSVC fuse within one expression unless they are told.  (clang's own -ffp-contract=fast overrules this, and
 * nothing tells the preprocessor: a build must not ask for it.) */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

/* Helium's vectors flush denormal numbers to zero, and gcc makes such vectors of plain loops: it is told to make none of
 * what follows.  (clang cannot be told so here: its build needs -fno-vectorize -fno-slp-vectorize.) */
#if defined(__ARM_FEATURE_MVE) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-vectorize", "no-tree-slp-vectorize")
#endif

/* LAM_F32_FUSES: this compiler may fuse a product with a sum, and the chip has the instruction.  gcc does in its gnu
 * modes, across statements.  A build with -ffp-contract=off defines LAM_F32_FUSES as 0 and gets its vectors back. */
#ifndef LAM_F32_FUSES
#if defined(__GNUC__) && !defined(__clang__) && !defined(__STRICT_ANSI__) && defined(__FP_FAST_FMAF)
#define LAM_F32_FUSES 1
#else
#define LAM_F32_FUSES 0
#endif
#endif

#define LAM_F32_NAN 0x7FC00000u      /* the NaN that functions return */
#define LAM_F32_INFINITY 0x7F800000u
#define LAM_F32_SIGN 0x80000000u

/* The 32 bits of x: sign, exponent plus 127, fraction. */
static inline uint32_t lam_f32_bits(float x)
{
    uint32_t bits;

    (void)memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The number that has these bits. */
static inline float lam_f32_from_bits(uint32_t bits)
{
    float x;

    (void)memcpy(&x, &bits, sizeof x);
    return x;
}

/* x, which is rounded to a float32 here: no sum that follows is fused with the product that x may be. */
static inline float lam_f32_rounded(float x)
{
#if LAM_F32_FUSES && (defined(__i386__) || defined(__x86_64__))
    __asm__("" : "+x"(x));
    return x;
#elif LAM_F32_FUSES && defined(__arm__)
    __asm__("" : "+t"(x));
    return x;
#elif LAM_F32_FUSES && defined(__aarch64__)
    __asm__("" : "+w"(x));
    return x;
#elif LAM_F32_FUSES && (defined(__riscv) || defined(__powerpc__))
    __asm__("" : "+f"(x));
    return x;
#elif LAM_F32_FUSES
    volatile float stored = x;
    return stored;
#else
    return x;
#endif
}

/* a * b, rounded before anything is added to it. */
static inline float lam_f32_product(float a, float b)
{
    return lam_f32_rounded(a * b);
}

static inline int32_t lam_f32_is_nan(float x)
{
    return (lam_f32_bits(x) & ~LAM_F32_SIGN) > LAM_F32_INFINITY;
}

/* The lesser; a NaN wins over any number, and the first of two equal ones (-0 and +0) over the second. */
static inline float lam_f32_minimum(float a, float b)
{
    return ((a <= b) || lam_f32_is_nan(a)) ? a : b;
}

/* The greater, as lam_f32_minimum. */
static inline float lam_f32_maximum(float a, float b)
{
    return ((a >= b) || lam_f32_is_nan(a)) ? a : b;
}

#endif /* LAM_F32_H */
