import numpy as np
import pytest

from codegen.errors import InputsDoNotFit, OperatorLimit
from codegen.ir.op import RowRule
from codegen.ir.quant import MODES, DType, Mode, Quant, TensorType
from codegen.ops import ResizeBilinear, ResizeWeighted, check_limits
from codegen.ops.average import Averaging, averaged
from codegen.ops.resize import WEIGHT_ONE, Tap, Weights
from tests.support.graphs import random_array
from tests.unit.ops import plain
from tests.unit.ops.test_pool import plain_average

F32 = np.float32


def half_pixel(n_in: int, n_out: int) -> tuple[Tap, ...]:
    """Taps of ONNX's half_pixel coordinates, edges repeated."""
    at = np.clip((np.arange(n_out) + 0.5) * n_in / n_out - 0.5, 0, n_in - 1)
    first = np.floor(at).astype(int)
    second = np.minimum(first + 1, n_in - 1)
    weight = np.rint((at - first) * WEIGHT_ONE).astype(int)
    return tuple(zip(first.tolist(), second.tolist(), weight.tolist(), strict=True))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("fill", [None, -128, 127])
@pytest.mark.parametrize("sizes", [((3, 4), (6, 8)), ((5, 7), (3, 2)), ((1, 1), (3, 4)), ((4, 3), (5, 7))])
def test_bilinear_equals_loops(
    mode: Mode, same: bool, fill: int | None, sizes: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    (h, w), (h_out, w_out) = sizes
    x_quant = Quant(float(F32(0.1)), -20)
    y_quant = x_quant if same else Quant(float(F32(0.13)), 7)
    x = random_array(np.random.default_rng(h), (1, h, w, 2), DType.S8)
    if fill is not None:
        x[:] = fill
    op = ResizeBilinear(half_pixel(h, h_out), half_pixel(w, w_out), x_quant, y_quant, DType.S8, -128, 120, mode)
    (y,) = op.golden([x])
    assert y.shape == op.infer([TensorType(x.shape, DType.S8, x_quant)])[0].shape
    how = Averaging(x_quant, y_quant, DType.S8, -128, 120, mode)
    for row, column, c in np.ndindex(h_out, w_out, 2):
        (i0, i1, u), (j0, j1, v) = op.h[row], op.w[column]
        parts = ((i0, j0, (2048 - u) * (2048 - v)), (i0, j1, (2048 - u) * v), (i1, j0, u * (2048 - v)), (i1, j1, u * v))
        acc = sum(weight * (int(x[0, i, j, c]) + 20) for i, j, weight in parts)
        assert abs(acc) < 2**31
        assert y[0, row, column, c] == averaged_plainly(how, acc)


def averaged_plainly(how: Averaging, acc: int) -> int:
    """One output from an accumulator, by the plain formula; between equal scales by TFLite's division."""
    if how.mode == "tflite" and how.x_quant == how.y_quant:
        total = acc + how.x_quant.zero_point * WEIGHT_ONE**2
        size = (abs(total) + WEIGHT_ONE**2 // 2) // WEIGHT_ONE**2
        return plain.clamp(size if total > 0 else -size, how.low, how.high)
    return plain_average(how, [acc + how.x_quant.zero_point], WEIGHT_ONE**2)


def test_bilinear_reads_two_neighbouring_rows() -> None:
    op = ResizeBilinear(half_pixel(3, 6), half_pixel(2, 2), *(Quant(1.0),) * 2, DType.S8, -128, 127, "single")
    ins = [TensorType((1, 3, 2, 1), DType.S8)]
    assert op.rows(0, ins, op.infer(ins)) == RowRule(taps=2, table=(0, 0, 0, 1, 1, 2))


def test_rows_that_are_not_neighbours_are_refused() -> None:
    op = ResizeBilinear(((0, 2, 5),), ((0, 0, 0),), *(Quant(1.0),) * 2, DType.S8, -128, 127, "single")
    with pytest.raises(OperatorLimit, match="LAM-OPS-RESIZE-03"):
        check_limits(op, [TensorType((1, 3, 1, 1), DType.S8)])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize(("dtype", "bits", "shift"), [(DType.S8, 11, 0), (DType.S16, 15, 0), (DType.S16, 22, 15)])
def test_weighted_equals_loops(mode: Mode, same: bool, dtype: DType, bits: int, shift: int) -> None:
    rng, one = np.random.default_rng(bits), 1 << bits
    x_quant = Quant(float(F32(0.1)), -20)
    y_quant = x_quant if same else Quant(float(F32(0.13)), 7)
    x = random_array(rng, (1, 5, 6, 2), dtype)
    h, w = (windows(rng, n, out, one) for n, out in ((5, 7), (6, 4)))
    op = ResizeWeighted(h, w, bits, x_quant, y_quant, dtype, dtype.low, dtype.high - 7, mode, shift)
    (y,) = op.golden([x])
    assert y.shape == op.infer([TensorType(x.shape, dtype, x_quant)])[0].shape
    how = Averaging(x_quant, y_quant, dtype, dtype.low, dtype.high - 7, mode, reach=op.averaging(dtype).reach)
    for row, column, c in np.ndindex(7, 4, 2):
        (i, u), (j, v) = h[row], w[column]
        rows = [sum(a * (int(x[0, i + m, j + n, c]) + 20) for m, a in enumerate(u)) for n in range(len(v))]
        acc = sum(b * ((2 * t + (1 << shift)) // (2 << shift)) for b, t in zip(v, rows, strict=True))
        assert abs(acc) <= how.reach
        expected = averaged(how, np.array([acc]), one**2 >> shift)[0]
        if not (mode == "tflite" and same):
            assert y[0, row, column, c] == expected
        elif abs(y[0, row, column, c]) < dtype.high - 7:
            assert abs(y[0, row, column, c] - (acc / (one**2 >> shift) - 20)) <= 0.5


def windows(rng: np.random.Generator, length: int, count: int, one: int) -> tuple[Weights, ...]:
    """Four taps each, some of them negative, that come to one."""
    made = []
    for _ in range(count):
        weights = rng.integers(-one // 8, one // 2, 4)
        weights[1] += one - weights.sum()
        made.append((int(rng.integers(0, length - 3)), tuple(int(n) for n in weights)))
    return tuple(made)


def test_weighted_reads_the_rows_of_its_windows() -> None:
    h = ((0, (1, 1)), (1, (2, 0)), (1, (0, 2)))
    op = ResizeWeighted(h, ((0, (2,)),), 1, *(Quant(1.0),) * 2, DType.S8, -128, 127, "single")
    ins = [TensorType((1, 3, 2, 1), DType.S8)]
    assert op.rows(0, ins, op.infer(ins)) == RowRule(taps=2, table=(0, 1, 1))


@pytest.mark.parametrize(
    ("h", "found"),
    [
        (((0, (1, 1)), (1, (2,))), "of one size"),
        (((2, (1, 1)),), "outside"),
        (((0, (1, 2)),), "come to"),
    ],
)
def test_windows_that_are_none_are_refused(h: tuple[Weights, ...], found: str) -> None:
    op = ResizeWeighted(h, ((0, (2,)),), 1, *(Quant(1.0),) * 2, DType.S8, -128, 127, "single")
    with pytest.raises(InputsDoNotFit, match=found):
        op.infer([TensorType((1, 3, 2, 1), DType.S8)])
