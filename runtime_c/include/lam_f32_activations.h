/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Activations made of exp, log, tanh, sigmoid and erf.  Bit-exact twin of codegen/ops/float32/activations.py.
 */
#ifndef LAM_F32_ACTIVATIONS_H
#define LAM_F32_ACTIVATIONS_H

#include "lam_f32_elementwise.h"
#include "lam_f32_erf.h"
#include "lam_f32_exp.h"
#include "lam_f32_log.h"

/* exp(x) - 1, without loss near 0. */
static inline float lam_f32_exp_less_one(float x)
{
    return (lam_f32_exp(x) + 1.0f) * lam_f32_tanh(0.5f * x);
}

/* log(1 + x) of x not below 0, without loss near 0. */
static inline float lam_f32_log_of_one_more(float x)
{
    const float more = 1.0f + x;
    return more <= 1.0f ? x : lam_f32_log(more) * x / (more - 1.0f);
}

static inline float lam_f32_elu(float x, float alpha)
{
    return x < 0.0f ? alpha * lam_f32_exp_less_one(x) : x;
}

static inline float lam_f32_celu(float x, float alpha)
{
    return lam_f32_relu(x) + lam_f32_minimum(0.0f, lam_f32_product(alpha, lam_f32_exp_less_one(x / alpha)));
}

static inline float lam_f32_selu(float x, float alpha, float gamma)
{
    return gamma * lam_f32_elu(x, alpha);
}

static inline float lam_f32_softplus(float x)
{
    return lam_f32_relu(x) + lam_f32_log_of_one_more(lam_f32_exp(-lam_f32_abs(x)));
}

static inline float lam_f32_mish(float x)
{
    return x * lam_f32_tanh(lam_f32_softplus(x));
}

static inline float lam_f32_gelu(float x)
{
    return 0.5f * x * (1.0f + lam_f32_erf(0.70710678118654752f * x));
}

static inline float lam_f32_gelu_tanh(float x)
{
    const float cube = lam_f32_product(0.044715f, x * x * x);
    return 0.5f * x * (1.0f + lam_f32_tanh(0.79788456080286536f * (x + cube)));
}

static inline float lam_f32_swish(float x, float alpha)
{
    return x * lam_f32_sigmoid(alpha * x);
}

#endif /* LAM_F32_ACTIVATIONS_H */
