/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sixteen lanes in four registers of AArch64: what lam_lanes_vector.h, which alone includes this file, says of each
 * function.  Inputs are signed bytes.
 */
#ifndef LAM_LANES_NEON_H
#define LAM_LANES_NEON_H

#include <arm_neon.h>

#include "lam_base.h"

typedef struct lam_lanes_v {
    int32x4_t q[4];
} lam_lanes_v;

/* A register as it lies in memory, at whatever address and of whatever type. */
typedef int32x4_t lam_lanes_stored __attribute__((aligned(1), may_alias));

/* Four inputs: with dot products in the first lane, else in every one. */
typedef int8x16_t lam_lanes_x;

#define LAM_LANES_FOUR(expression) \
    lam_lanes_v r; \
    LAM_LANES_UNROLL \
    for (int i = 0; i < 4; i++) { \
        r.q[i] = expression; \
    } \
    return r

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_splat(int32_t value)
{
    LAM_LANES_FOUR(vdupq_n_s32(value));
}

/* Lanes 4 i .. 4 i + 3 of memory, of which those from `count` on are zero. */
static inline LAM_LANES_ALWAYS int32x4_t lam_lanes_some(const void *p, int i, int32_t count)
{
    int32_t copy[4] = {0};
    if (4 * i >= count) {
        return vdupq_n_s32(0);
    }
    if (4 * i + 4 <= count) {
        return vreinterpretq_s32_u8(vld1q_u8((const uint8_t *)p + 16 * i));
    }
    (void)memcpy(copy, (const uint8_t *)p + 16 * i, (size_t)(count - 4 * i) * 4u);
    return vld1q_s32(copy);
}

/* Whole registers two at a time, which gcc does not do between products. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load(const void *p, int32_t count)
{
    lam_lanes_v v;
    LAM_LANES_UNROLL
    for (int i = 0; i < 4; i += 2) {
#if !defined(__clang__)
        if (4 * i + 8 <= count) {
            const lam_lanes_stored *two = (const lam_lanes_stored *)p + i;
            __asm__("ldp %q0, %q1, %2" : "=w"(v.q[i]), "=w"(v.q[i + 1]) : "Ump"(two[0]), "m"(two[1]));
            continue;
        }
#endif
        v.q[i] = lam_lanes_some(p, i, count);
        v.q[i + 1] = lam_lanes_some(p, i + 1, count);
    }
    return v;
}

static inline LAM_LANES_ALWAYS void lam_lanes_store(void *p, lam_lanes_v v, int32_t count)
{
    LAM_LANES_UNROLL
    for (int i = 0; i < 4; i++) {
        if (4 * i + 4 <= count) {
            vst1q_u8((uint8_t *)p + 16 * i, vreinterpretq_u8_s32(v.q[i]));
        } else if (4 * i < count) {
            int32_t copy[4];
            vst1q_s32(copy, v.q[i]);
            (void)memcpy((uint8_t *)p + 16 * i, copy, (size_t)(count - 4 * i) * 4u);
        }
    }
}

/* `count` bytes, the rest zeros. */
static inline LAM_LANES_ALWAYS uint8x16_t lam_lanes_load_bytes(const void *p, int32_t count)
{
    uint8_t copy[16] = {0};
    if (count == 16) {
        return vld1q_u8((const uint8_t *)p);
    }
    (void)memcpy(copy, p, (size_t)count);
    return vld1q_u8(copy);
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_bytes(void *p, uint8x16_t bytes, int32_t count)
{
    uint8_t copy[16];
    if (count == 16) {
        vst1q_u8((uint8_t *)p, bytes);
    } else {
        vst1q_u8(copy, bytes);
        (void)memcpy(p, copy, (size_t)count);
    }
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load_s8(const int8_t *p, int32_t count)
{
    const int8x16_t bytes = vreinterpretq_s8_u8(lam_lanes_load_bytes(p, count));
    const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_high_s8(bytes);
    const lam_lanes_v v = {{vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low), vmovl_s16(vget_low_s16(high)),
                            vmovl_high_s16(high)}};
    return v;
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load_u8(const uint8_t *p, int32_t count)
{
    const uint8x16_t bytes = lam_lanes_load_bytes(p, count);
    const int16x8_t low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(bytes)));
    const int16x8_t high = vreinterpretq_s16_u16(vmovl_high_u8(bytes));
    const lam_lanes_v v = {{vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low), vmovl_s16(vget_low_s16(high)),
                            vmovl_high_s16(high)}};
    return v;
}

#if defined(__ARM_FEATURE_DOTPROD)

