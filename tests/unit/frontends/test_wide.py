"""16-bit tensors: near ONNX Runtime's results in every mode, and of which operators they are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.ir.quant import MODES, Mode

from .models import Compared, Net, compare, kinds

X = (1e-3, 0, np.int16)
SAME, FINER, BYTES = (1e-3, 0, np.int16), (5e-4, 0, np.int16), (0.05, -100, np.int8)
UNIT, SKEWED = (2.0**-15, 0, np.int16), (1 / 65535, -32768, np.int16)
ONE = 1.01
"""One step; real numbers of many steps are float32."""
WORDS = {"opset": 21, "ir_version": 10}
"""QuantizeLinear to 16 bits came with operator set 21."""

SLOPES: list[tuple[str, dict[str, Any], tuple[float, int, Any], list[str]]] = [
    ("Identity", {}, FINER, ["TwoSlopes"]),
    ("Identity", {}, BYTES, ["TwoSlopes"]),
    ("Relu", {}, SAME, ["Clamp"]),
    ("Relu", {}, FINER, ["TwoSlopes"]),
    ("LeakyRelu", {"alpha": 0.2}, BYTES, ["TwoSlopes"]),
    ("LeakyRelu", {"alpha": 0.2}, FINER, ["TwoSlopes"]),
    ("Abs", {}, FINER, ["TwoSlopes"]),
]
"""Functions of one or two slopes: attributes, meaning of the result, operators."""

CURVES: list[tuple[str, dict[str, Any], tuple[float, int, Any], list[str], float]] = [
    ("Sigmoid", {}, UNIT, ["Sigmoid16"], 3.0),
    ("Sigmoid", {}, (1 / 256, -128, np.int8), ["Sigmoid16", "TwoSlopes"], 1.0),
    ("Tanh", {}, UNIT, ["Sigmoid16"], 4.0),
    ("Softmax", {}, UNIT, ["Softmax16"], 32.0),
    ("Softmax", {"axis": 0}, (1 / 256, -128, np.int8), ["Softmax16", "TwoSlopes"], 1.0),
]
"""What mode tflite takes from TFLite, and the steps by which TFLite's definition differs."""


@pytest.mark.parametrize(("name", "attributes", "y", "ops"), SLOPES)
@pytest.mark.parametrize("mode", ["single", "tflite"])
def test_two_slopes_are_within_one_step(
    name: str, attributes: dict[str, Any], y: tuple[float, int, Any], ops: list[str], mode: Mode, tmp_path: Path
) -> None:
    found = of_function(tmp_path, mode, name, X, y, attributes)
    assert found.largest <= ONE
    assert kinds(found.graph) == ops


@pytest.mark.parametrize(("name", "attributes", "y", "ops", "steps"), CURVES)
def test_curves_of_mode_tflite_are_those_of_tflite(
    name: str, attributes: dict[str, Any], y: tuple[float, int, Any], ops: list[str], steps: float, tmp_path: Path
) -> None:
    found = of_function(tmp_path, "tflite", name, X, y, attributes)
    assert found.largest <= steps * ONE
    assert kinds(found.graph) == ops


@pytest.mark.parametrize(("name", "attributes", "y", "ops", "steps"), CURVES)
@pytest.mark.parametrize("mode", ["single", "ort"])
def test_curves_of_the_other_modes_are_within_one_step(
    name: str,
    attributes: dict[str, Any],
    y: tuple[float, int, Any],
    ops: list[str],
    steps: float,
    mode: Mode,
    tmp_path: Path,
) -> None:
    found = of_function(tmp_path, mode, name, X, y, attributes)
    assert found.largest <= ONE
    assert kinds(found.graph) == (["Softmax"] if name == "Softmax" else ["PiecewiseLinear"])


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("Exp", {}),
        ("HardSwish", {}),
        ("HardSigmoid", {"alpha": 0.3}),
        ("Elu", {}),
        ("Gelu", {}),
        ("Sqrt", {}),
        ("Softplus", {}),
        ("LeakyRelu", {"alpha": -0.2}),
        ("Sigmoid", {}),
        ("Tanh", {}),
    ],
)
def test_functions_of_skewed_numbers_are_within_one_step(name: str, attributes: dict[str, Any], tmp_path: Path) -> None:
    x, y = (2e-4, -32768 if name == "Sqrt" else -9000, np.int16), (3e-4, -20000, np.int16)
    for mode in MODES:
        found = of_function(tmp_path, mode, name, x, y, attributes)
        assert found.largest <= ONE
        assert kinds(found.graph) == ["PiecewiseLinear"]


