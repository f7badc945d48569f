/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Sums of bytes by int8 weights for RISC-V's vector extension: output channels lie along a vector of whatever length the
 * chip has, and an input (a row of them in depthwise layers) is multiplied by a vector of weights.
 *
 *   v0    of one place    v4 v6   weights of 8 and of 16 bits    v8 v12 v16 v20   sums of four pixels, 32 bits
 *   v24   multipliers     v28     shifts
 *
 * Weights are [line][tap][channel].  Requantization is that of codegen/kernels/fast.py, `single` and `tflite`.
 * The portable form beside it gives the same values.  GCC 12 does not know these registers, and uses none of them; later
 * compilers are told.
 */
#ifndef LAM_RVV_H
#define LAM_RVV_H

#include "lam_base.h"

#define LAM_RVV_SINGLE 0
#define LAM_RVV_TFLITE 1

/* A layer; steps are in bytes.
 *
 *   lines, line_step   kernel rows, and the way from one to the next
 *   taps, tap_step     inputs of a kernel row for one output, and the way from one to the next
 *   pixel_step         the way from one output's inputs to the next one's
 *   channels           output channels, and the way from one tap's weights to the next one's
 *   each               1: channels have factors of their own; 0: they share one
 *   offset             twice the output's zero point, and 1
 */
typedef struct lam_rvv_layer {
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t lines, line_step, taps, tap_step, pixel_step, channels, each, offset, low, high;
} lam_rvv_layer;

/* `bytes` of a row between `left` and `right` bytes of padding. */
static inline void lam_rvv_pad(uint8_t *to, const void *row, int32_t left, int32_t bytes, int32_t right, int32_t fill)
{
    (void)memset(to, fill, (size_t)left);
    (void)memcpy(to + left, row, (size_t)bytes);
    (void)memset(to + left + bytes, fill, (size_t)right);
}

#if defined(__riscv_vector) && defined(__GNUC__) && (__riscv_xlen == 64)

#if defined(__clang__) || (__GNUC__ > 12)
#define LAM_RVV_CLOBBERS                                                                                                 \
    "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",       \
        "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
#else
#define LAM_RVV_CLOBBERS "memory"
#endif

/* Multipliers and shifts, by steps that are 0 where one is of all channels. */
#define LAM_RVV_FACTORS                                                                                                  \
    "vsetvli zero, %[n], e32, m4, ta, ma\n"                                                                              \
    "vlse32.v v24, (%[multiplier]), %[wide]\n"                                                                           \
    "vlse8.v v4, (%[shift]), %[narrow]\n"                                                                                \
    "vsext.vf4 v28, v4\n"

#define LAM_RVV_SCALE_SINGLE(v) "vmulh.vv " v ", " v ", v24\n"
#define LAM_RVV_SCALE_TFLITE(v)                                                                                          \
    "vsmul.vv " v ", " v ", v24\n"                                                                                       \
    "vsra.vi v0, " v ", 31\n"                                                                                            \
    "vadd.vv " v ", " v ", v0\n"
#define LAM_RVV_ROUNDS_SINGLE ""
#define LAM_RVV_ROUNDS_TFLITE "csrwi vxrm, 0\n"

#define LAM_RVV_FINISH(MODE, v)                                                                                          \
    LAM_RVV_SCALE_##MODE(v)                                                                                              \
    "vsra.vv " v ", " v ", v28\n"                                                                                        \
    "vadd.vx " v ", " v ", %[offset]\n"                                                                                  \
    "vsra.vi " v ", " v ", 1\n"                                                                                          \
    "vmax.vx " v ", " v ", %[low]\n"                                                                                     \
    "vmin.vx " v ", " v ", %[high]\n"

#define LAM_RVV_STORE(v)                                                                                                 \
    "vsetvli zero, %[n], e16, m2, ta, ma\n"                                                                              \
    "vnsrl.wi v4, " v ", 0\n"                                                                                            \
    "vsetvli zero, %[n], e8, m1, ta, ma\n"                                                                               \
    "vnsrl.wi v6, v4, 0\n"                                                                                               \
    "vse8.v v6, (%[y])\n"

