/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What compilers are told of weights of few bits: of loops that they make vectors of, where there are any, and of bytes.  No state,
 * no code.
 */
#ifndef LAM_ROLLED_H
#define LAM_ROLLED_H

#include "lam_base.h"

/* LAM_ROLLED, before a loop of few turns, on processors with vectors: a compiler that writes each of them out has no loop
 * left to make vectors of.  Turns are multiples of 16, with LAM_FOURS of 4, with LAM_UNEVEN any: x86 is best served where these
 * are written out.  With Helium four are: GCC writes sixteen out output by output, which takes more registers than there are.
 * lam_few, a weight of few bits: vectors multiply 16 bits at once; elsewhere those of a word need not be cut off. */
#if defined(__SSE2__) || defined(__ARM_NEON)
typedef int16_t lam_few;
#else
typedef int32_t lam_few;
#endif
#if !defined(__GNUC__) || defined(__clang__) || __GNUC__ < 8
#define LAM_ROLLED
#define LAM_FOURS
#define LAM_UNEVEN
#elif defined(__ARM_NEON)
#define LAM_ROLLED _Pragma("GCC unroll 1")
#define LAM_FOURS _Pragma("GCC unroll 1")
#define LAM_UNEVEN _Pragma("GCC unroll 1")
#elif defined(__SSE2__)
#define LAM_ROLLED _Pragma("GCC unroll 1")
#define LAM_FOURS
#define LAM_UNEVEN
#elif defined(__ARM_FEATURE_MVE)
#define LAM_ROLLED _Pragma("GCC unroll 4")
#define LAM_FOURS _Pragma("GCC unroll 4")
#define LAM_UNEVEN
#else
#define LAM_ROLLED
#define LAM_FOURS
#define LAM_UNEVEN
#endif

/* LAM_LOAD_AGAIN(): bytes that were stored as words are loaded from memory.  GCC takes each out of the register that a word is still
 * in, which is one instruction more or two. */
#if defined(__GNUC__)
#define LAM_LOAD_AGAIN() __asm__ volatile("" ::: "memory")
#else
#define LAM_LOAD_AGAIN() (void)0
#endif

#endif /* LAM_ROLLED_H */
