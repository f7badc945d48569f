/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The hooks by which a network moves bytes between global memory and the scratchpad.  The firmware defines lam_dma_start and
 * lam_dma_wait for its chip; with LAM_DMA_SYNC defined they are plain copies made at once, on any chip.
 *
 * A network starts a transfer, computes on other bytes, and waits for it before it touches the destination, or writes to the
 * source, again.  Transfers may be made in any order and side by side.  Each one is waited for once, by the core that started it.
 * A network for several cores calls the hooks from each of them, perhaps at one time: they guard what they share.
 */
#ifndef LAM_DMA_H
#define LAM_DMA_H

#include "lam_base.h"

/* `count` pieces of `bytes` bytes; piece i goes from `from + i * from_step` to `to + i * to_step`.  Pieces do not overlap. */
typedef struct lam_dma_copy {
    void *to;
    const void *from;
    uint32_t bytes;
    uint32_t count;
    uint32_t to_step;
    uint32_t from_step;
} lam_dma_copy;

/* The copy itself, by the processor: the fallback, and what a DMA has to do. */
static inline void lam_dma_copy_now(const lam_dma_copy *copy)
{
    uint8_t *to = (uint8_t *)copy->to;
    const uint8_t *from = (const uint8_t *)copy->from;
    for (uint32_t i = 0; i < copy->count; i++, to += copy->to_step, from += copy->from_step) {
        (void)memcpy(to, from, copy->bytes);
    }
}

#if defined(LAM_DMA_SYNC)
static inline int32_t lam_dma_start(const lam_dma_copy *copy)
{
    lam_dma_copy_now(copy);
    return 0;
}

static inline void lam_dma_wait(int32_t ticket)
{
    LAM_UNUSED(ticket);
}
#else
#if defined(__cplusplus)
extern "C" {
#endif
/* Begins a transfer and returns its ticket.  `copy` is read before the call returns.  A network has at most
 * as many transfers under way as its struct has tickets. */
int32_t lam_dma_start(const lam_dma_copy *copy);

/* Returns when the transfer with this ticket is complete. */
void lam_dma_wait(int32_t ticket);
#if defined(__cplusplus)
}
#endif
#endif

#endif /* LAM_DMA_H */
