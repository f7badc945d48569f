/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Convolution with one group, and dense layers: blocks of `pixels` outputs of a row by a few vectors of sixteen channels
 * are summed in registers.
 *
 * Inputs are bytes in scratch, rows padded to both sides, in the form in which the processor forms products
 * (LAM_LANES_SIGNED): int8 values without a sign have 128 added, which the folded bias takes out again.  Weights are packed
 * in the order of reading: for each block of output channels (the last one has the rest), each kernel row (with dilation
 * each tap), each four inputs of its run, the last four filled up with zeros: [channel][4].
 *
 * Weights of 4 bits: those of the next four inputs lie in the upper halves of the same bytes, zeros where there are none.
 * Either half is brought to the top of its byte, so that products are those of 16 times the weights: sums are shifted
 * back, exactly, and the bias follows.  Where they have zero points of their own they are numbers without a sign, 0 beyond the
 * last input, and what each output's weights are stored as less, times the sum of the pixel's inputs, follows instead.
 */
#ifndef LAM_LANES_CONV_H
#define LAM_LANES_CONV_H

#include "lam_lanes_requant.h"
#include "lam_lanes_totals.h"
#include "lam_order.h"

#define LAM_LANES_PIXELS 16
#define LAM_LANES_VECTORS 8

/* Literals of a layer; steps are in bytes.
 *
 *   pixels             outputs of a row that are summed together, at most LAM_LANES_PIXELS
 *   block              output channels that are, at most 16 * LAM_LANES_VECTORS
 *   lines, line_step   kernel rows, and the way from one to the next
 *   taps, tap_step     runs in a kernel row (1 unless dilated), and the way from one to the next
 *   quads              groups of four inputs in a run
 *   pixel_step         the way from one output's inputs to the next one's
 *   row_step           the way from one output row's inputs to the next one's
 *   channels           output channels
 *   is_signed          whether the bias is that of inputs with a sign
 *   narrow             whether no weight, or 16 times one of 4 bits, is -128
 *   few                whether weights have 4 bits
 *   own                whether these have zero points of their own; only then:
 *   run                inputs of a run
 *   less               by how much less each output's weights are stored, -128 .. 112
 *   totals             room for the sum of each pixel's inputs, of as many pixels as a call has
 */
typedef struct lam_lanes_conv {
    int32_t pixels, block, lines, line_step, taps, tap_step, quads, pixel_step, row_step, channels;
    int mode, per_channel, saturates, type, is_signed, narrow, few, own;
    int32_t run;
    const int8_t *less;
    int32_t *totals;
} lam_lanes_conv;

/* One layer's parameters. */
typedef struct lam_lanes_layer {
    const int8_t *weights;
    const int32_t *bias;
    lam_lanes_factors factors;
} lam_lanes_layer;

/* Whether sums are of 16 times the weights. */
static inline LAM_LANES_ALWAYS int lam_lanes_conv_raised(lam_lanes_conv s)
{
    return s.few && !s.own;
}

