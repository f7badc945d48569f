/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Weights of 4 bits, or of 8, with a factor of 16 bits per group of inputs, as the pairs of 16 bits that the products of
 * lam_armv7em_wide.h read: what many pixels share is made once.
 */
#ifndef LAM_ARMV7EM_OPENED_H
#define LAM_ARMV7EM_OPENED_H

#include "lam_armv7em.h"

/* Eight weights of a word: their fields times a factor, with `more` added to both of a pair.  2^15 is among that, so that a lower
 * product takes nothing from the upper one, and is taken off again.  Returns the place of the next eight. */
static inline uint32_t *lam_open_word(uint32_t *to, uint32_t word, uint32_t factor, uint32_t more)
{
#if LAM_BLOCKS
    uint32_t a, b, c, d;
    __asm__ volatile("and %[a], %[mask], %[word]\n\t"
                     "and %[b], %[mask], %[word], lsr #4\n\t"
                     "and %[c], %[mask], %[word], lsr #8\n\t"
                     "and %[d], %[mask], %[word], lsr #12\n\t"
                     "mla %[a], %[a], %[factor], %[more]\n\t"
                     "mla %[b], %[b], %[factor], %[more]\n\t"
                     "mla %[c], %[c], %[factor], %[more]\n\t"
                     "mla %[d], %[d], %[factor], %[more]\n\t"
                     "eor %[a], %[a], #0x8000\n\t"
                     "eor %[b], %[b], #0x8000\n\t"
                     "eor %[c], %[c], #0x8000\n\t"
                     "eor %[d], %[d], #0x8000\n\t"
                     "strd %[a], %[b], [%[to]], #16\n\t"
                     "strd %[c], %[d], [%[to]], #16\n\t"
                     : [to] "+r"(to), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
                     : [word] "r"(word), [mask] "r"(0x000F000Fu), [factor] "r"(factor), [more] "r"(more)
                     : "memory");
    return to;
#else
    static const uint8_t place[4] = {0, 1, 4, 5};
    for (int32_t i = 0; i < 4; i++) {
        to[place[i]] = ((((word >> (4 * i)) & 0x000F000Fu) * factor) + more) ^ 0x8000u;
    }
    return to + 8;
#endif
}

/* Four weights of a word of bytes, which have 128 added, likewise. */
static inline uint32_t *lam_open_bytes(uint32_t *to, uint32_t word, uint32_t factor, uint32_t more)
{
#if LAM_BLOCKS
    uint32_t a, b;
    __asm__ volatile("uxtb16 %[a], %[word]\n\t"
                     "uxtb16 %[b], %[word], ror #8\n\t"
                     "mla %[a], %[a], %[factor], %[more]\n\t"
                     "mla %[b], %[b], %[factor], %[more]\n\t"
                     "eor %[a], %[a], #0x8000\n\t"
                     "eor %[b], %[b], #0x8000\n\t"
                     "strd %[a], %[b], [%[to]], #16\n\t"
                     : [to] "+r"(to), [a] "=&r"(a), [b] "=&r"(b)
                     : [word] "r"(word), [factor] "r"(factor), [more] "r"(more)
                     : "memory");
    return to;
#else
    to[0] = ((word & 0x00FF00FFu) * factor + more) ^ 0x8000u;
    to[1] = (((word >> 8) & 0x00FF00FFu) * factor + more) ^ 0x8000u;
    return to + 4;
#endif
}

/* The weights of a group, of so many words as lam_armv7em_few.h has them: its factor, and what is added to its fields. */
LAM_INLINE uint32_t *lam_open_group(uint32_t *to, const uint32_t *w, int32_t factor, int32_t zero, int32_t words)
{
    const uint32_t more = ((uint32_t)(factor * zero) * 0x00010001u) + 0x8000u;
    for (int32_t i = 0; i < words; i++) {
        to = lam_open_word(to, w[i], (uint32_t)factor, more);
    }
    return to;
}

/* Those of one of two channels that take turns in `to`: `whole` groups of `steps` words, and one of `rest`.  `factors` has the
 * factor of each group, and `zeros` what is added to its fields; NULL stands for -8. */
LAM_BLOCK void lam_open_groups(uint32_t *to, const uint32_t *w, const int16_t *factors, const int8_t *zeros, int32_t whole,
                               int32_t steps, int32_t rest)
{
    for (int32_t g = 0; g < whole; g++, w += steps) {
        to = lam_open_group(to, w, factors[g], (zeros != NULL) ? zeros[g] : -8, steps);
    }
    if (rest != 0) {
        (void)lam_open_group(to, w, factors[whole], (zeros != NULL) ? zeros[whole] : -8, rest);
    }
}

/* The same of bytes, `steps` and `rest` twos of words, which NULL stands for -128 of. */
LAM_BLOCK void lam_open_byte_groups(uint32_t *to, const uint32_t *w, const int16_t *factors, const int16_t *zeros, int32_t whole,
                                    int32_t steps, int32_t rest)
{
    for (int32_t g = 0; g < whole + (rest != 0); g++) {
        const int32_t factor = factors[g], zero = (zeros != NULL) ? zeros[g] : -128;
        const uint32_t more = ((uint32_t)(factor * zero) * 0x00010001u) + 0x8000u;
        for (const uint32_t *const end = w + 2 * ((g < whole) ? steps : rest); w != end; w += 2) {
            to = lam_open_bytes(to, w[0], (uint32_t)factor, more);
            to = lam_open_bytes(to, w[1], (uint32_t)factor, more);
        }
    }
}

#endif /* LAM_ARMV7EM_OPENED_H */
