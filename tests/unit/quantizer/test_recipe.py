"""Two networks side by side, and what recipes keep of what they try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.applied import applied
from codegen.quantizer.asked import asked_of, from_words
from codegen.quantizer.attempts import RecipeName
from codegen.quantizer.bias import mean_error, with_biases
from codegen.quantizer.calibrate import scheme_of, watched
from codegen.quantizer.config import parse_config
from codegen.quantizer.live import stacked, tensors_held, weight_numbers
from codegen.quantizer.observe import observe
from codegen.quantizer.places import Places
from codegen.quantizer.products import Product, products
from codegen.quantizer.recipe import Given, Made, Recipe, least_sqnr, verdicts
from codegen.quantizer.rewrite.fold import fold_affine
from codegen.quantizer.scheme import Scheme
from codegen.quantizer.sequential import Choices, SideBySide
from codegen.quantizer.spec import Spec
from codegen.real.elementwise import Binary, Clip, Function
from codegen.real.engine import RealEngine, numbers_of
from codegen.real.reduce import Softmax
from tests.support.float_networks import Maker, random_network

Sample = dict[str, Array]
FIXED = {role: {"method": "fixed", "range": [-2.0, 2.0]} for role in ("input", "activation")}


def samples_of(graph: RealGraph, count: int, seed: int = 0) -> list[Sample]:
    random = np.random.default_rng(seed)
    return [
        {n: random.normal(0, 1, graph.type(n).shape).astype(np.float32) for n in graph.inputs} for _ in range(count)
    ]


def plain(graph: RealGraph, samples: list[Sample]) -> Scheme:
    """Extremes, and each weight rounded for itself."""
    places, asking = Places(graph), asked_of(from_words({}), Places(graph))
    seen = watched(places, asking)
    observe(graph, samples, RealEngine, seen)
    return scheme_of(places, seen, asking)


def together(graph: RealGraph, samples: list[Sample]) -> dict[str, Array]:
    return stacked(graph, samples, range(len(samples)))


@pytest.mark.parametrize("seed", range(10))
def test_all_samples_at_once_give_what_each_gives_alone(seed: int) -> None:
    graph = fold_affine(random_network(seed)).graph
    samples = samples_of(graph, 5)
    for scheme in (Scheme(), plain(graph, samples)):
        made = applied(graph, scheme)
        found = tensors_held(graph, scheme, together(graph, samples), graph.outputs)
        for i, sample in enumerate(samples):
            for name, expected in zip(graph.outputs, RealEngine(made).run(sample).values(), strict=True):
                # sums are not in the same order, and a rounding may go the other way
                step = 0 if scheme.tensors.get(name) is None else scheme.tensors[name].scale.item()
                close = np.abs(found[name][i] - expected) <= 1e-4 * np.abs(expected).max() + 4 * step
                assert close.mean() > 0.99


@pytest.mark.parametrize("seed", range(6))
def test_each_products_bias_takes_up_the_mean_error_of_what_is_seen_of_it(seed: int) -> None:
    graph, biases = with_biases(fold_affine(random_network(seed)).graph)
    samples = samples_of(graph, 12)
    scheme = plain(graph, samples)
    spec = Spec(bits=4, symmetric=True, per_channel=True, narrow_range=True)
    operands = {c.key for c in Places(graph).constants if c.role == "activation"}
    made_there = {p.node.outputs[0] for p in products(graph)}  # seen before they are rounded
    tensors = {name: stored for name, stored in scheme.tensors.items() if name not in made_there}
    given = Scheme(tensors, {k: w for k, w in scheme.weights.items() if k in operands})
    errors = {}
    for correct in (False, True):
        sides = SideBySide(graph, biases, given, lambda p: spec, Choices(effort="nearest", correct=correct))
        decided = sides.run(lambda part: stacked(graph, samples, part), {0: range(len(samples))})
        assert {key for key, _ in decided.weights} == {p.node.label for p in products(graph) if p.reads in tensors}
        held = Scheme(given.tensors, {**given.weights, **decided.weights})
        names = [n for p in products(graph) for n in (p.node.outputs[0], *clipped(graph, p.node.outputs[0]))]
        made = tensors_held(decided.written(graph), held, together(graph, samples), names)
        wanted = tensors_held(graph, Scheme(), together(graph, samples), names)
        errors[correct] = []
        for p in products(graph):
            (y,) = clipped(graph, p.node.outputs[0]) or (p.node.outputs[0],)
            if p.bias is not None:
                axis = p.out_axis if p.out_axis < 0 else p.out_axis + 1
                passes = (made[y] > 0) & (made[y] < 6) if y != p.node.outputs[0] else np.ones(made[y].shape, bool)
                away = np.abs(mean_error(wanted[y] * passes, made[y] * passes, axis)).max() / np.abs(wanted[y]).max()
                errors[correct].append(away)
    assert max(errors[True]) < 1e-3
    assert max(errors[False]) > 30 * max(errors[True])


def test_weights_that_are_rounded_each_for_itself_look_at_no_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, biases = with_biases(fold_affine(random_network(1)).graph)
    samples, spec = samples_of(graph, 6), Spec(bits=4, symmetric=True, per_channel=True, narrow_range=True)
    looks: list[Product] = []
    monkeypatch.setattr(Product, "samples", lambda self, *words: looks.append(self))
    sides = SideBySide(graph, biases, plain(graph, samples), lambda p: spec, Choices(effort="nearest"))
    decided = sides.run(lambda part: stacked(graph, samples, part), {0: range(len(samples))})
    assert not looks
    for (label, place), weight in decided.weights.items():
        node = next(n for n in graph.nodes if n.label == label)
        away = np.abs(weight_numbers(weight) - numbers_of(graph.values[node.inputs[place]]))
        assert (away <= weight.stored.spread(away.shape)[0] / 2 * 1.0001).all()


def clipped(graph: RealGraph, name: str) -> tuple[str, ...]:
    """What an activation makes of a result that nothing else reads."""
    readers = graph.readers(name)
    bounded = len(readers) == 1 and (isinstance(readers[0].op, Clip) or readers[0].op == Function("Relu"))
    return (readers[0].outputs[0],) if bounded else ()


def cook(graph: RealGraph, name: RecipeName, config: dict[str, object] | None = None, **words: object) -> Made:
    ranging, judging = samples_of(graph, 24), samples_of(graph, 8, seed=1)
    asked = asked_of(from_words(words) if config is None else parse_config({"quantize": config}, "here"), Places(graph))
    given = Given(ranging=ranging, judging=judging, asking=asked, asked=asked, runner=RealEngine)
    return Recipe(graph, given, name).cooked()


def sqnr_of(graph: RealGraph, made: Made) -> float:
    samples = together(graph, samples_of(graph, 40, seed=2))
    wanted = tensors_held(graph, Scheme(), samples, graph.outputs)
    return least_sqnr([wanted], [tensors_held(made.graph, made.scheme, samples, made.graph.outputs)])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("words", [{}, {"weights": 4}, {"scale": "pot", "granularity": "tensor"}], ids=str)
def test_what_is_kept_is_better_each_time_and_so_is_the_network(words: dict[str, object]) -> None:
    gains = []
    for seed in (1, 4):
        graph = random_network(seed)
        made = cook(graph, "default", **words)
        kept = [s.sqnr for s in made.stages if s.kept]
        assert made.stages[0].kept
        assert kept == sorted(kept)
        must_gain = ("made up for", "in turn")
        assert all(s.sqnr <= kept[-1] for s in made.stages if not any(word in s.name for word in must_gain))
        first = fold_affine(graph).graph
        places, asked = Places(first), asked_of(from_words(words), Places(first))
        seen = watched(places, asked)
        observe(first, samples_of(first, 24), RealEngine, seen)
        gains.append(sqnr_of(graph, made) - sqnr_of(graph, Made(first, first, scheme_of(places, seen, asked), asked)))
    assert np.mean(gains) > 0


def test_what_is_fitted_to_some_samples_is_not_kept_where_it_loses_on_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fourth stage fits weights: with a great gain on its own samples, and a gain or a loss on the others."""
    graph, judged, kept = random_network(4), Recipe._judged, []
    for lost in (-100.0, 100.0):
        unseen = iter((0.0, 0.0, 0.0, lost))

        def fitted_judge(self: Recipe, made: object, left: Iterator[float] = unseen) -> tuple[float, float]:
            one, other = judged(self, made)  # type: ignore[arg-type]
            moved = next(left, 0.0)
            return one - moved, other + moved + 1000 * (moved != 0)

        monkeypatch.setattr(Recipe, "_judged", fitted_judge)
        config = {
            "rewrite": {"equalize": "off", "level": "off", "absorb": "off", "relu6_to_relu": "off"},
            "search": {"methods": ["octav"]},
        }
        stages = cook(graph, "default", config=config).stages
        kept.append(next(s.kept for s in stages if "made up for" in s.name))
    assert kept == [True, False]


