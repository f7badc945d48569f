/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Two products at a time, as the DSP extension of Armv7E-M has them (Cortex-M4, M7, M33), each beside a portable twin.
 *
 * A word is a uint32_t of four bytes, the first in its lowest 8 bits; a pair is a uint32_t of two int16_t, the first in
 * its lower half.  A column holds what one output pixel reads, in groups of four values: the pair of the first and
 * third, then the pair of the second and fourth, which is how SXTB16 takes a word apart.  Two pixels lie side by side:
 * pair, pair of pixel A, pair, pair of pixel B.
 *
 * Sums are int32_t and wrap nowhere: the compiler has proved the bound of every partial sum.
 */
#ifndef LAM_ARMV7EM_H
#define LAM_ARMV7EM_H

#include "lam_base.h"

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) && defined(__ARM_ARCH) && (__ARM_ARCH >= 7)
#define LAM_ARMV7EM 1
#else
#define LAM_ARMV7EM 0
#endif

/* Whole blocks in assembly take every register but r7: not without optimisation, nor where LAM_NO_BLOCKS says that another
 * one is taken (-ffixed-r9).  Built for size, each is one function. */
#if LAM_ARMV7EM && defined(__OPTIMIZE__) && !defined(LAM_NO_BLOCKS)
#define LAM_BLOCKS 1
#else
#define LAM_BLOCKS 0
#endif
#if LAM_BLOCKS && LAM_SMALL
#define LAM_BLOCK static __attribute__((noinline, unused))
#else
#define LAM_BLOCK LAM_INLINE
#endif

/* Groups of a turn of the loops below, a power of two, and the steps of one. */
#if LAM_SMALL
#define LAM_TURN 2
#define LAM_TURN_OF(step) step step
#else
#define LAM_TURN 8
#define LAM_TURN_OF(step) step step step step step step step step
#endif

/* Behind a loop until `at` is something else: the compiler would keep a copy of it, made anew in each turn. */
#define LAM_PASSED(at) __asm__ volatile("" : "+r"(at))

/* `groups` groups, each `step` on `words` words from `from` on: whole turns, then what is left in fours, twos and ones. */
#define LAM_IN_TURNS(run, step, from, words) \
    do { \
        for (const uint32_t *const end = (from) + (words) * (groups & -LAM_TURN); (from) != end;) { \
            run(LAM_TURN_OF(step)); \
        } \
        LAM_PASSED(from); \
        if ((groups & 4 & (LAM_TURN - 1)) != 0) { \
            run(step step step step); \
        } \
        if ((groups & 2 & (LAM_TURN - 1)) != 0) { \
            run(step step); \
        } \
        if ((groups & 1) != 0) { \
            run(step); \
        } \
    } while (0)

/* The lower and the upper half of a pair. */
static inline int32_t lam_low(uint32_t pair)
{
    return (int16_t)(uint16_t)(pair & 0xFFFFu);
}

static inline int32_t lam_high(uint32_t pair)
{
    return (int16_t)(uint16_t)(pair >> 16);
}

/* The pair of two int16_t. */
static inline uint32_t lam_pair(int32_t low, int32_t high)
{
    return ((uint32_t)low & 0xFFFFu) | ((uint32_t)high << 16);
}

/* Bytes 0 and 2 of a word as a pair; lam_odd: bytes 1 and 3. */
static inline uint32_t lam_even_s8(uint32_t word)
{
#if LAM_ARMV7EM
    uint32_t pair;
    __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
    return pair;
#else
    return lam_pair((int8_t)(uint8_t)(word & 0xFFu), (int8_t)(uint8_t)((word >> 16) & 0xFFu));
#endif
}

static inline uint32_t lam_odd_s8(uint32_t word)
{
#if LAM_ARMV7EM
    uint32_t pair;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
    return pair;
#else
    return lam_even_s8(word >> 8);
#endif
}

static inline uint32_t lam_even_u8(uint32_t word)
{
    return word & 0x00FF00FFu;
}

static inline uint32_t lam_odd_u8(uint32_t word)
{
    return (word >> 8) & 0x00FF00FFu;
}

