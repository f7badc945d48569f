import numpy as np
import pytest

from codegen import ops
from codegen.errors import InputsDoNotFit
from codegen.ir.op import SAME_ROW, WHOLE, Op, RowRule
from codegen.ir.quant import MODES, Array, DType, Mode, Quant, TensorType
from tests.support.graphs import random_array

EVERY_DTYPE = tuple(DType)


def numbered(shape: tuple[int, ...], dtype: DType = DType.S16) -> Array:
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype.numpy)


def run(op: Op, x: Array) -> Array:
    """The result, after infer has agreed with it and the quantization has passed through."""
    (kind,) = op.infer([TensorType(x.shape, DType.of(x), Quant(0.5, 3))])
    (y,) = op.golden([x])
    assert (y.shape, y.dtype, kind.quant) == (kind.shape, kind.dtype.numpy, Quant(0.5, 3))
    assert y.flags.c_contiguous
    return y


def rule(op: Op, shape: tuple[int, ...]) -> RowRule:
    ins = [TensorType(shape, DType.S8)]
    return op.rows(0, ins, op.infer(ins))


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_reshape_keeps_memory_order(dtype: DType) -> None:
    x = random_array(np.random.default_rng(0), (2, 3, 4), dtype)
    assert run(ops.Reshape((4, 6)), x).ravel().tolist() == x.ravel().tolist()


def test_reshape_keeps_rows_when_their_number_stays() -> None:
    assert rule(ops.Reshape((1, 4, 6)), (1, 4, 3, 2)) == WHOLE
    assert rule(ops.Reshape((4, 3, 2)), (1, 4, 3, 2)) == SAME_ROW
    assert rule(ops.Reshape((1, 24)), (1, 1, 1, 24)) == SAME_ROW


@pytest.mark.parametrize("perm", [(0, 3, 1, 2), (0, 2, 3, 1), (0, 1, 3, 2), (3, 2, 1, 0)])
def test_transpose_moves_each_element(perm: tuple[int, ...]) -> None:
    x = numbered((2, 3, 4, 5))
    y = run(ops.Transpose(perm), x)
    for index in np.ndindex(*y.shape):
        source = [0] * 4
        for axis, i in zip(perm, index, strict=True):
            source[axis] = i
        assert y[index] == x[tuple(source)]


def test_transpose_is_row_by_row_only_within_rows() -> None:
    assert rule(ops.Transpose((0, 1, 3, 2)), (1, 3, 4, 5)) == SAME_ROW
    assert rule(ops.Transpose((0, 2, 1, 3)), (1, 3, 4, 5)) == WHOLE
    assert rule(ops.Transpose((1, 0)), (3, 4)) == SAME_ROW
    assert rule(ops.Transpose((0,)), (3,)) == SAME_ROW


SLICES = (
    ((0, 1, 0, 2), (1, 3, 4, 2), (1, 2, 1, 1), RowRule(mul=2, pad=-1)),
    ((0, 6, 3, 0), (1, 4, 2, 3), (1, -2, -1, 2), RowRule(table=(6, 4, 2, 0))),
    ((0, 2, 0, 0), (1, 5, 4, 5), (1, 1, 1, 1), RowRule(pad=-2)),
    ((0, 0, 1, 1), (1, 7, 2, 2), (1, 1, 2, 3), SAME_ROW),
)


@pytest.mark.parametrize(("starts", "sizes", "steps", "expected"), SLICES)
def test_slice_picks_by_position(
    starts: tuple[int, ...], sizes: tuple[int, ...], steps: tuple[int, ...], expected: RowRule
) -> None:
    x = numbered((1, 7, 4, 5))
    op = ops.Slice(starts, sizes, steps)
    y = run(op, x)
    for index in np.ndindex(*y.shape):
        assert y[index] == x[tuple(s + i * d for s, i, d in zip(starts, index, steps, strict=True))]
    assert rule(op, x.shape) == expected


@pytest.mark.parametrize("starts", [(8,), (-1,), (5,)])
def test_slice_beyond_an_axis_is_refused(starts: tuple[int, ...]) -> None:
    with pytest.raises(InputsDoNotFit):
        ops.Slice(starts, (4,), (1,)).infer([TensorType((8,), DType.S8)])


