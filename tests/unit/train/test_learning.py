"""What ranges learn by: gradients against torch's own operator of LSQ and against the papers' formulas."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from codegen.ir.real import Stored
from codegen.quantizer.spec import Spec
from tests.support.tools import require_module

SCALE, ZERO = 0.05, 7
FREE = Spec(bits=4, symmetric=None, narrow_range=None, per_channel=True)


@pytest.fixture(scope="module")
def learning() -> ModuleType:
    require_module("torch")
    from codegen.train import learning

    return learning


def grid(learning: ModuleType, spec: Spec, way: str, scale: float = SCALE, zero: int = ZERO) -> Any:
    made = learning.Grid(spec, way)
    made.begin(Stored(np.dtype(np.int8), np.float32(scale).reshape(()), np.array(zero)))
    return made


def numbers(seed: int = 0, spread: float = 4.0) -> Any:
    import torch

    torch.manual_seed(seed)
    return (torch.randn(5, 40) * spread).requires_grad_()


@pytest.mark.parametrize("way", ["lsq", "lsq+"])
def test_lsq_is_that_of_torch(learning: ModuleType, way: str) -> None:
    import torch

    ours, theirs = numbers(), numbers()
    made = grid(learning, Spec(), way)
    y = made.hold(ours)
    y.square().sum().backward()
    scale = torch.tensor([np.float32(SCALE)], requires_grad=True)
    zero = torch.tensor([float(ZERO)], requires_grad=True)
    factor = 1 / math.sqrt(40 * 127) if way == "lsq" else 1.0
    wanted = torch._fake_quantize_learnable_per_tensor_affine(theirs, scale, zero, -128, 127, factor)
    wanted.square().sum().backward()
    assert torch.allclose(y, wanted, atol=1e-6)
    assert torch.allclose(ours.grad, theirs.grad)
    assert torch.allclose(made.step.size.grad, scale.grad[0], rtol=1e-4)
    if way == "lsq+":
        assert torch.allclose(made.zero.grad, zero.grad[0], rtol=1e-4)


def test_tqt_learns_the_logarithm(learning: ModuleType) -> None:
    import torch

    x = numbers()
    made = grid(learning, Spec(symmetric=True, pot=True), "tqt", 2.0**-5, 0)
    y = made.hold(x)
    assert torch.equal(y, torch.clamp(torch.round(x * 32), -128, 127) / 32)
    y.sum().backward()
    inside = ((x * 32).round() >= -128) & ((x * 32).round() <= 127)
    errors = torch.where(inside, (x * 32).round() - x * 32, torch.clamp((x * 32).round(), -128, 127))
    assert torch.allclose(made.step.log2_range.grad, 2.0**-5 * math.log(2) * errors.detach().sum(), rtol=1e-3)
    made.step.log2_range.data += 0.4
    assert made.step().item() == 2.0**-5
    made.step.log2_range.data += 0.2
    assert made.step().item() == 2.0**-4


def test_pact_learns_where_results_are_cut(learning: ModuleType) -> None:
    import torch

    x = numbers()
    made = grid(learning, Spec(bits=4), "pact", 0.2, -8)
    y = made.hold(x)
    y.sum().backward()
    reach = 0.2 * 15
    beyond = (x > reach).sum().item()
    assert made.step.size.grad.item() == pytest.approx(15 * beyond, rel=1e-5)  # dy/dreach = 1, reach = 15 steps
    assert torch.equal(x.grad, ((x >= 0) & (x <= reach)).float())


def test_nothing_is_learned_where_nothing_is_to_be(learning: ModuleType) -> None:
    made = grid(learning, Spec(), "none")
    x = numbers()
    made.hold(x).sum().backward()
    assert list(made.parameters()) == []
    assert set(x.grad.unique().tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("rounding", ["half_even", "half_up", "half_away", "half_down"])
def test_weights_are_rounded_as_the_quantizer_rounds(learning: ModuleType, rounding: Any) -> None:
    import torch

    from codegen.quantizer.weights import rounded

    spec = Spec(bits=4, symmetric=True, rounding=rounding, scales=(0.5,))
    data = np.arange(-2, 2, 0.25, dtype=np.float32).reshape(4, 4)
    held, weight = learning.WeightGrid(spec, data, None)(torch.tensor(data))
    assert np.array_equal(weight.data, np.clip(rounded(data / 0.5, rounding), -8, 7))
    assert np.array_equal(held.detach().numpy(), weight.data * np.float32(0.5))


def test_groups_and_channels_have_steps_of_their_own(learning: ModuleType) -> None:
    import torch

    data = np.random.default_rng(0).normal(size=(3, 10)).astype(np.float32)
    for spec, axis, count in (
        (Spec(per_channel=True, symmetric=True, narrow_range=True), 0, 3),
        (Spec(group=4, symmetric=True), 0, 9),
        (FREE, 0, 3),
    ):
        made = learning.WeightGrid(spec, data, axis)
        held, weight = made(torch.tensor(data))
        assert made.step.size.numel() == count
        steps = np.asarray(weight.stored.spread(data.shape)[0])
        zero = np.asarray(weight.stored.spread(data.shape)[1])
        assert zero.any() == (spec is FREE)
        assert np.allclose(held.detach().numpy(), (weight.data - zero) * steps)
        assert np.abs(held.detach().numpy() - data).max() <= steps.max() * 0.501
