/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What a window reads where it reaches over the left or right edge of a row of bytes.
 */
#ifndef LAM_GATHER_H
#define LAM_GATHER_H

#include "lam_base.h"

/* Copies `taps` neighbouring pixels of `channels` bytes, from pixel `at` on, out of a row of `width` pixels; those
 * outside the row are filled with x_zp. */
static inline void lam_gather_taps(uint8_t *to, const void *row, int32_t at, int32_t taps, int32_t channels, int32_t width,
                                   int32_t x_zp)
{
    const uint8_t *const bytes = (const uint8_t *)row;
    for (int32_t j = at; j < at + taps; j++) {
        const int inside = j >= 0 && j < width;
        const uint8_t *from = bytes + (inside ? j * channels : 0);
        for (int32_t m = 0; m < channels; m++) {
            *to++ = inside ? from[m] : (uint8_t)x_zp;
        }
    }
}

#endif /* LAM_GATHER_H */
