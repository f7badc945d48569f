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


@pytest.mark.parametrize("mode", PLAIN)
def test_the_file_has_the_integers_of_the_module(nets: ModuleType, mode: str) -> None:
    x = nets.images(24)
    same(nets, nets.trained(nets.seeded(nets.Small, x), x, requant=mode), x)


@pytest.mark.parametrize("mode", [None, *SHIFTS])
def test_powers_of_two_are_shifted(nets: ModuleType, mode: str | None) -> None:
    x = nets.images(24)
    prepared = nets.trained(nets.seeded(nets.Small, x), x, POT, requant=mode)
    assert prepared.integer_network().mode == (mode or "pot")
    same(nets, prepared, x)


@pytest.mark.parametrize(("weights", "activations"), [*((n, 8) for n in range(2, 8)), (4, 4), (2, 16), (8, 16)])
def test_bits(nets: ModuleType, weights: int, activations: int) -> None:
    x = nets.images(8)
    wide = {"bits": activations}
    config = {"quantize": {"weights": {"bits": weights}, "activation": wide, "mixed": {"first": 0, "last": 0}}}
    same(nets, nets.trained(nets.seeded(nets.Small, x), x, config, steps=2), x)


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