/* Four weights of `count` channels; those of 4 bits, of either half of the bytes, times 16 but for those of their own zero points. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_conv_weights(lam_lanes_conv s, const int8_t *w, int32_t count, int half)
{
    const lam_lanes_v bytes = lam_lanes_load(w, count);
    if (s.own) {
        return (half == 0) ? lam_lanes_low_bits(bytes) : lam_lanes_high_bits(bytes);
    }
    return !s.few ? bytes : (half == 0) ? lam_lanes_raise(bytes) : lam_lanes_upper(bytes);
}

/* How often a run's weights are read: for each four inputs, or each eight. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_conv_reads(lam_lanes_conv s)
{
    return s.few ? (s.quads + 1) / 2 : s.quads;
}

/* What the bias is added to at the end: sums of weights times 16, shifted back. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_conv_back(lam_lanes_conv s, lam_lanes_v sum)
{
    return lam_lanes_conv_raised(s) ? lam_lanes_sra(sum, lam_lanes_splat(4)) : sum;
}

/* The bias, and what inputs of the other form make of it, 128 times the sum of the weights. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_conv_start(lam_lanes_conv s, const int8_t *w, int32_t step,
                                                                const int32_t *bias, int32_t count)
{
    static const uint8_t half[4] = {64, 64, 64, 64};
    const lam_lanes_v start = lam_lanes_load(bias, count);
    lam_lanes_v sum = lam_lanes_splat(0);
    if (!lam_lanes_turned(s.is_signed)) {
        return start;
    }
    for (int32_t k = 0; k < s.lines * s.taps * lam_lanes_conv_reads(s); k++, w += step) {
        for (int part = 0; part < 1 + s.few; part++) {
            sum = lam_lanes_dot(sum, lam_lanes_quad(half), lam_lanes_conv_weights(s, w, count, part));
        }
    }
    sum = lam_lanes_conv_back(s, lam_lanes_add(sum, sum));
    return lam_lanes_add(start, s.is_signed ? lam_lanes_add(lam_lanes_xor(sum, lam_lanes_splat(-1)), lam_lanes_splat(1)) : sum);
}

/* What of a pixel's inputs lies at x. */
static inline LAM_LANES_ALWAYS lam_lanes_parts lam_lanes_conv_read(lam_lanes_conv s, const uint8_t *x)
{
    lam_lanes_parts parts = lam_lanes_no_parts();
    for (int32_t line = 0; line < s.lines; line++) {
        for (int32_t tap = 0; tap < s.taps; tap++) {
            parts = lam_lanes_add_bytes(parts, x + line * s.line_step + tap * s.tap_step, s.run);
        }
    }
    return parts;
}

/* The sums of the inputs of `rows` rows of `width` outputs, four at a time, of which the last ones of a row overlap. */
static inline LAM_LANES_ALWAYS void lam_lanes_conv_totals(lam_lanes_conv s, const uint8_t *x, int32_t rows, int32_t width)
{
    int32_t *to = s.totals;
    for (int32_t row = 0; row < rows; row++, x += s.row_step, to += width) {
        for (int32_t p = 0; p < width; p += (width < 4) ? 1 : 4) {
            const int32_t first = (width < 4 || p + 4 <= width) ? p : width - 4;
            lam_lanes_parts parts[4];
            int32_t sums[4];
            parts[0] = lam_lanes_conv_read(s, x + first * s.pixel_step);
            LAM_LANES_UNROLL
            for (int32_t i = 1; i < 4; i++) {
                parts[i] = (width >= 4) ? lam_lanes_conv_read(s, x + (first + i) * s.pixel_step) : parts[0];
            }
            lam_lanes_store_totals(sums, parts);
            (void)memcpy(to + first, sums, (width < 4) ? sizeof sums[0] : sizeof sums);
        }
    }
}

/* Whether the inputs of a pixel that is made alone are summed with its products: with AVX-512 a sum of few is in every lane
 * sooner than in memory. */
static inline LAM_LANES_ALWAYS int lam_lanes_conv_alone(lam_lanes_conv s, int32_t pixels)
{
    return LAM_LANES_AVX512 && s.own && pixels == 1 && s.lines * s.taps * s.run <= 64;
}

/* Whether that is done by products with ones: of so few inputs. */
static inline LAM_LANES_ALWAYS int lam_lanes_conv_counts(lam_lanes_conv s, int32_t pixels)
{
    return lam_lanes_conv_alone(s, pixels) && s.lines * s.taps * s.quads <= 6;
}

