/* SPDX-License-Identifier: MIT-0 */
/* Whistled commands: one thread records frames, the main thread listens, a message queue lies between them. */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "listen.h"
#include "microphone.h"

#define QUEUED 8

K_MSGQ_DEFINE(frames, LISTEN_SAMPLES, QUEUED, 4);
static listener ear;

/* A driver of a microphone has this place: it puts each block of samples as it comes. */
static void record(void *a, void *b, void *c)
{
    static microphone source;
    int8_t frame[LISTEN_SAMPLES];
    ARG_UNUSED(a);
    ARG_UNUSED(b);
    ARG_UNUSED(c);
    while (source.time < MICROPHONE_END) {
        microphone_frame(&source, frame, LISTEN_SAMPLES);
        (void)k_msgq_put(&frames, frame, K_FOREVER);
    }
}

K_THREAD_DEFINE(recording, 2048, record, NULL, NULL, NULL, 7, 0, 0);

int main(void)
{
    int8_t frame[LISTEN_SAMPLES];
    if (listen_begin(&ear) != LAM_OK) {
        printk("no network\n");
        return 0;
    }
    for (int32_t heard = 0; heard < MICROPHONE_END / LISTEN_SAMPLES; heard++) {
        (void)k_msgq_get(&frames, frame, K_FOREVER);
        const int32_t command = listen(&ear, frame);
        if (command != 0) {
            printk("%s\n", command < 0 ? "failed" : whistle_label_output0(command));
        }
    }
    printk("end\n");
    return 0;
}