@pytest.mark.parametrize(
    ("axis", "indices", "expected"),
    [
        (1, (3, 0, 0), RowRule(table=(3, 0, 0))),
        (1, (0, 2, 4), RowRule(mul=2, pad=0)),
        (2, (1,), SAME_ROW),
        (3, (2, 2, 0, 1), SAME_ROW),
    ],
)
def test_gather_picks_along_one_axis(axis: int, indices: tuple[int, ...], expected: RowRule) -> None:
    x = numbered((1, 5, 2, 3))
    y = run(ops.Gather(axis, indices), x)
    for position, source in enumerate(indices):
        assert np.array_equal(np.take(y, position, axis), np.take(x, source, axis))
    assert rule(ops.Gather(axis, indices), x.shape) == expected


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_pad_surrounds_the_input(mode: str) -> None:
    x = numbered((1, 4, 3, 2), DType.S8)
    before, after = (0, 2, 1, 0), (0, 1, 2, 1)
    y = run(ops.Pad(before, after, mode, -7), x)  # type: ignore[arg-type]
    for index in np.ndindex(*y.shape):
        source = tuple(i - b for i, b in zip(index, before, strict=True))
        inner = all(0 <= i < n for i, n in zip(source, x.shape, strict=True))
        if mode == "constant":
            assert y[index] == (x[source] if inner else -7)
            continue
        last = [n - 1 for n in x.shape]
        if mode == "edge":
            picked = tuple(min(max(i, 0), m) for i, m in zip(source, last, strict=True))
        else:
            picked = tuple(m - abs(m - abs(i)) for i, m in zip(source, last, strict=True))
        assert y[index] == x[picked]


def test_pad_rows_follow_the_mode() -> None:
    x = (1, 4, 3, 2)
    pads = (0, 2, 0, 0), (0, 1, 0, 0)
    assert rule(ops.Pad(*pads, "constant", 5), x) == RowRule(pad=2, fill=5)
    assert rule(ops.Pad(*pads, "edge", 0), x) == RowRule(table=(0, 0, 0, 1, 2, 3, 3))
    assert rule(ops.Pad(*pads, "reflect", 0), x) == RowRule(table=(2, 1, 0, 1, 2, 3, 2))
    assert rule(ops.Pad((1, 0, 0), (0, 0, 2), "constant", 5), (2, 3, 4)) == RowRule(pad=1, fill=5)
    outer = rule(ops.Pad((1, 0, 0, 0), (0, 1, 0, 0), "constant", 5), (1, 2, 3, 4))
    assert outer == RowRule(table=(-1, -1, -1, 0, 1, -1), fill=5)


