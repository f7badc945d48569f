/* SPDX-License-Identifier: MIT-0 */
/* MPS3 an547 under QEMU: instructions by the subsystem's system counter.
 *
 * It counts up at 32 MHz of emulated time, in 64 bits.  With `-icount shift=6` an instruction takes 2^6 ns, which is
 * 2.048 ticks: instructions = ticks * 125 / 256, exact to one.
 */
#include "../lam_board.h"

struct sse_counter {
    volatile uint32_t control;
    volatile uint32_t status;
    volatile uint32_t low;
    volatile uint32_t high;
};

#define COUNTER ((struct sse_counter *)0x58100000u)

uint32_t lam_board_instructions(void)
{
    uint32_t high, low;
    COUNTER->control = 1;
    do {
        high = COUNTER->high;
        low = COUNTER->low;
    } while (COUNTER->high != high);
    return (uint32_t)(((uint64_t)high << 32 | low) * 125 / 256);
}
