/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Copies and fills of bytes with Helium's predicates, for windows of convolutions; loops take 3 instructions per 16 bytes.
 */
#ifndef LAM_MVE_WINDOW_H
#define LAM_MVE_WINDOW_H

#include "lam_mve_requant.h"

/* n bytes from `from` to `to`, each with the bits of `flip` turned; 0 copies, 0x80 makes u8 values s8 ones.  No overlap.
 * Returns the end of what was written. */
static inline int8_t *lam_mve_copy(int8_t *to, const void *from, int32_t n, uint32_t flip)
{
#if LAM_MVE
    if (flip != 0) {
        __asm volatile(
            "vdup.8 q1, %[flip]\n"
            "wlstp.8 lr, %[n], 2f\n"
            "1:\n"
            "vldrb.8 q0, [%[from]], #16\n"
            "veor q0, q0, q1\n"
            "vstrb.8 q0, [%[to]], #16\n"
            "letp lr, 1b\n"
            "2:\n"
            : [to] "+&r"(to), [from] "+&r"(from)
            : [n] "r"(n), [flip] "r"(flip)
            : "lr", "q0", "q1", "memory");
    } else {
        __asm volatile(
            "wlstp.8 lr, %[n], 2f\n"
            "1:\n"
            "vldrb.8 q0, [%[from]], #16\n"
            "vstrb.8 q0, [%[to]], #16\n"
            "letp lr, 1b\n"
            "2:\n"
            : [to] "+&r"(to), [from] "+&r"(from)
            : [n] "r"(n)
            : "lr", "q0", "memory");
    }
    return to - ((-n) & 15);
#else
    const uint8_t *bytes = (const uint8_t *)from;
    for (int32_t i = 0; i < n; i++) {
        const uint32_t byte = bytes[i] ^ flip;
        to[i] = (int8_t)((int32_t)(byte ^ 0x80u) - 128);
    }
    return to + n;
#endif
}

/* n bytes from `from` to `to`, 1 to 16, a constant.  No overlap. */
static inline void lam_mve_copy_few(int8_t *to, const void *from, int32_t n)
{
#if LAM_MVE
    if (n == 8) {
        (void)memcpy(to, from, 8);
    } else if (n == 4) {
        (void)memcpy(to, from, 4);
    } else if (n == 2) {
        (void)memcpy(to, from, 2);
    } else {
        __asm volatile(
            "vctp.8 %[n]\n"
            "vpstt\n"
            "vldrbt.8 q0, [%[from]]\n"
            "vstrbt.8 q0, [%[to]]\n"
            :
            : [to] "r"(to), [from] "r"(from), [n] "r"(n)
            : "q0", LAM_MVE_PREDICATE, "memory");
    }
#else
    (void)lam_mve_copy(to, from, n, 0);
#endif
}

/* Windows of three rows of `bytes` bytes, of `count` pixels side by side, 1 or more: those of x0, x1 and x2 from each `step` bytes
 * on, one behind the other, each pixel's `next` bytes behind the one before, bytes + 16 at least.  All but the count are numerals.
 * What is behind a window's three rows is not kept; nothing is written beyond its `next` bytes.
 * lam_mve_three_rows_u8 makes u8 values s8 ones. */
#if LAM_MVE
#define LAM_MVE_THREE_ROWS(windows, x0, x1, x2, count, bytes, step, next, begin, turn) \
    do { \
        int8_t *to_ = (windows); \
        const void *a_ = (x0), *b_ = (x1), *c_ = (x2); \
        __asm volatile( \
            "vctp.8 %[width]\n" begin "dls lr, %[pixels]\n" \
            "1:\n" \
            "vpsttt\n" \
            "vldrbt.8 q0, [%[a]], #" #step "\n" \
            "vldrbt.8 q1, [%[b]], #" #step "\n" \
            "vldrbt.8 q2, [%[c]], #" #step "\n" turn "vstrb.8 q0, [%[to]]\n" \
            "vstrb.8 q1, [%[to], #" #bytes "]\n" \
            "vpst\n" \
            "vstrbt.8 q2, [%[to], #2 * " #bytes "]\n" \
            "add %[to], %[to], #" #next "\n" \
            "le lr, 1b\n" \
            : [to] "+&r"(to_), [a] "+&r"(a_), [b] "+&r"(b_), [c] "+&r"(c_) \
            : [width] "r"(bytes), [pixels] "r"(count) \
            : "lr", "q0", "q1", "q2", "q3", LAM_MVE_PREDICATE, "memory"); \
    } while (0)
#define lam_mve_three_rows(windows, x0, x1, x2, count, bytes, step, next) \
    LAM_MVE_THREE_ROWS(windows, x0, x1, x2, count, bytes, step, next, "", "")
#define lam_mve_three_rows_u8(windows, x0, x1, x2, count, bytes, step, next) \
    LAM_MVE_THREE_ROWS(windows, x0, x1, x2, count, bytes, step, next, "vmov.i8 q3, #128\n", \
                       "veor q0, q0, q3\nveor q1, q1, q3\nveor q2, q2, q3\n")
#else
static inline void lam_mve_three_rows_each(int8_t *to, const void *x0, const void *x1, const void *x2, int32_t count,
                                           int32_t bytes, int32_t step, int32_t next, uint32_t flip)
{
    const uint8_t *const rows[3] = {(const uint8_t *)x0, (const uint8_t *)x1, (const uint8_t *)x2};
    for (int32_t i = 0; i < count; i++, to += next) {
        for (int32_t row = 0; row < 3; row++) {
            (void)lam_mve_copy(to + row * bytes, rows[row] + i * step, bytes, flip);
        }
    }
}

#define lam_mve_three_rows(windows, x0, x1, x2, count, bytes, step, next) \
    lam_mve_three_rows_each(windows, x0, x1, x2, count, bytes, step, next, 0)
#define lam_mve_three_rows_u8(windows, x0, x1, x2, count, bytes, step, next) \
    lam_mve_three_rows_each(windows, x0, x1, x2, count, bytes, step, next, 0x80)
#endif

/* n bytes of `value` at `to`.  Returns the end of what was written. */
static inline int8_t *lam_mve_fill(int8_t *to, int32_t value, int32_t n)
{
#if LAM_MVE
    __asm volatile(
        "vdup.8 q0, %[value]\n"
        "wlstp.8 lr, %[n], 2f\n"
        "1:\n"
        "vstrb.8 q0, [%[to]], #16\n"
        "letp lr, 1b\n"
        "2:\n"
        : [to] "+&r"(to)
        : [n] "r"(n), [value] "r"(value)
        : "lr", "q0", "memory");
    return to - ((-n) & 15);
#else
    for (int32_t i = 0; i < n; i++) {
        to[i] = (int8_t)value;
    }
    return to + n;
#endif
}

#endif /* LAM_MVE_WINDOW_H */
