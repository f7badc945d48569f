/* SPDX-License-Identifier: MIT-0 */
/* What a test program may ask of the emulated board it runs on.  For the emulator only: a firmware needs none of it.
 *
 * A program has `int main(void)`; its result is the exit code, as by lam_board_exit().
 */
#ifndef LAM_BOARD_H
#define LAM_BOARD_H

#include <stdint.h>

/* Exit code of a program that ended in a fault: bad access, illegal instruction, stack overflow. */
#define LAM_BOARD_FAULT 99

/* Print a text as it is; no newline is added. */
void lam_board_puts(const char *s);

/* Print n bytes in the order they lie in memory, two lower-case hex digits each, nothing between or after them. */
void lam_board_write(const void *p, uint32_t n);

/* Print a number in decimal. */
void lam_board_number(uint32_t v);

/* End the program; all output is out.  The code is 0 .. 255; any other becomes 255. */
void lam_board_exit(int code) __attribute__((noreturn));

/* Instructions executed since reset, modulo 2^32, so that the difference of two calls is a count.
 *
 * Means something only when the emulator counts instructions (`counting` in the target's file).  0 where the board has
 * no counter.
 */
uint32_t lam_board_instructions(void);

/* Fill the unused stack with a pattern, and measure from here. */
void lam_board_stack_paint(void);

/* Bytes of stack used since lam_board_stack_paint(), by what was called from the same function: an upper bound, 64 at
 * least.  A frame that is reserved but never written is not seen.  0 where the board cannot tell. */
uint32_t lam_board_stack_high_water(void);

/* The same for so many bytes below the caller only, which is quick; what goes deeper is not told from them. */
void lam_board_stack_paint_some(uint32_t bytes);

/* Bytes between the stack's upper end and where the last painting began. */
uint32_t lam_board_stack_painted_at(void);

#endif
