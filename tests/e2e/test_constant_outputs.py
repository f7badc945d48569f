"""Outputs that depend on no input, that are an input, or that are one tensor twice: golden, C and self-test agree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto

from codegen.emit import write_project
from codegen.host import Network
from codegen.ir.quant import Array
from codegen.pipeline import Options, compile_file
from tests.e2e.projects import build, require_build, run
from tests.support.tflite_models import Model, run_tflm
from tests.support.tools import require_module
from tests.unit.frontends.models import Net, saved

X = np.arange(-24, 24, dtype=np.int8).reshape(1, 4, 6, 2)
ANCHORS = np.arange(-8, 8, dtype=np.int8).reshape(1, 2, 4, 2)


def answers(model: Path, feeds: Mapping[str, Array], folder: Path) -> tuple[list[Array], str]:
    """What the C gives out, and the header; the self-test has passed."""
    made = compile_file(model, Options(io_type="model", vectors=1))
    write_project(folder, made.files)
    require_build("gcc", (), folder)
    sources = [path for part in ("src", "test") for path in sorted((folder / part).glob("*.c"))]
    includes = [f"-I{folder / part}" for part in ("include", "runtime", "src", "test")]
    assert "all vectors right" in run(build("gcc", ("-O0",), sources, folder / "selftest", includes=includes))
    with Network(folder, flags=("-O0",)) as net:
        outputs = net.run(dict(feeds))
    return list(outputs.values()), "".join(p.read_text() for p in (folder / "include").glob("*.h"))


def test_outputs_of_a_tflite_model_that_are_known_or_given_twice(tmp_path: Path) -> None:
    require_module("tflite_micro")
    model = Model()
    x = model.input(X.shape, "int8", 0.1, 3)
    y = model.output(X.shape, "int8", 0.1, 3)
    model.op("RELU", [x], [y])
    anchors = model.const(ANCHORS, 0.5, 1)
    model.op("DEQUANTIZE", [anchors], [model.output(ANCHORS.shape, "float32")])
    model.graph.outputs += [x, anchors, y, model.const(np.array([True, False])), model.const(np.array([-5], np.int64))]
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    (wanted,) = run_tflm(model.bytes(), [X])
    have, header = answers(tmp_path / "m.tflite", {"main_t0": X}, tmp_path / "c")
    for a, b in zip(wanted, have, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        assert np.array_equal(a, b)
    assert header.count("the same numbers after each run\n") == 4
    assert ": flags, 0 or 1; the same" in header
    assert ": int64 in the model, 32 bits here; the same" in header


def test_outputs_of_an_onnx_model_that_are_known_or_an_input(tmp_path: Path) -> None:
    net = Net()
    x = net.input((1, 2, 4, 6))
    y = net.qdq(x, 0.05)
    integers = net.const(ANCHORS.reshape(1, 2, 2, 4))
    known = net.op("DequantizeLinear", integers, *net.params(0.5, 1))
    real = net.op("Mul", net.const(np.array([1.5, 2.0], np.float32)), net.const(np.float32(3)))
    model = net.model(y, known, real, net.op("Shape", x), x)
    for output, kind in zip(model.graph.output, (*(TensorProto.FLOAT,) * 3, TensorProto.INT64, 1), strict=True):
        output.type.tensor_type.elem_type = kind
    path = saved(model, tmp_path)
    feeds = {"x": np.linspace(-3, 3, 48, dtype=np.float32).reshape(1, 2, 4, 6)}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    wanted = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"]).run(None, feeds)
    have, header = answers(path, feeds, tmp_path / "c")
    for a, b in zip(wanted, have, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        assert np.array_equal(a, b)
    assert header.count("the same numbers after each run\n") == 3


def test_a_network_without_inputs_gives_its_numbers(tmp_path: Path) -> None:
    model = Model()
    model.graph.outputs.append(model.const(ANCHORS, 0.5, 1))
    (tmp_path / "m.tflite").write_bytes(model.bytes())
    (have,), header = answers(tmp_path / "m.tflite", {}, tmp_path / "c")
    assert np.array_equal(have, ANCHORS)
    assert "M_INPUT0_BYTES" not in header
