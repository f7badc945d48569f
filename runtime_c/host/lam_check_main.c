/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Runs a network on samples that are compiled in, and prints for each sample the CRC-32 of every traced tensor and of
 * every output.  For emulated boards and for sanitizer builds.  Compile with lam_board.h (or LAM_CHECK_STDIO) and
 *
 *     -DLAM_HOST_NAME=kws -DLAM_HOST_UPPER=KWS -DLAM_HOST_HEADER="kws.h" -DKWS_TRACE -DLAM_CHECK_TENSORS=17
 *     [-DLAM_HOST_BLOB]        the weights are lam_check_weights
 *     [-DLAM_HOST_READ]        and they are read into a buffer, late and in an order of its own
 *     [-DLAM_HOST_STREAM]      the input is pushed row by row
 *     [-DLAM_HOST_SCRATCHPAD]        kernels work in the scratchpad
 *     [-DLAM_HOST_CORES]       of several cores, which take turns
 *     [-DLAM_CHECK_THREADS]    each core is a thread (POSIX; give no KWS_TRACE and 0 tensors)
 *     [-DLAM_CHECK_STEPS=5]    the network keeps state, and is reset before each row of five samples
 *     [-DLAM_CHECK_DUMP=3]     also prints all bytes of tensor 3
 *     [-DLAM_CHECK_FOUND]      also prints what KWS_postprocess finds in the outputs of each sample, and then in other ones that are
 *                              written over them; LAM_HOST_HEADER is "kws_postprocess.h"
 *
 * and a file that defines the samples (templates/check_data.c.j2):
 *
 *     const int32_t lam_check_samples, lam_check_inputs, lam_check_outputs;
 *     const uint32_t lam_check_input_bytes[], lam_check_output_bytes[];
 *     const uint8_t lam_check_data[];      all inputs of sample 0, then of sample 1, ...
 *     const uint8_t lam_check_weights[]; const uint32_t lam_check_weights_bytes;      with LAM_HOST_BLOB
 *     const uint8_t lam_check_other_data[]; const int32_t lam_check_others;           all outputs, so often; with LAM_CHECK_FOUND
 */
#include LAM_HOST_HEADER

#include "lam_crc32.h"
#include "lam_host_names.h"

#ifdef LAM_CHECK_STDIO
#include <stdio.h>
#else
#include "lam_board.h"
#endif

extern const int32_t lam_check_samples, lam_check_inputs, lam_check_outputs;
extern const uint32_t lam_check_input_bytes[], lam_check_output_bytes[];
extern const uint8_t lam_check_data[];
#ifdef LAM_HOST_BLOB
extern const uint8_t lam_check_weights[];
extern const uint32_t lam_check_weights_bytes;
#endif

#ifdef LAM_CHECK_FOUND
extern const uint8_t lam_check_other_data[];
extern const int32_t lam_check_others;
#endif

#ifdef LAM_HOST_READ
#include "lam_host_reads.h"
#endif

static uint8_t arena[BIG(_ARENA_SIZE)] BIG(_ARENA_ALIGNED);
#include "lam_host_regions.h"
#ifdef LAM_HOST_CORES
static uint8_t scratchpad[BIG(_CORES)][BIG(_SCRATCHPAD_SIZE)] BIG(_SCRATCHPAD_ALIGNED);
#define SCRATCHPAD , scratchpad
#elif defined(LAM_HOST_SCRATCHPAD)
static uint8_t scratchpad[BIG(_SCRATCHPAD_SIZE)] BIG(_SCRATCHPAD_ALIGNED);
#define SCRATCHPAD , scratchpad
#else
#define SCRATCHPAD
#endif
static uint32_t crcs[LAM_CHECK_TENSORS + 1];

#ifdef LAM_CHECK_THREADS
#include "lam_host_threads.h"
#define RUN run_threads
#else
#define RUN NET(_run)
#endif

static void print_text(const char *text)
{
#ifdef LAM_CHECK_STDIO
    (void)fputs(text, stdout);
#else
    lam_board_puts(text);
#endif
}

static void print_hex(const uint8_t *bytes, uint32_t count)
{
    static const char digits[] = "0123456789abcdef";
    char pair[3];
    pair[2] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        pair[0] = digits[bytes[i] >> 4];
        pair[1] = digits[bytes[i] & 15];
        print_text(pair);
    }
}

static void print_word(const char *label, int32_t index, uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
    const uint8_t number[2] = {(uint8_t)((uint32_t)index >> 8), (uint8_t)index};
    print_text(label);
    print_hex(number, 2);
    print_text(" ");
    print_hex(bytes, 4);
    print_text("\n");
}

