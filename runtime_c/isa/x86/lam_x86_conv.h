/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Convolution with one group, and dense layers: blocks of `pixels` outputs of a row by a few vectors of sixteen channels
 * are summed in registers.
 *
 * Inputs are unsigned bytes in scratch, rows padded to both sides: int8 values have 128 added, which the folded bias takes
 * out again.  Weights are packed in the order of reading: for each block of output channels (the last one has the rest),
 * each kernel row (with dilation each tap), each four inputs of its run, the last four filled up with zeros:
 * [channel][4].
 */
#ifndef LAM_X86_CONV_H
#define LAM_X86_CONV_H

#include "lam_x86_requant.h"

#define LAM_X86_PIXELS 12
#define LAM_X86_VECTORS 8

/* Literals of a layer; steps are in bytes.
 *
 *   pixels             outputs of a row that are summed together, at most LAM_X86_PIXELS
 *   block              output channels that are, at most 16 * LAM_X86_VECTORS
 *   lines, line_step   kernel rows, and the way from one to the next
 *   taps, tap_step     runs in a kernel row (1 unless dilated), and the way from one to the next
 *   quads              groups of four inputs in a run
 *   pixel_step         the way from one output's inputs to the next one's
 *   row_step           the way from one output row's inputs to the next one's
 *   channels           output channels
 */
typedef struct lam_x86_conv {
    int32_t pixels, block, lines, line_step, taps, tap_step, quads, pixel_step, row_step, channels;
    int mode, per_channel, saturates, type;
} lam_x86_conv;

/* One layer's parameters. */
typedef struct lam_x86_layer {
    const int8_t *weights;
    const int32_t *bias;
    lam_x86_factors factors;
} lam_x86_layer;

#if LAM_X86_AVX512 || LAM_X86_AVX2

/* `pixels` outputs by `vectors` vectors of channels from `channel` on, of which the last has `last` lanes; w is their
 * first weight, and quad_step the way to the next four inputs' weights. */
static inline LAM_X86_ALWAYS void lam_x86_conv_part(lam_x86_conv s, int32_t pixels, int32_t vectors, int32_t last,
                                                    const uint8_t *x, const int8_t *w, int32_t quad_step,
                                                    lam_x86_layer layer, int32_t channel, void *y, int32_t at)
{
    lam_x86_v acc[LAM_X86_PIXELS][LAM_X86_VECTORS];
    LAM_X86_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const lam_x86_v start = lam_x86_load(layer.bias + channel + 16 * v, v + 1 < vectors ? 16 : last);
        LAM_X86_UNROLL
        for (int32_t p = 0; p < pixels; p++) {
            acc[p][v] = start;
        }
    }
    for (int32_t line = 0; line < s.lines; line++) {
        for (int32_t tap = 0; tap < s.taps; tap++) {
            const uint8_t *run = x + line * s.line_step + tap * s.tap_step;
            for (int32_t k = 0; k < s.quads; k++, run += 4, w += quad_step) {
                lam_x86_v weights[LAM_X86_VECTORS];
                LAM_X86_UNROLL
                for (int32_t v = 0; v < vectors; v++) {
                    weights[v] = lam_x86_load(w + 64 * v, v + 1 < vectors ? 16 : last);
                }
                LAM_X86_UNROLL
                for (int32_t p = 0; p < pixels; p++) {
                    const lam_x86_v four = lam_x86_quad(run + p * s.pixel_step);
                    LAM_X86_UNROLL
                    for (int32_t v = 0; v < vectors; v++) {
                        acc[p][v] = lam_x86_dot(acc[p][v], four, weights[v]);
                    }
                }
            }
        }
    }
    LAM_X86_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const int32_t count = v + 1 < vectors ? 16 : last;
        const lam_x86_rq rq = lam_x86_factors_of(layer.factors, s.mode, s.per_channel, channel + 16 * v, count);
        LAM_X86_UNROLL
        for (int32_t p = 0; p < pixels; p++) {
            const lam_x86_v out = lam_x86_rescale(acc[p][v], &rq, s.mode, s.saturates);
            lam_x86_put(y, at + p * s.channels + channel + 16 * v, out, count, s.type);
        }
    }
}

#endif

#if LAM_X86_AVX2

/* One vector of channels, four pixels at a time: what sixteen registers hold. */
static inline LAM_X86_ALWAYS void lam_x86_conv_column(lam_x86_conv s, int32_t pixels, int32_t count, const uint8_t *x,
                                                      const int8_t *w, int32_t quad_step, lam_x86_layer layer,
                                                      int32_t channel, void *y, int32_t at)
{
    for (int32_t p = 0; p + 4 <= pixels; p += 4) {
        lam_x86_conv_part(s, 4, 1, count, x + p * s.pixel_step, w, quad_step, layer, channel, y, at + p * s.channels);
    }
    if (pixels % 4 != 0) {
        const int32_t p = pixels / 4 * 4;
        lam_x86_conv_part(s, pixels % 4, 1, count, x + p * s.pixel_step, w, quad_step, layer, channel, y,
                          at + p * s.channels);
    }
}

