/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Dense layers of one pixel on weights of 4 bits with a factor of 16 bits per group of inputs: two groups and 32 outputs
 * in turn.
 *
 * Inputs are uint8, 128 more than int8, which the bias has in it.  They lie in scratch four by four, of a group and of the one
 * behind it in turns, so that even lanes sum the one and odd lanes the other.  A byte has the numbers of one input for two
 * outputs: the second one's, with a sign, above the first one's, to which 8 are added.  Sums of inputs by bytes as they are,
 * which products read where they lie, are 16 times the second output's and the first one's; sums by lower halves are the
 * first one's, and what is left is shifted back.  Both begin with what takes the 8 off.  Sums of a group fit 16 bits: those of two
 * groups become the halves of a lane, outputs in their order, and one product of both by both factors follows.
 *
 * Weights are packed in the order of reading: for each block of output channels (the last one has the rest), each pair of
 * groups, each four inputs, each sixteen channels: lane 4 i + 2 j + g has channels 4 i + j and 4 i + 2 + j of group g of the two.
 * Factors, and what is taken off weights, lie as [pair of groups][channel][2] of each block.
 *
 * Groups behind the last whole pair are cut: a last one that is smaller lies beside as many inputs of the whole one before it; what is
 * left over of either is one pair of halves of the same factor, the second half filled with zeros to the size of the first.
 */
#ifndef LAM_LANES_GROUP_PAIRS_H
#define LAM_LANES_GROUP_PAIRS_H

#include "lam_lanes_groups.h"

/* Literals of a layer.
 *
 *   inputs        of the pixel
 *   block         output channels that a block of weights has, at most 16 * LAM_LANES_GROUPS_VECTORS
 *   channels      output channels
 *   size          inputs of a group
 *   pairs         whole ones
 *   shared        fours of inputs of a pair of the last two groups, or 0
 *   halves        and of one of the two halves of what is left, or 0
 *   piece         fours of inputs of a group whose sum fits 16 bits: larger ones go piece by piece
 *   centred       whether that takes another half for each number
 *   apart         whether groups have zero points
 *   flip          whether inputs are int8
 */
typedef struct lam_lanes_group_pairs {
    int32_t inputs, block, channels, size, pairs, shared, halves, piece;
    int centred, apart, flip, mode, per_channel, saturates, type;
} lam_lanes_group_pairs;

/* Numbers taken off or added: `less` is what is taken off weights as they are stored; `x` the inputs in pairs, and
 * `sums` of each pair -8 times the sums of its inputs, of whole ones without the 128 in each. */
typedef struct lam_lanes_paired {
    const uint8_t *weights;
    const int32_t *bias;
    const int16_t *group;
    const int8_t *less;
    uint8_t *x;
    int32_t *sums;
    lam_lanes_factors factors;
} lam_lanes_paired;

/* All pairs. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_pairs_count(lam_lanes_group_pairs s)
{
    return s.pairs + (s.shared > 0) + (s.halves > 0);
}

/* Fours of inputs of a pair. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_pair_steps(lam_lanes_group_pairs s, int32_t pair)
{
    return pair < s.pairs ? s.size / 4 : (pair == s.pairs && s.shared > 0) ? s.shared : s.halves;
}

/* Lanes of weights of so many channels: a pair of lanes has up to two of them, two and two of four. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_pair_lanes(int32_t channels)
{
    return channels % 4 == 1 ? channels + 1 : (channels + 3) / 4 * 4;
}

/* Inputs of one group of a pair, four by four, eight bytes apart; filled with zeros. */
static inline LAM_LANES_ALWAYS void lam_lanes_pair_spread(uint8_t *to, const uint8_t *x, int32_t inputs, int32_t steps, int flip)
{
    for (int32_t k = 0; k < steps; k++, to += 8) {
        uint32_t four = 0;
        const int32_t left = inputs - 4 * k;
        if (left >= 4) {
            (void)memcpy(&four, x + 4 * k, 4u);
            four ^= flip ? 0x80808080u : 0u;
            (void)memcpy(to, &four, 4u);
            continue;
        }
        for (int32_t i = 0; i < 4; i++) {
            to[i] = (uint8_t)(i < left ? x[4 * k + i] ^ (flip ? 0x80 : 0) : 0);
        }
    }
}

