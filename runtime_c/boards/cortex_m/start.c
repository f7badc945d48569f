/* SPDX-License-Identifier: MIT-0 */
/* Bring-up of a Cortex-M under QEMU, written in the instructions that v6-M has.
 *
 * main runs on the process stack and faults on another one, so that a stack overflow can still be reported.  The
 * memory protection unit makes of a bad pointer a fault, where the emulated board would ignore it (mpu_v7.c, mpu_v8.c).
 */
#include "../lam_board.h"
#include "../lam_board_port.h"

extern uint32_t lam_bss_start[];
extern uint32_t lam_bss_end[];
extern uint32_t lam_fault_stack_top[];

void lam_reset(void);
void lam_fault_entry(void);
void lam_start(void);
void lam_fault(const uint32_t *frame);

#define SCB_CCR (*(volatile uint32_t *)0xE000ED14u)
#define SCB_CFSR (*(volatile uint32_t *)0xE000ED28u)
#define UNALIGN_TRP (1u << 3)
/* Before any compiled code: the FPU and vector unit are closed after reset, and the compiler may use it anywhere. */
__attribute__((naked, noreturn)) void lam_reset(void)
{
    __asm volatile(
        ".syntax unified\n"
        "ldr r0, =lam_stack_top\n"
        "msr psp, r0\n"
        "movs r0, #2\n"
        "msr control, r0\n"
        "isb\n"
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
        "ldr r0, =0xE000ED88\n" /* CPACR: coprocessors 10 and 11 for everybody */
        "ldr r1, [r0]\n"
        "ldr r2, =0x00F00000\n"
        "orrs r1, r2\n"
        "str r1, [r0]\n"
        "dsb\n"
        "isb\n"
#endif
        "ldr r0, =lam_start\n"
        "bx r0\n"
        ".pool\n");
}

__attribute__((noreturn, used)) void lam_start(void)
{
#if defined(__ARM_ARCH) && __ARM_ARCH == 6
    SCB_CCR |= UNALIGN_TRP; /* as v6-M chips do always */
#endif
    for (uint32_t *p = lam_bss_start; p < lam_bss_end; p++) {
        *p = 0;
    }
    lam_protect_memory();
    lam_board_exit(main());
}

__attribute__((naked, noreturn)) void lam_fault_entry(void)
{
    __asm volatile(
        ".syntax unified\n"
        "mrs r0, psp\n"
        "ldr r1, =lam_fault\n"
        "bx r1\n"
        ".pool\n");
}

/* frame: r0 r1 r2 r3 r12 lr pc xpsr as the processor saved them, if there was room.  cfsr: Armv7-M manual, B3.2.15. */
__attribute__((noreturn, used)) void lam_fault(const uint32_t *frame)
{
    lam_board_puts("\nlam_board: fault");
    if (frame >= lam_stack_limit && frame + 8 <= lam_stack_top) {
        lam_board_hex(", pc ", frame[6]);
        lam_board_hex(", lr ", frame[5]);
    } else {
        lam_board_puts(", stack overflow");
    }
    lam_board_hex(", cfsr ", SCB_CFSR);
    lam_board_puts("\n");
    lam_board_halt(LAM_BOARD_FAULT);
}

typedef void (*lam_vector)(void);

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    lam_vector reset;
    lam_vector faults[14];
} vectors = {
    lam_fault_stack_top,
    lam_reset,
    {lam_fault_entry, lam_fault_entry, lam_fault_entry, lam_fault_entry, lam_fault_entry, lam_fault_entry,
     lam_fault_entry, lam_fault_entry, lam_fault_entry, lam_fault_entry, lam_fault_entry, lam_fault_entry,
     lam_fault_entry, lam_fault_entry},
};
