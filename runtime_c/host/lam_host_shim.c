/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Host test shim: gives every network the same function names, so that one cffi binding serves them all, and collects
 * traced rows.  Not part of a firmware.  Compile with
 *
 *     -DLAM_HOST_NAME=kws -DLAM_HOST_HEADER="kws.h" [-DLAM_HOST_BLOB [-DLAM_HOST_READ]] [-DLAM_HOST_STREAM] [-DLAM_HOST_STATE] [-DLAM_HOST_SCRATCHPAD [-DLAM_HOST_CORES]] [-DLAM_HOST_REGIONS=...] [-DLAM_HOST_CAMERA="kws_preprocess.h" [-DLAM_HOST_CAMERA_CHROMA]] [-DLAM_HOST_POST="kws_postprocess.h"] [-DKWS_TRACE -DLAM_HOST_TRACE]
 *
 * LAM_HOST_REGIONS is REGION(psram, PSRAM) for each working memory beside the arena, one after another.
 */
#include LAM_HOST_HEADER

#include "lam_host_shim.h"
#include "lam_host_names.h"
#ifdef LAM_HOST_CAMERA
#include LAM_HOST_CAMERA
#endif
#ifdef LAM_HOST_POST
#include LAM_HOST_POST
#endif
#ifdef LAM_HOST_READ
#include "lam_host_reads.h"

static lam_host_flash flash;
#endif

size_t lam_host_net_bytes(void)
{
    return sizeof(NET(_t));
}

#define MOST_CORES 64
static uint8_t *scratchpads[MOST_CORES];
static size_t scratchpad_size;

/* Names a core's scratchpad of the networks that are initialised from now on. */
void lam_host_scratchpad(int32_t core, uint8_t *scratchpad, size_t scratchpad_bytes)
{
    scratchpads[core] = scratchpad;
    scratchpad_size = scratchpad_bytes;
}

#define MOST_REGIONS 8
static uint8_t *regions[MOST_REGIONS];
static size_t region_sizes[MOST_REGIONS];

/* Names a working memory beside the arena of the networks that are initialised from now on. */
void lam_host_region(int32_t index, uint8_t *region, size_t region_bytes)
{
    regions[index] = region;
    region_sizes[index] = region_bytes;
}

int lam_host_init(void *net, uint8_t *arena, size_t arena_bytes, const uint8_t *weights, size_t weights_bytes)
{
    NET(_memory) memory;
#ifdef LAM_HOST_REGIONS
    int32_t region = 0;
#define REGION(small, big) memory.small##_arena = regions[region], memory.small##_arena_size = region_sizes[region++];
    LAM_HOST_REGIONS
#undef REGION
#endif
    memory.arena = arena;
    memory.arena_size = arena_bytes;
#ifdef LAM_HOST_SCRATCHPAD
#ifdef LAM_HOST_CORES
    memcpy(memory.scratchpad, scratchpads, sizeof(memory.scratchpad));
#else
    memory.scratchpad = scratchpads[0];
#endif
    memory.scratchpad_size = scratchpad_size;
#endif
#ifdef LAM_HOST_READ
    flash.bytes = weights;
    flash.size = weights_bytes;
    flash.reads_left = -1;
    memory.context = &flash;
    memory.skip_crc = 0;
#elif defined(LAM_HOST_BLOB)
    memory.weights = weights;
    memory.weights_size = weights_bytes;
    memory.skip_crc = 0;
#else
    LAM_UNUSED(weights);
    LAM_UNUSED(weights_bytes);
#endif
    return (int)NET(_init)((NET(_t) *)net, &memory);
}

int lam_host_run_core(void *net, int32_t stage, int32_t core)
{
#ifdef LAM_HOST_CORES
    return (int)NET(_run_core)((NET(_t) *)net, stage, core);
#else
    LAM_UNUSED(net);
    LAM_UNUSED(stage);
    LAM_UNUSED(core);
    return (int)LAM_ERROR_NOT_READY;
#endif
}

#ifdef LAM_HOST_STREAM
void *lam_host_input(void *net, int32_t index)
{
    LAM_UNUSED(net);
    LAM_UNUSED(index);
    return NULL;
}

int lam_host_run(void *net)
{
    LAM_UNUSED(net);
    return (int)LAM_ERROR_NOT_READY;
}

void lam_host_reset(void *net)
{
    NET(_reset)((NET(_t) *)net);
}

void *lam_host_next_row(void *net)
{
    return NET(_next_row)((NET(_t) *)net);
}

