/* SPDX-License-Identifier: MIT-0 */
/* What is the same on every board: numbers as text, and the range of exit codes. */
#include "lam_board.h"
#include "lam_board_port.h"

void lam_board_write(const void *p, uint32_t n)
{
    const uint8_t *from = p;
    char line[65];
    uint32_t used = 0;
    for (uint32_t i = 0; i < n; i++) {
        line[used++] = "0123456789abcdef"[from[i] >> 4];
        line[used++] = "0123456789abcdef"[from[i] & 15];
        if (used == 64 || i + 1 == n) {
            line[used] = '\0';
            lam_board_puts(line);
            used = 0;
        }
    }
}

void lam_board_number(uint32_t v)
{
    char text[11];
    char *first = text + 10;
    *first = '\0';
    do {
        *--first = (char)('0' + v % 10);
        v /= 10;
    } while (v != 0);
    lam_board_puts(first);
}

void lam_board_hex(const char *label, uint32_t v)
{
    char text[9];
    for (int i = 0; i < 8; i++) {
        text[i] = "0123456789abcdef"[(v >> (28 - 4 * i)) & 15];
    }
    text[8] = '\0';
    lam_board_puts(label);
    lam_board_puts(text);
}

void lam_board_exit(int code)
{
    lam_board_halt(code >= 0 && code <= 255 ? code : 255);
}
