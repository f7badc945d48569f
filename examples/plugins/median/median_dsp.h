/* SPDX-License-Identifier: MIT-0
 * The median of three rows of bytes, four at a time where the compiler has the instructions SSUB8 and SEL. */
#ifndef MEDIAN_DSP_H
#define MEDIAN_DSP_H

#include "lam_base.h"

#if defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
#include <string.h>

static inline int8x4_t median_word(const int8_t *from)
{
    int8x4_t word;
    memcpy(&word, from, 4);
    return word;
}

/* The larger and the smaller of each of four bytes: SSUB8 leaves in the GE flags which, and SEL reads them. */
static inline int8x4_t median_max(int8x4_t a, int8x4_t b)
{
    (void)__ssub8(a, b);
    return (int8x4_t)__sel((uint8x4_t)a, (uint8x4_t)b);
}

static inline int8x4_t median_min(int8x4_t a, int8x4_t b)
{
    (void)__ssub8(a, b);
    return (int8x4_t)__sel((uint8x4_t)b, (uint8x4_t)a);
}
#endif

static inline int8_t median_one(int8_t a, int8_t b, int8_t c)
{
    const int8_t low = a < b ? a : b;
    const int8_t high = a < b ? b : a;
    const int8_t middle = high < c ? high : c;
    return low > middle ? low : middle;
}

/* One output row of `count` bytes; rows beyond the border are null, and x itself stands in for them. */
static inline void median_dsp(const int8_t *const *rows, int8_t *y, int32_t n, void *scratch, int32_t count)
{
    const int8_t *x = rows[1];
    const int8_t *above = rows[0] ? rows[0] : x;
    const int8_t *below = rows[2] ? rows[2] : x;
    int32_t i = 0;
#if defined(__ARM_FEATURE_SIMD32)
    for (; i + 4 <= count; i += 4) {
        const int8x4_t a = median_word(above + i);
        const int8x4_t b = median_word(x + i);
        const int8x4_t c = median_word(below + i);
        const int8x4_t found = median_max(median_min(a, b), median_min(median_max(a, b), c));
        memcpy(y + i, &found, 4);
    }
#endif
    for (; i < count; i++) {
        y[i] = median_one(above[i], x[i], below[i]);
    }
    LAM_UNUSED(n);
    LAM_UNUSED(scratch);
}

#endif /* MEDIAN_DSP_H */
