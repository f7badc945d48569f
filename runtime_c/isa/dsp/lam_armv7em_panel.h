/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Panels: all channels of one, two or three output pixels, from columns to stored bytes, on the DSP extension of Armv7E-M.
 *
 * The columns of a panel's pixels share memory: for each group of four values the pair of the first and third of every
 * pixel, then the pair of the second and fourth of every pixel.  Channels come in twos.  For each two, the weights have
 *
 *   the bias of both
 *   for each group: the four weights of the first channel as a word, those of the second one
 *   the multiplier of both
 *   the shift of the first in the lowest 8 bits, that of the second in the next; the highest bit says that these are the last.
 *   LINED has the addend of the first in the lower half, that of the second in the upper one, and the lowest bit says it
 *
 * Where a window has several rows, each begins a group, filled up with zeros.  Multipliers and shifts are those of lam_twice_*
 * (lam_requant_fast.h): of SINGLE the right shift less 33.  TFLITE multipliers stand there doubled, as SMMLAR takes them beside the sum itself: without a sign, less 2^32.  A channel
 * without a partner comes last, alone.  The portable twins below say what is computed.  Sums wrap nowhere: the compiler has
 * proved the bound of every partial sum.
 */
#ifndef LAM_ARMV7EM_PANEL_H
#define LAM_ARMV7EM_PANEL_H

#include "lam_armv7em.h"
#include "lam_armv7em_byte.h"
#include "lam_order.h"

#if defined(__GNUC__)
#define LAM_PANEL static __attribute__((noinline, unused))
#else
#define LAM_PANEL static
#endif

/* What the panels of a layer have in common: where their columns are, `groups` in each (1 at least), the weights, how many
 * channels lie between the outputs of two pixels, and 2 * zero point + 1. */
typedef struct lam_panel {
    uint32_t *column;
    const uint32_t *weights;
    int32_t groups;
    int32_t channels;
    int32_t centre;
} lam_panel;

/* Widen a word into a group of the first of `pixels` columns that share memory. */
LAM_INLINE void lam_spread_word(uint32_t *to, uint32_t word, int32_t pixels, int is_signed)
{
    to[0] = is_signed ? lam_even_s8(word) : lam_even_u8(word);
    to[pixels] = is_signed ? lam_odd_s8(word) : lam_odd_u8(word);
}

/* Widen `bytes` bytes into the first of `pixels` columns that share memory. */
LAM_INLINE void lam_spread(uint32_t *to, const void *from, int32_t bytes, int32_t pixels, int is_signed)
{
    const uint8_t *byte = (const uint8_t *)from;
#define LAM_SPREAD(at, word) \
    do { \
        const uint32_t word_ = (word); \
        to[2 * pixels * (at)] = is_signed ? lam_even_s8(word_) : lam_even_u8(word_); \
        to[2 * pixels * (at) + pixels] = is_signed ? lam_odd_s8(word_) : lam_odd_u8(word_); \
    } while (0)
    for (const uint8_t *const end = byte + (bytes & ~15); byte != end; byte += 16, to += 8 * pixels) {
        const uint32_t a = lam_word(byte), b = lam_word(byte + 4);
        lam_order(); /* loads that follow one another take less; of four a call would have to save registers */
        LAM_SPREAD(0, a);
        LAM_SPREAD(1, b);
        const uint32_t c = lam_word(byte + 8), d = lam_word(byte + 12);
        lam_order();
        LAM_SPREAD(2, c);
        LAM_SPREAD(3, d);
    }
    if ((bytes & 8) != 0) {
        LAM_SPREAD(0, lam_word(byte));
        LAM_SPREAD(1, lam_word(byte + 4));
        byte += 8;
        to += 4 * pixels;
    }
    if ((bytes & 4) != 0) {
        LAM_SPREAD(0, lam_word(byte));
        byte += 4;
        to += 2 * pixels;
    }
    if ((bytes & 3) != 0) {
        LAM_SPREAD(0, lam_last_word(byte, bytes & 3));
    }
#undef LAM_SPREAD
}

LAM_PANEL void lam_spread_1_s8(uint32_t *to, const void *from, int32_t bytes)
{
    lam_spread(to, from, bytes, 1, 1);
}

LAM_PANEL void lam_spread_2_s8(uint32_t *to, const void *from, int32_t bytes)
{
    lam_spread(to, from, bytes, 2, 1);
}

LAM_PANEL void lam_spread_3_s8(uint32_t *to, const void *from, int32_t bytes)
{
    lam_spread(to, from, bytes, 3, 1);
}