def test_steep_change_of_scale_beyond_two_slopes_is_made_of_pieces(tmp_path: Path) -> None:
    found = of_function(tmp_path, "single", "Identity", (1.0, 5, np.int16), (1e-5, 7, np.int16), {})
    assert kinds(found.graph) == ["PiecewiseLinear"]
    assert found.largest <= ONE


def test_chain_of_functions_is_one(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((6, 50)), *X)
    y = net.op("Mul", x, net.op("Sigmoid", x))
    found = compare(net.model(net.qdq(y, *FINER), **WORDS), tmp_path, "single")
    assert kinds(found.graph) == ["PiecewiseLinear"]
    assert found.largest <= ONE


def of_function(
    folder: Path,
    mode: Mode,
    name: str,
    x: tuple[float, int, Any],
    y: tuple[float, int, Any],
    attributes: dict[str, Any],
) -> Compared:
    net = Net()
    result = net.op(name, net.qdq(net.input((6, 50)), *x), **attributes)
    return compare(net.model(net.qdq(result, *y), **WORDS), folder, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["Add", "Sub", "Mul", "MatMul", "Concat"])
@pytest.mark.parametrize("zero", [0, -20000])
def test_two_tensors_are_within_one_step(name: str, zero: int, mode: Mode, tmp_path: Path) -> None:
    net = Net()
    a = net.qdq(net.input((8, 8), name="a"), 4e-4, zero, np.int16)
    b = net.qdq(net.input((8, 8), name="b"), 3e-4, -zero, np.int16)
    y = net.op(name, a, b, **({"axis": 1} if name == "Concat" else {}))
    found = compare(net.model(net.qdq(y, 2e-3, zero, np.int16), **WORDS), tmp_path, mode)
    assert found.largest <= ONE


@pytest.mark.parametrize("mode", ["single", "ort"])
def test_bytes_and_words_are_added(mode: Mode, tmp_path: Path) -> None:
    net = Net()
    a, b = net.qdq(net.input((8, 8), name="a"), 0.03, 5, np.int8), net.qdq(net.input((8, 8), name="b"), *FINER)
    found = compare(net.model(net.qdq(net.op("Add", a, b), *SAME), **WORDS), tmp_path, mode)
    assert kinds(found.graph) == ["Add"]
    assert found.largest <= ONE


@pytest.mark.parametrize("mode", MODES)
def test_layer_of_skewed_numbers_with_sums_beyond_32_bits_is_within_one_step(mode: Mode, tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 4, 9, 9)), 1e-4, -32768, np.int16)
    y = net.op("Conv", x, net.weights(net.ints(6, 4, 3, 3), 0.01), net.bias(net.ints(6, low=-9999, high=9999), 1e-6))
    found = compare(net.model(net.qdq(y, 2e-4, -32768, np.int16), **WORDS), tmp_path, mode)
    assert found.largest <= ONE


def test_clip_with_bounds(tmp_path: Path) -> None:
    net = Net()
    low, high = (net.const(np.float32(v)) for v in (-0.5, 1.25))
    y = net.op("Clip", net.qdq(net.input((6, 50)), *X), low, high)
    found = compare(net.model(net.qdq(y, *FINER), **WORDS), tmp_path)
    assert found.largest <= ONE
    assert kinds(found.graph) == ["TwoSlopes"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("y", [(4e-4, -20000, np.int16), (3e-4, 77, np.int16), (0.05, 3, np.int8)])
def test_linear_resize_of_words_is_within_one_step(mode: Mode, y: tuple[float, int, Any], tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 3, 5, 4)), 4e-4, -20000, np.int16)
    scales = net.const(np.array([1, 1, 2, 2], np.float32))
    result = net.op("Resize", x, "", scales, mode="linear")
    assert compare(net.model(net.qdq(result, *y), **WORDS), tmp_path, mode).largest <= ONE


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["AveragePool", "ReduceMean", "GlobalAveragePool"])
def test_means_of_skewed_words_are_within_one_step(name: str, mode: Mode, tmp_path: Path) -> None:
    net = Net()
    given: dict[str, Any] = {"AveragePool": {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1]}}.get(name, {})
    extra = [net.const(np.array([1], np.int64))] if name == "ReduceMean" else []
    y = net.op(name, net.qdq(net.input((1, 3, 6, 5)), 2e-4, -32768, np.int16), *extra, **given)
    assert compare(net.model(net.qdq(y, 1e-4, -30000, np.int16), **WORDS), tmp_path, mode).largest <= ONE
