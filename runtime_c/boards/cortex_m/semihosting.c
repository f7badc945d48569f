/* SPDX-License-Identifier: MIT-0 */
/* Console and exit of an Arm board by semihosting: the emulator does what a breakpoint's registers ask for. */
#include "lam_board.h"
#include "lam_board_port.h"

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, ADP_STOPPED_APPLICATION_EXIT = 0x20026 };

static void semihost(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void lam_board_puts(const char *s)
{
    semihost(SYS_WRITE0, s);
}

void lam_board_halt(int code)
{
    const uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)code};
    for (;;) {
        semihost(SYS_EXIT_EXTENDED, block);
    }
}