/* The sum of a pixel's inputs, `total` of these as they lie in scratch. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_conv_total(lam_lanes_conv s, int32_t total)
{
    return lam_lanes_splat(total + lam_lanes_total_turned(s.is_signed, s.lines * s.taps * s.run));
}

/* What outputs add of the sum of a pixel's inputs. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_conv_own(lam_lanes_v sum, lam_lanes_v less, lam_lanes_v total)
{
    return lam_lanes_add(sum, lam_lanes_mul(less, total));
}

#if LAM_LANES_AVX512 || LAM_LANES_AVX2 || LAM_LANES_NEON

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_conv_step(lam_lanes_conv s, lam_lanes_v acc, lam_lanes_x x, lam_lanes_v w)
{
#if LAM_LANES_NEON
    if (s.narrow) {
        return lam_lanes_dot_narrow(acc, x, w);
    }
#else
    LAM_UNUSED(s.narrow);
#endif
    return lam_lanes_dot(acc, x, w);
}

/* Adds the products of four inputs of `pixels` pixels, which begin at `run`, with their weights at w. */
static inline LAM_LANES_ALWAYS void lam_lanes_conv_four(lam_lanes_conv s, int32_t pixels, int32_t vectors, int32_t last,
                                                    const uint8_t *run, const int8_t *w, int half,
                                                    lam_lanes_v (*acc)[LAM_LANES_VECTORS])
{
    lam_lanes_v weights[LAM_LANES_VECTORS];
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        weights[v] = lam_lanes_conv_weights(s, w + 64 * v, v + 1 < vectors ? 16 : last, half);
    }
    LAM_LANES_UNROLL
    for (int32_t p = 0; p < pixels; p++) {
        const lam_lanes_x four = lam_lanes_quad(run + p * s.pixel_step);
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < vectors; v++) {
            acc[p][v] = lam_lanes_conv_step(s, acc[p][v], four, weights[v]);
        }
    }
}

/* `total`, and four more inputs of a run, or as many as it has there, number `quad`. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_conv_sum(lam_lanes_conv s, lam_lanes_v total, const uint8_t *run, int32_t quad)
{
    const uint32_t ones = (s.run % 4 != 0 && quad == s.run / 4) ? 0x01010101u >> (32 - 8 * (s.run % 4)) : 0x01010101u;
    return lam_lanes_dot(total, lam_lanes_quad(run), lam_lanes_splat((int32_t)ones));
}

/* How often both halves of bytes are read: with AVX-512 upper halves without inputs, the last ones of a run, are not. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_conv_whole(lam_lanes_conv s)
{
#if LAM_LANES_AVX512
    return s.few ? s.quads / 2 : s.quads;
#else
    return lam_lanes_conv_reads(s);
#endif
}

/* Whether registers are left for weights of 4 bits whose other half comes next. */
static inline LAM_LANES_ALWAYS int lam_lanes_conv_held(int32_t pixels, int32_t vectors)
{
#if LAM_LANES_AVX512
    return pixels * vectors + 2 * vectors <= 24;
#else
    LAM_UNUSED(pixels);
    LAM_UNUSED(vectors);
    return 0;
#endif
}

/* Whether they are left for the inputs and weights of later turns, where compilers write these out. */
static inline LAM_LANES_ALWAYS int lam_lanes_conv_ahead(int32_t pixels, int32_t vectors)
{
    return lam_lanes_conv_held(pixels, vectors) && pixels * vectors <= 8;
}

/* The outputs of `pixels` pixels by `vectors` vectors, as lam_lanes_conv_part says: four vectors that lie one after the
 * other in y are stored together. */
