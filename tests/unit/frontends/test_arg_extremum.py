"""ArgMax and ArgMin: positions equal to ONNX Runtime's, ties included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from .models import Net, compare, imported, kinds

EQUAL = 0.0


@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((1, 3, 4, 5), 1), ((1, 3, 4, 5), -1), ((2, 7), 0), ((9,), 0), ((2, 3, 4), 1)]
)
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("last", [0, 1])
def test_positions(name: str, shape: tuple[int, ...], axis: int, keepdims: int, last: int, tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input(shape), 1.5, 3)  # few steps: many ties
    y = net.op(name, x, axis=axis, keepdims=keepdims, select_last_index=last)
    found = compare(net.model(y), tmp_path)
    assert found.largest == EQUAL
    assert kinds(found.graph)[0] == "ArgExtremum"
    assert found.graph.outputs[0].model_dtype == "int64"


def test_axis_is_the_first_unless_given(tmp_path: Path) -> None:
    net = Net()
    y = net.op("ArgMax", net.qdq(net.input((5, 4)), 0.05, 130, np.uint8))
    assert compare(net.model(y, opset=11), tmp_path).largest == EQUAL


def test_function_that_keeps_the_order_is_left_out(tmp_path: Path) -> None:
    net = Net()
    y = net.op("ArgMax", net.op("Tanh", net.qdq(net.input((2, 30)), 0.01)), axis=1)
    found = compare(net.model(y), tmp_path, spread=0.3)
    assert found.largest == EQUAL
    assert kinds(found.graph) == ["ArgExtremum"]


def test_function_that_makes_ties_is_not_left_out(tmp_path: Path) -> None:
    net = Net()
    y = net.op("ArgMin", net.op("Relu", net.qdq(net.input((6, 30)), 0.1, 5)), axis=1)
    found = compare(net.model(y), tmp_path)
    assert found.largest == EQUAL
    assert kinds(found.graph) == ["Clamp", "ArgExtremum"]


@pytest.mark.parametrize("target", [TensorProto.INT32, TensorProto.INT64])
def test_cast_of_positions(target: int, tmp_path: Path) -> None:
    net = Net()
    y = net.op("Cast", net.op("ArgMax", net.qdq(net.input((3, 9)), 0.5), axis=1, keepdims=0), to=target)
    found = compare(net.model(y), tmp_path)
    assert found.largest == EQUAL
    assert kinds(found.graph) == ["ArgExtremum", "Reshape"]


def test_positions_side_by_side(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((3, 9)), 0.5)
    y = net.op("Concat", net.op("ArgMax", x, axis=1), net.op("ArgMin", x, axis=1), axis=1)
    model = net.model(y)
    graph = imported(model, tmp_path)
    assert graph.outputs[0].model_dtype == "int64"


def test_behind_what_nothing_quantizes_real_numbers_are_compared(tmp_path: Path) -> None:
    net = Net()
    y = net.op("ArgMax", net.op("Softmax", net.qdq(net.input((3, 9)), 0.5)), axis=1)
    found = [type(node.op).__name__ for node in imported(net.model(y), tmp_path).nodes]
    assert found[-2:] == ["FloatSoftmax", "ArgExtremum"] or found[-3:-1] == ["FloatSoftmax", "ArgExtremum"]
