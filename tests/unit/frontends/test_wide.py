"""Functions of 16-bit tensors: near ONNX Runtime's, and of which operators they are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import ModelRejected
from codegen.ir.quant import Mode

from .models import Net, compare, imported, kinds

X = (1e-3, 0, np.int16)
SAME, FINER, BYTES = (1e-3, 0, np.int16), (5e-4, 0, np.int16), (0.05, -100, np.int8)
UNIT = (2.0**-15, 0, np.int16)

FUNCTIONS: list[tuple[str, dict[str, Any], tuple[float, int, Any], list[str], float]] = [
    ("Identity", {}, FINER, ["TwoSlopes"], 1.0),
    ("Identity", {}, BYTES, ["TwoSlopes"], 1.0),
    ("Relu", {}, SAME, ["Clamp"], 0.0),
    ("Relu", {}, FINER, ["TwoSlopes"], 1.0),
    ("LeakyRelu", {"alpha": 0.2}, BYTES, ["TwoSlopes"], 1.0),
    ("LeakyRelu", {"alpha": 0.2}, FINER, ["TwoSlopes"], 1.0),
    ("Abs", {}, FINER, ["TwoSlopes"], 1.0),
    ("Sigmoid", {}, UNIT, ["Sigmoid16"], 3.0),
    ("Sigmoid", {}, (1 / 256, -128, np.int8), ["Sigmoid16", "TwoSlopes"], 1.0),
    ("Tanh", {}, UNIT, ["Sigmoid16"], 4.0),
    ("Softmax", {}, UNIT, ["Softmax16"], 32.0),
    ("Softmax", {"axis": 0}, (1 / 256, -128, np.int8), ["Softmax16", "TwoSlopes"], 1.0),
]
"""Function, attributes, meaning of the result, operators, and steps by which TFLite's definition may differ."""


@pytest.mark.parametrize(("name", "attributes", "y", "ops", "steps"), FUNCTIONS)
@pytest.mark.parametrize("mode", ["single", "double"])
def test_functions(
    name: str,
    attributes: dict[str, Any],
    y: tuple[float, int, Any],
    ops: list[str],
    steps: float,
    mode: Mode,
    tmp_path: Path,
) -> None:
    net = Net()
    result = net.op(name, net.qdq(net.input((6, 50)), *X), **attributes)
    found = compare(net.model(net.qdq(result, *y), opset=21, ir_version=10), tmp_path, mode)
    assert found.largest <= steps + 0.001
    assert kinds(found.graph) == ops


def test_clip_with_bounds(tmp_path: Path) -> None:
    net = Net()
    low, high = (net.const(np.float32(v)) for v in (-0.5, 1.25))
    y = net.op("Clip", net.qdq(net.input((6, 50)), *X), low, high)
    found = compare(net.model(net.qdq(y, *FINER), opset=21, ir_version=10), tmp_path)
    assert found.largest <= 1.001
    assert kinds(found.graph) == ["TwoSlopes"]


@pytest.mark.parametrize(
    ("name", "attributes", "zero"), [("Exp", {}, 0), ("LeakyRelu", {"alpha": -0.2}, 0), ("Sigmoid", {}, 5)]
)
def test_others_are_refused(name: str, attributes: dict[str, Any], zero: int, tmp_path: Path) -> None:
    net = Net()
    y = net.op(name, net.qdq(net.input((6, 50)), 1e-3, zero, np.int16), **attributes)
    with pytest.raises(ModelRejected, match="LAM-IMPORT-022"):
        imported(net.model(net.qdq(y, *FINER), opset=21, ir_version=10), tmp_path)
