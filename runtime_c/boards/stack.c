/* SPDX-License-Identifier: MIT-0 */
/* How deep the stack went, on boards whose linker script bounds it. */
#include "lam_board.h"
#include "lam_board_port.h"

#define PATTERN 0xA5A5A5A5u
#define OWN_FRAME 64u /* not painted: the frame of the painting function itself */

static uint32_t *painted_from;

void lam_board_stack_paint(void)
{
    painted_from = __builtin_dwarf_cfa(); /* the stack as it was when the caller called */
    volatile uint32_t *end = painted_from - OWN_FRAME / sizeof(uint32_t);
    for (volatile uint32_t *p = lam_stack_limit; p < end; p++) {
        *p = PATTERN;
    }
}

uint32_t lam_board_stack_high_water(void)
{
    const volatile uint32_t *p = lam_stack_limit;
    while (p < painted_from - OWN_FRAME / sizeof(uint32_t) && *p == PATTERN) {
        p++;
    }
    return (uint32_t)(painted_from - p) * (uint32_t)sizeof(uint32_t);
}
