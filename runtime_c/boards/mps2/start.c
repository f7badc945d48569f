/* SPDX-License-Identifier: MIT-0 */
/* Bring-up of a Cortex-M under QEMU, written in the instructions that v6-M has.
 *
 * main runs on the process stack and faults on another one, so that a stack overflow can still be reported.  The
 * memory protection unit makes of a bad pointer a fault, where the emulated board would ignore it.
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
#define MPU_CTRL (*(volatile uint32_t *)0xE000ED94u)
#define MPU_RBAR (*(volatile uint32_t *)0xE000ED9Cu)
#define MPU_RASR (*(volatile uint32_t *)0xE000EDA0u)

/* Armv7-M reference manual, B3.5.9: access permissions, memory types, and a size of 2^bits, enabled. */
#define CLOSED 0u
#define READ_WRITE (1u << 24 | 1u << 28)
#define READ_ONLY (5u << 24 | 1u << 28)
#define EXECUTE (5u << 24)
#define NORMAL (1u << 17)
#define DEVICE (1u << 16)
#define SIZE(bits) (((bits) - 1u) << 1 | 1u)

/* Where regions overlap the later one rules; what is in none is closed. */
static const struct {
    uint32_t base;
    uint32_t attributes;
} regions[] = {
    {0x00000000u, EXECUTE | NORMAL | SIZE(22)},
    {0x20000000u, READ_WRITE | NORMAL | SIZE(22)},
    {0x21000000u, READ_ONLY | NORMAL | SIZE(23)},
    {0x21800000u, READ_WRITE | NORMAL | SIZE(23)},
    {0x40000000u, READ_WRITE | DEVICE | SIZE(16)},
    {0x00000000u, CLOSED | SIZE(12)}, /* null pointers */
    {0x20000000u, CLOSED | SIZE(12)}, /* stack overflows */
};

/* Before any compiled code: the FPU is closed after reset, and the compiler may use it anywhere. */
__attribute__((naked, noreturn)) void lam_reset(void)
{
    __asm volatile(
        ".syntax unified\n"
        "ldr r0, =lam_stack_top\n"
        "msr psp, r0\n"
        "movs r0, #2\n"
        "msr control, r0\n"
        "isb\n"
#ifdef __ARM_FP
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

static void protect_memory(void)
{
    for (uint32_t i = 0; i < sizeof regions / sizeof regions[0]; i++) {
        MPU_RBAR = regions[i].base | 1u << 4 | i; /* the region's number is valid and written along */
        MPU_RASR = regions[i].attributes;
    }
    MPU_CTRL = 1; /* no default map, and no protection within the fault handler */
    __asm volatile("dsb\n isb" : : : "memory");
}

__attribute__((noreturn, used)) void lam_start(void)
{
#if defined(__ARM_ARCH) && __ARM_ARCH == 6
    SCB_CCR |= UNALIGN_TRP; /* as v6-M chips do always */
#endif
    for (uint32_t *p = lam_bss_start; p < lam_bss_end; p++) {
        *p = 0;
    }
    protect_memory();
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