def test_pad_longer_than_its_mirror_is_refused() -> None:
    with pytest.raises(InputsDoNotFit, match="shorter"):
        ops.Pad((3,), (0,), "reflect", 0).infer([TensorType((3,), DType.S8)])


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space_spreads_channels(mode: str) -> None:
    x = numbered((2, 2, 3, 12))
    y = run(ops.DepthToSpace(2, mode), x)  # type: ignore[arg-type]
    for n, h, w, c in np.ndindex(*y.shape):
        i, j = h % 2, w % 2
        k = (i * 2 + j) * 3 + c if mode == "DCR" else c * 4 + i * 2 + j
        assert y[n, h, w, c] == x[n, h // 2, w // 2, k]


def test_space_to_depth_undoes_depth_to_space() -> None:
    x = numbered((1, 6, 4, 3))
    y = run(ops.SpaceToDepth(2), x)
    assert np.array_equal(run(ops.DepthToSpace(2, "DCR"), y), x)
    assert rule(ops.SpaceToDepth(2), x.shape) == RowRule(taps=2, mul=2)
    with pytest.raises(InputsDoNotFit):
        ops.SpaceToDepth(4).infer([TensorType((1, 6, 4, 3), DType.S8)])


def test_nearest_resize_picks_rows_and_columns() -> None:
    x = numbered((1, 3, 4, 2))
    op = ops.ResizeNearest((0, 0, 1, 1, 2, 2), (3, 1, 0))
    y = run(op, x)
    for n, h, w, c in np.ndindex(*y.shape):
        assert y[n, h, w, c] == x[n, op.h_index[h], op.w_index[w], c]
    assert rule(op, x.shape) == RowRule(div=2)
    assert rule(ops.ResizeNearest((0, 2, 1), (0,)), x.shape) == RowRule(table=(0, 2, 1))


def test_broadcast_repeats() -> None:
    x = numbered((3, 1))
    assert np.array_equal(run(ops.Broadcast((2, 3, 4)), x), np.broadcast_to(x, (2, 3, 4)))
    assert rule(ops.Broadcast((2, 3, 4)), (3, 1)) == RowRule(table=(0, 0))
    with pytest.raises(InputsDoNotFit):
        ops.Broadcast((2, 4)).infer([TensorType((3, 4), DType.S8)])


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
@pytest.mark.parametrize("mode", MODES)
def test_concat_joins_and_rescales(axis: int, mode: Mode) -> None:
    rng = np.random.default_rng(axis)
    shapes = [tuple(2 + i if a == axis else 3 for a in range(4)) for i in range(3)]
    y_quant, other = Quant(0.5, 3), Quant(0.125, -9)
    table = ops.requantize_table(other, DType.U8, y_quant, DType.S8, mode)
    xs = [random_array(rng, s, d) for s, d in zip(shapes, (DType.S8, DType.U8, DType.S8), strict=True)]
    op = ops.Concat(axis, (None, table, None), DType.S8, y_quant)
    ins = [TensorType(x.shape, DType.of(x)) for x in xs]
    (kind,) = op.infer(ins)
    (y,) = op.golden(xs)
    middle = np.array([table[int(v)] for v in xs[1].ravel()]).reshape(shapes[1])
    assert np.array_equal(y, np.concatenate([xs[0], middle, xs[2]], axis=axis))
    assert (y.shape, y.dtype) == (kind.shape, np.int8)
    rule = op.rows(1, ins, [kind])
    if axis >= 2:
        assert rule == SAME_ROW
    else:
        own = np.arange(shapes[1][0] * shapes[1][1]).reshape(shapes[1][:2])
        rows = np.full(shapes[0][:2], -1), own, np.full(shapes[2][:2], -1)
        assert [rule.first(r) for r in range(y.shape[0] * y.shape[1])] == np.concatenate(rows, axis).ravel().tolist()


def test_concat_of_unlike_shapes_is_refused() -> None:
    ins = [TensorType((2, 3), DType.S8), TensorType((3, 3), DType.S8)]
    with pytest.raises(InputsDoNotFit, match="differ beyond axis 1"):
        ops.Concat(1, (None, None), DType.S8, None).infer(ins)


@pytest.mark.parametrize("start", [(0, 0, 0), (1, 2, 3), (-5, 1, 9), (2**31 - 1, -(2**31), 0)])
@pytest.mark.parametrize("box", [(1, 1, 1), (2, 3, 1), (1, 4, 5), (3, 4, 5)])
def test_update_puts_a_box_where_it_fits(start: tuple[int, ...], box: tuple[int, ...]) -> None:
    x, part = numbered((3, 4, 5)), -numbered(box) - 1
    (y,) = ops.Update().golden([x, part, np.array(start, np.int32)])
    for at in np.ndindex(x.shape):
        inside = [p - min(max(s, 0), n - m) for p, s, n, m in zip(at, start, x.shape, box, strict=True)]
        found = part[tuple(inside)] if all(0 <= i < m for i, m in zip(inside, box, strict=True)) else x[at]
        assert y[at] == found


def test_update_has_the_tensors_type_and_may_lie_upon_it() -> None:
    x, box, start = (
        TensorType((4, 6), DType.S8, Quant(0.5, 3)),
        TensorType((1, 6), DType.S8),
        TensorType((2,), DType.S32),
    )
    assert ops.Update().infer([x, box, start]) == (x,)
    assert [ops.Update().in_place(i, [x, box, start], [x]) for i in range(3)] == [True, False, False]
