"""Weights that only ever see padding go, and every number stays."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import DType
from codegen.ir.shape import Span, Window
from codegen.ops import Conv2D
from codegen.passes import simplify
from codegen.passes.drop_taps import drop_taps
from tests.passes.build import Net, Q, assert_same, only, requantized


def network(h: Window, w: Window, rows: int, columns: int, groups: int = 1) -> Graph:
    """A convolution of four channels."""
    net, rng = Net(), np.random.default_rng(5)
    x = net.input(1, rows, columns, 4)
    weights = net.const(rng.integers(-127, 128, (4, h.size, w.size, 4 // groups)).astype(np.int8), "w", quant=None)
    bias = net.const(rng.integers(-999, 1000, 4).astype(np.int32), quant=None)
    op = Conv2D(h, w, groups, Q.zero_point, requantized((1 << 30) + 12345, 41, count=4), DType.S8, Q)
    return net.output(net.op(op, x, weights, bias))


@pytest.mark.parametrize("groups", [1, 4])
def test_three_by_three_on_one_column_is_three_by_one(groups: int) -> None:
    same = Window(3, 1, 1, 1, 1)
    graph = network(same, same, 8, 1, groups)
    best = drop_taps(graph)
    (node,) = only(best, Conv2D)
    assert isinstance(node.op, Conv2D)
    assert (node.op.h, node.op.w) == (same, Window(1))
    kept, before = best.values[node.inputs[1]].data, graph.values["w"].data
    assert kept is not None
    assert before is not None
    np.testing.assert_array_equal(kept, before[:, :, 1:2])
    assert_same(graph, best)
    assert drop_taps(best) is best
    assert only(simplify(graph), Conv2D)[0].op == node.op


def test_taps_that_see_an_input_stay() -> None:
    same = Window(3, 1, 1, 1, 1)
    graph = network(same, same, 2, 2)
    assert drop_taps(graph) is graph


def test_weights_that_come_apart_stay() -> None:
    same = Window(3, 1, 1, 1, 1)
    graph = network(same, same, 8, 1)
    held = graph.values["w"]
    sent = replace(graph, values={**graph.values, "w": replace(held, type=replace(held.type, sent=True))})
    assert drop_taps(sent) is sent


def test_every_window_gives_the_same_sums() -> None:
    """Of all small windows, strides, dilations and padding on one side and both."""
    dropped = 0
    for size, stride, dilation, before, after, length in product(
        (1, 2, 3, 5), (1, 2, 3), (1, 2), range(5), range(5), range(1, 5)
    ):
        window = Window(size, stride, dilation, before, after)
        if window.out_len(length) < 1:
            continue
        taps = window.inner(length)
        inner = window.of_taps(taps)
        assert min(inner.pad_before, inner.pad_after) >= 0
        assert inner.out_len(length) == window.out_len(length)
        seen = {
            tap
            for tap, y in product(range(size), range(window.out_len(length)))
            if 0 <= window.first(y) + tap * dilation < length
        }
        assert not seen or seen <= set(range(taps.start, taps.stop))
        assert seen or taps == Span(0, size)
        if len(taps) < size and (before, after) in {(1, 1), (2, 1), (0, 4), (4, 4), (3, 0)}:
            graph = network(window, Window(3, 1, 1, 1, 1), length, 2)
            best, feeds = drop_taps(graph), {"x": np.arange(length * 8, dtype=np.int8).reshape(1, length, 2, 4) * 11}
            (name,) = {graph.outputs[0].value}
            np.testing.assert_array_equal(run_graph(graph, feeds)[name], run_graph(best, feeds)[name])
            dropped += best is not graph
    assert dropped > 50
