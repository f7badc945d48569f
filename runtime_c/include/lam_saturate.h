/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Saturation to the bounds of an 8-bit type: one instruction where the core has it (ARMv7-M and up), which compilers do
 * not find by themselves.  Both forms give the same values.  No state, no libc.
 */
#ifndef LAM_SATURATE_H
#define LAM_SATURATE_H

#include "lam_base.h"

#if defined(__ARM_FEATURE_SAT) && (defined(__GNUC__) || defined(__clang__)) && !defined(__aarch64__)
#define LAM_SATURATE_BY_INSTRUCTION 1
#endif

/* v limited to -128 .. 127. */
static inline int32_t lam_saturate_s8(int32_t v)
{
#if defined(LAM_SATURATE_BY_INSTRUCTION)
    int32_t limited;
    __asm__("ssat %0, #8, %1" : "=r"(limited) : "r"(v));
    return limited;
#else
    const int32_t raised = (v < -128) ? -128 : v;
    return (raised > 127) ? 127 : raised;
#endif
}

/* v limited to 0 .. 255. */
static inline int32_t lam_saturate_u8(int32_t v)
{
#if defined(LAM_SATURATE_BY_INSTRUCTION)
    int32_t limited;
    __asm__("usat %0, #8, %1" : "=r"(limited) : "r"(v));
    return limited;
#else
    const int32_t raised = (v < 0) ? 0 : v;
    return (raised > 255) ? 255 : raised;
#endif
}

#endif /* LAM_SATURATE_H */
