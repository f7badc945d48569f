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
#define LAM_BLOB_VERSION 2
#define LAM_BLOB_ID_BYTES 8

/* What a network was generated for.  Weights of any content fit that were packed for the same. */
typedef struct lam_blob_expected {
    uint32_t size;         /* header and sections, bytes */
    char isa[17];          /* instruction-set level, zero padded */
    uint8_t structure[12]; /* of all that the code assumes: layers, shapes, kernels, packing, offsets, requantization */
    uint8_t ports[4];      /* of the types, shapes, scales and zero points of inputs and outputs */
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
    (void)memcpy(&first, &probe, 1);
    return first == 1 ? 1 : 2;
}

/* Which weights these are: LAM_BLOB_ID_BYTES bytes, the begin of the SHA-256 of all behind the header. */
static inline const uint8_t *lam_blob_id(const uint8_t *blob)
{
    return blob + 48;
}

/* 1 when n_bytes bytes are zero. */
static inline int lam_blob_zeros(const uint8_t *bytes, size_t n_bytes)
{
    uint8_t any = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        any = (uint8_t)(any | bytes[i]);
    }
    return any == 0;
}

/* 1 when n_bytes bytes are the same. */
static inline int lam_blob_equal(const uint8_t *a, const uint8_t *b, size_t n_bytes)
{
    uint8_t differ = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        differ = (uint8_t)(differ | (a[i] ^ b[i]));
    }
    return differ == 0;
}

/* LAM_OK, or the first thing that is wrong: each has its own status.
 *
 *   blob      as stored, `size` bytes, at a 16-byte boundary
 *   skip_crc  not 0: believe what is behind the header (a CRC reads every byte)
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
    if (lam_crc32(0, blob, LAM_BLOB_HEADER_BYTES - 4) != lam_blob_u32(blob + LAM_BLOB_HEADER_BYTES - 4)) {
        return LAM_ERROR_WEIGHTS_HEADER;
    }
    if (!lam_blob_zeros(blob + 6, 2) || !lam_blob_zeros(blob + 56, 4)) {
        return LAM_ERROR_WEIGHTS_RESERVED;
    }
    if (blob[5] != lam_blob_byte_order()) {
        return LAM_ERROR_WEIGHTS_BYTE_ORDER;
    }
    if (!lam_blob_equal(blob + 8, (const uint8_t *)expected->isa, 16)) {
        return LAM_ERROR_WEIGHTS_ISA;
    }
    if (!lam_blob_equal(blob + 24, expected->structure, 12)) {
        return LAM_ERROR_WEIGHTS_STRUCTURE;
    }
    if (!lam_blob_equal(blob + 36, expected->ports, 4)) {
        return LAM_ERROR_WEIGHTS_INTERFACE;
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