/* acc + low(a) * low(b) + high(a) * high(b). */
static inline int32_t lam_both(uint32_t a, uint32_t b, int32_t acc)
{
#if LAM_ARMV7EM
    int32_t sum;
    __asm__("smlad %0, %1, %2, %3" : "=r"(sum) : "r"(a), "r"(b), "r"(acc));
    return sum;
#else
    return acc + lam_low(a) * lam_low(b) + lam_high(a) * lam_high(b);
#endif
}

/* Four bytes as a word; `from` need not be aligned. */
static inline uint32_t lam_word(const void *from)
{
#if LAM_ARMV7EM
    uint32_t word;
    (void)memcpy(&word, from, sizeof word);
    return word;
#else
    const uint8_t *byte = (const uint8_t *)from;
    return (uint32_t)byte[0] | ((uint32_t)byte[1] << 8) | ((uint32_t)byte[2] << 16) | ((uint32_t)byte[3] << 24);
#endif
}

/* The last 1 to 3 bytes of a run as a word, zeros above. */
static inline uint32_t lam_last_word(const void *from, int32_t bytes)
{
    const uint8_t *byte = (const uint8_t *)from;
    uint32_t word = byte[0];
    word |= (bytes > 1) ? (uint32_t)byte[1] << 8 : 0u;
    word |= (bytes > 2) ? (uint32_t)byte[2] << 16 : 0u;
    return word;
}

/* `bytes` (1 to 4) bytes as a word, zeros above. */
static inline uint32_t lam_some_word(const void *from, int32_t bytes)
{
    return (bytes == 4) ? lam_word(from) : lam_last_word(from, bytes);
}

/* A word as the two pairs of a column's group. */
static inline void lam_put_s8(uint32_t *to, uint32_t word)
{
    to[0] = lam_even_s8(word);
    to[1] = lam_odd_s8(word);
}

static inline void lam_put_u8(uint32_t *to, uint32_t word)
{
    to[0] = lam_even_u8(word);
    to[1] = lam_odd_u8(word);
}

/* Widen `bytes` int8_t (uint8_t) into a column whose groups lie `step` pairs apart; returns the place behind them. */
LAM_INLINE uint32_t *lam_widen_s8(uint32_t *to, const void *from, int32_t bytes, int32_t step)
{
    const uint8_t *byte = (const uint8_t *)from;
    for (const uint8_t *const end = byte + (bytes & ~15); byte != end; byte += 16, to += 4 * step) {
        lam_put_s8(to, lam_word(byte));
        lam_put_s8(to + step, lam_word(byte + 4));
        lam_put_s8(to + 2 * step, lam_word(byte + 8));
        lam_put_s8(to + 3 * step, lam_word(byte + 12));
    }
    if ((bytes & 8) != 0) {
        lam_put_s8(to, lam_word(byte));
        lam_put_s8(to + step, lam_word(byte + 4));
        byte += 8;
        to += 2 * step;
    }
    if ((bytes & 4) != 0) {
        lam_put_s8(to, lam_word(byte));
        byte += 4;
        to += step;
    }
    if ((bytes & 3) != 0) {
        lam_put_s8(to, lam_last_word(byte, bytes & 3));
        to += step;
    }
    return to;
}

LAM_INLINE uint32_t *lam_widen_u8(uint32_t *to, const void *from, int32_t bytes, int32_t step)
{
    const uint8_t *byte = (const uint8_t *)from;
    for (const uint8_t *const end = byte + (bytes & ~15); byte != end; byte += 16, to += 4 * step) {
        lam_put_u8(to, lam_word(byte));
        lam_put_u8(to + step, lam_word(byte + 4));
        lam_put_u8(to + 2 * step, lam_word(byte + 8));
        lam_put_u8(to + 3 * step, lam_word(byte + 12));
    }
    if ((bytes & 8) != 0) {
        lam_put_u8(to, lam_word(byte));
        lam_put_u8(to + step, lam_word(byte + 4));
        byte += 8;
        to += 2 * step;
    }
    if ((bytes & 4) != 0) {
        lam_put_u8(to, lam_word(byte));
        byte += 4;
        to += step;
    }
    if ((bytes & 3) != 0) {
        lam_put_u8(to, lam_last_word(byte, bytes & 3));
        to += step;
    }
    return to;
}

