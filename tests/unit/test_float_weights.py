"""Weights that take fewer bits: which numbers a storage holds, that it holds them, and how near they are."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.float32.weights import MOST, codes, is_held, narrowed, steps
from codegen.ir.quant import Array
from tests.contract.case import STORAGES

RNG = np.random.default_rng(3)
SHAPES = ((8, 3, 3, 5), (1, 1), (16, 40), (3, 1, 1, 7))


def normal(*shape: int) -> Array:
    return RNG.normal(0, 0.2, shape).astype(np.float32)


def made(weights: Array, storage: str) -> Array:
    found = narrowed(weights, storage)
    assert found is not None
    return found


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("shape", SHAPES)
def test_numbers_that_a_storage_holds_stay_what_they_are(shape: tuple[int, ...], storage: str) -> None:
    once = made(normal(*shape), storage)
    assert np.array_equal(made(once, storage), once)


@pytest.mark.parametrize("storage", MOST)
@pytest.mark.parametrize("shape", SHAPES)
def test_products_with_a_scale_per_output_are_the_weights(shape: tuple[int, ...], storage: str) -> None:
    weights = normal(*shape)
    weights[0] = 0
    held = made(weights, storage)
    integers, scales = steps(held, storage)
    assert np.abs(integers).max() <= MOST[storage]
    assert integers.shape == shape
    wide = integers.astype(np.float64) * scales.reshape(-1, *(1,) * (len(shape) - 1)).astype(np.float64)
    assert np.array_equal(wide, held), "nothing is rounded"


@pytest.mark.parametrize("storage", MOST)
def test_a_scale_for_each_group_of_inputs_loses_less(storage: str) -> None:
    weights = normal(6, 96) * RNG.uniform(0.1, 1, (6, 3)).astype(np.float32).repeat(32, axis=1)
    grouped = narrowed(weights, storage, 32)
    assert grouped is not None
    integers, scales = steps(grouped, storage, 32)
    assert scales.shape == (6, 3)
    assert np.array_equal(integers.astype(np.float64) * scales.astype(np.float64).repeat(32, axis=1), grouped)
    assert np.square(grouped - weights).sum() < 0.9 * np.square(made(weights, storage) - weights).sum()


def test_narrower_floats_are_those_of_numpy() -> None:
    weights = normal(50, 20)
    assert np.array_equal(made(weights, "f16"), weights.astype(np.float16).astype(np.float32))
    assert np.array_equal(codes(made(weights, "f16"), "f16"), weights.astype(np.float16).view(np.uint16))
    error = np.abs(made(weights, "bf16") - weights)
    assert (error <= np.abs(weights) * 2.0**-8).all()
    assert not (made(weights, "bf16").view(np.uint32) & 0xFFFF).any()


def test_8_bits_are_within_half_a_step_and_4_bits_lose_less_than_without_clipping() -> None:
    weights = normal(20, 300)
    largest = np.abs(weights).max(axis=1, keepdims=True)
    assert (np.abs(made(weights, "s8") - weights) <= largest / 127 * 0.5001).all()
    whole = np.rint(weights * 7 / largest) * largest / 7
    assert ((made(weights, "s4") - weights) ** 2).sum() < 0.9 * ((whole - weights) ** 2).sum()


@pytest.mark.parametrize("most", [127, 100, 9])
def test_integers_times_any_scale_are_found(most: int) -> None:
    scale = np.float32(0.0123456)
    weights = RNG.integers(-most, most + 1, (6, 30)).astype(np.float32) * scale
    assert np.array_equal(made(weights, "s8"), weights)


@pytest.mark.parametrize("zero", [-15, -8, -3, 0])
def test_sixteen_neighbouring_integers_are_held_wherever_they_lie(zero: int) -> None:
    scales = RNG.uniform(0.01, 0.1, (6, 1)).astype(np.float32)
    integers = RNG.integers(zero, zero + 16, (6, 40))
    weights = integers.astype(np.float32) * scales
    assert is_held(weights, "u4")
    assert is_held(weights, "s4") == (zero == -8)
    found, steps_of = steps(weights, "u4")
    assert np.array_equal(found.astype(np.float32) * steps_of, weights)
    assert np.ptp(found, axis=1).max() <= 15
    weights[1, 0], weights[1, 1] = np.float32([zero - 1, zero + 16]) * scales[1]
    assert not is_held(weights, "u4"), "more numbers than 4 bits have"


@pytest.mark.parametrize("zero", [0, 3, 128, 250, 255])
def test_bytes_are_held_wherever_their_zero_is(zero: int) -> None:
    scales = RNG.uniform(0.01, 0.1, (6, 1)).astype(np.float32)
    integers = np.concatenate([np.tile([0, 255], (6, 1)), RNG.integers(0, 256, (6, 40))], axis=1) - zero
    weights = integers.astype(np.float32) * scales
    assert is_held(weights, "u8")
    assert is_held(weights, "s8") == (zero == 128)
    found, steps_of = steps(weights, "u8")
    assert np.array_equal(found.astype(np.float32) * steps_of, weights)
    assert np.array_equal(found, integers)
    weights[1, 2] = np.float32(256 - zero) * scales[1, 0]
    assert not is_held(weights, "u8"), "more numbers than 8 bits have"


@pytest.mark.parametrize("storage", ["f16", "bf16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_narrower_floats_are_held_to_the_last_number(shape: tuple[int, ...], storage: str) -> None:
    weights = made(normal(*shape), storage)
    assert is_held(weights, storage)
    weights.flat[-1] = np.nextafter(weights.flat[-1], np.float32(9))
    assert not is_held(weights, storage)


@pytest.mark.parametrize(
    ("number", "of"),
    [
        (65504, ("f16",)),
        (65536, ("bf16",)),
        (2.0**-24, ("f16", "bf16")),
        (2.0**-133, ("bf16",)),
        (-0.0, ("f16", "bf16")),
        (np.nan, ()),
        (np.inf, ()),
    ],
)
def test_which_narrower_float_holds_a_number(number: float, of: tuple[str, ...]) -> None:
    assert tuple(s for s in ("f16", "bf16") if is_held(np.array([[1, number]], np.float32), s)) == of


@pytest.mark.parametrize(
    ("weights", "storage"),
    [
        ([[np.nan, 1]], "s8"),
        ([[np.inf, 1]], "bf16"),
        ([[7e4, 1]], "f16"),
        ([[3.4028235e38, 1]], "bf16"),
        ([[1e-42, 2e-42], [1, 1]], "s4"),
    ],
)
def test_what_a_storage_does_not_hold_is_left(weights: list[list[float]], storage: str) -> None:
    assert narrowed(np.array(weights, np.float32), storage) is None