#define LAM_RVV_INPUTS                                                                                                   \
    [n] "r"(n), [bias] "r"(l->bias + channel), [multiplier] "r"(l->multiplier + (l->each ? channel : 0)),                \
        [shift] "r"(l->shift + (l->each ? channel : 0)), [wide] "r"(l->each ? 4L : 0L), [narrow] "r"(l->each ? 1L : 0L), \
        [taps] "r"((long)l->taps), [channels] "r"((long)l->channels), [offset] "r"(l->offset), [low] "r"(l->low),        \
        [high] "r"(l->high)

/* Four pixels by n channels: each weight serves four times. */
#define LAM_RVV_FOUR(LOAD, MODE)                                                                                         \
    __asm volatile(                                                                                                      \
        LAM_RVV_ROUNDS_##MODE                                                                                            \
        "add %[x1], %[x0], %[pixel]\n"                                                                                   \
        "add %[x2], %[x1], %[pixel]\n"                                                                                   \
        "add %[x3], %[x2], %[pixel]\n"                                                                                   \
        "vsetvli zero, %[n], e32, m4, ta, ma\n"                                                                          \
        "vle32.v v8, (%[bias])\n"                                                                                        \
        "vmv.v.v v12, v8\n"                                                                                              \
        "vmv.v.v v16, v8\n"                                                                                              \
        "vmv.v.v v20, v8\n"                                                                                              \
        "vsetvli zero, %[n], e16, m2, ta, ma\n"                                                                          \
        "1:\n"                                                                                                           \
        "mv %[k], %[taps]\n"                                                                                             \
        "2:\n"                                                                                                           \
        "vle8.v v4, (%[w])\n"                                                                                            \
        "add %[w], %[w], %[channels]\n"                                                                                  \
        LOAD " %[a], 0(%[x0])\n"                                                                                         \
        LOAD " %[b], 0(%[x1])\n"                                                                                         \
        LOAD " %[c], 0(%[x2])\n"                                                                                         \
        LOAD " %[d], 0(%[x3])\n"                                                                                         \
        "vsext.vf2 v6, v4\n"                                                                                             \
        "addi %[x0], %[x0], 1\n"                                                                                         \
        "addi %[x1], %[x1], 1\n"                                                                                         \
        "addi %[x2], %[x2], 1\n"                                                                                         \
        "addi %[x3], %[x3], 1\n"                                                                                         \
        "addi %[k], %[k], -1\n"                                                                                          \
        "vwmacc.vx v8, %[a], v6\n"                                                                                       \
        "vwmacc.vx v12, %[b], v6\n"                                                                                      \
        "vwmacc.vx v16, %[c], v6\n"                                                                                      \
        "vwmacc.vx v20, %[d], v6\n"                                                                                      \
        "bnez %[k], 2b\n"                                                                                                \
        "add %[x0], %[x0], %[gap]\n"                                                                                     \
        "add %[x1], %[x1], %[gap]\n"                                                                                     \
        "add %[x2], %[x2], %[gap]\n"                                                                                     \
        "add %[x3], %[x3], %[gap]\n"                                                                                     \
        "addi %[lines], %[lines], -1\n"                                                                                  \
        "bnez %[lines], 1b\n"                                                                                            \
        LAM_RVV_FACTORS                                                                                                  \
        LAM_RVV_FINISH(MODE, "v8")                                                                                       \
        LAM_RVV_FINISH(MODE, "v12")                                                                                      \
        LAM_RVV_FINISH(MODE, "v16")                                                                                      \
        LAM_RVV_FINISH(MODE, "v20")                                                                                      \
        LAM_RVV_STORE("v8")                                                                                              \
        "add %[y], %[y], %[channels]\n"                                                                                  \
        LAM_RVV_STORE("v12")                                                                                             \
        "add %[y], %[y], %[channels]\n"                                                                                  \
        LAM_RVV_STORE("v16")                                                                                             \
        "add %[y], %[y], %[channels]\n"                                                                                  \
        LAM_RVV_STORE("v20")                                                                                             \
        : [x0] "+&r"(x), [w] "+&r"(w), [y] "+&r"(y), [lines] "+&r"(lines), [x1] "=&r"(x1), [x2] "=&r"(x2), [x3] "=&r"(x3),   \
          [k] "=&r"(k), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)                                           \
        : LAM_RVV_INPUTS, [pixel] "r"((long)l->pixel_step), [gap] "r"((long)(l->line_step - l->taps))                    \
        : LAM_RVV_CLOBBERS)

