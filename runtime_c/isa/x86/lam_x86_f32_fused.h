/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * A step of sixteen sums of float32 that rounds once: the chip's instruction, or lam_f32_fma lane by lane.
 */
#ifndef LAM_X86_F32_FUSED_H
#define LAM_X86_F32_FUSED_H

#include "lam_f32_fma.h"
#include "lam_x86_f32.h"

/* acc + a * b, rounded once. */
static inline LAM_X86_F32_ALWAYS lam_x86_f32 lam_x86_f32_fused(lam_x86_f32 acc, lam_x86_f32 a, lam_x86_f32 b)
{
#if LAM_X86_F32_AVX512
    return _mm512_fmadd_ps(a, b, acc);
#elif LAM_X86_F32_AVX && defined(__FMA__)
    acc.h[0] = _mm256_fmadd_ps(a.h[0], b.h[0], acc.h[0]);
    acc.h[1] = _mm256_fmadd_ps(a.h[1], b.h[1], acc.h[1]);
    return acc;
#else
    float lanes[3][16];

    lam_x86_f32_store(lanes[0], 16, acc);
    lam_x86_f32_store(lanes[1], 16, a);
    lam_x86_f32_store(lanes[2], 16, b);
    for (int32_t i = 0; i < 16; i++) {
        lanes[0][i] = lam_f32_fma(lanes[1][i], lanes[2][i], lanes[0][i]);
    }
    return lam_x86_f32_load(lanes[0], 16);
#endif
}

#endif /* LAM_X86_F32_FUSED_H */