/* The sum of all values of a column whose groups lie `step` pairs apart. */
LAM_INLINE int32_t lam_column_sum(const uint32_t *x, int32_t groups, int32_t step)
{
    int32_t sum = 0;
    for (const uint32_t *const end = x + groups * step; x != end; x += step) {
        sum = lam_both(x[0], 0x00010001u, sum);
        sum = lam_both(x[1], 0x00010001u, sum);
    }
    return sum;
}

/* `groups` groups, each `step` on 13 registers that are named here: left to choose, the compiler finds no place for so many
 * where few more are in use.  r7, the frame pointer where there is one, is not among them, and what lives from turn to turn is
 * in registers that a call keeps, should the build put one there.  The steps may change r0 to r4, r12, lr (and r8); they
 * read and advance the pointers [x] and [w] and add to the sums [a0] to [a3] (or [a2]). */
#if LAM_BLOCKS
#define LAM_FOUR_SUMS_ASM(steps) \
    __asm__ volatile(steps \
                     : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3), [x] "+r"(x_), [w] "+r"(w_) \
                     : \
                     : "r0", "r1", "r2", "r3", "r4", "r12", "lr", "memory")
#define LAM_FOUR_SUMS(step, words) \
    do { \
        register int32_t a0 __asm__("r8") = acc[0]; \
        register int32_t a1 __asm__("r9") = acc[1]; \
        register int32_t a2 __asm__("r10") = acc[2]; \
        register int32_t a3 __asm__("r11") = acc[3]; \
        register const uint32_t *x_ __asm__("r5") = x; \
        register const uint32_t *w_ __asm__("r6") = w; \
        LAM_IN_TURNS(LAM_FOUR_SUMS_ASM, step, w_, words); \
        acc[0] = a0; \
        acc[1] = a1; \
        acc[2] = a2; \
        acc[3] = a3; \
        w = w_; \
    } while (0)
#define LAM_THREE_SUMS_ASM(steps) \
    __asm__ volatile(steps \
                     : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [x] "+r"(x_), [w] "+r"(w_) \
                     : \
                     : "r0", "r1", "r2", "r3", "r4", "r8", "r12", "lr", "memory")
#define LAM_THREE_SUMS(step, words) \
    do { \
        register int32_t a0 __asm__("r9") = acc[0]; \
        register int32_t a1 __asm__("r10") = acc[1]; \
        register int32_t a2 __asm__("r11") = acc[2]; \
        register const uint32_t *x_ __asm__("r5") = x; \
        register const uint32_t *w_ __asm__("r6") = w; \
        LAM_IN_TURNS(LAM_THREE_SUMS_ASM, step, w_, words); \
        acc[0] = a0; \
        acc[1] = a1; \
        acc[2] = a2; \
    } while (0)
#endif

/* `groups` groups of two pixels (side by side in the column x) times two channels (words of the first and the second in
 * turn in w), added to acc: [0] channel 0 pixel A, [1] channel 0 pixel B, [2] and [3] channel 1.  14 instructions a group
 * of 16 products. */
#if LAM_BLOCKS
#define LAM_2X2 \
    "ldrd r12, lr, [%[w]], #8\n\t" \
    "ldmia %[x]!, {r0, r1, r2, r3}\n\t" \
    "sxtb16 r4, r12\n\t" \
    "sxtb16 r12, r12, ror #8\n\t" \
    "smlad %[a0], r4, r0, %[a0]\n\t" \
    "smlad %[a1], r4, r2, %[a1]\n\t" \
    "sxtb16 r4, lr\n\t" \
    "smlad %[a0], r12, r1, %[a0]\n\t" \
    "smlad %[a1], r12, r3, %[a1]\n\t" \
    "sxtb16 lr, lr, ror #8\n\t" \
    "smlad %[a2], r4, r0, %[a2]\n\t" \
    "smlad %[a3], r4, r2, %[a3]\n\t" \
    "smlad %[a2], lr, r1, %[a2]\n\t" \
    "smlad %[a3], lr, r3, %[a3]\n\t"