/* A pair: `inputs` of the first group from x on, `others` of the second one from z on. */
static inline LAM_LANES_ALWAYS void lam_lanes_pair_put(uint8_t *to, const uint8_t *x, int32_t inputs, const uint8_t *z,
                                                       int32_t others, int32_t steps, int flip)
{
    int32_t done = 0;
#if LAM_LANES_AVX512 || LAM_LANES_AVX2
    const __m128i turn = _mm_set1_epi8(flip ? -128 : 0);
    const int32_t both = inputs < others ? inputs : others;
    for (; done + 16 <= both; done += 16) {
        const __m128i a = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(x + done)), turn);
        const __m128i b = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(z + done)), turn);
        _mm_storeu_si128((__m128i *)(void *)(to + 2 * done), _mm_unpacklo_epi32(a, b));
        _mm_storeu_si128((__m128i *)(void *)(to + 2 * done) + 1, _mm_unpackhi_epi32(a, b));
    }
    if (done + 8 <= both) {
        const __m128i a = _mm_loadl_epi64((const __m128i *)(const void *)(x + done));
        const __m128i b = _mm_loadl_epi64((const __m128i *)(const void *)(z + done));
        _mm_storeu_si128((__m128i *)(void *)(to + 2 * done), _mm_xor_si128(_mm_unpacklo_epi32(a, b), turn));
    }
    done = both & ~7; /* a constant where `both` is one */
#endif
    lam_lanes_pair_spread(to + 2 * done, x + done, inputs - done, steps - done / 4, flip);
    lam_lanes_pair_spread(to + 2 * done + 4, z + done, others - done, steps - done / 4, flip);
}

#if LAM_LANES_AVX512 || LAM_LANES_AVX2
/* To each of four sums four bytes without a sign times small ones with one. */
static inline LAM_LANES_ALWAYS __m128i lam_lanes_bytes_times(__m128i sums, __m128i bytes, __m128i times)
{
#if LAM_LANES_AVX512
    return _mm_dpbusd_epi32(sums, bytes, times);
#else
    return _mm_add_epi32(sums, _mm_madd_epi16(_mm_maddubs_epi16(bytes, times), _mm_set1_epi16(1)));
#endif
}
#endif

/* -8 times the sums of a pair's inputs. */
static inline LAM_LANES_ALWAYS void lam_lanes_pair_sums(int32_t *sums, const uint8_t *x, int32_t steps)
{
#if LAM_LANES_AVX512 || LAM_LANES_AVX2
    const __m128i times = _mm_set1_epi8(-8);
    __m128i all = _mm_setzero_si128();
    int32_t k = 0;
    for (; k + 2 <= steps; k += 2) {
        all = lam_lanes_bytes_times(all, _mm_loadu_si128((const __m128i *)(const void *)(x + 8 * k)), times);
    }
    if (k < steps) {
        all = lam_lanes_bytes_times(all, _mm_loadl_epi64((const __m128i *)(const void *)(x + 8 * k)), times);
    }
    _mm_storel_epi64((__m128i *)(void *)sums, _mm_add_epi32(all, _mm_shuffle_epi32(all, 0x4E)));
#else
    sums[0] = 0;
    sums[1] = 0;
    for (int32_t i = 0; i < 8 * steps; i++) {
        sums[i / 4 % 2] -= 8 * x[i];
    }
#endif
}

#if LAM_LANES_AVX512
/* Some lanes of whole pairs of groups of 16 or 32 inputs from x on. */
static inline LAM_LANES_ALWAYS __m512i lam_lanes_pairs_vector(lam_lanes_group_pairs s, const uint8_t *x, int32_t lanes)
{
    const __m512i order = s.size == 16 ? _mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15)
                                       : _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    const __m512i fours = _mm512_permutexvar_epi32(order, lam_lanes_load(x, lanes));
    return s.flip ? _mm512_xor_si512(fours, _mm512_set1_epi8(-128)) : fours;
}
#endif

/* Whole pairs of groups. */
static inline LAM_LANES_ALWAYS void lam_lanes_pairs_put(lam_lanes_group_pairs s, uint8_t *to, const uint8_t *x)
{
#if LAM_LANES_AVX512
    if (s.size == 16 || s.size == 32) {
        const int32_t bytes = 2 * s.size * s.pairs;
        for (int32_t i = 0; i < bytes; i += 64) {
            const int32_t lanes = bytes - i < 64 ? (bytes - i) / 4 : 16;
            lam_lanes_store(to + i, lam_lanes_pairs_vector(s, x + i, lanes), lanes);
        }
        return;
    }
#endif
    for (int32_t p = 0; p < s.pairs; p++) {
        const uint8_t *const first = x + 2 * s.size * p;
        lam_lanes_pair_put(to + 2 * s.size * p, first, s.size, first + s.size, s.size, s.size / 4, s.flip);
    }
}