int lam_host_push_row(void *net, const void *row)
{
    return (int)NET(_push_row)((NET(_t) *)net, row);
}
#else
void *lam_host_input(void *net, int32_t index)
{
    return NET(_input)((NET(_t) *)net, index);
}

int lam_host_run(void *net)
{
    return (int)NET(_run)((NET(_t) *)net);
}

void lam_host_reset(void *net)
{
#ifdef LAM_HOST_STATE
    NET(_reset)((NET(_t) *)net);
#else
    LAM_UNUSED(net);
#endif
}

void *lam_host_next_row(void *net)
{
    LAM_UNUSED(net);
    return NULL;
}

int lam_host_push_row(void *net, const void *row)
{
    LAM_UNUSED(net);
    LAM_UNUSED(row);
    return (int)LAM_ERROR_NOT_READY;
}
#endif

const void *lam_host_output(void *net, int32_t index)
{
    return NET(_output)((const NET(_t) *)net, index);
}

#ifdef LAM_HOST_CAMERA
#if defined(LAM_HOST_CAMERA_CHROMA)
#define LINES (const uint8_t *)line, (const uint8_t *)chroma
#else
#define LINES (const uint8_t *)line
#endif

size_t lam_host_camera_bytes(void)
{
    return sizeof(NET(_preprocess_t));
}

void lam_host_camera_begin(void *pre, void *net)
{
    NET(_preprocess_begin)((NET(_preprocess_t) *)pre, (NET(_t) *)net);
}

int lam_host_camera_line(void *pre, const void *line, const void *chroma)
{
    LAM_UNUSED(chroma);
    return (int)NET(_preprocess_line)((NET(_preprocess_t) *)pre, LINES);
}

int lam_host_camera_row(void *pre, void *row)
{
    return (int)NET(_preprocess_row)((NET(_preprocess_t) *)pre, (BIG(_INPUT0_TYPE) *)row);
}

int lam_host_camera_push(void *pre, void *net, const void *line, const void *chroma)
{
    LAM_UNUSED(chroma);
    return (int)NET(_preprocess_push)((NET(_preprocess_t) *)pre, (NET(_t) *)net, LINES);
}
#else
size_t lam_host_camera_bytes(void)
{
    return 0;
}

void lam_host_camera_begin(void *pre, void *net)
{
    LAM_UNUSED(pre);
    LAM_UNUSED(net);
}

int lam_host_camera_line(void *pre, const void *line, const void *chroma)
{
    LAM_UNUSED(pre);
    LAM_UNUSED(line);
    LAM_UNUSED(chroma);
    return (int)LAM_ERROR_NOT_READY;
}

int lam_host_camera_row(void *pre, void *row)
{
    LAM_UNUSED(pre);
    LAM_UNUSED(row);
    return (int)LAM_ERROR_NOT_READY;
}

int lam_host_camera_push(void *pre, void *net, const void *line, const void *chroma)
{
    LAM_UNUSED(pre);
    LAM_UNUSED(net);
    LAM_UNUSED(line);
    LAM_UNUSED(chroma);
    return (int)LAM_ERROR_NOT_READY;
}
#endif

#ifdef LAM_HOST_TRACE
/* Where the rows of each tensor are collected, and how often each row was reported. */
typedef struct lam_host_sink {
    uint8_t *data;
    uint8_t *seen;
} lam_host_sink;

void lam_host_trace_into(const lam_host_sink *sinks, const uint32_t *row_bytes);

static const lam_host_sink *trace_sinks;
static const uint32_t *trace_row_bytes;

void lam_host_trace_into(const lam_host_sink *sinks, const uint32_t *row_bytes)
{
    trace_sinks = sinks;
    trace_row_bytes = row_bytes;
}

void NET(_trace)(const NET(_t) *net, int32_t tensor, int32_t row, int32_t col, const void *data, uint32_t bytes)
{
    LAM_UNUSED(net);
    if (trace_sinks != NULL) {
        memcpy(trace_sinks[tensor].data + (size_t)row * trace_row_bytes[tensor] + (size_t)col, data, bytes);
        if (trace_sinks[tensor].seen[row] < 255) {
            trace_sinks[tensor].seen[row]++;
        }
    }
}
#endif

#ifdef LAM_HOST_POST
size_t lam_host_post_bytes(void)
{
    return sizeof(NET(_postprocess_t));
}

int lam_host_post(void *post, const void *net)
{
    return (int)NET(_postprocess)((NET(_postprocess_t) *)post, (const NET(_t) *)net);
}
#else
size_t lam_host_post_bytes(void)
{
    return 0;
}

int lam_host_post(void *post, const void *net)
{
    LAM_UNUSED(post);
    LAM_UNUSED(net);
    return -1;
}
#endif
