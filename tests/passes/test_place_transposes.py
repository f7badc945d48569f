"""Transposes go where they cost least: mostly nowhere."""

from __future__ import annotations

import numpy as np

from codegen.ir.quant import DType
from codegen.ops import (
    ArgExtremum,
    Broadcast,
    Concat,
    Extremum,
    Gather,
    LogSoftmax,
    Lut,
    Pad,
    PRelu,
    Reshape,
    Slice,
    Softmax,
    Transpose,
)
from codegen.passes import simplify
from codegen.passes.fuse_lut import fuse_lut
from codegen.passes.merge_transposes import merge_transposes
from codegen.passes.min_cut import SINK, SOURCE, min_cut
from codegen.passes.place_transposes import place_transposes
from tests.passes.build import NCHW, NHWC, Net, Q, assert_same, kinds, names, only


def test_min_cut_takes_the_cheapest_arcs() -> None:
    a, b = ("a",), ("b",)
    arcs = [(SOURCE, a, 3), (SOURCE, b, 2), (a, b, 1), (a, SINK, 2), (b, SINK, 9)]
    cost, side = min_cut(arcs)
    assert cost == 5
    assert side == {SOURCE} or sum(c for t, h, c in arcs if t in side and h not in side) == 5


def test_transposes_cancel_across_a_relu() -> None:
    net = Net()
    x = net.conv_nchw(net.nchw(net.input(1, 8, 8, 3)), 4)
    y = net.conv_nchw(net.lut(x, name="act"), 5)
    graph = net.output(net.nhwc(y))
    best = simplify(graph)
    assert kinds(best) == {"Conv2D": 2, "Lut": 1}
    act = next(v for v in best.values.values() if v.source == "act")
    assert act.perm == (0, 2, 3, 1)
    assert_same(graph, best)


def test_residual_with_relu_concat_slice_pad_gather_has_no_transpose_left() -> None:
    net = Net()
    x = net.conv_nchw(net.nchw(net.input(1, 8, 8, 3)), 6)
    left = net.conv_nchw(net.relu(x), 6)
    total = net.relu(net.add(left, x))
    part = net.op(Slice((0, 1, 0, 0), (1, 4, 8, 8), (1, 1, 1, 1)), total)
    picked = net.op(Gather(1, (3, 0, 0, 1)), total)
    both = net.op(Concat(1, (None, None), DType.S8, Q), part, picked)
    padded = net.op(Pad((0, 1, 0, 2), (0, 1, 1, 0), "edge", 0), both)
    graph = net.output(net.nhwc(net.conv_nchw(padded, 5)))
    best = simplify(graph)
    assert "Transpose" not in kinds(best)
    assert [node.op for node in only(best, Concat)] == [Concat(3, (None, None), DType.S8, Q)]
    assert [node.op for node in only(best, Pad)] == [Pad((0, 0, 2, 1), (0, 1, 0, 1), "edge", 0)]
    assert_same(graph, best)


def test_broadcast_constants_are_transposed() -> None:
    net = Net()
    x = net.conv_nchw(net.nchw(net.input(1, 8, 8, 3)), 6)
    scaled = net.mul(x, net.const(np.arange(6, dtype=np.int8).reshape(6, 1, 1)))
    moved = net.add(scaled, net.const(np.array(5, dtype=np.int8)))
    full = net.op(Broadcast((1, 6, 8, 8)), moved)
    graph = net.output(net.nhwc(net.conv_nchw(full, 5)))
    best = simplify(graph)
    assert "Transpose" not in kinds(best)
    assert "Reshape" not in kinds(best)
    assert_same(graph, best)


def test_slopes_maxima_and_functions_of_channels_have_no_transpose_left() -> None:
    net = Net()
    x = net.conv_nchw(net.nchw(net.input(1, 8, 8, 3)), 6)
    slopes = net.const(np.arange(-2, 4, dtype=np.int16).reshape(6, 1, 1))
    bent = net.op(PRelu(Q, Q, Q, DType.S8), x, slopes)
    most = net.op(Extremum(True, Q), bent, x)
    log = net.op(Transpose(NCHW), net.op(LogSoftmax(Q, Q, DType.S8, "single"), net.op(Transpose(NHWC), most)))
    found = net.op(ArgExtremum(True), net.op(Transpose(NHWC), net.conv_nchw(log, 5)))
    graph = net.output(found)
    best = simplify(graph)
    assert "Transpose" not in kinds(best)
    assert_same(graph, best)


def test_a_broadcast_gate_of_lower_rank_is_reshaped_not_moved() -> None:
    net = Net()
    x = net.conv_nchw(net.nchw(net.input(1, 8, 8, 3)), 6)
    gate = net.lut(net.input(6, 1, 1, name="gate"))
    graph = net.output(net.nhwc(net.conv_nchw(net.mul(x, gate), 5)))
    best = simplify(graph)
    assert "Transpose" not in kinds(best)
    assert_same(graph, best)


