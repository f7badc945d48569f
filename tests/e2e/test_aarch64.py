"""The networks of MLPerf Tiny on 64-bit Arm, as an emulated process: equal to golden, and counted."""

from __future__ import annotations

import pytest

from codegen.api import verify
from codegen.report.profile import Profile, profile_text
from codegen.target import load_target
from tests.e2e.test_instruction_limits import NETWORKS, profile
from tests.support.shared import shared_dir
from tests.support.tools import require_tool


@pytest.mark.parametrize("chip", ["aarch64-dot", "aarch64"])
@pytest.mark.parametrize("network", NETWORKS)
def test_every_tensor_is_equal(network: str, chip: str) -> None:
    """With dot products and without: together half a minute of processor time."""
    target = load_target(chip)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])
    found = verify(shared_dir() / "models" / "mlperf_tiny" / f"{network}_int8.tflite", target=chip, samples=1)
    assert found.equal, found.first_difference and found.first_difference.text()


def per_product(found: Profile) -> dict[str, float]:
    return {layer.name: (layer.instructions or 0) / layer.macs for layer in found.layers if layer.macs >= 10_000}


def test_dense_layers_take_an_instruction_for_seven_products() -> None:
    found = profile("ad", "aarch64-dot")
    assert found.instructions is not None
    assert found.instructions <= 0.14 * found.macs
    assert all(each <= 0.14 for each in per_product(found).values()), per_product(found)
    assert "(what a hook takes, " in " ".join(profile_text(found).split())
    assert found.stack_bytes is None  # a process has one without a bottom
    spent = sum(layer.instructions or 0 for layer in found.layers) + (found.schedule_instructions or 0)
    assert spent == pytest.approx(found.instructions, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chip", "most"), [("aarch64-dot", (0.16, 0.23, 0.26, 0.14)), ("aarch64", (0.40, 0.50, 0.60, 0.40))]
)
def test_networks_stay_within_their_limits(chip: str, most: tuple[float, ...]) -> None:
    for network, limit in zip(NETWORKS, most, strict=True):
        found = profile(network, chip)
        assert (found.instructions or 0) <= limit * found.macs, network
