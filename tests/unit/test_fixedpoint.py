"""codegen/fixedpoint.py against plain Python integers, exact fractions and the published algorithms."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen import fixedpoint as fp
from codegen.errors import CompileError

MIN, MAX = fp.INT32_MIN, fp.INT32_MAX
S8 = (-128, 127)

edges = st.sampled_from([MIN, MIN + 1, -1, 0, 1, MAX - 1, MAX])
int32s = st.one_of(st.integers(MIN, MAX), edges, st.integers(-300, 300))
acc48s = st.one_of(st.integers(-(2**47), 2**47 - 1), st.sampled_from([-(2**47), -1, 0, 1, 2**47 - 1]))
mantissas = st.one_of(st.integers(2**30, MAX), st.sampled_from([0, 2**30, 2**30 + 1, MAX]))
mantissas15 = st.one_of(st.integers(2**14, 2**15 - 1), st.sampled_from([0, 2**14, 2**15 - 1]))
shifts = st.integers(1, 62)
scales = st.one_of(
    st.floats(2.0**-80, 2.0**13),
    st.floats(1e-6, 4.0),
    st.sampled_from([0.0, 5e-324, 2.0**-32, 2.0**-31, 0.5, 1.0, 2.0]),
)


def forall(*strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`given` with the same examples in every run, and no time limit on a busy machine."""
    return lambda test: settings(derandomize=True, deadline=None, max_examples=500)(given(*strategies)(test))


# References in plain Python: unbounded integers and exact fractions


def clamp(v: int, low: int, high: int) -> int:
    return max(low, min(high, v))


def half_up(x: Fraction) -> int:
    return math.floor(x + Fraction(1, 2))


def half_away(x: Fraction) -> int:
    return half_up(x) if x >= 0 else -half_up(-x)


def int32(v: int) -> int:
    assert MIN <= v <= MAX
    return v


def truncating_divide(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)


def gemmlowp_high_mul(a: int, b: int) -> int:
    if a == b == MIN:
        return MAX
    ab = a * b
    nudge = 1 << 30 if ab >= 0 else 1 - (1 << 30)
    return int32(truncating_divide(ab + nudge, 1 << 31))


def gemmlowp_divide_by_pot(x: int, exponent: int) -> int:
    mask = (1 << exponent) - 1
    threshold = (mask >> 1) + (1 if x < 0 else 0)
    return int32((x >> exponent) + (1 if (x & mask) > threshold else 0))


def tflite_quantize_multiplier(scale: float) -> tuple[int, int]:
    if scale == 0:
        return 0, 0
    q, shift = math.frexp(scale)
    fixed = half_away(Fraction(q) * 2**31)
    if fixed == 2**31:
        fixed, shift = fixed // 2, shift + 1
    return (0, 0) if shift < -31 else (fixed, shift)


def tflite_multiply(x: int, multiplier: int, shift: int) -> int:
    left, right = max(shift, 0), max(-shift, 0)
    return gemmlowp_divide_by_pot(gemmlowp_high_mul(int32(x * (1 << left)), multiplier), right)


def tflite_multiply_64(x: int, multiplier: int, shift: int) -> int:
    reduced = (multiplier + (1 << 15)) >> 16 if multiplier < 0x7FFF0000 else 0x7FFF
    total = 15 - shift
    return (x * reduced + (1 << (total - 1))) >> total


# Scales to multipliers


@forall(scales)
def test_single_multiplier_is_the_nearest_mantissa(scale: float) -> None:
    multiplier, shift = (int(part) for part in fp.quantize_multiplier_single(scale))
    assert 1 <= shift <= 62
    if multiplier == 0:
        assert shift == 1
        assert Fraction(scale) * 2**31 <= Fraction(1, 2) * (1 + Fraction(1, 2**31))
    else:
        assert 2**30 <= multiplier < 2**31
        unit = Fraction(1, 2**shift)
        assert abs(Fraction(scale) - multiplier * unit) <= unit / 2


