/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sixteen float32 lanes: AVX-512, AVX, or plain C99, whichever the compiler may use.  All three give the same bits: each
 * lane is a sum of its own, and a product is rounded before it is added.
 *
 * `count` is 1 .. 16: lanes from there on are not read from memory (they are zero) and not written to it.
 */
#ifndef LAM_X86_F32_H
#define LAM_X86_F32_H

#include "lam_f32.h"

#if defined(__AVX512F__)
#define LAM_X86_F32_AVX512 1
#define LAM_X86_F32_AVX 0
#elif defined(__AVX__)
#define LAM_X86_F32_AVX512 0
#define LAM_X86_F32_AVX 1
#else
#define LAM_X86_F32_AVX512 0
#define LAM_X86_F32_AVX 0
#endif

#if LAM_X86_F32_AVX512 || LAM_X86_F32_AVX
#include <immintrin.h>
#endif

#if defined(__GNUC__) && (LAM_X86_F32_AVX512 || LAM_X86_F32_AVX)
#define LAM_X86_F32_ALWAYS __attribute__((always_inline))
#elif defined(__SANITIZE_ADDRESS__) /* keeps them out of line: gcc would take minutes over both sanitizers' blocks of arrays */
#define LAM_X86_F32_ALWAYS __attribute__((no_sanitize("undefined")))
#else
#define LAM_X86_F32_ALWAYS
#endif

#if LAM_X86_F32_AVX512

typedef __m512 lam_x86_f32;

static inline LAM_X86_F32_ALWAYS __mmask16 lam_x86_f32_mask(int32_t count)
{
    return (__mmask16)((1u << count) - 1u);
}

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_load(const float *p, int32_t count)
{
    return (count == 16) ? _mm512_loadu_ps(p) : _mm512_maskz_loadu_ps(lam_x86_f32_mask(count), p);
}

static inline LAM_X86_F32_ALWAYS void lam_x86_f32_store(float *p, int32_t count, lam_x86_f32 a)
{
    if (count == 16) {
        _mm512_storeu_ps(p, a);
    } else {
        _mm512_mask_storeu_ps(p, lam_x86_f32_mask(count), a);
    }
}

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_all(float x)
{
    return _mm512_set1_ps(x);
}

/* acc + a * b, the product rounded. */
static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_add_product(lam_x86_f32 acc, lam_x86_f32 a, lam_x86_f32 b)
{
    lam_x86_f32 product = _mm512_mul_ps(a, b);
#if LAM_F32_FUSES
    __asm__("" : "+v"(product));
#endif
    return _mm512_add_ps(acc, product);
}

/* Of NaN and number, and of two equal ones, the second operand of these instructions is the result. */
static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_at_least(lam_x86_f32 a, float low)
{
    return _mm512_max_ps(_mm512_set1_ps(low), a);
}

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_at_most(lam_x86_f32 a, float high)
{
    return _mm512_min_ps(_mm512_set1_ps(high), a);
}

#elif LAM_X86_F32_AVX

typedef struct lam_x86_f32 {
    __m256 h[2];
} lam_x86_f32;

/* The lanes of one half that are among the first `count` of all. */
static inline LAM_X86_F32_ALWAYS __m256i lam_x86_f32_mask(int32_t count, int32_t half)
{
    static const int32_t ones[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(ones + 16 - count + 8 * half));
}

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_load(const float *p, int32_t count)
{
    lam_x86_f32 a;

    if (count == 16) {
        a.h[0] = _mm256_loadu_ps(p);
        a.h[1] = _mm256_loadu_ps(p + 8);
    } else {
        a.h[0] = _mm256_maskload_ps(p, lam_x86_f32_mask(count, 0));
        a.h[1] = (count > 8) ? _mm256_maskload_ps(p + 8, lam_x86_f32_mask(count, 1)) : _mm256_setzero_ps();
    }
    return a;
}

static inline LAM_X86_F32_ALWAYS void lam_x86_f32_store(float *p, int32_t count, lam_x86_f32 a)
{
    if (count == 16) {
        _mm256_storeu_ps(p, a.h[0]);
        _mm256_storeu_ps(p + 8, a.h[1]);
    } else {
        _mm256_maskstore_ps(p, lam_x86_f32_mask(count, 0), a.h[0]);
        if (count > 8) {
            _mm256_maskstore_ps(p + 8, lam_x86_f32_mask(count, 1), a.h[1]);
        }
    }
}

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_all(float x)
{
    lam_x86_f32 a;

    a.h[0] = a.h[1] = _mm256_set1_ps(x);
    return a;
}

static inline LAM_X86_F32_ALWAYS __m256 lam_x86_f32_half(__m256 acc, __m256 a, __m256 b)
{
    __m256 product = _mm256_mul_ps(a, b);
#if LAM_F32_FUSES
    __asm__("" : "+x"(product));
#endif
    return _mm256_add_ps(acc, product);
}

/* acc + a * b, the product rounded. */
static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_add_product(lam_x86_f32 acc, lam_x86_f32 a, lam_x86_f32 b)
{
    acc.h[0] = lam_x86_f32_half(acc.h[0], a.h[0], b.h[0]);
    acc.h[1] = lam_x86_f32_half(acc.h[1], a.h[1], b.h[1]);
    return acc;
}

/* Of NaN and number, and of two equal ones, the second operand of these instructions is the result. */
static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_at_least(lam_x86_f32 a, float low)
{
    a.h[0] = _mm256_max_ps(_mm256_set1_ps(low), a.h[0]);
    a.h[1] = _mm256_max_ps(_mm256_set1_ps(low), a.h[1]);
    return a;
}

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_at_most(lam_x86_f32 a, float high)
{
    a.h[0] = _mm256_min_ps(_mm256_set1_ps(high), a.h[0]);
    a.h[1] = _mm256_min_ps(_mm256_set1_ps(high), a.h[1]);
    return a;
}

#else

typedef struct lam_x86_f32 {
    float e[16];
} lam_x86_f32;

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_load(const float *p, int32_t count)
{
    lam_x86_f32 a;

    for (int32_t i = 0; i < 16; i++) {
        a.e[i] = (i < count) ? p[i] : 0.0f;
    }
    return a;
}

static inline LAM_X86_F32_ALWAYS void lam_x86_f32_store(float *p, int32_t count, lam_x86_f32 a)
{
    for (int32_t i = 0; i < count; i++) {
        p[i] = a.e[i];
    }
}

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_all(float x)
{
    lam_x86_f32 a;

    for (int32_t i = 0; i < 16; i++) {
        a.e[i] = x;
    }
    return a;
}

/* acc + a * b, the product rounded. */
static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_add_product(lam_x86_f32 acc, lam_x86_f32 a, lam_x86_f32 b)
{
    for (int32_t i = 0; i < 16; i++) {
        acc.e[i] += lam_f32_product(a.e[i], b.e[i]);
    }
    return acc;
}

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_at_least(lam_x86_f32 a, float low)
{
    for (int32_t i = 0; i < 16; i++) {
        a.e[i] = (a.e[i] < low) ? low : a.e[i];
    }
    return a;
}

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_at_most(lam_x86_f32 a, float high)
{
    for (int32_t i = 0; i < 16; i++) {
        a.e[i] = (a.e[i] > high) ? high : a.e[i];
    }
    return a;
}

#endif

#endif /* LAM_X86_F32_H */
