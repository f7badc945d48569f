"""Factors and offsets: BatchNormalization alone, and constants that nothing has quantized, beside ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.ir.quant import DType, Mode
from codegen.settle.grid import on_grid

from .models import Net, agrees, compare, kinds

MODES = ["single", "tflite", "ort"]


def normalized(net: Net, x: str, channels: int, spread: float = 1.0) -> str:
    """BatchNormalization with plausible parameters, one factor negative and one zero."""
    scale = net.rng.normal(0, spread, channels).astype(np.float32)
    scale[: min(channels - 1, 1)] = 0
    parameters = (scale, *(net.rng.normal(0, 1, channels) for _ in range(2)), net.rng.uniform(0.1, 2, channels))
    return str(net.op("BatchNormalization", x, *(net.const(p, np.float32) for p in parameters)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(1, 5, 4, 3), (1, 6), (2, 6), (1, 3, 7), (2, 3, 4, 2)])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_batch_normalization_of_a_quantized_tensor(
    mode: Mode, shape: tuple[int, ...], dtype: Any, tmp_path: Path
) -> None:
    net = Net()
    meaning = (0.0002, 0, dtype) if dtype is np.int16 else (0.05, 3, dtype)
    y = net.op("Relu", normalized(net, net.qdq(net.input(shape), *meaning), shape[1]))
    graph = agrees(net.model(net.qdq(y, *meaning), opset=21, ir_version=10), tmp_path, mode=mode)
    assert [k for k in kinds(graph) if k != "Reshape"] == ["Conv2D"]


def test_batch_normalization_behind_a_clipped_product(tmp_path: Path) -> None:
    """Relu before it cannot be undone, but what is quantized between them can be read."""
    net = Net()
    x = net.op("Conv", net.qdq(net.input((1, 3, 5, 5))), net.weights(net.ints(4, 3, 3, 3)))
    y = normalized(net, net.op("Relu", net.qdq(x, 0.3)), 4)
    graph = agrees(net.model(net.qdq(y, 0.2)), tmp_path)
    assert kinds(graph).count("Conv2D") == 2


def test_batch_normalization_with_factors_far_apart(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 4, 2, 2)), 0.05)
    parameters = ([1e-12, 1e6, 1e-30, -1e-7], [1.5, 0, 2.5, -1.0], [0, 0, 0, 0], [1, 1, 1, 1])
    y = net.op("BatchNormalization", x, *(net.const(p, np.float32) for p in parameters))
    agrees(net.model(net.qdq(y, 0.05)), tmp_path, mode="single")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("shape", [(1, 4, 1, 1), (1, 4, 3, 5), (5,), (4, 1, 5)])
def test_float_constant_beside_a_quantized_tensor(
    mode: Mode, left: bool, op: str, shape: tuple[int, ...], tmp_path: Path
) -> None:
    if op == "Div" and left:
        pytest.skip("a constant over a tensor is no factor")
    net = Net()
    x = net.qdq(net.input((1, 4, 3, 5)), 0.05, 3)
    c = net.const(net.rng.uniform(0.3, 2, shape) * net.rng.choice([-1, 1], shape), np.float32)
    y = net.op(op, c, x) if left else net.op(op, x, c)
    agrees(net.model(net.qdq(y, 0.11, 3)), tmp_path, mode=mode, share=0.08)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("steps", "kind"), [(1.0, "Add"), (0.4, "Conv2D")])
def test_offset_per_element_is_integers_where_they_are_near_enough(
    mode: Mode, steps: float, kind: str, tmp_path: Path
) -> None:
    """Integers are off by half of a 255th of 3.1 at most: a quarter of a step of 0.025, and more of a finer one."""
    net = Net()
    c = net.rng.uniform(0, 3.1, (1, 6, 7)).astype(np.float32)
    c.flat[:2] = 0, 3.1
    y = net.op("Add", net.qdq(net.input((1, 6, 7)), 0.05), net.const(c))
    graph = agrees(net.model(net.qdq(y, 0.025 * steps, -100)), tmp_path, mode=mode, share=0.15)
    assert [k for k in kinds(graph) if k != "Reshape"] == [kind]


def test_constant_on_a_grid_is_exact(tmp_path: Path) -> None:
    """Centres of a detector's cells: 0.5, 1.5, .."""
    net = Net()
    cells = np.stack(np.meshgrid(np.arange(8), np.arange(8))).reshape(1, 2, 64) + 0.5
    y = net.op("Sub", net.const(cells, np.float32), net.qdq(net.input((1, 2, 64)), 0.01))
    found = compare(net.model(net.qdq(y, 0.05)), tmp_path)
    assert found.differing == 0
    assert kinds(found.graph) == ["Add"]


@pytest.mark.parametrize("dtype", [DType.S8, DType.U8])
@pytest.mark.parametrize("scale", [0.5, 0.0371, 1e-6, 3e4])
def test_dequantized_numbers_find_their_own_scale(dtype: DType, scale: float) -> None:
    ints = np.random.default_rng(3).integers(-90, 120, (40, 40))
    real = ints.astype(np.float32) * np.float32(scale)
    constant, error = on_grid(real, dtype)
    assert error <= 1e-6 * scale * 120
    assert constant.ints.dtype == dtype.numpy


@pytest.mark.parametrize("numbers", [[0.0], [-3.0], [1e-30, 1e30], [7.25, 7.25], [1e-44, 0]])
def test_any_constant_has_a_grid(numbers: list[float]) -> None:
    real = np.array(numbers, np.float32)
    _, error = on_grid(real, DType.S8)
    assert error <= float(np.abs(real).max()) / 255 + 1e-37


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", ["Mul", "Div"])
@pytest.mark.parametrize("made", ["mean", "pool", "product"])
def test_number_behind_a_mean_or_a_product_is_part_of_it(mode: Mode, op: str, made: str, tmp_path: Path) -> None:
    """Some exporters correct an average so, or scale attention."""
    net = Net()
    if made == "product":
        sides = [net.qdq(net.input((2, 5, 6), name="a"), 0.05, 3), net.qdq(net.input((2, 6, 4), name="b"), 0.03)]
        x = net.op("MatMul", *sides)
    else:
        x = net.qdq(net.input((1, 3, 6, 6)), 0.05, 3)
        pool = {"kernel_shape": [3, 3], "strides": [3, 3]}
        x = net.op("GlobalAveragePool", x) if made == "mean" else net.op("AveragePool", x, **pool)
    y = net.op("Relu", net.op(op, x, net.const(np.float32(0.37))))
    graph = agrees(net.model(net.qdq(y, 0.04, -3)), tmp_path, mode=mode)
    assert len([k for k in kinds(graph) if k != "Reshape"]) == 1
