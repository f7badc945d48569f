/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Depthwise convolution: 64 neighbouring bytes of an output row at a time, whatever pixels they belong to.
 *
 * Inputs are bytes in scratch, in the form in which the processor forms products (LAM_LANES_SIGNED; int8 values without a
 * sign have 128 added, which the folded bias takes out again), rows padded to both sides and dealt to `stride` planes, so
 * that neighbouring outputs read neighbouring inputs at any stride.  A row's channels repeat after `blocks` times 64 bytes;
 * parameters are laid out for that many.  Weights of 4 bits share bytes with those of the next tap, in the upper halves.
 *
 * A dot product of four bytes would need taps side by side.  On x86 each has one tap's byte and three zeros in its weights,
 * so that no input is ever moved: vector v sums bytes 4 d + v of the block in its lanes d.
 */
#ifndef LAM_LANES_DEPTHWISE_H
#define LAM_LANES_DEPTHWISE_H

#include "lam_lanes_requant.h"

#define LAM_LANES_PLACES 5

/* Bytes of a tap's weights as lam_lanes_depthwise_tile takes them. */
#if LAM_LANES_AVX512 || LAM_LANES_AVX2
#define LAM_LANES_TAP 256
#else
#define LAM_LANES_TAP 64
#endif

/* Literals of a layer; steps are in bytes.
 *
 *   places                 blocks that are summed together, at most LAM_LANES_PLACES
 *   blocks                 blocks of 64 after which channels repeat
 *   bytes                  bytes of an output row
 *   lines, line_step       kernel rows, and the way from one to the next
 *   taps, stride, dilation columns of the kernel
 *   plane, channels        bytes of one plane of a row, and of one pixel
 *   row_step               the way from one output row's inputs to the next one's
 *   is_signed              whether the bias is that of inputs with a sign
 *   narrow                 whether no weight, or 16 times one of 4 bits, is -128
 *   few                    whether weights have 4 bits
 *   own                    whether these have zero points of their own; only then:
 *   less                   by how much less the weights of each channel are stored
 */
typedef struct lam_lanes_depthwise {
    int32_t places, blocks, bytes, lines, line_step, taps, stride, dilation, plane, channels, row_step;
    int mode, per_channel, saturates, type, is_signed, narrow, few, own;
    const int8_t *less;
} lam_lanes_depthwise;

/* One layer's parameters: weights [tap, or two of them][blocks * 64], the others in the order of lanes [blocks][vector][lane]. */
typedef struct lam_lanes_depthwise_layer {
    const int8_t *weights;
    const int32_t *bias;
    lam_lanes_factors factors;
} lam_lanes_depthwise_layer;

/* A row of `pixels` pixels, padding of `left` pixels before it, dealt to the planes of `line_bytes`. */
static inline LAM_LANES_ALWAYS void lam_lanes_deal(lam_lanes_depthwise s, uint8_t *to, const void *row, int32_t left,
                                               int32_t pixels, int32_t line_bytes, int32_t fill, int flip)
{
    const uint8_t *from = (const uint8_t *)row;
    (void)memset(to, fill, (size_t)line_bytes);
    for (int32_t p = left; p < left + pixels; p++, from += s.channels) {
        lam_lanes_copy(to + (p % s.stride) * s.plane + (p / s.stride) * s.channels, from, s.channels, flip);
    }
}

/* Whether sums are of 16 times the weights: each half of a byte is brought to its top.  That is less for each tap of a call than to
 * make bytes of weights, and more for each place of a row. */
static inline LAM_LANES_ALWAYS int lam_lanes_depthwise_raised(lam_lanes_depthwise s)
{
    return s.few && !s.own && s.lines * s.taps > 4 * ((s.bytes + 63) / 64);
}