/* Whether sums of whole pairs are made of inputs as they lie, many at a time: without the 128 in each. */
static inline LAM_LANES_ALWAYS int lam_lanes_pairs_by_size(lam_lanes_group_pairs s)
{
    return LAM_LANES_AVX512 && s.pairs > 2 && s.piece == s.size / 4 && (s.size == 16 || s.size == 32 || s.size == 64);
}

/* Whether all that sums begin with stays in registers: few pairs, and inputs behind whole ones that one vector has. */
static inline LAM_LANES_ALWAYS int lam_lanes_pairs_kept(lam_lanes_group_pairs s)
{
    return LAM_LANES_AVX512 && s.pairs <= 2 && s.piece == s.size / 4 && (s.size == 16 || s.size == 32);
}

#if LAM_LANES_AVX512 || LAM_LANES_AVX2
/* The eight bytes at p in every two lanes. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_twice(const void *p)
{
    int64_t eight;
    (void)memcpy(&eight, p, sizeof eight);
#if LAM_LANES_AVX512
    return _mm512_set1_epi64(eight);
#else
    LAM_LANES_TWO(_mm256_set1_epi64x(eight)); /* one register: `i` is not asked */
#endif
}
#endif

#if LAM_LANES_AVX512

/* Which four of the inputs behind whole pairs lies in a lane; 15 where none does, which then is zero. */
static inline LAM_LANES_ALWAYS int lam_lanes_pair_four(lam_lanes_group_pairs s, int32_t lane)
{
    const int32_t step = lane / 2 - s.shared, half = step + lane % 2 * s.halves;
    if (step < 0) {
        return lane / 2 + lane % 2 * (s.size / 4);
    }
    return step < s.halves && (s.shared == 0 || half < s.size / 4 - s.shared) ? s.shared + half : 15;
}

/* The 128 of each of the first `left` of eight bytes. */
static inline LAM_LANES_ALWAYS long long lam_lanes_turn(int32_t left)
{
    const uint64_t all = 0x8080808080808080u;
    return (long long)(left >= 8 ? all : left <= 0 ? 0u : all >> (8 * (8 - left)));
}

/* Inputs behind whole pairs, as they lie in scratch: `left` ones from x on. */
static inline LAM_LANES_ALWAYS __m512i lam_lanes_pairs_rest(lam_lanes_group_pairs s, const uint8_t *x, int32_t left)
{
    const __m512i from = left % 4 > 0 ? _mm512_maskz_loadu_epi8(((uint64_t)1 << left) - 1u, x) : lam_lanes_load(x, left / 4);
    const __m512i turn = _mm512_setr_epi64(lam_lanes_turn(left), lam_lanes_turn(left - 8), lam_lanes_turn(left - 16),
                                           lam_lanes_turn(left - 24), lam_lanes_turn(left - 32), lam_lanes_turn(left - 40),
                                           lam_lanes_turn(left - 48), lam_lanes_turn(left - 56));
    const __m512i order =
        _mm512_setr_epi32(lam_lanes_pair_four(s, 0), lam_lanes_pair_four(s, 1), lam_lanes_pair_four(s, 2), lam_lanes_pair_four(s, 3),
                          lam_lanes_pair_four(s, 4), lam_lanes_pair_four(s, 5), lam_lanes_pair_four(s, 6), lam_lanes_pair_four(s, 7),
                          lam_lanes_pair_four(s, 8), lam_lanes_pair_four(s, 9), lam_lanes_pair_four(s, 10), lam_lanes_pair_four(s, 11),
                          lam_lanes_pair_four(s, 12), lam_lanes_pair_four(s, 13), lam_lanes_pair_four(s, 14), lam_lanes_pair_four(s, 15));
    return _mm512_permutexvar_epi32(order, s.flip ? _mm512_xor_si512(from, turn) : from);
}

/* -8 times the sums of a pair's inputs, in every two lanes: of `steps` fours from x on, which `all` has if there are 8. */
static inline LAM_LANES_ALWAYS __m512i lam_lanes_pair_begin(const uint8_t *x, int32_t steps, __m512i all)
{
    const __m512i times = _mm512_set1_epi8(-8);
    __m512i sums = _mm512_setzero_si512();
    if (steps == 8) {
        sums = _mm512_dpbusd_epi32(sums, all, times);
        sums = _mm512_add_epi32(sums, _mm512_shuffle_i64x2(sums, sums, 0x4E));
        sums = _mm512_add_epi32(sums, _mm512_shuffle_i64x2(sums, sums, 0xB1));
        return _mm512_add_epi32(sums, _mm512_shuffle_epi32(sums, 0x4E));
    }
    LAM_LANES_UNROLL
    for (int32_t k = 0; k < 8; k++) {
        sums = k < steps ? _mm512_dpbusd_epi32(sums, lam_lanes_twice(x + 8 * k), times) : sums;
    }
    return sums;
}

