"""Operators that carry their scales as inputs, read as RealGraphs, against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from codegen.errors import ScaleBad, TypeUnsupported
from codegen.frontends.onnx.real import read_real
from codegen.real.engine import RealEngine
from codegen.real.storage import Dequantize, Quantize
from codegen.verbs.float_engine import FloatEngine
from tests.support.onnx_files import onnx_model, port
from tests.support.outsider import ort_session

X = (np.float32(0.02), np.uint8(120))
Y = (np.float32(0.05), np.uint8(117))
W = np.random.default_rng(5).integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)
CHANNELS = (np.linspace(0.01, 0.02, 4, dtype=np.float32), np.zeros(4, np.int8))
BIAS = np.array([500, -900, 0, 4000], np.int32)
B = W.reshape(4, 27)[:, :5].T.copy()

CASES: dict[str, tuple[tuple[int, ...], list[object], dict[str, object]]] = {
    "QLinearConv": ((1, 3, 6, 5), ["x", *X, W, *CHANNELS, *Y, BIAS], {"pads": [1, 1, 1, 1]}),
    "QLinearMatMul": ((2, 5), ["x", *X, B, *CHANNELS, *Y], {}),
    "QGemm": ((2, 5), ["x", *X, B, *CHANNELS, BIAS, *Y], {"alpha": 1.0}),
    "QLinearAdd": ((2, 5), ["x", *X, "x", *X, *Y], {}),
    "QLinearMul": ((2, 5), ["x", *X, np.full((5,), 9, np.uint8), *X, *Y], {}),
    "QLinearSigmoid": ((2, 50), ["x", *X, np.float32(1 / 256), np.uint8(0)], {}),
    "QLinearLeakyRelu": ((2, 50), ["x", *X, *Y], {"alpha": 0.3}),
    "QLinearSoftmax": ((2, 5), ["x", *X, np.float32(1 / 256), np.uint8(0)], {"axis": -1, "opset": 13}),
    "QLinearAveragePool": ((1, 2, 5, 5), ["x", *X, *Y], {"kernel_shape": [3, 3], "strides": [2, 2]}),
    "QLinearGlobalAveragePool": ((1, 2, 5, 5), ["x", *X, *Y], {}),
    "QLinearConcat": ((2, 5), [*Y, "x", *X, np.full((2, 3), 9, np.uint8), *X], {"axis": 1}),
}


def _model(kind: str, folder: Path, parts: list[object] | None = None) -> Path:
    shape, given, attributes = CASES[kind]
    parts = given if parts is None else parts
    names = ["x" if isinstance(p, str) else f"c{i}" for i, p in enumerate(parts)]
    constants = {n: p for n, p in zip(names, parts, strict=True) if n != "x"}
    domain = "" if kind in ("QLinearConv", "QLinearMatMul") else "com.microsoft"
    node = helper.make_node(kind, names, ["y"], domain=domain, **attributes)
    sets = {"": 17, "com.microsoft": 1}
    model = onnx_model([node], [port("x", shape, TensorProto.UINT8)], ["y"], constants, sets=sets, ir_version=9)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize("kind", ["QLinearConv", "QLinearMatMul", "QGemm"])
def test_the_float_engine_s_products_do_not_saturate(kind: str, tmp_path: Path) -> None:
    path = _model(kind, tmp_path)
    x = np.full(CASES[kind][0], 255, np.uint8)
    (theirs,) = FloatEngine(path).run({"x": x}).values()
    (ours,) = RealEngine(read_real(path)).run({"x": x}).values()
    assert np.abs(ours.astype(int) - theirs).max() <= 1


def test_the_float_engine_takes_products_of_signed_bytes(tmp_path: Path) -> None:
    shape, parts, _ = CASES["QLinearConv"]
    signed = ["x", X[0], np.int8(-8), *parts[3:7], np.int8(3), *parts[8:]]
    path = _model("QLinearConv", tmp_path, signed)
    model = onnx.load(path)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT8
    onnx.save(model, path)
    x = np.full(shape, -128, np.int8)
    (theirs,) = FloatEngine(path).run({"x": x}).values()
    (ours,) = RealEngine(read_real(path)).run({"x": x}).values()
    assert np.abs(ours.astype(int) - theirs).max() <= 1


@pytest.mark.parametrize("kind", list(CASES))
def test_an_operator_with_scales_is_its_real_operator_between_two_borders(kind: str, tmp_path: Path) -> None:
    path = _model(kind, tmp_path)
    graph = read_real(path)
    assert isinstance(graph.nodes[0].op, Dequantize)
    assert isinstance(graph.nodes[-1].op, Quantize)
    x = np.random.default_rng(7).integers(0, 256, CASES[kind][0]).astype(np.uint8)
    (wanted,) = ort_session(path, optimized=True).run(None, {"x": x})
    (found,) = RealEngine(graph).run({"x": x}).values()
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    apart = np.abs(found.astype(int) - wanted)
    assert apart.max() <= 1
    assert np.mean(apart > 0) <= 0.1


def test_a_stored_bias_keeps_its_integers(tmp_path: Path) -> None:
    graph = read_real(_model("QLinearConv", tmp_path))
    (bias,) = (v for v in graph.values.values() if v.data is not None and v.data.dtype == np.int32)
    assert bias.stored is not None
    assert np.array_equal(bias.data, BIAS)
    assert np.array_equal(bias.stored.scale, X[0] * CHANNELS[0])


def test_a_bias_of_real_numbers_is_refused(tmp_path: Path) -> None:
    parts = [*CASES["QLinearConv"][1][:-1], BIAS.astype(np.float32)]
    with pytest.raises(TypeUnsupported, match="bias"):
        raise read_problem(_model("QLinearConv", tmp_path, parts))


def test_a_scale_of_nothing_is_refused(tmp_path: Path) -> None:
    parts = ["x", np.float32(0), *CASES["QLinearLeakyRelu"][1][2:]]
    with pytest.raises(ScaleBad):
        raise read_problem(_model("QLinearLeakyRelu", tmp_path, parts))


def read_problem(path: Path) -> Exception:
    """The first problem of a model that is refused."""
    from codegen.errors import ModelRejected

    with pytest.raises(ModelRejected) as caught:
        read_real(path)
    return caught.value.problems()[0]
