/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers on weights of 4 bits, or of 8, with a factor of 16 bits per group of inputs: a few pixels by a few vectors of
 * sixteen channels.
 *
 * Of 4 bits inputs are int8.  Weights have 8 added, so that their products with inputs are those of unsigned by signed bytes; what that
 * adds is taken off where the sums of a group begin.  They are packed in the order of reading: for each block of output
 * channels (the last one has the rest), each group, each eight inputs, [channel][4], the second four in the upper halves of
 * bytes; zeros where there are no inputs.  Weights are taken apart once for several pixels; one pixel has lam_lanes_group_pairs.h.
 *
 * Bytes lie for each block, each group, each four inputs as [channel][4].  Of one pixel inputs are uint8, 128 more than int8, which
 * the bias has in it, and weights int8, which products read where they lie.  Of several it is the other way round.  Zero points
 * always lie beside factors, with the opposite sign, as sums of inputs have it, which fit 16 bits.
 */
#ifndef LAM_LANES_GROUPS_H
#define LAM_LANES_GROUPS_H

#include "lam_lanes_requant.h"
#include "lam_lanes_totals.h"
#include "lam_order.h"

#define LAM_LANES_GROUPS_VECTORS 8
#define LAM_LANES_GROUPS_PIXELS 14

/* Literals of a layer.
 *
 *   inputs           of a pixel
 *   block            output channels that a block of weights has, at most 16 * LAM_LANES_GROUPS_VECTORS
 *   pixels, vectors  that are summed together, 1 and all of a block's, or at most LAM_LANES_GROUPS_PIXELS
 *   channels         output channels
 *   whole, steps     groups, and the eights of inputs of each, of bytes the fours
 *   rest             eights, or fours, of inputs of one more group, or 0
 *   apart            whether groups have zero points that sums begin with: of 4 bits
 *   paired           whether they have those that lie beside factors: of bytes
 *   words            whether sums of groups fit 16 bits; not asked of bytes
 *   bytes            whether weights are
 */
typedef struct lam_lanes_groups {
    int32_t inputs, block, pixels, vectors, channels, whole, steps, rest;
    int apart, paired, words, mode, per_channel, saturates, type, bytes;
} lam_lanes_groups;

/* One layer's parameters: `group` has the factors of a block's channels group by group, and `less` what is added to
 * weights as they are stored.  `sums`: of each pixel's groups the sum of inputs, times -8 where groups have no zero points.  With `paired`
 * two numbers stand for a factor: it, and what is added to weights times it. */
typedef struct lam_lanes_grouped {
    const uint8_t *weights;
    const int32_t *bias;
    const int16_t *group;
    const int8_t *less;
    const int32_t *sums;
    lam_lanes_factors factors;
} lam_lanes_grouped;

