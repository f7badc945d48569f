from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from codegen.errors import OperatorLimit
from codegen.ir.quant import MODES, DType, Mode, Quant, TensorType
from codegen.ops import Softmax, check_limits
from codegen.ops.softmax import exp_table, reciprocal
from tests.support.graphs import random_array
from tests.unit.ops import plain

SCALES = (0.1, 1.0, 1e-4, 7.0)
OUTPUTS = ((1 / 256, -128), (1 / 255, -100), (0.001, 0), (0.7, 3), (2.0, 0), (5.0, 1), (2.0**-20, 0))


def plain_row(op: Softmax, row: list[int]) -> list[int]:
    """The module's definition in Python integers."""
    table = exp_table(op.x_quant)
    powers = [table[max(row) - q] for q in row]
    total = sum(powers)
    numerator, shift = reciprocal(op.y_quant)
    factor = (numerator + total // 2) // total
    assert factor <= 2**32
    steps = [(p * factor + (1 << (shift - 1))) >> shift for p in powers]
    assert all(p * factor + (1 << (shift - 1)) < 2**63 for p in powers)
    return [plain.clamp(s + op.y_quant.zero_point, op.y_dtype.low, op.y_dtype.high) for s in steps]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("y_scale", "zero_point"), OUTPUTS)
@pytest.mark.parametrize("shape", [(1,), (2, 10), (1, 3, 2, 7), (1, 1000)])
def test_softmax_equals_the_definition(
    mode: Mode, scale: float, y_scale: float, zero_point: int, shape: tuple[int, ...]
) -> None:
    x = random_array(np.random.default_rng(1), shape, DType.S8)
    quants = Quant(float(np.float32(scale)), 4), Quant(float(np.float32(y_scale)), zero_point)
    op = Softmax(*quants, DType.S8, mode)
    expected = [plain_row(op, row) for row in x.reshape(-1, shape[-1]).tolist()]
    assert op.golden([x])[0].tolist() == np.array(expected).reshape(shape).tolist()


@pytest.mark.parametrize("fill", [-128, 0, 127])
@pytest.mark.parametrize("length", [1, 2, 3, 50000])
def test_equal_inputs_share_the_sum(fill: int, length: int) -> None:
    x = np.full((length,), fill, np.int8)
    (y,) = Softmax(Quant(0.25), Quant(1 / 256), DType.U8, "single").golden([x])
    assert set(y.tolist()) == {min(255, int(Fraction(256, length) + Fraction(1, 2)))}


@pytest.mark.parametrize("dtype", [DType.S8, DType.U8])
def test_softmax_is_the_real_one_rounded(dtype: DType) -> None:
    x = random_array(np.random.default_rng(2), (50, 21), dtype)
    (y,) = Softmax(Quant(float(np.float32(0.06)), 1), Quant(1 / 256), DType.U8, "single").golden([x])
    powers = np.exp(np.float64(np.float32(0.06)) * x)
    exact = np.minimum(powers / powers.sum(axis=-1, keepdims=True) * 256, 255)
    assert np.abs(exact - y).max() <= 0.5 + 1e-6


def test_table_starts_at_one_and_falls() -> None:
    table = exp_table(Quant(0.125))
    assert len(table) == 256
    assert table[0] == 2**30
    assert all(a >= b >= 0 for a, b in pairwise(table))


def test_too_fine_an_output_is_refused() -> None:
    with pytest.raises(OperatorLimit, match="LAM-OPS-ACTIVATION-03"):
        check_limits(Softmax(Quant(1.0), Quant(2.0**-21), DType.S8, "single"), [TensorType((4,), DType.S8)])


@pytest.mark.parametrize("mode", ["single", "ort"])
@pytest.mark.parametrize(("scale", "zero"), [(2.0**-15, 0), (1 / 65535, -32768)])
def test_softmax_of_words_is_within_one_step_of_the_real_one(mode: Mode, scale: float, zero: int) -> None:
    x = random_array(np.random.default_rng(2), (50, 21), DType.S16)
    quants = Quant(float(np.float32(3e-4)), 77), Quant(float(np.float32(scale)), zero)
    (y,) = Softmax(*quants, DType.S16, mode).golden([x])
    powers = np.exp(quants[0].scale * x)
    exact = np.clip(powers / powers.sum(axis=-1, keepdims=True) / quants[1].scale + zero, -32768, 32767)
    assert np.abs(exact - y).max() <= 0.5 + 1e-3


def test_softmax_of_words_is_not_lamina_s_own_in_mode_tflite() -> None:
    with pytest.raises(OperatorLimit, match="LAM-OPS-ACTIVATION-18"):
        check_limits(Softmax(Quant(1.0), Quant(2.0**-15), DType.S16, "tflite"), [TensorType((4,), DType.S16)])
