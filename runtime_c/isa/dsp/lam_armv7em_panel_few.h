/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The panels of lam_armv7em_panel.h on weights of 4 bits: a field is a weight plus 8, so that none has a sign, and a mask makes
 * a pair of two.  Each group of two channels is a word:
 *
 *   bits 0 and 16 on      the pair of the first and third weight of the first channel
 *   bits 4 and 20 on      its second and fourth
 *   bits 8 to 15, 24 on   the same of the second channel
 *
 * Of 2 bits (lam_armv7em_panel_two.h) fields are a weight plus 2, places half as far, and the upper bytes of both halves have
 * the next group.  The first group is alone in its word where there are odd many.  Words of a channel without a partner have as
 * many of its own groups as there is room for, as those of lam_armv7em_few.h.
 *
 * To the sums of a pixel -8 (-2) times the sum of its column is added, before the products.  In `own` panels channels have zero
 * points of their own: behind the biases a word has what each weight is more than its field, that of the first channel in the
 * lower half; `more` is the sum of the column itself.  Sums that wait in memory have none of that.  What fills a column up is
 * zero.
 */
#ifndef LAM_ARMV7EM_PANEL_FEW_H
#define LAM_ARMV7EM_PANEL_FEW_H

#include "lam_armv7em_panel_shifted.h"

/* As lam_panel_share, a group at a time: of two channels that sum would take nearly what their products do. */
#if LAM_BLOCKS
#define LAM_SHARED_1 \
    "ldrd r2, r3, [%[x]], #8\n\t" \
    "smlad %[a], r2, %[ones], %[a]\n\t" \
    "smlad %[a], r3, %[ones], %[a]\n\t"
#define LAM_SHARED_2 \
    "ldmia %[x]!, {r2, r3, r4, r5}\n\t" \
    "smlad %[a], r2, %[ones], %[a]\n\t" \
    "smlad %[b], r3, %[ones], %[b]\n\t" \
    "smlad %[a], r4, %[ones], %[a]\n\t" \
    "smlad %[b], r5, %[ones], %[b]\n\t"
#define LAM_SHARED_3 \
    "ldmia %[x]!, {r2, r3, r4, r5, r8, r9}\n\t" \
    "smlad %[a], r2, %[ones], %[a]\n\t" \
    "smlad %[b], r3, %[ones], %[b]\n\t" \
    "smlad %[c], r4, %[ones], %[c]\n\t" \
    "smlad %[a], r5, %[ones], %[a]\n\t" \
    "smlad %[b], r8, %[ones], %[b]\n\t" \
    "smlad %[c], r9, %[ones], %[c]\n\t"
#define LAM_SHARED_ASM(steps) \
    __asm__ volatile(steps : [x] "+r"(x), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c) \
                     : [ones] "r"(0x00010001u) \
                     : "r2", "r3", "r4", "r5", "r8", "r9", "memory")
