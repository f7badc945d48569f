/* SPDX-License-Identifier: MIT-0 */
/* MPS2 under QEMU: console and exit by semihosting, instructions by CMSDK timer 0.
 *
 * The timer counts down at 25 MHz of emulated time.  With `-icount shift=6` an instruction takes 2^6 ns of it, which is
 * 1.6 ticks: instructions = ticks * 5 / 8, exact to one.
 */
#include "../lam_board.h"
#include "../lam_board_port.h"

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

struct cmsdk_timer {
    volatile uint32_t ctrl;
    volatile uint32_t value;
    volatile uint32_t reload;
};

#define TIMER0 ((struct cmsdk_timer *)0x40000000u)

uint32_t lam_board_instructions(void)
{
    static uint64_t ticks;
    static uint32_t before = 0xFFFFFFFFu;
    if (TIMER0->ctrl == 0) {
        TIMER0->reload = 0xFFFFFFFFu;
        TIMER0->value = 0xFFFFFFFFu;
        TIMER0->ctrl = 1;
    }
    uint32_t now = TIMER0->value;
    ticks += before - now;
    before = now;
    return (uint32_t)(ticks * 5 / 8);
}
