"""Networks whose weights have 4 bits: packed in flash, equal to golden to the bit, counted so by budgets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from codegen import api
from codegen.frontends.onnx.writer import INT_BITS_KEY
from codegen.target import load_target
from tests.support.float_models import INPUT, float_model, images
from tests.support.onnx_files import onnx_model, ports_of
from tests.support.shared import shared_dir
from tests.support.tflite_models import Model
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
        if tensor.data_type in (onnx.TensorProto.INT4, onnx.TensorProto.UINT4):
            signed = tensor.data_type == onnx.TensorProto.INT4
            array = numpy_helper.to_array(tensor).astype(np.int8 if signed else np.uint8)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return model.SerializeToString()


def weights_of(data: bytes, target: str, goal: str | None = None) -> int:
    found = api.inspect(data, target, goal=goal).weights_bytes
    assert found is not None
    return found


@pytest.fixture(scope="module")
def packed(model: Path) -> bytes:
    return api.quantize(model, images(20), weights=4, recipe="fast").model


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("target", "filling", "filled"), [("generic", 24, 0), ("cortex-m55", 36, 28)])
def test_layers_of_4_bits_take_half_the_flash(packed: bytes, target: str, filling: int, filled: int) -> None:
    """But for what fills up words and vectors, `filling` those of 4 bits, with their zero points, and `filled` of 8."""
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


ZEROS = {"channel": 0, "group": 16}
"""Whose zero points there are, and of how many inputs a group is."""
SHAPES = {"Conv": (32, 32, 3, 3), "depthwise": (32, 1, 3, 3), "MatMul": (32, 32)}


def unsigned(kind: str, block: int, zeros: bool) -> bytes:
    """A layer of uint4 weights between int8 tensors; without `zeros` all zero points are 8."""
    rng, shape = np.random.default_rng(4), SHAPES[kind]
    axis = 0 if kind != "MatMul" or block else 1
    sizes = (shape[0] // block, shape[1]) if block else (shape[axis],)
    zero = rng.integers(2, 14, sizes) if zeros else np.full(sizes, 8)
    scales = {"xs": 0.05, "ws": rng.uniform(0.01, 0.02, sizes), "ys": 0.1}
    given = [
        *(numpy_helper.from_array(np.asarray(s, np.float32), n) for n, s in scales.items()),
        *(numpy_helper.from_array(np.asarray(0, np.int8), n) for n in ("xz", "yz")),
        onnx.helper.make_tensor("w", TensorProto.UINT4, shape, rng.integers(0, 16, shape).reshape(-1).tolist()),
        onnx.helper.make_tensor("wz", TensorProto.UINT4, sizes, zero.reshape(-1).tolist()),
    ]
    words = {"axis": axis, **({"block_size": block} if block else {})}
    groups = {} if kind == "MatMul" else {"pads": [1] * 4, "group": 32 // shape[1]}
    node = onnx.helper.make_node
    nodes = [
        node("DequantizeLinear", ["xq", "xs", "xz"], ["x"]),
        node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], **words),
        node("MatMul" if kind == "MatMul" else "Conv", ["x", "wd"], ["y"], **groups),
        node("QuantizeLinear", ["y", "ys", "yz"], ["yq"]),
    ]
    feeds = {"xq": np.zeros((1, 32) if kind == "MatMul" else (1, 32, 8, 8), np.int8)}
    return onnx_model(nodes, ports_of(feeds), ["yq"], given, sets=21, ir_version=10).SerializeToString()


def in_eights(number: int) -> int:
    return -(-number // 8) * 8


@pytest.mark.parametrize("target", ["generic", "host", "cortex-m4", "cortex-m55", "aarch64", "gap8"])
@pytest.mark.parametrize(
    ("kind", "whose"), [*((k, "channel") for k in SHAPES), ("MatMul", "group")], ids=lambda part: str(part)
)
def test_zero_points_of_their_own_take_a_byte_each_and_not_one_for_each_weight(
    kind: str, whose: str, target: str
) -> None:
    """Of groups of 16 two on a Cortex-M4 and x86, beside factors; with Helium in eights of groups and of outputs."""
    block = ZEROS[whose]
    own, middle = (unsigned(kind, block, zeros) for zeros in (True, False))
    outputs, groups = 32, 32 // block if block else 1
    most = outputs * groups * (2 if block and target in ("cortex-m4", "host") else 1)
    if block and target == "cortex-m55":
        most = 2 * in_eights(outputs) * in_eights(groups)
    assert weights_of(own, target, "balanced") <= weights_of(middle, target) + most
    assert api.verify(own, target=target, goal="balanced", samples=2).equal


def flattened(block: int) -> bytes:
    """A map that is flattened channel by channel, as ONNX has it, before weights with or without blocks."""
    made = onnx.load_from_string(unsigned("MatMul", block, True))
    node, graph = onnx.helper.make_node, made.graph
    head = [
        node("DequantizeLinear", ["map", "xs", "xz"], ["m"]),
        node("AveragePool", ["m"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("QuantizeLinear", ["p", "xs", "xz"], ["pq"]),
        node("DequantizeLinear", ["pq", "xs", "xz"], ["pd"]),
        node("Flatten", ["pd"], ["x"]),
    ]
    kept = [*head, *graph.node[1:]]
    del graph.node[:], graph.input[:]
    graph.node.extend(kept)
    graph.input.append(onnx.helper.make_tensor_value_info("map", TensorProto.INT8, [1, 8, 4, 4]))
    return made.SerializeToString()


def test_blocks_stay_together_behind_a_flattened_map() -> None:
    """Other weights are put in the order of the map: a block's would no longer share a factor, and take 16 bits."""
    pool = weights_of(flattened(16), "generic") - weights_of(unsigned("MatMul", 16, True), "generic")
    assert 0 <= pool < 32, "its factors"
    assert api.verify(flattened(16), target="generic", samples=2).equal