/* What sums begin with, the bias if they are of the weights themselves, and sums of the weights. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_depthwise_first(lam_lanes_depthwise s, lam_lanes_v bias)
{
    return lam_lanes_depthwise_raised(s) ? lam_lanes_splat(0) : bias;
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_depthwise_sum(lam_lanes_depthwise s, lam_lanes_v acc, lam_lanes_v bias)
{
    return lam_lanes_depthwise_raised(s) ? lam_lanes_add(lam_lanes_sra(acc, lam_lanes_splat(4)), bias) : acc;
}

#if LAM_LANES_AVX512 || LAM_LANES_AVX2

/* `places` blocks of one row, `step` bytes apart; w has four vectors per tap. */
static inline LAM_LANES_ALWAYS void lam_lanes_depthwise_tile(lam_lanes_depthwise s, int32_t places, const uint8_t *x,
                                                         const uint8_t *w, const lam_lanes_v *bias, const lam_lanes_rq *rq,
                                                         uint8_t *y, int32_t count)
{
    const int32_t step = s.blocks * 64;
    lam_lanes_v acc[LAM_LANES_PLACES][4];
    LAM_LANES_UNROLL
    for (int32_t p = 0; p < places; p++) {
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < 4; v++) {
            acc[p][v] = lam_lanes_depthwise_first(s, bias[v]);
        }
    }
    for (int32_t line = 0; line < s.lines; line++) {
        LAM_LANES_UNROLL
        for (int32_t tap = 0; tap < s.taps; tap++) {
            const int32_t column = tap * s.dilation;
            const uint8_t *at = x + line * s.line_step + column % s.stride * s.plane + column / s.stride * s.channels;
            const uint8_t *weights = w + (line * s.taps + tap) * 256;
            lam_lanes_v bytes[LAM_LANES_PLACES];
            LAM_LANES_UNROLL
            for (int32_t p = 0; p < places; p++) {
                bytes[p] = lam_lanes_load(at + p * step, 16);
            }
            LAM_LANES_UNROLL
            for (int32_t v = 0; v < 4; v++) {
                const lam_lanes_v one = lam_lanes_load(weights + 64 * v, 16);
                LAM_LANES_UNROLL
                for (int32_t p = 0; p < places; p++) {
                    acc[p][v] = lam_lanes_dot(acc[p][v], bytes[p], one);
                }
            }
        }
    }
    LAM_LANES_UNROLL
    for (int32_t p = 0; p < places; p++) {
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < 4; v++) {
            acc[p][v] = lam_lanes_rescale(lam_lanes_depthwise_sum(s, acc[p][v], bias[v]), rq + v, s.mode, s.saturates);
        }
        lam_lanes_store_woven(y + p * step, acc[p], count, s.type == LAM_LANES_S8);
    }
}

#elif LAM_LANES_NEON

/* Where the inputs of a tap lie. */
static inline LAM_LANES_ALWAYS const uint8_t *lam_lanes_depthwise_at(lam_lanes_depthwise s, const uint8_t *line, int32_t tap)
{
    const int32_t column = tap * s.dilation;
    return line + column % s.stride * s.plane + column / s.stride * s.channels;
}

/* The same; w has four vectors of 16 bytes per tap. */
static inline LAM_LANES_ALWAYS void lam_lanes_depthwise_tile(lam_lanes_depthwise s, int32_t places, const uint8_t *x,
                                                             const uint8_t *w, const lam_lanes_v *bias,
                                                             const lam_lanes_rq *rq, uint8_t *y, int32_t count)
{
    for (int32_t p = 0; p < places; p++, x += s.blocks * 64, y += s.blocks * 64) {
        const int32_t paired = s.narrow ? s.taps / 2 * 2 : 0;
        const uint8_t *weights = w;
        lam_lanes_v acc[4];
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < 4; v++) {
            acc[v] = lam_lanes_depthwise_first(s, bias[v]);
        }
        for (int32_t line = 0; line < s.lines; line++, weights += s.taps * 64) {
            const uint8_t *const from = x + line * s.line_step;
            LAM_LANES_UNROLL
            for (int32_t tap = 0; tap < paired; tap += 2) {
                lam_lanes_add_pairs(acc, lam_lanes_depthwise_at(s, from, tap), weights + 64 * tap,
                                    lam_lanes_depthwise_at(s, from, tap + 1), weights + 64 * tap + 64);
            }
            LAM_LANES_UNROLL
            for (int32_t tap = paired; tap < s.taps; tap++) {
                lam_lanes_add_products(acc, lam_lanes_depthwise_at(s, from, tap), weights + 64 * tap);
            }
        }
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < 4; v++) {
            acc[v] = lam_lanes_rescale(lam_lanes_depthwise_sum(s, acc[v], bias[v]), rq + v, s.mode, s.saturates);
        }
        lam_lanes_store_woven(y, acc, count, s.type == LAM_LANES_S8);
    }
}

#else

