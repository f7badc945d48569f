/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers on weights of 4 bits with a factor of 16 bits per group of inputs: one pixel by a few vectors of sixteen
 * channels.
 *
 * Inputs are int8.  Weights have 8 added, so that their products with inputs are those of unsigned by signed bytes; what that
 * adds is taken off where the sums of a group begin.  They are packed in the order of reading: for each block of output
 * channels (the last one has the rest), each group, each eight inputs, [channel][4], the second four in the upper halves of
 * bytes; zeros where there are no inputs.  The products with upper halves are 16 times theirs: they are summed first, from 16
 * times what a group begins with, and shifted back before those with lower halves follow.
 */
#ifndef LAM_LANES_GROUPS_H
#define LAM_LANES_GROUPS_H

#include "lam_lanes_requant.h"
#include "lam_order.h"

#define LAM_LANES_GROUPS_VECTORS 8

/* Literals of a layer.
 *
 *   block         output channels that are summed together, at most 16 * LAM_LANES_GROUPS_VECTORS
 *   channels      output channels
 *   whole, steps  groups, and the eights of inputs of each
 *   rest          eights of inputs of one more group, or 0
 *   apart         whether groups have zero points
 */
typedef struct lam_lanes_groups {
    int32_t block, channels, whole, steps, rest;
    int apart, mode, per_channel, saturates, type;
} lam_lanes_groups;

/* One layer's parameters: `group` has the factors of a block's channels group by group, and `less` what is added to
 * weights as they are stored.  `sums`: of each group 16 times the sum of its inputs, times -8 where groups have no zero points. */
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

#if LAM_LANES_AVX512 || LAM_LANES_AVX2

/* `count` numbers of 16 bits, widened. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_load_s16(const int16_t *p, int32_t count)
{
#if LAM_LANES_AVX512
    return _mm512_cvtepi16_epi32(count == 16 ? _mm256_loadu_si256((const __m256i *)(const void *)p)
                                             : _mm256_maskz_loadu_epi16(lam_lanes_mask(count), p));
#else
    int16_t copy[16] = {0};
    lam_lanes_v v;
    (void)memcpy(copy, p, (size_t)count * 2u);
    v.h[0] = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)copy));
    v.h[1] = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)copy + 1));
    return v;
#endif
}

/* To the sums of a group, of `steps` eights of inputs, those of inputs by the half of bytes that `half` leaves of them. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_half(lam_lanes_v *sum, int32_t vectors, int32_t last, lam_lanes_v half,
                                                          const uint8_t *x, const uint8_t *w, int32_t width, int32_t steps)
{
    for (int32_t k = 0; k < steps; k++, x += 8, w += 4 * width) {
        const lam_lanes_v four = lam_lanes_quad(x);
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < vectors; v++) {
            const lam_lanes_v bytes = lam_lanes_load(w + 64 * v, v + 1 < vectors ? 16 : last);
            sum[v] = lam_lanes_dot(sum[v], lam_lanes_and(bytes, half), four);
        }
    }
}

/* To `total` a group: `own` has the factors of its channels, `less` what is added to their weights, or NULL; `begin` is of the
 * group what `sums` says of each. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_one(lam_lanes_v *total, int32_t vectors, int32_t last, const uint8_t *x,
                                                         const uint8_t *w, int32_t width, int32_t steps, int32_t begin,
                                                         const int16_t *own, const int8_t *less)
{
    lam_lanes_v sum[LAM_LANES_GROUPS_VECTORS];
    const lam_lanes_v first = lam_lanes_splat(begin);
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        sum[v] = less != NULL ? lam_lanes_mul(first, lam_lanes_load_s8(less + 16 * v, v + 1 < vectors ? 16 : last)) : first;
    }
    lam_lanes_groups_half(sum, vectors, last, lam_lanes_splat((int32_t)-0x0F0F0F10), x + 4, w, width, steps);
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        sum[v] = lam_lanes_sra(sum[v], lam_lanes_splat(4));
    }
    lam_order(); /* the other halves are read anew: no registers are held for them */
    lam_lanes_groups_half(sum, vectors, last, lam_lanes_splat(0x0F0F0F0F), x, w, width, steps);
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const lam_lanes_v factor = lam_lanes_load_s16(own + 16 * v, v + 1 < vectors ? 16 : last);
        total[v] = lam_lanes_add(total[v], lam_lanes_mul(sum[v], factor));
    }
}