/* All groups. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_groups_count(lam_lanes_groups s)
{
    return s.whole + (s.rest > 0);
}

/* Inputs of a step. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_groups_step(lam_lanes_groups s)
{
    return s.bytes ? 4 : 8;
}

/* Sums of inputs that a pixel has. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_groups_kept(lam_lanes_groups s)
{
    return s.bytes && s.pixels == 1 && !s.paired ? 0 : lam_lanes_groups_count(s);
}

#if LAM_LANES_AVX512 || LAM_LANES_AVX2

/* `count` numbers of 16 bits, the upper halves of lanes zeros. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load_u16(const int16_t *p, int32_t count)
{
#if LAM_LANES_AVX512
    return _mm512_cvtepu16_epi32(count == 16 ? _mm256_loadu_si256((const __m256i *)(const void *)p)
                                             : _mm256_maskz_loadu_epi16(lam_lanes_mask(count), p));
#else
    int16_t copy[16] = {0};
    lam_lanes_v v;
    (void)memcpy(copy, p, (size_t)count * 2u);
    v.h[0] = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)copy));
    v.h[1] = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)copy + 1));
    return v;
#endif
}

/* To `total` sums times factors, 0 .. 2^15 - 1.  With `words` sums fit 16 bits: their upper halves meet zeros. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_add_scaled(lam_lanes_v total, lam_lanes_v sum, lam_lanes_v factor, int words)
{
    if (words) {
#if LAM_LANES_AVX512 && defined(__clang__)
        return _mm512_dpwssd_epi32(total, sum, factor);
#elif LAM_LANES_AVX512
        __asm__("vpdpwssd\t{%2, %1, %0|%0, %1, %2}" : "+v"(total) : "v"(sum), "v"(factor));
        return total;
#else
        LAM_LANES_UNROLL
        for (int i = 0; i < 2; i++) {
            total.h[i] = _mm256_add_epi32(total.h[i], _mm256_madd_epi16(sum.h[i], factor.h[i]));
        }
        return total;
#endif
    }
    return lam_lanes_add(total, lam_lanes_mul(sum, factor));
}

/* acc + w0 * x0 + .. + w3 * x3 in every lane, x the four signed bytes at that place, and w unsigned ones. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_dot_at(lam_lanes_v acc, lam_lanes_v w, const uint8_t *x)
{
#if LAM_LANES_AVX512 && !defined(__clang__)
    typedef struct lam_lanes_four {
        uint8_t byte[4];
    } lam_lanes_four;
    __asm__("vpdpbusd\t{%2%{1to16%}, %1, %0|%0, %1, %2%{1to16%}}"
            : "+v"(acc)
            : "v"(w), "m"(*(const lam_lanes_four *)(const void *)x));
    return acc;
#else
    return lam_lanes_dot(acc, w, lam_lanes_quad(x));
#endif
}

/* To the sums of several pixels, `inputs` apart, eight inputs each. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_eight(lam_lanes_v (*sum)[LAM_LANES_GROUPS_VECTORS], int32_t pixels,
                                                           int32_t vectors, int32_t last, const uint8_t *x, const uint8_t *w,
                                                           int32_t inputs)
{
    LAM_LANES_UNROLL
    for (int half = 0; half < 2; half++, x += 4) {
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < vectors; v++) {
            const lam_lanes_v bytes = lam_lanes_load(w + 64 * v, v + 1 < vectors ? 16 : last);
            const lam_lanes_v weights = half == 0 ? lam_lanes_low_bits(bytes) : lam_lanes_high_bits(bytes);
            LAM_LANES_UNROLL
            for (int32_t p = 0; p < pixels; p++) {
                sum[p][v] = lam_lanes_dot_at(sum[p][v], weights, x + p * inputs);
            }
        }
        lam_order();
    }
}

/* What lies where of a group: inputs and weights, what it begins with, factors, and what is added to its weights. */
typedef struct lam_lanes_at {
    const uint8_t *x, *w;
    const int32_t *begin;
    const int16_t *own;
    const int8_t *less;
} lam_lanes_at;

/* Of so many whole groups further on. */
static inline LAM_LANES_ALWAYS lam_lanes_at lam_lanes_groups_at(lam_lanes_groups s, lam_lanes_at from, int32_t width,
                                                                int32_t groups)
{
    from.x += lam_lanes_groups_step(s) * s.steps * groups;
    from.w += 4 * width * s.steps * groups;
    from.begin += lam_lanes_groups_kept(s) > 0 ? groups : 0;
    from.own += (s.paired ? 2 : 1) * width * groups;
    from.less = s.apart ? from.less + width * groups : NULL;
    return from;
}