/* What comes before the sums: inputs in pairs, and what the sums of each pair begin with. */
static inline LAM_LANES_ALWAYS void lam_lanes_pairs_keep(lam_lanes_group_pairs s, const uint8_t *x, uint8_t *to, __m512i *begins)
{
    const int32_t whole = 2 * s.pairs * s.size, lanes = s.pairs * s.size / 2;
    __m512i fours[2], rest = _mm512_setzero_si512();
    for (int32_t i = 0; i < lanes; i += 16) {
        fours[i / 16] = lam_lanes_pairs_vector(s, x + 4 * i, lanes < 16 ? lanes : 16);
        lam_lanes_store(to + 4 * i, fours[i / 16], lanes < 16 ? lanes : 16);
    }
    if (s.shared > 0 || s.halves > 0) {
        rest = lam_lanes_pairs_rest(s, x + whole, s.inputs - whole);
        lam_lanes_store(to + whole, rest, 16);
    }
    lam_order(); /* what was stored is read as it lies: a vector's parts take more instructions */
    for (int32_t p = 0; p < s.pairs; p++) {
        begins[p] = lam_lanes_pair_begin(to + 2 * s.size * p, s.size / 4, fours[s.size == 32 ? p : 0]);
    }
    if (s.shared > 0) {
        begins[s.pairs] = lam_lanes_pair_begin(to + whole, s.shared, rest);
    }
    if (s.halves > 0) {
        begins[s.pairs + (s.shared > 0)] = lam_lanes_pair_begin(to + whole + 8 * s.shared, s.halves, rest);
    }
}

#endif

/* What comes before the sums: inputs and their sums, of pairs. */
static inline LAM_LANES_ALWAYS void lam_lanes_pairs_begin(lam_lanes_group_pairs s, const uint8_t *x, lam_lanes_paired layer)
{
    const int32_t whole = 2 * s.pairs * s.size, half = 4 * s.halves, count = lam_lanes_pairs_count(s);
    uint8_t *to = layer.x + whole;
    int32_t *sums = layer.sums;
    lam_lanes_pairs_put(s, layer.x, x);
    int32_t left = s.inputs - whole;
    const uint8_t *from = x + whole;
    if (s.shared > 0) {
        const int32_t first = 4 * s.shared < s.size ? 4 * s.shared : s.size;
        lam_lanes_pair_put(to, from, first, from + s.size, left - s.size, s.shared, s.flip);
        to += 8 * s.shared;
        from += first;
        left = s.size - first;
    }
    if (s.halves > 0) {
        const int32_t first = half < left ? half : left;
        lam_lanes_pair_put(to, from, first, from + first, left - first, s.halves, s.flip);
    }
    lam_order(); /* what was stored is read as it lies: a vector's parts take more instructions */
    to = layer.x;
    int32_t done = 0;
#if LAM_LANES_AVX512
    if (lam_lanes_pairs_by_size(s)) {
        lam_lanes_sums_by_size(x, whole, 2 * s.pairs, s.size, -8, s.flip ? 0 : -128, sums);
        done = s.pairs;
        sums += 2 * done;
        to += whole;
    }
#endif
    for (int32_t p = done; p < count; p++) {
        const int32_t steps = lam_lanes_pair_steps(s, p);
        for (int32_t k = 0; k < steps; k += s.piece, sums += 2) {
            const int32_t piece = steps - k < s.piece ? steps - k : s.piece;
            lam_lanes_pair_sums(sums, to, piece);
            to += 8 * piece;
        }
    }
    lam_order();
}

/* What lies where of a pair. */
typedef struct lam_lanes_pair_at {
    const uint8_t *x, *w;
    const int32_t *sums;
    const lam_lanes_v *begin; /* in place of sums, or NULL */
    const int16_t *own;
    const int8_t *less;
} lam_lanes_pair_at;

