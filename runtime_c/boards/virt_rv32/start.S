/* SPDX-License-Identifier: MIT-0 */
/* Bring-up of a 32-bit RISC-V hart in machine mode. */
    .option arch, +zicsr
    .section .start, "ax"
    .global lam_reset
lam_reset:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la tp, lam_tls_base
    la sp, lam_stack_top
    la t0, trap
    csrw mtvec, t0

    /* Physical memory protection (privileged specification, 3.7.1).  The first match rules; locked, so that machine
     * mode obeys.  R 1, W 2, X 4, naturally aligned power of two 0x18, lock 0x80; an address is base / 4 with
     * size / 8 - 1 in its low bits. */
    la t0, lam_stack_guard
    srli t0, t0, 2
    ori t0, t0, 0x1ff
    csrw pmpaddr0, t0                                   /* 4 KB under the stack: closed */
    li t0, (0x80000000 >> 2) | ((16 << 20) / 8 - 1)
    csrw pmpaddr1, t0                                   /* code and constants: read, execute */
    li t0, (0x81000000 >> 2) | ((16 << 20) / 8 - 1)
    csrw pmpaddr2, t0                                   /* variables: read, write */
    li t0, (0x10000000 >> 2) | (4096 / 8 - 1)
    csrw pmpaddr3, t0                                   /* UART: read, write */
    li t0, (0x00100000 >> 2) | (4096 / 8 - 1)
    csrw pmpaddr4, t0                                   /* test device: read, write */
    li t0, -1
    csrw pmpaddr5, t0                                   /* everything else: closed */
    li t0, 0x9b9b9d98
    csrw pmpcfg0, t0
    li t0, 0x989b                                       /* closes what the lines above did not open: last */
    csrw pmpcfg1, t0

#ifdef __riscv_flen
    li t0, 0x2000                                       /* mstatus.FS: floats may be used */
    csrs mstatus, t0
#endif

    la t0, lam_bss_start
    la t1, lam_bss_end
1:  bgeu t0, t1, 2f
    sw zero, 0(t0)
    addi t0, t0, 4
    j 1b
2:  call main
    call lam_board_exit

    .balign 4
trap:
    la sp, lam_fault_stack_top
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    call lam_trap
