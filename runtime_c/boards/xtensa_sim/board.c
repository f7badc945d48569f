/* SPDX-License-Identifier: MIT-0 */
/* QEMU's Xtensa "sim" machine: console and exit by the simulator's call, time by CCOUNT. */
#include "../lam_board.h"
#include "../lam_board_port.h"

enum { SYS_EXIT = 1, SYS_WRITE = 4 };

void lam_note_constants(void);
void lam_trap(uint32_t cause, uint32_t pc, uint32_t address) __attribute__((noreturn));

static uint32_t simcall(uint32_t call, uint32_t first, const void *second, uint32_t third)
{
    register uint32_t a2 __asm("a2") = call;
    register uint32_t a3 __asm("a3") = first;
    register const void *a4 __asm("a4") = second;
    register uint32_t a5 __asm("a5") = third;
    __asm volatile("simcall" : "+r"(a2), "+r"(a3) : "r"(a4), "r"(a5) : "memory");
    return a2;
}

void lam_board_puts(const char *s)
{
    uint32_t n = 0;
    while (s[n] != '\0') {
        n++;
    }
    while (n > 0) {
        const uint32_t done = simcall(SYS_WRITE, 1, s, n);
        if (done == 0 || done > n) {
            return;
        }
        s += done;
        n -= done;
    }
}

/* The core's protection cannot take the right to write from what may be read: that no constant was written is seen
 * when the program ends. */
static uint32_t sum_of_constants(void)
{
    uint32_t sum = 0;
    for (const uint32_t *p = lam_const_base; p < lam_const_end; p++) {
        sum = (sum << 5 | sum >> 27) ^ *p;
    }
    return sum;
}

static uint32_t constants;

void lam_note_constants(void)
{
    constants = sum_of_constants();
}

void lam_board_halt(int code)
{
    if (code != LAM_BOARD_FAULT && sum_of_constants() != constants) {
        lam_board_puts("\nlam_board: fault, a constant was written\n");
        code = LAM_BOARD_FAULT;
    }
    for (;;) {
        simcall(SYS_EXIT, (uint32_t)code, 0, 0);
    }
}

/* CCOUNT counts 40 MHz of emulated time.  With `-icount shift=6` an instruction takes 2^6 ns, which is 2.56 of its
 * cycles: instructions since the first call = cycles * 25 / 64, to the nearest, which is exact.  It comes round every
 * 1.6e9 instructions, and is to be asked that often. */
uint32_t lam_board_instructions(void)
{
    static uint32_t first, last, rounds;
    uint32_t count;
    __asm volatile("rsr %0, ccount" : "=r"(count) : : "memory");
    if (first == 0) {
        first = count;
    }
    count -= first;
    rounds += count < last;
    last = count;
    return rounds * (25u << 26) + (count >> 6) * 25u + ((count & 63u) * 25u + 32u) / 64u;
}

/* What EXCCAUSE, EPC1 and EXCVADDR say. */
void lam_trap(uint32_t cause, uint32_t pc, uint32_t address)
{
    lam_board_puts("\nlam_board: fault");
    if (address + 4096u >= (uint32_t)(uintptr_t)lam_stack_limit && address < (uint32_t)(uintptr_t)lam_stack_limit) {
        lam_board_puts(", stack overflow");
    }
    lam_board_hex(", pc ", pc);
    lam_board_hex(", cause ", cause);
    lam_board_hex(", address ", address);
    lam_board_puts("\n");
    lam_board_halt(LAM_BOARD_FAULT);
}
