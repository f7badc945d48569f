"""Chains of reorderings: merged, shared, dropped."""

from __future__ import annotations

import numpy as np

from codegen.ops import Lut, Reshape, Transpose
from codegen.passes import simplify
from codegen.passes.drop_dead import drop_dead
from codegen.passes.fold_constants import fold_constants
from codegen.passes.merge_duplicates import merge_duplicates
from codegen.passes.merge_transposes import merge_transposes
from codegen.passes.sink_reshapes import sink_reshapes
from codegen.passes.trace_sources import trace_sources
from tests.passes.build import NCHW, NHWC, Net, assert_same, names, only


def test_two_transposes_that_undo_each_other_vanish() -> None:
    net = Net()
    x = net.lut(net.input(1, 4, 5, 6))
    graph = net.output(net.lut(net.nhwc(net.nchw(x))))
    merged = merge_transposes(merge_transposes(graph))
    assert names(merged) == ["Lut", "Lut"]
    assert_same(graph, merged)


def test_two_transposes_become_one() -> None:
    net = Net()
    graph = net.output(net.nchw(net.nchw(net.input(1, 4, 5, 6))))
    merged = merge_transposes(graph)
    assert [node.op for node in merged.nodes] == [Transpose((0, 2, 3, 1))]
    assert_same(graph, merged)


def test_the_first_of_two_transposes_stays_when_it_is_read_elsewhere() -> None:
    net = Net()
    first = net.nchw(net.input(1, 4, 5, 6))
    graph = net.output(net.lut(first), net.nchw(first))
    assert merge_transposes(graph) is graph


def test_a_transpose_of_unit_axes_is_a_reshape() -> None:
    net = Net()
    graph = net.output(net.nchw(net.input(1, 1, 1, 6)))
    assert [node.op for node in merge_transposes(graph).nodes] == [Reshape((1, 6, 1, 1))]


def test_adjacent_reshapes_merge_and_identities_go() -> None:
    net = Net()
    x = net.lut(net.input(4, 6))
    y = net.op(Reshape((4, 6)), net.op(Reshape((4, 6)), net.op(Reshape((2, 12)), x)))
    graph = net.output(net.lut(y))
    merged = merge_transposes(merge_transposes(graph))
    assert names(merged) == ["Lut", "Lut"]
    assert_same(graph, merged)


def test_an_identity_stays_between_an_input_and_an_output() -> None:
    net = Net()
    graph = net.output(net.nhwc(net.nchw(net.input(1, 4, 5, 6))))
    merged = graph
    for _ in range(5):
        merged = merge_transposes(merged)
    assert names(merged) == ["Reshape"]
    assert_same(graph, merged)


def test_an_output_moves_to_the_value_before_the_transposes() -> None:
    net = Net()
    made = net.lut(net.input(1, 4, 5, 6), name="made")
    graph = net.output(net.nhwc(net.nchw(made), name="y"))
    merged = merge_transposes(merge_transposes(graph))
    assert [(o.value, o.name) for o in merged.outputs] == [("made", "out.y")]
    assert_same(graph, merged)


def test_one_tensor_given_out_twice_stays_two() -> None:
    net = Net()
    x = net.lut(net.input(4, 6))
    graph = net.output(x, net.op(Reshape((4, 6)), x), net.op(Reshape((4, 6)), x))
    best = simplify(graph)
    assert names(best) == ["Lut", "Reshape", "Reshape"]
    assert_same(graph, best)


def test_equal_transposes_of_one_value_are_shared() -> None:
    net = Net()
    x = net.input(1, 4, 5, 6)
    graph = net.output(net.lut(net.nchw(x), 1), net.lut(net.nchw(x), 2), net.lut(net.nhwc(x), 3))
    merged = merge_duplicates(graph)
    assert [node.op for node in only(merged, Transpose)] == [Transpose(NCHW), Transpose(NHWC)]
    assert_same(graph, merged)


def test_dead_nodes_and_values_are_dropped() -> None:
    net = Net()
    x = net.input(4, 6)
    net.lut(net.lut(x, name="unread.1"), name="unread.2")
    graph = net.output(net.lut(x, name="y"))
    dropped = drop_dead(graph)
    assert sorted(dropped.values) == ["x", "y"]
    assert drop_dead(dropped) is dropped


def test_operators_on_constants_are_computed() -> None:
    net = Net()
    c = net.op(Transpose((1, 0)), net.const(np.arange(6, dtype=np.int8).reshape(3, 2)), name="turned")
    graph = net.output(net.add(net.input(2, 3), c))
    folded = fold_constants(graph)
    assert names(folded) == ["Add"]
    np.testing.assert_array_equal(folded.values["turned"].data, np.arange(6, dtype=np.int8).reshape(3, 2).T)
    assert_same(graph, folded)


def test_a_constant_network_output_keeps_its_node() -> None:
    net = Net()
    net.input(2, 3)
    graph = net.output(net.lut(net.const(np.arange(6, dtype=np.int8))))
    assert fold_constants(graph) is graph


def test_the_nhwc_twin_stands_for_the_models_tensor() -> None:
    net = Net()
    x = net.nchw(net.conv(net.input(1, 8, 8, 3), 4, name="raw"), name="model")
    graph = trace_sources(net.output(net.op(Lut(tuple(range(-128, 128)), net.type(x).dtype, None, "same"), x)))
    raw = graph.values["raw"]
    assert (raw.source, raw.perm) == ("model", NHWC)
    assert_same(graph, graph)


def test_a_reshape_passes_a_chain_in_one_go() -> None:
    net = Net()
    x = net.op(Reshape((4, 8)), net.input(4, 2, 4))
    for i in range(12):
        x = net.lut(x, seed=i)
    graph = net.output(x)
    once = sink_reshapes(graph)
    assert [type(node.op) for node in once.nodes] == [*[Lut] * 12, Reshape]
    assert sink_reshapes(once) is once
    assert_same(graph, once)