/* So many fours further on, whose sums begin anew. */
static inline LAM_LANES_ALWAYS lam_lanes_pair_at lam_lanes_pair_next(lam_lanes_pair_at from, int32_t row, int32_t steps)
{
    from.x += 8 * steps;
    from.w += row * steps;
    from.sums += 2;
    from.begin = from.begin != NULL ? from.begin + 1 : NULL;
    return from;
}

/* The next pair's own. */
static inline LAM_LANES_ALWAYS lam_lanes_pair_at lam_lanes_pair_behind(lam_lanes_pair_at from, int32_t width)
{
    from.own += 2 * width;
    from.less = from.less != NULL ? from.less + 2 * width : NULL;
    return from;
}

#if LAM_LANES_AVX512 || LAM_LANES_AVX2

/* Sixteen lanes of two halves each: of neighbouring lanes of a and b, two and two in turns.  They fit 16 bits. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_halves(lam_lanes_v a, lam_lanes_v b)
{
#if LAM_LANES_AVX512
    return _mm512_packs_epi32(a, b);
#else
    LAM_LANES_TWO(_mm256_packs_epi32(a.h[i], b.h[i]));
#endif
}

static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_minus(lam_lanes_v a, lam_lanes_v b)
{
#if LAM_LANES_AVX512
    return _mm512_sub_epi32(a, b);
#else
    LAM_LANES_TWO(_mm256_sub_epi32(a.h[i], b.h[i]));
#endif
}

/* Lanes shifted to the right. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_down(lam_lanes_v v, int bits)
{
#if LAM_LANES_AVX512
    return _mm512_srai_epi32(v, (unsigned)bits);
#else
    LAM_LANES_TWO(_mm256_srai_epi32(v.h[i], bits));
#endif
}

/* acc + x0 * w0 + .. + x3 * w3 in every lane, x unsigned bytes and w the lower halves of the bytes of `count` lanes at that place. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_dot_lower(lam_lanes_v acc, lam_lanes_v x, const uint8_t *w, int32_t count)
{
    const lam_lanes_v lower = lam_lanes_low_bits(lam_lanes_load(w, count));
#if LAM_LANES_AVX512 || LAM_LANES_AVX_VNNI
    return lam_lanes_dot(acc, x, lower);
#else
    const __m256i ones = _mm256_set1_epi16(1); /* sums of two products fit 16 bits */
    LAM_LANES_TWO(_mm256_add_epi32(acc.h[i], _mm256_madd_epi16(_mm256_maddubs_epi16(x.h[i], lower.h[i]), ones)));
#endif
}

/* To `total` halves of lanes by those of `count` lanes at p. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_add_halves(lam_lanes_v total, lam_lanes_v halves, const int16_t *p,
                                                                int32_t count)
{
#if LAM_LANES_AVX512 && !defined(__clang__)
    if (count == 16) {
        typedef struct lam_lanes_line {
            uint8_t byte[64];
        } lam_lanes_line;
        __asm__("vpdpwssd\t{%2, %1, %0|%0, %1, %2}"
                : "+v"(total)
                : "v"(halves), "m"(*(const lam_lanes_line *)(const void *)p));
        return total;
    }
#endif
    return lam_lanes_add_scaled(total, halves, lam_lanes_load(p, count), 1);
}

/* Halves of lanes of what zero points are times `factors`, which fits 16 bits: of `count` lanes' bytes at p. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_zero_halves(const int8_t *p, const int16_t *factors, int32_t count)
{
#if LAM_LANES_AVX512
    const __m256i less = count == 16 ? _mm256_loadu_si256((const __m256i *)(const void *)p)
                                     : _mm256_maskz_loadu_epi16(lam_lanes_mask(count), p);
    return _mm512_mullo_epi16(_mm512_cvtepi8_epi16(less), lam_lanes_load(factors, count));
#else
    const lam_lanes_v factor = lam_lanes_load(factors, count);
    int8_t copy[32] = {0};
    (void)memcpy(copy, p, 2u * (size_t)count);
    LAM_LANES_TWO(_mm256_mullo_epi16(
        _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(copy + 16 * i))), factor.h[i]));
#endif
}

/* Lanes of weights to read of a vector of a row with so many used ones: all, where `behind` bytes of rows follow. */
static inline LAM_LANES_ALWAYS int32_t lam_lanes_pair_read(int32_t used, int32_t behind)
{
    return 4 * (16 - used) <= behind ? 16 : used;
}

/* Sums of `steps` fours of a pair of groups as halves of lanes; the first output's begin with `first`, the second one's with
 * what makes `second` of it. */
