/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Products as a float32 holds them, in integers.  Bit-exact twin of codegen/ops/compare.py.
 */
#ifndef LAM_ROUNDED_H
#define LAM_ROUNDED_H

#include "lam_base.h"

/* x * mantissa rounded to 24 significant bits, half to even, as a float32 holds it, times 2^places.  x has 17 bits, a
 * mantissa 24, places are 0 .. 20. */
static inline int64_t lam_rounded_product(int32_t x, int32_t mantissa, int32_t places)
{
    const int64_t product = (int64_t)x * mantissa;
    uint64_t size = (uint64_t)(product < 0 ? -product : product);
    int32_t cut = 0;

    while (size >> (24 + cut) != 0u) {
        cut++;
    }
    if (cut > 0) {
        const uint64_t half = (uint64_t)1 << (cut - 1), rest = size & (2u * half - 1u);

        size >>= cut;
        size += (rest > half || (rest == half && (size & 1u) != 0u)) ? 1u : 0u;
        size <<= cut;
    }
    size <<= places;
    return product < 0 ? -(int64_t)size : (int64_t)size;
}

#endif /* LAM_ROUNDED_H */
