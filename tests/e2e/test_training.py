"""A module trained with the chip's arithmetic, its file, and the C that is made of that: one and the same integers."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import codegen
from codegen.ir.quant import ALL_MODES, is_pot
from tests.support.tools import require_module

PLAIN = [mode for mode in ALL_MODES if not is_pot(mode)]
SHIFTS = [mode for mode in ALL_MODES if is_pot(mode)]
POT = {"quantize": {"scale": "pot"}}


@pytest.fixture(scope="module")
def nets() -> ModuleType:
    require_module("torch")
    from tests.support import training

    return training


def same(nets: ModuleType, prepared: Any, x: Any, engine: str = "golden", **words: Any) -> None:
    """What the exported file gives is what the module gives, for every sample."""
    from codegen.train import export

    given = codegen.run(export(prepared), x.numpy(), engine, **words)
    made = prepared(x).detach().numpy()
    assert np.array_equal(np.asarray(given).reshape(made.shape), made)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mode", PLAIN)
def test_the_file_has_the_integers_of_the_module(nets: ModuleType, mode: str) -> None:
    x = nets.images(24)
    same(nets, nets.trained(nets.seeded(nets.Small, x), x, requant=mode), x)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mode", [None, *SHIFTS])
def test_powers_of_two_are_shifted(nets: ModuleType, mode: str | None) -> None:
    x = nets.images(24)
    prepared = nets.trained(nets.seeded(nets.Small, x), x, POT, requant=mode)
    assert prepared.integer_network().mode == (mode or "pot")
    same(nets, prepared, x)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("weights", "activations"), [*((n, 8) for n in range(2, 8)), (4, 4), (2, 16), (8, 16)])
def test_bits(nets: ModuleType, weights: int, activations: int) -> None:
    x = nets.images(8)
    wide = {"bits": activations}
    config = {"quantize": {"weights": {"bits": weights}, "activation": wide, "mixed": {"first": 0, "last": 0}}}
    same(nets, nets.trained(nets.seeded(nets.Small, x), x, config, steps=2), x)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("learn", ["lsq", "lsq+", "pact", "none"])
def test_ways_of_learning(nets: ModuleType, learn: str) -> None:
    x = nets.images(8)
    same(nets, nets.trained(nets.seeded(nets.Small, x), x, {"quantize": {"learn": learn}}), x)


def test_every_digit_in_c(nets: ModuleType) -> None:
    x = nets.images()
    prepared = nets.trained(nets.seeded(nets.Small, x), x)
    same(nets, prepared, x, "c")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("bits", [(8, 8), (4, 4), (2, 8), (8, 16)])
def test_every_digit_in_c_in_every_mode(nets: ModuleType, mode: str, bits: tuple[int, int]) -> None:
    x = nets.images()
    scale = "pot" if mode in SHIFTS else "float"
    quantize = {"scale": scale, "weights": {"bits": bits[0]}, "activation": {"bits": bits[1]}}
    prepared = nets.trained(nets.seeded(nets.Small, x), x, {"quantize": quantize}, requant=mode)
    same(nets, prepared, x, "golden")
    same(nets, prepared, x, "c")


def test_training_computes_what_evaluation_computes(nets: ModuleType) -> None:
    x = nets.images(16)
    prepared = nets.trained(nets.seeded(nets.Small, x), x)
    evaluated = prepared(x).detach()
    assert prepared.train()(x).detach().equal(evaluated)


def several() -> Any:
    """A module of many operators."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Several(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.up = nn.Conv2d(1, 8, 3, padding=1, stride=2), nn.ConvTranspose2d(8, 4, 2, stride=2)
            self.prelu, self.attend = nn.PReLU(4), nn.Linear(16, 16)
            self.head = nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            x = functional.hardswish(self.conv(x))
            x = torch.cat([functional.silu(x[:, :4]), functional.gelu(x[:, 4:]) * 0.5], 1)
            x = self.prelu(self.up(x))
            x = functional.avg_pool2d(functional.pad(x, (1, 1, 1, 1)), 3, 2, ceil_mode=True) + functional.interpolate(
                functional.max_pool2d(x, 3, 2, 1), size=(5, 5), mode="bilinear", align_corners=False
            )
            x = functional.leaky_relu(x[..., :4, :4], 0.2).flatten(2)
            x = torch.sigmoid(self.attend(x)) * torch.tanh(x) - functional.softmax(x, -1).clamp(0, 0.5)
            return self.head(x.permute(0, 2, 1).reshape(x.shape[0], -1))

    return Several()


def test_many_operators(nets: ModuleType) -> None:
    """As real numbers they are torch's; in integers the file's."""
    from codegen.train import prepare

    x = nets.images(6)
    net = nets.seeded(several, x)
    import torch

    with torch.no_grad():
        assert torch.allclose(prepare(net, x).train()(x), net(x), atol=1e-6)
    prepared = nets.trained(net, x, steps=2)
    same(nets, prepared, x)
    assert prepared.train()(x).detach().equal(prepared.eval()(x))
    prepared.exact = False
    close = (prepared.train()(x) - prepared.eval()(x)).detach().abs().max()
    assert close < 0.1 * net(x).detach().abs().max()


def test_a_recurrence_is_trained_step_by_step(nets: ModuleType) -> None:
    import torch
    from torch import nn

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell, self.head = nn.GRU(8, 6, batch_first=True), nn.Linear(6, 10)

        def forward(self, x: Any) -> Any:
            return self.head(self.cell(x)[0][:, -1])

    x = nets.images(5)[:, 0]
    torch.manual_seed(0)
    same(nets, nets.trained(Recurrent().eval(), x, steps=2), x)


def test_what_is_trained_can_be_saved_copied_and_gone_on_with(nets: ModuleType) -> None:
    from copy import deepcopy

    from codegen.train import export, prepare

    x = nets.images(8)
    net = nets.seeded(nets.Small, x)
    prepared = nets.trained(net, x, {"quantize": {"learn": "lsq+"}}, steps=2)
    written = export(prepared)
    again = prepare(net, x, {"quantize": {"learn": "lsq+"}})
    again.load_state_dict(prepared.state_dict())
    assert export(again) == export(deepcopy(prepared)) == written
    other = deepcopy(prepared)
    other.network.classify.bias.data += 1
    assert export(prepared) == written != export(other)


def test_the_first_batches_are_seen(nets: ModuleType) -> None:
    from codegen.train import prepare

    x = nets.images(8)
    prepared = prepare(nets.seeded(nets.Small, x), x, {"quantize": {"learning": {"observe": 2}}}).train()
    for left in (True, True, False):
        assert prepared.observing == left
        prepared(x)
    assert not prepared.observing
    assert prepared.eval()(x).shape == (8, 10)
