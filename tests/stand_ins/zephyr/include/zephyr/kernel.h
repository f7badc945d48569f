/* What the samples use of Zephyr's kernel, over threads of this machine. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define ARG_UNUSED(x) (void)(x)
#define K_FOREVER 0
#define main zephyr_main

#define K_THREAD_STACK_DEFINE(name, size) char name[size]
#define K_THREAD_STACK_SIZEOF(name) sizeof(name)
#define K_THREAD_DEFINE(name, stack, entry, a, b, c, priority, options, delay) \
    static void *name(void *x) { (entry)(x, x, x); return NULL; } \
    static void __attribute__((constructor)) start_##name(void) { pthread_t t; pthread_create(&t, NULL, name, NULL); }

#define K_SEM_DEFINE(name, first, most) sem_t name
#define k_sem_give(sem) sem_post(sem)
#define k_sem_take(sem, wait) sem_wait(sem)

struct k_work { void (*run)(struct k_work *); };
struct k_work_q { int unused; };
#define k_work_init(work, function) ((work)->run = (function))
#define k_work_queue_init(queue) ((queue)->unused = 0)
#define k_work_queue_start(queue, stack, size, priority, config) ((void)(stack), (void)(size), (void)(queue))
#define k_work_submit_to_queue(queue, work) ((void)(queue), (work)->run(work))

/* A queue is a pipe, which takes and gives whole messages. */
struct k_msgq { int ends[2]; size_t size; };
#define K_MSGQ_DEFINE(name, bytes, most, align) \
    struct k_msgq name = {{0, 0}, (bytes)}; \
    static void __attribute__((constructor(101))) open_##name(void) { if (pipe(name.ends) != 0) abort(); }
static inline int k_msgq_put(struct k_msgq *q, const void *data, int wait)
{
    (void)wait;
    return write(q->ends[1], data, q->size) == (ssize_t)q->size ? 0 : -1;
}
static inline int k_msgq_get(struct k_msgq *q, void *data, int wait)
{
    (void)wait;
    return read(q->ends[0], data, q->size) == (ssize_t)q->size ? 0 : -1;
}
