/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What a generated network says of itself at run time (NAME_info, in src/NAME_info.c).
 */
#ifndef LAM_INFO_H
#define LAM_INFO_H

#include "lam_base.h"

/* Texts are never null. */
typedef struct lam_info {
    const char *name;          /* the network's */
    const char *model;         /* the model's file or graph */
    const char *model_sha256;  /* of the model's file, hexadecimal */
    const char *model_version; /* what --model-version said; empty without */
    const char *tool_version;  /* of the generator */
    const char *target;        /* for which it was generated */
    const char *isa;           /* instruction-set level that its kernels were generated for */
    const char *compiled_isa;  /* instruction set that the compiler was given for them: LAM_COMPILED_ISA */
    const char *requant;       /* rounding of results */
    uint32_t arena_bytes;
    uint32_t weights_bytes;
    int32_t layers;
} lam_info;

/* The instruction set that this file is compiled for, as far as kernels ask: which of their forms are in. */
#if defined(__ARM_FEATURE_MVE)
#define LAM_COMPILED_ISA "mve"
#elif defined(__ARM_FEATURE_DSP)
#define LAM_COMPILED_ISA "dsp"
#elif defined(__ARM_ARCH_ISA_THUMB) && (__ARM_ARCH_ISA_THUMB == 1)
#define LAM_COMPILED_ISA "thumb1"
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512VNNI__)
#define LAM_COMPILED_ISA "avx512"
#elif defined(__AVX2__)
#define LAM_COMPILED_ISA "avx2"
#else
#define LAM_COMPILED_ISA "c"
#endif

#endif /* LAM_INFO_H */
