/* SPDX-License-Identifier: MIT-0 */
/* What the program asks of a board: mps2_an386.c or virt_rv32.c. */
#ifndef BOARD_H
#define BOARD_H

/* Sends a character over the UART. */
void board_put(char c);

/* Ends the emulation; 0 says that all went well. */
void board_end(int result) __attribute__((noreturn));

#endif
