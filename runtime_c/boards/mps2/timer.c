/* SPDX-License-Identifier: MIT-0 */
/* MPS2 under QEMU: instructions by two of the CMSDK's timers.
 *
 * Both count down at 25 MHz of emulated time, the second one only every 256th of these ticks.  With `-icount shift=6` an
 * instruction takes 2^6 ns, which is 1.6 ticks: instructions = ticks * 5 / 8, exact to one.  The second timer says how
 * often the first one has come round (every 2.7e9 instructions).
 */
#include "../lam_board.h"

struct cmsdk_timer {
    volatile uint32_t ctrl;
    volatile uint32_t value;
    volatile uint32_t reload;
};

struct cmsdk_dual_timer {
    volatile uint32_t load;
    volatile uint32_t value;
    volatile uint32_t control;
};

#define FINE ((struct cmsdk_timer *)0x40000000u)
#define COARSE ((struct cmsdk_dual_timer *)0x40002000u)
#define COARSE_RUN (1u << 7 | 2u << 2 | 1u << 1) /* enabled, free running, divided by 256, 32 bits */

uint32_t lam_board_instructions(void)
{
    if (FINE->ctrl == 0) {
        FINE->reload = 0xFFFFFFFFu;
        FINE->value = 0xFFFFFFFFu;
        FINE->ctrl = 1;
        COARSE->load = 0xFFFFFFFFu;
        COARSE->control = COARSE_RUN;
    }
    const uint32_t fine = ~FINE->value;
    const uint64_t coarse = (uint64_t)(uint32_t)~COARSE->value << 8;
    const uint64_t ticks = ((coarse + 0x80000000u - fine) & ~(uint64_t)0xFFFFFFFFu) + fine;
    return (uint32_t)(ticks * 5 / 8);
}