#if LAM_SMALL
#define LAM_SHARED_TURN 1
#define LAM_SHARED_TURN_OF(step) step
#else
#define LAM_SHARED_TURN 4
#define LAM_SHARED_TURN_OF(step) step step step step
#endif
#define LAM_PANEL_SHARED_OF(pixels) \
    do { \
        const uint32_t *x = panel->panel.column; \
        int32_t a = 0, b = 0, c = 0; \
        const uint32_t *const end = x + 2 * (pixels) * panel->panel.groups; \
        for (; end - x >= 2 * (pixels) * LAM_SHARED_TURN;) { \
            LAM_SHARED_ASM(LAM_SHARED_TURN_OF(LAM_SHARED_##pixels)); \
        } \
        while (x != end) { \
            LAM_SHARED_ASM(LAM_SHARED_##pixels); \
        } \
        panel->more[0] = a * shift; \
        panel->more[1] = b * shift; \
        panel->more[2] = c * shift; \
    } while (0)
#else
#define LAM_PANEL_SHARED_OF(pixels) lam_panel_share(panel, shift, pixels)
#endif

LAM_PANEL void lam_panel_few_share_1(lam_panel_shifted *panel, int32_t shift)
{
    LAM_PANEL_SHARED_OF(1);
}

LAM_PANEL void lam_panel_few_share_2(lam_panel_shifted *panel, int32_t shift)
{
    LAM_PANEL_SHARED_OF(2);
}

LAM_PANEL void lam_panel_few_share_3(lam_panel_shifted *panel, int32_t shift)
{
    LAM_PANEL_SHARED_OF(3);
}

/* Adds what a pixel adds to the sums of both channels, then the products, [channel][pixel]; returns the place behind. */
static inline const uint32_t *lam_panel_add_few(const lam_panel_shifted *panel, const uint32_t *w, int32_t *sums, int32_t pixels,
                                                int own, int32_t bits)
{
    const uint32_t *x = panel->panel.column;
    const int32_t groups = panel->panel.groups;
    const uint32_t mask = (bits == 4) ? 0x000F000Fu : 0x00030003u;
    int32_t at = 0; /* where in its word a group begins */
    for (int32_t j = 0; j < 2; j++) {
        const int32_t times = own ? lam_low((j == 0) ? w[0] : w[0] >> 16) : 1;
        for (int32_t p = 0; p < pixels; p++) {
            sums[j * pixels + p] += panel->more[p] * times;
        }
    }
    w += own ? 1 : 0;
    for (int32_t i = 0; i < groups; i++, x += 2 * pixels) {
        for (int32_t j = 0; j < 2; j++) {
            const int32_t place = at + 2 * bits * j;
            const uint32_t even = (w[0] >> place) & mask, odd = (w[0] >> (place + bits)) & mask;
            for (int32_t p = 0; p < pixels; p++) {
                sums[j * pixels + p] = lam_both(even, x[p], sums[j * pixels + p]);
                sums[j * pixels + p] = lam_both(odd, x[pixels + p], sums[j * pixels + p]);
            }
        }
        at = (bits == 2 && at == 0 && (i != 0 || (groups & 1) == 0)) ? 8 : 0;
        w += (at == 0) ? 1 : 0;
    }
    return w;
}

/* Adds to the sums of one channel the products of the first group of a word. */
LAM_INLINE void lam_panel_add_group(int32_t *sums, const uint32_t *x, uint32_t word, int32_t pixels, int32_t bits, uint32_t mask)
{
    const uint32_t even = word & mask, odd = (word >> bits) & mask;
    for (int32_t p = 0; p < pixels; p++) {
        sums[p] = lam_both(even, x[p], sums[p]);
        sums[p] = lam_both(odd, x[pixels + p], sums[p]);
    }
}

/* As lam_panel_odd; behind the bias stands what is more, of `own`. */
LAM_INLINE void lam_panel_odd_bits(const lam_panel_shifted *panel, const uint32_t *w, uint8_t *y, int32_t pixels, int own,
                                   int32_t bits, int mode, int type)
{
    const uint32_t *x = panel->panel.column;
    const uint32_t groups = (uint32_t)panel->panel.groups, per_word = (bits == 4) ? 2u : 4u, rest = groups % per_word;
    const int32_t times = own ? lam_low(w[1]) : 1;
    uint32_t mask = (bits == 4) ? 0x000F000Fu : 0x00030003u;
    int32_t sums[3];
#if LAM_BLOCKS
    LAM_PASSED(mask); /* kept in a register: shifts cost nothing beside it */
#endif
    for (int32_t p = 0; p < pixels; p++) {
        sums[p] = (int32_t)w[0] + panel->more[p] * times;
    }
    w += own ? 2 : 1;
    for (const uint32_t *const end = w + groups / per_word; w != end; w++) {
        for (uint32_t i = 0; i < per_word; i++, x += 2 * pixels) {
            lam_panel_add_group(sums, x, w[0] >> (2 * (uint32_t)bits * i), pixels, bits, mask);
        }
    }
    for (uint32_t i = 0; i < rest; i++, x += 2 * pixels) {
        lam_panel_add_group(sums, x, w[0] >> (2 * (uint32_t)bits * i), pixels, bits, mask);
    }
    w += (rest != 0) ? 1 : 0;
    for (int32_t p = 0; p < pixels; p++) {
        y[p * panel->panel.channels] = lam_panel_byte(sums[p], w[0], (int32_t)w[1], panel->panel.centre, mode, type);
    }
}

LAM_INLINE void lam_panel_odd_few(const lam_panel_shifted *panel, const uint32_t *w, uint8_t *y, int32_t pixels, int own, int mode,
                                  int type)
{
    lam_panel_odd_bits(panel, w, y, pixels, own, 4, mode, type);
}

#if LAM_BLOCKS
/* As the groups of bytes, with the mask in r6: 19 instructions for 24 products. */
#define LAM_GROUP_3Q \
    "ldr r5, [r1], #4\n\t" \
    "ldmia r0!, {r2, r3, r4}\n\t" \
    "and.w r7, r6, r5\n\t" \
    "smlad r9, r7, r3, r9\n\t" \
    "smlad r10, r7, r4, r10\n\t" \
    "smlad r8, r7, r2, r8\n\t" \
    "and.w r7, r6, r5, lsr #8\n\t" \
    "smlad r12, r7, r3, r12\n\t" \
    "smlad lr, r7, r4, lr\n\t" \
    "smlad r11, r7, r2, r11\n\t" \
    "and.w r7, r6, r5, lsr #4\n\t" \
    "ldmia r0!, {r2, r3, r4}\n\t" \
    "smlad r8, r7, r2, r8\n\t" \
    "smlad r9, r7, r3, r9\n\t" \
    "smlad r10, r7, r4, r10\n\t" \
    "and.w r7, r6, r5, lsr #12\n\t" \
    "smlad r11, r7, r2, r11\n\t" \
    "smlad r12, r7, r3, r12\n\t" \
    "smlad lr, r7, r4, lr\n\t"
#define LAM_BYTES_3Q "72"

#define LAM_GROUP_2Q \
    "ldr r5, [r1], #4\n\t" \
    "ldmia r0!, {r2, r3, r4, r7}\n\t" \
    "and.w r10, r6, r5\n\t" \
    "smlad r9, r10, r3, r9\n\t" \
    "smlad r8, r10, r2, r8\n\t" \
    "and.w r10, r6, r5, lsr #8\n\t" \
    "smlad r12, r10, r3, r12\n\t" \
    "smlad r11, r10, r2, r11\n\t" \
    "and.w r10, r6, r5, lsr #4\n\t" \
    "smlad r8, r10, r4, r8\n\t" \
    "smlad r9, r10, r7, r9\n\t" \
    "and.w r10, r6, r5, lsr #12\n\t" \
    "smlad r11, r10, r4, r11\n\t" \
    "smlad r12, r10, r7, r12\n\t"
#define LAM_BYTES_2Q "54"

#define LAM_GROUP_1Q \
    "ldr r5, [r1], #4\n\t" \
    "ldmia r0!, {r2, r3}\n\t" \
    "and.w r10, r6, r5\n\t" \
    "smlad r8, r10, r2, r8\n\t" \
    "and.w r10, r6, r5, lsr #8\n\t" \
    "smlad r11, r10, r2, r11\n\t" \
    "and.w r10, r6, r5, lsr #4\n\t" \
    "smlad r8, r10, r3, r8\n\t" \
    "and.w r10, r6, r5, lsr #12\n\t" \
    "smlad r11, r10, r3, r11\n\t"
#define LAM_BYTES_1Q "38"

/* Before the first group, from the biases of both channels: LAM_MORE_*, or those times what each channel is more. */
#define LAM_MASK_Q "mov.w r6, #0x000f000f\n\t"
#define LAM_OWN "ldr r5, [r1], #4\n\tsxth r7, r5\n\tasrs r5, r5, #16\n\t"
#define LAM_OWN_3 \
    LAM_OWN "ldrd r2, r3, [sp, #28]\n\t" \
            "ldr r4, [sp, #36]\n\t" \
            "mla r9, r3, r7, r8\n\t" \
            "mla r10, r4, r7, r8\n\t" \
            "mla r8, r2, r7, r8\n\t" \
            "mla r12, r3, r5, r11\n\t" \
            "mla lr, r4, r5, r11\n\t" \
            "mla r11, r2, r5, r11\n\t"
#define LAM_OWN_2 \
    LAM_OWN "ldrd r2, r3, [sp, #28]\n\t" \
            "mla r9, r3, r7, r8\n\t" \
            "mla r8, r2, r7, r8\n\t" \
            "mla r12, r3, r5, r11\n\t" \
            "mla r11, r2, r5, r11\n\t"
#define LAM_OWN_1 \
    LAM_OWN "ldr r2, [sp, #28]\n\t" \
            "mla r8, r2, r7, r8\n\t" \
            "mla r11, r2, r5, r11\n\t"
/* The same of sums that are there. */
#define LAM_ADDED_3 \
    "ldrd r2, r3, [sp, #28]\n\t" \
    "ldr r4, [sp, #36]\n\t" \
    "add.w r8, r8, r2\n\t" \
    "add.w r9, r9, r3\n\t" \
    "add.w r10, r10, r4\n\t" \
    "add.w r11, r11, r2\n\t" \
    "add.w r12, r12, r3\n\t" \
    "add.w lr, lr, r4\n\t"
#define LAM_ADDED_2 \
    "ldrd r2, r3, [sp, #28]\n\t" \
    "add.w r8, r8, r2\n\t" \
    "add.w r9, r9, r3\n\t" \
    "add.w r11, r11, r2\n\t" \
    "add.w r12, r12, r3\n\t"
#define LAM_ADDED_1 LAM_MORE_1
#define LAM_FIRST_1Q LAM_GROUP_1Q
#define LAM_FIRST_2Q LAM_GROUP_2Q
#define LAM_FIRST_3Q LAM_GROUP_3Q
#define LAM_TURN_1Q LAM_PANEL_TURN_OF(LAM_GROUP_1Q)
#define LAM_TURN_2Q LAM_PANEL_TURN_OF(LAM_GROUP_2Q)
#define LAM_TURN_3Q LAM_PANEL_TURN_OF(LAM_GROUP_3Q)
/* Panels of the weights that a letter names: before the first group `started` adds what is more. */
#define LAM_FEW_ASM_OF(pixels, letter, started, stores, frame, kept) \
    LAM_PANEL_ASM(LAM_PIXELS_##pixels, started LAM_MASK_##letter LAM_FIRST_##pixels##letter, LAM_TURN_##pixels##letter, \
                  LAM_BYTES_##pixels##letter, stores, frame, kept)
#define LAM_FEW_OF(pixels, letter, started, mode, type) \
    LAM_FEW_ASM_OF(pixels, letter, started, \
                   LAM_STORES_##pixels(LAM_BYTE_##mode, LAM_SATURATE_##type, LAM_BEFORE_##mode, LAM_BETWEEN_##mode), "40", \
                   LAM_PANEL_MORE)
#define LAM_PANEL_FEW_OF(pixels, letter, mode, type) LAM_FEW_OF(pixels, letter, LAM_MORE_##pixels, mode, type)
#define LAM_PANEL_OWN_OF(pixels, letter, mode, type) LAM_FEW_OF(pixels, letter, LAM_OWN_##pixels, mode, type)
#define LAM_FEW_SUMS_OF(pixels, letter) \
    LAM_PANEL_SUMS_ASM(LAM_PIXELS_##pixels, LAM_SUMS_##pixels, \
                       LAM_ADDED_##pixels LAM_MASK_##letter LAM_FIRST_##pixels##letter, LAM_TURN_##pixels##letter, \
                       LAM_BYTES_##pixels##letter, "40", LAM_PANEL_MORE)
#else
static inline void lam_panel_plain_few(const lam_panel_shifted *panel, uint8_t *y, int32_t pixels, int own, int32_t bits,
                                       int mode, int type)
{
    const uint32_t *w = panel->panel.weights;
    for (int last = 0; !last; y += 2, w += 3) {
        int32_t sums[6];
        for (int32_t j = 0; j < 2 * pixels; j++) {
            sums[j] = (int32_t)w[j / pixels];
        }
        w = lam_panel_add_few(panel, w + 2, sums, pixels, own, bits);
        last = lam_panel_store(&panel->panel, w, sums, y, pixels, mode, type);
    }
}

static inline void lam_panel_sums_plain_few(const lam_panel_shifted *panel, int32_t *sums, int32_t pixels, int32_t bits)
{
    const uint32_t *w = panel->panel.weights;
    for (const int32_t *const end = sums + pixels * panel->panel.channels; sums != end; sums += 2 * pixels) {
        w = lam_panel_add_few(panel, w, sums, pixels, 0, bits);
    }
}

#define LAM_BITS_Q 4
#define LAM_PANEL_FEW_OF(pixels, letter, mode, type) \
    lam_panel_plain_few(panel, y, pixels, 0, LAM_BITS_##letter, LAM_PANEL_##mode, LAM_PANEL_##type)
#define LAM_PANEL_OWN_OF(pixels, letter, mode, type) \
    lam_panel_plain_few(panel, y, pixels, 1, LAM_BITS_##letter, LAM_PANEL_##mode, LAM_PANEL_##type)
#define LAM_FEW_SUMS_OF(pixels, letter) lam_panel_sums_plain_few(panel, sums, pixels, LAM_BITS_##letter)
#endif

LAM_PANEL void lam_panel_1q_tflite_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, Q, TFLITE, S8);
}

LAM_PANEL void lam_panel_1q_tflite_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, Q, TFLITE, U8);
}

LAM_PANEL void lam_panel_1q_lined_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, Q, LINED, S8);
}

LAM_PANEL void lam_panel_1q_lined_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, Q, LINED, U8);
}