/* acc + x0 * w0 + .. + x3 * w3 in every lane, x unsigned bytes and w the signed ones of `count` channels at that place. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_dot_from(lam_lanes_v acc, lam_lanes_v x, const uint8_t *w, int32_t count)
{
#if LAM_LANES_AVX512 && !defined(__clang__)
    if (count == 16) {
        typedef struct lam_lanes_line {
            uint8_t byte[64];
        } lam_lanes_line;
        __asm__("vpdpbusd\t{%2, %1, %0|%0, %1, %2}" : "+v"(acc) : "v"(x), "m"(*(const lam_lanes_line *)(const void *)w));
        return acc;
    }
#endif
    return lam_lanes_dot(acc, x, lam_lanes_load(w, count));
}

/* Lanes shifted to the left. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_up(lam_lanes_v v, int bits)
{
#if LAM_LANES_AVX512
    return _mm512_slli_epi32(v, (unsigned)bits);
#else
    LAM_LANES_TWO(_mm256_slli_epi32(v.h[i], bits));
#endif
}

/* To the sums of one pixel, or of several, four inputs each. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_four(lam_lanes_groups s, lam_lanes_v (*sum)[LAM_LANES_GROUPS_VECTORS],
                                                          int32_t pixels, int32_t vectors, int32_t last, const uint8_t *x,
                                                          const uint8_t *w)
{
    if (s.pixels == 1) {
        const lam_lanes_v four = lam_lanes_quad(x);
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < vectors; v++) {
            sum[0][v] = lam_lanes_dot_from(sum[0][v], four, w + 64 * v, v + 1 < vectors ? 16 : last);
        }
        return;
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const lam_lanes_v weights = lam_lanes_load(w + 64 * v, v + 1 < vectors ? 16 : last);
        LAM_LANES_UNROLL
        for (int32_t p = 0; p < pixels; p++) {
            sum[p][v] = lam_lanes_dot_at(sum[p][v], weights, x + p * s.inputs);
        }
    }
}

/* To `total` a group of bytes, of so many fours of inputs. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_bytes(lam_lanes_groups s, lam_lanes_v (*total)[LAM_LANES_GROUPS_VECTORS],
                                                           int32_t pixels, int32_t vectors, int32_t last, lam_lanes_at from,
                                                           int32_t width, int32_t steps)
{
    lam_lanes_v sum[LAM_LANES_GROUPS_PIXELS][LAM_LANES_GROUPS_VECTORS];
    LAM_LANES_UNROLL
    for (int32_t p = 0; p < pixels; p++) {
        lam_lanes_v begin = lam_lanes_splat(0);
        if (s.pixels > 1) {
            begin = lam_lanes_splat(from.begin[p * lam_lanes_groups_count(s)]);
            begin = s.paired ? lam_lanes_up(begin, 7) : begin;
        }
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < vectors; v++) {
            sum[p][v] = begin;
        }
    }
    for (int32_t k = 0; k < steps; k += 4) {
        LAM_LANES_UNROLL
        for (int32_t i = 0; i < 4; i++) {
            if (k + i < steps) {
                lam_lanes_groups_four(s, sum, pixels, vectors, last, from.x + 4 * (k + i), from.w + 4 * width * (k + i));
            }
        }
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const int32_t count = v + 1 < vectors ? 16 : last;
        const lam_lanes_v both = s.paired ? lam_lanes_load(from.own + 32 * v, count) : lam_lanes_load_u16(from.own + 16 * v, count);
        const lam_lanes_v factor = s.paired ? lam_lanes_and(both, lam_lanes_splat(0xFFFF)) : both;
        LAM_LANES_UNROLL
        for (int32_t p = 0; p < pixels; p++) {
            total[p][v] = lam_lanes_add(total[p][v], lam_lanes_mul(sum[p][v], factor));
            if (s.paired) {
                const lam_lanes_v inputs = lam_lanes_splat(from.begin[p * lam_lanes_groups_count(s)]);
                total[p][v] = lam_lanes_add_scaled(total[p][v], lam_lanes_up(inputs, 16), both, 1);
            }
        }
    }
}

/* To `total` a group of so many eights of inputs. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_one(lam_lanes_groups s, lam_lanes_v (*total)[LAM_LANES_GROUPS_VECTORS],
                                                         int32_t pixels, int32_t vectors, int32_t last, lam_lanes_at from,
                                                         int32_t width, int32_t steps)
{
    lam_lanes_v sum[LAM_LANES_GROUPS_PIXELS][LAM_LANES_GROUPS_VECTORS];
    if (s.bytes) {
        lam_lanes_groups_bytes(s, total, pixels, vectors, last, from, width, steps);
        return;
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const lam_lanes_v more = s.apart ? lam_lanes_load_s8(from.less + 16 * v, v + 1 < vectors ? 16 : last) : lam_lanes_splat(0);
        LAM_LANES_UNROLL
        for (int32_t p = 0; p < pixels; p++) {
            const lam_lanes_v first = lam_lanes_splat(from.begin[p * lam_lanes_groups_count(s)]);
            sum[p][v] = s.apart ? lam_lanes_mul(more, first) : first;
        }
    }
    for (int32_t k = 0; k < steps; k += 4) {
        LAM_LANES_UNROLL
        for (int32_t i = 0; i < 4; i++) {
            if (k + i < steps) {
                lam_lanes_groups_eight(sum, pixels, vectors, last, from.x + 8 * (k + i), from.w + 4 * width * (k + i), s.inputs);
            }
        }
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const lam_lanes_v factor = lam_lanes_load_u16(from.own + 16 * v, v + 1 < vectors ? 16 : last);
        LAM_LANES_UNROLL
        for (int32_t p = 0; p < pixels; p++) {
            total[p][v] = lam_lanes_add_scaled(total[p][v], sum[p][v], factor, s.words);
        }
    }
}

/* `pixels` pixels by `vectors` vectors of channels from `channel` on, of which the last has `last` lanes; w is their first
 * weight, and `width` the channels of their block, of which the first of them is `inside`. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_part(lam_lanes_groups s, int32_t pixels, int32_t vectors, int32_t last,
                                                          const uint8_t *x, const uint8_t *w, int32_t width, int32_t inside,
                                                          lam_lanes_grouped layer, int32_t channel, void *y, int32_t at)
{
    const int32_t place = (channel - inside) * lam_lanes_groups_count(s) + inside;
    const int32_t turn = lam_lanes_groups_step(s) * s.steps > 16 ? 1 : 4, turns = s.whole / turn * turn; /* short groups four at a time */
    lam_lanes_v total[LAM_LANES_GROUPS_PIXELS][LAM_LANES_GROUPS_VECTORS];
    lam_lanes_at from;
    from.x = x;
    from.w = w;
    from.begin = layer.sums;
    from.own = layer.group + (s.paired ? 2 : 1) * place;
    from.less = s.apart ? layer.less + place : NULL;
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        total[0][v] = lam_lanes_load(layer.bias + channel + 16 * v, v + 1 < vectors ? 16 : last);
        LAM_LANES_UNROLL
        for (int32_t p = 1; p < pixels; p++) {
            total[p][v] = total[0][v];
        }
    }
    for (int32_t g = 0; g < turns; g += turn) {
        LAM_LANES_UNROLL
        for (int32_t i = 0; i < turn; i++) {
            lam_lanes_groups_one(s, total, pixels, vectors, last, lam_lanes_groups_at(s, from, width, i), width, s.steps);
        }
        from = lam_lanes_groups_at(s, from, width, turn);
    }
    for (int32_t g = turns; g < s.whole; g++) {
        lam_lanes_groups_one(s, total, pixels, vectors, last, from, width, s.steps);
        from = lam_lanes_groups_at(s, from, width, 1);
    }
    if (s.rest > 0) {
        lam_lanes_groups_one(s, total, pixels, vectors, last, from, width, s.rest);
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const int32_t count = v + 1 < vectors ? 16 : last;
        const lam_lanes_rq rq = lam_lanes_factors_of(layer.factors, s.mode, s.per_channel, channel + 16 * v, count);
        LAM_LANES_UNROLL
        for (int32_t p = 0; p < pixels; p++) {
            total[p][v] = lam_lanes_rescale(total[p][v], &rq, s.mode, s.saturates);
        }
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) { /* behind all factors: they are read once */
        LAM_LANES_UNROLL
        for (int32_t p = 0; p < pixels; p++) {
            lam_lanes_put(y, at + p * s.channels + 16 * v, total[p][v], v + 1 < vectors ? 16 : last, s.type);
        }
    }
}

