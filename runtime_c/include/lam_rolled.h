/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Loops over weights of few bits that compilers make vectors of, where there are any.  No state, no code.
 */
#ifndef LAM_ROLLED_H
#define LAM_ROLLED_H

#include "lam_base.h"

/* LAM_ROLLED, before a loop of few turns, on processors with vectors: a compiler that writes each of them out has no loop
 * left to make vectors of.
 * lam_few, a weight of few bits: vectors multiply 16 bits at once; elsewhere those of a word need not be cut off. */
#if defined(__SSE2__) || defined(__ARM_NEON)
typedef int16_t lam_few;
#else
typedef int32_t lam_few;
#endif
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8 && (defined(__SSE2__) || defined(__ARM_NEON))
#define LAM_ROLLED _Pragma("GCC unroll 1")
#else
#define LAM_ROLLED
#endif

#endif /* LAM_ROLLED_H */
