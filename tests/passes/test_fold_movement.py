"""Chains of data movement are judged by their effect."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.op import Op
from codegen.ops import Gather, Reshape, Slice, Transpose
from codegen.passes import simplify
from codegen.passes.fold_movement import fold_movement
from codegen.passes.movement import positions, simplest
from tests.passes.build import NCHW, Net, assert_same, kinds, names, only


@pytest.mark.parametrize(
    ("shape", "chain", "found"),
    [
        ((2, 3, 4), (Transpose((1, 0, 2)), Transpose((1, 0, 2))), ()),
        ((2, 3, 4), (Reshape((6, 4)), Reshape((24,))), (Reshape((24,)),)),
        ((2, 3, 4), (Reshape((6, 4)), Transpose((1, 0)), Transpose((1, 0)), Reshape((2, 3, 4))), ()),
        ((6,), (Slice((1,), (4,), (1,)), Slice((1,), (2,), (2,))), (Slice((2,), (2,), (2,)),)),
        ((6,), (Slice((5,), (6,), (-1,)), Slice((5,), (6,), (-1,))), ()),
        ((6, 2), (Gather(0, (1, 3, 5)),), (Slice((1, 0), (3, 2), (2, 1)),)),
        ((6, 2), (Gather(0, (1, 3, 4)), Gather(1, (0,))), None),
        ((6, 2), (Gather(0, (1, 3, 4)), Gather(0, (2, 0))), (Slice((4, 0), (2, 2), (-3, 1)),)),
        ((6, 2), (Gather(0, (1, 1, 0)),), (Gather(0, (1, 1, 0)),)),
        ((6, 2), (Gather(0, (1, 1)),), None),
        ((1, 4, 1, 5), (Reshape((4, 5)), Transpose((1, 0)), Reshape((1, 1, 5, 4))), (Transpose((0, 2, 3, 1)),)),
        ((1, 8, 3, 3), (Reshape((1, 2, 4, 3, 3)), Transpose((0, 2, 1, 3, 4)), Reshape((1, 8, 3, 3))),
         (Gather(1, (0, 4, 1, 5, 2, 6, 3, 7)),)),
        ((1, 8, 3, 3), (Reshape((1, 4, 2, 3, 3)), Gather(2, (1,)), Reshape((1, 4, 3, 3))),
         (Slice((0, 1, 0, 0), (1, 4, 3, 3), (1, 2, 1, 1)),)),
        ((4, 6), (Slice((0, 2), (4, 1), (1, 1)), Reshape((4,))), (Slice((0, 2), (4, 1), (1, 1)), Reshape((4,)))),
        ((4,), (Slice((2,), (1,), (1,)), Reshape(())), (Slice((2,), (1,), (1,)), Reshape(()))),
    ],
)  # fmt: skip
def test_the_simplest_equal(shape: tuple[int, ...], chain: tuple[Op, ...], found: tuple[Op, ...] | None) -> None:
    index = positions(shape, chain)
    assert simplest(shape, index) == found
    if found is not None:
        np.testing.assert_array_equal(positions(shape, found), index, strict=True)


def test_a_shuffle_of_channels_in_nhwc_is_a_slice_of_channels() -> None:
    net = Net()
    x = net.nchw(net.conv(net.input(1, 6, 6, 3), 8))
    pairs = net.op(Reshape((1, 4, 2, 6, 6)), x)
    halves = [net.op(Reshape((1, 4, 6, 6)), net.op(Gather(2, (i,)), pairs)) for i in (0, 1)]
    graph = net.output(*(net.nhwc(net.conv_nchw(half, 5)) for half in halves))
    best = simplify(graph)
    assert kinds(best) == {"Conv2D": 3, "Slice": 2}
    assert [n.op for n in only(best, Slice)] == [Slice((0, 0, 0, i), (1, 6, 6, 4), (1, 1, 1, 2)) for i in (0, 1)]
    assert_same(graph, best)


def test_a_torch_shuffle_and_split_is_two_slices() -> None:
    net = Net()
    x = net.nchw(net.conv(net.input(1, 6, 6, 3), 8))
    grouped = net.op(Transpose((0, 2, 1, 3, 4)), net.op(Reshape((1, 2, 4, 6, 6)), x))
    mixed = net.op(Reshape((1, 8, 6, 6)), grouped)
    halves = [net.op(Slice((0, start, 0, 0), (1, 4, 6, 6), (1, 1, 1, 1)), mixed) for start in (0, 4)]
    graph = net.output(*(net.nhwc(net.conv_nchw(net.relu(half), 5)) for half in halves))
    best = simplify(graph)
    assert "Transpose" not in kinds(best)
    assert "Reshape" not in kinds(best)
    assert kinds(best)["Gather"] + kinds(best)["Slice"] == 2
    assert_same(graph, best)


def test_a_chain_that_saves_nothing_stays() -> None:
    net = Net()
    x = net.input(1, 6, 6, 4)
    graph = net.output(net.op(Reshape((4, 36)), net.op(Transpose(NCHW), x)))
    assert fold_movement(graph) is graph


def test_a_slice_that_is_read_elsewhere_is_not_run_twice() -> None:
    net = Net()
    part = net.op(Slice((2, 0), (3, 4), (1, 1)), net.input(6, 4))
    graph = net.output(net.lut(part), net.op(Reshape((12,)), part))
    assert fold_movement(graph) is graph


def test_too_large_tensors_are_left_alone() -> None:
    net = Net()
    x = net.input(1 << 12, (1 << 10) + 1)
    graph = net.output(net.op(Slice((0, 0), (5, 5), (1, 1)), net.op(Slice((0, 0), (9, 9), (1, 1)), x)))
    assert fold_movement(graph) is graph


def test_whole_slices_vanish() -> None:
    net = Net()
    x = net.lut(net.input(6, 4))
    graph = net.output(net.lut(net.op(Slice((0, 0), (6, 4), (1, 1)), net.op(Gather(0, tuple(range(6))), x)), 1))
    assert names(simplify(graph)) == ["Lut"]
    assert_same(graph, simplify(graph))


def test_reshapes_sink_below_elementwise_operators_and_cancel() -> None:
    net = Net()
    x = net.conv_nchw(net.nchw(net.input(1, 1, 16, 3)), 6)
    line = net.relu(net.op(Reshape((1, 6, 16)), x))
    total = net.add(line, net.const(np.array([7], dtype=np.int8)))
    graph = net.output(net.nhwc(net.conv_nchw(net.op(Reshape((1, 6, 1, 16)), total), 4)))
    best = simplify(graph)
    assert kinds(best) == {"Conv2D": 2, "Add": 1}
    assert_same(graph, best)


def test_a_reshape_with_other_readers_does_not_sink() -> None:
    net = Net()
    flat = net.op(Reshape((24,)), net.input(4, 6))
    graph = net.output(flat, net.lut(flat))
    assert names(simplify(graph)) == ["Reshape", "Lut"]


def test_flattening_nchw_reorders_the_dense_weights() -> None:
    net = Net()
    x = net.nchw(net.conv(net.input(1, 6, 6, 3), 8))
    graph = net.output(net.dense(net.op(Reshape((1, 288)), x), 10))
    best = simplify(graph)
    assert names(best) == ["Conv2D", "Reshape", "Dense"]
    assert_same(graph, best)


def test_rows_that_differ_keep_their_transpose() -> None:
    net = Net()
    x = net.op(Transpose((1, 0)), net.input(8, 6))
    graph = net.output(net.dense(x, 10))
    assert names(simplify(graph)) == ["Transpose", "Dense"]


def test_two_outputs_of_one_tensor_stay_two() -> None:
    net = Net()
    x = net.lut(net.input(6, 4))
    graph = net.output(*(net.op(Gather(0, tuple(range(6))), x) for _ in range(2)))
    best = simplify(graph)
    assert names(best) == ["Lut", "Reshape"]
    assert len(best.output_values) == 2
    assert_same(graph, best)
