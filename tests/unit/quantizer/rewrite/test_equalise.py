"""Cross-layer equalisation: the same results, ranges that meet, and no factor that anybody else would see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.frontends import read_real
from codegen.ir.real import RealGraph
from codegen.quantizer.rewrite.chains import Terms, chains
from codegen.quantizer.rewrite.draft import Draft
from codegen.quantizer.rewrite.equalise import Equalising, equalise
from codegen.quantizer.rewrite.extremes import observe_extremes
from codegen.quantizer.rewrite.fold import fold_affine
from codegen.quantizer.rewrite.product import Product, product_of
from codegen.quantizer.rewrite.rescale import Scaling
from codegen.real.elementwise import Binary, Clip, Function, PRelu
from codegen.real.engine import RealEngine
from codegen.real.movement import Pad, Reshape, Transpose
from codegen.real.product import MatMul
from codegen.real.resize import Resize
from codegen.real.taps import Stretch
from codegen.real.window import Conv
from tests.support.float_networks import Maker, assert_same, random_network, results
from tests.support.real import real_inputs
from tests.support.shared import shared_dir


def products(graph: RealGraph) -> list[Product]:
    draft = Draft(graph)
    return [p for p in (product_of(draft, n) for n in graph.nodes) if p is not None]


@settings(max_examples=80)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_equalising_keeps_what_a_network_computes(seed: int, with_bias: bool) -> None:
    graph = fold_affine(random_network(seed)).graph
    assert_same(graph, equalise(graph, Equalising(with_bias=with_bias)).graph)


def test_the_ranges_of_a_pair_meet_in_one_round() -> None:
    maker = Maker(1)
    maker.conv(8)
    maker.add(Function("Relu"))
    maker.conv(5)
    done = equalise(maker.done(), Equalising(iterations=1))
    first, second = products(maker.done())
    wanted = np.sqrt(first.by_output() * second.by_input())
    now = products(done.graph)
    np.testing.assert_allclose(now[0].by_output(), wanted, rtol=1e-5)
    np.testing.assert_allclose(now[1].by_input(), wanted, rtol=1e-5)
    moved = first.by_output() / wanted
    assert done.record.pairs == 1
    assert done.record.largest == pytest.approx(float(np.maximum(moved, 1 / moved).max()))


@pytest.mark.parametrize("between", ["relu", "leaky", "prelu", "max", "flat", "turned", "pad", "resize", "depthwise"])
def test_it_goes_through_what_keeps_a_factor(between: str) -> None:
    maker = Maker(2)
    maker.conv(4)
    match between:
        case "relu" | "leaky":
            maker.add(Function("Relu") if between == "relu" else Function("LeakyRelu", (("alpha", 0.1),)))
        case "prelu":
            maker.add(PRelu(), maker.normal(4, 1, 1))
        case "max":
            maker.pool()
        case "pad":
            maker.add(Pad((0, 0, 1, 1), (0, 0, 1, 1)))
        case "resize":
            double = Stretch(12, 2.0)
            maker.add(Resize((None, None, double, double), "linear"))
        case "depthwise":
            maker.depthwise()
    if between in ("flat", "turned"):
        if between == "turned":
            maker.add(Transpose((0, 2, 3, 1)))
        maker.add(Reshape((1, 144)))
        maker.add(MatMul(), maker.normal(144, 6))
    else:
        maker.conv(4)
    done = equalise(maker.done())
    assert_same(maker.done(), done.graph)
    assert done.record.pairs == (2 if between == "depthwise" else 1)


@pytest.mark.parametrize("between", ["sigmoid", "clip", "add", "ends", "padded", "unknown"])
def test_it_stops_at_what_does_not(between: str) -> None:
    maker = Maker(3)
    first = maker.conv(3)
    match between:
        case "sigmoid":
            maker.add(Function("Sigmoid"))
        case "clip":
            maker.add(Clip(0.0, 6.0))
        case "add":
            maker.add(Binary("Add"), "x")
        case "padded":
            maker.add(Pad((0, 0, 1, 1), (0, 0, 1, 1), "constant", 1.0))
        case "unknown":
            maker.add(PRelu(), maker.add(Function("Relu"), x="x"), x=first)
    maker.conv(4, pad=0)
    graph = maker.done(maker.last, *([first] if between == "ends" else []))
    done = equalise(graph)
    assert done.record.pairs == 0
    assert len(done.record.passed_over) == 2
    for before, after in zip(products(graph), products(done.graph), strict=True):
        np.testing.assert_array_equal(before.weights, after.weights)


def test_a_bound_that_samples_never_reached_lets_a_channel_grow() -> None:
    maker = Maker(9)
    maker.conv(6)
    maker.add(Clip(0.0, 6.0))
    maker.conv(6)
    graph = maker.done()
    rng = np.random.default_rng(0)
    feeds = [{"x": rng.normal(0, 1, (1, 3, 6, 6)).astype(np.float32)} for _ in range(3)]
    seen = observe_extremes(graph, RealEngine, feeds)
    highs = seen["conv1"].high
    assert highs.min() < 6 < highs.max()
    done = equalise(graph, Equalising(seen=seen))
    assert done.record.pairs == 1
    assert_same(graph, done.graph)
    first, now = products(graph)[0], products(done.graph)[0]
    np.testing.assert_array_equal(first.weights.reshape(6, -1)[highs >= 6], now.weights.reshape(6, -1)[highs >= 6])
    after = observe_extremes(done.graph, RealEngine, feeds)["conv1"].high
    assert (after[highs < 6] <= 6 * (1 + 1e-6)).all()
    assert (after != highs).any()


def test_every_reader_takes_the_factor_or_none_does() -> None:
    maker = Maker(4)
    start = maker.conv(4)
    left = maker.conv(3)
    maker.last = start
    right = maker.conv(2)
    assert equalise(maker.done(left, right)).record.pairs == 1
    assert_same(maker.done(left, right), equalise(maker.done(left, right)).graph)
    beside = maker.add(Function("Sigmoid"), x=start)
    assert equalise(maker.done(left, right, beside)).record.pairs == 0


def test_a_tensor_joined_with_others_is_scaled_alone() -> None:
    maker = Maker(5)
    maker.conv(4)
    maker.branches()
    maker.conv(4)
    graph = maker.done()
    done = equalise(graph)
    assert_same(graph, done.graph)
    assert done.record.pairs == 3


def test_a_dead_channel_stays_as_it_is() -> None:
    maker = Maker(6)
    weights = maker.rng.normal(0, 1, (4, 3, 3, 3))
    weights[1] = 0
    maker.conv(4)
    op = maker.done().nodes[-1].op
    maker.add(op, maker.constant(weights), maker.constant(np.arange(4)), x="x")
    maker.conv(4)
    first = products(equalise(maker.done()).graph)[0]
    assert not first.weights.reshape(4, -1)[1].any()
    assert first.bias[1] == 1


def test_a_bias_behind_next_to_no_weights_is_not_blown_up() -> None:
    maker = Maker(8)
    maker.conv(4)
    graph = maker.done()
    weights = graph.values[graph.nodes[-1].inputs[1]].data
    assert weights is not None
    weights[2] *= 1e-12
    maker.add(Function("Relu"))
    maker.conv(4)
    before, after = (products(g)[0].bias[2] for g in (maker.done(), equalise(maker.done()).graph))
    assert after == before != 0


def test_tensors_that_are_added_are_scaled_together() -> None:
    """Three products write one sum of sums, and two read it."""
    maker = Maker(10)
    maker.conv(4)
    maker.residual()
    maker.add(Function("Relu"))
    maker.residual()
    maker.add(Function("Relu"))
    maker.conv(5)
    graph = maker.done()
    found, _ = chains(Draft(graph), Terms(joins=True))
    assert [(len(c.makers), len(c.readers)) for c in found] == [(3, 3)]
    done = equalise(graph, Equalising(iterations=1))
    assert_same(graph, done.graph)
    assert done.record.pairs == 1
    assert equalise(graph, Equalising(joins=False)).record.pairs == 0


@pytest.mark.parametrize("other", ["input", "constant", "sigmoid", "leaves"])
def test_a_sum_with_something_from_elsewhere_is_left_alone(other: str) -> None:
    maker = Maker(11)
    first = maker.conv(3)
    match other:
        case "input":
            added = "x"
        case "constant":
            added = maker.normal(1, 3, 6, 6)
        case "sigmoid":
            added = maker.add(Function("Sigmoid"), x="x")
        case _:
            added = maker.conv(3)
    maker.add(Binary("Add"), added, x=first)
    maker.conv(4)
    graph = maker.done(maker.last, *([added] if other == "leaves" else []))
    done = equalise(graph)
    assert done.record.pairs == 0
    for before, after in zip(products(graph), products(done.graph), strict=True):
        np.testing.assert_array_equal(before.weights, after.weights)


def test_a_residual_network_whose_channels_were_made_uneven_is_made_even_again() -> None:
    """Factors that a chain can carry are put in by hand: the network computes the same, and quantizes badly."""
    gained = []
    for seed in range(10):
        maker = Maker(seed, uneven=0.0)
        maker.conv(8)
        for _ in range(3):
            maker.add(Function("Relu"))
            maker.residual()
        maker.conv(4)
        graph = _made_uneven(maker.done(), seed)
        done = equalise(graph)
        assert_same(graph, done.graph)
        was, before, after = (np.concatenate(results(g)) for g in (graph, _rounded(graph), _rounded(done.graph)))
        gained.append(10 * np.log10(np.sum((before - was) ** 2) / np.sum((after - was) ** 2)))
    assert min(gained) > 6


def _made_uneven(graph: RealGraph, seed: int) -> RealGraph:
    draft = Draft(graph)
    found, _ = chains(draft, Terms(joins=True))
    scaling = Scaling(found)
    for chain in found:
        scaling.move(chain, np.exp2(np.random.default_rng(seed).uniform(-4, 4, chain.maker.outputs)))
    scaling.write(draft)
    return draft.done()


def test_weights_that_two_products_read_are_not_scaled() -> None:
    maker = Maker(7)
    maker.conv(3)
    node = maker.done().nodes[-1]
    maker.add(node.op, *node.inputs[1:])
    found, _ = chains(Draft(maker.done()))
    assert isinstance(node.op, Conv)
    assert found == []


def test_a_network_of_uneven_channels_loses_less_with_one_scale_per_tensor() -> None:
    gained = []
    for seed in range(10):
        maker = Maker(seed)
        for _ in range(3):
            maker.conv(16)
            maker.add(Function("Relu"))
        graph = maker.done()
        was, before, after = (
            np.concatenate(results(g)) for g in (graph, _rounded(graph), _rounded(equalise(graph).graph))
        )
        gained.append(10 * np.log10(np.sum((before - was) ** 2) / np.sum((after - was) ** 2)))
    assert np.mean(gained) > 2


def test_a_real_network_loses_less_with_one_scale_per_tensor() -> None:
    """ESPCN, on the luma of four photos."""
    graph = fold_affine(read_real(shared_dir() / "models" / "onnx" / "espcn_x3_f32.onnx")).graph
    done = equalise(graph)
    assert done.record.pairs == 3
    was, now, before, after = map(_on_real, (graph, done.graph, _rounded(graph), _rounded(done.graph)))
    assert np.abs(now - was).max() <= 1e-5 * np.abs(was).max()
    assert np.sum((after - was) ** 2) < 0.5 * np.sum((before - was) ** 2)


def _on_real(graph: RealGraph) -> np.ndarray:
    engine = RealEngine(graph)
    return np.concatenate(
        [y.ravel() for x in real_inputs("espcn", 4) for y in engine.run({graph.inputs[0]: x}).values()]
    )


def _rounded(graph: RealGraph) -> RealGraph:
    """The network with each product's weights in 255 steps."""
    values = dict(graph.values)
    for name in (p.node.inputs[1] for p in products(graph)):
        data = values[name].data
        assert data is not None
        step = np.abs(data).max() / 127
        values[name] = replace(values[name], data=(np.rint(data / step) * step).astype(np.float32))
    return replace(graph, values=values)
