/* SPDX-License-Identifier: MIT-0 */
/* Digits on bare metal: the network's self-test, then three drawn digits, read and sent over the UART. */
#include "board.h"
#include "digits_helpers.h"

#define SIDE 8
#define LEVELS ((int32_t)(sizeof(levels) - 2))

int digits_selftest(void);

static uint8_t arena[DIGITS_ARENA_SIZE] DIGITS_ARENA_ALIGNED;
static digits_t net;

static const char levels[] = " .:-=+*#%@";

/* Three held-out images of ../../digits (its README names their authors and licence) in ten levels of grey. */
static const char *const drawn[] = {
    "  -%#:  "
    "  #.:%  "
    "    =#  "
    "   #@:  "
    "    =#. "
    " .=  =* "
    " :#. =# "
    "  -%%%- ",

    "  .#@@# "
    "  =@*#+ "
    "  -= %: "
    "    -@: "
    "   *@@+ "
    "   =%-  "
    "   =*   "
    "   @-   ",

    "  +%-   "
    " .@@@=  "
    " :%-*#  "
    " =#  #: "
    " =*  =- "
    " :#..*- "
    " .@%%%. "
    "  =%*:  ",
};

static void say(const char *text)
{
    for (; *text != '\0'; text++) {
        board_put(*text);
    }
}

static float grey(char c)
{
    int32_t level = 0;
    while (levels[level] != c && level < LEVELS) {
        level++;
    }
    return (float)level / (float)LEVELS;
}

/* The digit in a drawing, -1 for a failure. */
static int32_t read_digit(const char *drawing)
{
    float image[SIDE * SIDE];
    int32_t best = -1;
    for (int32_t i = 0; i < SIDE * SIDE; i++) {
        image[i] = grey(drawing[i]);
    }
    digits_quantize_input0(image, digits_input(&net, 0), SIDE * SIDE);
    if (digits_run(&net) == LAM_OK) {
        digits_top_output0(digits_output(&net, 0), DIGITS_OUTPUT0_BYTES, &best, 1);
    }
    return best;
}

int main(void)
{
    const digits_memory memory = DIGITS_MEMORY(arena);
    const int wrong = digits_selftest();
    say(wrong == 0 ? "self-test: all vectors right\n" : "self-test: wrong\n");
    if (wrong != 0 || digits_init(&net, &memory) != LAM_OK) {
        board_end(1);
    }
    for (uint32_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++) {
        const int32_t digit = read_digit(drawn[i]);
        char text[] = "this is a ?\n";
        text[10] = digit < 0 ? '-' : (char)('0' + digit);
        say(text);
    }
    board_end(0);
}
