/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Columns of a matrix that was computed, as lam_dot_2x2w and lam_dot_1x2w of lam_armv7em_wide.h read weights.
 */
#ifndef LAM_ARMV7EM_MATMUL_H
#define LAM_ARMV7EM_MATMUL_H

#include "lam_armv7em_wide.h"

/* The matrix that columns are taken from: `depth` rows of bytes, `columns` in each.  What is multiplied is each value
 * less `zero`, and from the sum of its column times `other_zero` the sums of products start, below zero. */
typedef struct lam_matrix {
    const void *values;
    int32_t depth;
    int32_t columns;
    int32_t zero;
    int32_t other_zero;
} lam_matrix;

/* Columns `first` and `second` as one pair in turn: for each four rows the pair of the first and third value of each column,
 * and that of the second and fourth; rows behind the last are zeros.  Returns the place behind them. */
#define LAM_MATRIX_COLUMNS(type) \
    const type *const values = (const type *)matrix->values; \
    int32_t sum[2] = {0, 0}; \
    for (int32_t k = 0; k < matrix->depth; k += 4, to += 4) { \
        for (int32_t c = 0; c < 2; c++) { \
            const type *at = values + k * matrix->columns + ((c == 0) ? first : second); \
            int32_t v[4] = {0, 0, 0, 0}; \
            for (int32_t i = 0; i < 4 && k + i < matrix->depth; i++, at += matrix->columns) { \
                v[i] = (int32_t)*at - matrix->zero; \
            } \
            to[2 * c] = lam_pair(v[0], v[2]); \
            to[2 * c + 1] = lam_pair(v[1], v[3]); \
            sum[c] += v[0] + v[1] + v[2] + v[3]; \
        } \
    } \
    start[0] = -matrix->other_zero * sum[0]; \
    start[1] = -matrix->other_zero * sum[1]; \
    return to;

LAM_INLINE uint32_t *lam_matrix_columns_s8(uint32_t *to, int32_t start[2], const lam_matrix *matrix, int32_t first, int32_t second)
{
    LAM_MATRIX_COLUMNS(int8_t)
}

LAM_INLINE uint32_t *lam_matrix_columns_u8(uint32_t *to, int32_t start[2], const lam_matrix *matrix, int32_t first, int32_t second)
{
    LAM_MATRIX_COLUMNS(uint8_t)
}

#endif /* LAM_ARMV7EM_MATMUL_H */
