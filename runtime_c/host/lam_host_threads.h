/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * One inference with a thread for each core, and a barrier after each stage: what a firmware does on a chip with several
 * cores.  Included by a program that has NET and BIG, compiled with _POSIX_C_SOURCE of 200112L or more and -pthread.
 */
#ifndef LAM_HOST_THREADS_H
#define LAM_HOST_THREADS_H

#include <pthread.h>

/* What parts the stages; a test leaves it out to see that it is missed. */
#ifndef LAM_BARRIER_WAIT
#define LAM_BARRIER_WAIT(barrier) pthread_barrier_wait(barrier)
#endif

typedef struct {
    NET(_t) *net;
    int32_t core;
    pthread_barrier_t *barrier;
    lam_status status;
} core_thread;

static void *run_one_core(void *argument)
{
    core_thread *one = (core_thread *)argument;
    (void)pthread_barrier_wait(one->barrier); /* all are there before one begins, and until all have ended */
    for (int32_t stage = 0; stage < BIG(_STAGES); stage++) {
        const lam_status status = NET(_run_core)(one->net, stage, one->core);
        one->status = status == LAM_OK ? one->status : status;
        (void)LAM_BARRIER_WAIT(one->barrier);
    }
    (void)pthread_barrier_wait(one->barrier);
    return NULL;
}

static lam_status run_threads(NET(_t) *net)
{
    core_thread cores[BIG(_CORES)];
    pthread_t threads[BIG(_CORES)];
    pthread_barrier_t barrier;
    lam_status status = LAM_OK;
    if (pthread_barrier_init(&barrier, NULL, BIG(_CORES)) != 0) {
        return LAM_ERROR_NOT_READY;
    }
    for (int32_t i = 0; i < BIG(_CORES); i++) {
        cores[i].net = net;
        cores[i].core = i;
        cores[i].barrier = &barrier;
        cores[i].status = LAM_OK;
        if (pthread_create(&threads[i], NULL, run_one_core, &cores[i]) != 0) {
            return LAM_ERROR_NOT_READY; /* the program ends, and with it those that wait */
        }
    }
    for (int32_t i = 0; i < BIG(_CORES); i++) {
        (void)pthread_join(threads[i], NULL);
        status = cores[i].status == LAM_OK ? status : cores[i].status;
    }
    (void)pthread_barrier_destroy(&barrier);
    return status;
}

#endif /* LAM_HOST_THREADS_H */
