"""Layer, instance and group normalization between quantized tensors, beside ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import ModelRejected
from codegen.ir.quant import Mode
from codegen.ops import LayerNorm

from .models import Net, agrees, imported, kinds

MEANINGS = {np.int8: (0.05, 3, np.int8), np.uint8: (0.05, 130, np.uint8), np.int16: (0.0004, 0, np.int16)}


def model(net: Net, y: str, dtype: Any) -> Any:
    return net.model(net.qdq(y, *MEANINGS[dtype]), opset=21, ir_version=10)


@pytest.mark.parametrize("mode", ["single", "tflite", "ort"])
@pytest.mark.parametrize(("shape", "axis"), [((3, 8), -1), ((1, 5, 4, 6), 3), ((1, 4, 3, 5), 1), ((2, 3, 4), 2)])
@pytest.mark.parametrize("dtype", MEANINGS)
def test_layer_normalization(mode: Mode, shape: tuple[int, ...], axis: int, dtype: Any, tmp_path: Path) -> None:
    net = Net()
    normal = shape[axis:]
    parts = (net.const(net.rng.normal(0, s, normal), np.float32) for s in (1, 0.5))
    y = net.op("LayerNormalization", net.qdq(net.input(shape), *MEANINGS[dtype]), *parts, axis=axis, epsilon=1e-3)
    assert "LayerNorm" in kinds(agrees(model(net, y, dtype), tmp_path, mode=mode))


def test_layer_normalization_without_bias_and_with_an_activation(tmp_path: Path) -> None:
    net = Net()
    scale = net.const(np.ones(7), np.float32)
    y = net.op("Relu", net.op("LayerNormalization", net.qdq(net.input((2, 7))), scale))
    agrees(net.model(net.qdq(y), opset=17), tmp_path)


@pytest.mark.parametrize("dtype", MEANINGS)
@pytest.mark.parametrize("shape", [(1, 3, 9), (1, 4, 5, 6)])
@pytest.mark.parametrize("factors", [0.0, 1.0])
def test_instance_normalization(shape: tuple[int, ...], dtype: Any, factors: float, tmp_path: Path) -> None:
    """With the same factor for all channels, and with one for each, which 16 bits have in the operator."""
    net = Net()
    parts = (net.const(1 + factors * net.rng.normal(0, 1, shape[1]), np.float32) for _ in range(2))
    y = net.op("InstanceNormalization", net.qdq(net.input(shape), *MEANINGS[dtype]), *parts)
    found = kinds(agrees(model(net, y, dtype), tmp_path))
    assert "LayerNorm" in found
    assert ("Conv2D" in found) == (bool(factors) and dtype is not np.int16)


@pytest.mark.parametrize("dtype", MEANINGS)
@pytest.mark.parametrize("shape", [(1, 6, 20), (1, 6, 40, 50)])
def test_group_normalization(shape: tuple[int, ...], dtype: Any, tmp_path: Path) -> None:
    """Of many numbers too, whose deviations in 16 bits have steps larger than the result's."""
    net = Net()
    parts = (net.const(net.rng.normal(1, 1, shape[1]), np.float32) for _ in range(2))
    y = net.op("GroupNormalization", net.qdq(net.input(shape), *MEANINGS[dtype]), *parts, num_groups=3)
    found = kinds(agrees(model(net, y, dtype), tmp_path))
    assert "LayerNorm" in found
    assert not any(kind.startswith("Float") for kind in found)


def test_factors_behind_a_group_of_16_bits_are_the_operators_own(tmp_path: Path) -> None:
    """A factor for each column after those of the channels: as many as there are numbers."""
    net, shape = Net(), (1, 4, 3, 5)
    parts = (net.const(net.rng.normal(1, 1, 4), np.float32) for _ in range(2))
    x = net.qdq(net.input(shape), *MEANINGS[np.int16])
    y = net.op("GroupNormalization", x, *parts, num_groups=2)
    y = net.op("Mul", y, net.const(net.rng.normal(1, 0.5, 5), np.float32))
    y = net.op("Relu", net.op("Sub", net.const(np.ones((4, 1, 1)), np.float32), y))
    (norm,) = (n.op for n in agrees(model(net, y, np.int16), tmp_path).nodes if isinstance(n.op, LayerNorm))
    assert (norm.sets, norm.run) == (2, 1)


@pytest.mark.parametrize("kind", ["LayerNormalization", "InstanceNormalization", "GroupNormalization"])
def test_a_negative_epsilon_is_refused(kind: str, tmp_path: Path) -> None:
    net = Net()
    parts = (net.const(np.ones(4), np.float32) for _ in range(2))
    extra = {"num_groups": 2} if kind == "GroupNormalization" else {}
    y = net.op(kind, net.qdq(net.input((1, 4, 3, 4))), *parts, epsilon=-1.0, **extra)
    with pytest.raises(ModelRejected, match="epsilon is -1"):
        imported(net.model(net.qdq(y), opset=21, ir_version=10), tmp_path)


@pytest.mark.parametrize("is_gain", [True, False])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_factor_that_is_no_number_is_refused(number: float, is_gain: bool, tmp_path: Path) -> None:
    net = Net()
    scale, bias = net.const(np.ones(7), np.float32), net.const(np.array([0, number] + [1] * 5), np.float32)
    parts = (bias, scale) if is_gain else (scale, bias)
    y = net.op("LayerNormalization", net.qdq(net.input((2, 7))), *parts)
    with pytest.raises(ModelRejected, match="a factor of LayerNormalization is infinite or not a number"):
        imported(net.model(net.qdq(y), opset=17), tmp_path)
