"""Activations with a scale per channel between a product and a depthwise convolution."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import ModelRejected
from codegen.ir.quant import MODES, Mode

from .models import Net, agrees, compare, imported, kinds

SCALES = np.array([0.011, 0.3, 0.0005, 0.07], np.float32)
ZEROS = np.zeros(4, np.uint8)


def per_channel(net: Net, y: str, zeros: Any = ZEROS, *, read: Any = SCALES) -> str:
    """QuantizeLinear and DequantizeLinear along axis 1."""
    q = net.op("QuantizeLinear", y, net.const(SCALES), net.const(zeros), axis=1)
    return str(net.op("DequantizeLinear", q, net.const(read), net.const(zeros), axis=1))


def made(net: Net) -> str:
    """A convolution of four channels, each of another size."""
    weights = net.weights(net.ints(4, 3, 3, 3), [0.002, 0.04, 0.0001, 0.01])
    bias = net.const(np.float32([0.1, -2.0, 0.001, 0.5]))
    return str(net.op("Conv", net.qdq(net.input((1, 3, 8, 8))), weights, bias))


def depthwise(net: Net, x: str, per_group: int = 1) -> str:
    weights = net.weights(net.ints(4 * per_group, 1, 3, 3), np.linspace(0.01, 0.02, 4 * per_group))
    return net.qdq(str(net.op("Conv", x, weights, net.const(np.float32([0.3] * 4 * per_group)), group=4)), 0.2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("per_group", [1, 2])
def test_scales_of_channels_go_into_the_factors_of_both_layers(mode: Mode, per_group: int, tmp_path: Path) -> None:
    net = Net()
    y = depthwise(net, per_channel(net, net.op("Relu", made(net))), per_group)
    graph = agrees(net.model(y), tmp_path, 0.05, mode=mode)
    assert kinds(graph) == ["Conv2D", "Conv2D"]


def test_signed_numbers_with_one_zero_point_are_read(tmp_path: Path) -> None:
    net = Net()
    agrees(net.model(depthwise(net, per_channel(net, made(net), np.full(4, 7, np.int8)))), tmp_path)


def test_bound_beyond_every_channels_range_is_none(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Clip", made(net), net.const(np.float32(0)), net.const(np.float32(80)))
    agrees(net.model(depthwise(net, per_channel(net, y))), tmp_path, 0.05)


def no_depthwise(net: Net) -> str:
    return net.qdq(str(net.op("Conv", per_channel(net, made(net)), net.weights(net.ints(2, 4, 3, 3)))))


def bound_within(net: Net) -> str:
    y = net.op("Clip", made(net), net.const(np.float32(0)), net.const(np.float32(1)))
    return depthwise(net, per_channel(net, y))


def other_zero_points(net: Net) -> str:
    return depthwise(net, per_channel(net, made(net), np.array([0, 1, 0, 0], np.uint8)))


def read_otherwise(net: Net) -> str:
    return depthwise(net, per_channel(net, made(net), read=SCALES[::-1].copy()))


def pooled(net: Net) -> str:
    return depthwise(net, str(net.op("MaxPool", per_channel(net, made(net)), kernel_shape=[2, 2])))


def quantized_again(net: Net) -> str:
    return net.qdq(per_channel(net, made(net)))


def given_out(net: Net) -> str:
    return per_channel(net, made(net))


def of_an_input(net: Net) -> str:
    return depthwise(net, per_channel(net, net.input((1, 4, 8, 8))))


def behind_a_sum(net: Net) -> str:
    x = net.qdq(net.input((1, 4, 8, 8)))
    return depthwise(net, per_channel(net, str(net.op("Add", x, net.qdq(net.input((1, 4, 8, 8), name="b"))))))


@pytest.mark.parametrize("build", [no_depthwise, read_otherwise, pooled, quantized_again, given_out])
def test_other_uses_are_refused(build: Callable[[Net], str], tmp_path: Path) -> None:
    net = Net()
    with pytest.raises(ModelRejected, match="LAM-IMPORT-012"):
        imported(net.model(build(net)), tmp_path)


@pytest.mark.parametrize("build", [bound_within, other_zero_points, of_an_input, behind_a_sum])
def test_what_integers_have_no_form_of_is_quantized_from_real_numbers(
    build: Callable[[Net], str], tmp_path: Path
) -> None:
    net = Net()
    model = net.model(build(net))
    assert any(type(n.op).__name__ == "FloatConv2D" for n in imported(model, tmp_path).nodes)
    agrees(model, tmp_path, 0.05)


def test_equal_scales_are_one(tmp_path: Path) -> None:
    net = Net()
    scales = net.const(np.full(4, 0.05, np.float32)), net.const(np.zeros(4, np.int8))
    q = net.op("QuantizeLinear", made(net), *scales, axis=1)
    y = net.op("MaxPool", net.op("DequantizeLinear", q, *scales, axis=1), kernel_shape=[2, 2])
    assert compare(net.model(net.qdq(y)), tmp_path).largest <= 1.01


def test_scales_at_the_ends_of_float32_are_read_or_refused(tmp_path: Path) -> None:
    for end in (np.float32(3e38), np.float32(2e-38)):
        net = Net()
        scales = net.const(SCALES * end / SCALES.max()), net.const(ZEROS)
        q = net.op("QuantizeLinear", made(net), *scales, axis=1)
        with pytest.raises(ModelRejected):
            imported(net.model(depthwise(net, net.op("DequantizeLinear", q, *scales, axis=1))), tmp_path)
