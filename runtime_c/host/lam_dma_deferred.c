/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * A DMA as bad as the contract of lam_dma.h allows, for tests: nothing is copied before its wait, so a missing wait means missing
 * bytes.  From start to wait the destination holds poison.  When the source changed meanwhile, or the destination was
 * written to, the destination keeps poison, for a real DMA might have read or written at any moment between.
 *
 * With LAM_DMA_THREADS, threads may use it side by side (POSIX).
 */
#include "lam_dma.h"

#include <stdlib.h>

/* Transfers that were misused so far: disturbed, waited for twice, or never. */
int32_t lam_dma_faults(void);
/* Forgets transfers that nobody waited for. */
void lam_dma_forget(void);

#if defined(LAM_DMA_SYNC)
int32_t lam_dma_faults(void)
{
    return 0;
}

void lam_dma_forget(void)
{
}
#else

#define POISON 0x5A

typedef struct {
    lam_dma_copy copy;
    uint8_t *seen; /* the source when the transfer was started; NULL when the slot is free */
} transfer;

#define TRANSFERS 4096
static transfer transfers[TRANSFERS];
static int32_t lam_dma_faults_seen;

/* Only the table is shared: each transfer's bytes are those of the thread that started it. */
#if defined(LAM_DMA_THREADS)
#include <pthread.h>
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
    (void)pthread_mutex_lock(&table);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&table);
}
#else
static void lock(void)
{
}

static void unlock(void)
{
}
#endif

static void note_fault(void)
{
    lock();
    lam_dma_faults_seen++;
    unlock();
}

static void give_back(int32_t ticket)
{
    lock();
    free(transfers[ticket].seen);
    transfers[ticket].seen = NULL;
    unlock();
}

static void poison(const lam_dma_copy *copy)
{
    uint8_t *to = (uint8_t *)copy->to;
    for (uint32_t i = 0; i < copy->count; i++, to += copy->to_step) {
        memset(to, POISON, copy->bytes);
    }
}

static int is_poisoned(const lam_dma_copy *copy)
{
    const uint8_t *to = (const uint8_t *)copy->to;
    for (uint32_t i = 0; i < copy->count; i++, to += copy->to_step) {
        for (uint32_t k = 0; k < copy->bytes; k++) {
            if (to[k] != POISON) {
                return 0;
            }
        }
    }
    return 1;
}

int32_t lam_dma_start(const lam_dma_copy *copy)
{
    int32_t ticket = 0;
    const uint8_t *from = (const uint8_t *)copy->from;
    lock();
    while (ticket < TRANSFERS && transfers[ticket].seen != NULL) {
        ticket++;
    }
    if (ticket == TRANSFERS) {
        abort();
    }
    transfers[ticket].copy = *copy;
    transfers[ticket].seen = (uint8_t *)malloc((size_t)copy->bytes * copy->count + 1);
    if (transfers[ticket].seen == NULL) {
        abort();
    }
    unlock();
    for (uint32_t i = 0; i < copy->count; i++, from += copy->from_step) {
        memcpy(transfers[ticket].seen + (size_t)i * copy->bytes, from, copy->bytes);
    }
    poison(copy);
    return ticket;
}

void lam_dma_wait(int32_t ticket)
{
    transfer *t = ticket >= 0 && ticket < TRANSFERS ? &transfers[ticket] : NULL;
    const uint8_t *from;
    int same = 1;
    if (t == NULL || t->seen == NULL) {
        note_fault();
        return;
    }
    from = (const uint8_t *)t->copy.from;
    for (uint32_t i = 0; i < t->copy.count; i++, from += t->copy.from_step) {
        same = same && memcmp(t->seen + (size_t)i * t->copy.bytes, from, t->copy.bytes) == 0;
    }
    if (same && is_poisoned(&t->copy)) {
        lam_dma_copy_now(&t->copy);
    } else {
        poison(&t->copy);
        note_fault();
    }
    give_back(ticket);
}

int32_t lam_dma_faults(void)
{
    return lam_dma_faults_seen;
}

void lam_dma_forget(void)
{
    for (int32_t i = 0; i < TRANSFERS; i++) {
        if (transfers[i].seen != NULL) {
            give_back(i);
            note_fault();
        }
    }
}
#endif