def test_softmax_over_another_axis_keeps_its_layout() -> None:
    net = Net()
    x = net.conv_nchw(net.nchw(net.input(1, 8, 8, 3)), 6)
    graph = net.output(net.op(Softmax(Q, Q, DType.S8, "single"), x))
    assert place_transposes(graph) is graph


def test_softmax_over_the_last_axis_follows_a_swap_of_others() -> None:
    net = Net()
    x = net.op(Transpose((0, 2, 1, 3)), net.input(1, 4, 5, 6))
    soft = net.op(Softmax(Q, Q, DType.S8, "single"), x)
    graph = net.output(net.op(Transpose((0, 2, 1, 3)), soft))
    assert kinds(simplify(graph)) == {"Softmax": 1}
    assert_same(graph, simplify(graph))


def test_among_equals_the_latest_place_wins() -> None:
    net = Net()
    x = net.nchw(net.conv(net.input(1, 8, 8, 3), 4))
    graph = net.output(net.op(Reshape((4, 64)), net.relu(x)))
    assert names(simplify(graph)) == ["Conv2D", "Transpose", "Reshape"]
    assert_same(graph, simplify(graph))


def test_one_transpose_does_not_become_two_of_its_parts() -> None:
    net = Net()
    x = net.nchw(net.conv(net.input(1, 8, 8, 3), 4))
    parts = [net.op(Slice((0, i, 0, 0), (1, 2, 8, 8), (1, 1, 1, 1)), x) for i in (0, 2)]
    graph = net.output(*(net.op(Reshape((2, 64)), net.lut(part)) for part in parts))
    assert kinds(simplify(graph))["Transpose"] == 1
    assert_same(graph, simplify(graph))


def test_the_small_side_is_transposed_when_one_must_be() -> None:
    net = Net()
    x = net.nchw(net.input(1, 8, 8, 4))
    small = net.op(Slice((0, 1, 0, 0), (1, 2, 8, 8), (1, 1, 1, 1)), x)
    graph = net.output(net.lut(small))
    best = simplify(graph)
    (moved,) = only(best, Transpose)
    assert best.type(moved.outputs[0]).bytes == 128
    assert_same(graph, best)


def test_an_output_in_the_middle_keeps_its_layout_and_value() -> None:
    net = Net()
    x = net.conv_nchw(net.nchw(net.input(1, 8, 8, 3)), 6)
    act = net.lut(x, name="act")
    graph = net.output(act, net.nhwc(net.conv_nchw(act, 5)))
    best = simplify(graph)
    assert best.outputs[0].value == "act"
    assert kinds(best)["Transpose"] == 1
    assert_same(graph, best)


def test_two_permutations_in_one_graph_are_both_placed() -> None:
    net = Net()
    x = net.lut(net.op(Transpose((0, 2, 1)), net.lut(net.input(2, 5, 7), 1)), 2)
    y = net.conv_nchw(net.nchw(net.input(1, 8, 8, 3, name="image")), 6)
    graph = net.output(net.op(Transpose((0, 2, 1)), x), net.nhwc(net.conv_nchw(net.lut(y, 3), 2)))
    best = simplify(graph)
    assert "Transpose" not in kinds(best)
    assert isinstance(only(best, Lut)[0].op, Lut)
    assert_same(graph, best)


def test_a_chain_of_transposes_and_tables_halves_with_every_round() -> None:
    net = Net()
    x = net.input(1, 4, 4, 4)
    for i in range(64):
        x = net.lut(net.nchw(x), seed=i)
    graph = net.output(x)
    rounds, now = 0, graph
    while len(only(now, Transpose)) > 1:
        now, rounds = fuse_lut(merge_transposes(place_transposes(now))), rounds + 1
    assert rounds <= 12
    best = simplify(graph)
    assert kinds(best) == {"Transpose": 1, "Lut": 1}
    assert_same(graph, best)


def test_a_chain_halves_with_every_round_behind_another_transpose() -> None:
    net = Net()
    x = net.nchw(net.input(1, 4, 4, 4))
    for i in range(64):
        x = net.op(Transpose((0, 1, 3, 2)), net.lut(x, seed=i))
    graph = net.output(x)
    rounds, now = 0, graph
    while len(only(now, Transpose)) > 1:
        now, rounds = fuse_lut(merge_transposes(place_transposes(now))), rounds + 1
    assert rounds <= 12
    assert_same(graph, simplify(graph))


def test_an_operator_between_transposes_that_also_reads_the_input_ends_in_one_layout() -> None:
    net = Net()
    x = net.input(1, 4, 4, 4)
    graph = net.output(net.nchw(net.mul(net.nchw(x), x)))
    best = simplify(graph)
    assert kinds(best)["Transpose"] <= 2
    assert_same(graph, best)
