/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Pixels of a camera's lines, one at a time, and what lies between two of them.  Twin of codegen/preprocess/pixels.py and
 * camera.py, to the bit.
 *
 *   lam_fetch_FORMAT   pixel x of a line into p[0..2]: red, green, blue; of YUV: Y, Cb, Cr; of gray three times the same
 *   lam_rgb_of_RANGE   Y, Cb, Cr to red, green, blue (ITU-R BT.601), in place
 *   lam_gray_of_rgb    the luma of red, green, blue, into p[0]
 *
 * Integers alone, no state.  Nothing is read but the pixel, its pair where pixels come in pairs, and a mosaic's neighbours.
 */
#ifndef LAM_PIXELS_H
#define LAM_PIXELS_H

#include "lam_base.h"

/* A number times 2^16 as a byte: half up, 0 .. 255.  acc is within 2^25. */
static inline uint8_t lam_byte_of(int32_t acc)
{
    const int32_t rounded = (acc + 32768) / 65536;
    uint8_t byte = 0;
    if (acc > 0) {
        byte = (uint8_t)(rounded > 255 ? 255 : rounded);
    }
    return byte;
}

static inline void lam_fetch_rgb888(const uint8_t *line, int32_t x, uint8_t *p)
{
    const uint8_t *const at = line + 3 * (size_t)x;
    p[0] = at[0];
    p[1] = at[1];
    p[2] = at[2];
}

static inline void lam_fetch_bgr888(const uint8_t *line, int32_t x, uint8_t *p)
{
    const uint8_t *const at = line + 3 * (size_t)x;
    p[0] = at[2];
    p[1] = at[1];
    p[2] = at[0];
}

/* 5 bits of red, 6 of green, 5 of blue; the highest bits are repeated below, so that white is 255. */
static inline void lam_of_565(uint32_t high, uint32_t low, uint8_t *p)
{
    const uint32_t red = high >> 3;
    const uint32_t green = ((high & 7u) << 3) | (low >> 5);
    const uint32_t blue = low & 31u;
    p[0] = (uint8_t)((red << 3) | (red >> 2));
    p[1] = (uint8_t)((green << 2) | (green >> 4));
    p[2] = (uint8_t)((blue << 3) | (blue >> 2));
}

static inline void lam_fetch_rgb565_le(const uint8_t *line, int32_t x, uint8_t *p)
{
    const uint8_t *const at = line + 2 * (size_t)x;
    lam_of_565(at[1], at[0], p);
}

static inline void lam_fetch_rgb565_be(const uint8_t *line, int32_t x, uint8_t *p)
{
    const uint8_t *const at = line + 2 * (size_t)x;
    lam_of_565(at[0], at[1], p);
}

/* Two pixels are Y, Cb, Y, Cr. */
static inline void lam_fetch_yuyv(const uint8_t *line, int32_t x, uint8_t *p)
{
    const uint8_t *const pair = line + 4 * (size_t)(x / 2);
    p[0] = line[2 * (size_t)x];
    p[1] = pair[1];
    p[2] = pair[3];
}

/* Two pixels are Cb, Y, Cr, Y. */
static inline void lam_fetch_uyvy(const uint8_t *line, int32_t x, uint8_t *p)
{
    const uint8_t *const pair = line + 4 * (size_t)(x / 2);
    p[0] = line[2 * (size_t)x + 1];
    p[1] = pair[0];
    p[2] = pair[2];
}

/* A line of Y, and the line of Cb and Cr that goes with it and its neighbour. */
static inline void lam_fetch_nv12(const uint8_t *line, const uint8_t *chroma, int32_t x, uint8_t *p)
{
    const uint8_t *const pair = chroma + 2 * (size_t)(x / 2);
    p[0] = line[x];
    p[1] = pair[0];
    p[2] = pair[1];
}

