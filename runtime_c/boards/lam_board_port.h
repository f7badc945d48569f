/* SPDX-License-Identifier: MIT-0 */
/* Between a board's own files and the common ones; programs use lam_board.h. */
#ifndef LAM_BOARD_PORT_H
#define LAM_BOARD_PORT_H

#include <stdint.h>

/* The board's way to end: code is 0 .. 255. */
void lam_board_halt(int code) __attribute__((noreturn));

/* Print a label and a number as eight hex digits. */
void lam_board_hex(const char *label, uint32_t v);

/* From the linker script of a board without an operating system: the stack's lowest byte, and the end above it. */
extern uint32_t lam_stack_limit[];
extern uint32_t lam_stack_top[];

/* On Xtensa: where the linker script has constants. */
extern uint32_t lam_const_end[];

/* On Cortex-M: where the linker script has constants and variables, and what closes all memory but the program's. */
extern uint32_t lam_const_base[];
extern uint32_t lam_ram_base[];
void lam_protect_memory(void);

int main(void);

#endif
