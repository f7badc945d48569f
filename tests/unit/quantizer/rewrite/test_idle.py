"""Operators that do nothing are left out; those that look so and do something stay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.quantizer.rewrite.idle import drop_idle
from codegen.real.elementwise import Binary, Cast, Function, Where
from codegen.real.movement import Expand, Reshape, Tile, Transpose
from tests.support.float_networks import Maker, assert_same, random_network


def condition(m: Maker, array: object) -> str:
    return m.net.const(np.array(array, np.bool_)).name


IDLE: dict[str, Callable[[Maker], str]] = {
    "a cast to the same": lambda m: m.add(Cast("float32")),
    "the same shape": lambda m: m.add(Reshape(m.shape)),
    "stretched to itself": lambda m: m.add(Expand((1, 1, 6))),
    "once": lambda m: m.add(Tile((1, 1, 1, 1))),
    "the same axes": lambda m: m.add(Transpose((0, 1, 2, 3))),
    "plus 0": lambda m: m.add(Binary("Add"), m.constant(np.zeros((6, 6)))),
    "less 0": lambda m: m.add(Binary("Sub"), m.constant(np.zeros(6))),
    "1 times": lambda m: m.add(Binary("Mul"), m.last, x=m.constant(np.ones((1, 4, 1, 1)))),
    "by 1": lambda m: m.add(Binary("Div"), m.constant(np.float32(1))),
    "never": lambda m: m.add(Where(), m.constant(np.zeros(())), m.last, x=condition(m, [False] * 6)),
    "always": lambda m: m.add(Where(), m.last, m.constant(np.ones(6)), x=condition(m, True)),
}
BUSY: dict[str, Callable[[Maker], str]] = {
    "a cast that rounds": lambda m: m.add(Cast("bfloat16")),
    "a cast to whole numbers": lambda m: m.add(Cast("float32"), x=m.add(Cast("int32"))),
    "another shape": lambda m: m.add(Reshape((1, 4, 36))),
    "stretched": lambda m: m.add(Expand((2, 4, 6, 6))),
    "twice": lambda m: m.add(Tile((1, 2, 1, 1))),
    "other axes": lambda m: m.add(Transpose((0, 1, 3, 2))),
    "0 less": lambda m: m.add(Binary("Sub"), m.last, x=m.constant(np.float32(0))),
    "1 by": lambda m: m.add(Binary("Div"), m.last, x=m.constant(np.float32(1))),
    "plus 0 for a batch of two": lambda m: m.add(Binary("Add"), m.constant(np.zeros((2, 1, 1, 1)))),
    "not only 1": lambda m: m.add(Binary("Mul"), m.constant(np.array([1, 1, 1, 1, 1, 2]))),
    "now and then": lambda m: m.add(Where(), m.constant(np.zeros(())), m.last, x=condition(m, [False] * 5 + [True])),
}


def network(piece: Callable[[Maker], str], *, last: bool = False) -> Maker:
    m = Maker(1)
    m.conv(4)
    piece(m)
    if not last:
        m.add(Function("Sigmoid"))
    return m


@pytest.mark.parametrize("name", IDLE)
def test_what_does_nothing_goes(name: str) -> None:
    graph = network(IDLE[name]).done()
    done = drop_idle(graph)
    assert_same(graph, done.graph, 0.0)
    assert done.record.pairs == 1
    assert len(done.graph.nodes) == len(graph.nodes) - 1


@pytest.mark.parametrize("name", BUSY)
def test_what_does_something_stays(name: str) -> None:
    graph = network(BUSY[name]).done()
    assert drop_idle(graph).record.pairs == 0


@pytest.mark.parametrize("name", IDLE)
def test_what_writes_a_result_stays(name: str) -> None:
    graph = network(IDLE[name], last=True).done()
    assert drop_idle(graph).record.pairs == 0


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_the_network_computes_the_same(seed: int) -> None:
    graph = random_network(seed)
    assert_same(graph, drop_idle(graph).graph, 0.0)
