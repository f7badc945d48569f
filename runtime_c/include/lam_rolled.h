/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Keeps a loop a loop.  No state, no code.
 */
#ifndef LAM_ROLLED_H
#define LAM_ROLLED_H

#include "lam_base.h"

/* LAM_ROLLED, before a loop of few turns, on processors with vectors: a compiler that writes each of them out has no loop
 * left to make vectors of. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8 && (defined(__SSE2__) || defined(__ARM_NEON))
#define LAM_ROLLED _Pragma("GCC unroll 1")
#else
#define LAM_ROLLED
#endif

#endif /* LAM_ROLLED_H */
