/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Checks a weight blob before a network reads it in place.  Twin of codegen/emit/blob.py, which states the layout.
 */
#ifndef LAM_BLOB_H
#define LAM_BLOB_H

#include "lam_base.h"
#include "lam_crc32.h"

#define LAM_BLOB_HEADER_BYTES 64
#define LAM_BLOB_VERSION 1

/* What a network was generated for. */
typedef struct lam_blob_expected {
    uint32_t size;      /* header and sections, bytes */
    char isa[17];       /* instruction-set level, zero padded */
    uint8_t model[16];  /* first bytes of the model's SHA-256 */
} lam_blob_expected;

/* A 32-bit number of the header, little-endian in every blob. */
static inline uint32_t lam_blob_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | ((uint32_t)p[1] << 8) | ((uint32_t)p[2] << 16) | ((uint32_t)p[3] << 24);
}

/* 1 on a little-endian machine, 2 on a big-endian one: the blob's byte-order mark. */
static inline uint8_t lam_blob_byte_order(void)
{
    const uint16_t probe = 1;
    uint8_t first;
    memcpy(&first, &probe, 1);
    return first == 1 ? 1 : 2;
}

/* LAM_OK, or the first thing that is wrong: each has its own status.
 *
 *   blob      as stored, `size` bytes, at a 16-byte boundary
 *   skip_crc  not 0: believe the contents (a CRC reads every byte)
 */
static inline lam_status lam_blob_check(const uint8_t *blob, size_t size, const lam_blob_expected *expected, int skip_crc)
{
    if (blob == NULL) {
        return LAM_ERROR_NULL;
    }
    if ((uintptr_t)blob % 16 != 0) {
        return LAM_ERROR_WEIGHTS_ALIGN;
    }
    if (size < LAM_BLOB_HEADER_BYTES) {
        return LAM_ERROR_WEIGHTS_SIZE;
    }
    if (blob[0] != 'L' || blob[1] != 'A' || blob[2] != 'M' || blob[3] != 'W') {
        return LAM_ERROR_WEIGHTS_MAGIC;
    }
    if (blob[4] != LAM_BLOB_VERSION) {
        return LAM_ERROR_WEIGHTS_VERSION;
    }
    if (blob[5] != lam_blob_byte_order()) {
        return LAM_ERROR_WEIGHTS_BYTE_ORDER;
    }
    for (size_t i = 0; i < 16; i++) {
        if (blob[8 + i] != (uint8_t)expected->isa[i]) {
            return LAM_ERROR_WEIGHTS_ISA;
        }
    }
    for (size_t i = 0; i < 16; i++) {
        if (blob[24 + i] != expected->model[i]) {
            return LAM_ERROR_WEIGHTS_MODEL;
        }
    }
    if (lam_blob_u32(blob + 40) != expected->size || size < expected->size) {
        return LAM_ERROR_WEIGHTS_SIZE;
    }
    if (!skip_crc && lam_crc32(0, blob + LAM_BLOB_HEADER_BYTES, expected->size - LAM_BLOB_HEADER_BYTES) != lam_blob_u32(blob + 44)) {
        return LAM_ERROR_WEIGHTS_CRC;
    }
    return LAM_OK;
}

#endif /* LAM_BLOB_H */
