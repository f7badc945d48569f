"""Transposed convolutions become convolutions and movement, and every number stays."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Requant
from codegen.ir.shape import Window
from codegen.ops import Conv2D, ConvTranspose2D, DepthToSpace, Slice
from codegen.passes import simplify
from codegen.passes.split_strides import split_strides
from tests.passes.build import Net, Q, assert_same, only, requantized

ONE = Window(1)
BY_TWO = Window(2, 2)
SINGLE = requantized((1 << 30) + 12345, 41, count=3)
"""Of three outputs, each of its own."""


def network(
    h: Window, w: Window, *, rows: int = 5, columns: int = 4, extra: tuple[int, int] = (0, 0), step: Requant = SINGLE
) -> Graph:
    """A transposed convolution of four channels to three, beside a constant of 20,000 bytes that another output has."""
    net, rng = Net(), np.random.default_rng(5)
    x = net.input(1, rows, columns, 4)
    weights = net.const(rng.integers(-127, 128, (3, h.size, w.size, 4)).astype(np.int8), "w", quant=None)
    bias = net.const(rng.integers(-999, 1000, 3).astype(np.int32), quant=None)
    op = ConvTranspose2D(h, w, extra, 1, Q.zero_point, step, DType.S8, Q)
    y = net.op(op, x, weights, bias)
    large = net.const(rng.integers(-127, 128, (200, 1, 1, 100)).astype(np.int8), quant=None)
    zeros = net.const(np.zeros(200, np.int32), quant=None)
    many = Conv2D(ONE, ONE, 1, Q.zero_point, requantized(1 << 30, 41, count=200), DType.S8, Q)
    return net.output(y, net.op(many, net.input(1, 1, 1, 100, name="other"), large, zeros))


def test_two_by_two_is_four_pointwise_convolutions() -> None:
    graph = network(BY_TWO, BY_TWO)
    best = split_strides(graph)
    conv = next(n for n in only(best, Conv2D) if best.type(n.outputs[0]).shape == (1, 5, 4, 12))
    assert isinstance(conv.op, Conv2D)
    assert (conv.op.h, conv.op.w) == (ONE, ONE)
    assert conv.op.requant is not None
    assert len(conv.op.requant.multiplier) == 12
    assert [n.op for n in only(best, DepthToSpace)] == [DepthToSpace(2, "DCR")]
    assert not only(best, ConvTranspose2D)
    assert not only(best, Slice)
    assert_same(graph, best)
    assert split_strides(best) is best
    assert not only(simplify(graph), ConvTranspose2D)


def test_all_windows_strides_and_padding() -> None:
    split = 0
    for size, stride, before, after, extra in product((1, 2, 3, 4, 5), (2, 3), (0, 1, 2), (0, 1), (0, 1)):
        window = Window(size, stride, 1, before, after)
        if (3 - 1) * stride + size - before - after + extra < 1:
            continue
        graph = network(window, window, rows=3, columns=3, extra=(extra, extra))
        best = split_strides(graph)
        split += best is not graph
        assert_same(graph, best)
    assert split > 60


@pytest.mark.parametrize("lengths", [(1, 6), (6, 1)])
@pytest.mark.parametrize("window", [Window(4, 4), Window(8, 4, 1, 2, 2), Window(3, 2, 1, 1, 0)])
def test_signals_need_no_movement_but_what_is_cut_off(window: Window, lengths: tuple[int, int]) -> None:
    h, w = (ONE, window) if lengths[0] == 1 else (window, ONE)
    graph = network(h, w, rows=lengths[0], columns=lengths[1])
    best = split_strides(graph)
    assert not any(isinstance(node.op, ConvTranspose2D | DepthToSpace) for node in best.nodes)
    assert len(only(best, Slice)) == int(window.pad_before > 0)
    assert_same(graph, best)


def test_one_factor_for_all_outputs_stays_one() -> None:
    step = requantized((1 << 30) + 5, 41)
    graph = network(BY_TWO, BY_TWO, step=step)
    best = split_strides(graph)
    assert only(best, DepthToSpace)
    assert_same(graph, best)


@pytest.mark.parametrize(
    "op",
    [
        ConvTranspose2D(Window(2, 2, 2), BY_TWO, (0, 0), 1, 0, None, DType.S8, Q),
        ConvTranspose2D(BY_TWO, Window(3, 3), (0, 0), 1, 0, None, DType.S8, Q),
        ConvTranspose2D(ONE, ONE, (0, 0), 1, 0, None, DType.S8, Q),
        ConvTranspose2D(Window(2, 2, 1, -1, 0), BY_TWO, (0, 0), 1, 0, None, DType.S8, Q),
    ],
    ids=["dilation", "two strides", "no stride", "begins before"],
)
def test_what_one_operator_does_not_put_in_place_stays(op: ConvTranspose2D) -> None:
    graph = network(op.h, op.w)
    assert split_strides(graph) is graph


def test_wider_data_stay() -> None:
    net = Net()
    x = net.input(1, 3, 3, 4, dtype=DType.S16)
    weights, bias = net.const(np.ones((3, 2, 2, 4), np.int8), quant=None), net.const(np.zeros(3, np.int32), quant=None)
    op = ConvTranspose2D(BY_TWO, BY_TWO, (0, 0), 1, 0, requantized(1 << 30, 41), DType.S16, Q)
    graph = net.output(net.op(op, x, weights, bias))
    assert split_strides(graph) is graph


def test_weights_of_zero_are_worth_their_bytes() -> None:
    """A ninth of the bytes is that of four: small beside the rest, or where there are no other products."""
    three = Window(3, 2, 1, 1, 1)
    large = network(three, three)
    assert split_strides(large) is not large
    alone = replace(large, outputs=large.outputs[:1]).with_nodes(only(large, ConvTranspose2D))
    assert split_strides(alone) is not alone
    busy = Net()
    x = busy.conv(busy.input(1, 32, 32, 4), 4)
    for _ in range(9):
        x = busy.conv(x, 4)
    weights = busy.const(np.ones((3, 3, 3, 4), np.int8), quant=None)
    bias = busy.const(np.zeros(3, np.int32), quant=None)
    corner = busy.op(Slice((0, 0, 0, 0), (1, 2, 2, 4), (1, 1, 1, 1)), x)
    graph = busy.output(
        busy.op(ConvTranspose2D(three, three, (0, 0), 1, Q.zero_point, SINGLE, DType.S8, Q), corner, weights, bias)
    )
    assert split_strides(graph) is graph


def test_weights_that_come_apart_stay() -> None:
    graph = network(BY_TWO, BY_TWO)
    held = graph.values["w"]
    sent = replace(graph, values={**graph.values, "w": replace(held, type=replace(held.type, sent=True))})
    assert split_strides(sent) is sent
