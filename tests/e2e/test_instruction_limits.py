"""What one inference of the networks of MLPerf Tiny may take: instructions on emulated chips, bytes of code.

Counts are deterministic.  The limits are goals that users can rely on, not what is reached: that is printed by
benchmarks/chips.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import codegen
from codegen.ops import Conv2D
from codegen.pipeline import Options, compile_file
from codegen.report.profile import Profile
from codegen.target import load_target
from tests.support.networks import NETWORKS as MADE
from tests.support.networks import network_path
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_tool

NETWORKS = ("resnet8", "kws", "vww", "ad")
LIMITS = {
    "cortex-m4": (12_400_000, 3_150_000, 9_100_000, 320_000),
    "cortex-m7": (12_400_000, 3_150_000, 9_100_000, 321_000),
    "cortex-m55": (1_950_000, 720_000, 1_950_000, 48_000),
    "cortex-m3": (24_200_000, 5_850_000, 15_800_000, 610_000),
    "rv32imc": (34_200_000, 8_100_000, 22_300_000, 860_000),
}
REAL = {"kws": 8_000_000, "ad": 800_000}
SLOW_REAL = {"resnet8": 36_000_000, "vww": 23_000_000}
"""In float32 on a Cortex-M4 with its FPU."""
SMALLEST = (12_700_000, 3_250_000, 9_300_000, 365_000)
"""On a Cortex-M4 with the smallest arena."""
DEPTHWISE_WINDOWS = {1: 1.9, 2: 2.15}
"""Instructions per product of depthwise windows of 5x5 and 7x7 on a Cortex-M4, by stride."""
BLOCKS = {"dsp_window_panels": 1.65, "dsp_panels": 2.1, "dsp_slides": 2.75}
"""What any layer of theirs may take with these kernels: one of 8 inputs, and windows of stride 2, take most."""
FEW_BITS = 1.25
"""What weights of 4 bits take on a Cortex-M4, over weights of 8."""
CODE, SMALL_CODE = 20 * 1024, 12 * 1024
"""Code and read-only data without weights on a Cortex-M4: at -O2, and for size."""


MODELS = shared_dir() / "models"
PER_PRODUCT = {"mobilenet_v2_0.35_128": 1.25, "mobilenet_v1_025_128_uint8": 1.25, "mobilenet_v2_int8": 1.05}
"""Instructions for each product on a Cortex-M7; the last two have weights with a zero point, and outputs that end at
one of their own."""


WITH_HELIUM = 0.3
"""The same of the one of uint8 on a Cortex-M55."""


def profile(network: str, chip: str, **options: object) -> Profile:
    return profiled(shared_dir() / "models" / "mlperf_tiny" / f"{network}_int8.tflite", chip, **options)


def profiled(model: Path | bytes, chip: str, **options: object) -> Profile:
    target = load_target(chip)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])
    return codegen.profile(model, chip, **options)  # type: ignore[arg-type]


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


@pytest.mark.parametrize(
    ("network", "limit"), [*REAL.items(), *(pytest.param(*row, marks=pytest.mark.slow) for row in SLOW_REAL.items())]
)
def test_float_networks_stay_within_their_limits(network: str, limit: int) -> None:
    found = profiled(shared_dir() / "models" / "mlperf_tiny_onnx" / f"{network}_f32.onnx", "cortex-m4")
    assert found.instructions is not None
    assert found.instructions <= limit


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


@pytest.mark.parametrize(
    "network",
    [pytest.param(name, marks=pytest.mark.slow if name == "mobilenet_v2_int8" else ()) for name in PER_PRODUCT],
)
def test_mobilenets_stay_within_their_limit_and_every_layer_s_count_has_a_reason(network: str) -> None:
    """Of 224x224 pixels the weights are larger than the chip's flash, and lie outside of it."""
    path = network_path(network) if network in MADE else MODELS / "tflite" / f"{network}.tflite"
    found = profiled(path, "cortex-m7", weights="blob")
    assert found.instructions is not None
    assert found.instructions <= PER_PRODUCT[network] * found.macs
    assert_reasons(found)


def test_a_mobilenet_of_uint8_stays_within_its_limit_with_helium() -> None:
    found = profiled(MODELS / "tflite" / "mobilenet_v1_025_128_uint8.tflite", "cortex-m55")
    assert found.instructions is not None
    assert found.instructions <= WITH_HELIUM * found.macs
    assert_reasons(found)


def assert_reasons(found: Profile) -> None:
    """Some layers take more than 1.5 times their limit, and it is said why."""
    high = [x for x in found.layers if x.standing and x.standing.is_high]
    assert high
    assert [x.name for x in high if x.standing and not x.standing.reason] == []
    for layer in found.layers:
        limit = BLOCKS.get(layer.kernel)
        assert not limit or layer.instructions <= limit * layer.macs, layer.name


def test_depthwise_windows_stay_within_their_limit() -> None:
    path = network_path("searched_96")
    compiled = compile_file(path, Options(target="cortex-m4", vectors=0))
    views = {node.name: compiled.graph.view(node) for node in compiled.graph.nodes}
    whys = {compiled.graph.nodes[i].name: form.why for i, form in compiled.kernels.items()}
    found = set()
    for layer in (x for x in profiled(path, "cortex-m4").layers if x.kernel == "dsp_window_slides"):
        op, said = views[layer.name].op, re.search(r"([\d.]+) instructions per product", whys[layer.name])
        assert isinstance(op, Conv2D)
        assert layer.instructions
        assert said
        assert layer.instructions / layer.macs <= DEPTHWISE_WINDOWS[op.w.stride]
        assert 0.95 < layer.instructions / layer.macs / float(said[1]) < 1.1
        found.add((op.w.size, op.w.stride))
    assert found == {(5, 1), (5, 2), (7, 1), (7, 2)}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("bits", [4, 2])
def test_weights_of_few_bits_cost_a_quarter_at_most(bits: int) -> None:
    """Of a network whose depthwise layers have factors of 1/4 and more with them."""
    model, data = shared_dir() / "models" / "mlperf_tiny_onnx" / "kws_f32.onnx", shared_dir() / "data" / "kws01.npz"
    how = {"config": ROOT / "benchmarks" / "configs" / "kws.toml", "recipe": "fast", "samples": 64}
    made = {n: codegen.quantize(model, data, weights=n, **how).model for n in (bits, 8)}  # type: ignore[arg-type]
    counts = {n: profiled(file, "cortex-m4").instructions for n, file in made.items()}
    assert 0 < (counts[bits] or 0) <= FEW_BITS * (counts[8] or 0)