static inline LAM_LANES_ALWAYS void lam_lanes_pair_halves(lam_lanes_v *found, int32_t vectors, int32_t last, lam_lanes_pair_at from,
                                                          int32_t row, int32_t steps, lam_lanes_v first, lam_lanes_v second)
{
    lam_lanes_v both[LAM_LANES_GROUPS_VECTORS];
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        both[v] = second;
        found[v] = first;
    }
    for (int32_t k = 0; k < steps; k += 8) {
        LAM_LANES_UNROLL
        for (int32_t i = 0; i < 8; i++) {
            if (k + i < steps) {
                const lam_lanes_v x = lam_lanes_twice(from.x + 8 * (k + i));
                LAM_LANES_UNROLL
                for (int32_t v = 0; v < vectors; v++) {
                    const uint8_t *const w = from.w + row * (k + i) + 64 * v;
                    const int32_t used = v + 1 < vectors ? 16 : lam_lanes_pair_lanes(last);
                    const int32_t count = lam_lanes_pair_read(used, steps % 8 == 0 ? row * (7 - i) : 0);
                    both[v] = lam_lanes_dot_from(both[v], x, w, count);
                    found[v] = lam_lanes_dot_lower(found[v], x, w, count);
                }
            }
        }
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        found[v] = lam_lanes_halves(found[v], lam_lanes_down(lam_lanes_minus(both[v], found[v]), 4));
    }
}

#if LAM_LANES_AVX512
/* v, in a register of its own: gcc moves sums of several products from one to the next. */
static inline LAM_LANES_ALWAYS lam_lanes_v lam_lanes_own(lam_lanes_v v)
{
    __asm__("" : "+v"(v));
    return v;
}

/* The same of at most eight fours, which stay in registers.  Sums of upper halves come first: what they are taken from sums
 * whole bytes and is left with the lower ones', and only the upper ones' need a register to begin with. */
static inline LAM_LANES_ALWAYS void lam_lanes_pair_eight(lam_lanes_v *found, int32_t vectors, int32_t last, lam_lanes_pair_at from,
                                                         int32_t row, int32_t steps, lam_lanes_v upper, lam_lanes_v second)
{
    lam_lanes_v x[8], above[LAM_LANES_GROUPS_VECTORS];
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        above[v] = lam_lanes_own(upper);
    }
    LAM_LANES_UNROLL
    for (int32_t k = 0; k < 8; k++) {
        if (k < steps) {
            x[k] = lam_lanes_twice(from.x + 8 * k);
            LAM_LANES_UNROLL
            for (int32_t v = 0; v < vectors; v++) {
                const int32_t used = v + 1 < vectors ? 16 : lam_lanes_pair_lanes(last);
                const lam_lanes_v w =
                    lam_lanes_load(from.w + row * k + 64 * v, lam_lanes_pair_read(used, row * (steps - 1 - k)));
                above[v] = lam_lanes_dot(above[v], x[k], _mm512_and_si512(w, _mm512_set1_epi8(-16)));
            }
        }
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        found[v] = lam_lanes_own(lam_lanes_minus(second, above[v]));
        above[v] = lam_lanes_own(lam_lanes_down(above[v], 4));
    }
    LAM_LANES_UNROLL
    for (int32_t k = 0; k < 8; k++) {
        if (k < steps) {
            LAM_LANES_UNROLL
            for (int32_t v = 0; v < vectors; v++) {
                const int32_t used = v + 1 < vectors ? 16 : lam_lanes_pair_lanes(last);
                const uint8_t *const w = from.w + row * k + 64 * v;
                found[v] = lam_lanes_dot_from(found[v], x[k], w, lam_lanes_pair_read(used, row * (steps - 1 - k)));
            }
        }
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        found[v] = lam_lanes_halves(found[v], above[v]);
    }
}
#endif

