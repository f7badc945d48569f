/* SPDX-License-Identifier: MIT-0 */
/* For processes, whose stack is the system's: its depth is not known. */
#include "lam_board.h"
#include "lam_board_port.h"

void lam_board_stack_paint(void)
{
}

uint32_t lam_board_stack_high_water(void)
{
    return 0;
}

void lam_board_stack_paint_some(uint32_t bytes)
{
    (void)bytes;
}

uint32_t lam_board_stack_painted_at(void)
{
    return 0;
}