#endif

LAM_BLOCK const uint32_t *lam_dot_2x2(int32_t acc[4], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_FOUR_SUMS(LAM_2X2, 2);
#else
    for (int32_t i = 0; i < groups; i++, x += 4, w += 2) {
        for (int32_t j = 0; j < 4; j++) {
            const uint32_t *const pixel = x + 2 * (j & 1);
            acc[j] = lam_both(lam_even_s8(w[j >> 1]), pixel[0], acc[j]);
            acc[j] = lam_both(lam_odd_s8(w[j >> 1]), pixel[1], acc[j]);
        }
    }
#endif
    return w;
}

/* The same for pixel A alone, in acc[0] and acc[1] (channel 0 and 1): 10 instructions a group of 8 products. */
#if LAM_BLOCKS
#define LAM_1X2 \
    "ldrd %[w0], %[w1], [%[w]], #8\n\t" \
    "ldrd %[x0], %[x1], [%[x]], #16\n\t" \
    "sxtb16 %[t], %[w0]\n\t" \
    "sxtb16 %[w0], %[w0], ror #8\n\t" \
    "smlad %[a0], %[t], %[x0], %[a0]\n\t" \
    "sxtb16 %[t], %[w1]\n\t" \
    "smlad %[a0], %[w0], %[x1], %[a0]\n\t" \
    "sxtb16 %[w1], %[w1], ror #8\n\t" \
    "smlad %[a1], %[t], %[x0], %[a1]\n\t" \
    "smlad %[a1], %[w1], %[x1], %[a1]\n\t"
#define LAM_1X2_ASM(steps) \
    do { \
        uint32_t w0, w1, x0, x1, t; \
        __asm__ volatile(steps \
                         : [a0] "+r"(acc[0]), [a1] "+r"(acc[1]), [x] "+r"(x), [w] "+r"(w), [w0] "=&r"(w0), \
                           [w1] "=&r"(w1), [x0] "=&r"(x0), [x1] "=&r"(x1), [t] "=&r"(t) \
                         : \
                         : "memory"); \
    } while (0)
#endif

LAM_BLOCK const uint32_t *lam_dot_1x2(int32_t acc[2], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_IN_TURNS(LAM_1X2_ASM, LAM_1X2, w, 2);
#else
    for (int32_t i = 0; i < groups; i++, x += 4, w += 2) {
        for (int32_t j = 0; j < 2; j++) {
            acc[j] = lam_both(lam_even_s8(w[j]), x[0], acc[j]);
            acc[j] = lam_both(lam_odd_s8(w[j]), x[1], acc[j]);
        }
    }
#endif
    return w;
}

/* Three pixels, whose groups lie side by side in the column, times one channel of a pair (every other word from w on):
 * 10 instructions a group of 12 products. */
#if LAM_BLOCKS
#define LAM_3X1 \
    "ldr r4, [%[w]], #8\n\t" \
    "ldmia %[x]!, {r0, r1, r2, r3, r12, lr}\n\t" \
    "sxtb16 r8, r4\n\t" \
    "sxtb16 r4, r4, ror #8\n\t" \
    "smlad %[a0], r8, r0, %[a0]\n\t" \
    "smlad %[a1], r8, r2, %[a1]\n\t" \
    "smlad %[a2], r8, r12, %[a2]\n\t" \
    "smlad %[a0], r4, r1, %[a0]\n\t" \
    "smlad %[a1], r4, r3, %[a1]\n\t" \
    "smlad %[a2], r4, lr, %[a2]\n\t"
#endif

LAM_BLOCK void lam_dot_3x1(int32_t acc[3], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_THREE_SUMS(LAM_3X1, 2);
#else
    for (int32_t i = 0; i < groups; i++, x += 6, w += 2) {
        for (int32_t j = 0; j < 3; j++) {
            acc[j] = lam_both(lam_even_s8(w[0]), x[2 * j], acc[j]);
            acc[j] = lam_both(lam_odd_s8(w[0]), x[2 * j + 1], acc[j]);
        }
    }
#endif
}