#else

/* One vector of channels, as above. */
static inline void lam_lanes_groups_vector(lam_lanes_groups s, int32_t count, const uint8_t *x, const uint8_t *w, int32_t width,
                                           int32_t inside, lam_lanes_grouped layer, int32_t channel, void *y, int32_t at)
{
    int32_t total[16] = {0};
    const int32_t place = (channel - inside) * lam_lanes_groups_count(s) + inside;
    const lam_lanes_rq rq = lam_lanes_factors_of(layer.factors, s.mode, s.per_channel, channel, count);
    for (int32_t i = 0; i < count; i++) {
        const uint8_t *at_w = w + 4 * i, *at_x = x;
        uint32_t sums = (uint32_t)layer.bias[channel + i];
        for (int32_t g = 0; g < lam_lanes_groups_count(s); g++) {
            const int32_t steps = g < s.whole ? s.steps : s.rest, own = place + g * width + i;
            uint32_t products = 0;
            int32_t sum = s.bytes ? 0 : layer.sums[g] * (s.apart ? layer.less[own] : 1);
            if (s.bytes) {
                const int32_t factor = layer.group[s.paired ? 2 * own : own];
                for (int32_t k = 0; k < steps; k++, at_x += 4, at_w += 4 * width) {
                    for (int32_t j = 0; j < 4; j++) {
                        const int32_t plain = s.pixels == 1 ? at_x[j] : at_w[j] - 128;
                        products += (uint32_t)(plain * ((int32_t)((s.pixels == 1 ? at_w[j] : at_x[j]) ^ 0x80u) - 128));
                    }
                }
                sums += products * (uint32_t)factor;
                sums += s.paired ? (uint32_t)(layer.sums[g] * layer.group[2 * own + 1]) : 0u;
                continue;
            }
            for (int32_t k = 0; k < steps; k++, at_x += 8, at_w += 4 * width) {
                for (int32_t j = 0; j < 8; j++) {
                    const int32_t input = (int32_t)(at_x[j] ^ 0x80u) - 128;
                    sum += input * (j < 4 ? at_w[j] & 15 : at_w[j - 4] >> 4);
                }
            }
            sums += (uint32_t)sum * (uint32_t)(int32_t)layer.group[own];
        }
        total[i] = (int32_t)sums;
    }
    lam_lanes_put(y, at, lam_lanes_rescale(lam_lanes_load(total, 16), &rq, s.mode, s.saturates), count, s.type);
}

