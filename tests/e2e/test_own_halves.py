"""Weights that a file holds as float16 or bfloat16: the same numbers in half the flash, where nothing is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from codegen.api import run, verify
from codegen.ir.quant import Array
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file
from tests.e2e.test_onnx_nodes import same_bits
from tests.support.onnx_files import onnx_model, port
from tests.support.tflite_models import Model
from tests.support.tools import require_tool

TYPES = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "f32": TensorProto.FLOAT}
SHAPE = (1, 8, 6, 6)
LAYERS = [
    helper.make_node("Conv", ["x", "k", "kb"], ["c"], pads=[1] * 4),
    helper.make_node("Conv", ["c", "d"], ["e"], pads=[1] * 4, group=16),
    helper.make_node("Relu", ["e"], ["r"]),
    helper.make_node("GlobalAveragePool", ["r"], ["g"]),
    helper.make_node("Flatten", ["g"], ["f"]),
    helper.make_node("MatMul", ["f", "m"], ["y"]),
]
CELL = [helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=5)]


def normal(*shape: int, seed: int = 7) -> Array:
    """Numbers of which float16 and bfloat16 hold few."""
    return np.random.default_rng(seed).normal(0, 0.3, shape).astype(np.float32)


KNOWN = {"k": normal(16, 8, 3, 3), "kb": normal(16), "d": normal(16, 1, 3, 3), "m": normal(16, 24)}
BIASES = 4 * (16 + 16 + 24)
OF_CELL = {"w": normal(1, 20, 6), "r": normal(1, 20, 5)}


def network(kind: str, nodes: Sequence[Any] = LAYERS, known: dict[str, Array] = KNOWN, shape: Any = SHAPE) -> bytes:
    """An ONNX model whose tensors are all of a type."""
    of = TYPES[kind]
    constants = {name: array.astype(helper.tensor_dtype_to_np_dtype(of)) for name, array in known.items()}
    inputs, outputs = [port("x", shape, of)], [port("y", kind=of)]
    return bytes(onnx_model(nodes, inputs, outputs, constants, sets=22, ir_version=10).SerializeToString())


def widened(kind: str) -> bytes:
    """One whose constants alone are of 16 bits: a Cast makes each float32."""
    of = {name: array.astype(helper.tensor_dtype_to_np_dtype(TYPES[kind])) for name, array in KNOWN.items()}
    casts = [helper.make_node("Cast", [f"{name}_short"], [name], to=TensorProto.FLOAT) for name in KNOWN]
    constants = {f"{name}_short": array for name, array in of.items()}
    model = onnx_model([*casts, *LAYERS], [port("x", SHAPE)], ["y"], constants, sets=22, ir_version=10)
    return bytes(model.SerializeToString())


def lite() -> bytes:
    """A TFLite model of float16, each constant behind a DEQUANTIZE."""
    model = Model()
    place = model.input((1, 6, 6, 8), "float32")
    half = {"k": normal(16, 3, 3, 8), "kb": normal(16), "m": normal(24, 16 * 16)}
    wide = {name: model.tensor(array.shape, "float32") for name, array in half.items()}
    for name, array in half.items():
        model.op("DEQUANTIZE", [model.const(array.astype(np.float16))], [wide[name]], version=3)
    made, flat = model.tensor((1, 4, 4, 16), "float32"), model.output((1, 24), "float32")
    steps = {"StrideW": 1, "StrideH": 1, "DilationWFactor": 1, "DilationHFactor": 1, "Padding": 1}
    model.op("CONV_2D", [place, wide["k"], wide["kb"]], [made], "Conv2DOptions", FusedActivationFunction=1, **steps)
    model.op("FULLY_CONNECTED", [made, wide["m"], -1], [flat], "FullyConnectedOptions")
    return model.bytes()


Case = tuple[Callable[[], bytes], str, Array, int, int]
"""A model, what its weights are stored as, an input, how many weights there are, and what the rest takes."""
WEIGHTS, OF_LITE = 16 * 8 * 9 + 16 * 9 + 16 * 24, 16 * 72 + 24 * 256
CASES: dict[str, Case] = {
    "float16": (lambda: network("f16"), "f16", normal(*SHAPE, seed=1), WEIGHTS, BIASES),
    "bfloat16": (lambda: network("bf16"), "bf16", normal(*SHAPE, seed=1), WEIGHTS, BIASES),
    "float16 weights": (lambda: widened("f16"), "f16", normal(*SHAPE, seed=1), WEIGHTS, BIASES),
    "bfloat16 weights": (lambda: widened("bf16"), "bf16", normal(*SHAPE, seed=1), WEIGHTS, BIASES),
    "TFLite": (lite, "f16", normal(1, 6, 6, 8, seed=1), OF_LITE, 4 * (16 + 24)),
    "LSTM": (
        lambda: network("f16", CELL, OF_CELL, (3, 1, 6)),
        "f16",
        normal(3, 1, 6, seed=1),
        220,
        4 * 50,
    ),
}


def compiled(model: bytes, folder: Path, target: str = "cortex-m4", **words: Any) -> Compiled:
    """All forms of it, from a file of its format."""
    path = folder / ("model.tflite" if model[4:8] == b"TFL3" else "model.onnx")
    path.write_bytes(model)
    return compile_file(path, Options(target=target, vectors=0, **words))


def storages(made: Compiled) -> set[str]:
    """What layers' weights are stored as."""
    graph = made.graph
    return {graph.values[n.inputs[1]].type.storage for n in graph.nodes if len(n.inputs) > 1}


