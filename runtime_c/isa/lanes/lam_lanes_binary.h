/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums, differences and products of two rows of bytes, element by element.  Bit-exact twin of templates/kernels/binary.c.j2
 * and the functions it calls.
 */
#ifndef LAM_LANES_BINARY_H
#define LAM_LANES_BINARY_H

#include "lam_lanes_requant.h"

/* `count` bytes, widened. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_bytes(const void *p, int32_t at, int is_signed, int32_t count)
{
    return is_signed ? lam_lanes_load_s8((const int8_t *)p + at, count) : lam_lanes_load_u8((const uint8_t *)p + at, count);
}

/* Sums of `count` elements, 16 at most, from element `at` on. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_sum_of(const int32_t *sum, const lam_range *range, int saturates, const void *a,
                                                            int a_signed, const void *b, int b_signed, int32_t at, int32_t count)
{
    const lam_lanes_v by_a = lam_lanes_mul(lam_lanes_bytes(a, at, a_signed, count), lam_lanes_splat(sum[0]));
    const lam_lanes_v by_b = lam_lanes_mul(lam_lanes_bytes(b, at, b_signed, count), lam_lanes_splat(sum[1]));
    const lam_lanes_v total = lam_lanes_add(lam_lanes_add(by_a, lam_lanes_splat(sum[2])), by_b);
    const lam_lanes_v made = lam_lanes_sra(total, lam_lanes_splat(sum[3]));
    return saturates ? made : lam_lanes_clamp(made, lam_lanes_splat(range->low), lam_lanes_splat(range->high));
}

/* `count` sums: y = (ma * a + mb * b + offset) >> places, limited; sum = [ma, mb, offset, places]. */
static inline LAM_LANES_ALWAYS void lam_lanes_sums(const int32_t *sum, const lam_range *range, int saturates, const void *a, int a_signed,
                                                   const void *b, int b_signed, void *y, int type, int32_t count)
{
    int32_t i = 0;
#if LAM_LANES_AVX512
    for (; i + 64 <= count; i += 64) {
        lam_lanes_v four[4];
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < 4; v++) {
            four[v] = lam_lanes_sum_of(sum, range, saturates, a, a_signed, b, b_signed, i + 16 * v, 16);
        }
        lam_lanes_store_four((uint8_t *)y + i, four[0], four[1], four[2], four[3], type == LAM_LANES_S8);
    }
#endif
    for (; i + 16 <= count; i += 16) {
        lam_lanes_put(y, i, lam_lanes_sum_of(sum, range, saturates, a, a_signed, b, b_signed, i, 16), 16, type);
    }
    if (i < count) {
        lam_lanes_put(y, i, lam_lanes_sum_of(sum, range, saturates, a, a_signed, b, b_signed, i, count - i), count - i, type);
    }
}

/* `count` products of centred values. */
static inline LAM_LANES_ALWAYS void lam_lanes_products(lam_lanes_factors factors, int mode, int saturates, const int32_t *zero,
                                                   const void *a, int a_signed, const void *b, int b_signed, void *y,
                                                   int type, int32_t count)
{
    const lam_lanes_rq rq = lam_lanes_factors_of(factors, mode, 0, 0, 16);
    const lam_lanes_v a_zero = lam_lanes_splat(-zero[0]), b_zero = lam_lanes_splat(-zero[1]);
    for (int32_t i = 0; i < count; i += 16) {
        const int32_t some = (count - i < 16) ? count - i : 16;
        const lam_lanes_v p = lam_lanes_add(lam_lanes_bytes(a, i, a_signed, some), a_zero);
        const lam_lanes_v q = lam_lanes_add(lam_lanes_bytes(b, i, b_signed, some), b_zero);
        lam_lanes_put(y, i, lam_lanes_rescale(lam_lanes_mul(p, q), &rq, mode, saturates), some, type);
    }
}

#endif /* LAM_LANES_BINARY_H */