static inline void lam_rvv_four(const lam_rvv_layer *l, const uint8_t *x, int32_t channel, long n, uint8_t *y,
                                int is_unsigned, int mode)
{
    const uint8_t *x1, *x2, *x3;
    const int8_t *w = l->weights + channel;
    long lines = l->lines;
    long k, a, b, c, d;

    if (mode == LAM_RVV_SINGLE) {
        if (is_unsigned) {
            LAM_RVV_FOUR("lbu", SINGLE);
        } else {
            LAM_RVV_FOUR("lb", SINGLE);
        }
    } else if (is_unsigned) {
        LAM_RVV_FOUR("lbu", TFLITE);
    } else {
        LAM_RVV_FOUR("lb", TFLITE);
    }
}

/* One pixel by n channels; STEP makes v8 of a tap's weights, which are 16 bits in v6. */
#define LAM_RVV_ONE(STEP, MODE)                                                                                          \
    __asm volatile(                                                                                                      \
        LAM_RVV_ROUNDS_##MODE                                                                                            \
        "vsetvli zero, %[n], e32, m4, ta, ma\n"                                                                          \
        "vle32.v v8, (%[bias])\n"                                                                                        \
        "vsetvli zero, %[n], e16, m2, ta, ma\n"                                                                          \
        "1:\n"                                                                                                           \
        "mv %[k], %[taps]\n"                                                                                             \
        "2:\n"                                                                                                           \
        "vle8.v v4, (%[w])\n"                                                                                            \
        "add %[w], %[w], %[channels]\n"                                                                                  \
        "vsext.vf2 v6, v4\n"                                                                                             \
        "addi %[k], %[k], -1\n"                                                                                          \
        STEP                                                                                                             \
        "add %[x], %[x], %[step]\n"                                                                                      \
        "bnez %[k], 2b\n"                                                                                                \
        "add %[x], %[x], %[gap]\n"                                                                                       \
        "addi %[lines], %[lines], -1\n"                                                                                  \
        "bnez %[lines], 1b\n"                                                                                            \
        LAM_RVV_FACTORS                                                                                                  \
        LAM_RVV_FINISH(MODE, "v8")                                                                                       \
        LAM_RVV_STORE("v8")                                                                                              \
        : [x] "+&r"(x), [w] "+&r"(w), [lines] "+&r"(lines), [k] "=&r"(k), [a] "=&r"(a)                                      \
        : LAM_RVV_INPUTS, [y] "r"(y), [step] "r"((long)l->tap_step),                                                     \
          [gap] "r"((long)(l->line_step - l->taps * l->tap_step))                                                        \
        : LAM_RVV_CLOBBERS)

#define LAM_RVV_BY_INPUT(LOAD) LOAD " %[a], 0(%[x])\n" "vwmacc.vx v8, %[a], v6\n"
#define LAM_RVV_BY_INPUTS(EXTEND) "vle8.v v5, (%[x])\n" EXTEND " v2, v5\n" "vwmacc.vv v8, v2, v6\n"

#define LAM_RVV_ONE_OF(MODE)                                                                                             \
    do {                                                                                                                 \
        if (by_channel) {                                                                                                \
            if (is_unsigned) {                                                                                           \
                LAM_RVV_ONE(LAM_RVV_BY_INPUTS("vzext.vf2"), MODE);                                                       \
            } else {                                                                                                     \
                LAM_RVV_ONE(LAM_RVV_BY_INPUTS("vsext.vf2"), MODE);                                                       \
            }                                                                                                            \
        } else if (is_unsigned) {                                                                                        \
            LAM_RVV_ONE(LAM_RVV_BY_INPUT("lbu"), MODE);                                                                  \
        } else {                                                                                                         \
            LAM_RVV_ONE(LAM_RVV_BY_INPUT("lb"), MODE);                                                                   \
        }                                                                                                                \
    } while (0)

static inline void lam_rvv_one(const lam_rvv_layer *l, const uint8_t *x, int32_t channel, long n, uint8_t *y,
                               int by_channel, int is_unsigned, int mode)
{
    const int8_t *w = l->weights + channel;
    long lines = l->lines;
    long k, a;

    if (mode == LAM_RVV_SINGLE) {
        LAM_RVV_ONE_OF(SINGLE);
    } else {
        LAM_RVV_ONE_OF(TFLITE);
    }
}

