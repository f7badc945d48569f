/* SPDX-License-Identifier: Apache-2.0 */
/* C of emx-onnx-cgen (EMX_SOURCE, function `emx_net`) run a number of times: by benchmarks/float.py, here and on a board. */
#include EMX_SOURCE

static float given[EMX_INPUTS], made[EMX_OUTPUTS];

#ifdef EMX_BOARD
#include "lam_board.h"

/* Its larger tensors come from a heap: one behind the other, each behind its size, so that what is held at once is known. */
static uint64_t heap[EMX_HEAP / 8];
static size_t taken, held, most;

void *malloc(size_t bytes)
{
    size_t words = 1 + (bytes + 7) / 8;
    uint64_t *found = heap + taken;
    if (words > EMX_HEAP / 8 - taken) {
        return NULL;
    }
    taken += words;
    *found = bytes;
    held += bytes;
    most = held > most ? held : most;
    return found + 1;
}

void free(void *p)
{
    if (p != NULL) {
        held -= (size_t)((uint64_t *)p)[-1];
    }
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
    lam_board_puts("\nheap ");
    lam_board_number((uint32_t)most);
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
