"""What `onnxruntime.quantization.quantize_dynamic` writes: weights of 8 bits, and inputs as they are."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from codegen.api import run, verify
from codegen.ir.quant import Array
from codegen.options import Options
from codegen.pipeline import compile_file
from tests.support.onnx_files import onnx_model, port
from tests.support.outsider import ort_session
from tests.support.recurrent_models import Recurrence
from tests.support.shared import shared_dir
from tests.support.tools import require_tool

MODELS = shared_dir() / "models"
AD, KWS, MNIST = (
    MODELS / f"{name}.onnx" for name in ("mlperf_tiny_onnx/ad_f32", "mlperf_tiny_onnx/kws_f32", "onnx/mnist_cnn_f32")
)
FARTHEST = 0.02
"""From ONNX Runtime's results, of the greatest of them: its inputs of layers are rounded to 256 numbers each."""
WEIGHTS = {AD: 0.3, KWS: 0.31, MNIST: 0.6}
"""The share of the float network's bytes; ONNX Runtime leaves 2,560 of the last one's weights as they are."""


def dynamic(path: Path, folder: Path, **words: Any) -> Path:
    made = folder / "dynamic.onnx"
    logging.disable(logging.WARNING)
    try:
        quantize_dynamic(path, made, **words)
    finally:
        logging.disable(logging.NOTSET)
    return made


def with_its_weights(path: Path, made: Path) -> onnx.ModelProto:
    """The float network, with the real numbers that the integers of the dynamic one stand for."""
    model, given = onnx.load(path), {t.name: numpy_helper.to_array(t) for t in onnx.load(made).graph.initializer}
    count = 0
    for tensor in model.graph.initializer:
        ints = given.get(f"{tensor.name}_quantized")
        if ints is not None:
            zero, scale = (given[f"{tensor.name}_{of}"] for of in ("zero_point", "scale"))
            real = (ints.astype(np.float32) - zero.astype(np.float32)) * scale
            tensor.CopyFrom(numpy_helper.from_array(real.astype(np.float32), tensor.name))
            count += 1
    assert count > 1
    return model


def sample(path: Path) -> dict[str, Array]:
    (port,) = ort_session(path).get_inputs()
    shape = [n if isinstance(n, int) else 1 for n in port.shape]
    return {port.name: np.random.default_rng(4).standard_normal(shape).astype(np.float32)}


@pytest.mark.parametrize("path", WEIGHTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("weights", [QuantType.QInt8, QuantType.QUInt8])
def test_inputs_are_not_rounded(path: Path, weights: QuantType, tmp_path: Path) -> None:
    made, feeds = dynamic(path, tmp_path, weight_type=weights, per_channel=True), sample(path)
    found = next(iter(run(made, feeds, "golden").values()))
    exact, theirs = (ort_session(m).run(None, feeds)[0] for m in (with_its_weights(path, made), made))
    most = np.abs(exact).max()
    assert np.abs(found.reshape(exact.shape) - exact).max() <= 1e-5 * most
    assert 1e-4 * most < np.abs(found.reshape(exact.shape) - theirs).max() <= FARTHEST * most


@pytest.mark.parametrize("path", WEIGHTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("weights", [QuantType.QInt8, QuantType.QUInt8])
def test_c_has_golden_s_numbers_and_weights_of_8_bits(path: Path, weights: QuantType, tmp_path: Path) -> None:
    require_tool("gcc")
    made = dynamic(path, tmp_path, weight_type=weights)
    assert verify(made, inputs=[sample(path)], samples=1, target="generic").equal
    found, whole = (compile_file(p, Options(target="cortex-m4")) for p in (made, path))
    assert int(str(found.manifest["weights_bytes"])) <= WEIGHTS[path] * int(str(whole.manifest["weights_bytes"]))
    assert any(note.startswith("dynamic quantization: ") for note in found.graph.notes)


def test_x86_keeps_bytes_with_zero_points_as_real_numbers(tmp_path: Path) -> None:
    """Its vectors read none, and would be given up for them."""
    made = compile_file(dynamic(KWS, tmp_path, weight_type=QuantType.QUInt8), Options(target="host"))
    assert not any(value.type.storage for value in made.graph.values.values())


@pytest.mark.parametrize("weights", [QuantType.QInt8, QuantType.QUInt8])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_lstm(direction: str, weights: QuantType, tmp_path: Path) -> None:
    """DynamicQuantizeLSTM stands for the float one with such weights, which take a byte each on a Cortex-M4."""
    require_tool("gcc")
    path = Recurrence("LSTM", direction, entries=24, hidden=32, shown=(0,)).write(tmp_path / "float.onnx")
    made, feeds = dynamic(path, tmp_path, weight_type=weights), sample(path)
    assert [node.op_type for node in onnx.load(made).graph.node] == ["DynamicQuantizeLSTM"]
    (found,), (theirs,) = run(made, feeds).values(), ort_session(made).run(None, feeds)
    assert 1e-4 < np.abs(found - theirs).max() <= 2 * FARTHEST
    assert verify(made, inputs=[feeds], samples=1, target="generic").equal
    sizes = [int(str(compile_file(p, Options(target="cortex-m4")).manifest["weights_bytes"])) for p in (made, path)]
    assert sizes[0] <= 0.35 * sizes[1]


@pytest.mark.parametrize("weights", [QuantType.QInt8, QuantType.QUInt8])
def test_an_embedding_is_a_table_of_integers(weights: QuantType, tmp_path: Path) -> None:
    """The product behind it multiplies these, and is rounded by nobody: the results are ONNX Runtime's."""
    rng, path = np.random.default_rng(6), tmp_path / "float.onnx"
    known = {name: rng.normal(0, 1, shape).astype(np.float32) for name, shape in (("t", (20, 12)), ("w", (12, 5)))}
    nodes = [helper.make_node("Gather", ["t", "x"], ["e"], name="a"), helper.make_node("MatMul", ["e", "w"], ["y"])]
    onnx.save(onnx_model(nodes, [port("x", [4], onnx.TensorProto.INT64)], [port("y", [4, 5])], known), path)
    made, x = dynamic(path, tmp_path, weight_type=weights), {"x": np.array([3, 19, 0, 7])}
    assert [node.op_type for node in onnx.load(made).graph.node].count("DynamicQuantizeLinear") == 0
    for engine in ("golden", "c"):
        np.testing.assert_allclose(run(made, x, engine)["y"], ort_session(made).run(None, x)[0], rtol=1e-6)
