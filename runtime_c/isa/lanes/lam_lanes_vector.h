/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sixteen 32-bit lanes: AVX-512 with VNNI, AVX2 with VNNI or without, AArch64 with dot products or without, or plain
 * C99, whichever the compiler may use.  All give the same bits, so that a project that was generated on one machine runs on any other;
 * compile it with -march=native (or -mavx2, -march=armv8.2-a+dotprod, ...) to get the fast forms.
 *
 * `count` is 1 .. 16: lanes from there on are not read from memory (they are zero) and not written to it.  Callers pass
 * literals, and every function is inlined, so that a full vector takes no mask.
 */
#ifndef LAM_LANES_VECTOR_H
#define LAM_LANES_VECTOR_H

#include "lam_base.h"
#include "lam_linear.h"
#include "lam_requant.h"
#include "lam_requant_ort.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512VNNI__)
#define LAM_LANES_AVX512 1
#elif defined(__AVX2__)
#define LAM_LANES_AVX2 1
#if defined(__AVXVNNI__)
#define LAM_LANES_AVX_VNNI 1
#endif
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__) && defined(__GNUC__)
#define LAM_LANES_NEON 1
#endif
#ifndef LAM_LANES_AVX512
#define LAM_LANES_AVX512 0
#endif
#ifndef LAM_LANES_AVX2
#define LAM_LANES_AVX2 0
#endif
#ifndef LAM_LANES_AVX_VNNI
#define LAM_LANES_AVX_VNNI 0
#endif
#ifndef LAM_LANES_NEON
#define LAM_LANES_NEON 0
#endif

/* Whether products are of signed inputs, or else of unsigned ones.  Params are made for one of the two, and are used in
 * the other one's form too: see lam_lanes_turned. */
#define LAM_LANES_SIGNED LAM_LANES_NEON

#if LAM_LANES_AVX512 || LAM_LANES_AVX2
#include <immintrin.h>
#endif

/* LAM_LANES_ALWAYS: kernels are specialised by inlining these functions with literal arguments.
 * LAM_LANES_UNROLL: the loop that follows is unrolled whole, so that an array indexed by it lives in registers.
 * Without vectors there is nothing to gain from either. */
#if !LAM_LANES_AVX512 && !LAM_LANES_AVX2 && !LAM_LANES_NEON
#define LAM_LANES_ALWAYS
#define LAM_LANES_UNROLL
#elif defined(__clang__)
#define LAM_LANES_ALWAYS __attribute__((always_inline))
#define LAM_LANES_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define LAM_LANES_ALWAYS __attribute__((always_inline))
#define LAM_LANES_UNROLL _Pragma("GCC unroll 16")
#else
#define LAM_LANES_ALWAYS
#define LAM_LANES_UNROLL
#endif

/* The loop that follows is unrolled by two, where its own instructions are a tenth of it. */
#if LAM_LANES_NEON && defined(__clang__)
#define LAM_LANES_TWICE _Pragma("clang loop unroll_count(2)")
#elif LAM_LANES_NEON && defined(__ARM_FEATURE_DOTPROD)
#define LAM_LANES_TWICE _Pragma("GCC unroll 2")
#else
#define LAM_LANES_TWICE
#endif

#if LAM_LANES_AVX512
typedef __m512i lam_lanes_v;
#elif LAM_LANES_AVX2
typedef struct lam_lanes_v {
    __m256i h[2];
} lam_lanes_v;
#elif !LAM_LANES_NEON
typedef struct lam_lanes_v {
    int32_t e[16];
} lam_lanes_v;
#endif

#if LAM_LANES_AVX512

