"""Hardmax against its definition in plain Python, and the operator of ONNX against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import InputsDoNotFit, OperatorLimit
from codegen.ir.quant import DType, Quant, TensorType
from codegen.ops import Hardmax
from codegen.ops.limits import check_limits
from tests.unit.frontends.models import Net, agrees, kinds

QUANT = Quant(1 / 128, -3)


def test_the_first_of_the_largest_is_chosen() -> None:
    x = np.random.default_rng(1).integers(-3, 3, (4, 3, 7)).astype(np.int8)
    (y,) = Hardmax(90, -3, QUANT, DType.S8).golden([x])
    for row, found in zip(x.reshape(-1, 7), y.reshape(-1, 7), strict=True):
        first = row.tolist().index(row.max())
        assert found.tolist() == [90 if i == first else -3 for i in range(7)]


def test_numbers_beyond_the_type_and_float_inputs_are_refused() -> None:
    with pytest.raises(InputsDoNotFit, match="200 in s8"):
        Hardmax(200, 0, QUANT, DType.S8).infer([TensorType((4, 4), DType.S8)])
    with pytest.raises(OperatorLimit, match="LAM-OPS-REDUCTION-15"):
        check_limits(Hardmax(1, 0, QUANT, DType.S8), [TensorType((4, 4), DType.F32)])


@pytest.mark.parametrize(
    ("opset", "shape", "attributes"),
    [
        (13, (2, 3, 5), {}),
        (13, (2, 3, 5), {"axis": 1}),
        (17, (4, 6), {"axis": 0}),
        (11, (2, 3, 5), {}),
        (11, (2, 3, 5), {"axis": 2}),
        (11, (2, 3, 5), {"axis": 0}),
    ],
)
@pytest.mark.parametrize(("scale", "zero", "dtype"), [(0.01, 3, np.int8), (0.008, 0, np.uint8), (0.02, -100, np.int8)])
def test_hardmax_is_onnx_runtimes(
    opset: int, shape: tuple[int, ...], attributes: dict[str, Any], scale: float, zero: int, dtype: Any, tmp_path: Path
) -> None:
    """Before operator set 13 over all axes from one on; many numbers are equal, and one is not always held exactly."""
    net = Net(3)
    x = net.qdq(net.input(shape), 1.5, 3)
    model = net.model(net.qdq(net.op("Hardmax", x, **attributes), scale, zero, dtype), opset=opset)
    assert "Hardmax" in kinds(agrees(model, tmp_path))


def test_bounds_behind_it_are_those_of_one_and_zero(tmp_path: Path) -> None:
    net = Net(4)
    y = net.op("Hardmax", net.op("Tanh", net.qdq(net.input((3, 9)), 0.05)))
    y = net.op("Clip", y, net.const(np.float32(0.25)), net.const(np.float32(0.75)))
    graph = agrees(net.model(net.qdq(y, 0.01, -20)), tmp_path)
    assert kinds(graph) == ["Hardmax"]
