"""Requantization by one product and one sum: the same staircase as TFLite's, or none."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.quant import Array, Requant
from codegen.kernels.lined import line_of
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
