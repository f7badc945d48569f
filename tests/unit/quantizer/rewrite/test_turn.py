"""Transposes that meet go, through whatever lies between them, and those that are needed stay."""

from __future__ import annotations

import math

import pytest

from codegen.ir.real import RealGraph
from codegen.quantizer.rewrite.turn import join_turns
from codegen.real.elementwise import Binary, Clip, Function, PRelu
from codegen.real.movement import Concat, Pad, Reshape, Transpose
from codegen.real.reduce import Reduce
from tests.support.float_networks import Maker, assert_same

LAST, FIRST = Transpose((0, 2, 3, 1)), Transpose((0, 3, 1, 2))


def turns(graph: RealGraph) -> int:
    return sum(isinstance(n.op, Transpose) for n in graph.nodes)


def joined(m: Maker, left: int) -> None:
    graph = m.done()
    found = join_turns(graph).graph
    assert_same(graph, found, 1e-6)
    assert turns(found) == left


@pytest.mark.parametrize("seed", range(8))
def test_what_lies_between_a_turn_and_its_opposite_is_done_unturned(seed: int) -> None:
    m = Maker(seed)
    m.conv()
    m.add(LAST)
    for choice in m.rng.permutation(6)[:3]:
        c = m.shape[-1]
        match choice:
            case 0:
                m.add(Clip(-1.0, 2.0))
            case 1:
                m.add(Pad((0, 1, 2, 0), (0, 0, 1, 0)))
            case 2:
                m.add(Binary("Mul"), m.constant(m.rng.normal(0, 1, c)))
            case 3:
                m.add(PRelu(), m.constant(m.rng.normal(0, 1, (1, 1, c))))
            case 4:
                other = m.add(Function("Sigmoid"))
                m.add(Concat(3), other)
            case 5:
                m.add(Reduce("Mean", (1,), keep=True))
    m.add(FIRST)
    m.conv()
    joined(m, 0)


@pytest.mark.parametrize(("other", "left"), [(LAST, 0), (Transpose((0, 3, 2, 1)), 2)])
def test_sums_of_tensors_turned_alike_are_done_unturned_and_others_are_not(other: Transpose, left: int) -> None:
    m = Maker(0)
    x = m.conv()
    a = m.add(LAST)
    b = m.add(other, x=m.add(Clip(), x=x))
    m.add(Binary("Add"), a, x=b)
    m.add(FIRST)
    joined(m, left + bool(left))


def test_a_mean_that_loses_its_axes_and_a_reshape_behind_it() -> None:
    m = Maker(0)
    m.conv()
    m.add(LAST)
    m.add(Reduce("Mean", (1, 2), keep=False))
    joined(m, 0)
    m = Maker(0)
    m.conv()
    m.add(LAST)
    m.add(Reshape((1, m.shape[1] * m.shape[2] * m.shape[3])))
    joined(m, 1)


def test_a_turned_output_stays_turned() -> None:
    m = Maker(0)
    m.conv()
    m.add(LAST)
    m.add(Clip(0.0, 1.0))
    joined(m, 1)


def test_a_tensor_that_is_read_both_ways_is_turned_once() -> None:
    m = Maker(0)
    m.conv()
    turned = m.add(LAST)
    flat = m.add(Reshape((1, math.prod(m.shape))), x=turned)
    m.add(FIRST, x=turned)
    last = m.conv()
    graph = m.done(flat, last)
    found = join_turns(graph).graph
    assert_same(graph, found, 1e-6)
    assert turns(found) == 1