void NET(_trace)(const NET(_t) *net, int32_t tensor, int32_t row, int32_t col, const void *data, uint32_t bytes)
{
    LAM_UNUSED(net);
    LAM_UNUSED(row);
    LAM_UNUSED(col);
    crcs[tensor] = lam_crc32(crcs[tensor], data, bytes);
#ifdef LAM_CHECK_DUMP
    if (tensor == LAM_CHECK_DUMP) {
        print_hex((const uint8_t *)data, bytes);
    }
#endif
}

#ifdef LAM_HOST_STREAM
/* Pushes every row of one input; 0 when the network had all it needs. */
static int run_input(NET(_t) *net, const uint8_t **data)
{
    lam_status status = LAM_NEED_MORE;
    NET(_reset)(net);
    for (int32_t row = 0; row < BIG(_INPUT0_ROWS); row++) {
        void *place = NET(_next_row)(net);
        if (place != NULL) {
            memcpy(place, *data, BIG(_INPUT0_ROW_BYTES));
            status = NET(_push_row)(net, place);
        }
        *data += BIG(_INPUT0_ROW_BYTES);
    }
    return status == LAM_DONE ? 0 : 1;
}
#else
static int run_input(NET(_t) *net, const uint8_t **data)
{
    for (int32_t i = 0; i < lam_check_inputs; i++) {
        memcpy(NET(_input)(net, i), *data, lam_check_input_bytes[i]);
        *data += lam_check_input_bytes[i];
    }
    return RUN(net) == LAM_OK ? 0 : 1;
}
#endif

#ifdef LAM_CHECK_FOUND
static NET(_postprocess_t) post;

static int find_in_outputs(const NET(_t) *net)
{
    if (NET(_postprocess)(&post, net) != LAM_OK) {
        return 1;
    }
    print_text("f ");
    print_hex((const uint8_t *)&post.count, sizeof(post.count));
    print_hex((const uint8_t *)post.found, (uint32_t)post.count * (uint32_t)sizeof(post.found[0]));
    print_text("\n");
    return 0;
}

static int find_in_others(const NET(_t) *net)
{
    const uint8_t *data = lam_check_other_data;
    int status = 0;
    for (int32_t k = 0; k < lam_check_others && status == 0; k++) {
        for (int32_t i = 0; i < lam_check_outputs; i++) {
            memcpy((void *)(uintptr_t)NET(_output)(net, i), data, lam_check_output_bytes[i]);
            data += lam_check_output_bytes[i];
        }
        status = find_in_outputs(net);
    }
    return status;
}
#endif

static int run_sample(NET(_t) *net, const uint8_t **data)
{
    memset(crcs, 0, sizeof(crcs));
#ifdef LAM_CHECK_DUMP
    print_text("d ");
#endif
    if (run_input(net, data) != 0) {
        return 1;
    }
#ifdef LAM_CHECK_DUMP
    print_text("\n");
#endif
    for (int32_t t = 0; t < LAM_CHECK_TENSORS; t++) {
        print_word("t ", t, crcs[t]);
    }
    for (int32_t i = 0; i < lam_check_outputs; i++) {
        print_word("o ", i, lam_crc32(0, NET(_output)(net, i), lam_check_output_bytes[i]));
    }
#ifdef LAM_CHECK_FOUND
    return find_in_outputs(net);
#else
    return 0;
#endif
}

int main(void)
{
    NET(_t) net;
#ifdef LAM_HOST_READ
    lam_host_flash flash = { lam_check_weights, 0, -1 };
    const NET(_memory) memory = APPLY(BIG(_MEMORY), (arena REGIONS SCRATCHPAD, &flash));
#elif defined(LAM_HOST_BLOB)
    const NET(_memory) memory = APPLY(BIG(_MEMORY), (arena REGIONS SCRATCHPAD, lam_check_weights, lam_check_weights_bytes));
#else
    const NET(_memory) memory = APPLY(BIG(_MEMORY), (arena REGIONS SCRATCHPAD));
#endif
    const uint8_t *data = lam_check_data;
#ifdef LAM_HOST_READ
    flash.size = lam_check_weights_bytes;
#endif
    if (NET(_init)(&net, &memory) != LAM_OK) {
        print_text("init failed\n");
        return 2;
    }
    for (int32_t s = 0; s < lam_check_samples; s++) {
#ifdef LAM_CHECK_STEPS
        if (s % LAM_CHECK_STEPS == 0) {
            NET(_reset)(&net);
        }
#endif
        if (run_sample(&net, &data) != 0) {
            print_text("run failed\n");
            return 3;
        }
    }
#ifdef LAM_CHECK_FOUND
    if (find_in_others(&net) != 0) {
        print_text("postprocessing failed\n");
        return 4;
    }
#endif
    print_text("end\n");
    return 0;
}