def residual(seed: int) -> RealGraph:
    """Two convolutions, the second one's result added to the first one's."""
    maker = Maker(seed, (1, 4, 6, 6), uneven=0.5)
    maker.conv(8)
    maker.add(Function("Relu"))
    start = maker.last
    maker.conv(8)
    maker.add(Binary("Add"), start)
    return maker.done()


def test_the_last_layer_before_a_sum_makes_up_for_the_other_operand() -> None:
    """A skip that is cut off: what the sum lacks on other samples, with and without."""
    lost = {False: 0.0, True: 0.0}
    for seed in range(4):
        graph, biases = with_biases(residual(seed))
        (total,) = graph.outputs
        skip = next(n for n in graph.nodes if n.op == Binary("Add")).inputs[1]
        samples, others = samples_of(graph, 40), together(graph, samples_of(graph, 20, seed=9))
        tensors = dict(plain(graph, samples).tensors)
        tensors[skip] = replace(tensors[skip], scale=tensors[skip].scale * 0.1)
        given, spec = Scheme({n: s for n, s in tensors.items() if n != total}), Spec(bits=8, symmetric=True)
        wanted = tensors_held(graph, Scheme(), others, [total])[total]
        for summed in lost:
            choices = Choices(passed=True, summed=summed)
            sides = SideBySide(graph, biases, given, lambda p: spec, choices)  # noqa: B023
            decided = sides.run(lambda part: stacked(graph, samples, part), {0: range(len(samples))})  # noqa: B023
            made = tensors_held(decided.written(graph), Scheme(given.tensors, decided.weights), others, [total])[total]
            lost[summed] += float(np.square(wanted - made).sum() / np.square(wanted).sum())
    assert lost[True] < 0.98 * lost[False]