/* The same with Cr before Cb. */
static inline void lam_fetch_nv21(const uint8_t *line, const uint8_t *chroma, int32_t x, uint8_t *p)
{
    const uint8_t *const pair = chroma + 2 * (size_t)(x / 2);
    p[0] = line[x];
    p[1] = pair[1];
    p[2] = pair[0];
}

static inline void lam_fetch_gray8(const uint8_t *line, int32_t x, uint8_t *p)
{
    p[0] = line[x];
    p[1] = line[x];
    p[2] = line[x];
}

/* Pixel x of `width` in a mosaic, between the lines above and below; both neighbours of the first and of the last pixel are
 * the one that there is.  `odd_row`, `odd_column`: 1 when the pixel is in another row, another column than red ones are.
 * A colour that the pixel lacks is the mean of the nearest two or four, half up. */
static inline void lam_fetch_bayer(const uint8_t *above, const uint8_t *line, const uint8_t *below, int32_t x, int32_t width,
                                   int32_t odd_row, int32_t odd_column, uint8_t *p)
{
    const int32_t left = x > 0 ? x - 1 : 1;
    const int32_t right = x < width - 1 ? x + 1 : x - 1;
    const uint32_t sides = (uint32_t)line[left] + line[right];
    const uint32_t ends = (uint32_t)above[x] + below[x];
    const int32_t own = odd_row != 0 ? 2 : 0; /* the colour that this row has beside green */
    if (odd_row == odd_column) {
        const uint32_t corners = (uint32_t)above[left] + above[right] + below[left] + below[right];
        p[own] = line[x];
        p[1] = (uint8_t)((sides + ends + 2u) >> 2);
        p[2 - own] = (uint8_t)((corners + 2u) >> 2);
    } else {
        p[own] = (uint8_t)((sides + 1u) >> 1);
        p[1] = line[x];
        p[2 - own] = (uint8_t)((ends + 1u) >> 1);
    }
}

/* Y of 16 .. 235, Cb and Cr of 16 .. 240. */
static inline void lam_rgb_of_limited(uint8_t *p)
{
    const int32_t y = 76309 * ((int32_t)p[0] - 16);
    const int32_t b = (int32_t)p[1] - 128;
    const int32_t r = (int32_t)p[2] - 128;
    p[0] = lam_byte_of(y + 104597 * r);
    p[1] = lam_byte_of(y - 25675 * b - 53279 * r);
    p[2] = lam_byte_of(y + 132201 * b);
}

/* Y, Cb and Cr of 0 .. 255. */
static inline void lam_rgb_of_full(uint8_t *p)
{
    const int32_t y = 65536 * (int32_t)p[0];
    const int32_t b = (int32_t)p[1] - 128;
    const int32_t r = (int32_t)p[2] - 128;
    p[0] = lam_byte_of(y + 91881 * r);
    p[1] = lam_byte_of(y - 22553 * b - 46802 * r);
    p[2] = lam_byte_of(y + 116130 * b);
}

static inline void lam_gray_of_rgb(uint8_t *p)
{
    p[0] = (uint8_t)((19595u * (uint32_t)p[0] + 38470u * (uint32_t)p[1] + 7471u * (uint32_t)p[2] + 32768u) >> 16);
}

/* Y of 16 .. 235 as gray. */
static inline void lam_stretch_limited(uint8_t *p)
{
    p[0] = lam_byte_of(76309 * ((int32_t)p[0] - 16));
}

/* Between two pixels of a line, w 2048ths of the way, times 256. */
static inline uint16_t lam_across(uint8_t a, uint8_t b, uint32_t w)
{
    return (uint16_t)(((uint32_t)a * (2048u - w) + (uint32_t)b * w + 4u) >> 3);
}

/* Between two numbers of lam_across, w 2048ths of the way, as a byte. */
static inline uint8_t lam_down(uint16_t a, uint16_t b, uint32_t w)
{
    return (uint8_t)(((uint32_t)a * (2048u - w) + (uint32_t)b * w + 262144u) >> 19);
}

#endif /* LAM_PIXELS_H */