/* The same; w has 64 bytes per tap, as they come. */
static inline void lam_lanes_depthwise_tile(lam_lanes_depthwise s, int32_t places, const uint8_t *x, const uint8_t *w,
                                          const lam_lanes_v *bias, const lam_lanes_rq *rq, uint8_t *y, int32_t count)
{
    const int8_t *const weights = (const int8_t *)w;
    for (int32_t p = 0; p < places; p++, x += s.blocks * 64, y += s.blocks * 64) {
        int32_t sums[64] = {0};
        lam_lanes_v acc[4];
        for (int32_t line = 0; line < s.lines; line++) {
            for (int32_t tap = 0; tap < s.taps; tap++) {
                const int32_t column = tap * s.dilation;
                const uint8_t *at = x + line * s.line_step + column % s.stride * s.plane + column / s.stride * s.channels;
                const int8_t *one = weights + (line * s.taps + tap) * 64;
                for (int32_t i = 0; i < 64; i++) {
                    sums[i] += at[i] * one[i];
                }
            }
        }
        for (int32_t v = 0; v < 4; v++) {
            acc[v] = lam_lanes_depthwise_first(s, bias[v]);
            for (int32_t i = 0; i < 16; i++) {
                acc[v].e[i] = (int32_t)((uint32_t)acc[v].e[i] + (uint32_t)sums[4 * i + v]);
            }
            acc[v] = lam_lanes_rescale(lam_lanes_depthwise_sum(s, acc[v], bias[v]), rq + v, s.mode, s.saturates);
        }
        lam_lanes_store_woven(y, acc, count, s.type == LAM_LANES_S8);
    }
}

#endif

/* By how much less weights are stored, 8 more, of each byte of the block at byte `at`. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_depthwise_less(lam_lanes_depthwise s, int32_t at)
{
    const int32_t first = at % s.channels, left = s.channels - first;
    int8_t less[256];
    const int8_t *of_block = less + first;
    if (s.channels <= 64) {
        (void)memcpy(less, s.less, (size_t)s.channels);
        LAM_LANES_UNROLL
        for (int32_t n = s.channels; n < s.channels + 64; n *= 2) {
            (void)memcpy(less + n, less, (size_t)n);
        }
    } else if (left < 64) {
        of_block = less + 64 - left;
        (void)memcpy(less, s.less + s.channels - 64, 64);
        (void)memcpy(less + 64, s.less, 64);
    } else {
        of_block = less;
        (void)memcpy(less, s.less + first, 64);
    }
    return lam_lanes_add_each(lam_lanes_load(of_block, 16), lam_lanes_splat((int32_t)0xF8F8F8F8u));
}

/* 64 weights of a tap as bytes, or 16 times of them; `w` has them, or those of two taps, of which `upper` ones are wanted.
 * A weight and 8 more has no sign. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_depthwise_bytes(lam_lanes_depthwise s, lam_lanes_v w, int upper, lam_lanes_v less)
{
    if (!s.few) {
        return w;
    }
    if (lam_lanes_depthwise_raised(s)) {
        return upper ? lam_lanes_upper(w) : lam_lanes_raise(w);
    }
    w = lam_lanes_and(upper ? lam_lanes_sra(w, lam_lanes_splat(4)) : w, lam_lanes_splat(0x0F0F0F0F));
    return lam_lanes_add_each(lam_lanes_xor(w, lam_lanes_splat(0x08080808)), less);
}

/* 64 weights of a tap as lam_lanes_depthwise_tile takes them. */
static inline LAM_LANES_ALWAYS void lam_lanes_depthwise_put(uint8_t *w, lam_lanes_v bytes)
{
#if LAM_LANES_AVX512 || LAM_LANES_AVX2
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < 4; v++) {
        lam_lanes_store(w + v * 64, lam_lanes_and(bytes, lam_lanes_splat((int32_t)(0xFFu << (8 * v)))), 16);
    }
#elif LAM_LANES_NEON
    int8_t own[64];
    lam_lanes_store(own, bytes, 16);
    const int8x16x4_t lanes = vld4q_s8(own);
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < 4; v++) {
        vst1q_u8(w + 16 * v, vreinterpretq_u8_s8(lanes.val[v]));
    }
#else
    lam_lanes_store(w, bytes, 16);
#endif
}

