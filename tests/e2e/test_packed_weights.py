"""Networks whose weights have 4 bits: packed in flash, equal to golden to the bit, counted so by budgets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from codegen import api
from codegen.frontends.onnx.writer import INT_BITS_KEY
from codegen.target import load_target
from tests.support.float_models import INPUT, float_model, images
from tests.support.shared import shared_dir
from tests.support.tools import require_tool

CHIPS = ("cortex-m4", "cortex-m55", "cortex-m3", "rv32imc")
MOST = 1.25
"""Times the instructions of the same integers in bytes."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return float_model(tmp_path_factory.mktemp("float") / "small.onnx")


def in_bytes(data: bytes) -> bytes:
    """The same network, each integer in a byte."""
    model = onnx.load_from_string(data)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.INT4:
            array = numpy_helper.to_array(tensor).astype(np.int8)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return model.SerializeToString()


def weights_of(data: bytes, target: str) -> int:
    found = api.inspect(data, target).weights_bytes
    assert found is not None
    return found


@pytest.fixture(scope="module")
def packed(model: Path) -> bytes:
    return api.quantize(model, images(20), weights=4, recipe="fast").model


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("target", "filling", "filled"), [("cortex-m4", 16, 0), ("generic", 8, 0), ("cortex-m55", 36, 28)]
)
def test_layers_of_4_bits_take_half_the_flash(packed: bytes, target: str, filling: int, filled: int) -> None:
    """But for what fills up words and vectors, `filling` those of 4 bits and `filled` those of 8."""
    depthwise, point = 8 * 9, 8 * 8
    saved = weights_of(in_bytes(packed), target) - weights_of(packed, target)
    assert (depthwise + point) // 2 - filling <= saved <= (depthwise + point) // 2 + filled


def test_results_are_those_of_the_same_integers_in_bytes(packed: bytes) -> None:
    assert api.verify(packed, target="cortex-m4", samples=2).equal
    x = {INPUT: images(3)}
    for ours, other in zip(api.run(packed, x).values(), api.run(in_bytes(packed), x).values(), strict=True):
        np.testing.assert_array_equal(ours, other)


def test_weights_of_2_bits_which_old_operator_sets_keep_in_bytes_are_packed_in_two(model: Path) -> None:
    """The file says it in its metadata; without it the integers are bytes like any."""
    made = api.quantize(model, images(20), weights=2, recipe="fast").model
    silent = onnx.load_from_string(made)
    assert {p.key for p in silent.metadata_props} >= {INT_BITS_KEY}
    del silent.metadata_props[:]
    saved = weights_of(silent.SerializeToString(), "generic") - weights_of(made, "generic")
    assert saved == 8 * (9 - 3) + 8 * (8 - 2), "eight channels of nine weights, eight of eight"


def test_a_budget_of_flash_counts_weights_as_they_are_packed(model: Path, tmp_path: Path) -> None:
    wide, narrow = (
        api.compile_model(api.quantize(model, images(20), weights=b, recipe="fast").model, "generic", tmp_path / str(b))
        for b in (8, 4)
    )
    most = wide.manifest["weights_bytes"] - 16
    assert narrow.manifest["weights_bytes"] < most
    made = api.quantize(model, images(20), weights="mixed", recipe="fast", budget={"flash": most}, target="generic")
    assert made.report.mixed is not None
    assert any(0 < layer.weights < 8 for layer in made.report.mixed.layers)
    project = api.compile_model(made.model, "generic", tmp_path / "mixed")
    assert project.manifest["weights_bytes"] <= most


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("network", "samples"), [("kws", "kws01.npz"), ("resnet8", "cifar10_calib200.npz")])
def test_real_networks_are_equal_to_golden_and_cost_little_more(network: str, samples: str, chip: str) -> None:
    target = load_target(chip)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])
    config = Path(__file__).parents[2] / "benchmarks" / "configs" / f"{network}.toml"
    source = shared_dir() / "models" / "mlperf_tiny_onnx" / f"{network}_f32.onnx"
    words = {"config": config, "weights": 4, "recipe": "fast", "samples": 32}
    packed = api.quantize(source, shared_dir() / "data" / samples, **words).model
    assert api.verify(packed, target=chip, samples=2).equal
    few, bytes_ = (api.profile(data, chip) for data in (packed, in_bytes(packed)))
    assert few.instructions is not None
    assert bytes_.instructions is not None
    assert few.instructions <= MOST * bytes_.instructions
    assert few.weights_bytes <= 0.7 * bytes_.weights_bytes
