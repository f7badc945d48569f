/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Made-up frames through the preprocessing of a network, line by line, and through the network, on an emulated board.
 *
 *     -DLAM_HOST_NAME=kws -DLAM_HOST_UPPER=KWS -DLAM_HOST_HEADER="kws_preprocess.h" -DLAM_CAMERA_FRAMES=3 -DLAM_CAMERA_SEED=0
 *     [-DLAM_HOST_STREAM] [-DLAM_HOST_STATE] [-DLAM_HOST_REGIONS=...] [-DLAM_HOST_CAMERA_CHROMA] -DLAM_CAMERA_OUTPUTS='{10, 4}'
 *
 * Line y of frame k, or line y - 65536 of its colours, is bytes of a linear congruential generator (codegen/verbs/camera_board.py has
 * the twin).  Prints for each frame `r` and the CRC-32 of the rows of input 0, in decimal; then `o`, a number and the CRC-32 for each
 * output; and at the end `ram` with the bytes of the arena, of both structs and of the line buffers, `stack` with those of the deepest
 * stack behind main, `count` with the instructions of all calls of NAME_preprocess_push for one frame.
 */
#include LAM_HOST_HEADER

#include "lam_board.h"
#include "lam_crc32.h"
#include "lam_host_names.h"

static uint8_t arena[BIG(_ARENA_SIZE)] BIG(_ARENA_ALIGNED);
#include "lam_host_regions.h"
static NET(_t) net;
static NET(_preprocess_t) pre;
static uint8_t line[BIG(_PREPROCESS_LINE_BYTES)];
#ifdef LAM_HOST_CAMERA_CHROMA
static uint8_t chroma[BIG(_PREPROCESS_CHROMA_BYTES)];
#define LINES line, chroma
#define CHROMA_BYTES BIG(_PREPROCESS_CHROMA_BYTES)
#else
#define LINES line
#define CHROMA_BYTES 0
#endif

static void fill(uint8_t *to, uint32_t bytes, uint32_t seed)
{
    for (uint32_t i = 0; i < bytes; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = (uint8_t)(seed >> 24);
    }
}

static void next_line(uint32_t frame, uint32_t y)
{
    fill(line, sizeof(line), (frame + LAM_CAMERA_SEED) * 2654435761u + y * 40503u);
#ifdef LAM_HOST_CAMERA_CHROMA
    fill(chroma, sizeof(chroma), (frame + LAM_CAMERA_SEED) * 2654435761u + (y / 2 + 65536u) * 40503u);
#endif
}

static void print_numbers(const char *word, const uint32_t *numbers, int32_t count)
{
    lam_board_puts(word);
    for (int32_t i = 0; i < count; i++) {
        lam_board_puts(" ");
        lam_board_number(numbers[i]);
    }
    lam_board_puts("\n");
}

#ifdef LAM_HOST_STREAM
static uint32_t rows_crc;
static BIG(_INPUT0_TYPE) row[BIG(_INPUT0_ROW_BYTES) / sizeof(BIG(_INPUT0_TYPE))];

/* All rows that can be made. */
static lam_status take_rows(void)
{
    lam_status status = NET(_preprocess_row)(&pre, row);
    while (status == LAM_OK) {
        rows_crc = lam_crc32(rows_crc, row, sizeof(row));
        status = NET(_preprocess_row)(&pre, row);
    }
    return status;
}

/* The rows alone, which a network that streams them shows nobody. */
static int make_rows(uint32_t frame)
{
    lam_status status;
    NET(_preprocess_begin)(&pre, NULL);
    rows_crc = 0;
    status = take_rows();
    for (uint32_t y = 0; y < BIG(_PREPROCESS_HEIGHT) && status == LAM_NEED_MORE; y++) {
        next_line(frame, y);
        if (NET(_preprocess_line)(&pre, LINES) != LAM_OK) {
            return 1;
        }
        status = take_rows();
    }
    print_numbers("r", &rows_crc, 1);
    return status == LAM_DONE ? 0 : 1;
}

static int finish(void)
{
    return 0;
}
#else
static int make_rows(uint32_t frame)
{
    LAM_UNUSED(frame);
    return 0;
}

static int finish(void)
{
    const uint32_t crc = lam_crc32(0, NET(_input)(&net, 0), BIG(_INPUT0_BYTES));
    print_numbers("r", &crc, 1);
    return NET(_run)(&net) == LAM_OK ? 0 : 1;
}
#endif

static const uint32_t output_bytes[] = LAM_CAMERA_OUTPUTS;

/* One frame through it all, and the instructions of its lines, without those that make the lines up. */
static int run_frame(uint32_t frame, uint32_t *spent)
{
    lam_status status = LAM_NEED_MORE;
    NET(_preprocess_begin)(&pre, &net);
    *spent = 0;
    for (uint32_t y = 0; y < BIG(_PREPROCESS_HEIGHT) && status == LAM_NEED_MORE; y++) {
        uint32_t before;
        next_line(frame, y);
        before = lam_board_instructions();
        status = NET(_preprocess_push)(&pre, &net, LINES);
        *spent += lam_board_instructions() - before;
    }
    return status == LAM_DONE ? 0 : 1;
}

int main(void)
{
    const NET(_memory) memory = APPLY(BIG(_MEMORY), (arena REGIONS));
    uint32_t ram[4] = { sizeof(arena), sizeof(net), sizeof(pre), sizeof(line) + CHROMA_BYTES };
    uint32_t spent = 0;
    uint32_t stack;
    if (NET(_init)(&net, &memory) != LAM_OK) {
        return 2;
    }
    lam_board_stack_paint();
    for (uint32_t frame = 0; frame < LAM_CAMERA_FRAMES; frame++) {
        if (make_rows(frame) != 0 || run_frame(frame, &spent) != 0 || finish() != 0) {
            return 3;
        }
        for (uint32_t i = 0; i < sizeof(output_bytes) / sizeof(output_bytes[0]); i++) {
            uint32_t said[2] = { i, 0 };
            said[1] = lam_crc32(0, NET(_output)(&net, (int32_t)i), output_bytes[i]);
            print_numbers("o", said, 2);
        }
    }
    stack = lam_board_stack_high_water();
    print_numbers("ram", ram, 4);
    print_numbers("stack", &stack, 1);
    print_numbers("count", &spent, 1);
    lam_board_puts("end\n");
    return 0;
}