def test_sums_are_made_up_for_by_the_thorough_recipe_where_there_are_any() -> None:
    maker = Maker(0)
    maker.conv()
    straight = maker.done()
    cases: list[tuple[RealGraph, RecipeName]] = [(residual(0), "best"), (residual(0), "default"), (straight, "best")]
    told = [any("those of sums" in s.name for s in cook(graph, name, weights=4).stages) for graph, name in cases]
    assert told == [True, False, False]


def test_the_same_samples_give_the_same_integers() -> None:
    graph = random_network(3)
    one, two = cook(graph, "default", weights=4), cook(graph, "default", weights=4)
    assert one.stages == two.stages
    assert one.scheme.weights.keys() == two.scheme.weights.keys()
    for key, weight in one.scheme.weights.items():
        np.testing.assert_array_equal(weight.data, two.scheme.weights[key].data)
        np.testing.assert_array_equal(weight.stored.scale, two.scheme.weights[key].stored.scale)


def test_a_method_that_is_said_is_not_replaced() -> None:
    graph = random_network(3)
    free, said = cook(graph, "default"), cook(graph, "default", config=FIXED)
    assert any(s.name.startswith("ranges") for s in free.stages)
    places = Places(said.graph)
    ours = [t for t in places.tensors if t.bounds is None and not t.like]
    assert ours
    for tensor in ours:
        stored = said.scheme.tensors[tensor.name]
        assert stored.scale.item() == pytest.approx(4 / 255, rel=1e-6)


def test_a_network_is_judged_by_what_bounded_functions_are_given() -> None:
    maker = Maker(0)
    maker.conv()
    inner = maker.last
    shares = maker.add(Softmax((1,)))
    other = maker.add(Function("Relu"), x=inner)
    graph = maker.done(shares, other, inner)
    assert verdicts(graph) == (inner, other)


def test_states_are_those_of_a_first_run() -> None:
    from codegen.ir.real import RealState

    maker = Maker(0, (1, 3, 4, 4))
    maker.conv(3)
    conv = maker.last
    memory = maker.net.input("m", maker.shape).name
    total = maker.add(Binary("Add"), memory, x=conv)
    graph = replace(maker.done(), inputs=("x",))
    graph = replace(graph, states=(RealState("m", total, np.ones((1, 3, 4, 4), np.float32)),))
    samples = samples_of(graph, 3)
    found = tensors_held(graph, Scheme(), together(graph, samples), graph.outputs)[total]
    for i, sample in enumerate(samples):
        np.testing.assert_allclose(found[i], RealEngine(graph).run(sample)[total], atol=1e-5)


def test_what_the_configuration_decides_is_not_tried() -> None:
    config = {
        "correct": {"bias": "none", "weights": "feedback"},
        "rewrite": {"equalize": "off", "level": "off", "absorb": "off", "relu6_to_relu": "off"},
        "search": {"methods": ["octav"]},
    }
    names = [s.name for s in cook(random_network(3), "default", config=config).stages]
    assert names[:3] == ["extremes", "ranges by octav", "weights by feedback, errors made up for"]


def test_a_rewrite_that_is_insisted_on_is_kept() -> None:
    made = cook(random_network(4), "fast", config={"rewrite": {"equalize": "on"}})
    assert [s.kept for s in made.stages if s.name == "channels equalised"] == [True]
