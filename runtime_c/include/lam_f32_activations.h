/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Activations made of expm1 and of numbers of their own.  Bit-exact twin of codegen/ops/float32/activations.py.
 */
#ifndef LAM_F32_ACTIVATIONS_H
#define LAM_F32_ACTIVATIONS_H

#include "lam_f32_elementwise.h"
#include "lam_f32_exp.h"

static inline float lam_f32_elu(float x, float alpha)
{
    return x < 0.0f ? alpha * lam_f32_expm1(x) : x;
}

static inline float lam_f32_celu(float x, float alpha)
{
    return lam_f32_relu(x) + lam_f32_minimum(0.0f, lam_f32_product(alpha, lam_f32_expm1(x / alpha)));
}

static inline float lam_f32_selu(float x, float alpha, float gamma)
{
    return gamma * lam_f32_elu(x, alpha);
}

#endif /* LAM_F32_ACTIVATIONS_H */
