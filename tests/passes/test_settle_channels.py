"""Channels that are the same for every input lose their weights, and no others do."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Requant
from codegen.ops import Dense
from codegen.passes.settle_channels import settle_channels
from tests.passes.build import Net, Q, assert_same, only

HUGE = 1 << 30
SUMS = {"single": (33, 62, 40), "tflite": (-1, -31, -8)}
"""Shifts of a live channel, of one whose factor leaves nothing, and of one that is always at the upper bound."""


def four_channels(mode: str) -> Graph:
    """A live channel; one with a huge bias and no factor to speak of; one that is always 127; one with multiplier 0."""
    net = Net()
    live, faint, full = SUMS[mode]
    w = np.array([[3, -5], [7, 7], [1, 1], [9, 9]], np.int8)
    b = np.array([100, -HUGE, HUGE, 5], np.int32)
    multiplier = (HUGE, HUGE + 999, 2 * HUGE - 1, 0)
    idle = 1 if mode == "single" else 0
    requant = Requant(mode, Q.zero_point, -128, 127, multiplier, (live, faint, full, idle))  # type: ignore[arg-type]
    op = Dense(Q.zero_point, requant, DType.S8, Q)
    x = net.input(5, 2)
    return net.output(net.op(op, x, net.const(w, quant=None), net.const(b, quant=None)))


@pytest.mark.parametrize("mode", SUMS)
def test_constant_channels_are_settled_and_the_live_one_is_not(mode: str) -> None:
    before = four_channels(mode)
    after = settle_channels(before)
    (node,) = only(after, Dense)
    weights, bias = (after.values[name].data for name in node.inputs[1:])
    assert weights is not None
    assert bias is not None
    assert weights[0].tolist() == [3, -5]
    assert not weights[1:].any()
    assert bias[0] == 100
    assert np.abs(bias).max() < 1 << 12
    for seed in range(3):
        assert_same(before, after, seed)
    assert settle_channels(after) is after


@pytest.mark.parametrize("mode", SUMS)
def test_a_channel_with_two_values_stays(mode: str) -> None:
    net = Net()
    w, b = np.array([[1, 0], [1, 0]], np.int8), np.array([0, 40], np.int32)
    shift = {"single": 38, "tflite": -6}[mode]
    requant = Requant(mode, Q.zero_point, -128, 127, (HUGE, HUGE), (shift, shift))  # type: ignore[arg-type]
    x = net.input(4, 2)
    op = Dense(Q.zero_point, requant, DType.S8, Q)
    graph = net.output(net.op(op, x, net.const(w, quant=None), net.const(b, quant=None)))
    assert settle_channels(graph) is graph
