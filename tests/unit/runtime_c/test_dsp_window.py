"""The sums of a 3x3 window in assembly, where its operands are equal: the compiler may then keep them in one register.

Weights and biases stand in the program as constants, so that it knows that they are equal.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.emulator import build_and_run
from codegen.resources import resource_dir
from codegen.target import load_target
from tests.support.tools import require_tool

PROGRAM = """
#include "lam_armv7em.h"
#include "lam_board.h"
#define NOINLINE __attribute__((noinline))
static NOINLINE int32_t both(const uint32_t *x)
{
    const uint32_t w[6] = {WORD, WORD, WORD, WORD, WORD, WORD};
    LAM_HOLD_3X3(w);
    int32_t a = BIAS, b;
    LAM_DOT_3X3(a, b, x, 2, w);
    return (int32_t)((uint32_t)a * 1000u + (uint32_t)b);
}
static NOINLINE int32_t one(const uint32_t *x)
{
    const uint32_t w[6] = {WORD, WORD, WORD, WORD, WORD, WORD};
    LAM_HOLD_3X3(w);
    int32_t a = BIAS;
    LAM_DOT_3X3_ONE(a, x, 2, w);
    return a;
}
static volatile uint32_t given[6] = {0x00020001u, 0x00040003u, 0x00060005u, 0x00080007u, 0x000A0009u, 0x000C000Bu};
int main(void)
{
    uint32_t x[6];
    for (int i = 0; i < 6; i++) {
        x[i] = given[i];
    }
    lam_board_number((uint32_t)both(x));
    lam_board_puts(" ");
    lam_board_number((uint32_t)one(x));
    return 0;
}
"""


def expected(word: int, bias: int) -> tuple[int, int]:
    """The left and the right sum over columns 1 .. 4 of rows (1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12)."""
    low, high = word & 0xFFFF, word >> 16
    taps = (low, high, high)  # (first, second) and (second, third) are one word, and so first = second = third
    assert low == high
    rows = ((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12))
    left, right = (bias + sum(taps[i] * row[i + at] for row in rows for i in range(3)) for at in (0, 1))
    return left, right


@pytest.mark.parametrize("opt_level", ["-O0", "-O2"])
@pytest.mark.parametrize(("word", "bias"), [(0x00010001, 0x00010001), (0, 0)])
def test_equal_weights_and_bias_give_right_sums(word: int, bias: int, opt_level: str, tmp_path: Path) -> None:
    target = load_target("cortex-m4")
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.board.emulator[0])
    (tmp_path / "main.c").write_text(PROGRAM)
    runtime = resource_dir("runtime_c")
    done = build_and_run(
        target,
        [tmp_path / "main.c"],
        [runtime / "include", runtime / "isa" / "dsp"],
        {"WORD": f"{word}u", "BIAS": str(bias)},
        opt_level=opt_level,
        timeout_s=60,
        workdir=tmp_path / "build",
    )
    left, right = expected(word, bias)
    assert done.exit_code == 0
    assert [int(n) for n in done.console.split()] == [(left * 1000 + right) % 2**32, left % 2**32]
