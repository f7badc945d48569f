"""Helium's products, sums and bounds of float32 equal their definition: on an emulated chip, and their twins here.

Numbers are of every size, many of them about the least normal one, which Helium takes for zero as soon as it is below.
A NaN equals any other; -0 and +0 differ.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from codegen.emit import array_lines
from codegen.emulator import build_and_run
from codegen.ops.float32.sums import add_product
from codegen.resources import resource_dir
from codegen.target import load_target
from tests.support.tools import require_tool

COUNT = 6000
LOW, HIGH = -3.5, 7.25
RUNTIME = resource_dir("runtime_c")
LEAST = np.float32(2.0**-126)
PROGRAM = """
#include "lam_mve_f32.h"
{console}
static const uint32_t numbers[3][{count}] = {{
{numbers}
}};
static float x[3][{count}], y[{count}];

int main(void)
{{
    memcpy(x, numbers, sizeof x);
    for (int32_t form = 0; form < 4; form++) {{
        for (int32_t i = 0; i < {count}; i += 4) {{
            const lam_mve_f32 a = lam_mve_f32_load(x[0] + i, 4), b = lam_mve_f32_load(x[1] + i, 4);
            const lam_mve_f32 acc = lam_mve_f32_load(x[2] + i, 4);
            if (form == 0) {{
                lam_mve_f32_store(y + i, 4, lam_mve_f32_add_product(acc, a, b));
            }} else if (form == 1) {{
                lam_mve_f32_store(y + i, 4, lam_mve_f32_add_scaled(acc, a, lam_mve_f32_factor_at(x[1] + i)));
            }} else if (form == 2) {{
                lam_mve_f32_store(y + i, 4, lam_mve_f32_at_most(lam_mve_f32_at_least(a, {low}f), {high}f));
            }} else {{
                for (int32_t count = 4; count >= 1; count--) {{
                    lam_mve_f32_store(y + i, count, lam_mve_f32_load(x[0] + i + 4 - count, count));
                }}
            }}
        }}
        put(y, sizeof y);
    }}
    return 0;
}}
"""
HOST = """#include <stdio.h>
static void put(const void *p, size_t n)
{
    fwrite(p, 1, n, stdout);
}"""
BOARD = """#include "lam_board.h"
static void put(const void *p, size_t n)
{
    lam_board_write(p, (uint32_t)n);
}"""
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def numbers() -> Floats:
    """Factors and what their products are added to, f32[3, COUNT]; many products are about the least normal number."""
    rng = np.random.default_rng(3)
    every = rng.integers(0, 2**32, (3, COUNT), dtype=np.uint32).view(np.float32)
    every = np.where(np.isnan(every), np.float32("nan"), every)
    near = rng.normal(0, 4, (3, COUNT)).astype(np.float32)
    found = np.where(rng.random(COUNT) < 0.4, every, near)
    small = rng.random(COUNT) < 0.35
    exponent = rng.integers(-90, -30, COUNT)
    first = np.ldexp(rng.uniform(1, 2, COUNT), exponent).astype(np.float32)
    second = (np.ldexp(1.0, -126 - exponent) / (first / np.ldexp(1.0, exponent))).astype(np.float32)
    found[0] = np.where(small, first, found[0])
    found[1] = np.where(small, second, found[1])
    beside = np.array([0, -LEAST, LEAST, -1.5 * LEAST, 0.5 * LEAST, -(2.0**-149)], np.float32)
    found[2] = np.where(small, rng.choice(beside, COUNT), found[2])
    return found


def expected() -> list[Floats]:
    a, b, start = numbers()
    made = [start.copy(), start.copy()]
    with np.errstate(all="ignore"):
        add_product(made[0], a, b, sums="flushed")
        add_product(made[1], a, np.repeat(b[::4], 4), sums="flushed")
    held = np.where(a < LOW, np.float32(LOW), a)
    held = np.where(held > HIGH, np.float32(HIGH), held)
    return [*made, held, np.repeat(a[3::4], 4)]  # the last of four, the last two, and so on, over each other


def source(console: str) -> str:
    rows = ["\n".join(array_lines(row.view(np.uint32))) for row in numbers()]
    text = ",\n".join(f"{{{row}}}" for row in rows)
    return PROGRAM.format(console=console, numbers=text, count=COUNT, low=LOW, high=HIGH)


def bits(x: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
    return np.where(np.isnan(x), np.uint32(0x7FC00000), x.view(np.uint32))


def check(printed: bytes) -> None:
    got = np.frombuffer(printed, np.float32).reshape(4, COUNT)
    for form, (found, wanted) in enumerate(zip(got, expected(), strict=True)):
        wrong = np.flatnonzero(bits(found) != bits(wanted))
        assert wrong.size == 0, (form, wrong.size, numbers()[:, wrong[0]], found[wrong[0]], wanted[wrong[0]])


def test_products_lie_on_both_sides_of_the_least_number() -> None:
    a, b, _ = numbers()
    with np.errstate(all="ignore"):
        products = np.abs(a.astype(np.float64) * b)
        rounded_up = (products < LEAST) & (products.astype(np.float32) == LEAST)
    assert rounded_up.sum() > 20
    assert (products == LEAST).sum() + ((products > LEAST) & (products < 1.001 * LEAST)).sum() > 20


@pytest.mark.parametrize("flags", ["-O1 -fsanitize=undefined -fno-sanitize-recover=all"])
def test_the_twin_equals_the_definition(flags: str, tmp_path: Path) -> None:
    require_tool("gcc")
    (tmp_path / "main.c").write_text(source(HOST))
    folders = [f"-I{RUNTIME / part}" for part in ("include", "isa/mve")]
    argv = ["gcc", "-std=c99", *flags.split(), *folders, str(tmp_path / "main.c"), "-o", str(tmp_path / "main")]
    subprocess.run(argv, check=True, timeout=120)
    check(subprocess.run([str(tmp_path / "main")], check=True, capture_output=True, timeout=60).stdout)


@pytest.mark.parametrize("opt_level", ["-O0", "-O3"])
def test_the_instructions_equal_the_definition(opt_level: str, tmp_path: Path) -> None:
    target = load_target("cortex-m55")
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.board.emulator[0])
    (tmp_path / "main.c").write_text(source(BOARD))
    folders = [RUNTIME / "include", RUNTIME / "isa" / "mve"]
    done = build_and_run(
        target, [tmp_path / "main.c"], folders, {}, opt_level=opt_level, timeout_s=60, workdir=tmp_path / "build"
    )
    assert done.exit_code == 0
    check(done.console if len(done.console) == 16 * COUNT else bytes.fromhex(done.console.decode()))
