/* SPDX-License-Identifier: MIT-0 */
/* Arm's MPS2 with image AN386, a Cortex-M4: vectors, start, UART 0. */
#include <stdint.h>

#include "board.h"

#define CPACR (*(volatile uint32_t *)0xE000ED88u)
#define UART0_DATA (*(volatile uint32_t *)0x40004000u)
#define UART0_STATE (*(volatile uint32_t *)0x40004004u)
#define UART0_CTRL (*(volatile uint32_t *)0x40004008u)
#define UART0_BAUDDIV (*(volatile uint32_t *)0x40004010u)
#define UART_FULL 1u
#define UART_SENDS 1u

/* From the linker script. */
extern uint32_t stack_top[], data_load[], data_start[], data_end[], bss_start[], bss_end[];

int main(void);
void reset(void);

static void fault(void)
{
    board_end(2);
}

void reset(void)
{
    const uint32_t *from = data_load;
    CPACR |= 0xFu << 20; /* the floating-point unit is on */
    __asm volatile("dsb\n isb");
    for (uint32_t *to = data_start; to < data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
    UART0_BAUDDIV = 16;
    UART0_CTRL = UART_SENDS;
    board_end(main());
}

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    void (*start)(void);
    void (*faults[5])(void);
    uint32_t unused[9];
} vectors = {stack_top, reset, {fault, fault, fault, fault, fault}, {0}};

void board_put(char c)
{
    while ((UART0_STATE & UART_FULL) != 0) {
    }
    UART0_DATA = (uint8_t)c;
}

/* By semihosting: SYS_EXIT_EXTENDED, the application's own end, and its result. */
void board_end(int result)
{
    const uint32_t how[2] = {0x20026u, (uint32_t)result};
    register uint32_t r0 __asm("r0") = 0x20u;
    register const uint32_t *r1 __asm("r1") = how;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    for (;;) {
    }
}
