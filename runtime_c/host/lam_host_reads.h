/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * NAME_read_weights and NAME_wait_weights as bad as their contract allows, for tests: a read copies nothing before it is waited for, or,
 * in an order of its own, when a later one is.  Until then its destination holds poison; where that was written to meanwhile, poison
 * stays, and the wait fails.  Included by the C here that drives a network.
 */
#ifndef LAM_HOST_READS_H
#define LAM_HOST_READS_H

#include "lam_base.h"
#include "lam_host_names.h"

/* What the context of a network points to: weights.bin, and how many reads may still go well (less than 0: any number). */
typedef struct lam_host_flash {
    const uint8_t *bytes;
    size_t size;
    int32_t reads_left;
} lam_host_flash;

#define LAM_HOST_POISON 0x5A
#define LAM_HOST_READS (BIG(_WEIGHTS_READS) + 1)

typedef struct lam_host_read {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes;
    int state; /* 0 free, 1 on its way, 2 complete, 3 disturbed */
} lam_host_read;

static lam_host_read lam_host_reads[LAM_HOST_READS];
static uint32_t lam_host_draw = 1;

/* Copies what a read asks for, when nobody has touched its destination. */
static void lam_host_complete(lam_host_read *read)
{
    int same = 1;
    for (uint32_t i = 0; i < read->bytes; i++) {
        same = same && read->to[i] == LAM_HOST_POISON;
    }
    if (same) {
        memcpy(read->to, read->from, read->bytes);
    }
    read->state = same ? 2 : 3;
}

int32_t NET(_read_weights)(void *context, uint32_t offset, void *to, uint32_t bytes)
{
    lam_host_flash *flash = (lam_host_flash *)context;
    int32_t ticket = 0;
    if (offset % 16 != 0 || (uintptr_t)to % 16 != 0) {
        return -1; /* drivers may count on it */
    }
    while (ticket < LAM_HOST_READS && lam_host_reads[ticket].state != 0) {
        ticket++;
    }
    if (ticket == LAM_HOST_READS || offset > flash->size || bytes > flash->size - offset || flash->reads_left == 0) {
        return -1;
    }
    if (flash->reads_left > 0) {
        flash->reads_left--;
    }
    lam_host_reads[ticket].to = (uint8_t *)to;
    lam_host_reads[ticket].from = flash->bytes + offset;
    lam_host_reads[ticket].bytes = bytes;
    lam_host_reads[ticket].state = 1;
    memset(to, LAM_HOST_POISON, bytes);
    return ticket;
}

int NET(_wait_weights)(void *context, int32_t ticket)
{
    lam_host_read *read = &lam_host_reads[ticket];
    int result;
    LAM_UNUSED(context);
    for (int32_t k = LAM_HOST_READS - 1; k >= 0; k--) { /* others first, as it happens */
        lam_host_draw = lam_host_draw * 1664525u + 1013904223u;
        if (k != ticket && lam_host_reads[k].state == 1 && (lam_host_draw >> 31) != 0) {
            lam_host_complete(&lam_host_reads[k]);
        }
    }
    if (read->state == 1) {
        lam_host_complete(read);
    }
    result = read->state == 2 ? 0 : 1;
    read->state = 0;
    return result;
}

#endif /* LAM_HOST_READS_H */
