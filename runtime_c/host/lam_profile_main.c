/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Measures one inference: all of it, and in a build with NAME_PROFILE also each layer.  Input is a made-up pattern of
 * bytes, each masked with LAM_PROFILE_MASK (0xff; 0x3f for floats, which are then of all sizes but never a NaN).
 *
 *     -DLAM_HOST_NAME=kws -DLAM_HOST_UPPER=KWS -DLAM_HOST_HEADER="kws.h" -DLAM_PROFILE_LAYERS=13 -DLAM_PROFILE_REPEATS=1 \
 *         -DLAM_PROFILE_INPUT_BYTES=490 -DLAM_PROFILE_MASK=0xff
 *     [-DLAM_HOST_STREAM] [-DLAM_PROFILE_EMPTY] [-DKWS_PROFILE with -DLAM_PROFILE_HOOKS, -DLAM_PROFILE_MARKS or
 *     -DLAM_PROFILE_STACKS]
 *
 * Prints `stack BYTES`; for each repeat `total COUNT`, or with hooks `layer N CALLS COUNT` for each layer from 1 on and 0 for what
 * lies between them, and `hook CALLS COUNT`: what calls with nothing between them cost.  A COUNT is two numbers,
 * the higher and the lower 32 bits.  With LAM_PROFILE_STACKS it prints `deep N BYTES` instead: the stack while layer N
 * ran, from 1 on, counted like that of the first line.  With LAM_PROFILE_EMPTY there is no network: what else the program takes.
 */
#ifdef LAM_PROFILE_EMPTY
#include <stdint.h>
#else
#include LAM_HOST_HEADER
#endif

#include "lam_board.h"
#include "lam_host_names.h"

static uint32_t last_byte = 1;

/* Bytes of a linear congruential generator. */
static void fill(uint8_t *to, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        last_byte = last_byte * 1664525u + 1013904223u;
        to[i] = (uint8_t)(last_byte >> 24 & LAM_PROFILE_MASK);
    }
}

static void print_count(uint64_t count)
{
    lam_board_puts(" ");
    lam_board_number((uint32_t)(count >> 32));
    lam_board_puts(" ");
    lam_board_number((uint32_t)count);
    lam_board_puts("\n");
}

#ifdef LAM_PROFILE_EMPTY
static uint8_t input[4];
static int prepare(void)
{
    return 0;
}
static int infer(void)
{
    fill(input, sizeof input);
    return 0;
}
static void refill(void)
{
}
#else
static uint8_t arena[BIG(_ARENA_SIZE)] BIG(_ARENA_ALIGNED);
#include "lam_host_regions.h"
static NET(_t) net;

static int prepare(void)
{
    const NET(_memory) memory = APPLY(BIG(_MEMORY), (arena REGIONS));
    return NET(_init)(&net, &memory) == LAM_OK ? 0 : 1;
}

#ifdef LAM_HOST_STREAM
static void refill(void)
{
}

/* Where rows come from is not part of the network: they stay as they were in the ring. */
static int infer(void)
{
    lam_status status = LAM_NEED_MORE;
    NET(_reset)(&net);
    while (status == LAM_NEED_MORE) {
        status = NET(_push_row)(&net, NET(_next_row)(&net));
    }
    return status == LAM_DONE ? 0 : 1;
}
#else
static void refill(void)
{
    static const uint32_t bytes[] = {LAM_PROFILE_INPUT_BYTES};
    for (int32_t i = 0; i < BIG(_INPUTS); i++) {
        fill((uint8_t *)NET(_input)(&net, i), bytes[i]);
    }
}

static int infer(void)
{
    return NET(_run)(&net) == LAM_OK ? 0 : 1;
}
#endif
#endif

#if defined(LAM_PROFILE_MARKS)
/* For an emulator that watches these bytes: what runs from a store on belongs to the layer whose byte it was; the last
 * two begin and end the inference. */
volatile uint8_t lam_profile_marks[LAM_PROFILE_LAYERS + 3];

void NET(_profile)(const NET(_t) *one, int32_t layer)
{
    lam_profile_marks[layer + 1] = 1;
    (void)one;
}