/* To `total` `steps` fours of a pair of groups, whose sums begin with `more` besides. */
static inline LAM_LANES_ALWAYS void lam_lanes_pair_piece(lam_lanes_group_pairs s, lam_lanes_v *total, int32_t vectors, int32_t last,
                                                       lam_lanes_pair_at from, int32_t row, int32_t steps, int32_t more)
{
    const lam_lanes_v begin =
        lam_lanes_pairs_kept(s) ? *from.begin : lam_lanes_add(lam_lanes_twice(from.sums), lam_lanes_splat(more));
    const lam_lanes_v inputs = lam_lanes_down(begin, 3); /* below zero: what is taken off is added */
    const lam_lanes_v half = s.centred ? lam_lanes_halve(inputs) : lam_lanes_splat(0);
    const lam_lanes_v first = lam_lanes_minus(begin, half), second = lam_lanes_minus(first, lam_lanes_up(half, 4));
    lam_lanes_v sums[LAM_LANES_GROUPS_VECTORS];
#if LAM_LANES_AVX512
    if (steps <= 8) {
        lam_lanes_pair_eight(sums, vectors, last, from, row, steps, lam_lanes_minus(second, first), second);
    } else
#endif
    {
        lam_lanes_pair_halves(sums, vectors, last, from, row, steps, first, second);
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        total[v] = lam_lanes_add_halves(total[v], sums[v], from.own + 32 * v, v + 1 < vectors ? 16 : last);
    }
    if (s.centred) {
        const lam_lanes_v halves = lam_lanes_halves(half, half);
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < vectors; v++) {
            total[v] = lam_lanes_add_halves(total[v], halves, from.own + 32 * v, v + 1 < vectors ? 16 : last);
        }
    }
    if (s.apart) {
        const lam_lanes_v halves = lam_lanes_halves(inputs, inputs);
        LAM_LANES_UNROLL
        for (int32_t v = 0; v < vectors; v++) {
            const int32_t count = v + 1 < vectors ? 16 : last;
            const lam_lanes_v zeros = lam_lanes_zero_halves(from.less + 32 * v, from.own + 32 * v, count);
            total[v] = lam_lanes_add_scaled(total[v], halves, zeros, 1);
        }
    }
}

/* A pair of groups of `steps` fours; what comes behind it. */
static inline LAM_LANES_ALWAYS lam_lanes_pair_at lam_lanes_pair_one(lam_lanes_group_pairs s, lam_lanes_v *total, int32_t vectors,
                                                                    int32_t last, lam_lanes_pair_at from, int32_t width,
                                                                    int32_t steps, int32_t more)
{
    const int32_t row = 4 * lam_lanes_pair_lanes(width), rest = steps % s.piece;
    for (int32_t k = 0; k < steps / s.piece; k++) {
        lam_lanes_pair_piece(s, total, vectors, last, from, row, s.piece, more);
        from = lam_lanes_pair_next(from, row, s.piece);
    }
    if (rest > 0) {
        lam_lanes_pair_piece(s, total, vectors, last, from, row, rest, more);
        from = lam_lanes_pair_next(from, row, rest);
    }
    return lam_lanes_pair_behind(from, width);
}

/* `vectors` vectors of channels from `channel` on, of which the last has `last` lanes: w is their first weight, and
 * `width` the channels of their block, of which the first of them is `inside`. */
static inline LAM_LANES_ALWAYS void lam_lanes_pairs_part(lam_lanes_group_pairs s, int32_t vectors, int32_t last, const uint8_t *w,
                                                         int32_t width, int32_t inside, lam_lanes_paired layer, int32_t channel,
                                                         const lam_lanes_v *begins, void *y)
{
    const int32_t place = 2 * ((channel - inside) * lam_lanes_pairs_count(s) + inside);
    const int32_t more = lam_lanes_pairs_by_size(s) ? -8 * 128 * s.size : 0;
    lam_lanes_v total[LAM_LANES_GROUPS_VECTORS];
    lam_lanes_pair_at from;
    from.x = layer.x;
    from.w = w;
    from.sums = layer.sums;
    from.begin = begins;
    from.own = layer.group + place;
    from.less = s.apart ? layer.less + place : NULL;
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        total[v] = lam_lanes_load(layer.bias + channel + 16 * v, v + 1 < vectors ? 16 : last);
    }
    for (int32_t p = 0; p < s.pairs; p++) {
        from = lam_lanes_pair_one(s, total, vectors, last, from, width, s.size / 4, more);
    }
    if (s.shared > 0) {
        from = lam_lanes_pair_one(s, total, vectors, last, from, width, s.shared, 0);
    }
    if (s.halves > 0) {
        (void)lam_lanes_pair_one(s, total, vectors, last, from, width, s.halves, 0);
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const int32_t count = v + 1 < vectors ? 16 : last;
        const lam_lanes_rq rq = lam_lanes_factors_of(layer.factors, s.mode, s.per_channel, channel + 16 * v, count);
        total[v] = lam_lanes_rescale(total[v], &rq, s.mode, s.saturates);
    }
    LAM_LANES_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        lam_lanes_put(y, channel + 16 * v, total[v], v + 1 < vectors ? 16 : last, s.type);
    }
}

#else

