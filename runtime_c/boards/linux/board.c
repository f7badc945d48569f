/* SPDX-License-Identifier: MIT-0 */
/* A Linux process, for processors that are emulated without a board.  No instruction counter, no stack bounds. */
#define _XOPEN_SOURCE 700

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../lam_board.h"
#include "../lam_board_port.h"

static void write_all(const char *s, size_t n)
{
    while (n > 0) {
        ssize_t done = write(STDOUT_FILENO, s, n);
        if (done <= 0) {
            _exit(LAM_BOARD_FAULT);
        }
        s += done;
        n -= (size_t)done;
    }
}

void lam_board_puts(const char *s)
{
    write_all(s, strlen(s));
}

void lam_board_halt(int code)
{
    _exit(code);
}

static void fault(int number)
{
    lam_board_puts("\nlam_board: fault, signal ");
    lam_board_number((uint32_t)number);
    lam_board_puts("\n");
    _exit(LAM_BOARD_FAULT);
}

/* On a stack of its own, so that a stack overflow can still be reported. */
__attribute__((constructor)) static void catch_faults(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    static union {
        long double align;
        char bytes[65536];
    } stack;
    stack_t own = {.ss_sp = stack.bytes, .ss_size = sizeof stack.bytes};
    struct sigaction action = {.sa_handler = fault, .sa_flags = SA_ONSTACK};
    (void)sigaltstack(&own, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}

/* The linker (--wrap=main) calls this one instead, so that exit codes mean what they mean on the other boards. */
int __real_main(void);
int __wrap_main(void);
int __wrap_main(void)
{
    lam_board_exit(__real_main());
}

uint32_t lam_board_instructions(void)
{
    return 0;
}