/* The load is spelled, for a compiler would take two instructions. */
static inline LAM_LANES_ALWAYS lam_lanes_x lam_lanes_quad(const uint8_t *p)
{
    int8x16_t four;
    __asm__("ldr %s0, %1" : "=w"(four) : "m"(*(const uint8_t(*)[4])p));
    return four;
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_dot(lam_lanes_v acc, lam_lanes_x x, lam_lanes_v w)
{
    LAM_LANES_FOUR(vdotq_laneq_s32(acc.q[i], vreinterpretq_s8_s32(w.q[i]), x, 0));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_dot_narrow(lam_lanes_v acc, lam_lanes_x x, lam_lanes_v w)
{
    return lam_lanes_dot(acc, x, w);
}

#else

static inline LAM_LANES_ALWAYS lam_lanes_x lam_lanes_quad(const uint8_t *p)
{
    int32x4_t four;
    __asm__("ld1r {%0.4s}, %1" : "=w"(four) : "Q"(*(const uint8_t(*)[4])p));
    return vreinterpretq_s8_s32(four);
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_dot(lam_lanes_v acc, lam_lanes_x x, lam_lanes_v w)
{
    LAM_LANES_UNROLL
    for (int i = 0; i < 4; i++) {
        const int8x16_t bytes = vreinterpretq_s8_s32(w.q[i]);
        const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(bytes)), high = vmull_high_s8(x, bytes);
        acc.q[i] = vaddq_s32(acc.q[i], vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
    }
    return acc;
}

/* The same without weights of -128: the sum of two products has 16 bits. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_dot_narrow(lam_lanes_v acc, lam_lanes_x x, lam_lanes_v w)
{
    LAM_LANES_UNROLL
    for (int i = 0; i < 4; i++) {
        const int8x16_t bytes = vreinterpretq_s8_s32(w.q[i]);
        const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(bytes)), high = vmull_high_s8(x, bytes);
        acc.q[i] = vpadalq_s16(acc.q[i], vpaddq_s16(low, high));
    }
    return acc;
}

#endif

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_and(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_FOUR(vandq_s32(a.q[i], b.q[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_raise(lam_lanes_v v)
{
    LAM_LANES_FOUR(vreinterpretq_s32_s8(vshlq_n_s8(vreinterpretq_s8_s32(v.q[i]), 4)));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_upper(lam_lanes_v v)
{
    LAM_LANES_FOUR(vreinterpretq_s32_s8(vandq_s8(vreinterpretq_s8_s32(v.q[i]), vdupq_n_s8(-16))));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_times_64(lam_lanes_v v)
{
    LAM_LANES_FOUR(vshlq_n_s32(v.q[i], 6));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_xor(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_FOUR(veorq_s32(a.q[i], b.q[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_add(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_FOUR(vaddq_s32(a.q[i], b.q[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_add_each(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_FOUR(vreinterpretq_s32_s8(vaddq_s8(vreinterpretq_s8_s32(a.q[i]), vreinterpretq_s8_s32(b.q[i]))));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_mul(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_FOUR(vmulq_s32(a.q[i], b.q[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_clamp(lam_lanes_v v, lam_lanes_v low, lam_lanes_v high)
{
    LAM_LANES_FOUR(vminq_s32(vmaxq_s32(v.q[i], low.q[i]), high.q[i]));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_sra(lam_lanes_v v, lam_lanes_v shift)
{
    LAM_LANES_FOUR(vshlq_s32(v.q[i], vnegq_s32(shift.q[i])));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_halve(lam_lanes_v v)
{
    LAM_LANES_FOUR(vshrq_n_s32(v.q[i], 1));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_sign(lam_lanes_v v)
{
    LAM_LANES_FOUR(vshrq_n_s32(v.q[i], 31));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_mul_high(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_FOUR(vuzp2q_s32(vreinterpretq_s32_s64(vmull_s32(vget_low_s32(a.q[i]), vget_low_s32(b.q[i]))),
                              vreinterpretq_s32_s64(vmull_high_s32(a.q[i], b.q[i]))));
}

/* (2 a b + 2^31) >> 32, which saturates for two INT32_MIN only. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_mul_round(lam_lanes_v a, lam_lanes_v b)
{
    LAM_LANES_FOUR(vqrdmulhq_s32(a.q[i], b.q[i]));
}

static inline LAM_LANES_ALWAYS float32x4_t lam_lanes_inside(float32x4_t v, int32x4_t low, int32x4_t high)
{
    return vminq_f32(vmaxq_f32(v, vreinterpretq_f32_s32(low)), vreinterpretq_f32_s32(high));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_scale(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v low,
                                                           lam_lanes_v high)
{
    LAM_LANES_FOUR(vcvtnq_s32_f32(lam_lanes_inside(vmulq_f32(vcvtq_f32_s32(v.q[i]), vreinterpretq_f32_s32(scale.q[i])),
                                                   low.q[i], high.q[i])));
}

static inline LAM_LANES_ALWAYS float32x4_t lam_lanes_fused(int32x4_t v, int32x4_t scale, int32x4_t added)
{
    return vfmaq_f32(vreinterpretq_f32_s32(added), vcvtq_f32_s32(v), vreinterpretq_f32_s32(scale));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_real(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v added)
{
    LAM_LANES_FOUR(vcvtnq_s32_f32(lam_lanes_fused(v.q[i], scale.q[i], added.q[i])));
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_real_cut(lam_lanes_v v, lam_lanes_v scale, lam_lanes_v added)
{
    const int32x4_t sign = vdupq_n_s32(INT32_MIN);
    LAM_LANES_FOUR(vcvtq_s32_f32(lam_lanes_fused(v.q[i], scale.q[i], vorrq_s32(added.q[i], vandq_s32(v.q[i], sign)))));
}

/* Lanes as 16-bit words, saturated. */
static inline LAM_LANES_ALWAYS int16x8_t lam_lanes_words(int32x4_t low, int32x4_t high)
{
    return vqmovn_high_s32(vqmovn_s32(low), high);
}

/* Lanes as bytes, saturated. */
static inline LAM_LANES_ALWAYS uint8x16_t lam_lanes_narrowed(lam_lanes_v v, int is_signed)
{
    const int16x8_t low = lam_lanes_words(v.q[0], v.q[1]), high = lam_lanes_words(v.q[2], v.q[3]);
    return is_signed ? vreinterpretq_u8_s8(vqmovn_high_s16(vqmovn_s16(low), high))
                     : vqmovun_high_s16(vqmovun_s16(low), high);
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_s8(int8_t *y, lam_lanes_v v, int32_t count)
{
    lam_lanes_store_bytes(y, lam_lanes_narrowed(v, 1), count);
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_u8(uint8_t *y, lam_lanes_v v, int32_t count)
{
    lam_lanes_store_bytes(y, lam_lanes_narrowed(v, 0), count);
}

static inline LAM_LANES_ALWAYS void lam_lanes_store_woven(uint8_t *y, const lam_lanes_v *v, int32_t count, int is_signed)
{
    uint8_t copy[64];
    uint8x16x4_t bytes;
    LAM_LANES_UNROLL
    for (int i = 0; i < 4; i++) {
        bytes.val[i] = lam_lanes_narrowed(v[i], is_signed);
    }
    if (count == 64) {
        vst4q_u8(y, bytes);
    } else {
        vst4q_u8(copy, bytes);
        (void)memcpy(y, copy, (size_t)count);
    }
}

static inline LAM_LANES_ALWAYS void lam_lanes_copy(uint8_t *to, const uint8_t *from, int32_t bytes, int flip)
{
    const uint8x16_t turn = vdupq_n_u8(flip ? 0x80u : 0u);
    int32_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
        vst1q_u8(to + i, veorq_u8(vld1q_u8(from + i), turn));
    }
    for (; i < bytes; i++) {
        to[i] = (uint8_t)(from[i] ^ (flip ? 0x80u : 0u));
    }
}

/* Adds products of 16 bits to sixteen sums. */
static inline LAM_LANES_ALWAYS void lam_lanes_widen(lam_lanes_v *acc, int16x8_t low, int16x8_t high)
{
    acc->q[0] = vaddw_s16(acc->q[0], vget_low_s16(low));
    acc->q[1] = vaddw_high_s16(acc->q[1], low);
    acc->q[2] = vaddw_s16(acc->q[2], vget_low_s16(high));
    acc->q[3] = vaddw_high_s16(acc->q[3], high);
}

/* Adds the product of each of 64 bytes by its weight: those of bytes 4 d + v to the lanes d of acc[v]. */
static inline LAM_LANES_ALWAYS void lam_lanes_add_products(lam_lanes_v *acc, const uint8_t *x, const uint8_t *w)
{
    const int8x16x4_t bytes = vld4q_s8((const int8_t *)x);
    LAM_LANES_UNROLL
    for (int v = 0; v < 4; v++) {
        const int8x16_t a = bytes.val[v], b = vld1q_s8((const int8_t *)w + 16 * v);
        lam_lanes_widen(acc + v, vmull_s8(vget_low_s8(a), vget_low_s8(b)), vmull_high_s8(a, b));
    }
}

/* The same twice, without weights of -128: the sum of two products has 16 bits. */
static inline LAM_LANES_ALWAYS void lam_lanes_add_pairs(lam_lanes_v *acc, const uint8_t *x0, const uint8_t *w0,
                                                        const uint8_t *x1, const uint8_t *w1)
{
    const int8x16x4_t first = vld4q_s8((const int8_t *)x0), second = vld4q_s8((const int8_t *)x1);
    LAM_LANES_UNROLL
    for (int v = 0; v < 4; v++) {
        const int8x16_t a = first.val[v], b = vld1q_s8((const int8_t *)w0 + 16 * v);
        const int8x16_t c = second.val[v], d = vld1q_s8((const int8_t *)w1 + 16 * v);
        lam_lanes_widen(acc + v, vmlal_s8(vmull_s8(vget_low_s8(a), vget_low_s8(b)), vget_low_s8(c), vget_low_s8(d)),
                        vmlal_high_s8(vmull_high_s8(a, b), c, d));
    }
}

#endif /* LAM_LANES_NEON_H */