static int measure(void)
{
    lam_profile_marks[LAM_PROFILE_LAYERS + 1] = 1;
    const int failed = infer();
    lam_profile_marks[LAM_PROFILE_LAYERS + 2] = 1;
    return failed;
}
#elif defined(LAM_PROFILE_STACKS)
static uint32_t deep[LAM_PROFILE_LAYERS + 1];
static uint32_t base;
static int32_t owner;
enum { WINDOW = 16384 };

/* What was used since the last call belongs to the layer that was named then; the hook's own frame is the least. */
void NET(_profile)(const NET(_t) *one, int32_t layer)
{
    const uint32_t depth = lam_board_stack_painted_at() - base + lam_board_stack_high_water();
    if (depth > deep[owner]) {
        deep[owner] = depth;
    }
    owner = layer + 1;
    lam_board_stack_paint_some(WINDOW);
    (void)one;
}

static int measure(void)
{
    for (int32_t i = 1; i <= LAM_PROFILE_LAYERS; i++) {
        lam_board_puts("deep ");
        lam_board_number((uint32_t)i);
        lam_board_puts(" ");
        lam_board_number(deep[i]);
        lam_board_puts("\n");
    }
    return 0;
}
#elif defined(LAM_PROFILE_HOOKS)
static uint64_t spent[LAM_PROFILE_LAYERS + 1];
static uint32_t calls[LAM_PROFILE_LAYERS + 1];
static int32_t owner;
static uint32_t since;

/* What passed since the last call belongs to the layer that was named then; place 0 is for what is no layer's.
 * Weak, so that print_hook calls it as the network does: inlined or cloned there, a call would seem to cost less. */
__attribute__((weak)) void NET(_profile)(const NET(_t) *one, int32_t layer)
{
    const uint32_t now = lam_board_instructions();
    spent[owner] += now - since;
    calls[owner]++;
    owner = layer + 1;
    since = now;
    (void)one;
}

static void start(void)
{
    for (int32_t i = 0; i <= LAM_PROFILE_LAYERS; i++) {
        spent[i] = 0;
        calls[i] = 0;
    }
    owner = 0;
    since = lam_board_instructions();
}

static void print_hook(void)
{
    start();
    for (int i = 0; i < 64; i++) {
        NET(_profile)(&net, 0);
        NET(_profile)(&net, 0);
        NET(_profile)(&net, 0);
        NET(_profile)(&net, 0);
        NET(_profile)(&net, 0);
        NET(_profile)(&net, 0);
        NET(_profile)(&net, 0);
        NET(_profile)(&net, -1); /* the loop's own instructions count for nobody */
    }
    lam_board_puts("hook ");
    lam_board_number(calls[1]);
    print_count(spent[1]);
}

static int measure(void)
{
    start();
    if (infer() != 0) {
        return 1;
    }
    NET(_profile)(&net, -1);
    for (int32_t i = 0; i <= LAM_PROFILE_LAYERS; i++) {
        lam_board_puts("layer ");
        lam_board_number((uint32_t)i);
        lam_board_puts(" ");
        lam_board_number(calls[i]);
        print_count(spent[i]);
    }
    return 0;
}
#else
static int measure(void)
{
    const uint32_t before = lam_board_instructions();
    if (infer() != 0) {
        return 1;
    }
    const uint32_t after = lam_board_instructions();
    lam_board_puts("total");
    print_count(after - before);
    return 0;
}
#endif

int main(void)
{
    if (prepare() != 0) {
        return 2;
    }
    refill();
    lam_board_stack_paint();
#if defined(LAM_PROFILE_STACKS)
    base = lam_board_stack_painted_at();
#endif
    if (infer() != 0) {
        return 3;
    }
    lam_board_puts("stack ");
    lam_board_number(lam_board_stack_high_water());
    lam_board_puts("\n");
#if defined(LAM_PROFILE_HOOKS)
    print_hook();
#endif
    for (int i = 0; i < LAM_PROFILE_REPEATS; i++) {
        refill();
        if (measure() != 0) {
            return 3;
        }
    }
    return 0;
}