static inline LAM_LANES_ALWAYS __mmask16 lam_lanes_mask(int32_t count)
{
    return (__mmask16)((1u << count) - 1u);
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_splat(int32_t value)
{
    return _mm512_set1_epi32(value);
}

/* 4 * count bytes as they are. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load(const void *p, int32_t count)
{
    return (count == 16) ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi32(lam_lanes_mask(count), p);
}

static inline LAM_LANES_ALWAYS void lam_lanes_store(void *p, lam_lanes_v v, int32_t count)
{
    if (count == 16) {
        _mm512_storeu_si512(p, v);
    } else {
        _mm512_mask_storeu_epi32(p, lam_lanes_mask(count), v);
    }
}

/* `count` signed bytes, widened. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load_s8(const int8_t *p, int32_t count)
{
    return _mm512_cvtepi8_epi32((count == 16) ? _mm_loadu_si128((const __m128i *)(const void *)p)
                                              : _mm_maskz_loadu_epi8(lam_lanes_mask(count), p));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load_u8(const uint8_t *p, int32_t count)
{
    return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lam_lanes_mask(count), p));
}

/* The four bytes at p in every lane. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_quad(const uint8_t *p)
{
    int32_t four;
    (void)memcpy(&four, p, sizeof four);
    return _mm512_set1_epi32(four);
}

/* acc + x0 * w0 + .. + x3 * w3 in every lane, x unsigned and w signed bytes; sums wrap.
 * gcc 12 copies and spills accumulators around its own intrinsic; the instruction itself says that acc stays in place. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_dot(lam_lanes_v acc, lam_lanes_v x, lam_lanes_v w)
{
#if defined(__clang__)
    return _mm512_dpbusd_epi32(acc, x, w);
#else
    __asm__("vpdpbusd\t{%2, %1, %0|%0, %1, %2}" : "+v"(acc) : "v"(x), "v"(w));
    return acc;
#endif
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_and(lam_lanes_v a, lam_lanes_v b)
{
    return _mm512_and_si512(a, b);
}

/* Bytes of which the lower half has become the upper one, above zeros; and those whose lower half is zero. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_raise(lam_lanes_v v)
{
    return _mm512_and_si512(_mm512_slli_epi32(v, 4), _mm512_set1_epi8(-16));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_upper(lam_lanes_v v)
{
    return _mm512_and_si512(v, _mm512_set1_epi8(-16));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_xor(lam_lanes_v a, lam_lanes_v b)
{
    return _mm512_xor_si512(a, b);
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_add(lam_lanes_v a, lam_lanes_v b)
{
    return _mm512_add_epi32(a, b);
}

/* Byte by byte. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_add_each(lam_lanes_v a, lam_lanes_v b)
{
    return _mm512_add_epi8(a, b);
}

/* The low half of the product. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_mul(lam_lanes_v a, lam_lanes_v b)
{
    return _mm512_mullo_epi32(a, b);
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_clamp(lam_lanes_v v, lam_lanes_v low, lam_lanes_v high)
{
    return _mm512_min_epi32(_mm512_max_epi32(v, low), high);
}

/* v >> shift, lane by lane; shift 0 .. 31. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_sra(lam_lanes_v v, lam_lanes_v shift)
{
    return _mm512_srav_epi32(v, shift);
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_halve(lam_lanes_v v)
{
    return _mm512_srai_epi32(v, 1);
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_sign(lam_lanes_v v)
{
    return _mm512_srai_epi32(v, 31);
}

/* v * 64, whatever is beyond 32 bits cut off. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_times_64(lam_lanes_v v)
{
    return _mm512_slli_epi32(v, 6);
}

/* The high half of a * b. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_mul_high(lam_lanes_v a, lam_lanes_v b)
{
    const __m512i even = _mm512_mul_epi32(a, b);
    const __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
    return _mm512_mask_shuffle_epi32(odd, 0x5555, even, (_MM_PERM_ENUM)0xF5);
}

/* (a * b + 2^30) >> 31; |a| < 2^30. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_mul_round(lam_lanes_v a, lam_lanes_v b)
{
    const __m512i twice = _mm512_add_epi32(a, a), half = _mm512_set1_epi64((int64_t)1 << 31);
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(twice, b), half);
    const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(twice, 32), _mm512_srli_epi64(b, 32)), half);
    return _mm512_mask_shuffle_epi32(odd, 0x5555, even, (_MM_PERM_ENUM)0xF5);
}

/* rint(clamp((float)v * scale, low, high)), half to even; scale, low and high are the bits of floats.  No addition
 * follows the product, so that no compiler can fuse the two. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_scale(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v low, lam_lanes_v high)
{
    const __m512 product = _mm512_mul_ps(_mm512_cvt_roundepi32_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                                         _mm512_castsi512_ps(scale));
    const __m512 inside = _mm512_min_ps(_mm512_max_ps(product, _mm512_castsi512_ps(low)), _mm512_castsi512_ps(high));
    return _mm512_cvt_roundps_epi32(inside, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* (float)v * scale + added, rounded once; scale and added are the bits of floats. */
static inline LAM_LANES_ALWAYS __m512 lam_lanes_fused(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v added)
{
    const __m512 whole = _mm512_cvt_roundepi32_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm512_fmadd_round_ps(whole, _mm512_castsi512_ps(scale), _mm512_castsi512_ps(added),
                                 _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* The whole number nearest to that, half to even. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_real(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v added)
{
    return _mm512_cvt_roundps_epi32(lam_lanes_fused(v, scale, added), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* The whole number next to that towards zero, added having the sign of v. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_real_cut(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v added)
{
    const __m512i either = _mm512_ternarylogic_epi32(added, v, _mm512_set1_epi32(INT32_MIN), 0xD8);
    return _mm512_cvttps_epi32(lam_lanes_fused(v, scale, either));
}

/* `count` lanes as bytes, saturated. */
static inline LAM_LANES_ALWAYS void lam_lanes_store_s8(int8_t *y, lam_lanes_v v, int32_t count)
{
    if (count == 16) {
        _mm_storeu_si128((__m128i *)(void *)y, _mm512_cvtsepi32_epi8(v));
    } else {
        _mm512_mask_cvtsepi32_storeu_epi8(y, lam_lanes_mask(count), v);
    }
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_u8(uint8_t *y, lam_lanes_v v, int32_t count)
{
    const __m512i positive = _mm512_max_epi32(v, _mm512_setzero_si512());
    if (count == 16) {
        _mm_storeu_si128((__m128i *)(void *)y, _mm512_cvtusepi32_epi8(positive));
    } else {
        _mm512_mask_cvtusepi32_storeu_epi8(y, lam_lanes_mask(count), positive);
    }
}

/* Four vectors one after the other as bytes, saturated. */
static inline LAM_LANES_ALWAYS void lam_lanes_store_four(uint8_t *y, lam_lanes_v a, lam_lanes_v b, lam_lanes_v c, lam_lanes_v d,
                                                         int is_signed)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i first = _mm512_packs_epi32(a, b), last = _mm512_packs_epi32(c, d);
    const __m512i bytes = is_signed ? _mm512_packs_epi16(first, last) : _mm512_packus_epi16(first, last);
    _mm512_storeu_si512(y, _mm512_permutexvar_epi32(order, bytes));
}

/* 64 bytes, of which byte 4 d + v is lane d of v[v], saturated; `count` of them are written. */
static inline LAM_LANES_ALWAYS void lam_lanes_store_woven(uint8_t *y, const lam_lanes_v *v, int32_t count, int is_signed)
{
    const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15));
    const __m512i even = _mm512_packs_epi32(v[0], v[2]), odd = _mm512_packs_epi32(v[1], v[3]);
    const __m512i bytes = is_signed ? _mm512_packs_epi16(even, odd) : _mm512_packus_epi16(even, odd);
    const __m512i woven = _mm512_shuffle_epi8(bytes, order);
    if (count == 64) {
        _mm512_storeu_si512(y, woven);
    } else {
        _mm512_mask_storeu_epi8(y, ~(__mmask64)0 >> (64 - count), woven);
    }
}

/* Copies bytes; with flip their highest bits are turned over, which makes int8 + 128 of int8. */
static inline LAM_LANES_ALWAYS void lam_lanes_copy(uint8_t *to, const uint8_t *from, int32_t bytes, int flip)
{
    const __m512i turn = _mm512_set1_epi8(flip ? -128 : 0);
    int32_t i = 0;
    for (; i + 64 <= bytes; i += 64) {
        _mm512_storeu_si512(to + i, _mm512_xor_si512(_mm512_loadu_si512(from + i), turn));
    }
    if (i < bytes) {
        const __mmask64 mask = ~(__mmask64)0 >> (64 - (bytes - i));
        _mm512_mask_storeu_epi8(to + i, mask, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, from + i), turn));
    }
}

#elif LAM_LANES_AVX2

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_splat(int32_t value)
{
    const lam_lanes_v v = {{_mm256_set1_epi32(value), _mm256_set1_epi32(value)}};
    return v;
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load(const void *p, int32_t count)
{
    lam_lanes_v v;
    if (count == 16) {
        v.h[0] = _mm256_loadu_si256((const __m256i *)p);
        v.h[1] = _mm256_loadu_si256((const __m256i *)p + 1);
    } else {
        int32_t copy[16] = {0};
        (void)memcpy(copy, p, (size_t)count * 4u);
        v.h[0] = _mm256_loadu_si256((const __m256i *)(const void *)copy);
        v.h[1] = _mm256_loadu_si256((const __m256i *)(const void *)copy + 1);
    }
    return v;
}

static inline LAM_LANES_ALWAYS void lam_lanes_store(void *p, lam_lanes_v v, int32_t count)
{
    int32_t copy[16];
    _mm256_storeu_si256((__m256i *)(void *)copy, v.h[0]);
    _mm256_storeu_si256((__m256i *)(void *)copy + 1, v.h[1]);
    (void)memcpy(p, copy, (size_t)count * 4u);
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load_s8(const int8_t *p, int32_t count)
{
    int8_t copy[16] = {0};
    __m128i bytes;
    lam_lanes_v v;
    (void)memcpy(copy, p, (size_t)count);
    bytes = _mm_loadu_si128((const __m128i *)(const void *)copy);
    v.h[0] = _mm256_cvtepi8_epi32(bytes);
    v.h[1] = _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8));
    return v;
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load_u8(const uint8_t *p, int32_t count)
{
    uint8_t copy[16] = {0};
    __m128i bytes;
    lam_lanes_v v;
    (void)memcpy(copy, p, (size_t)count);
    bytes = _mm_loadu_si128((const __m128i *)(const void *)copy);
    v.h[0] = _mm256_cvtepu8_epi32(bytes);
    v.h[1] = _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8));
    return v;
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_quad(const uint8_t *p)
{
    int32_t four;
    (void)memcpy(&four, p, sizeof four);
    return lam_lanes_splat(four);
}

#if LAM_LANES_AVX_VNNI
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_dot(lam_lanes_v acc, lam_lanes_v x, lam_lanes_v w)
{
    LAM_LANES_UNROLL
    for (int i = 0; i < 2; i++) {
        acc.h[i] = _mm256_dpbusd_avx_epi32(acc.h[i], x.h[i], w.h[i]);
    }
    return acc;
}
#else
/* In 16 bits, even and odd bytes apart: VPMADDUBSW would saturate. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_dot(lam_lanes_v acc, lam_lanes_v x, lam_lanes_v w)
{
    const __m256i bytes = _mm256_set1_epi16(0xFF);
    LAM_LANES_UNROLL
    for (int i = 0; i < 2; i++) {
        const __m256i even = _mm256_madd_epi16(_mm256_and_si256(x.h[i], bytes),
                                               _mm256_srai_epi16(_mm256_slli_epi16(w.h[i], 8), 8));
        const __m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(x.h[i], 8), _mm256_srai_epi16(w.h[i], 8));
        acc.h[i] = _mm256_add_epi32(acc.h[i], _mm256_add_epi32(even, odd));
    }
    return acc;
}
#endif

#define LAM_LANES_TWO(expression) \
    lam_lanes_v r; \
    LAM_LANES_UNROLL \
    for (int i = 0; i < 2; i++) { \
        r.h[i] = expression; \
    } \
    return r

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_and(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_TWO(_mm256_and_si256(a.h[i], b.h[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_raise(lam_lanes_v v)
{
    LAM_LANES_TWO(_mm256_and_si256(_mm256_slli_epi32(v.h[i], 4), _mm256_set1_epi8(-16)));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_upper(lam_lanes_v v)
{
    LAM_LANES_TWO(_mm256_and_si256(v.h[i], _mm256_set1_epi8(-16)));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_xor(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_TWO(_mm256_xor_si256(a.h[i], b.h[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_add(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_TWO(_mm256_add_epi32(a.h[i], b.h[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_add_each(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_TWO(_mm256_add_epi8(a.h[i], b.h[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_mul(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_TWO(_mm256_mullo_epi32(a.h[i], b.h[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_clamp(lam_lanes_v v, lam_lanes_v low, lam_lanes_v high)
{
    LAM_LANES_TWO(_mm256_min_epi32(_mm256_max_epi32(v.h[i], low.h[i]), high.h[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_sra(lam_lanes_v v, lam_lanes_v shift)
{
    LAM_LANES_TWO(_mm256_srav_epi32(v.h[i], shift.h[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_halve(lam_lanes_v v)
{
    LAM_LANES_TWO(_mm256_srai_epi32(v.h[i], 1));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_sign(lam_lanes_v v)
{
    LAM_LANES_TWO(_mm256_srai_epi32(v.h[i], 31));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_times_64(lam_lanes_v v)
{
    LAM_LANES_TWO(_mm256_slli_epi32(v.h[i], 6));
}

static inline LAM_LANES_ALWAYS __m256i lam_lanes_high_halves(__m256i even, __m256i odd)
{
    return _mm256_blend_epi32(_mm256_shuffle_epi32(even, 0xF5), odd, 0xAA);
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_mul_high(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_TWO(lam_lanes_high_halves(_mm256_mul_epi32(a.h[i], b.h[i]), _mm256_mul_epi32(_mm256_srli_epi64(a.h[i], 32),
                                                                                       _mm256_srli_epi64(b.h[i], 32))));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_mul_round(lam_lanes_v a, lam_lanes_v b)
{
    const __m256i half = _mm256_set1_epi64x((int64_t)1 << 31);
    const lam_lanes_v twice = lam_lanes_add(a, a);
    LAM_LANES_TWO(lam_lanes_high_halves(_mm256_add_epi64(_mm256_mul_epi32(twice.h[i], b.h[i]), half),
                                    _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(twice.h[i], 32),
                                                                      _mm256_srli_epi64(b.h[i], 32)), half)));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_scale(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v low, lam_lanes_v high)
{
    LAM_LANES_TWO(_mm256_cvtps_epi32(_mm256_round_ps(
        _mm256_min_ps(_mm256_max_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(v.h[i]), _mm256_castsi256_ps(scale.h[i])),
                                    _mm256_castsi256_ps(low.h[i])), _mm256_castsi256_ps(high.h[i])),
        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)));
}

#if defined(__FMA__)
static inline LAM_LANES_ALWAYS __m256 lam_lanes_fused(__m256i v, __m256i scale, __m256i added)
{
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(v), _mm256_castsi256_ps(scale), _mm256_castsi256_ps(added));
}
#else
/* Exact in double precision (codegen/kernels/real_line.py sees to it), so that the one rounding is the last step. */
static inline LAM_LANES_ALWAYS __m128 lam_lanes_fused_half(__m128 v, __m128 scale, __m128 added)
{
    return _mm256_cvtpd_ps(_mm256_add_pd(_mm256_mul_pd(_mm256_cvtps_pd(v), _mm256_cvtps_pd(scale)), _mm256_cvtps_pd(added)));
}

static inline LAM_LANES_ALWAYS __m256 lam_lanes_fused(__m256i v, __m256i scale, __m256i added)
{
    const __m256 x = _mm256_cvtepi32_ps(v), m = _mm256_castsi256_ps(scale), c = _mm256_castsi256_ps(added);
    return _mm256_set_m128(
        lam_lanes_fused_half(_mm256_extractf128_ps(x, 1), _mm256_extractf128_ps(m, 1), _mm256_extractf128_ps(c, 1)),
        lam_lanes_fused_half(_mm256_castps256_ps128(x), _mm256_castps256_ps128(m), _mm256_castps256_ps128(c)));
}
#endif

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_real(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v added)
{
    LAM_LANES_TWO(_mm256_cvtps_epi32(_mm256_round_ps(lam_lanes_fused(v.h[i], scale.h[i], added.h[i]),
                                                     _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_real_cut(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v added)
{
    const __m256i sign = _mm256_set1_epi32(INT32_MIN);
    LAM_LANES_TWO(_mm256_cvttps_epi32(
        lam_lanes_fused(v.h[i], scale.h[i], _mm256_or_si256(added.h[i], _mm256_and_si256(v.h[i], sign)))));
}

/* Sixteen lanes as 16-bit words, saturated. */
static inline LAM_LANES_ALWAYS __m256i lam_lanes_words(lam_lanes_v v)
{
    return _mm256_permute4x64_epi64(_mm256_packs_epi32(v.h[0], v.h[1]), 0xD8);
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_bytes(void *y, __m128i bytes, int32_t count)
{
    uint8_t copy[16];
    if (count == 16) {
        _mm_storeu_si128((__m128i *)y, bytes);
    } else {
        _mm_storeu_si128((__m128i *)(void *)copy, bytes);
        (void)memcpy(y, copy, (size_t)count);
    }
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_s8(int8_t *y, lam_lanes_v v, int32_t count)
{
    const __m256i words = lam_lanes_words(v);
    lam_lanes_store_bytes(y, _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)), count);
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_u8(uint8_t *y, lam_lanes_v v, int32_t count)
{
    const __m256i words = lam_lanes_words(v);
    lam_lanes_store_bytes(y, _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)), count);
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_woven(uint8_t *y, const lam_lanes_v *v, int32_t count, int is_signed)
{
    const __m256i order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15));
    uint8_t copy[64];
    for (int i = 0; i < 2; i++) {
        const __m256i even = _mm256_packs_epi32(v[0].h[i], v[2].h[i]), odd = _mm256_packs_epi32(v[1].h[i], v[3].h[i]);
        const __m256i bytes = is_signed ? _mm256_packs_epi16(even, odd) : _mm256_packus_epi16(even, odd);
        _mm256_storeu_si256((__m256i *)(void *)copy + i, _mm256_shuffle_epi8(bytes, order));
    }
    (void)memcpy(y, copy, (size_t)count);
}

static inline LAM_LANES_ALWAYS void lam_lanes_copy(uint8_t *to, const uint8_t *from, int32_t bytes, int flip)
{
    for (int32_t i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(from[i] ^ (flip ? 0x80u : 0u));
    }
}

#elif LAM_LANES_NEON

#include "lam_lanes_neon.h"

#else

static inline lam_lanes_v lam_lanes_splat(int32_t value)
{
    lam_lanes_v v;
    for (int i = 0; i < 16; i++) {
        v.e[i] = value;
    }
    return v;
}

static inline lam_lanes_v lam_lanes_load(const void *p, int32_t count)
{
    lam_lanes_v v = {{0}};
    (void)memcpy(v.e, p, (size_t)count * 4u);
    return v;
}

static inline void lam_lanes_store(void *p, lam_lanes_v v, int32_t count)
{
    (void)memcpy(p, v.e, (size_t)count * 4u);
}

static inline lam_lanes_v lam_lanes_load_s8(const int8_t *p, int32_t count)
{
    lam_lanes_v v = {{0}};
    for (int i = 0; i < count; i++) {
        v.e[i] = p[i];
    }
    return v;
}

static inline lam_lanes_v lam_lanes_load_u8(const uint8_t *p, int32_t count)
{
    lam_lanes_v v = {{0}};
    for (int i = 0; i < count; i++) {
        v.e[i] = p[i];
    }
    return v;
}

static inline lam_lanes_v lam_lanes_quad(const uint8_t *p)
{
    int32_t four;
    (void)memcpy(&four, p, sizeof four);
    return lam_lanes_splat(four);
}

static inline lam_lanes_v lam_lanes_dot(lam_lanes_v acc, lam_lanes_v x, lam_lanes_v w)
{
    uint8_t xs[64];
    int8_t ws[64];
    (void)memcpy(xs, x.e, sizeof xs);
    (void)memcpy(ws, w.e, sizeof ws);
    for (int i = 0; i < 16; i++) {
        int32_t sum = 0;
        for (int k = 4 * i; k < 4 * i + 4; k++) {
            sum += xs[k] * ws[k];
        }
        acc.e[i] = (int32_t)((uint32_t)acc.e[i] + (uint32_t)sum);
    }
    return acc;
}

#define LAM_LANES_LANES(expression) \
    lam_lanes_v r; \
    for (int i = 0; i < 16; i++) { \
        r.e[i] = expression; \
    } \
    return r

static inline lam_lanes_v lam_lanes_and(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_LANES(a.e[i] & b.e[i]);
}

static inline lam_lanes_v lam_lanes_raise(lam_lanes_v v)
{
    LAM_LANES_LANES((int32_t)(((uint32_t)v.e[i] << 4) & 0xF0F0F0F0u));
}

static inline lam_lanes_v lam_lanes_upper(lam_lanes_v v)
{
    LAM_LANES_LANES((int32_t)((uint32_t)v.e[i] & 0xF0F0F0F0u));
}

static inline lam_lanes_v lam_lanes_xor(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_LANES(a.e[i] ^ b.e[i]);
}

static inline lam_lanes_v lam_lanes_add(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_LANES((int32_t)((uint32_t)a.e[i] + (uint32_t)b.e[i]));
}

static inline lam_lanes_v lam_lanes_add_each(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_LANES((int32_t)((((uint32_t)a.e[i] & 0x7F7F7F7Fu) + ((uint32_t)b.e[i] & 0x7F7F7F7Fu))
                              ^ (((uint32_t)a.e[i] ^ (uint32_t)b.e[i]) & 0x80808080u)));
}

static inline lam_lanes_v lam_lanes_mul(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_LANES((int32_t)((uint32_t)a.e[i] * (uint32_t)b.e[i]));
}

static inline lam_lanes_v lam_lanes_clamp(lam_lanes_v v, lam_lanes_v low, lam_lanes_v high)
{
    LAM_LANES_LANES(lam_clamp_i32(v.e[i], low.e[i], high.e[i]));
}

static inline lam_lanes_v lam_lanes_sra(lam_lanes_v v, lam_lanes_v shift)
{
    LAM_LANES_LANES(v.e[i] >> shift.e[i]);
}

static inline lam_lanes_v lam_lanes_halve(lam_lanes_v v)
{
    LAM_LANES_LANES(v.e[i] >> 1);
}

static inline lam_lanes_v lam_lanes_sign(lam_lanes_v v)
{
    LAM_LANES_LANES(-(int32_t)(v.e[i] < 0));
}

static inline lam_lanes_v lam_lanes_times_64(lam_lanes_v v)
{
    LAM_LANES_LANES((int32_t)((uint32_t)v.e[i] << 6));
}

static inline lam_lanes_v lam_lanes_mul_high(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_LANES((int32_t)(((int64_t)a.e[i] * b.e[i]) >> 32));
}

static inline lam_lanes_v lam_lanes_mul_round(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_LANES((int32_t)((((int64_t)a.e[i] * b.e[i]) + ((int64_t)1 << 30)) >> 31));
}

static inline float lam_lanes_float(int32_t bits)
{
    float value;
    (void)memcpy(&value, &bits, sizeof value);
    return value;
}

/* As lam_requant_ort_q, which gives the reasons for each step. */
static inline int32_t lam_lanes_scale_one(int32_t lane, float scale, float low, float high)
{
    lam_stored_float whole;
    volatile float product;
    float v;
    float sum;
    int32_t bits;
    whole = (float)lane;
    product = whole * scale;
    v = product;
    v = (v < low) ? low : v;
    v = (v > high) ? high : v;
    sum = v + 12582912.0f;
    (void)memcpy(&bits, &sum, sizeof bits);
    return bits - (int32_t)0x4B400000;
}

static inline lam_lanes_v lam_lanes_scale(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v low, lam_lanes_v high)
{
    LAM_LANES_LANES(lam_lanes_scale_one(v.e[i], lam_lanes_float(scale.e[i]), lam_lanes_float(low.e[i]), lam_lanes_float(high.e[i])));
}

/* Exact in double precision but for the last step (codegen/kernels/real_line.py), fused or not. */
static inline float lam_lanes_fused(int32_t lane, float scale, float added)
{
    lam_stored_float whole;
    lam_stored_float once;
    whole = (float)lane;
    once = (float)((double)whole * (double)scale + (double)added);
    return once;
}

/* At 1.5 * 2^23 the spacing of floats is one, so that the sum is rounded half to even: see lam_requant_ort.h. */
static inline int32_t lam_lanes_real_one(int32_t lane, float scale, float added)
{
    const float sum = lam_lanes_fused(lane, scale, added) + 12582912.0f;
    int32_t bits;
    (void)memcpy(&bits, &sum, sizeof bits);
    return bits - (int32_t)0x4B400000;
}

static inline lam_lanes_v lam_lanes_real(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v added)
{
    LAM_LANES_LANES(lam_lanes_real_one(v.e[i], lam_lanes_float(scale.e[i]), lam_lanes_float(added.e[i])));
}

static inline lam_lanes_v lam_lanes_real_cut(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v added)
{
    LAM_LANES_LANES((int32_t)lam_lanes_fused(v.e[i], lam_lanes_float(scale.e[i]),
                                             (v.e[i] < 0) ? -lam_lanes_float(added.e[i]) : lam_lanes_float(added.e[i])));
}

static inline void lam_lanes_store_s8(int8_t *y, lam_lanes_v v, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        y[i] = (int8_t)lam_clamp_i32(v.e[i], INT8_MIN, INT8_MAX);
    }
}

static inline void lam_lanes_store_u8(uint8_t *y, lam_lanes_v v, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        y[i] = (uint8_t)lam_clamp_i32(v.e[i], 0, UINT8_MAX);
    }
}

static inline void lam_lanes_store_woven(uint8_t *y, const lam_lanes_v *v, int32_t count, int is_signed)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t lane = v[i % 4].e[i / 4];
        y[i] = (uint8_t)lam_clamp_i32(lane, is_signed ? INT8_MIN : 0, is_signed ? INT8_MAX : UINT8_MAX);
    }
}

