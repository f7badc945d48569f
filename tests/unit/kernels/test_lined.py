"""Requantization by one product and one sum: the same staircase as TFLite's, or none."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.quant import Array, Requant
from codegen.kernels.lined import halved_line_of, line_of
from codegen.ops.requantize import scaled

REACH = 1 << 20
CHANNELS = 200


def low(seed: int, *, most: int = -5, zero_point: int = -128, high: int = 127) -> Requant:
    """Factors of many channels whose least output is the zero point, as behind a ReLU."""
    rng = np.random.default_rng(seed)
    multiplier = rng.integers(1 << 30, 1 << 31, CHANNELS)
    return Requant("tflite", zero_point, zero_point, high, tuple(multiplier), tuple(rng.integers(-12, most, CHANNELS)))


def lined(requant: Requant, acc: Array, reach: int = REACH) -> Array:
    """What lam_lined and the clamp make of sums of any channel."""
    line = line_of(requant, reach)
    assert line is not None
    shift = line.addend & 255
    assert (shift <= 30).all(), "the last byte is the shift"
    high = (acc + line.offset) * line.multiplier.astype(np.int64) >> 32
    assert np.abs(high + line.addend).max() < 1 << 31
    made: Array = np.clip((high + line.addend) >> shift, requant.low, requant.high)
    return made


def sums(requant: Requant, reach: int = REACH) -> Array:
    """Sums everywhere, and around all those at which outputs begin, [sums, channels]."""
    multiplier, exponent = np.array(requant.multiplier, np.float64), np.array(requant.shift)
    ends = np.arange(-260.5, 260)[:, None] / np.maximum(multiplier, 1) * 2.0 ** (31 - exponent)
    near = np.clip(ends, -reach, reach).astype(np.int64)[:, None] + np.arange(-2, 3)[None, :, None]
    anywhere = np.random.default_rng(0).integers(-reach, reach, (500, len(multiplier)))
    found: Array = np.clip(np.concatenate([near.reshape(-1, len(multiplier)), anywhere]), -reach, reach)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_every_sum_becomes_what_golden_makes_of_it(seed: int) -> None:
    requant = low(seed)
    acc = sums(requant)
    assert (lined(requant, acc) == scaled(requant, acc)).all()


@pytest.mark.parametrize(("zero_point", "high"), [(-128, 90), (0, 255), (3, 100)])
def test_other_bounds_and_zero_points(zero_point: int, high: int) -> None:
    requant = low(9, zero_point=zero_point, high=high)
    acc = sums(requant)
    assert (lined(requant, acc) == scaled(requant, acc)).all()


def test_factors_that_hardly_any_sum_reaches_and_none() -> None:
    requant = Requant("tflite", -128, -128, 127, (1 << 30, 0, (1 << 31) - 1, 1 << 30), (-31, -1, -26, -1))
    acc = sums(requant)
    assert (lined(requant, acc) == scaled(requant, acc)).all()


def test_outputs_on_both_sides_of_the_zero_point_have_no_line() -> None:
    """Halves go away from zero there: by a sum or more, which no single line does."""
    both = Requant("tflite", 0, -128, 127, (1_234_567_890, 1 << 30), (-9, -8))
    assert line_of(both, REACH) is None


@pytest.mark.parametrize(
    "requant",
    [
        low(1, most=1),
        Requant("single", -128, -128, 127, (1 << 30,), (40,)),
        Requant("tflite", 5, 5, 5, (1 << 30,), (-9,)),
    ],
    ids=["factors of one half and more", "another mode", "one output alone"],
)
def test_what_has_no_line(requant: Requant) -> None:
    assert line_of(requant, REACH) is None


def test_larger_sums_than_tflite_is_exact_for_have_none() -> None:
    assert line_of(low(2), 1 << 30) is None


def halved(requant: Requant, acc: Array, reach: tuple[int, ...], odd: int) -> Array:
    """What blocks of assembly make of sums of any channel."""
    line = halved_line_of(requant, reach, odd)
    assert line is not None
    assert line.addend.dtype == np.int16
    assert (line.addend % 2 == (np.arange(len(reach)) == odd)).all(), "the lowest bit names one channel"
    moved = acc + line.offset
    assert np.abs(moved).max() < 1 << 31
    made: Array = np.clip(
        ((moved * line.multiplier.astype(np.int64) >> 32) + line.addend) >> 1, requant.low, requant.high
    )
    return made


@pytest.mark.parametrize("seed", range(3))
def test_halved_lines_give_every_output_as_well(seed: int) -> None:
    rng = np.random.default_rng(seed)
    factors = tuple(rng.integers(1 << 30, 1 << 31, 40)), tuple(rng.integers(-8, -4, 40))
    requant = Requant("tflite", -128, -128, 127, *factors)
    acc = sums(requant, 1 << 18)
    assert (halved(requant, acc, (1 << 18,) * 40, seed) == scaled(requant, acc)).all()


def test_halved_lines_of_mode_single_need_no_relu() -> None:
    rng = np.random.default_rng(5)
    factors = tuple(rng.integers(1 << 30, 1 << 31, 40)), tuple(rng.integers(36, 39, 40))
    requant = Requant("single", -3, -128, 127, *factors)
    acc = rng.integers(-(1 << 17), 1 << 17, (4000, 40))
    ends = np.arange(-130.5, 131)[:, None] / np.array(factors[0]) * 2.0 ** np.array(factors[1])
    near = np.clip(ends.astype(np.int64)[:, None] + np.arange(-2, 3)[None, :, None], -(1 << 17), 1 << 17).reshape(
        -1, 40
    )
    every = np.concatenate([acc, near])
    assert (halved(requant, every, (1 << 17,) * 40, 39) == scaled(requant, every)).all()


def test_a_channel_whose_sums_hardly_reach_has_any_line() -> None:
    requant = Requant("tflite", -128, -128, 127, ((1 << 31) - 1, 1_500_000_000), (-1, -8))
    reach = (1, 1 << 16)
    acc = np.stack([np.arange(-1, 2).repeat(300), np.linspace(-(1 << 16), 1 << 16, 900).astype(np.int64)], axis=1)
    assert (halved(requant, acc, reach, -1) == scaled(requant, acc)).all()


@pytest.mark.parametrize(
    "requant",
    [
        Requant("tflite", 0, -128, 127, (1_234_567_890,), (-9,)),
        Requant("tflite", -128, -128, 127, (1_234_567_890,), (0,)),
        Requant("single", -128, -128, 127, (1 << 30,), (31,)),
        Requant("ort", -128, -128, 127, scale=(0.001,)),
    ],
    ids=["halves to both sides", "factors of one half and more", "factors of one quarter and more", "real numbers"],
)
def test_what_has_no_halved_line(requant: Requant) -> None:
    assert halved_line_of(requant, (1 << 20,), 0) is None
