/* SPDX-License-Identifier: MIT-0 */
/* A board of runtime_c/boards/: this machine, where an inference's instructions are counted one by one.  What runs from the
 * first question on is run by a child, too, which stops at the second one; the parent takes it there step by step.  An
 * instruction that repeats itself, as string operations do, counts once, and the C library's own instructions count. */
#define _GNU_SOURCE

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lam_board.h"
#include "lam_board_port.h"

void lam_board_puts(const char *s)
{
    (void)fputs(s, stdout);
}

void lam_board_halt(int code)
{
    exit(code);
}

/* Steps of a child until it stops by itself. */
static uint32_t steps(pid_t child)
{
    uint32_t count = 0;
    unsigned long long before = 0;
    int status = 0;
    (void)waitpid(child, &status, 0);
    for (;;) {
        struct user_regs_struct registers;
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
            exit(4);
        }
        if (WSTOPSIG(status) != SIGTRAP) {
            break;
        }
        (void)ptrace(PTRACE_GETREGS, child, NULL, &registers);
        count += registers.rip != before;
        before = registers.rip;
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, &status, 0);
    return count;
}

/* A child that stops, and goes on here. */
static pid_t traced(void)
{
    const pid_t child = fork();
    if (child == 0) {
        (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        (void)raise(SIGSTOP);
    }
    return child;
}

uint32_t lam_board_instructions(void)
{
    static uint32_t counted;
    static int asked, in_child;
    pid_t child;
    if (asked) {
        if (in_child) {
            (void)raise(SIGSTOP);
        }
        return counted;
    }
    (void)fflush(stdout);
    child = traced();
    if (child == 0) { /* nothing: what the ways in and out take */
        (void)raise(SIGSTOP);
        _exit(0);
    }
    counted = 0u - steps(child);
    asked = 1;
    child = traced();
    if (child == 0) {
        in_child = 1;
        return 0;
    }
    counted += steps(child);
    return 0;
}
