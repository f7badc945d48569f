"""The last Softmax, Sigmoid, HardSigmoid or Tanh without a QuantizeLinear: the integer operator spanning its range."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.golden.interface import graph_ports
from codegen.ir.quant import MODES, DType, Mode, Quant
from codegen.ops import Dequantize, Quantize
from codegen.ops.float32 import FloatClip, FloatDense, FloatSoftmax, FloatUnary

from .models import Net, compare, imported, kinds

WORDS = {"opset": 21, "ir_version": 10}
BYTE, UNSIGNED, WORD = (0.05, 3, np.int8), (0.05, 131, np.uint8), (2e-4, 7, np.int16)


@pytest.mark.parametrize(
    ("name", "x", "dtype", "quant"),
    [
        ("Softmax", BYTE, DType.S8, Quant(1 / 256, -128)),
        ("Softmax", UNSIGNED, DType.U8, Quant(1 / 256, 0)),
        ("Softmax", WORD, DType.S16, Quant(2.0**-15)),
        ("Sigmoid", BYTE, DType.S8, Quant(1 / 256, -128)),
        ("Sigmoid", WORD, DType.S16, Quant(2.0**-15)),
        ("HardSigmoid", UNSIGNED, DType.U8, Quant(1 / 256, 0)),
        ("Tanh", BYTE, DType.S8, Quant(1 / 128, 0)),
        ("Tanh", UNSIGNED, DType.U8, Quant(1 / 128, 128)),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_tail_is_the_integer_operator_within_one_step(
    name: str, x: tuple[float, int, Any], dtype: DType, quant: Quant, mode: Mode, tmp_path: Path
) -> None:
    net = Net()
    found = compare(net.model(net.op(name, net.qdq(net.input((6, 10)), *x)), **WORDS), tmp_path, mode)
    # the largest number stands for 1 less one step
    assert found.largest <= (32.0 if name == "Softmax" and mode == "tflite" and dtype is DType.S16 else 1.01)
    (_, (port,)) = graph_ports(found.graph)
    assert (port.dtype, port.quant, port.model_dtype) == (dtype, quant, "float32")
    assert any(name in note and f"zero point {quant.zero_point}" in note for note in found.graph.notes)


@pytest.mark.parametrize("name", ["Softmax", "Sigmoid"])
def test_what_moves_the_result_may_follow(name: str, tmp_path: Path) -> None:
    net = Net()
    y = net.op(name, net.qdq(net.input((1, 2, 3, 4))), **({"axis": 1} if name == "Softmax" else {}))
    y = net.op("Reshape", net.op("Transpose", y, perm=[0, 2, 1, 3]), net.const(np.array([6, 4]), np.int64))
    assert compare(net.model(y), tmp_path).largest <= 1.01


@pytest.mark.parametrize("x", [BYTE, WORD])
def test_a_last_relu_stays_among_its_tensor_s_numbers(x: tuple[float, int, Any], tmp_path: Path) -> None:
    net = Net()
    y = net.op("Transpose", net.op("Relu", net.qdq(net.input((2, 3)), *x)), perm=[1, 0])
    graph = imported(net.model(y, **WORDS), tmp_path)
    assert kinds(graph) == ["Clamp"]
    quant = graph.type(graph.outputs[0].value).quant
    assert quant is not None
    assert (quant.scale, quant.zero_point) == (float(np.float32(x[0])), x[1])


def test_model_s_own_type_is_float_at_the_output(tmp_path: Path) -> None:
    net = Net()
    graph = imported(net.model(net.op("Sigmoid", net.qdq(net.input((2, 3))))), tmp_path, io_type="model")
    assert kinds(graph) == ["Quantize", "Lut", "Dequantize"]


@pytest.mark.parametrize("name", ["LogSoftmax", "Exp", "Softplus"])
def test_functions_without_such_a_range_are_real_numbers(name: str, tmp_path: Path) -> None:
    net = Net()
    graph = imported(net.model(net.op(name, net.qdq(net.input((2, 3))))), tmp_path)
    assert [type(node.op) for node in graph.nodes] == [Dequantize, FloatSoftmax if "max" in name else FloatUnary]


@pytest.mark.parametrize("name", ["Softmax", "Sigmoid"])
def test_tail_that_another_float_operator_follows_is_real_numbers(name: str, tmp_path: Path) -> None:
    net = Net()
    y = net.op(name, net.qdq(net.input((2, 3))))
    graph = imported(net.model(net.op("Mul", y, net.const(np.float32(0.3)))), tmp_path)
    assert graph.type(graph.outputs[0].value).dtype is DType.F32


def test_a_function_that_a_product_reads_is_real_numbers(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Sigmoid", net.qdq(net.input((1, 4))))
    graph = imported(net.model(net.qdq(net.op("MatMul", y, net.weights(net.ints(4, 4))))), tmp_path)
    assert [type(node.op) for node in graph.nodes] == [Dequantize, FloatUnary, FloatDense, Quantize]


def test_a_last_clip_without_a_scale_is_real_numbers(tmp_path: Path) -> None:
    net = Net()
    bounds = (net.const(np.float32(bound)) for bound in (-0.33, 0.33))
    graph = imported(net.model(net.op("Clip", net.qdq(net.input((1, 4))), *bounds)), tmp_path)
    assert [type(node.op) for node in graph.nodes] == [Dequantize, FloatClip]
