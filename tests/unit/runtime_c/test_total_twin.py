"""The C of runtime_c/include/lam_total.h says what Python's whole numbers do: roots, powers of two, products."""

from __future__ import annotations

import math
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.quant import Array
from tests.support.tools import require_tool
from tests.unit.ops.plain import half_up
from tests.unit.runtime_c.test_signal_twin import BUILDS, INCLUDE, STRICT

INT32_MAX = 2**31 - 1
COUNT = 20_000
DRIVER = """
#include <stdio.h>
#include "lam_total.h"
int main(void)
{
    uint64_t given[2];
    while (fread(given, sizeof given[0], 2, stdin) == 2u) {
        const uint64_t x = given[0];
        const int32_t by = (int32_t)(given[1] & 255u) - 128;
        int32_t e24 = 0, e31 = 0;
        const uint32_t m24 = lam_product_24((uint32_t)(x >> 38), (uint32_t)(given[1] & 255u), &e24);
        const uint32_t m31 = lam_product_31((uint32_t)(x >> 31), (uint32_t)(given[1] & 65535u), &e31);
        const uint32_t found[6] = {
            (uint32_t)lam_scaled_u64(x, by), (uint32_t)lam_length_u64(x, (int32_t)(given[1] % 31u)),
            m24, (uint32_t)e24, m31, (uint32_t)e31};
        (void)fwrite(found, sizeof found[0], 6, stdout);
    }
    return 0;
}
"""


def numbers() -> Array:
    """Numbers below 2^62 of every length and around squares, each beside some bits."""
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 1 << 62, COUNT) >> rng.integers(0, 62, COUNT)
    roots = rng.integers(1, 1 << 31, COUNT) >> rng.integers(0, 30, COUNT)
    # roots whose upper half of 16 bits is followed by zeros or ones are where the lower one is off
    edges = (rng.integers(1 << 14, 1 << 15, COUNT) << 16) + rng.integers(-2, 3, COUNT)
    squares = [near * near + off for near in (roots, edges) for off in (-1, 0, 1)]
    ends = np.array([0, 1, 2, 3, (1 << 32) - 1, 1 << 32, (1 << 62) - 1, (1 << 61), INT32_MAX, INT32_MAX + 1])
    x = np.clip(np.concatenate([drawn, *squares, ends]), 0, (1 << 62) - 1)
    return np.stack([x, rng.integers(0, 1 << 16, x.size)], 1).astype(np.uint64)


def kept(x: int, bits: int) -> tuple[int, int]:
    """A number's highest bits, and how many others there were."""
    over = max(x.bit_length() - bits, 0)
    return half_up(Fraction(x, 1 << over)), over


def expected(x: int, other: int) -> list[int]:
    """What the driver says."""
    scaled = min(half_up(Fraction(x) * Fraction(2) ** ((other & 255) - 128)), INT32_MAX)
    root = min(math.isqrt(x << 2 * (other % 31)), INT32_MAX)
    return [scaled, root, *kept((x >> 38) * (other & 255), 24), *kept((x >> 31) * (other & 65535), 31)]


@pytest.mark.parametrize("build", BUILDS)
def test_c_says_what_whole_numbers_do(build: str, tmp_path: Path) -> None:
    compiler = build.split("-")[0]
    require_tool(compiler)
    (tmp_path / "driver.c").write_text(DRIVER)
    words = [*BUILDS[build].split(), *STRICT.split(), f"-I{INCLUDE}", str(tmp_path / "driver.c")]
    subprocess.run([compiler, *words, "-o", str(tmp_path / "driver")], check=True)
    given = numbers()
    done = subprocess.run([str(tmp_path / "driver")], input=given.tobytes(), capture_output=True, check=True)
    found = np.frombuffer(done.stdout, np.uint32).reshape(-1, 6)
    wanted = np.array([expected(int(x), int(other)) for x, other in given], np.uint32)
    assert np.array_equal(found, wanted), given[(found != wanted).any(axis=1)][:5]
