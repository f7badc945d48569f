/* SPDX-License-Identifier: MIT-0
 *
 * Copies an input and runs the network, `count` times, through runtime_c/host/lam_host_shim.c: what benchmarks/tiny.py times.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *lam_host_input(void *net, int32_t index);
int lam_host_run(void *net);
int bench_repeat(void *net, const uint8_t *x, size_t bytes, int32_t count);

int bench_repeat(void *net, const uint8_t *x, size_t bytes, int32_t count)
{
    int failed = 0;
    for (int32_t i = 0; i < count; i++) {
        memcpy(lam_host_input(net, 0), x, bytes);
        failed |= lam_host_run(net);
    }
    return failed;
}
