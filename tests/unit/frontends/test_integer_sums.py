"""What reads the int32 sums of ConvInteger and MatMulInteger: a scale, real numbers, other whole numbers, nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from codegen.errors import ModelRejected
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from tests.support.outsider import ort_session
from tests.support.together import check_c_is_golden
from tests.support.tools import require_tool

from .models import Net, imported

Make = Callable[[Net, str], Any]
DENSE, IMAGE = (3, 12), (1, 4, 7, 7)


def sums(net: Net, x: str, dtype: Any = np.int8) -> str:
    w = net.const(net.ints(12, 5, low=0, high=127, dtype=dtype))
    return str(net.op("MatMulInteger", x, w, net.const(3, np.uint8), net.const(60, dtype)))


def image_sums(net: Net, x: str, dtype: Any = np.int8) -> str:
    w = net.const(net.ints(6, 2, 3, 3, low=0, high=127, dtype=dtype))
    return str(net.op("ConvInteger", x, w, net.const(11, np.uint8), net.const(60, dtype), group=2, pads=[1] * 4))


def real(net: Net, y: str, scale: Any = 0.01) -> str:
    return str(net.op("Mul", net.op("Cast", y, to=1), net.const(scale, np.float32)))


def plus(net: Net, y: str, b: Array) -> str:
    return str(net.op("Add", y, net.const(b)))


def both(net: Net, x: str) -> str:
    y = sums(net, x)
    return str(net.op("Add", real(net, y), net.op("Sigmoid", real(net, y, 1e-4))))


def chained(net: Net, x: str) -> str:
    y = net.q(real(net, sums(net, x)), 5.0, 2)
    return real(net, str(net.op("MatMulInteger", y, net.const(net.ints(5, 4)), net.const(2, np.int8))))


def of_two(net: Net, x: str) -> str:
    turned = net.op("Transpose", x, perm=[1, 0])
    return str(net.op("MatMulInteger", x, turned, net.const(3, np.uint8), net.const(9, np.uint8)))


def of_columns(net: Net, x: str) -> str:
    """ONNX lets either side have a zero point for each of its rows or columns."""
    turned = net.op("Transpose", x, perm=[1, 0])
    return str(net.op("MatMulInteger", x, turned, net.const(3, np.uint8), net.const([0, 9, 255], np.uint8)))


def turned_round(net: Net, x: str) -> str:
    return str(net.op("MatMulInteger", net.const(net.ints(5, 3)), x, net.const(7, np.int8), net.const(3, np.uint8)))


WHOLE, EACH = np.arange(5, dtype=np.int32) * 1000, np.linspace(0.01, 0.05, 6).reshape(1, 6, 1, 1)
CASES: dict[str, tuple[tuple[int, ...], Make]] = {
    "the sums": (DENSE, sums),
    "real numbers": (DENSE, lambda net, x: net.op("Cast", sums(net, x), to=1)),
    "a scale": (DENSE, lambda net, x: real(net, sums(net, x))),
    "weights without signs": (DENSE, lambda net, x: real(net, sums(net, x, np.uint8))),
    "a bias and a function": (
        DENSE,
        lambda net, x: net.op("Softmax", plus(net, real(net, sums(net, x), 1e-3), np.arange(5, dtype=np.float32))),
    ),
    "several readers": (DENSE, both),
    "a quotient": (DENSE, lambda net, x: net.op("Div", net.op("Cast", sums(net, x), to=1), net.const(np.float32(37)))),
    "a bias of whole numbers": (DENSE, lambda net, x: real(net, plus(net, sums(net, x), WHOLE))),
    "a dequantization": (DENSE, lambda net, x: net.op("DequantizeLinear", sums(net, x), net.const(np.float32(0.02)))),
    "a function of a dequantization": (
        DENSE,
        lambda net, x: net.op("Tanh", net.op("DequantizeLinear", sums(net, x), net.const(np.float32(1e-4)))),
    ),
    "a comparison": (DENSE, lambda net, x: net.op("Greater", sums(net, x), net.const(5, np.int32))),
    "a position": (DENSE, lambda net, x: net.op("ArgMax", sums(net, x), axis=1)),
    "an extreme": (DENSE, lambda net, x: net.op("ReduceMax", sums(net, x), axes=[1])),
    "a transposition": (DENSE, lambda net, x: real(net, net.op("Transpose", sums(net, x), perm=[1, 0]))),
    "a further product": (DENSE, chained),
    "a product of two computed sides": (DENSE, lambda net, x: real(net, of_two(net, x))),
    "the sums of two computed sides": (DENSE, of_two),
    "zero points of columns": (DENSE, of_columns),
    "zero points of columns, and a scale": (DENSE, lambda net, x: real(net, of_columns(net, x))),
    "a product whose left side is known": (DENSE, lambda net, x: real(net, turned_round(net, x))),
    "a scale for each channel": (IMAGE, lambda net, x: real(net, image_sums(net, x), EACH)),
    "an image's scale": (IMAGE, lambda net, x: real(net, image_sums(net, x, np.uint8))),
    "a pool": (IMAGE, lambda net, x: net.op("MaxPool", real(net, image_sums(net, x)), kernel_shape=[2, 2])),
}


def made(name: str, folder: Path, *, computed: bool) -> tuple[onnx.ModelProto, Graph, Array]:
    """The model of integers that are its input, or computed, as it is read, and an input."""
    (shape, make), net = CASES[name], Net()
    x = net.input(shape, onnx.TensorProto.FLOAT if computed else onnx.TensorProto.UINT8)
    if computed:
        x = net.q(str(net.op("Relu", x)), 0.02, 3, np.uint8)
    model = net.model(make(net, x))
    model.graph.output[0].ClearField("type")
    model = onnx.shape_inference.infer_shapes(model)
    rng = np.random.default_rng(3)
    given = rng.normal(1, 2, shape).astype(np.float32) if computed else rng.integers(0, 256, shape).astype(np.uint8)
    return model, imported(model, folder, io_type="model", io_layout="model"), given


@pytest.mark.parametrize("computed", [False, True], ids=["input", "computed"])
@pytest.mark.parametrize("name", CASES)
def test_sums_are_those_of_onnx_runtime(name: str, computed: bool, tmp_path: Path) -> None:
    model, graph, x = made(name, tmp_path, computed=computed)
    (wanted,) = ort_session(model).run(None, {"x": x})
    ins, (out,) = graph_ports(graph)
    found = out.to_model(run_graph(graph, network_feeds(ins, {"x": x}))[out.value])
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * np.abs(wanted.astype(np.float64)).max())


def test_a_bias_of_whole_numbers_is_requantized(tmp_path: Path) -> None:
    net = Net()
    y = plus(net, sums(net, net.input(DENSE, onnx.TensorProto.UINT8)), WHOLE)
    model = net.model(net.q(real(net, y), 5.0, 3))
    graph = imported(model, tmp_path)
    x = np.random.default_rng(3).integers(0, 256, DENSE).astype(np.uint8)
    ins, (out,) = graph_ports(graph)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT8
    found = run_graph(graph, network_feeds(ins, {"x": x}))[out.value]
    assert np.abs(found.astype(int) - ort_session(model).run(None, {"x": x})[0]).max() <= 1
    assert not any(v.type.dtype.is_float for v in graph.values.values())


def test_c_has_the_same_sums(tmp_path: Path) -> None:
    require_tool("gcc")
    graphs, feeds = [], []
    for name in CASES:
        _, graph, x = made(name, tmp_path, computed=True)
        graphs.append(graph)
        feeds.append(network_feeds(graph_ports(graph)[0], {"x": x}))
    check_c_is_golden(graphs, feeds, tmp_path / "c")


ROWS = np.array([0, 200, 255], np.uint8)
"""A zero point of each row of the left side, which ONNX Runtime refuses."""


@pytest.mark.parametrize("known", ["left", "right", "neither"])
def test_zero_points_of_rows_are_those_of_numpy(known: str, tmp_path: Path) -> None:
    net, rng = Net(), np.random.default_rng(6)
    x = rng.integers(0, 256, DENSE).astype(np.uint8)
    given = net.input(DENSE, onnx.TensorProto.UINT8)
    turned = net.op("Transpose", given, perm=[1, 0])
    a, b = {"left": (net.const(x), turned), "right": (given, net.const(x.T)), "neither": (given, turned)}[known]
    model = net.model(net.op("MatMulInteger", a, b, net.const(ROWS), net.const(9, np.uint8)))
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT32
    graph = imported(model, tmp_path, io_type="model", io_layout="model")
    wide = x.astype(np.int32)
    feeds = network_feeds(graph_ports(graph)[0], {"x": x})
    (y,) = (run_graph(graph, feeds)[port.value] for port in graph.outputs)
    assert y.tolist() == ((wide - ROWS[:, None]) @ (wide.T - 9)).tolist()
    check_c_is_golden([graph], [feeds], tmp_path / "c")


def test_zero_points_of_rows_and_of_columns_are_refused(tmp_path: Path) -> None:
    net = Net()
    x = net.input(DENSE, onnx.TensorProto.UINT8)
    zeros = [net.const(ROWS), net.const(ROWS)]
    y = net.op("Cast", net.op("MatMulInteger", x, net.op("Transpose", x, perm=[1, 0]), *zeros), to=1)
    with pytest.raises(ModelRejected, match=r"LAM-IMPORT-011 .*zero points of rows and of columns"):
        imported(net.model(y), tmp_path)
