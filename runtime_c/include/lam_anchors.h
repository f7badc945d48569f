/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Boxes from what a detector says of its anchors, by way of double, as TFLite decodes them.
 * Bit-exact twin of codegen/float32/anchors.py.
 */
#ifndef LAM_ANCHORS_H
#define LAM_ANCHORS_H

#include <float.h>
#include <string.h>

#include "lam_f32.h"

#if DBL_MANT_DIG != 53
#error "boxes are decoded in double of 64 bits"
#endif

/* e^x: 2^k times a polynomial of what is left of x.  Beyond 600 it is that of 600, which no float holds. */
static inline double lam_wide_exp(double x)
{
    static const double shares[14] = {
        1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0,
        1.0 / 40320.0,      1.0 / 5040.0,      1.0 / 720.0,      1.0 / 120.0,     1.0 / 24.0,
        1.0 / 6.0,          1.0 / 2.0,         1.0,              1.0};
    const double near = (x > 600.0) ? 600.0 : ((x < -600.0) ? -600.0 : x);
    double scaled, rest, total, power;
    int32_t k;
    uint64_t bits;

    if (near != near) {
        return near;
    }
    scaled = near * 1.4426950408889634;
    k = (int32_t)(scaled + ((near < 0.0) ? -0.5 : 0.5));
    rest = near - (double)k * 6.93147180369123816490e-01;
    rest = rest - (double)k * 1.90821492927058770002e-10;
    total = shares[0];
    for (int32_t i = 1; i < 14; i++) {
        total = total * rest;
        total = total + shares[i];
    }
    bits = (uint64_t)(k + 1023) << 52;
    (void)memcpy(&power, &bits, sizeof power);
    return total * power;
}

/* Corners y, x, y, x of a box, whose code, anchor and scales are y, x, h, w. */
static inline void lam_anchor_box(const float *code, const float *anchor, const float *scales, float *box)
{
    for (int32_t axis = 0; axis < 2; axis++) {
        const double share = (double)code[axis] / (double)scales[axis];
        const double grown = (double)code[axis + 2] / (double)scales[axis + 2];
        const double size = (double)anchor[axis + 2];
        const double moved = share * size;
        const float centre = (float)(moved + (double)anchor[axis]);
        const float half = (float)(0.5 * lam_wide_exp(grown) * size);
        box[axis] = centre - half;
        box[axis + 2] = centre + half;
    }
}

#endif
