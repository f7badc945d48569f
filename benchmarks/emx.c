/* SPDX-License-Identifier: Apache-2.0 */
/* C of emx-onnx-cgen (EMX_SOURCE, function `emx_net`) run a number of times: by benchmarks/float.py, here and on a board. */
#include EMX_SOURCE

static float given[EMX_INPUTS], made[EMX_OUTPUTS];

#ifdef EMX_BOARD
#include "lam_board.h"

/* Its larger tensors come from a heap: what one inference takes, one behind the other. */
static uint64_t heap[EMX_HEAP / 8];
static size_t taken;

void *malloc(size_t bytes)
{
    void *found = heap + taken;
    taken += (bytes + 7) / 8;
    return taken <= EMX_HEAP / 8 ? found : NULL;
}

void free(void *p)
{
    (void)p;
}

int main(void)
{
    uint32_t before, after;
    for (int32_t i = 0; i < EMX_INPUTS; i++) {
        given[i] = (float)(i % 17 - 8) * 0.125f;
    }
    before = lam_board_instructions();
    emx_net((void *)given, (void *)made);
    after = lam_board_instructions();
    lam_board_puts("instructions ");
    lam_board_number(after - before);
    lam_board_puts("\n");
    lam_board_exit(0);
}
#else
void emx_repeat(const float *x, float *y, int32_t count)
{
    for (int32_t i = 0; i < EMX_INPUTS; i++) {
        given[i] = x[i];
    }
    for (int32_t i = 0; i < count; i++) {
        emx_net((void *)given, (void *)made);
    }
    for (int32_t i = 0; i < EMX_OUTPUTS; i++) {
        y[i] = made[i];
    }
}
#endif
