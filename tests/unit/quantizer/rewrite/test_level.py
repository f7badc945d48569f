"""Channels that are made alike in size: the same results, no larger step anywhere, and who may take part."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.ir.real import RealGraph
from codegen.quantizer.places import Places
from codegen.quantizer.rewrite.extremes import Extremes, observe_extremes
from codegen.quantizer.rewrite.factors import FIXED, factors_of
from codegen.quantizer.rewrite.level import level
from codegen.real.elementwise import Binary, PRelu
from codegen.real.engine import RealEngine
from codegen.real.movement import Concat
from codegen.real.reduce import Reduce
from tests.support.float_networks import Maker, assert_same, random_network


def seen_of(graph: RealGraph) -> Mapping[str, Extremes]:
    rng = np.random.default_rng(0)
    samples = [{n: rng.normal(0, 1, graph.type(n).shape).astype(np.float32) for n in graph.inputs} for _ in range(3)]
    return observe_extremes(graph, RealEngine, samples)


def prelu(maker: Maker) -> str:
    return maker.add(PRelu(), maker.constant(maker.rng.uniform(0.1, 0.9, (maker.shape[1], 1, 1))))


def residual_of_two() -> RealGraph:
    """What two convolutions give, joined and added to what they read; then BatchNormalization, and a reader."""
    maker = Maker(4)
    maker.conv(6)
    start = prelu(maker)
    left = maker.conv(4, 1, pad=0)
    maker.last = start
    maker.conv(2)
    maker.add(Concat(1), maker.last, x=left)
    maker.add(Binary("Add"), start)
    maker.batch_norm()
    prelu(maker)
    maker.conv(3)
    return maker.done()


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1))
def test_a_network_computes_the_same_and_no_tensor_comes_further(seed: int) -> None:
    graph = random_network(seed)
    seen = seen_of(graph)
    done = level(graph, seen)
    assert_same(graph, done.graph)
    now = seen_of(done.graph)
    for name in {t.name for t in Places(graph).tensors} & seen.keys() & now.keys():
        assert now[name].size.max() <= seen[name].size.max() * 1.001


def test_channels_behind_a_product_come_as_far_as_the_widest() -> None:
    maker = Maker(2)
    name = maker.conv(8)
    maker.conv(4)
    graph = maker.done()
    before = seen_of(graph)[name].size
    assert before.max() / before.min() > 4
    done = level(graph, seen_of(graph))
    after = seen_of(done.graph)[name].size
    np.testing.assert_allclose(after, before.max(), rtol=1e-4)
    np.testing.assert_allclose(done.record.moved[name].times, after / before, rtol=1e-4)
    assert done.record.pairs == 1


def test_a_channel_of_two_tensors_is_divided_as_far_as_both_allow() -> None:
    maker = Maker(2)
    first = maker.conv(8)
    second = prelu(maker)
    maker.conv(4)
    graph = maker.done()
    seen = seen_of(graph)
    after = seen_of(level(graph, seen).graph)
    shares = [after[name].size / seen[name].size.max() for name in (first, second)]
    np.testing.assert_allclose(np.max(shares, axis=0), 1.0, rtol=1e-4)


def test_a_sum_of_joined_tensors_and_what_normalizes_it_take_part() -> None:
    graph = residual_of_two()
    found = factors_of(graph)
    first, joined, total = (
        next(n for n in graph.nodes if isinstance(n.op, kind)).outputs[0] for kind in (PRelu, Concat, Binary)
    )
    groups = found.tensors[total].groups
    assert FIXED not in groups
    assert len(set(groups.tolist())) == 6
    np.testing.assert_array_equal(found.tensors[first].groups, groups)
    np.testing.assert_array_equal(found.tensors[joined].groups, groups)
    done = level(graph, seen_of(graph))
    assert_same(graph, done.graph)
    behind = [n.outputs[0] for n in graph.nodes if isinstance(n.op, PRelu)][1]
    held = [seen_of(g)[behind].size for g in (graph, done.graph)]
    assert held[1].min() > 4 * held[0].min()


def test_a_gate_stays_and_what_it_is_multiplied_with_takes_part() -> None:
    maker = Maker(6)
    features = maker.conv(4)
    maker.add(Reduce("Mean", (2, 3), keep=True))
    gate = maker.conv(4, 1, pad=0)
    gated = maker.add(Binary("Mul"), gate, x=features)
    maker.conv(2)
    graph = maker.done()
    found = factors_of(graph)
    assert gate not in found.tensors
    np.testing.assert_array_equal(found.tensors[gated].groups, found.tensors[features].groups)
    done = level(graph, seen_of(graph))
    assert done.record.pairs == 1
    assert_same(graph, done.graph)


def test_what_leaves_the_network_stays_and_so_does_what_shares_its_factor() -> None:
    maker = Maker(7)
    first = maker.conv(4)
    maker.conv(4)
    total = maker.add(Binary("Add"), first)
    maker.conv(3)
    graph = maker.done(total, maker.last)
    assert not factors_of(graph).tensors
    assert level(graph, seen_of(graph)).record.pairs == 0