@forall(scales)
def test_multiplier_15_is_the_nearest_mantissa(scale: float) -> None:
    multiplier, shift = (int(part) for part in fp.quantize_multiplier_15(scale))
    assert 1 <= shift <= 62
    if multiplier:
        assert 2**14 <= multiplier < 2**15
        unit = Fraction(1, 2**shift)
        assert abs(Fraction(scale) - multiplier * unit) <= unit / 2


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (0.0, (0, 1)),
        (1.0, (2**30, 30)),
        (0.5, (2**30, 31)),
        (0.75, (3 * 2**29, 31)),
        (2.0**29, (2**30, 1)),
        (2.0**30 - 1.0, (MAX - 1, 1)),
        (1.0 - 2.0**-53, (2**30, 30)),  # the mantissa rounds up to 2^31 and is carried
        (1.0 - 2.0**-32, (2**30, 30)),  # a tie of the mantissa rounds up
        (1.0 - 2.0**-31, (MAX, 31)),
        (2.0**-32, (2**30, 62)),
        (2.0**-32 * (1 - 2.0**-40), (2**30, 62)),  # carried back into range
        (2.0**-32 * (1 - 2.0**-20), (0, 1)),
        (5e-324, (0, 1)),
    ],
)
def test_single_multiplier_of_known_scales(scale: float, expected: tuple[int, int]) -> None:
    multiplier, shift = fp.quantize_multiplier_single(scale)
    assert (int(multiplier), int(shift)) == expected


def test_a_vanished_multiplier_is_exact() -> None:
    """The first scale whose shift would be 63 gives 0 for every accumulator, as the exact product does."""
    scale = Fraction(2**31 - 1, 2**63)
    assert {half_up(acc * scale) for acc in (MIN, -1, 0, 1, MAX)} == {0}
    scale_15 = Fraction(2**15 - 1, 2**63)
    assert {half_up(acc * scale_15) for acc in (-(2**47), 2**47 - 1)} == {0}


def test_multipliers_keep_the_shape_of_the_scales() -> None:
    scale = np.array([[0.25, 0.1], [3.0, 0.0]])
    for quantize in (fp.quantize_multiplier_single, fp.quantize_multiplier_15, fp.quantize_multiplier_tflite):
        multiplier, shift = quantize(scale)
        assert multiplier.shape == shift.shape == scale.shape
        assert multiplier.dtype == shift.dtype == np.int32
        for i in np.ndindex(scale.shape):
            one = quantize(float(scale[i]))
            assert (multiplier[i], shift[i]) == (one[0], one[1])


@pytest.mark.parametrize(
    ("quantize", "limit"),
    [
        (fp.quantize_multiplier_single, 2.0**30),
        (fp.quantize_multiplier_15, 2.0**14),
        (fp.quantize_multiplier_tflite, 2.0**30),
        (fp.quantize_multiplier_tflite_15, 2.0**14),
    ],
)
def test_a_scale_too_large_is_refused(quantize: Callable[..., Any], limit: float) -> None:
    quantize(limit * 0.999)
    for scale in (limit, limit * (1 - 2.0**-50), 1e300):
        with pytest.raises(CompileError, match="LAM-FIXEDPOINT-001 scale too large"):
            quantize(np.array([0.5, scale]))


@pytest.mark.parametrize(
    "quantize",
    [
        fp.quantize_multiplier_single,
        fp.quantize_multiplier_15,
        fp.quantize_multiplier_tflite,
        fp.quantize_multiplier_tflite_15,
    ],
)
@pytest.mark.parametrize("scale", [-0.5, math.nan, math.inf, -math.inf])
def test_an_invalid_scale_is_refused(quantize: Callable[..., Any], scale: float) -> None:
    with pytest.raises(CompileError, match="LAM-FIXEDPOINT-002"):
        quantize(np.array([0.5, scale]))


@forall(scales)
def test_tflite_multiplier_is_quantize_multiplier(scale: float) -> None:
    multiplier, exponent = fp.quantize_multiplier_tflite(scale)
    assert (int(multiplier), int(exponent)) == tflite_quantize_multiplier(scale)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [  # the cases of TFLite's own quantization_util_test.cc
        (0.25, (1073741824, -1)),
        (0.50 - 5e-9, (2147483627, -1)),
        (0.50 - 1e-10, (1073741824, 0)),
        (0.75, (1610612736, 0)),
        (1 - 1e-9, (2147483646, 0)),
        (1 + 1e-11, (1073741824, 1)),
        (1.25, (1342177280, 1)),
        (2 - 1e-9, (2147483647, 1)),
        (2 - 1e-11, (1073741824, 2)),
        (2.0**-31, (1073741824, -30)),
        (2.0**-32, (1073741824, -31)),
        (0.99 * 2.0**-32, (0, 0)),
        (2.0**-33, (0, 0)),
    ],
)
def test_tflite_multiplier_of_its_test_cases(scale: float, expected: tuple[int, int]) -> None:
    multiplier, exponent = fp.quantize_multiplier_tflite(scale)
    assert (int(multiplier), int(exponent)) == expected


