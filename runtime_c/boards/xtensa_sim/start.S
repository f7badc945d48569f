/* SPDX-License-Identifier: MIT-0 */
/* Bring-up of an Xtensa core with the call0 ABI and the exceptions of the LX106, which starts at the first byte of ROM. */
    .section .first, "ax"
    j lam_reset

    .section .start, "ax"
    .literal_position
    .global lam_reset
lam_reset:
    movi a2, lam_vectors
    wsr a2, vecbase
    movi a1, lam_stack_top

    /* Region protection: 512 MB each, 1 read, write and execute, 15 closed.  Everything but the regions of code
     * (0x40000000) and variables (0x60000000) is closed, so that null and wild pointers fault; for data as for code. */
    movi a2, 0
    movi a3, 0x20000000
    movi a4, 8
1:  movi a5, 15
    extui a6, a2, 30, 2                 /* 1 for the two regions from 0x40000000 to 0x7fffffff */
    bnei a6, 1, 2f
    movi a5, 1
2:  wdtlb a5, a2
    witlb a5, a2
    add a2, a2, a3
    addi a4, a4, -1
    bnez a4, 1b
    isync
    dsync

    movi a2, 0x20                       /* interrupts open (none is enabled), exceptions go to the user vector */
    wsr a2, ps
    rsync

    movi a2, lam_bss_start
    movi a3, lam_bss_end
    movi a4, 0
    bgeu a2, a3, 4f
3:  s32i a4, a2, 0
    addi a2, a2, 4
    bltu a2, a3, 3b
4:  call0 lam_note_constants
    call0 main
    call0 lam_board_exit

fault:
    movi a1, lam_fault_stack_top
    rsr a2, exccause
    rsr a3, epc1
    rsr a4, excvaddr
    call0 lam_trap

    /* Whatever goes wrong goes to one place: debug 0x10, NMI 0x20, kernel 0x30, user 0x50, double 0x70. */
    .section .vectors, "ax"
    .global lam_vectors
    .balign 256
lam_vectors:
    .rept 8
    .balign 16
    j fault
    .endr
