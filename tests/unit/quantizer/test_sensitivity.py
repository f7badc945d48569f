"""Who is ranked first: a layer that was sabotaged, of any network and wherever it stands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from codegen.ir.real import RealGraph, Stored
from codegen.quantizer.applied import applied
from codegen.quantizer.measure import output_sqnr, outputs_of
from codegen.quantizer.places import Places
from codegen.quantizer.scheme import Scheme, Weight
from codegen.quantizer.sensitivity import (
    BY,
    By,
    Judge,
    Looking,
    Part,
    exchanged,
    layer_of,
    only,
    parts_of,
    sensitivities,
    without,
)
from codegen.real.elementwise import Function
from codegen.real.engine import RealEngine
from tests.support.float_networks import Maker
from tests.support.quantizing import Plain, plain_schemes


def network(seed: int) -> RealGraph:
    maker = Maker(seed, (1, 3, 6, 6), uneven=0.5)
    for _ in range(2):
        maker.conv(6)
        maker.add(Function("Relu"))
        maker.depthwise()
        maker.add(Function("Relu"))
        maker.residual()
    maker.conv(4)
    return maker.done()


def samples(graph: RealGraph, count: int = 2) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(1)
    return [{n: rng.normal(0, 1, graph.type(n).shape).astype(np.float32) for n in graph.inputs} for _ in range(count)]


def schemes(graph: RealGraph) -> tuple[Places, Scheme, Scheme]:
    """Places, and everything with 8 bits and with 16."""
    places, (scheme, wide) = plain_schemes(graph, samples(graph), Plain(), Plain(activations=16))
    return places, scheme, wide


def judge_of(graph: RealGraph) -> Judge:
    wanted = outputs_of(graph, samples(graph), RealEngine)
    return lambda scheme: output_sqnr(wanted, outputs_of(applied(graph, scheme), samples(graph), RealEngine))


def sabotaged(scheme: Scheme, part: Part) -> Scheme:
    """A part's integers taken for four times what they are."""
    tensors = {n: _wider(s) if n in part.tensors else s for n, s in scheme.tensors.items()}
    weights = {k: Weight(w.data, _wider(w.stored)) if k in part.weights else w for k, w in scheme.weights.items()}
    return Scheme(tensors, weights)


def _wider(stored: Stored) -> Stored:
    return replace(stored, scale=stored.scale * np.float32(4))


@pytest.mark.parametrize("seed", range(20))
def test_a_layer_whose_scale_is_four_times_too_large_comes_first(seed: int) -> None:
    graph = network(seed)
    places, scheme, _ = schemes(graph)
    layers = [p for p in parts_of(places, scheme) if p.weights]
    victim = layers[np.random.default_rng(seed).integers(len(layers))]
    bad = sabotaged(scheme, victim)
    ranked = sensitivities(parts_of(places, bad), Looking(scheme=bad, judge=judge_of(graph)))
    assert ranked[0].part.name == victim.name
    assert ranked[0].gains_float == max(r.gains_float for r in ranked) > 3


@pytest.mark.parametrize("by", BY)
def test_parts_are_everything_once(by: By) -> None:
    graph = network(0)
    places, scheme, _ = schemes(graph)
    parts = parts_of(places, scheme, by)
    assert sorted(n for p in parts for n in p.tensors) == sorted(scheme.tensors)
    assert sorted(k for p in parts for k in p.weights) == sorted(scheme.weights)
    assert len({p.name for p in parts}) == len(parts)


def test_an_activation_belongs_to_the_layer_before_it() -> None:
    graph = network(0)
    places, scheme, _ = schemes(graph)
    conv, relu = graph.nodes[:2]
    assert layer_of(places, relu.outputs[0]) == (conv.name, conv.op_type)
    part = next(p for p in parts_of(places, scheme) if p.name == conv.name)
    assert relu.outputs[0] in part.tensors
    assert {label for label, _ in part.weights} == {conv.label}


def test_only_without_and_exchanged_are_what_they_say() -> None:
    graph = network(0)
    places, scheme, wide = schemes(graph)
    part = parts_of(places, scheme)[2]
    alone, rest, mixed = only(scheme, part), without(scheme, part), exchanged(scheme, part, wide)
    assert alone.tensors.keys() == part.tensors
    assert alone.weights.keys() == part.weights
    assert {**alone.tensors, **rest.tensors}.keys() == scheme.tensors.keys()
    assert not alone.weights.keys() & rest.weights.keys()
    assert all(mixed.tensors[n] is (wide if n in part.tensors else scheme).tensors[n] for n in scheme.tensors)


def test_wider_integers_give_back_nearly_what_real_numbers_do() -> None:
    graph = network(3)
    places, scheme, wide = schemes(graph)
    done: list[tuple[int, int]] = []
    ranked = sensitivities(
        parts_of(places, scheme, "tensor"),
        Looking(scheme=scheme, judge=judge_of(graph), wide=wide),
        progress=lambda *counts: done.append(counts),
    )
    tensors = [r for r in ranked if r.part.tensors and r.part.op_type != "Input"]
    assert done == [(i + 1, len(ranked)) for i in range(len(ranked))]
    assert [r.alone for r in ranked] == sorted(r.alone for r in ranked)
    assert all(r.gains_wide is not None and abs(r.gains_wide - r.gains_float) < 1.0 for r in tensors)