LAM_PANEL void lam_spread_1_u8(uint32_t *to, const void *from, int32_t bytes)
{
    lam_spread(to, from, bytes, 1, 0);
}

LAM_PANEL void lam_spread_2_u8(uint32_t *to, const void *from, int32_t bytes)
{
    lam_spread(to, from, bytes, 2, 0);
}

LAM_PANEL void lam_spread_3_u8(uint32_t *to, const void *from, int32_t bytes)
{
    lam_spread(to, from, bytes, 3, 0);
}

/* Widen the bytes up to `end`, whole sixteens and one at least, for `pixels` pixels, whose columns go on at x, y and z;
 * moves all of them. */
#define LAM_SPREAD_TURNS(pixels, end) \
    do { \
        const uint32_t a = lam_word(byte), b = lam_word(byte + 4); \
        lam_order(); \
        LAM_SPREAD(pixels, a); \
        LAM_SPREAD(pixels, b); \
        const uint32_t c = lam_word(byte + 8), d = lam_word(byte + 12); \
        lam_order(); \
        byte += 16; \
        LAM_SPREAD(pixels, c); \
        LAM_SPREAD(pixels, d); \
    } while (byte != (end))
#define LAM_SPREAD(pixels, word) \
    do { \
        const uint32_t even_ = is_signed ? lam_even_s8(word) : lam_even_u8(word); \
        const uint32_t odd_ = is_signed ? lam_odd_s8(word) : lam_odd_u8(word); \
        LAM_SPREAD_TO(x); \
        if (pixels > 1) { \
            LAM_SPREAD_TO(y); \
        } \
        if (pixels > 2) { \
            LAM_SPREAD_TO(z); \
        } \
    } while (0)
#define LAM_SPREAD_TO(place) \
    do { \
        *place = even_; \
        place[3] = odd_; \
        place += 6; \
    } while (0)

/* Widen what three pixels read of a row into columns that share memory.  Each begins `step` bytes behind the one before
 * and has `bytes` of them, both whole sixteens; twice `step` is no more than `bytes`.  A byte is read and widened once. */
LAM_INLINE void lam_spread_shared(uint32_t *to, const void *from, int32_t bytes, int32_t step, int is_signed)
{
    const uint8_t *byte = (const uint8_t *)from;
    const uint8_t *const end = byte + bytes;
    uint32_t *x = to, *y = to + 1, *z = to + 2;
    LAM_SPREAD_TURNS(1, (const uint8_t *)from + step);
    LAM_SPREAD_TURNS(2, (const uint8_t *)from + 2 * step);
    if (byte != end) {
        LAM_SPREAD_TURNS(3, end);
    }
    x = y;
    y = z;
    LAM_SPREAD_TURNS(2, end + step);
    x = y;
    LAM_SPREAD_TURNS(1, end + 2 * step);
}

#undef LAM_SPREAD
#undef LAM_SPREAD_TO
#undef LAM_SPREAD_TURNS

LAM_PANEL void lam_spread_shared_s8(uint32_t *to, const void *from, int32_t bytes, int32_t step)
{
    lam_spread_shared(to, from, bytes, step, 1);
}

LAM_PANEL void lam_spread_shared_u8(uint32_t *to, const void *from, int32_t bytes, int32_t step)
{
    lam_spread_shared(to, from, bytes, step, 0);
}

/* Adds the products of the next `channels` channels (1 or 2) to the sums, [channel][pixel]; returns the place behind them. */
static inline const uint32_t *lam_panel_add(const lam_panel *panel, const uint32_t *w, int32_t *sums, int32_t pixels,
                                            int32_t channels, int wide)
{
    const uint32_t *x = panel->column;
    for (int32_t i = 0; i < panel->groups; i++, x += 2 * pixels, w += wide ? 2 * channels : channels) {
        for (int32_t j = 0; j < channels; j++) {
            const uint32_t even = wide ? w[j] : lam_even_s8(w[j]), odd = wide ? w[channels + j] : lam_odd_s8(w[j]);
            for (int32_t p = 0; p < pixels; p++) {
                sums[j * pixels + p] = lam_both(even, x[p], sums[j * pixels + p]);
                sums[j * pixels + p] = lam_both(odd, x[pixels + p], sums[j * pixels + p]);
            }
        }
    }
    return w;
}

/* The outputs of a channel without a partner, whose weights stand alone: bias, groups, multiplier, shift.  `more` is added to
 * the sum of each pixel. */
