"""QLinear operators, ConvInteger and MatMulInteger, integer inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from codegen.ir.quant import DType, Mode, Quant

from .models import MICROSOFT, Net, agrees, imported, kinds

U8 = np.uint8


def quantized_input(net: Net, shape: tuple[int, ...], zero: int = 120, dtype: Any = U8, name: str = "x") -> str:
    return net.q(net.input(shape, name=name), 0.05, zero, dtype)


def finish(net: Net, y: str, scale: float = 0.1, zero: int = 110, dtype: Any = U8) -> str:
    return net.dq(y, scale, zero, dtype)


@pytest.mark.parametrize("mode", ["ort", "single"])
@pytest.mark.parametrize("per_channel", [False, True])
def test_qlinear_conv(mode: Mode, per_channel: bool, tmp_path: Path) -> None:
    net = Net()
    x = quantized_input(net, (1, 2, 7, 7))
    scale = np.linspace(0.01, 0.02, 3).astype(np.float32) if per_channel else np.float32(0.01)
    w, b = net.const(net.ints(3, 2, 3, 3)), net.const(net.rng.integers(-500, 500, 3), np.int32)
    zeros = net.const(np.zeros(scale.shape, np.int8))
    params = net.params(0.05, 120, U8), (net.const(scale), zeros), net.params(0.1, 110, U8)
    y = net.op("QLinearConv", x, *params[0], w, *params[1], *params[2], b, pads=[1, 1, 1, 1])
    graph = agrees(net.model(finish(net, y)), tmp_path, mode=mode)
    assert kinds(graph) == ["Conv2D"]
    assert any(node.note.startswith("QLinearConv -> Conv2D") for node in graph.nodes)


@pytest.mark.parametrize("constant", [True, False])
def test_qlinear_matmul(constant: bool, tmp_path: Path) -> None:
    net = Net()
    a = quantized_input(net, (2, 5))
    b = net.const(net.ints(5, 4)) if constant else quantized_input(net, (5, 4), 3, np.int8, "b")
    scale = 0.01 if constant else 0.05
    zero = 0 if constant else 3
    y = net.op("QLinearMatMul", a, *net.params(0.05, 120, U8), b, *net.params(scale, zero), *net.params(0.1, 110, U8))
    graph = agrees(net.model(finish(net, y)), tmp_path)
    assert kinds(graph) == ["Dense" if constant else "MatMul"]


@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_qgemm(trans_b: int, alpha: float, tmp_path: Path) -> None:
    net = Net()
    a = quantized_input(net, (2, 5))
    b = net.const(net.ints(*((4, 5) if trans_b else (5, 4))))
    c = net.const(net.rng.integers(-500, 500, 4), np.int32)
    params = net.params(0.05, 120, U8), net.params(0.01), net.params(0.1, 110, U8)
    y = net.op("QGemm", a, *params[0], b, *params[1], c, *params[2], domain=MICROSOFT, transB=trans_b, alpha=alpha)
    assert kinds(agrees(net.model(finish(net, y)), tmp_path)) == ["Dense"]


def test_qgemm_with_a_float_result_waits_for_its_scale(tmp_path: Path) -> None:
    net = Net()
    x, w = quantized_input(net, (2, 5)), net.const(net.ints(5, 4))
    y = net.op("QGemm", x, *net.params(0.05, 120, U8), w, *net.params(0.01), domain=MICROSOFT)
    assert kinds(agrees(net.model(net.qdq(y, 0.1, 3)), tmp_path)) == ["Dense"]


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize("mode", ["ort", "single"])
@pytest.mark.parametrize("constant", [False, True])
def test_qlinear_binary(op: str, mode: Mode, constant: bool, tmp_path: Path) -> None:
    net = Net()
    a = quantized_input(net, (1, 3, 4, 4))
    if constant:
        b = net.const(net.ints(1, 3, 1, 1, low=0, high=255, dtype=U8))
    else:
        b = quantized_input(net, (1, 3, 4, 4), 100, U8, "b")
    y = net.op(
        op, a, *net.params(0.05, 120, U8), b, *net.params(0.05, 100, U8), *net.params(0.0917, 110, U8), domain=MICROSOFT
    )
    agrees(net.model(finish(net, y, 0.0917)), tmp_path, mode=mode)


UNARY: list[tuple[str, dict[str, Any], float, int]] = [
    ("QLinearSigmoid", {}, 1 / 256, 0),
    ("QLinearLeakyRelu", {"alpha": 0.2}, 0.0413, 90),
    ("QLinearSoftmax", {"axis": -1, "opset": 13}, 1 / 256, 0),
    ("QLinearSoftmax", {"axis": 1, "opset": 12}, 1 / 256, 0),
    ("QLinearAveragePool", {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}, 0.0413, 90),
    ("QLinearGlobalAveragePool", {"channels_last": 0}, 0.0413, 90),
    ("QLinearGlobalAveragePool", {"channels_last": 1}, 0.0413, 90),
]


@pytest.mark.parametrize(("op", "attributes", "scale", "zero"), UNARY)
def test_qlinear_operators_of_one_tensor(
    op: str, attributes: dict[str, Any], scale: float, zero: int, tmp_path: Path
) -> None:
    net = Net()
    x = quantized_input(net, (1, 4, 5, 6))
    y = net.op(op, x, *net.params(0.05, 120, U8), *net.params(scale, zero, U8), domain=MICROSOFT, **attributes)
    agrees(net.model(finish(net, y, scale, zero)), tmp_path, share=0.1)


def test_qlinear_concat(tmp_path: Path) -> None:
    net = Net()
    a, b = quantized_input(net, (1, 2, 4)), quantized_input(net, (1, 3, 4), 100, U8, "b")
    y = net.op(
        "QLinearConcat",
        *net.params(0.08, 110, U8),
        *(a, *net.params(0.05, 120, U8)),
        *(b, *net.params(0.05, 100, U8)),
        domain=MICROSOFT,
        axis=1,
    )
    assert kinds(agrees(net.model(finish(net, y, 0.08)), tmp_path)) == ["Concat"]


def test_movement_and_maxima_of_integers(tmp_path: Path) -> None:
    net = Net()
    x = quantized_input(net, (1, 3, 6, 6))
    y = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = net.op("Concat", y, net.op("Transpose", y, perm=[0, 1, 3, 2]), axis=1)
    y = net.op("Clip", y, net.const(100, U8), net.const(200, U8))
    graph = agrees(net.model(finish(net, net.op("Reshape", y, net.const([6, 9], np.int64)), 0.05, 120)), tmp_path)
    assert kinds(graph) == ["MaxPool2D", "Concat", "Clamp", "Reshape"]


@pytest.mark.parametrize("shape", [(1, 2, 7, 7), (1, 2, 9)])
def test_bare_conv_integer_gives_its_sums(shape: tuple[int, ...], tmp_path: Path) -> None:
    net = Net()
    x = net.input(shape, TensorProto.UINT8)
    w = net.const(net.ints(3, 2, *(3,) * (len(shape) - 2), low=0, high=255, dtype=U8))
    y = net.op("ConvInteger", x, w, net.const(7, U8), net.const(100, U8))
    graph = agrees(net.model(y), tmp_path, share=0.0)
    assert graph.type(graph.outputs[0].value).dtype is DType.S32


def test_bare_matmul_integer_and_movement_of_its_sums(tmp_path: Path) -> None:
    net = Net()
    x = net.input((2, 5), TensorProto.INT8)
    y = net.op("MatMulInteger", x, net.const(net.ints(5, 4)), net.const(-3, np.int8))
    graph = agrees(net.model(y), tmp_path, share=0.0)
    assert kinds(graph) == ["Dense"]


@pytest.mark.parametrize("mode", ["ort", "single"])
def test_conv_integer_and_its_scale_become_one_convolution(mode: Mode, tmp_path: Path) -> None:
    net = Net()
    x = quantized_input(net, (1, 2, 7, 7))
    y = net.op("ConvInteger", x, net.const(net.ints(3, 2, 3, 3)), net.const(120, U8))
    scales = np.linspace(0.0005, 0.001, 3).reshape(1, 3, 1, 1)
    y = net.op("Mul", net.op("Cast", y, to=TensorProto.FLOAT), net.const(scales, np.float32))
    y = net.op("Add", y, net.const(net.rng.normal(0, 1, (1, 3, 1, 1)), np.float32))
    y = net.op("Relu", y)
    graph = agrees(net.model(net.qdq(y, 0.05, 10, U8)), tmp_path, mode=mode)
    assert kinds(graph) == ["Conv2D"]
    (node,) = [n for n in graph.nodes if n.source and type(n.op).__name__ == "Conv2D"]
    assert node.note.startswith("ConvInteger + Cast + Mul + Add + Relu + QuantizeLinear -> Conv2D, per-channel")


def test_matmul_integer_pattern_with_negative_factor(tmp_path: Path) -> None:
    net = Net()
    y = net.op("MatMulInteger", quantized_input(net, (2, 5)), net.const(net.ints(5, 4)), net.const(120, U8))
    y = net.op("Mul", net.const([0.001, -0.002, 0.001, 0.003], np.float32), net.op("Cast", y, to=1))
    y = net.op("Sub", y, net.const([0.5], np.float32))
    assert kinds(agrees(net.model(net.qdq(y, 0.02, 3)), tmp_path)) == ["Dense"]


def test_dequantized_sums(tmp_path: Path) -> None:
    net = Net()
    y = net.op("MatMulInteger", quantized_input(net, (2, 5)), net.const(net.ints(5, 4)), net.const(120, U8))
    y = net.op("DequantizeLinear", y, net.const(np.float32(0.001)))
    assert kinds(agrees(net.model(net.qdq(y, 0.02, 3)), tmp_path)) == ["Dense"]


def test_moved_sums_are_rescaled(tmp_path: Path) -> None:
    net = Net()
    y = net.op("MatMulInteger", quantized_input(net, (2, 5)), net.const(net.ints(5, 4)), net.const(120, U8))
    y = net.op("Cast", net.op("Reshape", y, net.const([4, 2], np.int64)), to=1)
    graph = imported(net.model(net.qdq(y, 90.0, 3)), tmp_path)
    assert kinds(graph) == ["Dense", "Reshape", "Rescale"]


def test_pixels_cast_and_scaled_are_one_table(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Cast", net.input((1, 3, 6, 6), TensorProto.UINT8), to=TensorProto.FLOAT)
    y = net.op("Sub", net.op("Div", y, net.const(np.float32(255))), net.const(np.float32(0.5)))
    graph = agrees(net.model(net.qdq(y, 0.004, 3)), tmp_path)
    assert kinds(graph) == ["Lut"]


def test_integer_input_takes_its_meaning_from_its_reader(tmp_path: Path) -> None:
    net = Net()
    x = net.input((1, 3, 6, 6), TensorProto.UINT8)
    y = net.op("Sigmoid", net.dq(net.op("MaxPool", x, kernel_shape=[2, 2]), 0.05, 120, U8))
    graph = agrees(net.model(net.qdq(y, 1 / 256, 0, U8)), tmp_path)
    assert graph.type(graph.inputs[0].value).quant == Quant(float(np.float32(0.05)), 120)
    assert graph.inputs[0].model_dtype == "uint8"
