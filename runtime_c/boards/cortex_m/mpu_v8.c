/* SPDX-License-Identifier: MIT-0 */
/* The memory protection unit of Armv8-M, for the board of mps3/an547.ld: 512 KB of code at 0, 512 KB with the stack at
 * 0x20000000, each without its first 4 KB, 8 MB of constants, 8 MB of variables, and the counter. */
#include "../lam_board_port.h"

#define MPU_CTRL (*(volatile uint32_t *)0xE000ED94u)
#define MPU_RNR (*(volatile uint32_t *)0xE000ED98u)
#define MPU_RBAR (*(volatile uint32_t *)0xE000ED9Cu)
#define MPU_RLAR (*(volatile uint32_t *)0xE000EDA0u)
#define MPU_MAIR0 (*(volatile uint32_t *)0xE000EDC0u)

/* Armv8-M reference manual, D1.2.157 to D1.2.160: permissions in RBAR, which attributes and the last byte in RLAR. */
#define EXECUTE (3u << 1)
#define READ_WRITE (1u << 1 | 1u)
#define READ_ONLY (3u << 1 | 1u)
#define NORMAL 1u
#define DEVICE (1u << 1 | 1u)
#define ATTRIBUTES 0x0044u /* number 0: normal memory, not cached; number 1: device */

/* Regions do not overlap; what is in none is closed. */
static const struct {
    const uint32_t *base;
    uint32_t access;
    uint32_t bytes;
    uint32_t kind;
} regions[] = {
    {(const uint32_t *)0x00001000u, EXECUTE, 0x0007F000u, NORMAL},
    {(const uint32_t *)0x20001000u, READ_WRITE, 0x0007F000u, NORMAL},
    {lam_const_base, READ_ONLY, 0x00800000u, NORMAL},
    {lam_ram_base, READ_WRITE, 0x00800000u, NORMAL},
    {(const uint32_t *)0x58100000u, READ_WRITE, 0x00001000u, DEVICE},
};

void lam_protect_memory(void)
{
    MPU_MAIR0 = ATTRIBUTES;
    for (uint32_t i = 0; i < sizeof regions / sizeof regions[0]; i++) {
        const uint32_t base = (uint32_t)(uintptr_t)regions[i].base;
        MPU_RNR = i;
        MPU_RBAR = base | regions[i].access;
        MPU_RLAR = ((base + regions[i].bytes - 1u) & ~31u) | regions[i].kind;
    }
    MPU_CTRL = 1; /* no default map, and no protection within the fault handler */
    __asm volatile("dsb\n isb" : : : "memory");
}