static inline LAM_LANES_ALWAYS void lam_lanes_conv_put(lam_lanes_conv s, int32_t pixels, int32_t vectors, int32_t last,
                                                       lam_lanes_v (*out)[LAM_LANES_VECTORS], int32_t channel, void *y,
                                                       int32_t at)
{
#if LAM_LANES_AVX512
    if (s.type != LAM_LANES_S32 && last == 16 && (vectors % 4 == 0 || s.channels == 16 * vectors)) {
        const int32_t all = pixels * vectors, whole = all / 4 * 4;
        LAM_LANES_UNROLL
        for (int32_t i = 0; i < whole; i += 4) {
            const int32_t to = at + (i / vectors) * s.channels + channel + 16 * (i % vectors);
            lam_lanes_store_four((uint8_t *)y + to, out[i / vectors][i % vectors], out[(i + 1) / vectors][(i + 1) % vectors],
                                 out[(i + 2) / vectors][(i + 2) % vectors], out[(i + 3) / vectors][(i + 3) % vectors],
                                 s.type == LAM_LANES_S8);
        }
        LAM_LANES_UNROLL
        for (int32_t i = whole; i < all; i++) {
            lam_lanes_put(y, at + (i / vectors) * s.channels + channel + 16 * (i % vectors), out[i / vectors][i % vectors], 16, s.type);
        }
        return;
    }
#endif
    LAM_LANES_UNROLL
    for (int32_t p = 0; p < pixels; p++) {
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < vectors; v++) {
            lam_lanes_put(y, at + p * s.channels + channel + 16 * v, out[p][v], v + 1 < vectors ? 16 : last, s.type);
        }
    }
}

/* `pixels` outputs by `vectors` vectors of channels from `channel` on, of which the last has `last` lanes; w is their
 * first weight, and step the way to the next four or eight inputs' weights. */
static inline LAM_LANES_ALWAYS void lam_lanes_conv_part(lam_lanes_conv s, int32_t pixels, int32_t vectors, int32_t last,
                                                    const uint8_t *x, const int8_t *w, int32_t step,
                                                    lam_lanes_layer layer, int32_t channel, void *y, int32_t at)
{
    const int8_t *const first = w;
    lam_lanes_v acc[LAM_LANES_PIXELS][LAM_LANES_VECTORS], total = lam_lanes_conv_total(s, 0);
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const int32_t count = v + 1 < vectors ? 16 : last;
        const lam_lanes_v start = lam_lanes_conv_raised(s)
                                      ? lam_lanes_splat(0)
                                      : lam_lanes_conv_start(s, w + 64 * v, step, layer.bias + channel + 16 * v, count);
        LAM_LANES_UNROLL
        for (int32_t p = 0; p < pixels; p++) {
            acc[p][v] = start;
        }
    }
    for (int32_t line = 0; line < s.lines; line++) {
        for (int32_t tap = 0; tap < s.taps; tap++) {
            const uint8_t *run = x + line * s.line_step + tap * s.tap_step;
            LAM_LANES_TWICE
            for (int32_t k = 0; k < lam_lanes_conv_whole(s); k++, w += step) {
                LAM_LANES_UNROLL
                for (int half = 0; half < 1 + s.few; half++, run += 4) {
                    lam_lanes_conv_four(s, pixels, vectors, last, run, w, half, acc);
                    total = lam_lanes_conv_counts(s, pixels) ? lam_lanes_conv_sum(s, total, run, (1 + s.few) * k + half) : total;
                    if (s.few && !(half == 0 ? lam_lanes_conv_held(pixels, vectors) : lam_lanes_conv_ahead(pixels, vectors))) {
                        lam_order(); /* no register is held for what comes next: the other half is read anew */
                    }
                }
            }
#if LAM_LANES_AVX512
            if (lam_lanes_conv_whole(s) < lam_lanes_conv_reads(s)) {
                lam_lanes_conv_four(s, pixels, vectors, last, run, w, 0, acc);
                total = lam_lanes_conv_counts(s, pixels) ? lam_lanes_conv_sum(s, total, run, s.quads - 1) : total;
                w += step;
            }
#endif
        }
    }
#if LAM_LANES_AVX512
    if (lam_lanes_conv_alone(s, pixels) && !lam_lanes_conv_counts(s, pixels)) {
        total = lam_lanes_add(total, lam_lanes_total(lam_lanes_conv_read(s, x)));
    }