static inline void lam_lanes_copy(uint8_t *to, const uint8_t *from, int32_t bytes, int flip)
{
    for (int32_t i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(from[i] ^ (flip ? 0x80u : 0u));
    }
}

#endif

/* Element types of an output. */
#define LAM_LANES_S8 0
#define LAM_LANES_U8 1
#define LAM_LANES_S32 2

/* `count` lanes as elements of a type, saturated, from element `at` of y on. */
static inline LAM_LANES_ALWAYS void lam_lanes_put(void *y, int32_t at, lam_lanes_v v, int32_t count, int type)
{
    if (type == LAM_LANES_S32) {
        lam_lanes_store((int32_t *)y + at, v, count);
    } else if (type == LAM_LANES_U8) {
        lam_lanes_store_u8((uint8_t *)y + at, v, count);
    } else {
        lam_lanes_store_s8((int8_t *)y + at, v, count);
    }
}

#if !LAM_LANES_NEON
typedef lam_lanes_v lam_lanes_x;
#endif

/* Whether params made for inputs with a sign (or without) are used for those without (or with). */
static inline LAM_LANES_ALWAYS int lam_lanes_turned(int is_signed)
{
    return is_signed != LAM_LANES_SIGNED;
}

/* What padding is in the form of the processor, of what it is in that of the params. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_filling(int32_t fill, int is_signed)
{
    return lam_lanes_turned(is_signed) ? fill ^ 0x80 : fill;
}

/* A row with `left` and `right` bytes of padding around it; with flip, their highest bits turned over. */
static inline LAM_LANES_ALWAYS void lam_lanes_pad(uint8_t *to, const void *row, int32_t left, int32_t bytes, int32_t right,
                                              int32_t fill, int flip)
{
    (void)memset(to, fill, (size_t)left);
    lam_lanes_copy(to + left, (const uint8_t *)row, bytes, flip);
    (void)memset(to + left + bytes, fill, (size_t)right);
}

#endif /* LAM_LANES_VECTOR_H */