def weights_bytes(made: Compiled) -> int:
    return int(str(made.manifest["weights_bytes"]))


@pytest.mark.parametrize("name", CASES)
def test_they_take_half_and_mean_the_same(name: str, tmp_path: Path) -> None:
    make, storage, x, weights, rest = CASES[name]
    model = make()
    own, whole = (compiled(model, tmp_path, float_weights=words) for words in ("own", "f32"))
    assert storages(own) == {storage}
    assert storages(whole) == {""}
    assert weights_bytes(whole) - weights_bytes(own) == 2 * weights
    assert 2 * weights <= weights_bytes(own) <= 2 * weights + rest + 16
    notes = [n.note for n in own.graph.nodes if "stored" in n.note]
    assert notes
    assert all(f"weights stored as {storage}, the same numbers" in note for note in notes)
    found, exact = (run(model, x, float_weights=words) for words in ("own", "f32"))
    assert same_bits(found, exact)
    assert np.abs(found).max() > 0


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", ["host", "cortex-m4", "esp32p4", "cortex-m3", "aarch64"])
def test_c_has_golden_s_numbers(name: str, target: str) -> None:
    require_tool("gcc")
    assert verify(CASES[name][0](), samples=2, target=target).equal


def test_weights_that_a_normalization_joins_are_float32(tmp_path: Path) -> None:
    """They are products, which 16 bits do not hold, and the layer beside them stays as it is."""
    names = ["scale", "offset", "mean", "var"]
    known = {**KNOWN, **{n: np.abs(normal(16, seed=i)) + 0.1 for i, n in enumerate(names)}}
    normalized = helper.make_node("BatchNormalization", ["c", *names], ["n"])
    rest = [helper.make_node("Conv", ["n", "d"], ["e"], pads=[1] * 4, group=16), *LAYERS[2:]]
    made = compiled(network("f16", [LAYERS[0], normalized, *rest], known), tmp_path)
    found = {n.name: made.graph.values[n.inputs[1]].type.storage for n in made.graph.nodes if len(n.inputs) > 1}
    assert sorted(found.values()) == ["", "f16", "f16"], found
    assert sum("stored" in n.note for n in made.graph.nodes) == 2


def test_round_numbers_of_a_float32_file_stay_what_they_are(tmp_path: Path) -> None:
    """Nothing says there that less flash is wanted rather than fewer instructions."""
    known = {name: array.astype(np.float16).astype(np.float32) for name, array in KNOWN.items()}
    assert storages(compiled(network("f32", known=known), tmp_path)) == {""}
    asked = compiled(network("f32", known=known), tmp_path, float_weights="f16")
    own = compiled(network("f16"), tmp_path)
    assert weights_bytes(asked) == weights_bytes(own), "it is had by asking"


def test_what_helium_adds_in_vectors_stays_float32(tmp_path: Path) -> None:
    model = network("f16")
    flushed = compiled(model, tmp_path, "cortex-m55", float_sums="flushed")
    assert storages(flushed) == {""}
    separate = compiled(model, tmp_path, "cortex-m55")
    assert storages(separate) == {"f16"}
    assert any("--float flushed" in note for note in separate.graph.notes), "which is still faster"


@pytest.mark.parametrize(
    ("target", "kind", "said"), [("esp32p4", "f16", True), ("esp32p4", "bf16", False), ("cortex-m4", "f16", False)]
)
def test_a_chip_that_converts_no_float16_says_so(target: str, kind: str, said: bool, tmp_path: Path) -> None:
    made = compiled(network(kind), tmp_path, target)
    assert any("several instructions each to expand" in note for note in made.graph.notes) == said