#endif
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const int32_t count = v + 1 < vectors ? 16 : last;
        const lam_lanes_rq rq = lam_lanes_factors_of(layer.factors, s.mode, s.per_channel, channel + 16 * v, count);
        if (lam_lanes_conv_raised(s)) {
            const lam_lanes_v bias = lam_lanes_conv_start(s, first + 64 * v, step, layer.bias + channel + 16 * v, count);
            LAM_LANES_UNROLL
            for (int32_t p = 0; p < pixels; p++) {
                acc[p][v] = lam_lanes_add(lam_lanes_conv_back(s, acc[p][v]), bias);
            }
        }
        if (s.own) {
            const lam_lanes_v less = lam_lanes_load_s8(s.less + channel + 16 * v, count);
            LAM_LANES_UNROLL
            for (int32_t p = 0; p < pixels; p++) {
                const lam_lanes_v of_pixel = lam_lanes_conv_alone(s, pixels) ? total : lam_lanes_conv_total(s, s.totals[at / s.channels + p]);
                acc[p][v] = lam_lanes_conv_own(acc[p][v], less, of_pixel);
            }
        }
        LAM_LANES_UNROLL
        for (int32_t p = 0; p < pixels; p++) {
            acc[p][v] = lam_lanes_rescale(acc[p][v], &rq, s.mode, s.saturates);
        }
    }
    lam_lanes_conv_put(s, pixels, vectors, last, acc, channel, y, at);
}

#endif

#if LAM_LANES_AVX2

/* One vector of channels, four pixels at a time: what sixteen registers hold. */
static inline LAM_LANES_ALWAYS void lam_lanes_conv_column(lam_lanes_conv s, int32_t pixels, int32_t count, const uint8_t *x,
                                                      const int8_t *w, int32_t step, lam_lanes_layer layer,
                                                      int32_t channel, void *y, int32_t at)
{
    for (int32_t p = 0; p + 4 <= pixels; p += 4) {
        lam_lanes_conv_part(s, 4, 1, count, x + p * s.pixel_step, w, step, layer, channel, y, at + p * s.channels);
    }
    if (pixels % 4 != 0) {
        const int32_t p = pixels / 4 * 4;
        lam_lanes_conv_part(s, pixels % 4, 1, count, x + p * s.pixel_step, w, step, layer, channel, y,
                          at + p * s.channels);
    }
}

#elif !LAM_LANES_AVX512 && !LAM_LANES_NEON

/* A weight: a byte, or the lower or upper half of one. */
static inline int32_t lam_lanes_weight(lam_lanes_conv s, int8_t byte, int half)
{
    if (s.own) {
        return byte >> 4 * half & 15;
    }
    return !s.few ? byte : (half == 0) ? ((byte & 15) ^ 8) - 8 : (byte & -16) / 16;
}

/* One pixel by one vector of channels. */
static inline void lam_lanes_conv_vector(lam_lanes_conv s, int32_t count, const uint8_t *x, const int8_t *w,
                                       int32_t step, lam_lanes_layer layer, int32_t channel, void *y, int32_t at)
{
    const lam_lanes_rq rq = lam_lanes_factors_of(layer.factors, s.mode, s.per_channel, channel, count);
    lam_lanes_v acc = lam_lanes_conv_start(s, w, step, layer.bias + channel, count);
    for (int32_t line = 0; line < s.lines; line++) {
        for (int32_t tap = 0; tap < s.taps; tap++) {
            const uint8_t *run = x + line * s.line_step + tap * s.tap_step;
            for (int32_t k = 0; k < lam_lanes_conv_reads(s); k++, w += step) {
                for (int half = 0; half < 1 + s.few; half++, run += 4) {
                    const int32_t x0 = run[0], x1 = run[1], x2 = run[2], x3 = run[3];
                    for (int32_t i = 0; i < count; i++) {
                        const int32_t sum = x0 * lam_lanes_weight(s, w[4 * i], half) + x1 * lam_lanes_weight(s, w[4 * i + 1], half)
                                            + x2 * lam_lanes_weight(s, w[4 * i + 2], half)
                                            + x3 * lam_lanes_weight(s, w[4 * i + 3], half);
                        acc.e[i] = (int32_t)((uint32_t)acc.e[i] + (uint32_t)sum);
                    }
                }
            }
        }
    }
    if (s.own) {
        const lam_lanes_v total = lam_lanes_conv_total(s, s.totals[at / s.channels]);
        acc = lam_lanes_conv_own(acc, lam_lanes_load_s8(s.less + channel, count), total);
    }
    lam_lanes_put(y, at + channel, lam_lanes_rescale(acc, &rq, s.mode, s.saturates), count, s.type);
}

