"""The C of runtime_c/include/lam_signal.h equals codegen/ops/signal, bit for bit: roots, logarithms, gains."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.ops.signal import FilterBankLog, FilterBankRoot
from codegen.ops.signal.logarithm import logarithms
from codegen.ops.signal.pcan import ENTRIES, gains
from codegen.ops.signal.words import split
from tests.support.tools import require_tool

INCLUDE = Path(__file__).parents[3] / "runtime_c" / "include"
STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror"
BUILDS = {
    "gcc": "-std=c99 -O2",
    "gcc-ubsan": "-std=c99 -O1 -fsanitize=undefined -fno-sanitize-recover=all",
    "clang": "-std=c99 -O2 -fsanitize=undefined -fno-sanitize-recover=all",
}
COUNT, SCALE = 30_000, 64
DRIVER = """
#include <stdio.h>
#include "lam_signal.h"
static const uint16_t logarithms[] = {%s};
static const int16_t gains[] = {%s};
int main(void)
{
    uint32_t words[2];
    while (fread(words, sizeof words[0], 2, stdin) == 2u) {
        const uint32_t found[3] = {
            lam_root_u64(words[1], words[0]), (uint32_t)lam_log_u32(words[0], 64u, logarithms),
            (uint32_t)lam_gain_u32(words[0], gains)};
        (void)fwrite(found, sizeof found[0], 3, stdout);
    }
    return 0;
}
"""


def numbers() -> Array:
    """Numbers of every length, and those around squares, halfway between two and at the ends."""
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 1 << 64, COUNT, dtype=np.uint64) >> rng.integers(0, 64, COUNT).astype(np.uint64)
    roots = rng.integers(0, 1 << 32, COUNT, dtype=np.uint64) >> rng.integers(0, 32, COUNT).astype(np.uint64)
    squares = roots * roots
    near = [squares, squares + roots, squares + roots + np.uint64(1), squares - np.uint64(1)]
    ends = np.array([0, 1, 2, 3, (1 << 32) - 1, 1 << 32, (1 << 64) - 1, 0xFFFE0001, 0xFFFF0000, 0xFFFF0001], np.uint64)
    return np.concatenate([drawn, *near, ends])


@pytest.mark.parametrize("build", BUILDS)
def test_c_is_golden(build: str, tmp_path: Path) -> None:
    compiler = build.split("-")[0]
    require_tool(compiler)
    table = np.random.default_rng(2).integers(-(1 << 15), 1 << 15, ENTRIES)
    spelled = (", ".join(map(str, t)) for t in (logarithms(), table.tolist()))
    (tmp_path / "driver.c").write_text(DRIVER % tuple(spelled))
    words = [*BUILDS[build].split(), *STRICT.split(), f"-I{INCLUDE}", str(tmp_path / "driver.c")]
    subprocess.run([compiler, *words, "-o", str(tmp_path / "driver")], check=True)
    x = split(numbers())
    done = subprocess.run([str(tmp_path / "driver")], input=x.tobytes(), capture_output=True, check=True)
    root, log, gain = np.frombuffer(done.stdout, np.int32).reshape(-1, 3).T
    low = np.ascontiguousarray(x[:, 0])
    assert np.array_equal(root, FilterBankRoot().golden([x, np.array(0, np.int32)])[0])
    assert np.array_equal(log, FilterBankLog(0, SCALE).golden([low])[0])
    assert np.array_equal(gain, gains(low.view(np.uint32).astype(np.int64), table))
