/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Keeps instructions in the order they are written.  No state, no code.
 */
#ifndef LAM_ORDER_H
#define LAM_ORDER_H

#include "lam_base.h"

/* No load, store or product is moved over this; values in registers stay there.
 *
 * A compiler that hoists the products of several taps to hide their latency, or keeps what it loaded for a later tap, has
 * not enough registers for a block of sums, and spills them to the stack: 3.6 instructions per product where 2.6 do. */
static inline void lam_order(void)
{
#if defined(__GNUC__) || defined(__clang__)
    __asm__ volatile("" ::: "memory");
#endif
}

/* From here on lam_order may change what p points to: it is read from memory where it is used, and holds no registers in
 * the loops between.  A compiler that keeps it in registers through a loop spills what the loop itself needs. */
static inline void lam_keep_in_memory(void *p)
{
#if defined(__GNUC__) || defined(__clang__)
    __asm__ volatile("" : : "r"(p) : "memory");
#else
    LAM_UNUSED(p);
#endif
}

/* p, between stores to neighbouring bytes there: put together as a word they take more instructions than apart. */
static inline void *lam_split(void *p)
{
#if defined(__GNUC__) || defined(__clang__)
    __asm__ volatile("" : "+r"(p));
#endif
    return p;
}

/* p, of which no compiler knows any longer where it points: it is moved on where that is written, and no other pointer is
 * kept in its place, whose register a block's sums need. */
static inline const void *lam_placed(const void *p)
{
#if defined(__GNUC__) || defined(__clang__)
    __asm__ volatile("" : "+r"(p));
#endif
    return p;
}

#endif /* LAM_ORDER_H */
