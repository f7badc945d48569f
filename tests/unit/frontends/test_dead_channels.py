"""Channels that training left without weights: scales of next to nothing, subnormal or zero, and what they make."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from codegen.errors import ModelRejected
from codegen.frontends.onnx import import_onnx
from codegen.ir.quant import DType, Mode

from .models import Net, agrees, imported, saved

SCALES = [1e-42, 1.4e-45, 1e-38, 0.0]
MODES = ["single", "tflite", "ort"]


def conv(scale: float, bias_scale: float | None = None, live: bool = False) -> onnx.ModelProto:
    """A convolution of three outputs, of which the second has no weights unless it is `live`."""
    net = Net()
    ints, scales = net.ints(3, 2, 3, 3), np.array([0.01, scale, 0.02], np.float32)
    ints[1] *= live
    own = np.float32(0.05) * scales
    if bias_scale is not None:
        own[1] = bias_scale
    b = net.bias(np.array([100, 77, -200]), own)
    y = net.op("Conv", net.qdq(net.input((1, 2, 6, 6)), 0.05, 3), net.weights(ints, scales), b)
    return net.model(net.qdq(y, 0.1, 4))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scale", SCALES)
def test_a_dead_channel_of_any_scale_equals_onnx_runtime(scale: float, mode: Mode, tmp_path: Path) -> None:
    agrees(conv(scale), tmp_path, mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_subnormal_scale_of_living_weights_equals_onnx_runtime(mode: Mode, tmp_path: Path) -> None:
    agrees(conv(1e-42, live=True), tmp_path, mode=mode)


def test_biases_beside_a_dead_channel_stay_the_integers_they_are(tmp_path: Path) -> None:
    graph = imported(conv(1e-42), tmp_path)
    (bias,) = (v.data for v in graph.values.values() if v.is_const and v.type.dtype is DType.S32)
    assert bias is not None
    assert bias.tolist() == [100, 0, -200]
    assert not any("another scale" in note for note in graph.notes)


@pytest.mark.parametrize("scale", SCALES)
def test_a_dead_channel_keeps_the_bias_it_has(scale: float, tmp_path: Path) -> None:
    agrees(conv(scale, bias_scale=0.01), tmp_path)


def test_qlinear_conv_of_a_dead_channel_equals_onnx_runtime(tmp_path: Path) -> None:
    net = Net()
    ints = net.ints(3, 2, 3, 3)
    ints[1] = 0
    scales = net.const(np.array([0.01, 1e-42, 0.02], np.float32))
    x = net.q(net.input((1, 2, 6, 6)), 0.05, 3)
    weights = (net.const(ints), scales, net.const(np.zeros(3, np.int8)))
    bias = net.const(np.array([100, 77, -200], np.int32))
    y = net.op("QLinearConv", x, *net.params(0.05, 3), *weights, *net.params(0.1, 4), bias)
    agrees(net.model(net.dq(y, 0.1, 4)), tmp_path)


def test_a_normalization_that_silences_a_channel_equals_onnx_runtime(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Conv", net.qdq(net.input((1, 2, 6, 6)), 0.05, 3), net.weights(net.ints(3, 2, 3, 3), 0.01))
    gamma, beta = net.const([1.5, 0.0, -1.0], np.float32), net.const([0.1, 0.7, 0.0], np.float32)
    mean, variance = net.const([0.2, 0.3, 0.1], np.float32), net.const([0.5, 1.0, 2.0], np.float32)
    agrees(net.model(net.qdq(net.op("BatchNormalization", y, gamma, beta, mean, variance), 0.1, -20)), tmp_path)


@pytest.mark.parametrize("scale", [1e-42, 0.0])
def test_an_activation_needs_a_normal_scale(scale: float, tmp_path: Path) -> None:
    net = Net()
    y = net.op("Relu", net.qdq(net.input((1, 4)), scale))
    with pytest.raises(ModelRejected) as caught:
        import_onnx(saved(net.model(net.qdq(y)), tmp_path), mode="single")
    assert {e.code for e in caught.value.problems()} == {"LAM-IMPORT-010"}


def test_a_constant_of_scale_zero_is_zero_in_a_sum(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 4, 4)), 0.05, 3)
    agrees(net.model(net.qdq(net.op("Add", x, net.weights(net.ints(1, 2, 4, 4), 0.0)), 0.1, 4)), tmp_path)
