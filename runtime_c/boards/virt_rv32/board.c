/* SPDX-License-Identifier: MIT-0 */
/* QEMU's RISC-V "virt" board: 16550 UART, test device that ends the emulation, minstret. */
#include "../lam_board.h"
#include "../lam_board_port.h"

#define UART_THR (*(volatile uint8_t *)0x10000000u)
#define UART_LSR (*(volatile uint8_t *)0x10000005u)
#define LSR_THR_EMPTY 0x20u
#define LSR_ALL_SENT 0x40u
#define TEST_FINISHER (*(volatile uint32_t *)0x00100000u)
#define FINISH_PASS 0x5555u
#define FINISH_FAIL 0x3333u

void lam_trap(uint32_t cause, uint32_t pc, uint32_t value) __attribute__((noreturn));

void lam_board_puts(const char *s)
{
    for (; *s != '\0'; s++) {
        while ((UART_LSR & LSR_THR_EMPTY) == 0) {
        }
        UART_THR = (uint8_t)*s;
    }
}

void lam_board_halt(int code)
{
    while ((UART_LSR & LSR_ALL_SENT) == 0) {
    }
    TEST_FINISHER = code == 0 ? FINISH_PASS : ((uint32_t)code << 16 | FINISH_FAIL);
    for (;;) {
    }
}

uint32_t lam_board_instructions(void)
{
    uint32_t count;
    __asm volatile(
        ".option push\n"
        ".option arch, +zicsr\n"
        "csrr %0, minstret\n"
        ".option pop"
        : "=r"(count)
        :
        : "memory");
    return count;
}

/* cause, pc, value: mcause, mepc and mtval, as the privileged specification lists them. */
void lam_trap(uint32_t cause, uint32_t pc, uint32_t value)
{
    lam_board_puts("\nlam_board: fault");
    if (value + 4096u >= (uint32_t)(uintptr_t)lam_stack_limit && value < (uint32_t)(uintptr_t)lam_stack_limit) {
        lam_board_puts(", stack overflow");
    }
    lam_board_hex(", pc ", pc);
    lam_board_hex(", cause ", cause);
    lam_board_hex(", value ", value);
    lam_board_puts("\n");
    lam_board_halt(LAM_BOARD_FAULT);
}
