/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sixteen weights that are stored in fewer bits than a float32, expanded; finite ones.
 *
 * `count` is 1 .. 16: lanes from there on are not read from memory, and are zero.
 */
#ifndef LAM_X86_F32_STORED_H
#define LAM_X86_F32_STORED_H

#include "lam_f32_storage.h"
#include "lam_x86_f32.h"

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_load_f16(const uint16_t *p, int32_t count)
{
#if LAM_X86_F32_AVX512
    uint16_t some[16] = {0};

    if (count == 16) {
        return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
    }
    memcpy(some, p, (size_t)count * sizeof *some);
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)some));
#else
    float some[16];

    for (int32_t i = 0; i < 16; i++) {
        some[i] = (i < count) ? lam_f32_from_f16(p[i]) : 0.0f;
    }
    return lam_x86_f32_load(some, 16);
#endif
}

static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_load_bf16(const uint16_t *p, int32_t count)
{
#if LAM_X86_F32_AVX512
    uint16_t some[16] = {0};
    __m256i upper;

    if (count == 16) {
        upper = _mm256_loadu_si256((const __m256i *)(const void *)p);
    } else {
        memcpy(some, p, (size_t)count * sizeof *some);
        upper = _mm256_loadu_si256((const __m256i *)(const void *)some);
    }
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(upper), 16));
#else
    float some[16];

    for (int32_t i = 0; i < 16; i++) {
        some[i] = (i < count) ? lam_f32_from_bf16(p[i]) : 0.0f;
    }
    return lam_x86_f32_load(some, 16);
#endif
}

/* Each of them times a scale. */
static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_load_s8(const int8_t *p, int32_t count, lam_x86_f32 scale)
{
#if LAM_X86_F32_AVX512
    int8_t some[16] = {0};
    __m128i bytes;

    if (count == 16) {
        bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    } else {
        memcpy(some, p, (size_t)count);
        bytes = _mm_loadu_si128((const __m128i *)(const void *)some);
    }
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes)), scale);
#else
    float some[16], scales[16];

    lam_x86_f32_store(scales, 16, scale);
    for (int32_t i = 0; i < 16; i++) {
        some[i] = (i < count) ? (float)p[i] * scales[i] : 0.0f;
    }
    return lam_x86_f32_load(some, 16);
#endif
}

#endif /* LAM_X86_F32_STORED_H */
