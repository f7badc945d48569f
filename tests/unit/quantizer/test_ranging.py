"""A method for each tensor, by what the layers that read it lose."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.ir.shape import Window
from codegen.quantizer.asked import asked_of, from_words
from codegen.quantizer.calibrate import tensors_of, watched
from codegen.quantizer.config import parse_config
from codegen.quantizer.live import stacked
from codegen.quantizer.measure import Likeness
from codegen.quantizer.observe import observe
from codegen.quantizer.places import Places
from codegen.quantizer.ranging import ByMethod, least_at_readers
from codegen.quantizer.recipe import Given, Recipe
from codegen.quantizer.spec import Method
from codegen.real.elementwise import Function
from codegen.real.engine import RealEngine
from codegen.real.movement import Reshape
from codegen.real.window import Conv
from tests.support.float_networks import Maker, random_network

METHODS: tuple[Method, ...] = ("minmax", "percentile")
RARE = 0.002


def network(outlier: float, moved: bool) -> RealGraph:
    """A tensor of two channels, the second one of rare large numbers, that are multiplied by `outlier`."""
    maker, rng = Maker(0, (1, 2, 16, 16)), np.random.default_rng(0)
    pointwise = Conv((Window(1), Window(1)), 1)
    maker.add(pointwise, maker.constant(np.eye(2).reshape(2, 2, 1, 1)), maker.constant(np.zeros(2)))
    maker.add(Function("Relu"))
    if moved:
        maker.add(Reshape((1, 2, 8, 32)))
    weights = rng.normal(0, 1, (3, 2, 1, 1))
    weights[:, 1] *= outlier
    maker.add(pointwise, maker.constant(weights), maker.constant(np.zeros(3)))
    maker.add(Function("Relu"))
    return maker.done()


def samples(count: int = 12) -> list[dict[str, Array]]:
    rng = np.random.default_rng(1)
    made = []
    for _ in range(count):
        x = np.abs(rng.normal(0, 1, (1, 2, 16, 16))).astype(np.float32)
        x[:, 1] = np.where(rng.random((1, 16, 16)) < RARE, 400.0, 0.0)
        made.append({"x": x})
    return made


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize(("outlier", "expected"), [(1.0, "minmax"), (0.0, "percentile")])
def test_a_tensor_gets_the_method_that_serves_its_reader(outlier: float, expected: str, moved: bool) -> None:
    graph = network(outlier, moved)
    places = Places(graph)
    asked = asked_of(parse_config({"quantize": {"activation": {"percentile": 99.0}}}, "here"), places)
    seen = watched(places, asked)
    observe(graph, samples(), RealEngine, seen)
    tried = {m: tensors_of(places, seen, ByMethod(asked, asked, m)) for m in METHODS}
    found = least_at_readers(places, tried, stacked(graph, samples(), range(12)))
    leader = graph.nodes[1].outputs[0]
    assert found[leader] == expected
    assert set(found) <= {t.name for t in places.tensors if not t.like and t.role == "activation"}


def test_a_method_that_is_said_stays_and_an_own_one_goes_before_that_of_all() -> None:
    graph = network(1.0, moved=False)
    name = graph.nodes[1].outputs[0]
    asked = asked_of(parse_config({"tensor": [{"name": name, "method": "mse"}]}, "here"), Places(graph))
    assert ByMethod(asked, asked, {name: "octav"}).spec("activation", tensor=name).method == "mse"
    free = asked_of(from_words({}), Places(graph))
    whole = ByMethod(free, free, "percentile")
    assert ByMethod(whole, free, {name: "octav"}).spec("activation", tensor=name).method == "octav"
    assert ByMethod(whole, free, {name: "octav"}).spec("activation", tensor="x").method == "percentile"
    pot = asked_of(from_words({"scale": "pot"}), Places(graph))
    assert ByMethod(pot, pot, {name: "mse"}).spec("activation", tensor=name).method == "diffs"


@pytest.mark.parametrize("measure", ["sqnr", "cosine"])
def test_a_recipe_tries_each_tensors_own_method_and_judges_as_is_asked(measure: str) -> None:
    graph = random_network(2)
    rng = np.random.default_rng(3)
    given = [{n: rng.normal(0, 1, graph.type(n).shape).astype(np.float32) for n in graph.inputs} for _ in range(12)]
    config = {
        "search": {"each": "layer", "methods": ["minmax", "mse", "percentile"], "measure": measure},
        "rewrite": {"equalize": "off", "level": "off", "absorb": "off", "relu6_to_relu": "off"},
        "correct": {"weights": "nearest"},
    }
    asked = asked_of(parse_config({"quantize": config}, "here"), Places(graph))
    known = Given(ranging=given[:8], judging=given[8:], asking=asked, asked=asked, runner=RealEngine)
    stages = Recipe(graph, known, "default").cooked().stages
    by_layer = next(s for s in stages if s.name == "ranges by layer")
    assert by_layer.kept == (by_layer.sqnr > max(s.sqnr for s in stages[: stages.index(by_layer)]))


def test_likeness_is_the_cosine_whatever_the_factor() -> None:
    rng = np.random.default_rng(4)
    a = rng.normal(0, 1, (3, 50)).astype(np.float32)
    b = a + rng.normal(0, 0.2, a.shape).astype(np.float32)
    found = []
    for factor in (1.0, 7.0):
        alike = Likeness()
        for x, y in zip(a, b, strict=True):
            alike.take(x, y * np.float32(factor))
        found.append(alike.sqnr)
    cosine = float(np.vdot(a, b)) / float(np.linalg.norm(a) * np.linalg.norm(b))
    np.testing.assert_allclose(found, -10 * np.log10(1 - cosine**2), rtol=1e-4)
    opposite = Likeness()
    opposite.take(a, -a)
    assert opposite.sqnr == -200


def test_each_tensors_method_is_open_though_one_for_all_was_kept() -> None:
    graph = random_network(4)
    rng = np.random.default_rng(3)
    given = [{n: rng.normal(0, 1, graph.type(n).shape).astype(np.float32) for n in graph.inputs} for _ in range(12)]
    config = {
        "search": {"each": "layer", "methods": ["minmax", "mse", "octav"]},
        "rewrite": {"equalize": "off", "level": "off", "absorb": "off", "relu6_to_relu": "off"},
        "correct": {"weights": "nearest", "bias": "none"},
    }
    asked = asked_of(parse_config({"quantize": config}, "here"), Places(graph))
    known = Given(ranging=given[:8], judging=given[8:], asking=asked, asked=asked, runner=RealEngine)
    *before, by_layer = Recipe(graph, known, "default").cooked().stages
    assert any(s.kept for s in before[1:])
    assert by_layer.name == "ranges by layer"
    assert by_layer.sqnr not in [s.sqnr for s in before]
