/* SPDX-License-Identifier: MIT-0
 * What the firmware's accelerator computes for the hook edge_s8, in plain C: for tests, and to compare the hardware with. */
#ifndef EDGE_REFERENCE_H
#define EDGE_REFERENCE_H

#include "lam_base.h"
#include "lam_requant.h"

static inline void edge_reference(const int8_t *const *rows, int8_t *y, int32_t n, void *scratch, int32_t columns,
                                  int32_t channels, int32_t multiplier, int32_t shift, int32_t zero_point)
{
    for (int32_t column = 0; column < columns; column++) {
        const int8_t *left = rows[0] + (column > 0 ? column - 1 : 0) * channels;
        const int8_t *right = rows[0] + (column + 1 < columns ? column + 1 : column) * channels;
        for (int32_t m = 0; m < channels; m++) {
            const int32_t difference = (int32_t)right[m] - left[m];
            y[column * channels + m] =
                (int8_t)lam_requant_single_q(difference, multiplier, shift, zero_point, -128, 127);
        }
    }
    LAM_UNUSED(n);
    LAM_UNUSED(scratch);
}

#endif /* EDGE_REFERENCE_H */
