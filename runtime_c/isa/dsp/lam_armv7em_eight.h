/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Pointwise layers of eight inputs on the DSP extension of Armv7E-M: the weights of one channel stay in registers while
 * some pixels pass by.  Weights are those of lam_armv7em_panel.h, of mode LINED, columns those of its panels of one pixel,
 * one after another.
 */
#ifndef LAM_ARMV7EM_EIGHT_H
#define LAM_ARMV7EM_EIGHT_H

#include "lam_armv7em_panel.h"

#if LAM_BLOCKS
/* r0 a pixel's column, r1 its output, r2 where the columns end, r3 the bias, r4 to r7 the inputs, r8 to r11 the weights, r12
 * the multiplier, lr the addend.  `apart`: from one pixel's output to the next one's, below 256. */
#define LAM_EIGHT_PIXEL(saturate, apart) \
    "ldmia r0!, {r4, r5, r6, r7}\n\t" \
    "smlad r4, r8, r4, r3\n\t" \
    "smlad r4, r9, r5, r4\n\t" \
    "smlad r4, r10, r6, r4\n\t" \
    "smlad r4, r11, r7, r4\n\t" \
    "smmla r4, r4, r12, lr\n\t" \
    saturate("r4") \
    "strb r4, [r1], #" apart "\n\t"
/* The weights of channel `n` of two, 0 or 1, which begin at r7. */
#define LAM_EIGHT_BYTES(n) \
    "ldr r8, [r7, #8 + 4 * " #n "]\n\t" \
    "ldr r10, [r7, #16 + 4 * " #n "]\n\t" \
    "sxtb16 r9, r8, ror #8\n\t" \
    "sxtb16 r8, r8\n\t" \
    "sxtb16 r11, r10, ror #8\n\t" \
    "sxtb16 r10, r10\n\t"
/* The outputs of channel `n`: its weights take `from`, multipliers stand `factors` bytes from r7; `addend` takes lr from both
 * addends. */
#define LAM_EIGHT_CHANNEL(n, from, factors, addend, saturate, apart) \
    "ldr r7, [sp]\n\t" from "ldr r3, [r7, #4 * " n "]\n\t" \
    "ldr r12, [r7, #" factors " + 4 * " n "]\n\t" \
    "ldr lr, [r7, #" factors " + 8]\n\t" addend "ldrd r0, r1, [sp, #4]\n\t" \
    "adds r4, r1, #1\n\t" \
    "str r4, [sp, #8]\n\t" \
    "ldr r2, [sp, #12]\n\t" \
    "cmp r0, r2\n\t" \
    "beq 2f\n" \
    "1:\n\t" \
    LAM_EIGHT_PIXEL(saturate, apart) LAM_EIGHT_PIXEL(saturate, apart) LAM_EIGHT_PIXEL(saturate, apart) \
    LAM_EIGHT_PIXEL(saturate, apart) \
    "cmp r0, r2\n\t" \
    "bne 1b\n" \
    "2:\n\t" \
    "ldr r2, [sp, #16]\n\t" \
    "b 4f\n" \
    "3:\n\t" \
    LAM_EIGHT_PIXEL(saturate, apart) \
    "4:\n\t" \
    "cmp r0, r2\n\t" \
    "bne 3b\n\t"
#define LAM_EIGHT_NUMBER(n) #n
#define LAM_EIGHT_TEXT(n) LAM_EIGHT_NUMBER(n)

/* The outputs of all channels of `count` pixels.  On the stack, which the compiler does not know: r7; the weights, the columns,
 * the output, where whole fours of columns end and where all do. */
#define LAM_EIGHT(panel, outputs, count, apart, type) \
    LAM_EIGHT_ASM(panel, outputs, count, apart, type, LAM_EIGHT_BYTES, "24")
#define LAM_EIGHT_ASM(panel, outputs, count, apart, type, weights, factors) \
    do { \
        register const lam_panel *panel_ __asm__("r0") = &(panel); \
        register uint8_t *y_ __asm__("r1") = (outputs); \
        register int32_t count_ __asm__("r2") = (count); \
        __asm__ volatile("push {r7}\n\t" \
                         "sub sp, sp, #20\n\t" \
                         "ldrd r3, r4, [r0]\n\t" \
                         "strd r4, r3, [sp]\n\t" \
                         "str r1, [sp, #8]\n\t" \
                         "add r5, r3, r2, lsl #4\n\t" \
                         "bic r2, r2, #3\n\t" \
                         "add r4, r3, r2, lsl #4\n\t" \
                         "strd r4, r5, [sp, #12]\n" \
                         "5:\n\t" \
                         LAM_EIGHT_CHANNEL("0", weights(0), factors, "sxth lr, lr\n\t", LAM_SATURATE_##type, \
                                           LAM_EIGHT_TEXT(apart)) \
                         LAM_EIGHT_CHANNEL("1", weights(1), factors, "asr lr, lr, #16\n\t", LAM_SATURATE_##type, \
                                           LAM_EIGHT_TEXT(apart)) \
                         "ldr r7, [sp]\n\t" \
                         "ldr r4, [r7, #" factors " + 8]\n\t" \
                         "adds r7, r7, #" factors " + 12\n\t" \
                         "str r7, [sp]\n\t" \
                         "lsls r4, r4, #31\n\t" \
                         "bpl.w 5b\n\t" \
                         "add sp, sp, #20\n\t" \
                         "pop {r7}\n\t" \
                         : "+r"(panel_), "+r"(y_), "+r"(count_) \
                         : \
                         : "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory"); \
    } while (0)
#else
static inline void lam_eight_plain(const lam_panel *panel, uint8_t *y, int32_t count, int type)
{
    lam_panel one = *panel;
    for (int32_t p = 0; p < count; p++, one.column += 4, y += panel->channels) {
        lam_panel_plain(&one, y, 1, 0, LAM_PANEL_LINED, type);
    }
}
#endif

#endif /* LAM_ARMV7EM_EIGHT_H */