LAM_PANEL void lam_panel_1q_single_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, Q, SINGLE, S8);
}

LAM_PANEL void lam_panel_1q_single_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(1, Q, SINGLE, U8);
}

LAM_PANEL void lam_panel_1q_sums(const lam_panel_shifted *panel, int32_t *sums)
{
    LAM_FEW_SUMS_OF(1, Q);
}

LAM_PANEL void lam_panel_2q_tflite_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, Q, TFLITE, S8);
}

LAM_PANEL void lam_panel_2q_tflite_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, Q, TFLITE, U8);
}

LAM_PANEL void lam_panel_2q_lined_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, Q, LINED, S8);
}

LAM_PANEL void lam_panel_2q_lined_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, Q, LINED, U8);
}

LAM_PANEL void lam_panel_2q_single_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, Q, SINGLE, S8);
}

LAM_PANEL void lam_panel_2q_single_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(2, Q, SINGLE, U8);
}

LAM_PANEL void lam_panel_2q_sums(const lam_panel_shifted *panel, int32_t *sums)
{
    LAM_FEW_SUMS_OF(2, Q);
}

LAM_PANEL void lam_panel_3q_tflite_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, Q, TFLITE, S8);
}

LAM_PANEL void lam_panel_3q_tflite_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, Q, TFLITE, U8);
}

