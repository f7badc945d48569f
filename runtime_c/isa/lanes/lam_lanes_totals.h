/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * For weights of 4 bits that have zero points of their own: their bits as numbers without a sign, and sums of what a pixel
 * reads, of which each output adds its own number times that.
 */
#ifndef LAM_LANES_TOTALS_H
#define LAM_LANES_TOTALS_H

#include "lam_lanes_vector.h"

#if LAM_LANES_AVX512

/* Of each byte the lower or the upper four bits. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_low_bits(lam_lanes_v v)
{
    return _mm512_and_si512(v, _mm512_set1_epi8(15));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_high_bits(lam_lanes_v v)
{
    return lam_lanes_low_bits(_mm512_srli_epi32(v, 4));
}

/* Parts of a sum: of eight bytes each, in the even lanes. */
typedef __m512i lam_lanes_parts;

static inline LAM_LANES_ALWAYS lam_lanes_parts lam_lanes_no_parts(void)
{
    return _mm512_setzero_si512();
}

/* `parts`, and n bytes more. */
static inline LAM_LANES_ALWAYS lam_lanes_parts lam_lanes_add_bytes(lam_lanes_parts parts, const uint8_t *x, int32_t n)
{
    const __m512i none = _mm512_setzero_si512();
    for (; n >= 64; n -= 64, x += 64) {
        parts = _mm512_add_epi32(parts, _mm512_sad_epu8(none, _mm512_loadu_si512(x)));
    }
    if (n > 0) {
        const __mmask64 mask = ~(__mmask64)0 >> (64 - n);
        parts = _mm512_add_epi32(parts, _mm512_sad_epu8(none, _mm512_maskz_loadu_epi8(mask, x)));
    }
    return parts;
}

/* A sum of parts, in every lane. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_total(lam_lanes_parts parts)
{
    const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(parts), _mm512_extracti64x4_epi64(parts, 1));
    const __m128i two = _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return _mm512_broadcastd_epi32(_mm_add_epi32(two, _mm_unpackhi_epi64(two, two)));
}

/* Four sums, of the parts of each. */
static inline LAM_LANES_ALWAYS void lam_lanes_store_totals(int32_t *to, const lam_lanes_parts *four)
{
    const __m512i a = _mm512_mask_shuffle_epi32(four[0], 0xAAAA, four[1], (_MM_PERM_ENUM)0xA0);
    const __m512i b = _mm512_mask_shuffle_epi32(four[2], 0xAAAA, four[3], (_MM_PERM_ENUM)0xA0);
    const __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

#elif LAM_LANES_AVX2

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_low_bits(lam_lanes_v v)
{
    LAM_LANES_TWO(_mm256_and_si256(v.h[i], _mm256_set1_epi8(15)));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_high_bits(lam_lanes_v v)
{
    LAM_LANES_TWO(_mm256_and_si256(_mm256_srli_epi32(v.h[i], 4), _mm256_set1_epi8(15)));
}

typedef __m256i lam_lanes_parts;

static inline LAM_LANES_ALWAYS lam_lanes_parts lam_lanes_no_parts(void)
{
    return _mm256_setzero_si256();
}

static inline LAM_LANES_ALWAYS lam_lanes_parts lam_lanes_add_bytes(lam_lanes_parts parts, const uint8_t *x, int32_t n)
{
    const __m256i none = _mm256_setzero_si256();
    for (; n >= 32; n -= 32, x += 32) {
        parts = _mm256_add_epi32(parts, _mm256_sad_epu8(none, _mm256_loadu_si256((const __m256i *)(const void *)x)));
    }
    if (n > 0) {
        uint8_t rest[32] = {0};
        (void)memcpy(rest, x, (size_t)n);
        parts = _mm256_add_epi32(parts, _mm256_sad_epu8(none, _mm256_loadu_si256((const __m256i *)(const void *)rest)));
    }
    return parts;
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_totals(int32_t *to, const lam_lanes_parts *four)
{
    const __m256i a = _mm256_or_si256(four[0], _mm256_slli_epi64(four[1], 32));
    const __m256i b = _mm256_or_si256(four[2], _mm256_slli_epi64(four[3], 32));
    const __m256i all = _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
}

#elif LAM_LANES_NEON

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_low_bits(lam_lanes_v v)
{
    LAM_LANES_FOUR(vandq_s32(v.q[i], vdupq_n_s32(0x0F0F0F0F)));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_high_bits(lam_lanes_v v)
{
    LAM_LANES_FOUR(vreinterpretq_s32_u8(vshrq_n_u8(vreinterpretq_u8_s32(v.q[i]), 4)));
}

typedef int32x4_t lam_lanes_parts;

static inline LAM_LANES_ALWAYS lam_lanes_parts lam_lanes_no_parts(void)
{
    return vdupq_n_s32(0);
}

static inline LAM_LANES_ALWAYS lam_lanes_parts lam_lanes_add_bytes(lam_lanes_parts parts, const uint8_t *x, int32_t n)
{
    for (; n > 0; n -= 16, x += 16) {
        const int8x16_t bytes = vreinterpretq_s8_u8(lam_lanes_load_bytes(x, n < 16 ? n : 16));
#if defined(__ARM_FEATURE_DOTPROD)
        parts = vdotq_s32(parts, bytes, vdupq_n_s8(1));
#else
        parts = vpadalq_s16(parts, vpaddlq_s8(bytes));
#endif
    }
    return parts;
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_totals(int32_t *to, const lam_lanes_parts *four)
{
    vst1q_s32(to, vpaddq_s32(vpaddq_s32(four[0], four[1]), vpaddq_s32(four[2], four[3])));
}

#else

static inline lam_lanes_v lam_lanes_low_bits(lam_lanes_v v)
{
    LAM_LANES_LANES((int32_t)((uint32_t)v.e[i] & 0x0F0F0F0Fu));
}

static inline lam_lanes_v lam_lanes_high_bits(lam_lanes_v v)
{
    LAM_LANES_LANES((int32_t)((uint32_t)v.e[i] >> 4 & 0x0F0F0F0Fu));
}

typedef int32_t lam_lanes_parts;

static inline lam_lanes_parts lam_lanes_no_parts(void)
{
    return 0;
}

static inline lam_lanes_parts lam_lanes_add_bytes(lam_lanes_parts parts, const uint8_t *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        parts += x[i];
    }
    return parts;
}

static inline void lam_lanes_store_totals(int32_t *to, const lam_lanes_parts *four)
{
    (void)memcpy(to, four, 4 * sizeof four[0]);
}

#endif

/* A sum of n inputs of the processor's form in that of the params. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_total_turned(int is_signed, int32_t n)
{
    return !lam_lanes_turned(is_signed) ? 0 : is_signed ? -128 * n : 128 * n;
}

#endif /* LAM_LANES_TOTALS_H */
