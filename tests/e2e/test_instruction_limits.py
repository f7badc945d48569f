"""What one inference of the networks of MLPerf Tiny may take: instructions on emulated chips, bytes of code.

Counts are deterministic.  The limits are goals that users can rely on, not what is reached: that is printed by
benchmarks/chips.py.
"""

from __future__ import annotations

import pytest

import codegen
from codegen.report.profile import Profile
from codegen.target import load_target
from tests.support.shared import shared_dir
from tests.support.tools import require_tool

NETWORKS = ("resnet8", "kws", "vww", "ad")
LIMITS = {
    "cortex-m4": (12_600_000, 3_250_000, 9_150_000, 330_000),
    "cortex-m55": (1_950_000, 720_000, 1_950_000, 48_000),
    "cortex-m3": (26_000_000, 6_300_000, 17_000_000, 640_000),
    "rv32imc": (36_000_000, 8_600_000, 23_700_000, 900_000),
}
SMALLEST = (12_700_000, 3_250_000, 9_300_000, 365_000)
"""On a Cortex-M4 with the smallest arena."""
CODE, SMALL_CODE = 20 * 1024, 12 * 1024
"""Code and read-only data without weights on a Cortex-M4: at -O2, and for size."""


def profile(network: str, chip: str, **options: object) -> Profile:
    target = load_target(chip)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])
    path = shared_dir() / "models" / "mlperf_tiny" / f"{network}_int8.tflite"
    return codegen.profile(path, chip, **options)  # type: ignore[arg-type]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("chip", LIMITS)
def test_keyword_spotting_stays_within_its_limit(chip: str) -> None:
    found = profile("kws", chip)
    assert found.instructions is not None
    assert found.instructions <= LIMITS[chip][NETWORKS.index("kws")]


@pytest.mark.slow
@pytest.mark.parametrize("chip", LIMITS)
@pytest.mark.parametrize("network", NETWORKS)
def test_each_network_stays_within_its_limit_on_each_chip(network: str, chip: str) -> None:
    found = profile(network, chip)
    assert found.instructions is not None
    assert found.instructions <= LIMITS[chip][NETWORKS.index(network)]


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_the_smallest_arena_costs_little(network: str) -> None:
    found = profile(network, "cortex-m4", goal="memory")
    assert found.instructions is not None
    assert found.instructions <= SMALLEST[NETWORKS.index(network)]


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_code_stays_within_its_limit(network: str) -> None:
    for limit, options in ((CODE, {"opt_level": "-O2"}), (SMALL_CODE, {"goal": "size"})):
        found = profile(network, "cortex-m4", **options)
        assert found.text_bytes is not None
        assert found.rodata_bytes is not None
        assert found.weights_bytes is not None
        assert found.text_bytes + found.rodata_bytes - found.weights_bytes <= limit
