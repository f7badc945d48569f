from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from codegen.errors import InputsDoNotFit, OperatorLimit
from codegen.ir.quant import MODES, Array, DType, Mode, Quant, TensorType
from codegen.ir.shape import Window
from codegen.ops import ConvTranspose2D, check_limits
from tests.support.graphs import random_array, spread_requant
from tests.unit.ops import plain

# shape of x, outputs, groups, (kernel, stride, dilation, pads) of rows and of columns, output padding
GEOMETRIES = (
    ((1, 5, 4, 3), 4, 1, Window(3, 1, 1, 1, 1), Window(3, 2, 1, 1, 1), (0, 1)),
    ((1, 4, 3, 2), 3, 1, Window(2, 2), Window(2, 2), (0, 0)),
    ((2, 3, 4, 4), 6, 2, Window(4, 2, 1, 1, 1), Window(3, 3, 1, 0, 2), (1, 2)),
    ((1, 4, 5, 4), 4, 4, Window(3, 2, 1, 1, 0), Window(4, 2, 1, 2, 1), (0, 0)),
    ((1, 3, 3, 3), 6, 3, Window(3, 2, 2, 2, 1), Window(3, 2, 3, 2, 2), (1, 0)),
    ((1, 1, 1, 1), 1, 1, Window(1), Window(1), (0, 0)),
    ((1, 3, 2, 2), 2, 1, Window(1, 3), Window(2, 4), (2, 3)),
    ((1, 4, 3, 1), 2, 1, Window(5, 2, 1, 4, 3), Window(3, 1, 2, 4, 0), (0, 1)),
)


def case(geometry: int, dtype: DType, mode: Mode | None) -> tuple[ConvTranspose2D, list[Array]]:
    shape, outputs, groups, h, w, extra = GEOMETRIES[geometry]
    rng = np.random.default_rng(geometry)
    weights = random_array(rng, (outputs, h.size, w.size, shape[3] // groups), DType.S8)
    bias = rng.integers(-2000, 2000, outputs).astype(np.int32)
    requant = None if mode is None else spread_requant(mode, weights, DType.S8, 11, channels=geometry % 2 == 0)
    op = ConvTranspose2D(h, w, extra, groups, dtype.low // 2 + 37, requant, DType.S8, Quant(1.0, 11))
    return op, [random_array(rng, shape, dtype), weights, bias]


@pytest.mark.parametrize("geometry", range(len(GEOMETRIES)))
@pytest.mark.parametrize("dtype", [DType.S8, DType.U8])
@pytest.mark.parametrize("mode", [*MODES, None])
def test_transposed_convolution_equals_loops(geometry: int, dtype: DType, mode: Mode | None) -> None:
    op, ins = case(geometry, dtype, mode)
    acc = plain.conv_transpose(*ins, op.h, op.w, op.output_padding, op.groups, op.x_zero_point)
    (y,) = op.golden(ins)
    if op.requant is None:
        assert np.array_equal(y, acc.astype(np.int64))
    else:
        assert np.array_equal(y, plain.requantized(op.requant, acc, DType.S8))


def test_sums_beyond_24_bits_are_exact() -> None:
    x = np.full((1, 2, 2, 500), -128, np.int8)
    w = np.full((1, 2, 2, 500), 127, np.int8)
    op = ConvTranspose2D(Window(2, 1), Window(2, 1), (0, 0), 1, 127, None, DType.S32, None)
    (y,) = op.golden([x, w, np.ones(1, np.int32)])
    assert int(y[0, 1, 1, 0]) == 4 * 500 * 127 * (-128 - 127) + 1


def test_rows_without_a_tap_read_nothing() -> None:
    op = ConvTranspose2D(Window(1, 3), Window(1), (0, 0), 1, 0, None, DType.S32, None)
    ins = [TensorType((1, 3, 1, 1), DType.S8), TensorType((1, 1, 1, 1), DType.S8), TensorType((1,), DType.S32)]
    rule = op.rows(0, ins, op.infer(ins))
    assert [[at for at in range(3) if rule.first(r) == at] for r in range(7)] == [[0], [], [], [1], [], [], [2]]


def test_what_does_not_fit_is_refused() -> None:
    op, ins = case(0, DType.S8, "single")
    types = [TensorType(a.shape, DType.of(a)) for a in ins]
    with pytest.raises(InputsDoNotFit):
        op.infer([replace(types[0], shape=(1, 5, 4, 2)), *types[1:]])
    with pytest.raises(InputsDoNotFit):
        replace(op, h=Window(3, 1, 1, 9, 9)).infer(types)
    with pytest.raises(OperatorLimit, match="LAM-OPS-CONV-07"):
        check_limits(replace(op, output_padding=(1, 0)), types)