/* One vector of channels, as above. */
static inline void lam_lanes_pairs_part(lam_lanes_group_pairs s, int32_t vectors, int32_t count, const uint8_t *w, int32_t width,
                                        int32_t inside, lam_lanes_paired layer, int32_t channel, const lam_lanes_v *begins,
                                        void *y)
{
    int32_t total[16] = {0};
    const int32_t place = 2 * ((channel - inside) * lam_lanes_pairs_count(s) + inside), row = 4 * lam_lanes_pair_lanes(width);
    const lam_lanes_rq rq = lam_lanes_factors_of(layer.factors, s.mode, s.per_channel, channel, count);
    LAM_UNUSED(vectors);
    for (int32_t i = 0; i < count; i++) {
        uint32_t sums = (uint32_t)layer.bias[channel + i];
        lam_lanes_pair_at from;
        from.x = layer.x;
        from.w = w + 16 * (i / 4) + 8 * (i % 2);
        from.sums = layer.sums;
        from.begin = begins;
        from.own = layer.group + place + 2 * i;
        from.less = s.apart ? layer.less + place + 2 * i : NULL;
        for (int32_t p = 0; p < lam_lanes_pairs_count(s); p++) {
            const int32_t steps = lam_lanes_pair_steps(s, p);
            for (int32_t k = 0; k < steps; k += s.piece) {
                const int32_t piece = steps - k < s.piece ? steps - k : s.piece;
                for (int32_t g = 0; g < 2; g++) {
                    int32_t sum = i % 4 < 2 ? from.sums[g] : 0;
                    for (int32_t j = 0; j < 4 * piece; j++) {
                        const int32_t byte = from.w[row * (j / 4) + 4 * g + j % 4];
                        sum += from.x[8 * (j / 4) + 4 * g + j % 4] * (i % 4 < 2 ? byte & 15 : ((byte >> 4) ^ 8) - 8);
                    }
                    sums += (uint32_t)(sum * from.own[g]);
                    sums += s.apart ? (uint32_t)(from.sums[g] / 8 * (from.less[g] * from.own[g])) : 0u;
                }
                from = lam_lanes_pair_next(from, row, piece);
            }
            from = lam_lanes_pair_behind(from, width);
        }
        total[i] = (int32_t)sums;
    }
    lam_lanes_put(y, channel, lam_lanes_rescale(lam_lanes_load(total, 16), &rq, s.mode, s.saturates), count, s.type);
}

#endif

/* A block of `width` channels from `first` on, some vectors at a time: half the registers have two. */
static inline LAM_LANES_ALWAYS void lam_lanes_pairs_block(lam_lanes_group_pairs s, int32_t width, lam_lanes_paired layer,
                                                          int32_t first, const lam_lanes_v *begins, void *y)
{
    const int32_t vectors = (width + 15) / 16, last = width - 16 * (vectors - 1);
    const int32_t many = LAM_LANES_AVX512 ? LAM_LANES_GROUPS_VECTORS : LAM_LANES_AVX2 ? 2 : 1, before = (vectors - 1) / many * many;
    const uint8_t *w = layer.weights;
    for (int32_t p = 0; p < lam_lanes_pairs_count(s); p++) {
        w += 4 * first * lam_lanes_pair_steps(s, p);
    }
    for (int32_t v = 0; v < before; v += many) {
        lam_lanes_pairs_part(s, many, 16, w + 64 * v, width, 16 * v, layer, first + 16 * v, begins, y);
    }
    lam_lanes_pairs_part(s, vectors - before, last, w + 64 * before, width, 16 * before, layer, first + 16 * before, begins, y);
}

/* All channels. */
static inline LAM_LANES_ALWAYS void lam_lanes_all_pairs(lam_lanes_group_pairs s, const uint8_t *x, lam_lanes_paired layer, void *y)
{
    const int32_t whole = s.channels / s.block * s.block;
    const lam_lanes_v *begins = NULL;
#if LAM_LANES_AVX512
    lam_lanes_v kept[4];
    if (lam_lanes_pairs_kept(s)) {
        lam_lanes_pairs_keep(s, x, layer.x, kept);
        begins = kept;
    } else
#endif
    {
        lam_lanes_pairs_begin(s, x, layer);
    }
    for (int32_t first = 0; first < whole; first += s.block) {
        lam_lanes_pairs_block(s, s.block, layer, first, begins, y);
    }
    if (whole < s.channels) {
        lam_lanes_pairs_block(s, s.channels - whole, layer, whole, begins, y);
    }
}

#endif /* LAM_LANES_GROUP_PAIRS_H */