@pytest.mark.parametrize(("target", "prefix"), [("host", "x86_"), ("cortex-m55", "mve_"), ("aarch64", "neon_")])
@pytest.mark.parametrize("kind", SHAPES)
def test_vectors_take_zero_points_of_their_own_whatever_the_goal(
    kind: str, target: str, prefix: str, tmp_path: Path
) -> None:
    data = unsigned(kind, 0, True)
    made = [api.compile_model(data, target, tmp_path / goal, goal=goal) for goal in ("speed", "balanced")]
    assert len({project.manifest["weights_bytes"] for project in made}) == 1
    for project in made:
        (layer,) = project.manifest["layers"]
        assert layer["kernel"].startswith(prefix)
    assert not any("zero points" in note for note in api.inspect(data, target).notes)


@pytest.mark.parametrize("target", ["cortex-m55", "aarch64", "aarch64-dot"])
@pytest.mark.parametrize("kind", [kind for kind in SHAPES if kind != "MatMul"])
def test_zero_points_of_their_own_cost_little_more_than_bytes(kind: str, target: str) -> None:
    own = unsigned(kind, 0, True)
    few, bytes_ = (api.profile(data, target).instructions for data in (own, in_bytes(own)))
    assert few is not None
    assert bytes_ is not None
    assert few <= MOST * bytes_


def of_tflite(kind: str, packed: bool, act: str = "int8") -> bytes:
    """A TFLite file of one convolution whose weights are int4, or the same integers as int8."""
    shape = {"CONV_2D": (16, 3, 3, 8), "DEPTHWISE_CONV_2D": (1, 3, 3, 8)}[kind]
    outputs = shape[0] if kind == "CONV_2D" else shape[3]
    model, scale = Model(), 0.5 if act == "int8" else 0.01
    whole = np.random.default_rng(6).integers(-8, 8, shape).astype(np.int8)
    nibbles = whole.reshape(-1) & 15
    x, axis = model.input((1, 6, 6, 8), act, scale), 0 if kind == "CONV_2D" else 3
    scales = np.linspace(0.02, 0.04, outputs)
    w = model.tensor(shape, "int4" if packed else "int8", scales, axis=axis, data=whole)
    if packed:
        model.graph.tensors[w].data = (nibbles[::2] | nibbles[1::2] << 4).astype(np.uint8).tobytes()
    words = {"Padding": 0, "StrideH": 1, "StrideW": 1, **({"DepthMultiplier": 1} if axis else {})}
    options = "DepthwiseConv2DOptions" if axis else "Conv2DOptions"
    model.op(kind, [x, w], [model.output((1, 6, 6, outputs), act, scale)], options, **words)
    return model.bytes()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("act", ["int8", "int16"])
@pytest.mark.parametrize("kind", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_int4_of_tflite_is_packed_and_golden_in_c(kind: str, act: str) -> None:
    few, bytes_ = (of_tflite(kind, packed, act) for packed in (True, False))
    number = 9 * 8 * (16 if kind == "CONV_2D" else 1)
    saved = weights_of(bytes_, "generic") - weights_of(few, "generic")
    assert number // 2 - 8 <= saved <= number // 2 + 4, "but for what fills up words, and a zero point that is 0"
    assert api.verify(few, target="generic", samples=2).equal
    top = np.iinfo(act).max
    x = np.random.default_rng(7).integers(-top, top, (1, 6, 6, 8)).astype(act)
    np.testing.assert_array_equal(api.run(few, x), api.run(bytes_, x))


def notes_of(kind: str, block: int, target: str) -> list[str]:
    return [note for note in api.inspect(unsigned(kind, block, True), target).notes if note.startswith("weights of")]


def test_what_stays_in_bytes_is_said_with_why(tmp_path: Path) -> None:
    (vectors,) = notes_of("Conv", 0, "rv64gcv")
    assert vectors == "weights of 4 bits take 8 in Conv_2: kernels for RISC-V vectors read bytes"
    assert vectors in api.compile_model(unsigned("Conv", 0, True), "rv64gcv", tmp_path).manifest["notes"]
    assert not any(notes_of(kind, 0, chip) for kind in SHAPES for chip in ("cortex-m55", "cortex-m4", "host"))
    assert not notes_of("MatMul", 16, "generic")


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
    assert few.weights_bytes <= 0.72 * bytes_.weights_bytes