#endif

#if LAM_LANES_AVX512 || LAM_LANES_AVX2

/* Channels of `pixels` pixels, `many` vectors at a time: a block of `width` from `first` on, whose weights begin at w. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_vectors(lam_lanes_groups s, int32_t pixels, int32_t many, const uint8_t *x,
                                                             const uint8_t *w, int32_t width, lam_lanes_grouped layer,
                                                             int32_t first, void *y, int32_t at)
{
    const int32_t vectors = (width + 15) / 16, last = width - 16 * (vectors - 1), before = (vectors - 1) / many * many;
    for (int32_t v = 0; v < before; v += many) {
        lam_lanes_groups_part(s, pixels, many, 16, x, w + 64 * v, width, 16 * v, layer, first + 16 * v, y, at + 16 * v);
    }
    lam_lanes_groups_part(s, pixels, vectors - before, last, x, w + 64 * before, width, 16 * before, layer, first + 16 * before, y,
                          at + 16 * before);
}

#else

/* One pixel's. */
static inline void lam_lanes_groups_vectors(lam_lanes_groups s, const uint8_t *x, const uint8_t *w, int32_t width,
                                            lam_lanes_grouped layer, int32_t first, void *y, int32_t at)
{
    for (int32_t v = 0; 16 * v < width; v++) {
        const int32_t count = width - 16 * v < 16 ? width - 16 * v : 16;
        lam_lanes_groups_vector(s, count, x, w + 64 * v, width, 16 * v, layer, first + 16 * v, y, at + 16 * v);
    }
}

#endif

/* A block of `width` channels from `first` on, of `pixels` pixels; the first of these outputs is element `at` of y. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_tile(lam_lanes_groups s, int32_t pixels, int32_t width, const uint8_t *x,
                                                          lam_lanes_grouped layer, int32_t first, void *y, int32_t at)
{
    const uint8_t *const w = layer.weights + 4 * first * (s.whole * s.steps + s.rest);
#if LAM_LANES_AVX512
    lam_lanes_groups_vectors(s, pixels, s.vectors, x, w, width, layer, first, y, at);
#elif LAM_LANES_AVX2
    /* half the registers: two vectors of a single pixel, as a sum waits for the one before it, else two pixels by one */
    for (int32_t p = 0; p + 2 <= pixels; p += 2) {
        lam_lanes_groups_vectors(s, 2, 1, x, w, width, layer, first, y, at);
        x += 2 * s.inputs;
        layer.sums += 2 * lam_lanes_groups_kept(s);
        at += 2 * s.channels;
    }
    if (pixels % 2 != 0) {
        lam_lanes_groups_vectors(s, 1, 2, x, w, width, layer, first, y, at);
    }
