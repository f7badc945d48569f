/* SPDX-License-Identifier: MIT-0 */
/* The memory protection unit of Armv7-M: 4 MB of code at 0, 4 MB with the stack at 0x20000000, 8 MB of constants and 8 MB
 * of variables where the linker script says, and a board's peripherals. */
#include "../lam_board_port.h"

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
    const uint32_t *base;
    uint32_t attributes;
} regions[] = {
    {(const uint32_t *)0x00000000u, EXECUTE | NORMAL | SIZE(22)},
    {(const uint32_t *)0x20000000u, READ_WRITE | NORMAL | SIZE(22)},
    {lam_const_base, READ_ONLY | NORMAL | SIZE(23)},
    {lam_ram_base, READ_WRITE | NORMAL | SIZE(23)},
    {(const uint32_t *)0x40000000u, READ_WRITE | DEVICE | SIZE(16)},
    {(const uint32_t *)0x00000000u, CLOSED | SIZE(12)}, /* null pointers */
    {(const uint32_t *)0x20000000u, CLOSED | SIZE(12)}, /* stack overflows */
};

void lam_protect_memory(void)
{
    for (uint32_t i = 0; i < sizeof regions / sizeof regions[0]; i++) {
        MPU_RBAR = (uint32_t)(uintptr_t)regions[i].base | 1u << 4 | i; /* the region's number is valid and written along */
        MPU_RASR = regions[i].attributes;
    }
    MPU_CTRL = 1; /* no default map, and no protection within the fault handler */
    __asm volatile("dsb\n isb" : : : "memory");
}
