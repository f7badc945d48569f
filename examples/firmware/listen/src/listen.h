/* SPDX-License-Identifier: MIT-0 */
/* Frames of audio in, commands out: the last half second is kept, and the network is asked about it every few frames. */
#ifndef LISTEN_H
#define LISTEN_H

#include <whistle_helpers.h>

#define LISTEN_SAMPLES WHISTLE_INPUT0_ROW_BYTES /* of a frame: int8_t at 4 kHz, -128 .. 127 for -1 .. 1 */
#define LISTEN_FRAMES WHISTLE_INPUT0_ROWS       /* that the network hears at once */
#define LISTEN_HOP 8                            /* frames between two questions */

typedef struct listener {
    uint8_t arena[WHISTLE_ARENA_SIZE] WHISTLE_ARENA_ALIGNED;
    whistle_t net;
    int8_t heard[LISTEN_FRAMES][LISTEN_SAMPLES];
    int32_t oldest;  /* the frame that is replaced next */
    int32_t waiting; /* frames until the network is asked */
    int32_t before;  /* its last answer */
    int32_t told;    /* the last answer that the caller has got */
} listener;

static inline lam_status listen_begin(listener *l)
{
    memset(l, 0, sizeof(*l));
    const whistle_memory memory = WHISTLE_MEMORY(l->arena);
    l->waiting = LISTEN_FRAMES;
    return whistle_init(&l->net, &memory);
}

/* The command that the last LISTEN_FRAMES frames hold, 0 for none, -1 for a failure. */
static inline int32_t listen_ask(listener *l)
{
    int32_t best = 0;
    whistle_reset(&l->net);
    for (int32_t i = 0; i < LISTEN_FRAMES; i++) {
        const lam_status status = whistle_push_row(&l->net, l->heard[(l->oldest + i) % LISTEN_FRAMES]);
        if (status != LAM_NEED_MORE && status != LAM_DONE) {
            return -1;
        }
    }
    whistle_top_output0(whistle_output(&l->net, 0), WHISTLE_OUTPUT0_BYTES, &best, 1);
    return best;
}

/* Takes a frame.  A command is given back once, when the network hears it twice running: its number, of which
 * whistle_label_output0() knows the name.  0: nothing new.  -1: a failure. */
static inline int32_t listen(listener *l, const int8_t *frame)
{
    memcpy(l->heard[l->oldest], frame, LISTEN_SAMPLES);
    l->oldest = (l->oldest + 1) % LISTEN_FRAMES;
    l->waiting--;
    if (l->waiting > 0) {
        return 0;
    }
    l->waiting = LISTEN_HOP;
    const int32_t now = listen_ask(l);
    const int32_t sure = now == l->before ? now : l->told;
    const int32_t news = sure == l->told ? 0 : sure;
    l->before = now;
    l->told = sure;
    return now < 0 ? now : news;
}

#endif