LAM_INLINE void lam_panel_odd_and(const lam_panel *panel, const int32_t *more, const uint32_t *w, uint8_t *y, int32_t pixels,
                                  int wide, int mode, int type)
{
    int32_t sums[3];
    for (int32_t p = 0; p < pixels; p++) {
        sums[p] = (int32_t)w[0] + more[p];
    }
    w = lam_panel_add(panel, w + 1, sums, pixels, 1, wide);
    for (int32_t p = 0; p < pixels; p++) {
        y[p * panel->channels] = lam_panel_byte(sums[p], w[0], (int32_t)w[1], panel->centre, mode, type);
    }
}

static const int32_t lam_panel_none[3] = {0, 0, 0};

LAM_INLINE void lam_panel_odd(const lam_panel *panel, const uint32_t *w, uint8_t *y, int32_t pixels, int wide, int mode,
                              int type)
{
    lam_panel_odd_and(panel, lam_panel_none, w, y, pixels, wide, mode, type);
}

#if LAM_BLOCKS
/* The registers of a panel: r0 the columns, r1 the weights, r2 to r7 what is loaded, r8 to r10 the sums of the first channel,
 * r11, r12, lr those of the second.  LAM_FIRST_* are groups that begin the sums: of both channels that of the first pixel
 * holds the bias, and the other ones begin with it.  3 x 2: 19 instructions for 24 products. */
#define LAM_GROUP_3(b1, b2, d1, d2) \
    "ldrd r5, r6, [r1], #8\n\t" \
    "ldmia r0!, {r2, r3, r4}\n\t" \
    "sxtb16 r7, r5\n\t" \
    "smlad r9, r7, r3, " b1 "\n\t" \
    "smlad r10, r7, r4, " b2 "\n\t" \
    "smlad r8, r7, r2, r8\n\t" \
    "sxtb16 r7, r6\n\t" \
    "smlad r12, r7, r3, " d1 "\n\t" \
    "smlad lr, r7, r4, " d2 "\n\t" \
    "smlad r11, r7, r2, r11\n\t" \
    "sxtb16 r7, r5, ror #8\n\t" \
    "ldmia r0!, {r2, r3, r4}\n\t" \
    "smlad r8, r7, r2, r8\n\t" \
    "smlad r9, r7, r3, r9\n\t" \
    "smlad r10, r7, r4, r10\n\t" \
    "sxtb16 r7, r6, ror #8\n\t" \
    "smlad r11, r7, r2, r11\n\t" \
    "smlad r12, r7, r3, r12\n\t" \
    "smlad lr, r7, r4, lr\n\t"
#define LAM_FIRST_3 LAM_GROUP_3("r8", "r8", "r11", "r11")
#define LAM_NEXT_3 LAM_GROUP_3("r9", "r10", "r12", "lr")
#define LAM_BYTES_3 "72"

#define LAM_GROUP_2(b0, b1) \
    "ldrd r5, r6, [r1], #8\n\t" \
    "ldmia r0!, {r2, r3, r4, r7}\n\t" \
    "sxtb16 r10, r5\n\t" \
    "smlad r9, r10, r3, " b0 "\n\t" \
    "smlad r8, r10, r2, r8\n\t" \
    "sxtb16 r10, r6\n\t" \
    "smlad r12, r10, r3, " b1 "\n\t" \
    "smlad r11, r10, r2, r11\n\t" \
    "sxtb16 r10, r5, ror #8\n\t" \
    "smlad r8, r10, r4, r8\n\t" \
    "smlad r9, r10, r7, r9\n\t" \
    "sxtb16 r10, r6, ror #8\n\t" \
    "smlad r11, r10, r4, r11\n\t" \
    "smlad r12, r10, r7, r12\n\t"
#define LAM_FIRST_2 LAM_GROUP_2("r8", "r11")
#define LAM_NEXT_2 LAM_GROUP_2("r9", "r12")
#define LAM_BYTES_2 "54"

#define LAM_NEXT_1 \
    "ldrd r5, r6, [r1], #8\n\t" \
    "ldmia r0!, {r2, r3}\n\t" \
    "sxtb16 r10, r5\n\t" \
    "smlad r8, r10, r2, r8\n\t" \
    "sxtb16 r10, r6\n\t" \
    "smlad r11, r10, r2, r11\n\t" \
    "sxtb16 r10, r5, ror #8\n\t" \
    "smlad r8, r10, r3, r8\n\t" \
    "sxtb16 r10, r6, ror #8\n\t" \
    "smlad r11, r10, r3, r11\n\t"
