"""Requantization by one fused product of real numbers: the same staircase as golden's, or none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from codegen.ir.quant import Array, Requant
from codegen.kernels.real_line import real_line_of
from codegen.ops.requantize import scaled

REACH = 1 << 17
CHANNELS = 60


def drawn(seed: int, mode: str = "tflite", *, zero_point: int, low: int, high: int = 127) -> Requant:
    """Factors of many channels, of 1/64 to 1/512."""
    rng = np.random.default_rng(seed)
    multiplier, places = rng.integers(1 << 30, 1 << 31, CHANNELS), rng.integers(6, 9, CHANNELS)
    shift = -places if mode == "tflite" else places + 31
    return Requant(mode, zero_point, low, high, tuple(multiplier.tolist()), tuple(shift.tolist()))


def rounded(exact: Fraction) -> float:
    """The float32 nearest to an exact number, half to even: by its neighbours, of which one is nearest."""
    near = np.float32(float(exact))
    beside = (np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf)))
    return float(min(beside, key=lambda f: (abs(Fraction(float(f)) - exact), int(f.view(np.int32)) & 1)))


def made(requant: Requant, acc: Array, reach: tuple[int, ...]) -> Array:
    """What the C makes of sums [sums, channels], product and sum in exact fractions."""
    line = real_line_of(requant, reach)
    assert line is not None
    out = np.zeros(acc.shape, np.int64)
    for at in np.ndindex(acc.shape):
        scale, added = line.scale[at[1]], line.addend[at[1]]
        moved = int(acc[at]) + int(line.offset[at[1]])
        added = -added if line.mirrored and moved < 0 else added
        value = rounded(Fraction(float(np.float32(moved))) * Fraction(float(scale)) + Fraction(float(added)))
        out[at] = int(value) + requant.zero_point if line.mirrored else round(value)
    return np.clip(out, requant.low, requant.high)


def near_steps(requant: Requant, reach: int) -> Array:
    """The last sums before outputs begin and the first ones behind, and some others, [sums, channels]."""
    multiplier, shift = np.array(requant.multiplier, np.float64), np.array(requant.shift)
    factor = multiplier * 2.0 ** (shift - 31 if requant.mode == "tflite" else -shift)
    ends = np.arange(-130.5, 131, 7)[:, None] / factor
    near = (np.floor(ends).astype(np.int64)[:, None] + np.arange(-1, 3)[None, :, None]).reshape(-1, len(factor))
    return np.clip(np.concatenate([near, np.zeros_like(near[:1])]), -reach, reach)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("mode", "zero_point", "low"),
    [("tflite", -128, -128), ("tflite", -3, -128), ("tflite", 0, -90), ("single", 5, -128)],
)
def test_every_sum_becomes_what_golden_makes_of_it(seed: int, mode: str, zero_point: int, low: int) -> None:
    requant = drawn(seed, mode, zero_point=zero_point, low=low)
    few = Requant(mode, zero_point, low, 127, requant.multiplier[:20], requant.shift[:20])
    acc = near_steps(few, REACH)
    assert (made(few, acc, (REACH,) * 20) == scaled(few, acc)).all()


def test_sides_of_the_zero_point_mirror_each_other_where_halves_go_away_from_it() -> None:
    line = real_line_of(drawn(3, zero_point=0, low=-128), (REACH,) * CHANNELS)
    assert line is not None
    assert line.mirrored
    assert (line.offset == 0).all()
    assert (line.addend >= 0).all(), "the sign is that of the sum"


def test_the_zero_point_is_in_the_sums_where_one_line_does() -> None:
    line = real_line_of(drawn(3, zero_point=-128, low=-128), (REACH,) * CHANNELS)
    assert line is not None
    assert not line.mirrored
    assert (line.offset < 0).all()
    assert (np.abs(line.addend) < 1).all()


def test_one_factor_of_all_channels_has_one_line() -> None:
    requant = Requant("tflite", -128, -128, 127, (1_234_567_890,), (-8,))
    acc = np.arange(-(1 << 16), 1 << 16, 97)[:, None]
    assert (made(requant, acc, (1 << 16,)) == scaled(requant, acc)).all()


@pytest.mark.parametrize(
    ("requant", "reach"),
    [
        (Requant("tflite", 0, -128, 127, (1_234_567_890,), (-20,)), 1 << 29),
        (Requant("tflite", 5, 5, 5, (1 << 30,), (-9,)), 1 << 16),
        (Requant("tflite", -128, -128, 127, (1 << 30,), (-1,)), 1 << 28),
        (Requant("ort", -128, -128, 127, scale=(0.001,)), 1 << 16),
        (Requant("single", -128, -128, 127, (1 << 30,), (37,), rounding="half_even"), 1 << 16),
    ],
    ids=["millions of sums an output", "one output alone", "products beyond 2^21", "real numbers", "another rounding"],
)
def test_what_has_no_line(requant: Requant, reach: int) -> None:
    assert real_line_of(requant, (reach,)) is None
