"""Factors behind moved tensors go into the products in front, wherever nothing else reads the same channels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.ir.real import RealGraph
from codegen.quantizer.rewrite.carry import carry_factors
from codegen.real.elementwise import Binary, Function
from codegen.real.movement import Gather, Pick, Reshape, Slice, Transpose
from codegen.real.product import MatMul
from codegen.real.reduce import Softmax
from tests.support.float_networks import Maker, assert_same, random_network


def factors(graph: RealGraph) -> int:
    return sum(n.op in (Binary("Mul"), Binary("Div")) for n in graph.nodes)


class Attention(Maker):
    """One product makes q, k and v, two heads of four numbers each for six places."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, (1, 6, 8), uneven=0)
        self.add(MatMul(), self.normal(8, 24))
        self.add(Binary("Add"), self.normal(24))
        self.add(Reshape((1, 6, 3, 2, 4)))
        self.parts = self.add(Transpose((2, 0, 3, 1, 4)))

    def part(self, index: int) -> str:
        return self.add(Gather(0), self.net.const(np.array(index, np.int64)).name, x=self.parts)

    def times(self, value: float, x: str) -> str:
        return self.add(Binary("Mul"), self.constant(np.float32(value)), x=x)

    def result(self, q: str, k: str, v: str) -> RealGraph:
        turned = self.add(Transpose((0, 1, 3, 2)), x=k)
        scores = self.scored(self.add(MatMul(), turned, x=q))
        self.add(MatMul(), v, x=self.add(Softmax((3,)), x=scores))
        return self.done()

    def scored(self, scores: str) -> str:
        return scores


class Divided(Attention):
    """The scores are divided, and not q."""

    def scored(self, scores: str) -> str:
        return self.add(Binary("Div"), self.constant(np.float32(2.0)), x=scores)


def test_a_factor_of_q_reaches_the_channels_of_q_alone() -> None:
    m = Attention(1)
    graph = m.result(m.times(0.5, m.part(0)), m.part(1), m.part(-1))
    done = carry_factors(graph)
    assert done.record.pairs == 1
    assert_same(graph, done.graph, 1e-6)
    assert factors(done.graph) == 0


def test_factors_of_both_sides_and_behind_the_product_of_both() -> None:
    m = Divided(2)
    graph = m.result(m.times(0.7, m.part(0)), m.times(0.7, m.part(1)), m.part(2))
    done = carry_factors(graph)
    assert done.record.pairs == 3
    assert_same(graph, done.graph, 1e-6)
    assert factors(done.graph) == 0


@pytest.mark.parametrize("way", ["q is k", "read before", "read behind", "whole product shown"])
def test_a_factor_stays_where_its_channels_are_read_by_others_too(way: str) -> None:
    m = Divided(3) if way == "read behind" else Attention(3)
    q, k, v = (m.part(i) for i in ((0, 0, 2) if way == "q is k" else (0, 1, 2)))
    if way == "read behind":
        turned = m.add(Transpose((0, 1, 3, 2)), x=k)
        scores = m.add(MatMul(), turned, x=q)
        other = m.add(Function("Sigmoid"), x=scores)
        m.add(Binary("Add"), other, x=m.scored(scores))
        graph = m.done()
    else:
        read = q if way == "read before" else v
        graph = m.result(m.times(0.5, q), k, m.add(Function("Relu"), x=read))
        graph = m.done(m.last, m.parts) if way == "whole product shown" else graph
    done = carry_factors(graph)
    assert done.record.pairs == 0
    assert factors(done.graph) == factors(graph) == 1


@pytest.mark.parametrize("cut", ["slice", "pick"])
def test_channels_are_told_apart_by_where_a_slice_lies(cut: str) -> None:
    for beside, pairs in ((3, 1), (2, 0)):
        m = Maker(4)
        m.conv(6)
        whole = m.last
        if cut == "slice":
            left = m.add(Slice((0, 0, 0, 0), (1, 3, 6, 6), (1, 1, 1, 1)))
            right = m.add(Slice((0, beside, 0, 0), (1, 3, 6, 6), (1, 1, 1, 1)), x=whole)
        else:
            left = m.add(Pick((None, (0, 1, 2), None, None)))
            right = m.add(Pick((None, (beside, 4, 5), None, None)), x=whole)
        m.add(Binary("Mul"), m.constant(np.float32(-3.0)), x=left)
        m.add(Binary("Sub"), right)
        graph = m.done()
        done = carry_factors(graph)
        assert done.record.pairs == pairs
        assert_same(graph, done.graph, 1e-6)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_carrying_keeps_what_a_network_computes(seed: int) -> None:
    graph = random_network(seed)
    assert_same(graph, carry_factors(graph).graph)
