/* SPDX-License-Identifier: MIT-0 */
/* In the place of a microphone, so that the examples run without one: it whistles up, down and one tone, then is silent. */
#ifndef MICROPHONE_H
#define MICROPHONE_H

#include <stdint.h>

#define MICROPHONE_ROUND 4096 /* samples from whistle to whistle, at 4 kHz */
#define MICROPHONE_WHISTLE 1600
#define MICROPHONE_END (4 * (int32_t)MICROPHONE_ROUND)

typedef struct microphone {
    int32_t time;   /* samples given so far */
    uint16_t phase; /* of the tone: 65536 is a whole turn */
    uint32_t noise;
} microphone;

static inline int8_t microphone_sample(microphone *m)
{
    static const int16_t first[4] = {10000, 22000, 16000, 0}; /* turns per sample, of 65536: 610 Hz to 1343 Hz */
    static const int16_t last[4] = {22000, 10000, 16000, 0};
    const int32_t round = m->time / MICROPHONE_ROUND % 4, at = m->time % MICROPHONE_ROUND;
    m->time++;
    m->noise = m->noise * 1664525u + 1013904223u;
    const int16_t noise = (int16_t)((m->noise >> 24) & 3u);
    if (at >= MICROPHONE_WHISTLE || first[round] == 0) {
        return (int8_t)noise;
    }
    const int32_t glide = (last[round] - first[round]) * at / MICROPHONE_WHISTLE;
    m->phase = (uint16_t)(m->phase + (uint32_t)(first[round] + glide));
    const uint16_t triangle = m->phase < 32768u ? m->phase : (uint16_t)(65535u - m->phase);
    return (int8_t)((int16_t)(triangle / 256u) - 64 + noise);
}

static inline void microphone_frame(microphone *m, int8_t *frame, int32_t samples)
{
    for (int32_t i = 0; i < samples; i++) {
        frame[i] = microphone_sample(m);
    }
}

#endif
