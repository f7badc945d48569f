/* SPDX-License-Identifier: Apache-2.0
 * Copyright (c) Lamina contributors
 *
 * Runs a network's self-test in memory of the heap: just as many bytes as the header asks for, none of them written
 * before.  So a checker sees every access outside of them, and every result that depends on a byte that nobody wrote.
 * Compile it, and test/selftest.c, with
 *
 *     -DNET=kws -DBIG=KWS -DHEADER="kws.h" -DKWS_SELFTEST_ARENA="(*lent_arena)"
 *     [-DKWS_SELFTEST_SCRATCHPAD="(*lent_scratchpad)" -DSCRATCHPAD -DCORES=1]     kernels work in the scratchpad, of so many cores
 *     [-DBLOB]                                  the weights are the file that is named as the argument
 *     [-DTOO_FEW=16]                            the arena is so much smaller than it should be
 */
#define _POSIX_C_SOURCE 200112L
#include HEADER

#include <stdio.h>
#include <stdlib.h>

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#ifndef TOO_FEW
#define TOO_FEW 0
#endif

extern uint8_t (*lent_arena)[JOIN(BIG, _ARENA_SIZE)];
uint8_t (*lent_arena)[JOIN(BIG, _ARENA_SIZE)];
int JOIN(NET, _selftest)(void);

static void *lent(size_t align, size_t bytes)
{
    void *found = NULL;
    if (posix_memalign(&found, align < sizeof(void *) ? sizeof(void *) : align, bytes) != 0) {
        abort();
    }
    return found;
}

#ifdef SCRATCHPAD
#if CORES > 1
typedef uint8_t scratchpad_memory[CORES][JOIN(BIG, _SCRATCHPAD_SIZE)];
#else
typedef uint8_t scratchpad_memory[JOIN(BIG, _SCRATCHPAD_SIZE)];
#endif
extern scratchpad_memory *lent_scratchpad;
scratchpad_memory *lent_scratchpad;
#endif

#ifdef BLOB
extern const uint8_t *JOIN(NET, _selftest_weights);
const uint8_t *JOIN(NET, _selftest_weights);

static uint8_t *read_weights(const char *path)
{
    uint8_t *weights = lent(JOIN(BIG, _WEIGHTS_ALIGN), JOIN(BIG, _WEIGHTS_SIZE));
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(weights, 1, JOIN(BIG, _WEIGHTS_SIZE), file) != JOIN(BIG, _WEIGHTS_SIZE)) {
        abort();
    }
    (void)fclose(file);
    return weights;
}
#endif

int main(int argc, char **argv)
{
    int result;
#ifdef BLOB
    uint8_t *weights = read_weights(argv[argc - 1]);
    JOIN(NET, _selftest_weights) = weights;
#else
    (void)argc;
    (void)argv;
#endif
    lent_arena = lent(JOIN(BIG, _ARENA_ALIGN), sizeof(*lent_arena) - TOO_FEW);
#ifdef SCRATCHPAD
    lent_scratchpad = lent(JOIN(BIG, _SCRATCHPAD_ALIGN), sizeof(*lent_scratchpad));
#endif
    result = JOIN(NET, _selftest)();
#ifdef SCRATCHPAD
    free(lent_scratchpad);
#endif
    free(lent_arena);
#ifdef BLOB
    free(weights);
#endif
    if (result != 0) {
        printf("the self-test gives %d\n", result);
    }
    return result == 0 ? 0 : 1;
}