#else
    for (int32_t p = 0; p < pixels; p++) {
        lam_lanes_groups_vectors(s, x, w, width, layer, first, y, at);
        x += s.inputs;
        layer.sums += lam_lanes_groups_kept(s);
        at += s.channels;
    }
#endif
}

/* The same of `count` pixels.  The last ones may overlap those before: some outputs are made twice. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_block(lam_lanes_groups s, int32_t width, const uint8_t *x, int32_t count,
                                                           lam_lanes_grouped layer, int32_t first, void *y)
{
    const int32_t *const sums = layer.sums;
    if (count < s.pixels) {
        for (int32_t p = 0; p < count; p++, layer.sums += lam_lanes_groups_kept(s)) {
            lam_lanes_groups_tile(s, 1, width, x + p * s.inputs, layer, first, y, p * s.channels + first);
        }
        return;
    }
    for (int32_t tile = 0; tile < count; tile += s.pixels) {
        const int32_t p = (tile + s.pixels <= count) ? tile : count - s.pixels;
        layer.sums = sums + p * lam_lanes_groups_kept(s);
        lam_lanes_groups_tile(s, s.pixels, width, x + p * s.inputs, layer, first, y, p * s.channels + first);
    }
}

/* All channels of `count` pixels. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_rows(lam_lanes_groups s, const uint8_t *x, int32_t count,
                                                          lam_lanes_grouped layer, void *y)
{
    const int32_t whole = s.channels / s.block * s.block;
    for (int32_t first = 0; first < whole; first += s.block) {
        lam_lanes_groups_block(s, s.block, x, count, layer, first, y);
    }
    if (whole < s.channels) {
        lam_lanes_groups_block(s, s.channels - whole, x, count, layer, whole, y);
    }
}

#if LAM_LANES_AVX512 || LAM_LANES_AVX2
/* To each of four sums four of the bytes, which have a sign. */
static inline LAM_LANES_ALWAYS __m128i lam_lanes_bytes_sum(__m128i sums, __m128i bytes)
{
    const __m128i ones = _mm_set1_epi8(1);
#if LAM_LANES_AVX512
    return _mm_dpbusd_epi32(sums, ones, bytes);
#else
    return _mm_add_epi32(sums, _mm_madd_epi16(_mm_maddubs_epi16(ones, bytes), _mm_set1_epi16(1)));
#endif
}
#endif

/* The sum of so many inputs, which have a sign once the bits of `flip` in each are turned: 0 or -128. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_inputs_sum(const uint8_t *x, int32_t inputs, int32_t flip)
{
    int32_t sum = 0, i = 0;
#if LAM_LANES_AVX512 || LAM_LANES_AVX2
    if (inputs >= 8) {
        __m128i sums = _mm_setzero_si128();
        for (; i + 16 <= inputs; i += 16) {
            const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(x + i));
            sums = lam_lanes_bytes_sum(sums, flip ? _mm_xor_si128(bytes, _mm_set1_epi8(-128)) : bytes);
        }
        if (i + 8 <= inputs) {
            const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(x + i));
            sums = lam_lanes_bytes_sum(sums, flip ? _mm_xor_si128(bytes, _mm_set_epi64x(0, -0x7F7F7F7F7F7F7F80)) : bytes);
        }
        i = inputs & ~7; /* a constant where `inputs` is one: compilers see that nothing is left */
        sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0x4E));
        sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0xB1));
        sum = _mm_cvtsi128_si32(sums);
    }
#endif
    for (; i < inputs; i++) {
        sum += flip ? x[i] - 128 : (x[i] ^ 0x80) - 128;
    }
    return sum;
}

#if LAM_LANES_AVX512

/* Eight sums of eight bytes each, which are added up without a sign: zeros stand for those behind the `bytes` there are. */
static inline LAM_LANES_ALWAYS __m512i lam_lanes_eights(const uint8_t *x, int32_t bytes, int32_t flip)
{
    __m512i v = _mm512_set1_epi8((char)flip);
    if (bytes >= 64) {
        v = _mm512_loadu_si512(x);
    } else if (bytes > 0) {
        v = _mm512_mask_loadu_epi8(v, ~(__mmask64)0 >> (64 - bytes), x);
    }
    return _mm512_sad_epu8(_mm512_setzero_si512(), flip ? v : _mm512_xor_si512(v, _mm512_set1_epi8(-128)));
}