#define LAM_FIRST_1 LAM_NEXT_1
#define LAM_BYTES_1 "38"

/* Before the outputs of the first channel and of the second one: N says whether they are the last. */
#define LAM_BEFORE_TFLITE ""
#define LAM_BEFORE_SINGLE ""
#define LAM_BEFORE_LINED "sxth r5, r4\n\t"
#define LAM_BETWEEN_TFLITE "asrs r4, r4, #8\n\t"
#define LAM_BETWEEN_SINGLE LAM_BETWEEN_TFLITE
#define LAM_BETWEEN_LINED "asr.w r5, r4, #16\n\tlsls r4, r4, #31\n\t"

/* From sums to bytes, which are stored: those of the first pixel at r6, which is moved on, of others r7 bytes further each. */
#define LAM_STORED(store, saturate, a, m, to) store(saturate, a, m) "strb " a ", " to "\n\t"
#define LAM_STORE_2 "[r6, r7]"
#define LAM_STORE_3 "[r6, r7, lsl #1]"
#define LAM_STORE_1 "[r6], #1"
#define LAM_STORES_3(store, saturate, before, between) \
    before \
    LAM_STORED(store, saturate, "r9", "r2", LAM_STORE_2) LAM_STORED(store, saturate, "r10", "r2", LAM_STORE_3) \
    LAM_STORED(store, saturate, "r8", "r2", LAM_STORE_1) between \
    LAM_STORED(store, saturate, "r12", "r3", LAM_STORE_2) LAM_STORED(store, saturate, "lr", "r3", LAM_STORE_3) \
    LAM_STORED(store, saturate, "r11", "r3", LAM_STORE_1)
#define LAM_STORES_2(store, saturate, before, between) \
    before \
    LAM_STORED(store, saturate, "r9", "r2", LAM_STORE_2) LAM_STORED(store, saturate, "r8", "r2", LAM_STORE_1) \
    between \
    LAM_STORED(store, saturate, "r12", "r3", LAM_STORE_2) LAM_STORED(store, saturate, "r11", "r3", LAM_STORE_1)
#define LAM_STORES_1(store, saturate, before, between) \
    before \
    LAM_STORED(store, saturate, "r8", "r2", LAM_STORE_1) between \
    LAM_STORED(store, saturate, "r11", "r3", LAM_STORE_1)

/* Behind the first group: jump into a turn so that what is left ends with it, then whole turns until the columns end.  Where
 * to jump, [sp, #20], is made before: groups have LAM_BYTES_* bytes. */
#define LAM_PANEL_TURNS(first, turn) \
    first \
    "ldr pc, [sp, #20]\n" \
    "2:\n\t" \
    turn "3:\n\t" \
    "ldr r7, [sp, #24]\n\t" \
    "cmp r0, r7\n\t" \
    "bne.w 2b\n\t"
#if LAM_SMALL
#define LAM_PANEL_LESS "1"
#define LAM_PANEL_TURN_OF(step) step step
#else
#define LAM_PANEL_LESS "15"
#define LAM_PANEL_TURN_OF(step) LAM_TURN_OF(step) LAM_TURN_OF(step)
#endif
/* From r2 the columns, r4 the groups: the columns, where to jump and where the columns end, at [sp, #16].  ADR counts from a
 * multiple of four, which functions need not begin at. */
#define LAM_PANEL_PLACES(pixels, bytes) \
    "str r2, [sp, #16]\n\t" \
    "lsl r7, r4, #3\n\t" \
    "movs r0, #" pixels "\n\t" \
    "mla r2, r7, r0, r2\n\t" \
    "str r2, [sp, #24]\n\t" \
    "subs r4, r4, #1\n\t" \
    "and r4, r4, #" LAM_PANEL_LESS "\n\t" \
    "movs r0, #" bytes "\n\t" \
    "mul r4, r4, r0\n\t" \
    ".p2align 2\n\t" \
    "adr.w r7, 3f\n\t" \
    "subs r7, r7, r4\n\t" \
    "orr r7, r7, #1\n\t" \
    "str r7, [sp, #20]\n\t"

/* The whole of a panel; the compiler does not know what is put on the stack meanwhile: r7, and `frame` bytes, of which `kept`
 * fills those from the 28th on. */
