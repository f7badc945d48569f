"""Layers that say themselves how they are quantized."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import codegen
from codegen import train
from codegen.errors import CompileError
from tests.support.tools import require_module


@pytest.fixture(scope="module")
def nets() -> ModuleType:
    require_module("torch")
    from tests.support import training

    return training


def network() -> Any:
    """Every layer once, some of them in lists."""
    from torch import nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            conv = {"padding": 1, "enable_batch_norm": True, "enable_bias": False}
            self.stem = train.QuantConv2d(
                1, 4, 3, activation_fn=nn.ReLU6(), weight_bitwidth=4, output_bitwidth=4, clip_max_value=3.0,
                weight_factor=3.0, first_layer=True, input_bitwidth=8, **conv,
            )  # fmt: skip
            self.depthwise = nn.Sequential(
                train.QuantDepthwiseConv2d(4, 3, input_bitwidth=4, weight_bitwidth=6, **conv)
            )
            self.add = train.QuantAdd(clip_max_value=2.0, output_bitwidth=16)
            self.pool = train.QuantAvgPool2d(2, output_bitwidth=8)
            self.up = nn.ModuleList([train.QuantConvTranspose2d(4, 4, 2, stride=2, activation_fn=nn.ReLU())])
            self.norm = train.QuantBatchNorm2d(4)
            self.attend, self.mul = train.QuantSEBlock(4, 2), train.QuantMul()
            self.wide, self.mean = train.QuantUpsample(2), train.QuantAdaptiveAvgPool2d(1)
            self.classify = train.QuantLinear(4, 10, last_layer=True, weight_bitwidth=2)

        def forward(self, x: Any) -> Any:
            y = self.stem(x)
            y = self.pool(self.add(y, self.depthwise(y)))
            y = self.wide(self.attend(self.norm(self.up[0](y))))
            return self.classify(self.mean(self.mul(y, y)).flatten(1))

    return Network()


def test_what_layers_say_holds_for_them(nets: ModuleType) -> None:
    x = nets.images(6)
    prepared = nets.trained(nets.seeded(network, x), x, steps=2)
    ranges = prepared.ranges
    bits = [ranges.stem.inner.weight.spec.bits, ranges.stem.activation.output.spec.bits, ranges.add.output.spec.bits]
    assert bits == [4, 4, 16]
    assert ranges.get_submodule("depthwise.0.inner.weight").spec.bits == 6
    assert ranges.classify.inner.weight.spec.bits == 2
    assert float(ranges.stem.activation.output.step()) == pytest.approx(3.0 / 15)
    assert float(ranges.add.output.step()) == pytest.approx(2.0 / 32767)
    assert not hasattr(ranges.classify, "output")  # the last layer gives real numbers
    given = codegen.run(train.export(prepared), x.numpy())
    assert np.array_equal(np.asarray(given).reshape(6, 10), prepared(x).numpy())
    assert prepared.train()(x).detach().equal(prepared.eval()(x))


def test_layers_train_as_plain_ones_too(nets: ModuleType) -> None:
    x = nets.images(3)
    net = network()
    net(x).square().sum().backward()
    assert net.stem.inner.weight.grad is not None


def test_steps_of_weights_hold_their_deviations(nets: ModuleType) -> None:
    conv = train.QuantConv2d(1, 4, 3, weight_factor=1.5, weight_bitwidth=8, learn="none")
    prepared = train.prepare(conv, nets.images(2))
    weights = conv.inner.weight.detach().numpy()
    assert float(prepared.ranges.inner.weight.step()) == pytest.approx(1.5 * weights.std() / 127)


def test_a_configuration_goes_over_what_layers_say(nets: ModuleType) -> None:
    conv = train.QuantConv2d(1, 4, 3, weight_bitwidth=4)
    prepared = train.prepare(conv, nets.images(2), {"layer": [{"name": "/inner/*", "weights": {"bits": 3}}]})
    assert prepared.ranges.inner.weight.spec.bits == 3


def test_layers_that_stay_real(nets: ModuleType) -> None:
    from torch import nn

    x = nets.images(4)
    net = nn.Sequential(train.QuantConv2d(1, 2, 3), train.QuantConv2d(2, 2, 3, quantize=False))
    prepared = nets.trained(net.eval(), x, steps=1)
    assert [name for name, _ in prepared.ranges.named_children()] == ["0", "x"] or not hasattr(prepared.ranges, "1")


WRONG: dict[str, Callable[[], Any]] = {
    "bits of weights": lambda: train.QuantConv2d(1, 2, 3, weight_bitwidth=9),
    "one bit": lambda: train.QuantLinear(4, 2, weight_bitwidth=1),
    "bits of results": lambda: train.QuantAdd(output_bitwidth=12),
    "true bits": lambda: train.QuantAdd(output_bitwidth=True),
    "a clip below zero": lambda: train.QuantAdd(clip_max_value=-1.0),
    "a clip in words": lambda: train.QuantAdd(clip_max_value="6"),
    "no factor": lambda: train.QuantConv2d(1, 2, 3, weight_factor=0),
    "a device": lambda: train.QuantMul(target_device="T99"),
    "an argument of nothing": lambda: train.QuantAdd(bits=8),
    "one of another layer": lambda: train.QuantConv2d(1, 2, 3, auto_bitwidth=True),
    "groups that do not divide": lambda: train.QuantConv2d(3, 4, 3, groups=2),
    "an activation that is a function": lambda: train.QuantAdd(activation_fn=abs),
    "the last feature of a layer inside": lambda: train.QuantAdd(quantize_last_feature=True),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments(nets: ModuleType, what: str) -> None:
    with pytest.raises(CompileError) as error:
        WRONG[what]()
    assert error.value.code == "LAM-TRAIN-008"


def test_another_width_than_the_layer_before_gives(nets: ModuleType) -> None:
    from torch import nn

    net = nn.Sequential(train.QuantConv2d(1, 2, 3, output_bitwidth=8), train.QuantConv2d(2, 2, 3, input_bitwidth=4))
    with pytest.raises(CompileError, match=r"LAM-TRAIN-008 input_bitwidth of 1: is 4, .* has 8 bits"):
        train.prepare(net, nets.images(2))


def test_parameters_have_the_names_of_the_module(nets: ModuleType) -> None:
    from torch import nn

    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Sequential(nn.ReLU(), nn.Conv2d(2, 2, 3)))
            self.blocks = nn.ModuleList([nn.Conv2d(2, 2, 1), nn.Conv2d(2, 2, 1)])
            self.head = nn.Linear(32, 3)

        def forward(self, x: Any) -> Any:
            x = self.features(x)
            for block in self.blocks:
                x = block(x)
            return self.head(x.flatten(1))

    net = Named()
    prepared = train.prepare(net, nets.images(2))
    assert {name for name, _ in prepared.network.named_parameters()} == set(net.state_dict())