/* `vectors` vectors of channels from `channel` on, of which the last has `last` lanes; w is their first weight, and `width`
 * the channels of their block, of which the first of them is `inside`. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_part(lam_lanes_groups s, int32_t vectors, int32_t last, const uint8_t *x,
                                                          const uint8_t *w, int32_t width, int32_t inside,
                                                          lam_lanes_grouped layer, int32_t channel, void *y, int32_t at)
{
    const int32_t place = (channel - inside) * lam_lanes_groups_count(s) + inside;
    const int16_t *group = layer.group + place;
    const int8_t *less = s.apart ? layer.less + place : NULL;
    lam_lanes_v total[LAM_LANES_GROUPS_VECTORS];
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        total[v] = lam_lanes_load(layer.bias + channel + 16 * v, v + 1 < vectors ? 16 : last);
    }
    for (int32_t g = 0; g < s.whole; g++) {
        lam_lanes_groups_one(total, vectors, last, x, w, width, s.steps, layer.sums[g], group, less);
        x += 8 * s.steps;
        w += 4 * width * s.steps;
        group += width;
        less = s.apart ? less + width : NULL;
    }
    if (s.rest > 0) {
        lam_lanes_groups_one(total, vectors, last, x, w, width, s.rest, layer.sums[s.whole], group, less);
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const int32_t count = v + 1 < vectors ? 16 : last;
        const lam_lanes_rq rq = lam_lanes_factors_of(layer.factors, s.mode, s.per_channel, channel + 16 * v, count);
        total[v] = lam_lanes_rescale(total[v], &rq, s.mode, s.saturates);
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) { /* behind all factors: they are read once */
        lam_lanes_put(y, at + 16 * v, total[v], v + 1 < vectors ? 16 : last, s.type);
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
            int32_t sum = layer.sums[g] * (s.apart ? layer.less[own] : 1) / 16;
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

/* `width` channels from `first` on. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_block(lam_lanes_groups s, int32_t width, const uint8_t *x,
                                                           lam_lanes_grouped layer, int32_t first, void *y, int32_t at)
{
    const int32_t vectors = (width + 15) / 16, last = width - 16 * (vectors - 1);
    const uint8_t *const w = layer.weights + 4 * first * (s.whole * s.steps + s.rest);
#if LAM_LANES_AVX512
    lam_lanes_groups_part(s, vectors, last, x, w, width, 0, layer, first, y, at + first);
#elif LAM_LANES_AVX2
    /* two at a time: a sum waits for the one before it */
    const int32_t before = (vectors - 1) / 2 * 2;
    for (int32_t v = 0; v < before; v += 2) {
        lam_lanes_groups_part(s, 2, 16, x, w + 64 * v, width, 16 * v, layer, first + 16 * v, y, at + first + 16 * v);
    }
    lam_lanes_groups_part(s, vectors - before, last, x, w + 64 * before, width, 16 * before, layer, first + 16 * before, y,
                          at + first + 16 * before);
#else
    for (int32_t v = 0; v + 1 < vectors; v++) {
        lam_lanes_groups_vector(s, 16, x, w + 64 * v, width, 16 * v, layer, first + 16 * v, y, at + first + 16 * v);
    }
    lam_lanes_groups_vector(s, last, x, w + 64 * (vectors - 1), width, 16 * (vectors - 1), layer, first + 16 * (vectors - 1), y,
                            at + first + 16 * (vectors - 1));
#endif
}

/* All channels of one pixel, from inputs in scratch; the first is element `at` of y. */
static inline LAM_LANES_ALWAYS void lam_lanes_groups_pixel(lam_lanes_groups s, const uint8_t *x, lam_lanes_grouped layer, void *y,
                                                           int32_t at)
{
    const int32_t whole = s.channels / s.block * s.block;
    for (int32_t first = 0; first < whole; first += s.block) {
        lam_lanes_groups_block(s, s.block, x, layer, first, y, at);
    }
    if (whole < s.channels) {
        lam_lanes_groups_block(s, s.channels - whole, x, layer, whole, y, at);
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

/* The sum of so many inputs. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_inputs_sum(const uint8_t *x, int32_t inputs)
{
    int32_t sum = 0, i = 0;
#if LAM_LANES_AVX512 || LAM_LANES_AVX2
    if (inputs >= 8) {
        __m128i sums = _mm_setzero_si128();
        for (; i + 16 <= inputs; i += 16) {
            const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(x + i));
            sums = lam_lanes_bytes_sum(sums, bytes);
        }
        if (i + 8 <= inputs) {
            const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(x + i));
            sums = lam_lanes_bytes_sum(sums, bytes);
            i += 8;
        }
        sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0x4E));
        sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0xB1));
        sum = _mm_cvtsi128_si32(sums);
    }
#endif
    for (; i < inputs; i++) {
        sum += (x[i] ^ 0x80) - 128;
    }
    return sum;
}

#endif /* LAM_LANES_GROUPS_H */