LAM_PANEL void lam_panel_3q_lined_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, Q, LINED, S8);
}

LAM_PANEL void lam_panel_3q_lined_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, Q, LINED, U8);
}

LAM_PANEL void lam_panel_3q_single_s8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, Q, SINGLE, S8);
}

LAM_PANEL void lam_panel_3q_single_u8(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_FEW_OF(3, Q, SINGLE, U8);
}

LAM_PANEL void lam_panel_3q_sums(const lam_panel_shifted *panel, int32_t *sums)
{
    LAM_FEW_SUMS_OF(3, Q);
}

LAM_PANEL void lam_panel_1q_tflite_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, Q, TFLITE, S8);
}

LAM_PANEL void lam_panel_1q_tflite_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, Q, TFLITE, U8);
}

LAM_PANEL void lam_panel_1q_lined_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, Q, LINED, S8);
}

LAM_PANEL void lam_panel_1q_lined_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, Q, LINED, U8);
}

LAM_PANEL void lam_panel_1q_single_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, Q, SINGLE, S8);
}

LAM_PANEL void lam_panel_1q_single_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(1, Q, SINGLE, U8);
}

LAM_PANEL void lam_panel_2q_tflite_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, Q, TFLITE, S8);
}

LAM_PANEL void lam_panel_2q_tflite_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, Q, TFLITE, U8);
}

LAM_PANEL void lam_panel_2q_lined_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, Q, LINED, S8);
}

LAM_PANEL void lam_panel_2q_lined_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, Q, LINED, U8);
}

LAM_PANEL void lam_panel_2q_single_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, Q, SINGLE, S8);
}

LAM_PANEL void lam_panel_2q_single_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(2, Q, SINGLE, U8);
}

LAM_PANEL void lam_panel_3q_tflite_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, Q, TFLITE, S8);
}

LAM_PANEL void lam_panel_3q_tflite_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, Q, TFLITE, U8);
}

LAM_PANEL void lam_panel_3q_lined_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, Q, LINED, S8);
}

LAM_PANEL void lam_panel_3q_lined_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, Q, LINED, U8);
}

LAM_PANEL void lam_panel_3q_single_s8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, Q, SINGLE, S8);
}

LAM_PANEL void lam_panel_3q_single_u8_own(const lam_panel_shifted *panel, uint8_t *y)
{
    LAM_PANEL_OWN_OF(3, Q, SINGLE, U8);
}

#endif /* LAM_ARMV7EM_PANEL_FEW_H */