/* Sixteen sums of sixteen bytes each, times `times`. */
static inline LAM_LANES_ALWAYS __m512i lam_lanes_sixteens(const uint8_t *x, int32_t bytes, int32_t times, int32_t flip)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i a = lam_lanes_eights(x, bytes, flip), b = lam_lanes_eights(x + 64, bytes - 64, flip);
    const __m512i c = lam_lanes_eights(x + 128, bytes - 128, flip), d = lam_lanes_eights(x + 192, bytes - 192, flip);
    const __m512i all = _mm512_packus_epi32(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d));
    const __m512i sums = _mm512_madd_epi16(all, _mm512_set1_epi16((int16_t)times));
    return _mm512_sub_epi32(_mm512_permutexvar_epi32(order, sums), _mm512_set1_epi32(128 * 16 * times));
}

/* Sums of two and two neighbours. */
static inline LAM_LANES_ALWAYS __m512i lam_lanes_pairs(__m512i first, __m512i last)
{
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    return _mm512_add_epi32(_mm512_permutex2var_epi32(first, even, last), _mm512_permutex2var_epi32(first, odd, last));
}

/* Sixteen sums of 16, 32 or 64 bytes each, of so many bytes in all. */
static inline LAM_LANES_ALWAYS __m512i lam_lanes_many_sums(const uint8_t *x, int32_t bytes, int32_t size, int32_t times,
                                                           int32_t flip)
{
    __m512i parts[4];
    for (int32_t i = 0; i < size / 16; i++) {
        parts[i] = lam_lanes_sixteens(x + 256 * i, bytes - 256 * i, times, flip);
    }
    if (size == 16) {
        return parts[0];
    }
    parts[0] = lam_lanes_pairs(parts[0], parts[1]);
    return (size == 32) ? parts[0] : lam_lanes_pairs(parts[0], lam_lanes_pairs(parts[2], parts[3]));
}

/* The sums of `groups` groups of 16, 32 or 64 bytes that lie one behind the other, of which the last may be smaller. */
static inline LAM_LANES_ALWAYS void lam_lanes_sums_by_size(const uint8_t *x, int32_t bytes, int32_t groups, int32_t size,
                                                           int32_t times, int32_t flip, int32_t *sums)
{
    int32_t g = 0;
    for (; bytes >= 16 * size; g += 16, bytes -= 16 * size) {
        _mm512_storeu_si512(sums + g, lam_lanes_many_sums(x + g * size, 16 * size, size, times, flip));
    }
    if (g < groups) {
        lam_lanes_store(sums + g, lam_lanes_many_sums(x + g * size, bytes, size, times, flip), groups - g);
    }
}

#endif

/* Of `count` pixels' groups the sums of inputs, times `times`; `rest` inputs are behind the whole ones. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_sums(lam_lanes_groups s, const uint8_t *x, int32_t count, int32_t rest,
                                                          int32_t times, int32_t *sums)
{
    const int32_t size = lam_lanes_groups_step(s) * s.steps, flip = s.bytes && s.pixels == 1 ? -128 : 0, groups = lam_lanes_groups_count(s);
#if LAM_LANES_AVX512
    if (size == 16 || size == 32 || size == 64) {
        if (rest == 0) { /* those of all pixels lie one behind the other */
            lam_lanes_sums_by_size(x, count * s.inputs, count * groups, size, times, flip, sums);
            return;
        }
        for (int32_t p = 0; p < count; p++) {
            lam_lanes_sums_by_size(x + p * s.inputs, s.inputs, groups, size, times, flip, sums + p * groups);
        }
        return;
    }
#endif
    for (int32_t p = 0; p < count; p++) {
        for (int32_t g = 0; g < groups; g++) {
            const int32_t inputs = g < s.whole ? size : rest;
            sums[p * groups + g] = times * lam_lanes_inputs_sum(x + p * s.inputs + g * size, inputs, flip);
        }
    }
}

#endif /* LAM_LANES_GROUPS_H */
