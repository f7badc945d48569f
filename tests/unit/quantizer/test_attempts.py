"""Rewrites that recipes try: which, in which order, and that the judge keeps them where they help."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.ir.shape import Window
from codegen.quantizer.asked import asked_of
from codegen.quantizer.attempts import RecipeName, attempts_of
from codegen.quantizer.config import Rewrite, parse_config
from codegen.quantizer.places import Places
from codegen.quantizer.recipe import Given, Made, Recipe
from codegen.real.elementwise import Clip, Function
from codegen.real.engine import RealEngine
from codegen.real.window import Conv
from tests.support.float_networks import Maker

ONLY = {"correct": {"bias": "none", "weights": "nearest"}, "search": {"methods": ["minmax"]}}
LEVELLED = "channels levelled"
SMOOTH, ABSORBED = "channels smoothed by 0.5", "biases absorbed"
EQUALISED, FREED = "channels equalised", "channels equalised, ReLU6 as ReLU"


def network(activation: object, sizes: Array, bias: float = 0.0, reading: Array | None = None) -> RealGraph:
    """Two convolutions; channels of these sizes between them, and weights of such sizes that read them."""
    maker, rng, count = Maker(0), np.random.default_rng(7), len(sizes)
    pointwise = Conv((Window(1), Window(1)), 1)
    first = rng.normal(0, 1, (count, 3, 1, 1)) * sizes.reshape(-1, 1, 1, 1)
    second = rng.normal(0, 1, (4, count, 1, 1)) * (1 / sizes if reading is None else reading).reshape(1, -1, 1, 1)
    maker.add(pointwise, maker.constant(first), maker.constant(np.full(count, bias) * sizes))
    maker.add(activation)
    maker.add(pointwise, maker.constant(second), maker.constant(np.zeros(4)))
    return maker.done()


def cooked(graph: RealGraph, recipe: RecipeName, rewrite: dict[str, object] | None = None) -> Made:
    rng = np.random.default_rng(1)
    samples = [{"x": rng.normal(0, 1, (1, 3, 6, 6)).astype(np.float32)} for _ in range(24)]
    asked = asked_of(parse_config({"quantize": {**ONLY, "rewrite": rewrite or {}}}, "here"), Places(graph))
    given = Given(ranging=samples[:16], judging=samples[16:], asking=asked, asked=asked, runner=RealEngine)
    return Recipe(graph, given, recipe).cooked()


def kept(made: Made) -> dict[str, bool]:
    return {s.name: s.kept for s in made.stages}


def test_recipes_try_more_and_more_and_a_configuration_goes_before_them() -> None:
    def names(recipe: RecipeName, **asked: object) -> list[tuple[str, bool]]:
        return [(a.name, a.insisted) for a in attempts_of(recipe, Rewrite(**asked))]  # type: ignore[arg-type]

    assert names("fast") == []
    assert [n for n, _ in names("default")] == [EQUALISED, FREED, LEVELLED, ABSORBED]
    smoothed = [SMOOTH, "channels smoothed by 0.75"]
    assert [n for n, _ in names("best")] == [EQUALISED, FREED, LEVELLED, *smoothed, ABSORBED]
    assert names("fast", smooth="on", smooth_share=0.25) == [("channels smoothed by 0.25", True)]
    assert names("default", equalize="off", level="off", absorb="on") == [("ReLU6 as ReLU", False), (ABSORBED, True)]
    asked = {"relu6_to_relu": "on", "absorb": "off", "level": "on"}
    assert names("default", **asked) == [("ReLU6 as ReLU", True), (EQUALISED, False), (LEVELLED, True)]


def test_rounds_of_equalisation_are_those_that_are_asked_for() -> None:
    rng = np.random.default_rng(3)
    maker, pointwise = Maker(0), Conv((Window(1), Window(1)), 1)
    for inputs in (3, 8, 8):
        sizes = np.exp2(rng.uniform(-4, 4, (8, 1, 1, 1)))
        maker.add(pointwise, maker.constant(rng.normal(0, 1, (8, inputs, 1, 1)) * sizes), maker.constant(np.zeros(8)))
        maker.add(Function("Relu"))
    once, often = (
        next(iter(attempts_of("fast", Rewrite(equalize="on", equalize_rounds=n)))).rewritten(maker.done(), dict).graph
        for n in (1, 100)
    )
    first = [next(v.data for v in g.values.values() if v.data is not None and v.data.size == 24) for g in (once, often)]
    assert not np.array_equal(first[0], first[1])


def test_uneven_channels_are_equalised_as_far_as_bounds_allow() -> None:
    sizes = np.array([1, 4, 16, 64, 1, 4, 16, 64]) / 64
    far = kept(cooked(network(Clip(0.0, 60.0), sizes), "default"))
    assert far[EQUALISED]
    free = kept(cooked(network(Function("Relu"), sizes), "default"))
    assert free[EQUALISED]
    assert FREED not in free


@pytest.mark.parametrize(("bound", "survives"), [(1.5, False), (9.0, True)])
def test_a_bound_goes_only_where_the_float_network_survives_it(bound: float, survives: bool) -> None:
    """Half the channels reach 9 at times; at 1.5 most of their numbers are cut."""
    sizes = np.array([0.05, 3.0, 0.05, 3.0, 0.05, 3.0])
    stages = cooked(network(Clip(0.0, bound), sizes), "default").stages
    freed = next(s for s in stages if s.name == FREED)
    before = stages[stages.index(freed) - 1].sqnr
    assert freed.kept == (freed.sqnr > before)
    assert (freed.sqnr > 20) == survives


def test_a_channel_of_outliers_is_smoothed_into_the_weights() -> None:
    sizes = np.array([30.0, 1, 1, 1, 1, 1, 1, 1])
    made = cooked(network(Function("Relu"), sizes, reading=1 / sizes), "best", {"equalize": "off"})
    assert kept(made)[SMOOTH]


def test_a_high_bias_is_absorbed() -> None:
    sizes = np.array([0.1, 0.1, 0.1, 0.1])
    made = cooked(network(Function("Relu"), sizes, bias=60.0, reading=np.ones(4)), "default", {"equalize": "off"})
    assert kept(made)[ABSORBED]
    assert made.stages[-1].sqnr > made.stages[0].sqnr + 6


def test_what_is_insisted_on_is_kept() -> None:
    made = cooked(network(Clip(0.0, 1.5), np.full(4, 3.0)), "fast", {"relu6_to_relu": "on"})
    assert kept(made)["ReLU6 as ReLU"]
    assert not any(isinstance(n.op, Clip) for n in made.graph.nodes)
