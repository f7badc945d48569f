/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Whether the compiler may use Helium, with floats, and what it calls its predicate.
 */
#ifndef LAM_MVE_H
#define LAM_MVE_H

#ifndef LAM_MVE
#if defined(__ARM_FEATURE_MVE) && defined(__ARMEL__) && defined(__GNUC__)
#if (__ARM_FEATURE_MVE & 2) != 0
#define LAM_MVE 1
#endif
#endif
#endif
#ifndef LAM_MVE
#define LAM_MVE 0
#endif

/* The predicate register by name.  clang has no name for it, and no code here in which it would keep one across. */
#if defined(__clang__)
#define LAM_MVE_PREDICATE "cc"
#else
#define LAM_MVE_PREDICATE "p0"
#endif

#endif /* LAM_MVE_H */