#define LAM_PANEL_ASM(pixels, first, turn, bytes, stores, frame, kept) \
    do { \
        register const void *panel_ __asm__("r0") = panel; \
        register uint8_t *y_ __asm__("r1") = y; \
        __asm__ volatile("push {r7}\n\t" \
                         "sub sp, sp, #" frame "\n\t" kept "ldmia r0, {r2, r3, r4, r5, r6}\n\t" \
                         "str r2, [sp]\n\t" \
                         "str r6, [sp, #4]\n\t" \
                         "str r1, [sp, #8]\n\t" \
                         "str r5, [sp, #12]\n\t" \
                         LAM_PANEL_PLACES(pixels, bytes) \
                         "ldr r0, [sp]\n\t" \
                         "mov r1, r3\n" \
                         "1:\n\t" \
                         "ldrd r8, r11, [r1], #8\n\t" \
                         LAM_PANEL_TURNS(first, turn) \
                         "ldmia r1!, {r2, r3, r4}\n\t" \
                         "ldmia.w sp, {r0, r5, r6, r7}\n\t" \
                         stores \
                         "str r6, [sp, #8]\n\t" \
                         "bpl.w 1b\n\t" \
                         "add sp, sp, #" frame "\n\t" \
                         "pop {r7}\n\t" \
                         : "+r"(panel_), "+r"(y_) \
                         : \
                         : "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory"); \
    } while (0)
#define LAM_PANEL_OF(pixels, mode, type) \
    LAM_PANEL_ASM(LAM_PIXELS_##pixels, LAM_FIRST_##pixels, LAM_PANEL_TURN_OF(LAM_NEXT_##pixels), LAM_BYTES_##pixels, \
                  LAM_STORES_##pixels(LAM_BYTE_##mode, LAM_SATURATE_##type, LAM_BEFORE_##mode, LAM_BETWEEN_##mode), "28", "")
#define LAM_PIXELS_1 "1"
#define LAM_PIXELS_2 "2"
#define LAM_PIXELS_3 "3"

/* Sums in memory that a panel adds to: those of the first channel's pixels, those of the second one's, the next two. */
#define LAM_SUMS_1 "{r8, r11}"
#define LAM_SUMS_2 "{r8, r9, r11, r12}"
#define LAM_SUMS_3 "{r8, r9, r10, r11, r12, lr}"
#define LAM_PANEL_SUMS_ASM(pixels, places, first, turn, bytes, frame, kept) \
    do { \
        register const void *panel_ __asm__("r0") = panel; \
        register int32_t *sums_ __asm__("r1") = sums; \
        __asm__ volatile("push {r7}\n\t" \
                         "sub sp, sp, #" frame "\n\t" kept "ldmia r0, {r2, r3, r4, r5, r6}\n\t" \
                         "movs r7, #4 * " pixels "\n\t" \
                         "mla r5, r5, r7, r1\n\t" \
                         "str r1, [sp]\n\t" \
                         "str r5, [sp, #4]\n\t" \
                         LAM_PANEL_PLACES(pixels, bytes) \
                         "mov r1, r3\n" \
                         "1:\n\t" \
                         "ldr r7, [sp]\n\t" \
                         "ldr r0, [sp, #16]\n\t" \
                         "ldmia r7, " places "\n\t" \
                         LAM_PANEL_TURNS(first, turn) \
                         "ldrd r7, r2, [sp]\n\t" \
                         "stmia r7!, " places "\n\t" \
                         "str r7, [sp]\n\t" \
                         "cmp r7, r2\n\t" \
                         "bne.w 1b\n\t" \
                         "add sp, sp, #" frame "\n\t" \
                         "pop {r7}\n\t" \
                         : "+r"(panel_), "+r"(sums_) \
                         : \
                         : "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory"); \
    } while (0)
#define LAM_PANEL_SUMS_OF(pixels) \
    LAM_PANEL_SUMS_ASM(LAM_PIXELS_##pixels, LAM_SUMS_##pixels, LAM_NEXT_##pixels, LAM_PANEL_TURN_OF(LAM_NEXT_##pixels), \
                       LAM_BYTES_##pixels, "28", "")
#else
/* The shift of a channel, or its addend. */
static inline int32_t lam_panel_place(uint32_t word, int32_t channel, int mode)
{
    if (mode != LAM_PANEL_LINED) {
        return (int32_t)((word >> (8 * channel)) & 0xFFu);
    }
    return lam_low((channel == 0) ? word : word >> 16);
}

/* Stores the bytes of two channels' sums, whose factors are at w; returns whether they are the last. */
static inline int lam_panel_store(const lam_panel *panel, const uint32_t *w, const int32_t *sums, uint8_t *y, int32_t pixels,
                                  int mode, int type)
{
    for (int32_t j = 0; j < 2 * pixels; j++) {
        const int32_t channel = j / pixels;
        y[(j % pixels) * panel->channels + channel] =
            lam_panel_byte(sums[j], w[channel], lam_panel_place(w[2], channel, mode), panel->centre, mode, type);
    }
    return (mode == LAM_PANEL_LINED) ? (w[2] & 1u) != 0u : (w[2] >> 31) != 0u;
}

/* `more` is added to the sums of each pixel. */
static inline void lam_panel_plain_and(const lam_panel *panel, const int32_t *more, uint8_t *y, int32_t pixels, int wide, int mode,
                                       int type)
{
    const uint32_t *w = panel->weights;
    for (int last = 0; !last; y += 2, w += 3) {
        int32_t sums[6];
        for (int32_t j = 0; j < 2 * pixels; j++) {
            sums[j] = (int32_t)w[j / pixels] + more[j % pixels];
        }
        w = lam_panel_add(panel, w + 2, sums, pixels, 2, wide);
        last = lam_panel_store(panel, w, sums, y, pixels, mode, type);
    }
}

static inline void lam_panel_plain(const lam_panel *panel, uint8_t *y, int32_t pixels, int wide, int mode, int type)
{
    lam_panel_plain_and(panel, lam_panel_none, y, pixels, wide, mode, type);
}

static inline void lam_panel_sums_plain(const lam_panel *panel, int32_t *sums, int32_t pixels, int wide)
{
    const uint32_t *w = panel->weights;
    for (const int32_t *const end = sums + pixels * panel->channels; sums != end; sums += 2 * pixels) {
        w = lam_panel_add(panel, w, sums, pixels, 2, wide);
    }
}

#define LAM_PANEL_OF(pixels, mode, type) lam_panel_plain(panel, y, pixels, 0, LAM_PANEL_##mode, LAM_PANEL_##type)
#define LAM_PANEL_SUMS_OF(pixels) lam_panel_sums_plain(panel, sums, pixels, 0)
#endif

/* One, two, three pixels: the outputs of all channels, by mode and type; or what a part of the columns adds to sums. */
LAM_PANEL void lam_panel_1_tflite_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(1, TFLITE, S8);
}

LAM_PANEL void lam_panel_1_tflite_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(1, TFLITE, U8);
}