/* A block's weights as lam_lanes_depthwise_tile takes them; `weights` is the first tap's. */
static inline LAM_LANES_ALWAYS void lam_lanes_depthwise_spread(lam_lanes_depthwise s, const int8_t *weights, lam_lanes_v less, uint8_t *w)
{
    const int32_t taps = s.lines * s.taps, size = LAM_LANES_TAP;
    for (int32_t tap = 0; tap < taps; tap += 1 + s.few) {
        const lam_lanes_v bytes = lam_lanes_load(weights + tap / (1 + s.few) * s.blocks * 64, 16);
        lam_lanes_depthwise_put(w + tap * size, lam_lanes_depthwise_bytes(s, bytes, 0, less));
        if (s.few && tap + 1 < taps) {
            lam_lanes_depthwise_put(w + (tap + 1) * size, lam_lanes_depthwise_bytes(s, bytes, 1, less));
        }
    }
}

/* What sums begin with: the bias, and what inputs of the other form make of it, 128 times the sum of the weights. */
static inline LAM_LANES_ALWAYS void lam_lanes_depthwise_start(lam_lanes_depthwise s, const int8_t *weights, lam_lanes_v less, lam_lanes_v *bias)
{
    const int32_t times = lam_lanes_depthwise_raised(s) ? 8 : 128;
    int32_t sums[64] = {0};
    for (int32_t tap = 0; tap < s.lines * s.taps; tap++) {
        const int upper = s.few && tap % 2 != 0;
        int8_t own[64];
        lam_lanes_store(own, lam_lanes_depthwise_bytes(s, lam_lanes_load(weights, 16), upper, less), 16);
        for (int32_t i = 0; i < 64; i++) {
            sums[i] += own[i] * times;
        }
        weights += (upper || !s.few) ? s.blocks * 64 : 0;
    }
    for (int32_t v = 0; v < 4; v++) {
        int32_t lanes[16];
        lam_lanes_store(lanes, bias[v], 16);
        for (int32_t i = 0; i < 16; i++) {
            const uint32_t sum = (uint32_t)sums[4 * i + v];
            lanes[i] = (int32_t)((uint32_t)lanes[i] + (s.is_signed ? 0u - sum : sum));
        }
        bias[v] = lam_lanes_load(lanes, 16);
    }
}

/* `rows` output rows, from inputs in scratch; `w` has room for 256 bytes per tap. */
static inline LAM_LANES_ALWAYS void lam_lanes_depthwise_rows(lam_lanes_depthwise s, const uint8_t *x, int32_t rows,
                                                         lam_lanes_depthwise_layer layer, uint8_t *w, uint8_t *y)
{
    const int32_t step = s.blocks * 64;
    for (int32_t block = 0; block < s.blocks && block * 64 < s.bytes; block++) {
        const int32_t room = s.bytes - block * 64, places = (room + step - 64) / step;
        const int ragged = s.bytes % 64 != 0 && s.bytes / 64 % s.blocks == block;
        const lam_lanes_v less = s.own ? lam_lanes_depthwise_less(s, block * 64) : lam_lanes_splat((int32_t)0xF8F8F8F8u);
        lam_lanes_v bias[4];
        lam_lanes_rq rq[4];
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < 4; v++) {
            const int32_t first = (block * 4 + v) * 16;
            bias[v] = lam_lanes_load(layer.bias + first, 16);
            rq[v] = lam_lanes_factors_of(layer.factors, s.mode, s.per_channel, first, 16);
        }
        if (lam_lanes_turned(s.is_signed)) {
            lam_lanes_depthwise_start(s, layer.weights + block * 64, less, bias);
        }
        lam_lanes_depthwise_spread(s, layer.weights + block * 64, less, w);
        for (int32_t row = 0; row < rows; row++) {
            const uint8_t *from = x + row * s.row_step + block * 64;
            uint8_t *to = y + row * s.bytes + block * 64;
            if (places >= s.places) {
                for (int32_t place = 0; place < places; place += s.places) {
                    const int32_t at = ((place + s.places <= places) ? place : places - s.places) * step;
                    lam_lanes_depthwise_tile(s, s.places, from + at, w, bias, rq, to + at, 64);
                }
            } else if (s.places > 1) {
                for (int32_t place = 0; place < places; place++) {
                    lam_lanes_depthwise_tile(s, 1, from + place * step, w, bias, rq, to + place * step, 64);
                }
            }
            if (ragged) {
                lam_lanes_depthwise_tile(s, 1, from + places * step, w, bias, rq, to + places * step, s.bytes % 64);
            }
        }
    }
}

#endif /* LAM_LANES_DEPTHWISE_H */
