/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What every other header here stands on: the ABI number, fixed-width types, the status codes of generated networks,
 * and the few things C99 leaves to the compiler.  No state, no code.
 *
 * Define before including, if needed:
 *   LAM_FREESTANDING   there is no <string.h>: memcpy, memmove and memset are declared here and supplied by the image
 *   LAM_ALIGNED(n)     for a compiler not known below
 */

/* Outside the guard, so that the headers of two versions meeting in one translation unit are noticed. */
#if defined(LAM_ABI) && (LAM_ABI != 2)
#error "lam_base.h: runtime headers of two different ABI numbers meet; generate both projects with one version"
#endif

#ifndef LAM_BASE_H
#define LAM_BASE_H

#include <stddef.h>
#include <stdint.h>

/* Raised whenever generated sources and these headers stop fitting together.  Generated sources check it:
 *     #if LAM_ABI != 2
 *     #error ...
 *     #endif
 */
#ifndef LAM_ABI
#define LAM_ABI 2
#endif

/* The only functions of the C library that generated code calls. */
#if defined(LAM_FREESTANDING)
#if defined(__cplusplus)
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t n_bytes);
void *memmove(void *to, const void *from, size_t n_bytes);
void *memset(void *to, int value, size_t n_bytes);
#if defined(__cplusplus)
}
#endif
#else
#include <string.h>
#endif

/* Constants that are no numbers. */
#if defined(__GNUC__)
#define LAM_INFINITY (__builtin_inff())
#define LAM_NAN (__builtin_nanf(""))
#else
#include <math.h>
#define LAM_INFINITY INFINITY
#define LAM_NAN NAN
#endif

/* What the functions of a generated network return.  A value keeps its meaning for good; new ones are added. */
typedef enum lam_status {
    LAM_OK = 0,
    LAM_ERROR_NULL = 1,          /* a required pointer is null */
    LAM_ERROR_NOT_READY = 2,     /* init has not succeeded on this instance */
    LAM_ERROR_ARENA_SIZE = 3,    /* the arena is smaller than NAME_ARENA_SIZE */
    LAM_ERROR_ARENA_ALIGN = 4,   /* the arena is not aligned to NAME_ARENA_ALIGN */
    LAM_ERROR_REGION_SIZE = 5,   /* another memory region of the plan is too small */
    LAM_ERROR_REGION_ALIGN = 6,  /* another memory region of the plan is not aligned */
    LAM_ERROR_WEIGHTS_MAGIC = 16,      /* not a weight blob */
    LAM_ERROR_WEIGHTS_VERSION = 17,    /* a blob of another format version */
    LAM_ERROR_WEIGHTS_BYTE_ORDER = 18, /* packed for the other byte order */
    LAM_ERROR_WEIGHTS_ISA = 19,        /* packed for another instruction-set level */
    LAM_ERROR_WEIGHTS_MODEL = 20,      /* no longer returned: packed from another model */
    LAM_ERROR_WEIGHTS_SIZE = 21,       /* truncated, or not of the size that the network has */
    LAM_ERROR_WEIGHTS_CRC = 22,        /* damaged behind its header */
    LAM_ERROR_WEIGHTS_ALIGN = 23,      /* not placed at a 16-byte boundary */
    LAM_NEED_MORE = 32, /* no error: a streamed input wants another row */
    LAM_DONE = 33,      /* no error: a streamed input is complete, the outputs are there */
    LAM_ERROR_WEIGHTS_STRUCTURE = 34,  /* packed for other code: another network, or other options */
    LAM_ERROR_WEIGHTS_INTERFACE = 35,  /* its inputs or outputs have another type, shape, scale or zero point */
    LAM_ERROR_WEIGHTS_HEADER = 36,     /* damaged in its header */
    LAM_ERROR_WEIGHTS_RESERVED = 37,   /* a byte that is kept for later versions is not zero */
    LAM_ERROR_ROW_OVERLAP = 38,        /* a row lies in the network's memory, and not where the next one is wanted */
    LAM_STOPPED = 39,   /* no error: NAME_hook asked for it; NAME_resume goes on */
    LAM_ERROR_WEIGHTS_READ = 40 /* NAME_read_weights or NAME_wait_weights failed */
} lam_status;

/* What the output of a layer is limited to, and the integer that stands for zero there. */
typedef struct lam_range {
    int32_t zero_point;
    int32_t low;
    int32_t high;
} lam_range;

/* LAM_UNUSED(x): x is not read here, and that is meant. */
#define LAM_UNUSED(x) ((void)(x))

/* LAM_ALIGNED(n): the object declared starts at a multiple of n bytes, n a power of two.
 *
 *     LAM_ALIGNED(16) static uint8_t arena[SIZE];       in front: every compiler below
 *     static uint8_t arena[SIZE] LAM_ALIGNED(16);       behind: all but MSVC
 *
 * IAR is version 8 or later, with language extensions on (its default), armcc is version 5 with --gnu or --c99.
 */
#ifndef LAM_ALIGNED
#if defined(__GNUC__) || defined(__clang__) || defined(__CC_ARM) || defined(__ARMCC_VERSION) || defined(__ICCARM__) \
    || defined(__ICCRISCV__) || defined(__TI_COMPILER_VERSION__)
#define LAM_ALIGNED(n) __attribute__((aligned(n)))
#elif defined(_MSC_VER)
#define LAM_ALIGNED(n) __declspec(align(n))
#elif defined(__cppcheck__)
#define LAM_ALIGNED(n)
#else
#error "lam_base.h: define LAM_ALIGNED(n) for this compiler"
#endif
#endif

/* LAM_STATIC_ASSERT(cond, name): refuses to compile unless cond holds.  At file scope, each name once. */
#define LAM_STATIC_ASSERT(cond, name) typedef char lam_static_assert_##name[(cond) ? 1 : -1]

/* The one place where bytes become typed objects: the caller vouches that `p` is aligned for `type`.
 *
 * C's rule of effective types does not foresee that an array of bytes is such memory.  What is stored there is read as what it
 * was stored as or as bytes, and each stretch has one type at a time, so that compilers need no -fno-strict-aliasing.
 *
 *     LAM_AT(type, p)      p, into memory that the network writes
 *     LAM_VIEW(type, p)    p, into constants
 */
#define LAM_AT(type, p) ((type *)(void *)(p))
#define LAM_VIEW(type, p) ((const type *)(const void *)(p))

/* LAM_SMALL is 1 where small code matters more than fast code: in a build for size, or as the generated file says. */
#ifndef LAM_SMALL
#if defined(__OPTIMIZE_SIZE__)
#define LAM_SMALL 1
#else
#define LAM_SMALL 0
#endif
#endif

/* LAM_APART: a function that its callers call: copied into them, compilers have been seen to spill what it holds in
 * registers. */
#if defined(__GNUC__)
#define LAM_APART static __attribute__((noinline))
#else
#define LAM_APART static
#endif

/* LAM_INLINE: a function that is worth its copies, unless code is to be small. */
#if defined(__GNUC__) && defined(__OPTIMIZE__) && !LAM_SMALL
#define LAM_INLINE static inline __attribute__((always_inline))
#else
#define LAM_INLINE static inline
#endif

/* Kernels for AVR (lam_avr.h) form every product in 32 bits; all others count on an int that has them. */
#if !defined(LAM_INT16)
LAM_STATIC_ASSERT(sizeof(int) >= 4, int_has_32_bits);
#endif

#endif /* LAM_BASE_H */
