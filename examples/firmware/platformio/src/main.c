/* SPDX-License-Identifier: MIT-0 */
/* A person detector fed by rows: a photo of the network's size comes in as PPM (P6), a line at a time. */
#include <stdio.h>

#include "person_helpers.h"

#define PERSON 1 /* of the two outputs */

static uint8_t arena[PERSON_ARENA_SIZE] PERSON_ARENA_ALIGNED;
static person_t net;

/* A line of red, green and blue as a row of the network: real = SCALE * (q - ZERO_POINT). */
static int read_row(int8_t *row)
{
    uint8_t line[PERSON_INPUT0_ROW_BYTES];
    if (fread(line, 1, sizeof(line), stdin) != sizeof(line)) {
        return 0;
    }
    for (uint32_t i = 0; i < sizeof(line); i++) {
        row[i] = (int8_t)(line[i] + PERSON_INPUT0_ZERO_POINT);
    }
    return 1;
}

static lam_status look(void)
{
    static int8_t row[PERSON_INPUT0_ROW_BYTES];
    lam_status status = LAM_NEED_MORE;
    while (status == LAM_NEED_MORE && read_row(row)) {
        status = person_push_row(&net, row);
    }
    return status;
}

int main(void)
{
    const person_memory memory = PERSON_MEMORY(arena);
    int width = 0, height = 0, most = 0;
    float score;
    if (scanf("P6 %d %d %d", &width, &height, &most) != 3 || getchar() == EOF || height != PERSON_INPUT0_ROWS
        || 3 * width != PERSON_INPUT0_ROW_BYTES || most != 255) {
        printf("not a PPM of %d lines of %d bytes\n", PERSON_INPUT0_ROWS, PERSON_INPUT0_ROW_BYTES);
        return 2;
    }
    if (person_init(&net, &memory) != LAM_OK || look() != LAM_DONE) {
        printf("no network, or the photo ends early\n");
        return 2;
    }
    score = PERSON_OUTPUT0_SCALE * (float)(person_output(&net, 0)[PERSON] - PERSON_OUTPUT0_ZERO_POINT);
    printf("%s (%.2f)\n", score > 0.5f ? "person" : "nobody", (double)score);
    return 0;
}
