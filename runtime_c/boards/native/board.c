/* SPDX-License-Identifier: MIT-0 */
/* The machine that compiles: a process of its own.  What the other boards count in instructions is nanoseconds here, of
 * a clock that never goes back; the stack's depth is not known. */
#define _POSIX_C_SOURCE 199309L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../lam_board.h"
#include "../lam_board_port.h"

void lam_board_puts(const char *s)
{
    (void)fputs(s, stdout);
}

void lam_board_halt(int code)
{
    exit(code);
}

uint32_t lam_board_instructions(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}
