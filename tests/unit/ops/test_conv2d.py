from dataclasses import replace

import numpy as np
import pytest

from codegen.errors import InputsDoNotFit, OperatorLimit
from codegen.ir.quant import MODES, Array, DType, Mode, Quant, TensorType
from codegen.ir.shape import Window
from codegen.ops import Conv2D, accumulator_bound, check_limits, needs_int64
from codegen.ops.accumulator import exact_dtype
from codegen.ops.conv2d import convolve
from tests.support.graphs import random_array, spread_requant
from tests.unit.ops import plain

# shape of x, outputs, groups, (kernel, stride, dilation, pads) of rows and of columns
GEOMETRIES = (
    ((1, 5, 4, 3), 4, 1, Window(3, 1, 1, 1, 1), Window(3, 1, 1, 1, 1)),
    ((1, 7, 9, 2), 3, 1, Window(3, 2, 1, 0, 1), Window(2, 3, 1, 1, 0)),
    ((2, 6, 6, 4), 6, 2, Window(2, 1, 2, 2, 1), Window(3, 2, 1, 0, 2)),
    ((1, 6, 5, 4), 4, 4, Window(3, 1, 1, 1, 1), Window(3, 1, 1, 1, 1)),
    ((1, 6, 5, 3), 6, 3, Window(3, 2, 2, 2, 2), Window(1, 1, 1, 0, 0)),
    ((1, 1, 1, 1), 1, 1, Window(1), Window(1)),
    ((1, 4, 3, 5), 7, 1, Window(1), Window(1)),
    ((1, 8, 3, 2), 2, 2, Window(5, 4, 1, 4, 4), Window(3, 1, 1, 2, 2)),
    ((1, 3, 3, 1), 5, 1, Window(3, 5, 1, 3, 3), Window(2, 4, 1, 0, 3)),
)
FILLS = ("random", "low", "high")


def filled(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType, fill: str) -> Array:
    if fill == "random":
        return random_array(rng, shape, dtype)
    return np.full(shape, dtype.low if fill == "low" else dtype.high, dtype.numpy)