def test_effective_scale_rounds_inputs_to_float32_and_works_in_float64() -> None:
    got = fp.effective_scale(0.1, np.array([0.2, 0.3]), 0.7)
    x, y = float(np.float32(0.1)), float(np.float32(0.7))
    assert got.tolist() == [x * float(np.float32(w)) / y for w in (0.2, 0.3)]


# Requantization


@forall(int32s, mantissas, shifts, st.integers(-128, 127))
def test_single_equals_exact_half_up(acc: int, multiplier: int, shift: int, zp: int) -> None:
    expected = clamp(zp + half_up(Fraction(acc * multiplier, 2**shift)), *S8)
    assert int(fp.requantize_single(acc, multiplier, shift, zp, *S8)) == expected


@forall(acc48s, mantissas15, shifts, st.integers(-32768, 32767))
def test_single_64_equals_exact_half_up(acc: int, multiplier: int, shift: int, zp: int) -> None:
    expected = clamp(zp + half_up(Fraction(acc * multiplier, 2**shift)), -32768, 32767)
    assert int(fp.requantize_single_64(acc, multiplier, shift, zp, -32768, 32767)) == expected


@pytest.mark.parametrize("shift", range(1, 63))
def test_single_at_every_shift(shift: int) -> None:
    """Extremes, and accumulators on both sides of the first ties, where M is a power of two and ties are exact."""
    rng = np.random.default_rng(shift)
    near = [k + d for k in (-3, -1, 1, 3) for d in (-1, 0, 1) for k in ((k << shift) >> 31,) if MIN <= k + d <= MAX]
    acc = np.array([MIN, MIN + 1, -1, 0, 1, MAX - 1, MAX, *near, *rng.integers(MIN, MAX, 200)])
    for multiplier in (0, 2**30, 2**30 + 1, MAX, *rng.integers(2**30, 2**31, 5).tolist()):
        got = fp.requantize_single(acc, multiplier, shift, 0, MIN, MAX)
        assert got.tolist() == [clamp((int(a) * multiplier + 2 ** (shift - 1)) >> shift, MIN, MAX) for a in acc]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_single_broadcasts_per_channel_parameters(dtype: type) -> None:
    rng = np.random.default_rng(0)
    acc = rng.integers(-100000, 100000, (2, 3, 4, 5)).astype(dtype)
    multiplier, shift = fp.quantize_multiplier_single(10.0 ** rng.uniform(-6, 0, 5))
    got = fp.requantize_single(acc, multiplier, shift, 7, -128, 127)
    assert got.shape == acc.shape
    assert got.dtype == np.int64
    for c in range(5):
        assert (got[..., c] == fp.requantize_single(acc[..., c], multiplier[c], shift[c], 7, -128, 127)).all()


def test_empty_arrays_pass_through() -> None:
    none = np.zeros((0, 4), np.int32)
    assert fp.requantize_single(none, 2**30, 40, 0, *S8).shape == (0, 4)
    assert fp.requantize_tflite(none, 2**30, -3, 0, *S8).shape == (0, 4)
    assert fp.requantize_ort(none, 0.5, 0, *S8).shape == (0, 4)


@forall(int32s, mantissas, st.integers(-31, 30), st.integers(-128, 127))
def test_tflite_equals_multiply_by_quantized_multiplier(acc: int, multiplier: int, exponent: int, zp: int) -> None:
    acc >>= max(exponent, 0)
    expected = clamp(zp + tflite_multiply(acc, multiplier, exponent), *S8)
    assert int(fp.requantize_tflite(acc, multiplier, exponent, zp, *S8)) == expected
    raw = tflite_multiply(acc, multiplier, exponent)
    assert int(fp.requantize_tflite(acc, multiplier, exponent, 0, MIN, MAX)) == raw


@pytest.mark.parametrize(
    ("x", "scale", "expected"),
    [  # the cases of TFLite's own quantization_util_test.cc
        (0, 0.1, 0),
        (1, 0.0, 0),
        (10000, 0.00097656, 10),
        (-10000, 0.00097656, -10),
        (MIN, 0.00001, -21475),
        (MAX, 0.00001, 21475),
    ],
)
def test_tflite_gives_its_test_results(x: int, scale: float, expected: int) -> None:
    assert int(fp.requantize_tflite(x, *fp.quantize_multiplier_tflite(scale), 0, MIN, MAX)) == expected


@pytest.mark.parametrize(
    ("x", "scale", "expected"),
    [  # the same test's cases for 64-bit accumulators
        (10000, 0.00097656, 10),
        (-10000, 0.00097656, -10),
        (-(2**47), 0.00001, -1407385600),
        (2**47 - 1, 0.00001, 1407385600),
    ],
)
def test_tflite_15_gives_its_test_results(x: int, scale: float, expected: int) -> None:
    assert int(fp.requantize_single_64(x, *fp.quantize_multiplier_tflite_15(scale), 0, MIN, MAX)) == expected


