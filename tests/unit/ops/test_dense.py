import numpy as np
import pytest

from codegen.errors import InputsDoNotFit
from codegen.ir.quant import MODES, Array, DType, Mode, Quant, TensorType
from codegen.ops import Dense, MatMul
from tests.support.graphs import random_array, spread_requant
from tests.unit.ops import plain


def products(a: Array, b: Array, a_zero: int, b_zero: int) -> Array:
    """Plain sums of (a - a_zero)[m, k] * (b - b_zero)[k, n]."""
    y = np.empty((a.shape[0], b.shape[1]), object)
    for m in range(a.shape[0]):
        for n in range(b.shape[1]):
            y[m, n] = sum((int(a[m, k]) - a_zero) * (int(b[k, n]) - b_zero) for k in range(a.shape[1]))
    return y


@pytest.mark.parametrize("mode", [*MODES, None])
@pytest.mark.parametrize("dtype", [DType.S8, DType.U8])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (2, 3, 6), (1, 2, 2, 40)])
def test_dense_equals_loops(mode: Mode | None, dtype: DType, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    x, w = random_array(rng, shape, dtype), random_array(rng, (5, shape[-1]), DType.S8)
    b = rng.integers(-1000, 1000, 5).astype(np.int32)
    requant = None if mode is None else spread_requant(mode, w, DType.U8, 128)
    op = Dense(9, requant, DType.U8, Quant(1.0, 128))
    acc = products(x.reshape(-1, shape[-1]), w.T, 9, 0) + b.astype(object)
    acc = acc.reshape(*shape[:-1], 5)
    (y,) = op.golden([x, w, b])
    expected = acc.astype(np.int32) if requant is None else plain.requantized(requant, acc, DType.U8)
    assert np.array_equal(y, expected)
    assert y.shape == (*shape[:-1], 5)


@pytest.mark.parametrize("fill", [-128, 127])
def test_dense_extremes_are_exact(fill: int) -> None:
    x, w = np.full((1, 700), fill, np.int8), np.full((2, 700), -128, np.int8)
    b = np.array([2**31 - 1 - 2**26, -(2**31) + 2**26], np.int32)
    (y,) = Dense(-fill, None, DType.S32, None).golden([x, w, b])
    assert y.tolist() == [[int(b[i]) + 700 * 2 * fill * -128 for i in range(2)]]


@pytest.mark.parametrize("mode", [*MODES, None])
@pytest.mark.parametrize("lead", [(), (3,), (2, 2)])
def test_matmul_equals_loops(mode: Mode | None, lead: tuple[int, ...]) -> None:
    rng = np.random.default_rng(8)
    a, b = random_array(rng, (*lead, 4, 6), DType.S8), random_array(rng, (*lead, 6, 3), DType.U8)
    requant = None if mode is None else spread_requant(mode, np.ones((1, 6)), DType.S8, -5, channels=False)
    op = MatMul(-7, 130, requant, DType.S8, Quant(1.0, -5))
    (y,) = op.golden([a, b])
    assert y.shape == (*lead, 4, 3)
    for index in np.ndindex(*lead):
        acc = products(a[index], b[index], -7, 130)
        expected = acc.astype(np.int32) if requant is None else plain.requantized(requant, acc, DType.S8)
        assert np.array_equal(y[index], expected)


def test_matrices_that_do_not_chain_are_refused() -> None:
    a, b = TensorType((2, 3, 4), DType.S8), TensorType((2, 5, 4), DType.S8)
    with pytest.raises(InputsDoNotFit, match="cannot be multiplied"):
        MatMul(0, 0, None, DType.S32, None).infer([a, b])
