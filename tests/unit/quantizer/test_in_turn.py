"""Ranges of one tensor after the other: what is tried, what is kept, and with how many samples."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, Stored
from codegen.ir.shape import Window
from codegen.quantizer.asked import asked_of
from codegen.quantizer.calibrate import tensors_of, watched
from codegen.quantizer.config import parse_config
from codegen.quantizer.in_turn import GAIN, InTurn, Turns, work_of
from codegen.quantizer.live import stacked, tensors_held
from codegen.quantizer.observe import observe
from codegen.quantizer.places import Places
from codegen.quantizer.recipe import Given, Made, Recipe, least_sqnr
from codegen.quantizer.scheme import Scheme
from codegen.real.elementwise import Function
from codegen.real.engine import RealEngine
from codegen.real.reduce import Softmax
from codegen.real.window import Conv
from tests.support.float_networks import Maker

SIDE = 8
PLAIN = {
    "rewrite": {"equalize": "off", "level": "off", "absorb": "off", "relu6_to_relu": "off"},
    "correct": {"weights": "nearest", "bias": "none"},
}


def network(*, bounded: bool = False) -> RealGraph:
    """Two channels between two convolutions, the second of which hardly reads the second channel."""
    maker, rng = Maker(0, (1, 2, SIDE, SIDE)), np.random.default_rng(0)
    pointwise = Conv((Window(1), Window(1)), 1)
    mixed = np.array([[0.7, 0.1], [0.3, 1.0]]).reshape(2, 2, 1, 1)
    maker.add(pointwise, maker.constant(mixed), maker.constant(np.zeros(2)))
    maker.add(Function("Relu"))
    weights = rng.normal(0, 1, (3, 2, 1, 1))
    weights[:, 1] *= 1e-3
    maker.add(pointwise, maker.constant(weights), maker.constant(np.zeros(3)))
    if bounded:
        maker.add(Softmax((1,)))
    return maker.done()


def samples(count: int, seed: int = 1) -> list[dict[str, Array]]:
    """Small numbers in the first channel, and one that is six times as large in the second."""
    rng = np.random.default_rng(seed)
    made = np.abs(rng.uniform(0, 1, (count, 1, 2, SIDE, SIDE))).astype(np.float32)
    made[:, 0, 1, 0, 0] = 6.0
    return [{"x": x} for x in made]


def turns_of(graph: RealGraph, config: Mapping[str, object] | None = None) -> Turns:
    places = Places(graph)
    asked = asked_of(parse_config(dict(config or {}), "here"), places)
    seen = watched(places, asked)
    observe(graph, samples(8), RealEngine, seen, None, 2)
    return Turns(places, seen, asked, asked)


class Judge:
    """The network's dB with some tensors as integers, over eight samples that set ranges and eight that do not."""

    def __init__(self, graph: RealGraph) -> None:
        self.graph, self.given = graph, [stacked(graph, samples(8, seed), range(8)) for seed in (2, 1)]

    def __call__(self, tensors: Mapping[str, Stored]) -> tuple[float, float]:
        one, other = (self._db(feeds, tensors) for feeds in self.given)
        return one, other

    def _db(self, feeds: dict[str, Array], tensors: Mapping[str, Stored]) -> float:
        real, held = (tensors_held(self.graph, Scheme(t), feeds, self.graph.outputs) for t in ({}, tensors))
        return least_sqnr([real], [held])


def test_a_range_gets_narrower_where_the_network_gains_by_both_kinds_of_samples() -> None:
    graph = network()
    turns, judge = turns_of(graph), Judge(graph)
    (hidden,) = (n.outputs[0] for n in graph.nodes if n.op == Function("Relu"))
    found = turns.ranges(judge)
    before = tensors_of(turns.places, turns.seen, turns.asking)
    after = tensors_of(turns.places, turns.seen, InTurn(turns.asking, found))
    assert after[hidden].scale < 0.9 * before[hidden].scale
    assert all(new > old for new, old in zip(judge(after), judge(before), strict=True))
    assert after["x"].scale == before["x"].scale, "what the network is given keeps its integers"


@pytest.mark.parametrize("gains", [(5.0, -0.1), (-0.1, 5.0), (0.2, 0.3)])
def test_a_range_stays_where_either_kind_of_samples_loses_or_both_gain_little(gains: tuple[float, float]) -> None:
    turns = turns_of(network())
    judged = iter([(10.0, 10.0), *[(10 + gains[0], 10 + gains[1])] * 6])
    assert not turns.ranges(lambda tensors: next(judged))
    assert next(judged, None) is None, "two tensors, three ranges each"


def test_powers_of_two_are_halved_or_doubled() -> None:
    turns = turns_of(network(), {"quantize": {"scale": "pot"}})
    before = tensors_of(turns.places, turns.seen, turns.asking)
    scales = [{n: s.scale.item() / before[n].scale.item() for n, s in held.items()} for held in _looks(turns)]
    changed = [tuple(by for by in by_name.values() if by != 1) for by_name in scales]
    assert changed == [(), (0.5,), (2.0,), (0.5,), (2.0,)]


def test_what_was_asked_for_and_what_has_bounds_is_left_alone() -> None:
    graph = network(bounded=True)
    hidden, logits = graph.nodes[1].outputs[0], graph.nodes[2].outputs[0]
    config = {"tensor": [{"name": hidden, "range": [0.0, 3.0]}, {"name": logits, "method": "percentile"}]}
    assert len(_looks(turns_of(graph, config))) == 1
    assert len(_looks(turns_of(graph))) == 1 + 2 * 3
    assert len(_looks(turns_of(graph, {"quantize": {"activation": {"bits": 16}}}))) == 1


def _looks(turns: Turns) -> list[Mapping[str, Stored]]:
    """All tensors that are tried, none of which is better."""
    looked: list[Mapping[str, Stored]] = []

    def look(tensors: Mapping[str, Stored]) -> tuple[float, float]:
        looked.append(tensors)
        return 0.0, 0.0

    turns.ranges(look)
    return looked


def test_samples_are_as_many_as_the_work_leaves() -> None:
    graph = network()
    turns, places = turns_of(graph), SIDE * SIDE
    assert work_of(graph) == 16 * places * (2 + 2 + 3) + places * (2 * 2 + 3 * 2)
    looks = 1 + 2 * 3
    assert turns.samples_for(2 * looks * work_of(graph) * 12.5) == 12


def _cooked(turns: str | None, methods: list[str] | None = None) -> Made:
    graph = network()
    said = {"turns": turns, "methods": methods}
    search = {key: value for key, value in said.items() if value is not None}
    asked = asked_of(parse_config({"quantize": {**PLAIN, "search": search}}, "here"), Places(graph))
    given = Given(ranging=samples(10), judging=samples(10, 5), asking=asked, asked=asked, runner=RealEngine)
    return Recipe(graph, given, "default").cooked()


def test_a_recipe_keeps_ranges_in_turn_where_they_are_better_unless_methods_are_said() -> None:
    made = _cooked(None)
    *before, last = made.stages
    assert last.name == "ranges in turn"
    assert last.kept
    assert last.sqnr > max(s.sqnr for s in before) + GAIN
    assert isinstance(made.asking, InTurn)
    for stages in (_cooked("off").stages, _cooked(None, ["mse"]).stages):
        assert "ranges in turn" not in [s.name for s in stages]
    assert "ranges in turn" in [s.name for s in _cooked("try", ["minmax"]).stages]