@forall(acc48s, st.floats(2.0**-31, 100.0))
def test_tflite_15_equals_its_64_bit_multiply(acc: int, scale: float) -> None:
    expected = clamp(tflite_multiply_64(acc, *tflite_quantize_multiplier(scale)), MIN, MAX)
    assert int(fp.requantize_single_64(acc, *fp.quantize_multiplier_tflite_15(scale), 0, MIN, MAX)) == expected


def test_tflite_rounds_twice_where_single_rounds_once() -> None:
    """The modes are not interchangeable: -1.5 is -1 half up and -2 half away, and 0.375 may become 1."""
    args = (0, *S8)
    assert int(fp.requantize_single(-6, *fp.quantize_multiplier_single(0.25), *args)) == -1
    assert int(fp.requantize_tflite(-6, *fp.quantize_multiplier_tflite(0.25), *args)) == -2
    # 0.75 * 0.25: the first rounding makes 1.5 of 2 * 0.75 into 2, the second 2 / 4 = 0.5 into 1; exactly it is 0.375
    assert int(fp.requantize_single(2, *fp.quantize_multiplier_single(0.1875), *args)) == 0
    assert int(fp.requantize_tflite(2, *fp.quantize_multiplier_tflite(0.1875), *args)) == 1


def test_tflite_left_shift_that_would_overflow_is_refused() -> None:
    limit = int(fp.largest_acc_tflite(4))
    assert limit == MAX >> 4
    assert int(fp.requantize_tflite(limit, MAX, 4, 0, MIN, MAX)) > 0
    assert int(fp.requantize_tflite(MIN >> 4, 2**30, 4, 0, MIN, MAX)) == MIN // 2
    for acc in (limit + 1, (MIN >> 4) - 1):
        with pytest.raises(CompileError, match="LAM-FIXEDPOINT-003"):
            fp.requantize_tflite(np.array([0, acc]), 2**30, 4, 0, *S8)
    assert fp.largest_acc_tflite(np.array([-31, 0, 1, 30])).tolist() == [MAX, MAX, MAX >> 1, 1]


def float32_nearest(x: Fraction) -> Fraction:
    """X rounded to 24 bits, half to even; for magnitudes that are neither subnormal nor too large."""
    if x == 0:
        return x
    exponent = math.floor(math.log2(abs(x)))
    exponent += 1 if abs(x) >= Fraction(2) ** (exponent + 1) else -1 if abs(x) < Fraction(2) ** exponent else 0
    unit = Fraction(2) ** (exponent - 23)
    return round(x / unit) * unit  # Fraction.__round__ is half to even


@forall(int32s, st.floats(2.0**-40, 2.0**10, width=32), st.integers(-128, 127))
def test_ort_equals_exact_fractions_rounded_step_by_step(acc: int, scale: float, zp: int) -> None:
    product = float32_nearest(float32_nearest(Fraction(acc)) * Fraction(scale))
    expected = zp + round(max(Fraction(-128 - zp), min(Fraction(127 - zp), product)))
    assert int(fp.requantize_ort(acc, scale, zp, *S8)) == expected


def test_ort_rounds_half_to_even_and_survives_overflow() -> None:
    got = fp.requantize_ort(np.array([-5, -3, -1, 1, 3, 5]), 0.5, 0, *S8)
    assert got.tolist() == [-2, -2, 0, 0, 2, 2]
    assert fp.requantize_ort(np.array([MIN, MAX]), 3e38, 3, *S8).tolist() == [-128, 127]


# Between float and integer


def test_quantize_linear_rounds_half_to_even_and_saturates() -> None:
    x = np.array([-1e30, -300, -1.5, -0.5, 0.5, 1.5, 2.5, 300, np.inf, -np.inf, np.nan], np.float32)
    assert fp.quantize_linear(x, 1.0, 10, 0, 255).tolist() == [0, 0, 8, 10, 10, 12, 12, 255, 255, 0, 0]
    assert fp.quantize_linear(x, 1.0, 0, *S8).tolist() == [-128, -128, -2, 0, 0, 2, 2, 127, 127, -128, -128]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32])
def test_quantize_linear_reaches_both_ends_of_every_type(dtype: type) -> None:
    info = np.iinfo(dtype)
    got = fp.quantize_linear(np.array([-3e38, 3e38], np.float32), 1.0, 0, info.min, info.max)
    assert got.tolist() == [info.min, info.max]
    assert got.astype(dtype).tolist() == [info.min, info.max]


