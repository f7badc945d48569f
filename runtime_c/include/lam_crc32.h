/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * CRC-32 as zlib, PNG and Ethernet have it: for the weight blob and for the checksums of traced tensors.
 */
#ifndef LAM_CRC32_H
#define LAM_CRC32_H

#include "lam_base.h"

/* The CRC-32 of what `crc` already covers followed by n_bytes at data; equals Python's zlib.crc32(data, crc).
 *
 *   crc    0 to begin, or the result for the bytes before these
 *   data   may be null when n_bytes is 0
 *
 * Reflected polynomial 0xEDB88320, complemented at both ends.  Half a byte per step: 64 bytes of table, two look-ups
 * per byte.  The same on either byte order.  No state, no libc.
 */
static inline uint32_t lam_crc32(uint32_t crc, const void *data, size_t n_bytes)
{
    static const uint32_t table[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu,
        0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
        0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu,
        0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu
    };
    const uint8_t *bytes = (const uint8_t *)data;
    size_t i;

    crc = ~crc;
    for (i = 0; i < n_bytes; i++) {
        crc ^= (uint32_t)bytes[i];
        crc = (crc >> 4) ^ table[crc & 15u];
        crc = (crc >> 4) ^ table[crc & 15u];
    }
    return ~crc;
}

#endif /* LAM_CRC32_H */
