/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Runs a network twice on one sample that is compiled in, and prints how many instructions the second inference took and
 * how much stack, in hexadecimal.  For emulated boards.  Compile with lam_board.h, the sample as for lam_check_main.c, and
 *
 *     -DLAM_HOST_NAME=kws -DLAM_HOST_UPPER=KWS -DLAM_HOST_HEADER="kws.h" [-DLAM_HOST_STREAM]
 */
#include LAM_HOST_HEADER

#include "lam_board.h"

#define LAM_HOST_PASTE(a, b) a##b
#define LAM_HOST_JOIN(a, b) LAM_HOST_PASTE(a, b)
#define NET(suffix) LAM_HOST_JOIN(LAM_HOST_NAME, suffix)
#define BIG(suffix) LAM_HOST_JOIN(LAM_HOST_UPPER, suffix)

extern const int32_t lam_check_inputs;
extern const uint32_t lam_check_input_bytes[];
extern const uint8_t lam_check_data[];

static uint8_t arena[BIG(_ARENA_SIZE)] BIG(_ARENA_ALIGNED);

static int infer(NET(_t) *net)
{
#ifdef LAM_HOST_STREAM
    const uint8_t *data = lam_check_data;
    lam_status status = LAM_NEED_MORE;
    NET(_reset)(net);
    for (int32_t row = 0; row < BIG(_INPUT0_ROWS) && status == LAM_NEED_MORE; row++) {
        void *place = NET(_next_row)(net);
        memcpy(place, data, BIG(_INPUT0_ROW_BYTES));
        data += BIG(_INPUT0_ROW_BYTES);
        status = NET(_push_row)(net, place);
    }
    return status == LAM_DONE ? 0 : 1;
#else
    return NET(_run)(net) == LAM_OK ? 0 : 1;
#endif
}

static void fill(NET(_t) *net)
{
#ifdef LAM_HOST_STREAM
    LAM_UNUSED(net);
#else
    const uint8_t *data = lam_check_data;
    for (int32_t i = 0; i < lam_check_inputs; i++) {
        memcpy(NET(_input)(net, i), data, lam_check_input_bytes[i]);
        data += lam_check_input_bytes[i];
    }
#endif
}

int main(void)
{
    NET(_t) net;
    const NET(_memory) memory = BIG(_MEMORY)(arena);
    uint32_t before, after;
    if (NET(_init)(&net, &memory) != LAM_OK) {
        return 2;
    }
    fill(&net);
    lam_board_stack_paint();
    if (infer(&net) != 0) {
        return 3;
    }
    lam_board_puts("stack ");
    lam_board_number(lam_board_stack_high_water());
    fill(&net);
    before = lam_board_instructions();
    if (infer(&net) != 0) {
        return 3;
    }
    after = lam_board_instructions();
    lam_board_puts("\ninstructions ");
    lam_board_number(after - before);
    lam_board_puts("\n");
    return 0;
}