/* One pixel, whose groups lie 2 pairs apart, times four channels (a word of each in turn): 18 instructions a group of 16. */
#if LAM_BLOCKS
#define LAM_1X4 \
    "ldrd r12, lr, [%[x]], #8\n\t" \
    "ldmia %[w]!, {r0, r1, r2, r3}\n\t" LAM_1X4_PRODUCTS
#define LAM_1X4_PRODUCTS \
    "sxtb16 r4, r0\n\t" \
    "sxtb16 r0, r0, ror #8\n\t" \
    "smlad %[a0], r4, r12, %[a0]\n\t" \
    "sxtb16 r4, r1\n\t" \
    "smlad %[a0], r0, lr, %[a0]\n\t" \
    "sxtb16 r1, r1, ror #8\n\t" \
    "smlad %[a1], r4, r12, %[a1]\n\t" \
    "sxtb16 r4, r2\n\t" \
    "smlad %[a1], r1, lr, %[a1]\n\t" \
    "sxtb16 r2, r2, ror #8\n\t" \
    "smlad %[a2], r4, r12, %[a2]\n\t" \
    "sxtb16 r4, r3\n\t" \
    "smlad %[a2], r2, lr, %[a2]\n\t" \
    "sxtb16 r3, r3, ror #8\n\t" \
    "smlad %[a3], r4, r12, %[a3]\n\t" \
    "smlad %[a3], r3, lr, %[a3]\n\t"
#endif

LAM_BLOCK const uint32_t *lam_dot_1x4(int32_t acc[4], const uint32_t *x, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    LAM_FOUR_SUMS(LAM_1X4, 4);
#else
    for (int32_t i = 0; i < groups; i++, x += 2, w += 4) {
        for (int32_t j = 0; j < 4; j++) {
            acc[j] = lam_both(lam_even_s8(w[j]), x[0], acc[j]);
            acc[j] = lam_both(lam_odd_s8(w[j]), x[1], acc[j]);
        }
    }
#endif
    return w;
}

/* The same on four inputs a group where they lie, `x` bytes: 20 instructions a group of 16, and no column. */
#if LAM_BLOCKS
#define LAM_1X4_OF(extend) \
    "ldr r12, [%[x]], #4\n\t" \
    "ldmia %[w]!, {r0, r1, r2, r3}\n\t" extend "16 lr, r12, ror #8\n\t" extend "16 r12, r12\n\t" LAM_1X4_PRODUCTS
#endif

LAM_BLOCK const uint32_t *lam_dot_1x4_s8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    const uint32_t *const x = LAM_VIEW(uint32_t, bytes);
    LAM_FOUR_SUMS(LAM_1X4_OF("sxtb"), 4);
#else
    const uint8_t *x = (const uint8_t *)bytes;
    for (int32_t i = 0; i < groups; i++, x += 4, w += 4) {
        for (int32_t j = 0; j < 4; j++) {
            acc[j] = lam_both(lam_even_s8(w[j]), lam_even_s8(lam_word(x)), acc[j]);
            acc[j] = lam_both(lam_odd_s8(w[j]), lam_odd_s8(lam_word(x)), acc[j]);
        }
    }
#endif
    return w;
}

LAM_BLOCK const uint32_t *lam_dot_1x4_u8(int32_t acc[4], const void *bytes, const uint32_t *w, int32_t groups)
{
#if LAM_BLOCKS
    const uint32_t *const x = LAM_VIEW(uint32_t, bytes);
    LAM_FOUR_SUMS(LAM_1X4_OF("uxtb"), 4);
#else
    const uint8_t *x = (const uint8_t *)bytes;
    for (int32_t i = 0; i < groups; i++, x += 4, w += 4) {
        for (int32_t j = 0; j < 4; j++) {
            acc[j] = lam_both(lam_even_s8(w[j]), lam_even_u8(lam_word(x)), acc[j]);
            acc[j] = lam_both(lam_odd_s8(w[j]), lam_odd_u8(lam_word(x)), acc[j]);
        }
    }
#endif
    return w;
}

#endif /* LAM_ARMV7EM_H */