#endif

/* `pixels` outputs by `channels` channels from `first` on; the first of them is element `at` of y. */
static inline LAM_LANES_ALWAYS void lam_lanes_conv_tile(lam_lanes_conv s, int32_t pixels, int32_t channels, const uint8_t *x,
                                                    lam_lanes_layer layer, int32_t first, void *y, int32_t at)
{
    const int32_t vectors = (channels + 15) / 16, last = channels - 16 * (vectors - 1), step = 4 * channels;
    const int8_t *w = layer.weights + first * s.lines * s.taps * lam_lanes_conv_reads(s) * 4;
#if LAM_LANES_AVX512 || LAM_LANES_NEON
    lam_lanes_conv_part(s, pixels, vectors, last, x, w, step, layer, first, y, at);
#elif LAM_LANES_AVX2
    for (int32_t v = 0; v + 1 < vectors; v++) {
        lam_lanes_conv_column(s, pixels, 16, x, w + 64 * v, step, layer, first + 16 * v, y, at);
    }
    lam_lanes_conv_column(s, pixels, last, x, w + 64 * (vectors - 1), step, layer, first + 16 * (vectors - 1), y, at);
#else
    for (int32_t p = 0; p < pixels; p++) {
        for (int32_t v = 0; v < vectors; v++) {
            lam_lanes_conv_vector(s, v + 1 < vectors ? 16 : last, x + p * s.pixel_step, w + 64 * v, step, layer,
                                first + 16 * v, y, at + p * s.channels);
        }
    }
#endif
}

/* A block of channels of `rows` rows of `width` outputs.  The last tile of a row overlaps the one before: some outputs
 * are made twice. */
static inline LAM_LANES_ALWAYS void lam_lanes_conv_block(lam_lanes_conv s, int32_t channels, const uint8_t *x, int32_t rows,
                                                     int32_t width, lam_lanes_layer layer, int32_t first, void *y)
{
    for (int32_t row = 0; row < rows; row++, x += s.row_step) {
        const int32_t start = row * width * s.channels;
        if (width < s.pixels) {
            for (int32_t p = 0; p < width; p++) {
                lam_lanes_conv_tile(s, 1, channels, x + p * s.pixel_step, layer, first, y, start + p * s.channels);
            }
            continue;
        }
        for (int32_t tile = 0; tile < width; tile += s.pixels) {
            const int32_t p = (tile + s.pixels <= width) ? tile : width - s.pixels;
            lam_lanes_conv_tile(s, s.pixels, channels, x + p * s.pixel_step, layer, first, y, start + p * s.channels);
        }
    }
}

/* All channels of `rows` rows of `width` outputs, from inputs in scratch. */
static inline LAM_LANES_ALWAYS void lam_lanes_conv_rows(lam_lanes_conv s, const uint8_t *x, int32_t rows, int32_t width,
                                                    lam_lanes_layer layer, void *y)
{
    const int32_t whole = s.channels / s.block * s.block;
    if (s.own && !lam_lanes_conv_alone(s, (width < s.pixels) ? 1 : s.pixels)) {
        lam_lanes_conv_totals(s, x, rows, width);
    }
    for (int32_t first = 0; first < whole; first += s.block) {
        lam_lanes_conv_block(s, s.block, x, rows, width, layer, first, y);
    }
    if (whole < s.channels) {
        lam_lanes_conv_block(s, s.channels - whole, x, rows, width, layer, whole, y);
    }
}

#endif /* LAM_LANES_CONV_H */
