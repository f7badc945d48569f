"""Rewrites that rest on what samples showed: exact on those samples, and only where they say so."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.frontends import read_real
from codegen.ir.real import RealGraph
from codegen.quantizer.rewrite.absorb import absorb, seen_floors
from codegen.quantizer.rewrite.extremes import Extremes, channel_axes, observe_extremes
from codegen.quantizer.rewrite.fold import fold_affine
from codegen.quantizer.rewrite.smooth import smooth
from codegen.quantizer.rewrite.unclip import has_bounds, unclip
from codegen.real.elementwise import Clip, Function
from codegen.real.engine import RealEngine
from tests.support.float_networks import Maker, assert_same, random_network
from tests.support.real import real_inputs
from tests.support.shared import shared_dir


def samples(graph: RealGraph, seed: int = 0, count: int = 3) -> list[dict[str, np.ndarray]]:
    """The inputs that `assert_same` compares on."""
    rng = np.random.default_rng(seed)
    return [{n: rng.normal(0, 1, graph.type(n).shape).astype(np.float32) for n in graph.inputs} for _ in range(count)]


def seen_of(graph: RealGraph) -> Mapping[str, Extremes]:
    return observe_extremes(graph, RealEngine, samples(graph))


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["smooth", "absorb"]))
def test_what_a_network_computes_stays(seed: int, kind: str) -> None:
    graph = fold_affine(random_network(seed)).graph
    seen = seen_of(graph)
    after = smooth(graph, seen) if kind == "smooth" else absorb(graph, seen_floors(seen))
    assert_same(graph, after.graph)


def test_extremes_are_those_of_each_channel() -> None:
    maker = Maker(1)
    maker.conv(4)
    maker.add(Function("Relu"))
    graph = maker.done()
    seen = seen_of(graph)
    assert set(seen) == set(channel_axes(graph)) == {"x", "conv1"}
    every = [dict(RealEngine(graph).tensors(s))["conv1"] for s in samples(graph)]
    np.testing.assert_array_equal(seen["conv1"].low, np.min(every, axis=(0, 1, 3, 4)))
    np.testing.assert_array_equal(seen["conv1"].high, np.max(every, axis=(0, 1, 3, 4)))
    np.testing.assert_array_equal(seen["conv1"].size, np.abs(every).max(axis=(0, 1, 3, 4)))


def test_smoothing_makes_channels_alike_and_leaves_the_tensor_its_size() -> None:
    maker = Maker(2)
    maker.conv(8)
    maker.add(Function("LeakyRelu", (("alpha", 0.5),)))
    maker.conv(4)
    graph = maker.done()
    relu = graph.nodes[1].outputs[0]
    before = seen_of(graph)[relu].size
    done = smooth(graph, seen_of(graph), strength=1.0)
    after = seen_of(done.graph)[relu].size
    assert before.max() / before.min() > 4
    np.testing.assert_allclose(after, np.exp(np.log(before).mean()), rtol=1e-4)
    assert done.record.pairs == 1
    half = seen_of(smooth(graph, seen_of(graph)).graph)[relu].size
    assert half.max() / half.min() < before.max() / before.min()


def _with_high_bias(pad: int) -> RealGraph:
    maker = Maker(3)
    weights = maker.constant(maker.rng.normal(0, 0.01, (4, 3, 3, 3)))
    maker.conv(4)
    op = maker.done().nodes[-1].op
    maker.add(op, weights, maker.constant(np.array([5.0, 0.0, 3.0, -2.0])), x="x")
    maker.add(Function("Relu"))
    maker.conv(4, pad=pad)
    return maker.done()


def test_a_high_bias_goes_behind_the_next_product() -> None:
    graph = _with_high_bias(0)
    seen = seen_of(graph)
    done = absorb(graph, seen_floors(seen))
    assert_same(graph, done.graph, 1e-5)
    relu = graph.nodes[1].outputs[0]
    assert seen[relu].high[0] > 5
    now = seen_of(done.graph)[relu].high
    assert now[0] < 1
    assert now[2] < 1
    assert done.record.pairs == 1
    assert done.record.largest == pytest.approx(seen[graph.nodes[0].outputs[0]].low[0])


def test_padding_would_show_what_was_absorbed() -> None:
    graph = _with_high_bias(1)
    assert absorb(graph, seen_floors(seen_of(graph))).record.pairs == 0


def test_bounds_above_zero_go_and_others_stay() -> None:
    maker = Maker(5)
    for op in (Clip(0.0, 6.0), Clip(-1.0, 1.0), Clip(0.0, float("inf")), Clip(0.0, 1.0)):
        maker.conv(4)
        maker.add(op)
    graph = maker.done()
    done = unclip(graph)
    kept = [graph.nodes[3].op, graph.nodes[5].op]
    assert [n.op for n in done.graph.nodes[1::2]] == [Function("Relu"), *kept, Function("Relu")]
    assert done.record.pairs == 2
    assert has_bounds(graph)
    assert not has_bounds(done.graph)
    values = dict(RealEngine(graph).tensors(samples(graph)[0])), dict(RealEngine(done.graph).tensors(samples(graph)[0]))
    was, now = (v[graph.nodes[1].outputs[0]] for v in values)
    np.testing.assert_array_equal(np.minimum(now, 6.0), was)


def test_a_real_network_computes_the_same_smoothed_and_absorbed() -> None:
    graph = fold_affine(read_real(shared_dir() / "models" / "mlperf_tiny_onnx" / "kws_f32.onnx")).graph
    feeds = [{graph.inputs[0]: x} for x in real_inputs("kws", 4)]
    seen = observe_extremes(graph, RealEngine, feeds)
    smoothed = smooth(graph, seen)
    floors = seen_floors(observe_extremes(smoothed.graph, RealEngine, feeds))
    absorbed = absorb(smoothed.graph, floors)
    assert smoothed.record.pairs == 9
    for feed in feeds:
        (was,), (now,) = (RealEngine(g).run(feed).values() for g in (graph, absorbed.graph))
        np.testing.assert_allclose(now, was, atol=1e-5)
