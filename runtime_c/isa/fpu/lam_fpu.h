/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Several floats by one instruction, as the floating-point unit of a Cortex-M loads them (VLDM), each beside a portable
 * twin.  Compilers load them one by one.
 */
#ifndef LAM_FPU_H
#define LAM_FPU_H

#include "lam_base.h"

#if defined(__arm__) && defined(__thumb2__) && defined(__ARM_FP) && !defined(__SOFTFP__) && defined(__GNUC__)
#define LAM_FPU 1
#else
#define LAM_FPU 0
#endif

#if LAM_FPU
#define LAM_FPU_REGISTER(name, number) register float name __asm__(number)
/* w[0] to w[last] go to the registers, and w to the float behind them. */
#define LAM_FPU_LOAD(w, count, registers, ...) \
    __asm__("vldmia %0!, " registers : "+r"(w), __VA_ARGS__ : "m"(*(const struct lam_fpu_##count *)(const void *)(w)))

struct lam_fpu_2 {
    float v[2];
};
struct lam_fpu_4 {
    float v[4];
};
struct lam_fpu_8 {
    float v[8];
};
#endif

/* v[0] to v[7] become w[0] to w[7].  Returns w + 8. */
static inline const float *lam_fpu_load_8(const float *w, float *v)
{
#if LAM_FPU
    LAM_FPU_REGISTER(a, "s0");
    LAM_FPU_REGISTER(b, "s1");
    LAM_FPU_REGISTER(c, "s2");
    LAM_FPU_REGISTER(d, "s3");
    LAM_FPU_REGISTER(e, "s4");
    LAM_FPU_REGISTER(f, "s5");
    LAM_FPU_REGISTER(g, "s6");
    LAM_FPU_REGISTER(h, "s7");
    LAM_FPU_LOAD(w, 8, "{s0-s7}", "=t"(a), "=t"(b), "=t"(c), "=t"(d), "=t"(e), "=t"(f), "=t"(g), "=t"(h));
    v[0] = a;
    v[1] = b;
    v[2] = c;
    v[3] = d;
    v[4] = e;
    v[5] = f;
    v[6] = g;
    v[7] = h;
#else
    (void)memcpy(v, w, 8 * sizeof(float));
    w += 8;
#endif
    return w;
}

/* v[0] to v[3] become w[0] to w[3].  Returns w + 4. */
static inline const float *lam_fpu_load_4(const float *w, float *v)
{
#if LAM_FPU
    LAM_FPU_REGISTER(a, "s0");
    LAM_FPU_REGISTER(b, "s1");
    LAM_FPU_REGISTER(c, "s2");
    LAM_FPU_REGISTER(d, "s3");
    LAM_FPU_LOAD(w, 4, "{s0-s3}", "=t"(a), "=t"(b), "=t"(c), "=t"(d));
    v[0] = a;
    v[1] = b;
    v[2] = c;
    v[3] = d;
#else
    (void)memcpy(v, w, 4 * sizeof(float));
    w += 4;
#endif
    return w;
}

/* v[0] and v[1] become w[0] and w[1].  Returns w + 2. */
static inline const float *lam_fpu_load_2(const float *w, float *v)
{
#if LAM_FPU
    LAM_FPU_REGISTER(a, "s0");
    LAM_FPU_REGISTER(b, "s1");
    LAM_FPU_LOAD(w, 2, "{s0-s1}", "=t"(a), "=t"(b));
    v[0] = a;
    v[1] = b;
#else
    (void)memcpy(v, w, 2 * sizeof(float));
    w += 2;
#endif
    return w;
}

#undef LAM_FPU_REGISTER
#undef LAM_FPU_LOAD

#endif /* LAM_FPU_H */
