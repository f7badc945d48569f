"""Weights that are real numbers, or whose scale lies along the wrong axis, beside ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import Mode

from .models import Net, agrees

Product = Callable[[Net, str, str, str], Any]

PRODUCTS: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, Product]] = {
    "conv": ((1, 4, 6, 5), (3, 4, 3, 3), 3, lambda net, x, w, b: net.op("Conv", x, w, b)),
    "depthwise": ((1, 4, 6, 5), (4, 1, 3, 3), 4, lambda net, x, w, b: net.op("Conv", x, w, b, group=4)),
    "transposed": (
        (1, 4, 3, 5),
        (4, 3, 2, 2),
        3,
        lambda net, x, w, b: net.op("ConvTranspose", x, w, b, strides=[2, 2]),
    ),
    "groups": ((1, 4, 5), (4, 3, 2), 6, lambda net, x, w, b: net.op("ConvTranspose", x, w, b, group=2)),
    "gemm": ((2, 40), (40, 7), 7, lambda net, x, w, b: net.op("Gemm", x, w, b, alpha=0.7)),
    "gemm_b": ((2, 40), (7, 40), 7, lambda net, x, w, b: net.op("Gemm", x, w, b, transB=1)),
    "matmul": ((1, 3, 40), (40, 7), 7, lambda net, x, w, b: net.op("Add", net.op("MatMul", x, w), b)),
}


def weights_of(graph: Graph) -> np.ndarray[Any, np.dtype[Any]]:
    (product,) = [n for n in graph.nodes if type(n.op).__name__ in ("Conv2D", "ConvTranspose2D", "Dense")]
    data = graph.values[product.inputs[1]].data
    assert data is not None
    return data


@pytest.mark.parametrize("mode", ["single", "tflite", "ort"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_float_weights_take_16_bits_and_lose_nothing(name: str, mode: Mode, tmp_path: Path) -> None:
    shape, kernel, outputs, make = PRODUCTS[name]
    net = Net()
    x = net.qdq(net.input(shape), 0.05, 3)
    w = net.const(net.rng.normal(0, 0.1, kernel), np.float32)
    y = make(net, x, w, net.const(net.rng.normal(0, 1, outputs), np.float32))
    graph = agrees(net.model(net.qdq(y, 0.05, -4)), tmp_path, mode=mode)
    assert weights_of(graph).dtype == np.int16


@pytest.mark.parametrize("name", PRODUCTS)
def test_weights_that_were_dequantized_find_their_8_bits(name: str, tmp_path: Path) -> None:
    shape, kernel, outputs, make = PRODUCTS[name]
    net = Net()
    ints = net.ints(*kernel)
    real = ints.astype(np.float32) * np.float32(0.00317)
    y = make(net, net.qdq(net.input(shape), 0.05), net.const(real), net.const(np.zeros(outputs, np.float32)))
    made = weights_of(agrees(net.model(net.qdq(y, 0.05)), tmp_path))
    assert made.dtype == np.int8
    assert np.abs(made.astype(int)).sum() <= np.abs(ints.astype(int)).sum()


@pytest.mark.parametrize("name", ["gemm", "gemm_b", "matmul"])
def test_scale_along_the_inputs_of_a_product(name: str, tmp_path: Path) -> None:
    shape, kernel, outputs, make = PRODUCTS[name]
    net = Net()
    axis = kernel.index(40)
    w = net.weights(net.ints(*kernel), net.rng.uniform(0.001, 0.003, 40), axis=axis)
    y = make(net, net.qdq(net.input(shape), 0.05), w, net.const(np.zeros(outputs, np.float32)))
    graph = agrees(net.model(net.qdq(y, 0.1)), tmp_path)
    assert any("their scale varies within an output" in note for note in graph.notes)


def test_output_without_weights_keeps_its_bias(tmp_path: Path) -> None:
    net = Net()
    w = net.rng.normal(0, 0.1, (3, 2, 1, 1)).astype(np.float32)
    w[1] = 0
    y = net.op("Conv", net.qdq(net.input((1, 2, 2, 2))), net.const(w), net.const([0.3, -1.7, 0.2], np.float32))
    agrees(net.model(net.qdq(y, 0.05)), tmp_path)
