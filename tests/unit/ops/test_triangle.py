"""Triangle against its definition in plain Python, and Trilu against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import InputsDoNotFit
from codegen.ir.quant import DType, TensorType
from codegen.ops import Triangle
from tests.unit.frontends.models import Net, agrees, kinds


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("offset", [-7, -3, -1, 0, 1, 4, 9])
def test_what_lies_beyond_the_diagonal_is_the_value(upper: bool, offset: int) -> None:
    x = np.random.default_rng(1).integers(-128, 128, (2, 3, 5)).astype(np.int8)
    (y,) = Triangle(upper, offset, 7).golden([x])
    for n, r, c in np.ndindex(x.shape):
        kept = c >= r + offset if upper else c <= r + offset
        assert y[n, r, c] == (x[n, r, c] if kept else 7)


def test_a_vector_has_no_triangle_and_real_numbers_are_0_beyond_it() -> None:
    with pytest.raises(InputsDoNotFit, match="a triangle of a tensor"):
        Triangle(True, 0, 0).infer([TensorType((4,), DType.S8)])
    with pytest.raises(InputsDoNotFit, match="200 in s8"):
        Triangle(True, 0, 200).infer([TensorType((4, 4), DType.S8)])
    with pytest.raises(InputsDoNotFit, match="1 in f32"):
        Triangle(True, 0, 1).infer([TensorType((4, 4), DType.F32)])


@pytest.mark.parametrize("attributes", [{}, {"upper": 0}])
@pytest.mark.parametrize("offset", [None, 2, -1])
@pytest.mark.parametrize(("scale", "zero", "dtype"), [(0.05, 3, np.int8), (0.08, 100, np.uint8)])
def test_trilu_is_onnx_runtimes(
    attributes: dict[str, Any], offset: int | None, scale: float, zero: int, dtype: Any, tmp_path: Path
) -> None:
    """Of a quantized tensor, into its own scale and into another one."""
    net = Net(7)
    x = net.qdq(net.input((2, 5, 6)), 0.05, 3)
    given = [x] if offset is None else [x, net.const(np.int64(offset))]
    graph = agrees(net.model(net.qdq(net.op("Trilu", *given, **attributes), scale, zero, dtype)), tmp_path)
    assert kinds(graph)[0] == "Triangle"


@pytest.mark.parametrize("bounds", [None, (0.5, 4.0)])
def test_trilu_behind_a_product(bounds: tuple[float, float] | None, tmp_path: Path) -> None:
    """No scale stands between; bounds behind it hold for the zeros too."""
    net = Net(8)
    x = net.qdq(net.input((1, 5, 4)))
    y = net.op("Relu", net.op("MatMul", x, net.weights(net.ints(4, 6))))
    y = net.op("Trilu", y)
    if bounds is not None:
        y = net.op("Clip", y, *(net.const(np.float32(b)) for b in bounds))
    graph = agrees(net.model(net.qdq(y, 0.04, -5)), tmp_path)
    assert "Triangle" in kinds(graph)
