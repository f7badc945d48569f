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
    const uint8_t *from = (const uint8_t *)row + (at > 0 ? at * channels : 0);
    for (int32_t j = at; j < at + taps; j++, to += channels) {
        if (j >= 0 && j < width) {
            (void)memcpy(to, from, (size_t)channels);
            from += channels;
        } else {
            (void)memset(to, x_zp, (size_t)channels);
        }
    }
}

#endif /* LAM_GATHER_H */
