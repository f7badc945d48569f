import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from codegen.errors import OperatorLimit
from codegen.ir.quant import MODES, Array, DType, Mode, Quant, TensorType
from codegen.ir.shape import Window
from codegen.ops import AveragePool2D, GlobalAveragePool, MaxPool2D, TotalPool2D, check_limits
from codegen.ops.average import Averaging, average_requant
from codegen.ops.total_pool import Total
from tests.support.graphs import random_array
from tests.unit.ops import plain

F32 = np.float32
HOW = Averaging(Quant(float(F32(0.03)), -5), Quant(float(F32(0.025)), 12), DType.S8, -120, 125, "single")
SAME = replace(HOW, y_quant=HOW.x_quant)
GEOMETRIES = (
    ((1, 6, 6, 3), Window(2, 2), Window(2, 2)),
    ((1, 7, 5, 2), Window(3, 2, 1, 1, 1), Window(3, 1, 1, 1, 1)),
    ((2, 5, 8, 1), Window(3, 3, 1, 0, 2), Window(2, 1, 3, 2, 1)),
    ((1, 4, 4, 5), Window(4), Window(4)),
    ((1, 3, 9, 2), Window(1, 2), Window(5, 2, 1, 2, 2)),
)
FILLS = ("random", "low", "high")


def feature_map(shape: tuple[int, ...], dtype: DType, fill: str) -> Array:
    if fill == "random":
        return random_array(np.random.default_rng(sum(shape)), shape, dtype)
    return np.full(shape, dtype.low if fill == "low" else dtype.high, dtype.numpy)


