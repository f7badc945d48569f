/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Powers of 16-bit numbers from two tables.  Bit-exact twin of codegen/ops/softmax.py.
 */
#ifndef LAM_POWER_H
#define LAM_POWER_H

#include "lam_base.h"

/* exp(-below) in units of 2^-30, in steps of the input: fine[0 .. 255] times coarse, of every 256th step, rounded. */
static inline uint64_t lam_power_16(int32_t below, const uint32_t *fine, const uint32_t *coarse)
{
    return ((uint64_t)fine[below & 255] * coarse[below >> 8] + ((uint64_t)1 << 29)) >> 30;
}

#endif /* LAM_POWER_H */