/* How many of `count` channels one step takes. */
static inline long lam_rvv_lanes(int32_t count)
{
    long n;
    __asm volatile("vsetvli %0, %1, e32, m4, ta, ma" : "=r"(n) : "r"((long)count));
    return n;
}

#else

static inline long lam_rvv_lanes(int32_t count)
{
    return (count < 16) ? count : 16;
}

static inline int32_t lam_rvv_rescale(const lam_rvv_layer *l, int32_t acc, int32_t channel, int mode)
{
    const int64_t product = (int64_t)acc * l->multiplier[l->each ? channel : 0];
    int32_t v;

    if (mode == LAM_RVV_SINGLE) {
        v = (int32_t)(product >> 32);
    } else {
        v = (int32_t)((product + (1 << 30)) >> 31);
        v += v >> 31;
    }
    v = ((v >> l->shift[l->each ? channel : 0]) + l->offset) >> 1;
    v = (v > l->low) ? v : l->low;
    return (v < l->high) ? v : l->high;
}

static inline void lam_rvv_one(const lam_rvv_layer *l, const uint8_t *x, int32_t channel, long n, uint8_t *y,
                               int by_channel, int is_unsigned, int mode)
{
    for (int32_t i = 0; i < n; i++) {
        const int8_t *w = l->weights + channel + i;
        uint32_t acc = (uint32_t)l->bias[channel + i];
        for (int32_t line = 0; line < l->lines; line++) {
            for (int32_t k = 0; k < l->taps; k++, w += l->channels) {
                const uint8_t *const at = x + line * l->line_step + k * l->tap_step + (by_channel ? i : 0);
                const int32_t value = is_unsigned ? (int32_t)*at : (int32_t)(int8_t)*at;
                acc += (uint32_t)(value * *w);
            }
        }
        y[i] = (uint8_t)lam_rvv_rescale(l, (int32_t)acc, channel + i, mode);
    }
}

static inline void lam_rvv_four(const lam_rvv_layer *l, const uint8_t *x, int32_t channel, long n, uint8_t *y,
                                int is_unsigned, int mode)
{
    for (int32_t p = 0; p < 4; p++) {
        lam_rvv_one(l, x + p * l->pixel_step, channel, n, y + p * l->channels, 0, is_unsigned, mode);
    }
}

#endif

/* `pixels` outputs of all channels, each of which sums over all inputs.  All channels of a few pixels are made before any
 * of the next ones, whose inputs may lie a row behind these outputs. */
static inline void lam_rvv_sums(const lam_rvv_layer *l, const uint8_t *x, int32_t pixels, uint8_t *y, int is_unsigned,
                                int mode)
{
    int32_t channel, left;
    long n;

    for (left = pixels; left >= 4; left -= 4, x += 4 * l->pixel_step, y += 4 * l->channels) {
        for (channel = 0; channel < l->channels; channel += (int32_t)n) {
            n = lam_rvv_lanes(l->channels - channel);
            lam_rvv_four(l, x, channel, n, y + channel, is_unsigned, mode);
        }
    }
    for (; left > 0; left--, x += l->pixel_step, y += l->channels) {
        for (channel = 0; channel < l->channels; channel += (int32_t)n) {
            n = lam_rvv_lanes(l->channels - channel);
            lam_rvv_one(l, x, channel, n, y + channel, 0, is_unsigned, mode);
        }
    }
}

/* `pixels` outputs of all channels, each of which sums over its own inputs. */
static inline void lam_rvv_own_sums(const lam_rvv_layer *l, const uint8_t *x, int32_t pixels, uint8_t *y,
                                    int is_unsigned, int mode)
{
    long n;

    for (int32_t left = pixels; left > 0; left--, x += l->pixel_step, y += l->channels) {
        for (int32_t channel = 0; channel < l->channels; channel += (int32_t)n) {
            n = lam_rvv_lanes(l->channels - channel);
            lam_rvv_one(l, x + channel, channel, n, y + channel, 1, is_unsigned, mode);
        }
    }
}

#endif /* LAM_RVV_H */
