/* SPDX-License-Identifier: MIT-0 */
/* How deep the stack went, on boards whose linker script bounds it. */
#include "lam_board.h"
#include "lam_board_port.h"

#define PATTERN 0xA5A5A5A5u
#define OWN_FRAME 64u /* not painted: the frame of the painting function itself */

static uint32_t *painted_from;
static uint32_t *painted_to;

/* Paint from `from` (with the frame left out that paints) down to `to`; no call, which would take a frame more. */
__attribute__((always_inline)) static inline void paint(uint32_t *from, uint32_t *to)
{
    painted_from = from;
    painted_to = to;
    volatile uint32_t *end = from - OWN_FRAME / sizeof(uint32_t);
    for (volatile uint32_t *p = to; p < end; p++) {
        *p = PATTERN;
    }
}

void lam_board_stack_paint(void)
{
    paint(__builtin_dwarf_cfa(), lam_stack_limit); /* the stack as it was when the caller called */
}

void lam_board_stack_paint_some(uint32_t bytes)
{
    uint32_t *const from = __builtin_dwarf_cfa();
    const uint32_t room = (uint32_t)(from - lam_stack_limit);
    const uint32_t words = bytes / (uint32_t)sizeof(uint32_t);
    paint(from, from - (words < room ? words : room));
}

uint32_t lam_board_stack_high_water(void)
{
    const volatile uint32_t *p = painted_to;
    while (p < painted_from - OWN_FRAME / sizeof(uint32_t) && *p == PATTERN) {
        p++;
    }
    return (uint32_t)(painted_from - p) * (uint32_t)sizeof(uint32_t);
}

uint32_t lam_board_stack_painted_at(void)
{
    return (uint32_t)(lam_stack_top - painted_from) * (uint32_t)sizeof(uint32_t);
}
