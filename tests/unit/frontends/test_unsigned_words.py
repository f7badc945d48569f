"""uint16 tensors: int16 in the network, 2^15 less, and near ONNX Runtime all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from codegen.errors import ModelRejected
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.quant import MODES, DType, Mode

from .models import Net, compare, imported

U16: dict[str, Any] = {"dtype": np.uint16}
WORDS = {"opset": 21, "ir_version": 10}


@pytest.mark.parametrize("mode", MODES)
def test_network_of_unsigned_words_is_within_one_step(mode: Mode, tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 3, 6, 6)), 2e-4, 30000, **U16)
    weights = net.weights(net.ints(4, 3, 3, 3, low=0, high=255, dtype=np.uint8), 0.01, zero=131)
    y = net.qdq(net.op("Conv", x, weights, pads=[1, 1, 1, 1]), 3e-4, 0, **U16)
    y = net.qdq(net.op("Add", y, y), 6e-4, 0, **U16)
    pooled = net.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    found = compare(net.model(net.qdq(net.op("Sigmoid", pooled), 1 / 65535, 0, **U16), **WORDS), tmp_path, mode)
    assert found.largest <= 1.01
    assert {v.type.dtype for v in found.graph.values.values() if not v.is_const} == {DType.S16}


def test_interface_and_notes_say_what_the_network_holds(tmp_path: Path) -> None:
    net = Net()
    graph = imported(net.model(net.qdq(net.input((2, 3)), 2e-4, 30000, **U16), **WORDS), tmp_path)
    ((port,), _) = graph_ports(graph)
    assert port.dtype is DType.S16
    assert port.quant is not None
    assert port.quant.zero_point == 30000 - 32768
    assert any("uint16" in note for note in graph.notes)


def test_integer_inputs_and_outputs_of_uint16_are_converted(tmp_path: Path) -> None:
    net = Net()
    x = net.dq(net.input((4, 30), TensorProto.UINT16), 2e-4, 1000, np.uint16)
    model = net.model(net.q(net.op("Tanh", x), 1 / 32768, 32768, np.uint16), **WORDS)
    found = compare(model, tmp_path, "single")
    assert found.largest <= 1.0
    assert [p.model_dtype for p in (*found.graph.inputs, *found.graph.outputs)] == ["uint16", "uint16"]


def test_zero_points_that_are_left_out_are_zero_in_the_models_numbers(tmp_path: Path) -> None:
    net = Net()
    ints = net.op("QuantizeLinear", net.input((4, 30)), net.const(np.float32(1e-4)), output_dtype=TensorProto.UINT16)
    y = net.op("DequantizeLinear", ints, net.const(np.float32(1e-4)))
    assert compare(net.model(y, **WORDS), tmp_path).largest <= 0.01


def test_constants_of_uint16_are_read(tmp_path: Path) -> None:
    net = Net()
    table = net.weights(net.ints(5, 5, low=0, high=65535, dtype=np.uint16), 1e-4, zero=32768)
    y = net.op("MatMul", net.qdq(net.input((5, 5)), 2e-4, 30000, **U16), table)
    assert compare(net.model(net.qdq(y, 1e-3, 32768, **U16), **WORDS), tmp_path).largest <= 1.01


def test_weights_beyond_16_bits_are_refused(tmp_path: Path) -> None:
    net = Net()
    table = net.weights(np.array([[0, 65535]], np.uint16), 1e-4, zero=40000)
    y = net.op("MatMul", net.qdq(net.input((5, 1)), 2e-4, 30000, **U16), table)
    with pytest.raises(ModelRejected, match="LAM-IMPORT-056"):
        imported(net.model(net.qdq(y, 1e-3, 32768, **U16), **WORDS), tmp_path)


def test_clip_and_pad_of_unsigned_integers_keep_their_numbers(tmp_path: Path) -> None:
    net = Net()
    ints = net.op("Clip", net.input((1, 9), TensorProto.UINT16), *(net.const(np.uint16(v)) for v in (7, 900)))
    padded = net.op("Pad", ints, net.const(np.array([0, 1, 0, 2]), np.int64), net.const(np.uint16(300)))
    graph = imported(net.model(net.dq(padded, 1e-3, 500, np.uint16), **WORDS), tmp_path)
    (x,), (y,) = graph_ports(graph)
    given = np.array([[0, 6, 7, 8, 899, 900, 901, 40000, 65535]], np.uint16)
    found = y.to_model(run_graph(graph, network_feeds([x], {x.name: given}))[y.value])
    numbers = np.array([[300, 7, 7, 7, 8, 899, 900, 900, 900, 900, 300, 300]])
    assert np.array_equal(found, (numbers - 500).astype(np.float32) * np.float32(1e-3))


def test_pad_of_integers_is_filled_with_the_integer_itself(tmp_path: Path) -> None:
    net = Net()
    ints = net.q(net.input((1, 3)), 0.05, 5)
    padded = net.op("Pad", ints, net.const(np.array([0, 1, 0, 1]), np.int64), net.const(np.int8(9)))
    assert compare(net.model(net.dq(padded, 0.05, 5)), tmp_path).largest <= 0.01


def test_cast_of_uint16_to_float_is_its_number(tmp_path: Path) -> None:
    net = Net()
    pixels = net.op("Cast", net.input((2, 20), TensorProto.UINT16), to=TensorProto.FLOAT)
    model = net.model(net.qdq(net.op("Mul", pixels, net.const(np.float32(0.001))), 0.01, -10), **WORDS)
    assert compare(model, tmp_path).largest <= 1.01


@pytest.mark.parametrize(("kind", "zero"), [(np.uint16, np.int16), (np.int16, np.uint16)])
def test_zero_point_of_the_other_sign_is_refused(kind: Any, zero: Any, tmp_path: Path) -> None:
    net = Net()
    y = net.dq(net.q(net.input((2, 3)), 1e-3, 0, kind), 1e-3, 0, zero)
    with pytest.raises(ModelRejected, match="zero point of type"):
        imported(net.model(y, **WORDS), tmp_path)


def test_tensor_read_with_another_scale_keeps_its_words(tmp_path: Path) -> None:
    net = Net()
    y = net.dq(net.q(net.input((4, 30)), 1e-3, 30000, np.uint16), 2e-3, 20000, np.uint16)
    assert compare(net.model(y, **WORDS), tmp_path).largest <= 0.01
