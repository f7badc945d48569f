/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Whole numbers without a sign, as TFLite Micro's signal operators have them: bits, rounded roots, logarithms, gains.
 * Bit-exact twins of codegen/ops/signal.  No state, no libc, no undefined behaviour.
 */
#ifndef LAM_SIGNAL_H
#define LAM_SIGNAL_H

#include "lam_base.h"
#include "lam_wrap.h"

/* How many bits x takes; 0 for 0. */
static inline uint32_t lam_bits_u32(uint32_t x)
{
    uint32_t count = 0u;
    uint32_t step;

    for (step = 16u; step > 0u; step >>= 1) {
        if ((x >> step) != 0u) {
            x >>= step;
            count += step;
        }
    }
    return count + x;
}

/* The root of x rounded to nearest, at most 65535. */
static inline uint32_t lam_root_u32(uint32_t x)
{
    uint32_t root = 0u;
    uint32_t bit = (uint32_t)1 << 30;

    while (bit > x) {
        bit >>= 2;
    }
    for (; bit != 0u; bit >>= 2) {
        const uint32_t taken = root + bit;
        root >>= 1;
        if (x >= taken) {
            x -= taken;
            root += bit;
        }
    }
    return x > root && root != 0xFFFFu ? root + 1u : root;
}

/* The root of high * 2^32 + low rounded to nearest, at most 2^32 - 1; of numbers below 2^32 as lam_root_u32. */
static inline uint32_t lam_root_u64(uint32_t high, uint32_t low)
{
    uint64_t x = ((uint64_t)high << 32) | low;
    uint64_t root = 0u;
    uint64_t bit = (uint64_t)1 << 62;

    if (high == 0u) {
        return lam_root_u32(low);
    }
    while (bit > x) {
        bit >>= 2;
    }
    for (; bit != 0u; bit >>= 2) {
        const uint64_t taken = root + bit;
        root >>= 1;
        if (x >= taken) {
            x -= taken;
            root += bit;
        }
    }
    return (uint32_t)(x > root && root != 0xFFFFFFFFu ? root + 1u : root);
}

/* The natural logarithm of x, times scale; 0 for 0 and 1, at most 32767.  `table`: codegen/ops/signal/logarithm.py. */
static inline int16_t lam_log_u32(uint32_t x, uint32_t scale, const uint16_t *table)
{
    if (x <= 1u) {
        return 0;
    }
    const uint32_t whole = lam_bits_u32(x) - 1u;
    const uint32_t rest = x - ((uint32_t)1 << whole);
    const uint32_t part = whole < 16u ? rest << (16u - whole) : rest >> (whole - 16u);
    const uint32_t piece = part >> 9;
    const int32_t step = (int32_t)table[piece + 1u] - (int32_t)table[piece];
    const int32_t above = (int32_t)table[piece] + ((step * (int32_t)(part & 511u)) >> 16);
    const uint32_t binary = (whole << 16) + part + (uint32_t)above;
    const uint32_t natural = (uint32_t)(((uint64_t)binary * 45426u + 32768u) >> 16);
    const uint32_t scaled = (scale * natural + 32768u) >> 16;
    return (int16_t)(scaled < 32767u ? scaled : 32767u);
}

/* What a table of gains, pieces of second degree between powers of two, says of x.  Twin of codegen/ops/signal/pcan.py. */
static inline int16_t lam_gain_u32(uint32_t x, const int16_t *table)
{
    if (x <= 2u) {
        return table[x];
    }
    const uint32_t bits = lam_bits_u32(x);
    const int16_t *piece = table + (4u * bits - 6u);
    const int32_t part = (int32_t)((bits < 11u ? x << (11u - bits) : x >> (bits - 11u)) & 1023u);
    const int32_t slope = (((int32_t)piece[2] * part) >> 5) + (int32_t)piece[1] * 32;
    return lam_wrap_i16((uint32_t)(((slope * part + (1 << 14)) >> 15) + piece[0]));
}

#endif /* LAM_SIGNAL_H */
