import numpy as np
import pytest

from codegen.errors import ScaleNoPower, ScaleTooLarge
from codegen.ir.quant import DERIVED_MODES, MODES, DType, Mode, Quant
from codegen.ops import activation_bounds, apply_requant, make_requant
from codegen.ops.requantize import quantize_real
from tests.unit.ops import plain

DTYPES = (DType.S8, DType.U8, DType.S16)


def accumulators(rng: np.random.Generator, channels: int, bound: int = 2**31 - 1) -> np.ndarray:
    spread = rng.integers(-bound, bound, (40, channels))
    small = rng.integers(-300, 300, (40, channels))
    edges = np.array([[v] * channels for v in (0, 1, -1, bound, -bound)])
    return np.concatenate([spread, small, edges])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 5])
def test_requantize_equals_the_formula(mode: Mode, dtype: DType, channels: int) -> None:
    rng = np.random.default_rng(1)
    for scale in (0.9, 0.02, 1e-4, 3e-8, 2.0**-9, 2.0**-40):
        factors = (scale * np.linspace(0.6, 1.0, channels)).tolist()
        y = Quant(1.0, dtype.low // 3 + 7)
        requant = make_requant(mode, 1.0, factors, y, dtype, dtype.low + 3, dtype.high - 5)
        acc = accumulators(rng, channels)
        assert np.array_equal(apply_requant(requant, acc, dtype), plain.requantized(requant, acc, dtype))


def test_single_factor_is_the_float64_product_then_quotient() -> None:
    x, w, y = (float(np.float32(v)) for v in (0.1, 0.003, 0.7))
    requant = make_requant("single", x, [w], Quant(y), DType.S8)
    mantissa, exponent = np.frexp(x * w / y)
    assert requant.multiplier == (int(np.floor(mantissa * 2**31 + 0.5)),)
    assert requant.shift == (31 - exponent,)


def test_float_factor_is_rounded_to_float32_twice() -> None:
    x, w, y = (np.float32(v) for v in (0.1, 0.003, 0.7))
    requant = make_requant("ort", float(x), [float(w)], Quant(float(y)), DType.S8)
    assert requant.scale == (float(np.float32(np.float32(x * w) / y)),)


def test_exact_halves_round_up_away_and_to_even() -> None:
    acc = np.array([[-3], [-1], [1], [3]])
    results = {m: apply_requant(make_requant(m, 0.5, [1.0], Quant(1.0), DType.S8), acc, DType.S8) for m in MODES}
    assert results["single"].ravel().tolist() == [-1, 0, 1, 2]
    assert results["tflite"].ravel().tolist() == [-1, 0, 1, 2]
    assert results["ort"].ravel().tolist() == [-2, 0, 0, 2]


def test_powers_of_two_round_halves_as_their_mode_says() -> None:
    acc = np.array([[-5], [-4], [-3], [-1], [0], [1], [2], [3], [5]])
    results = {
        m: apply_requant(make_requant(m, 0.5, [1.0], Quant(1.0), DType.S8), acc, DType.S8) for m in DERIVED_MODES
    }
    assert results["pot"].ravel().tolist() == [-2, -2, -1, 0, 0, 1, 1, 2, 3]
    assert results["pot_half_even"].ravel().tolist() == [-2, -2, -2, 0, 0, 0, 1, 2, 2]
    assert results["pot_half_down"].ravel().tolist() == [-2, -2, -1, 0, 0, 0, 1, 1, 2]
    assert results["pot_half_away"].ravel().tolist() == [-3, -2, -2, -1, 0, 1, 1, 2, 3]
    assert results["mul8"].ravel().tolist() == results["pot"].ravel().tolist()


@pytest.mark.parametrize("mode", DERIVED_MODES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 5])
def test_derived_modes_equal_the_formula(mode: Mode, dtype: DType, channels: int) -> None:
    rng = np.random.default_rng(4)
    for exponent in (2, 0, -1, -5, -9, -20, -31, -33, -40):
        factors = [2.0 ** (exponent - i) for i in range(channels)]
        y = Quant(1.0, dtype.low // 3 + 7)
        requant = make_requant(mode, 1.0, factors, y, dtype, dtype.low + 3, dtype.high - 5)
        acc = accumulators(rng, channels)
        assert np.array_equal(apply_requant(requant, acc, dtype), plain.requantized(requant, acc, dtype))


@pytest.mark.parametrize("scale", [0.9, 0.0123, 1e-4, 3e-8, 127.9])
def test_multipliers_of_eight_bits_are_the_nearest_of_seven_bits(scale: float) -> None:
    requant = make_requant("mul8", 1.0, [scale], Quant(1.0), DType.S8)
    (multiplier,), (shift,) = requant.multiplier, requant.shift
    assert multiplier % 2**24 == 0
    assert 64 <= multiplier >> 24 < 128
    assert abs(multiplier / 2.0**shift / scale - 1) <= 1 / 128
    assert make_requant("mul8", 1e-3, [scale], Quant(1.0), DType.S16, wide=True).multiplier[0] % 2**8 == 0


@pytest.mark.parametrize("mode", [m for m in DERIVED_MODES if m != "mul8"])
def test_what_is_no_power_of_two_is_refused_where_there_are_only_shifts(mode: Mode) -> None:
    for factor in (0.3, 3.0, 0.5000001):
        with pytest.raises(ScaleNoPower, match="LAM-FIXEDPOINT-004"):
            make_requant(mode, 1.0, [0.5, factor], Quant(1.0), DType.S8)
    with pytest.raises(ScaleTooLarge):
        make_requant(mode, 1.0, [2.0**31], Quant(1.0), DType.S8)


@pytest.mark.parametrize("mode", ["single", "tflite"])
def test_wide_accumulators_use_fifteen_bit_multipliers(mode: Mode) -> None:
    acc = accumulators(np.random.default_rng(2), 3, 2**47 - 1)
    requant = make_requant(mode, 2.0**-33, [0.7, 0.8, 1.0], Quant(1.0, 5), DType.S16, wide=True)
    assert max(requant.multiplier) < 2**15
    assert np.array_equal(apply_requant(requant, acc, DType.S16), plain.requantized(requant, acc, DType.S16))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bits", [32, 38, 46])
def test_multipliers_have_the_bits_that_a_known_reach_leaves(mode: Mode, bits: int) -> None:
    reach = 2**bits - 1
    acc = accumulators(np.random.default_rng(2), 3, reach)
    requant = make_requant(mode, 2.0 ** (14 - bits), [0.7, 0.8, 1.0], Quant(1.0, 5), DType.S16, reach=reach)
    assert mode == "ort" or max(requant.multiplier).bit_length() == 62 - bits
    assert np.array_equal(apply_requant(requant, acc, DType.S16), plain.requantized(requant, acc, DType.S16))


def test_blocks_do_not_show() -> None:
    acc = np.random.default_rng(3).integers(-(10**6), 10**6, (3, 50, 41, 37))
    requant = make_requant("single", 1e-4, np.linspace(0.5, 1, 37).tolist(), Quant(1.0), DType.S8)
    whole = apply_requant(requant, acc, DType.S8)
    assert whole.shape == acc.shape
    assert all(np.array_equal(whole[i], apply_requant(requant, acc[i], DType.S8)) for i in range(3))


def test_activation_bounds_are_quantized_and_saturate() -> None:
    y = Quant(0.5, -100)
    assert activation_bounds(y, DType.S8, None, None) == (-128, 127)
    assert activation_bounds(y, DType.S8, 0.0, 6.0) == (-100, -88)
    assert activation_bounds(y, DType.S8, -1e9, 1e9) == (-128, 127)
    assert quantize_real(0.25, y, DType.S8) == -100


@pytest.mark.parametrize("mode", MODES)
def test_factor_beyond_the_multiplier_is_refused(mode: Mode) -> None:
    with pytest.raises(ScaleTooLarge):
        make_requant(mode, 1e30, [1e25], Quant(float(np.float32(1e-3))), DType.S8)
