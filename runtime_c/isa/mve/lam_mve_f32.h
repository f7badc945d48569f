/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Four float32 lanes: Helium, or plain C99, which gives the same bits.  Each lane is a sum of its own, and a product is
 * rounded before it is added; Helium knows no numbers below the least normal one (lam_f32_flushed.h).
 *
 * `count` is 1 .. 4: lanes from there on are not read from memory (they are zero) and not written to it.
 */
#ifndef LAM_MVE_F32_H
#define LAM_MVE_F32_H

#include "lam_f32_flushed.h"
#include "lam_mve.h"

#if LAM_MVE
#include <arm_mve.h>
#endif

/* A number that vectors are multiplied by, as its bits. */
typedef uint32_t lam_mve_f32_factor;

static inline lam_mve_f32_factor lam_mve_f32_factor_at(const float *p)
{
    return lam_f32_bits(*p);
}

#if LAM_MVE

typedef float32x4_t lam_mve_f32;

static inline lam_mve_f32 lam_mve_f32_load(const float *p, int32_t count)
{
    return (count == 4) ? vld1q_f32(p) : vldrwq_z_f32(p, vctp32q((uint32_t)count));
}

/* Of fewer than four in assembly: gcc 12 takes a predicated store for one of all lanes, and drops what was stored there. */
static inline void lam_mve_f32_store(float *p, int32_t count, lam_mve_f32 a)
{
    if (count == 4) {
        vst1q_f32(p, a);
    } else {
        __asm volatile("vctp.32 %1\n\tvpst\n\tvstrwt.32 %q0, [%2]" : : "w"(a), "r"(count), "r"(p) : LAM_MVE_PREDICATE, "memory");
    }
}

/* acc + a * b, the product rounded.
 *
 * Both instructions, where they are written: a compiler that moves products away from their sums has not enough
 * registers for them, and one that joins them rounds once. */
static inline lam_mve_f32 lam_mve_f32_add_product(lam_mve_f32 acc, lam_mve_f32 a, lam_mve_f32 b)
{
    lam_mve_f32 product;

    __asm volatile("vmul.f32 %q1, %q2, %q3\n\tvadd.f32 %q0, %q0, %q1" : "+w"(acc), "=&w"(product) : "w"(a), "w"(b));
    return acc;
}

/* The same with one factor for all lanes, in a register that is not a vector's. */
static inline lam_mve_f32 lam_mve_f32_add_scaled(lam_mve_f32 acc, lam_mve_f32 a, lam_mve_f32_factor factor)
{
    lam_mve_f32 product;

    __asm volatile("vmul.f32 %q1, %q2, %3\n\tvadd.f32 %q0, %q0, %q1" : "+w"(acc), "=&w"(product) : "w"(a), "r"(factor));
    return acc;
}

/* NaN stays: "greater" is false of it, and "less" is true. */
static inline lam_mve_f32 lam_mve_f32_at_least(lam_mve_f32 a, float low)
{
    const lam_mve_f32 lows = vdupq_n_f32(low);
    return vpselq_f32(lows, a, vcmpgtq_f32(lows, a));
}

static inline lam_mve_f32 lam_mve_f32_at_most(lam_mve_f32 a, float high)
{
    return vpselq_f32(vdupq_n_f32(high), a, vcmpgtq_n_f32(a, high));
}

#else

typedef struct lam_mve_f32 {
    float lane[4];
} lam_mve_f32;

static inline lam_mve_f32 lam_mve_f32_load(const float *p, int32_t count)
{
    lam_mve_f32 a = {{0.0f, 0.0f, 0.0f, 0.0f}};

    for (int32_t i = 0; i < count; i++) {
        a.lane[i] = p[i];
    }
    return a;
}

static inline void lam_mve_f32_store(float *p, int32_t count, lam_mve_f32 a)
{
    for (int32_t i = 0; i < count; i++) {
        p[i] = a.lane[i];
    }
}

static inline lam_mve_f32 lam_mve_f32_add_product(lam_mve_f32 acc, lam_mve_f32 a, lam_mve_f32 b)
{
    for (int32_t i = 0; i < 4; i++) {
        acc.lane[i] = lam_f32_flushed(a.lane[i], b.lane[i], acc.lane[i]);
    }
    return acc;
}

static inline lam_mve_f32 lam_mve_f32_add_scaled(lam_mve_f32 acc, lam_mve_f32 a, lam_mve_f32_factor factor)
{
    for (int32_t i = 0; i < 4; i++) {
        acc.lane[i] = lam_f32_flushed(a.lane[i], lam_f32_from_bits(factor), acc.lane[i]);
    }
    return acc;
}

static inline lam_mve_f32 lam_mve_f32_at_least(lam_mve_f32 a, float low)
{
    for (int32_t i = 0; i < 4; i++) {
        a.lane[i] = (a.lane[i] < low) ? low : a.lane[i];
    }
    return a;
}

static inline lam_mve_f32 lam_mve_f32_at_most(lam_mve_f32 a, float high)
{
    for (int32_t i = 0; i < 4; i++) {
        a.lane[i] = (a.lane[i] > high) ? high : a.lane[i];
    }
    return a;
}

#endif

#endif /* LAM_MVE_F32_H */