LAM_PANEL void lam_panel_1_lined_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(1, LINED, S8);
}

LAM_PANEL void lam_panel_1_lined_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(1, LINED, U8);
}

LAM_PANEL void lam_panel_1_single_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(1, SINGLE, S8);
}

LAM_PANEL void lam_panel_1_single_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(1, SINGLE, U8);
}

LAM_PANEL void lam_panel_1_sums(const lam_panel *panel, int32_t *sums)
{
    LAM_PANEL_SUMS_OF(1);
}

LAM_PANEL void lam_panel_2_tflite_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(2, TFLITE, S8);
}

LAM_PANEL void lam_panel_2_tflite_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(2, TFLITE, U8);
}

LAM_PANEL void lam_panel_2_lined_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(2, LINED, S8);
}

LAM_PANEL void lam_panel_2_lined_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(2, LINED, U8);
}

LAM_PANEL void lam_panel_2_single_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(2, SINGLE, S8);
}

LAM_PANEL void lam_panel_2_single_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(2, SINGLE, U8);
}

LAM_PANEL void lam_panel_2_sums(const lam_panel *panel, int32_t *sums)
{
    LAM_PANEL_SUMS_OF(2);
}

LAM_PANEL void lam_panel_3_tflite_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(3, TFLITE, S8);
}

LAM_PANEL void lam_panel_3_tflite_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(3, TFLITE, U8);
}

LAM_PANEL void lam_panel_3_lined_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(3, LINED, S8);
}

LAM_PANEL void lam_panel_3_lined_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(3, LINED, U8);
}

LAM_PANEL void lam_panel_3_single_s8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(3, SINGLE, S8);
}

LAM_PANEL void lam_panel_3_single_u8(const lam_panel *panel, uint8_t *y)
{
    LAM_PANEL_OF(3, SINGLE, U8);
}

LAM_PANEL void lam_panel_3_sums(const lam_panel *panel, int32_t *sums)
{
    LAM_PANEL_SUMS_OF(3);
}

#endif /* LAM_ARMV7EM_PANEL_H */
