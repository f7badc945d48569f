/* SPDX-License-Identifier: MIT-0 */
/* QEMU's RISC-V board "virt", 32 bits: start, a 16550 UART, the device that ends the emulation. */
#include <stdint.h>

#include "board.h"

#define UART_DATA (*(volatile uint8_t *)0x10000000u)
#define UART_STATE (*(volatile uint8_t *)0x10000005u)
#define UART_EMPTY 0x20u
#define UART_IDLE 0x40u
#define FINISHER (*(volatile uint32_t *)0x00100000u)

/* From the linker script: this image is loaded where it runs, so that only .bss is left to do. */
extern uint32_t bss_start[], bss_end[];

int main(void);
void start(void) __attribute__((noreturn, used));

__asm__(".section .reset, \"ax\"\n"
        "    .option push\n"
        "    .option norelax\n"
        "    la gp, __global_pointer$\n"
        "    .option pop\n"
        "    la sp, stack_top\n"
        "    j start\n"
        "    .text\n");

void start(void)
{
    for (uint32_t *to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
    board_end(main());
}

void board_put(char c)
{
    while ((UART_STATE & UART_EMPTY) == 0) {
    }
    UART_DATA = (uint8_t)c;
}

void board_end(int result)
{
    while ((UART_STATE & UART_IDLE) == 0) {
    }
    FINISHER = result == 0 ? 0x5555u : (uint32_t)result << 16 | 0x3333u;
    for (;;) {
    }
}
