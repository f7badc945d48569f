"""The engine float on TFLite models: the model's own types at the border, real numbers inside."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, parser

import codegen
from codegen.errors import CompileError
from codegen.frontends import read_real
from codegen.options import Options
from codegen.verbs.engines import open_engine
from tests.support.shared import ROOT, shared_dir
from tests.support.tflite_models import Model

HELLO = shared_dir() / "models" / "tflite"


def test_a_float_model_gives_what_litert_gives() -> None:
    x = np.linspace(0, 6, 9, dtype=np.float32).reshape(9, 1)
    found, wanted = (codegen.run(HELLO / "hello_world_f32.tflite", x, engine=e) for e in ("float", "litert"))
    assert found.shape == (9, 1)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


def test_a_quantized_model_takes_and_gives_its_integers() -> None:
    x = np.arange(-128, 128, 8).astype(np.int8).reshape(-1, 1)
    found, wanted = (codegen.run(HELLO / "hello_world_int8.tflite", x, engine=e) for e in ("float", "litert"))
    assert found.dtype == np.int8
    assert np.abs(found.astype(int) - wanted).max() <= 1


def test_shapes_that_contradict_the_model_are_refused() -> None:
    x = np.zeros((1, 2), np.float32)
    with pytest.raises(CompileError) as error:
        codegen.run(HELLO / "hello_world_f32.tflite", x, engine="float", shapes={"dense_2_input": (1, 2)})
    assert error.value.code in ("LAM-IMPORT-051", "LAM-IMPORT-052")


def test_a_computed_position_outside_is_the_nearest_one_inside(tmp_path: Path) -> None:
    model = Model()
    table, places = model.input((4, 2), "float32"), model.input((1,), "int32")
    model.op("GATHER", [table, places], [model.output((1, 2), "float32")], "GatherOptions")
    path = tmp_path / "m.tflite"
    path.write_bytes(model.bytes())
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    given = {"main_t0": x, "main_t1": np.array([3], np.int32)}
    assert np.array_equal(codegen.run(path, given, engine="float")["main_t2"], x[3:])
    given["main_t1"] = np.array([9], np.int32)
    assert np.array_equal(codegen.run(path, given, engine="float")["main_t2"], x[3:])


_SPOKEN = {TensorProto.FLOAT16: "float16", TensorProto.BFLOAT16: "bfloat16"}
ONNX = (
    *("examples/digits/digits_qdq", "float/resnet20_cifar10_f32", "mlperf_tiny_onnx/kws_f32", "onnx/dtln_1_f32"),
    *("onnx/mnist_cnn_f32", "onnx/silero_vad_16k_f32", "mlperf_tiny_onnx/ad_qdq"),
)


@pytest.mark.parametrize(
    ("half", "note"),
    [(TensorProto.FLOAT16, ""), (TensorProto.BFLOAT16, "onnxruntime has few operators of bfloat16")],
)
def test_a_model_of_floats_of_16_bits_runs(half: int, note: str, tmp_path: Path) -> None:
    text = f"""<ir_version: 9, opset_import: ["" : 20]> g ({_SPOKEN[half]}[1,3] x) => ({_SPOKEN[half]}[1,3] y)
        {{ s = Add(x, x) y = Relu(s) }}"""
    path = tmp_path / "m.onnx"
    onnx.save(parser.parse_model(text), path)
    with open_engine("float", path, Options()) as engine:
        y = engine.run({"x": np.float32([[1.5, -2, 0.25]])})["y"]
        assert engine.note.startswith(note)
        assert bool(engine.note) == bool(note)
    assert y.tolist() == [[3, 0, 0.5]]


@pytest.mark.parametrize("name", ONNX)
def test_without_onnxruntime_an_onnx_model_gives_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = name.startswith("examples")
    path = (ROOT if own else shared_dir() / "models") / f"{name}.onnx"
    graph, rng = read_real(path), np.random.default_rng(4)
    kinds = {port: graph.type(port) for port in graph.inputs}
    feeds = {
        n: rng.random(t.shape, np.float32) if t.is_real else np.full(t.shape, 16000, t.dtype) for n, t in kinds.items()
    }
    wanted = codegen.run(path, feeds, engine="float")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    found = codegen.run(path, feeds, engine="float")
    assert list(found) == list(wanted)
    for key, array in wanted.items():
        assert (found[key].shape, found[key].dtype) == (array.shape, array.dtype)
        np.testing.assert_allclose(found[key], array, rtol=1e-5, atol=1e-5 * max(1.0, float(np.abs(array).max())))