def case(geometry: int, fill: str, dtype: DType, mode: Mode | None) -> tuple[Conv2D, list[Array]]:
    shape, outputs, groups, h, w = GEOMETRIES[geometry]
    rng = np.random.default_rng(geometry)
    weights = filled(rng, (outputs, h.size, w.size, shape[3] // groups), DType.S8, fill)
    bias = rng.integers(-2000, 2000, outputs).astype(np.int32)
    requant = None if mode is None else spread_requant(mode, weights, DType.S8, 11, channels=geometry % 2 == 0)
    x = filled(rng, shape, dtype, fill)
    return Conv2D(h, w, groups, dtype.low // 2 + 37, requant, DType.S8, Quant(1.0, 11)), [x, weights, bias]


@pytest.mark.parametrize("geometry", range(len(GEOMETRIES)))
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("dtype", [DType.S8, DType.U8])
@pytest.mark.parametrize("mode", [*MODES, None])
def test_convolution_equals_loops(geometry: int, fill: str, dtype: DType, mode: Mode | None) -> None:
    op, ins = case(geometry, fill, dtype, mode)
    acc = plain.conv(*ins, op.h, op.w, op.groups, op.x_zero_point)
    (y,) = op.golden(ins)
    if op.requant is None:
        assert y.dtype == np.int32
        assert np.array_equal(y, acc.astype(np.int64))
    else:
        assert np.array_equal(y, plain.requantized(op.requant, acc, DType.S8))


@pytest.mark.parametrize("geometry", [0, 2, 3, 4])
def test_sixteen_bit_sums_are_exact(geometry: int) -> None:
    shape, outputs, groups, h, w = GEOMETRIES[geometry]
    rng = np.random.default_rng(5)
    weights = filled(rng, (outputs, h.size, w.size, shape[3] // groups), DType.S16, "high")
    weights[..., ::2] -= 1
    x, bias = filled(rng, shape, DType.S16, "low"), np.zeros(outputs, np.int32)
    x[:, ::2] += 1
    acc = plain.conv(x, weights, bias, h, w, groups, 0)
    assert np.array_equal(convolve(x, weights, h, w, groups, 0), acc.astype(np.int64))


def test_blocks_of_rows_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    op, ins = case(0, "random", DType.S8, "single")
    whole = op.golden(ins)[0]
    monkeypatch.setattr("codegen.ops.conv2d._BLOCK", 1)
    assert np.array_equal(op.golden(ins)[0], whole)


@pytest.mark.parametrize("geometry", range(len(GEOMETRIES)))
def test_padding_rows_hold_the_zero_point(geometry: int) -> None:
    op, (x, w, b) = case(geometry, "random", DType.U8, "single")
    pads = ((0, 0), (op.h.pad_before, op.h.pad_after), (0, 0), (0, 0))
    grown = np.pad(x, pads, constant_values=op.x_zero_point)
    bare = replace(op, h=Window(op.h.size, op.h.stride, op.h.dilation))
    assert np.array_equal(op.golden([x, w, b])[0], bare.golden([grown, w, b])[0])


def test_accumulator_bound_covers_every_partial_sum() -> None:
    rng = np.random.default_rng(7)
    w, b = random_array(rng, (6, 3, 3, 4), DType.S8), rng.integers(-(10**6), 10**6, 6).astype(np.int32)
    bound = accumulator_bound(w, b, 0, 255, 128)
    folded = b - 128 * w.reshape(6, -1).sum(axis=1, dtype=np.int64)
    for o in range(6):
        steps = w[o].ravel().astype(np.int64) * rng.choice([0, 255], w[o].size)
        assert np.abs(folded[o] + np.concatenate([[0], np.cumsum(steps)])).max() <= bound
    assert not needs_int64(w, b, 0, 255, 128)
    assert needs_int64(w, np.full(6, 2**31 - 1, np.int32), 0, 255, 128)


@pytest.mark.parametrize("channels", [600, 901])
def test_sums_stay_exact_where_the_zero_point_doubles_the_reach(channels: int) -> None:
    """Odd sums above 2^24 in magnitude, where the integers alone, without the zero point, would stay below it."""
    w = np.full((1, 1, 1, channels), 127, np.int8)
    x = np.full((1, 1, 1, channels), -128, np.int8)
    x[..., 0] = -127
    (y,) = Conv2D(Window(1), Window(1), 1, 127, None, DType.S32, None).golden([x, w, np.zeros(1, np.int32)])
    assert y.item() == 127 * (-255 * channels + 1)


def test_exact_type_follows_the_bound() -> None:
    assert exact_dtype(2**24 - 1) == np.float32
    assert exact_dtype(2**24) == np.float64
    assert exact_dtype(2**53) == np.int64


def test_weights_that_do_not_match_are_refused() -> None:
    op, ins = case(0, "random", DType.S8, "single")
    types = [TensorType(a.shape, DType.of(a)) for a in ins]
    wrong = TensorType((4, 3, 3, 2), DType.S8)
    with pytest.raises(InputsDoNotFit, match="LAM-OPS-001 Conv2D"):
        op.infer([types[0], wrong, types[2]])
    with pytest.raises(InputsDoNotFit, match="does not fit"):
        Conv2D(Window(9), op.w, 1, 0, None, DType.S32, None).infer(
            [types[0], TensorType((4, 9, 3, 3), DType.S8), types[2]]
        )


def test_a_batch_is_beyond_the_limits() -> None:
    op, ins = case(2, "random", DType.S8, "single")
    with pytest.raises(OperatorLimit, match=r"LAM-OPS-CONV-01 conv_7: Conv2D: the batch size must be 1"):
        check_limits(op, [TensorType(a.shape, DType.of(a)) for a in ins], "conv_7")