#elif !LAM_X86_AVX512

/* One pixel by one vector of channels. */
static inline void lam_x86_conv_vector(lam_x86_conv s, int32_t count, const uint8_t *x, const int8_t *w,
                                       int32_t quad_step, lam_x86_layer layer, int32_t channel, void *y, int32_t at)
{
    const lam_x86_rq rq = lam_x86_factors_of(layer.factors, s.mode, s.per_channel, channel, count);
    lam_x86_v acc = lam_x86_load(layer.bias + channel, count);
    for (int32_t line = 0; line < s.lines; line++) {
        for (int32_t tap = 0; tap < s.taps; tap++) {
            const uint8_t *run = x + line * s.line_step + tap * s.tap_step;
            for (int32_t k = 0; k < s.quads; k++, run += 4, w += quad_step) {
                const int32_t x0 = run[0], x1 = run[1], x2 = run[2], x3 = run[3];
                for (int32_t i = 0; i < count; i++) {
                    const int32_t sum = x0 * w[4 * i] + x1 * w[4 * i + 1] + x2 * w[4 * i + 2] + x3 * w[4 * i + 3];
                    acc.e[i] = (int32_t)((uint32_t)acc.e[i] + (uint32_t)sum);
                }
            }
        }
    }
    lam_x86_put(y, at + channel, lam_x86_rescale(acc, &rq, s.mode, s.saturates), count, s.type);
}

#endif

/* `pixels` outputs by `channels` channels from `first` on; the first of them is element `at` of y. */
static inline LAM_X86_ALWAYS void lam_x86_conv_tile(lam_x86_conv s, int32_t pixels, int32_t channels, const uint8_t *x,
                                                    lam_x86_layer layer, int32_t first, void *y, int32_t at)
{
    const int32_t vectors = (channels + 15) / 16, last = channels - 16 * (vectors - 1), step = 4 * channels;
    const int8_t *w = layer.weights + first * s.lines * s.taps * s.quads * 4;
#if LAM_X86_AVX512
    lam_x86_conv_part(s, pixels, vectors, last, x, w, step, layer, first, y, at);
#elif LAM_X86_AVX2
    for (int32_t v = 0; v + 1 < vectors; v++) {
        lam_x86_conv_column(s, pixels, 16, x, w + 64 * v, step, layer, first + 16 * v, y, at);
    }
    lam_x86_conv_column(s, pixels, last, x, w + 64 * (vectors - 1), step, layer, first + 16 * (vectors - 1), y, at);
#else
    for (int32_t p = 0; p < pixels; p++) {
        for (int32_t v = 0; v < vectors; v++) {
            lam_x86_conv_vector(s, v + 1 < vectors ? 16 : last, x + p * s.pixel_step, w + 64 * v, step, layer,
                                first + 16 * v, y, at + p * s.channels);
        }
    }
#endif
}

/* A block of channels of `rows` rows of `width` outputs.  The last tile of a row overlaps the one before: some outputs
 * are made twice. */
static inline LAM_X86_ALWAYS void lam_x86_conv_block(lam_x86_conv s, int32_t channels, const uint8_t *x, int32_t rows,
                                                     int32_t width, lam_x86_layer layer, int32_t first, void *y)
{
    for (int32_t row = 0; row < rows; row++, x += s.row_step) {
        const int32_t start = row * width * s.channels;
        if (width < s.pixels) {
            for (int32_t p = 0; p < width; p++) {
                lam_x86_conv_tile(s, 1, channels, x + p * s.pixel_step, layer, first, y, start + p * s.channels);
            }
            continue;
        }
        for (int32_t tile = 0; tile < width; tile += s.pixels) {
            const int32_t p = (tile + s.pixels <= width) ? tile : width - s.pixels;
            lam_x86_conv_tile(s, s.pixels, channels, x + p * s.pixel_step, layer, first, y, start + p * s.channels);
        }
    }
}

/* All channels of `rows` rows of `width` outputs, from inputs in scratch. */
static inline LAM_X86_ALWAYS void lam_x86_conv_rows(lam_x86_conv s, const uint8_t *x, int32_t rows, int32_t width,
                                                    lam_x86_layer layer, void *y)
{
    const int32_t whole = s.channels / s.block * s.block;
    for (int32_t first = 0; first < whole; first += s.block) {
        lam_x86_conv_block(s, s.block, x, rows, width, layer, first, y);
    }
    if (whole < s.channels) {
        lam_x86_conv_block(s, s.channels - whole, x, rows, width, layer, whole, y);
    }
}

#endif /* LAM_X86_CONV_H */
