"""Sums of two 8-bit tensors by two products and one shift: golden's staircase over all pairs, or none."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.quant import Array, DType, Mode, Quant
from codegen.kernels.plane import Plane, plane_of
from codegen.ops import Add

DRAWS = 60


def drawn(seed: int, mode: Mode) -> Add:
    """A sum or difference of any scales and zero points, behind a ReLU half of the time."""
    rng = np.random.default_rng(seed)
    low = int(rng.integers(-128, 100))
    zeros = [int(z) for z in rng.integers(-128, 128, 2)]
    scales = [float(np.float32(s)) for s in np.exp(rng.uniform(-4, -1, 3))]
    limits = (low, 127) if rng.random() < 0.5 else (-128, 127)
    a, b, y = (Quant(scale, zero) for scale, zero in zip(scales, (*zeros, low), strict=True))
    return Add(a, b, y, DType.S8, *limits, mode, -1 if rng.random() < 0.3 else 1)


def pairs(a: DType, b: DType) -> tuple[Array, Array]:
    """All pairs of two types of 8 bits."""
    first, second = np.meshgrid(np.arange(a.low, a.high + 1), np.arange(b.low, b.high + 1))
    return first.astype(a.numpy), second.astype(b.numpy)


def made(plane: Plane, op: Add, a: Array, b: Array) -> Array:
    """What the C makes of pairs, in 64 bits, of which 32 do at each step."""
    begun = plane.offset + plane.first * a.astype(np.int64)
    total = begun + plane.second * b.astype(np.int64)
    for part in (plane.first * a.astype(np.int64), plane.second * b.astype(np.int64), begun, total):
        assert np.abs(part).max() < 1 << 31
    assert 0 <= plane.places <= 31
    outputs: Array = np.clip(total >> plane.places, op.low, op.high)
    return outputs


@pytest.mark.parametrize("mode", ["tflite", "ort", "single", "mul8"])
def test_every_pair_becomes_what_golden_makes_of_it(mode: Mode) -> None:
    a, b = pairs(DType.S8, DType.S8)
    for seed in range(DRAWS):
        op = drawn(seed, mode)
        plane = plane_of(op, DType.S8, DType.S8)
        assert plane is not None, op
        assert (made(plane, op, a, b) == op.golden((a, b))[0]).all(), op


def test_types_without_a_sign() -> None:
    a, b = pairs(DType.U8, DType.S8)
    op = Add(Quant(0.5, 130), Quant(0.25, -3), Quant(float(np.float32(0.7)), 100), DType.U8, 0, 255, "tflite")
    plane = plane_of(op, DType.U8, DType.S8)
    assert plane is not None
    assert (made(plane, op, a, b) == op.golden((a, b))[0]).all()


def test_halves_that_go_away_from_zero() -> None:
    """Scales are powers of two: of all sums a half or three quarters are halves, on both sides of the zero point."""
    a, b = pairs(DType.S8, DType.S8)
    for scales in ((0.125, 0.125, 0.5), (0.125, 0.25, 0.25), (0.03125, 0.25, 0.125)):
        first, second, y = (Quant(scale, zero) for scale, zero in zip(scales, (32, 9, -44), strict=True))
        op = Add(first, second, y, DType.S8, -128, 127, "tflite")
        plane = plane_of(op, DType.S8, DType.S8)
        assert plane is not None, op
        assert (made(plane, op, a, b) == op.golden((a, b))[0]).all(), op


def test_halves_that_go_to_the_even_output_have_none() -> None:
    op = Add(Quant(0.125, 32), Quant(0.25, 9), Quant(0.25, -44), DType.S8, -128, 127, "ort")
    assert plane_of(op, DType.S8, DType.S8) is None


def test_products_stay_in_32_bits_where_zero_points_are_at_the_ends() -> None:
    """The sum without its zero points is far larger than any output: the products alone take fewer places then."""
    a, b = pairs(DType.U8, DType.U8)
    quants = Quant(float(np.float32(2.336)), 136), Quant(float(np.float32(0.165)), 190)
    for first, second in (quants, quants[::-1]):
        op = Add(first, second, Quant(float(np.float32(1.1286)), 0), DType.U8, 0, 255, "tflite")
        plane = plane_of(op, DType.U8, DType.U8)
        assert plane is not None
        assert (made(plane, op, a, b) == op.golden((a, b))[0]).all()


def test_outputs_that_are_all_at_one_limit() -> None:
    op = Add(Quant(2.0**-10, 0), Quant(2.0**-10, 0), Quant(1.0, 5), DType.S8, 100, 127, "tflite")
    plane = plane_of(op, DType.S8, DType.S8)
    assert plane is not None
    a, b = pairs(DType.S8, DType.S8)
    assert (made(plane, op, a, b) == 100).all()


def test_factors_that_leave_few_places() -> None:
    op = Add(Quant(2.0**18, -128), Quant(0.5, 0), Quant(1.0, 3), DType.S8, -128, 127, "single")
    plane = plane_of(op, DType.S8, DType.S8)
    assert plane is not None
    assert plane.places < 8
    a, b = pairs(DType.S8, DType.S8)
    assert (made(plane, op, a, b) == op.golden((a, b))[0]).all()