def test_quantize_linear_divides_in_float32() -> None:
    """Dividing is not multiplying by the reciprocal, and not float64: each would differ for some of these."""
    x = np.random.default_rng(1).normal(0, 5, 100_000).astype(np.float32)
    scale = np.float32(0.0371)
    expected = [clamp(round(float(v)), *S8) for v in x / scale]
    assert fp.quantize_linear(x, float(scale), 0, *S8).tolist() == expected


def test_quantize_and_dequantize_linear_along_an_axis() -> None:
    x = np.random.default_rng(2).normal(0, 1, (2, 3, 4)).astype(np.float32)
    scale, zp = np.array([0.01, 0.02, 0.05]), np.array([-3, 0, 9])
    q = fp.quantize_linear(x, scale, zp, *S8, axis=1)
    y = fp.dequantize_linear(q, scale, zp, axis=-2)
    assert y.dtype == np.float32
    for c in range(3):
        assert (q[:, c] == fp.quantize_linear(x[:, c], float(scale[c]), int(zp[c]), *S8)).all()
        assert (y[:, c] == fp.dequantize_linear(q[:, c], float(scale[c]), int(zp[c]))).all()


@forall(int32s, int32s, st.floats(2.0**-20, 2.0**20, width=32))
def test_dequantize_linear_rounds_difference_and_product_once_each(q: int, zp: int, scale: float) -> None:
    expected = float32_nearest(float32_nearest(Fraction(q - zp)) * Fraction(scale))
    assert Fraction(float(fp.dequantize_linear(q, scale, zp))) == expected


def test_dequantize_then_quantize_is_the_identity() -> None:
    q = np.arange(-128, 128)
    for scale in np.random.default_rng(3).uniform(1e-4, 1, 50):
        assert (fp.quantize_linear(fp.dequantize_linear(q, scale, 5), scale, 5, *S8) == q).all()


# Primitives


@forall(int32s, int32s)
def test_high_mul_equals_gemmlowp_and_its_shift_form(a: int, b: int) -> None:
    got = int(fp.saturating_rounding_doubling_high_mul(a, b))
    assert got == gemmlowp_high_mul(a, b) == min(MAX, (a * b + (1 << 30)) >> 31)


@forall(int32s, st.integers(0, 31))
def test_divide_by_pot_rounds_half_away(x: int, exponent: int) -> None:
    got = int(fp.rounding_divide_by_pot(x, exponent))
    assert got == gemmlowp_divide_by_pot(x, exponent) == half_away(Fraction(x, 2**exponent))


@forall(st.floats(-1e18, 1e18))
def test_round_half_away_is_exact(x: float) -> None:
    assert int(fp.round_half_away(x)) == half_away(Fraction(x))


def test_round_half_away_at_the_edges() -> None:
    x = np.array([0.5, -0.5, 1.5, -2.5, 0.49999999999999994, 4503599627370497.5, -0.0])
    assert fp.round_half_away(x).tolist() == [1, -1, 2, -3, 0, 4503599627370498, 0]


@forall(int32s, int32s, int32s)
def test_saturate_clamps(x: int, low: int, high: int) -> None:
    low, high = min(low, high), max(low, high)
    assert int(fp.saturate(x, low, high)) == clamp(x, low, high)


def test_values_outside_the_contract_are_caught() -> None:
    for call in (
        lambda: fp.requantize_single(np.array([2**31]), 2**30, 31, 0, *S8),
        lambda: fp.requantize_single(0, 2**30, 63, 0, *S8),
        lambda: fp.requantize_single(0, 2**30, 0, 0, *S8),
        lambda: fp.requantize_single(0, -1, 31, 0, *S8),
        lambda: fp.requantize_single_64(2**47, 2**14, 31, 0, *S8),
        lambda: fp.requantize_single_64(0, 2**30, 31, 0, *S8),
        lambda: fp.requantize_single_64(2**38, 2**24, 31, 0, *S8),
        lambda: fp.requantize_ort(2**47, 1.0, 0, *S8),
        lambda: fp.requantize_tflite(0, 2**30, 31, 0, *S8),
        lambda: fp.requantize_ort(0, math.nan, 0, *S8),
        lambda: fp.requantize_ort(0, 1.0, 0, MIN, MAX),
        lambda: fp.rounding_divide_by_pot(0, 32),
        lambda: fp.quantize_linear(1.0, 0.0, 0, *S8),
    ):
        with pytest.raises(AssertionError):
            call()
