/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What networks for AVR stand on: an int of 16 bits, and parameters that stay in program memory.  Elsewhere the same C
 * compiles without either.
 */
#ifndef LAM_AVR_H
#define LAM_AVR_H

#define LAM_INT16 1

#include "lam_base.h"

/* LAM_FLASH: what it qualifies lies in program memory, the first 64 KB of it, and is read from there. */
#if defined(__AVR__) && defined(__STRICT_ANSI__) && !defined(__cplusplus)
#error "lam_avr.h: compile in a gnu mode (-std=gnu99), so that parameters can stay in program memory"
#elif defined(__AVR__) && !defined(__cplusplus)
#define LAM_FLASH __flash
#else
#define LAM_FLASH
#endif

#endif /* LAM_AVR_H */