def plain_average(how: Averaging, values: list[int], count: int) -> int:
    """One output from the values of the taps inside the input."""
    acc = sum(v - how.x_quant.zero_point for v in values)
    if how.mode == "ort":
        real = F32(F32(acc) * F32(how.x_quant.scale)) / F32(count)
        return plain.quantize(real, how.y_quant.scale, how.y_quant.zero_point, how.low, how.high)
    if how.mode == "tflite" and how.x_quant == how.y_quant:
        total = acc + count * how.x_quant.zero_point
        return plain.clamp(int((total + (count // 2 if total > 0 else -(count // 2))) / count), how.low, how.high)
    return plain.requant(average_requant(how, count), acc)


@pytest.mark.parametrize(("shape", "h", "w"), GEOMETRIES)
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("dtype", [DType.S8, DType.U8, DType.S16])
def test_max_pool_equals_loops(shape: tuple[int, ...], h: Window, w: Window, fill: str, dtype: DType) -> None:
    x = feature_map(shape, dtype, fill)

    def element(n: int, row: int, column: int, c: int) -> int:
        taps = plain.window_positions(h, w, row, column)
        return max([int(x[n, r, q, c]) for _, _, r, q in taps if plain.inside(x, r, q)], default=dtype.low)

    op = MaxPool2D(h, w)
    (kind,) = op.infer([TensorType(shape, dtype, Quant(0.5))])
    assert np.array_equal(op.golden([x])[0], plain.build(kind.shape, dtype, element))


@pytest.mark.parametrize(("shape", "h", "w"), GEOMETRIES)
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("base", [HOW, SAME])
@pytest.mark.parametrize("include_pad", [False, True])
def test_average_pool_equals_loops(
    shape: tuple[int, ...], h: Window, w: Window, fill: str, mode: Mode, base: Averaging, include_pad: bool
) -> None:
    how = replace(base, mode=mode)
    x = feature_map(shape, DType.S8, fill)

    def element(n: int, row: int, column: int, c: int) -> int:
        taps = plain.window_positions(h, w, row, column)
        values = [int(x[n, r, q, c]) for _, _, r, q in taps if plain.inside(x, r, q)]
        return plain_average(how, values, h.size * w.size if include_pad else len(values))

    op = AveragePool2D(h, w, include_pad, how.x_quant, how.y_quant, how.y_dtype, how.low, how.high, mode)
    (kind,) = op.infer([TensorType(shape, DType.S8, how.x_quant)])
    assert np.array_equal(op.golden([x])[0], plain.build(kind.shape, DType.S8, element))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("base", [HOW, SAME])
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("shape", [(1, 7, 7, 4), (2, 1, 3, 5), (1, 1, 1, 1), (1, 16, 15, 3)])
def test_global_average_pool_equals_loops(mode: Mode, base: Averaging, fill: str, shape: tuple[int, ...]) -> None:
    how = replace(base, mode=mode)
    x = feature_map(shape, DType.S8, fill)
    op = GlobalAveragePool(how.x_quant, how.y_quant, how.y_dtype, how.low, how.high, mode)
    n, h, w, c = shape

    def element(i: int, _row: int, _column: int, k: int) -> int:
        return plain_average(how, [int(v) for v in x[i, :, :, k].flat], h * w)

    expected = plain.build((n, 1, 1, c), DType.S8, element)
    assert np.array_equal(op.golden([x])[0], expected)


@pytest.mark.parametrize("mode", MODES)
def test_average_is_the_real_mean_rounded(mode: Mode) -> None:
    x = feature_map((1, 9, 8, 2), DType.S8, "random")
    how = replace(HOW, mode=mode)
    (y,) = GlobalAveragePool(how.x_quant, how.y_quant, DType.S8, -128, 127, mode).golden([x])
    mean = (x.astype(np.float64) + 5).mean(axis=(1, 2)) * how.x_quant.scale / how.y_quant.scale + 12
    assert np.abs(mean - y[:, 0, 0]).max() <= 0.5 + 1e-6


def test_float_average_is_dequantize_average_quantize_where_float_sums_are_exact() -> None:
    x = feature_map((1, 6, 6, 3), DType.S8, "random")
    a, b = Quant(0.25, 3), Quant(0.5, -7)
    (y,) = AveragePool2D(Window(3, 3), Window(3, 3), False, a, b, DType.S8, -128, 127, "ort").golden([x])
    real = (x.astype(F32) - F32(3)) * F32(0.25)
    means = real.reshape(1, 2, 3, 2, 3, 3).sum(axis=(2, 4), dtype=F32) / F32(9)
    assert np.array_equal(y, np.clip(np.rint(means / F32(0.5)) - 7, -128, 127))


def test_means_of_minus_two_and_a_half_and_one_and_a_half_round_by_mode() -> None:
    x = np.array([-3, -2, 1, 2], np.int8).reshape(1, 1, 4, 1)
    quant = Quant(0.5, 1)
    results = {
        mode: AveragePool2D(Window(1), Window(2, 2), False, quant, quant, DType.S8, -128, 127, mode).golden([x])[0]
        for mode in MODES
    }
    assert results["single"].ravel().tolist() == [-2, 2]
    assert results["tflite"].ravel().tolist() == [-3, 2]
    assert results["ort"].ravel().tolist() == [-3, 1]


def test_a_window_wholly_in_padding_has_no_average() -> None:
    op = AveragePool2D(Window(2, 2, 1, 2), Window(1), False, *(Quant(1.0),) * 2, DType.S8, -128, 127, "single")
    with pytest.raises(OperatorLimit, match="LAM-OPS-POOL-05"):
        check_limits(op, [TensorType((1, 4, 4, 1), DType.S8)])


INT32_MAX = 2**31 - 1
TOTALS: tuple[tuple[Total, int, int], ...] = (
    ("sizes", 9, 31),
    ("sizes", -3, 31),
    ("squares", 4, 31),
    ("squares", -9, 31),
    ("squares", -70, 31),
    ("length", 0, 31),
    ("length", 15, 31),
    ("length", 30, 31),
    ("product", 5, 24),
    ("product", -30, 31),
    ("product", -90, 24),
)


def plain_scaled(n: int, by: int) -> int:
    """The nearest whole number, held."""
    return min(plain.half_up(Fraction(n) * Fraction(2) ** by), INT32_MAX)


def plain_total(op: TotalPool2D, steps: list[int]) -> int:
    """One output from what its taps are above the zero point."""
    if op.total == "sizes":
        return plain_scaled(sum(abs(d) for d in steps), op.shift)
    squares = sum(d * d for d in steps)
    if op.total == "squares":
        return plain_scaled(squares, op.shift)
    if op.total == "length":
        return min(math.isqrt(squares << 2 * op.shift), INT32_MAX)
    mantissa, exponent = 1, op.shift
    for d in steps:
        mantissa *= abs(d)
        over = max(mantissa.bit_length() - op.bits, 0)
        mantissa, exponent = plain.half_up(Fraction(mantissa, 2**over)), exponent + over
    return (-1) ** sum(d < 0 for d in steps) * plain_scaled(mantissa, exponent)


@pytest.mark.parametrize(("shape", "h", "w"), GEOMETRIES)
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("dtype", [DType.S8, DType.U8, DType.S16])
@pytest.mark.parametrize("total", TOTALS)
def test_total_pool_equals_loops(
    shape: tuple[int, ...], h: Window, w: Window, fill: str, dtype: DType, total: tuple[Total, int, int]
) -> None:
    x = feature_map(shape, dtype, fill)
    op = TotalPool2D(h, w, total[0], 3, total[1], 31 if dtype is DType.S16 else total[2])

    def element(n: int, row: int, column: int, c: int) -> int:
        taps = plain.window_positions(h, w, row, column)
        return plain_total(op, [int(x[n, r, q, c]) - 3 if plain.inside(x, r, q) else 0 for _, _, r, q in taps])

    (kind,) = op.infer([TensorType(shape, dtype, Quant(0.5))])
    assert np.array_equal(op.golden([x])[0], plain.build(kind.shape, DType.S32, element))


def test_a_long_product_stays_within_its_roundings() -> None:
    x = np.random.default_rng(3).integers(1, 32768, (1, 1, 3000, 1)).astype(np.int16)
    exact = math.prod(Fraction(int(v)) for v in x.flat)
    shift = 30 - math.floor(exact.numerator.bit_length())
    (y,) = TotalPool2D(Window(1), Window(3000), "product", 0, shift).golden([x])
    assert abs(y.item() / (exact * Fraction(2) ** shift) - 1) < 3000 * 2.0**-31 + 2.0**-29
