"""Samples that join where a network is narrower."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.quantizer import room
from codegen.quantizer.batched import NodeRun, in_numpy
from codegen.quantizer.bias import mean_error, with_biases
from codegen.quantizer.live import stacked, tensors_held
from codegen.quantizer.places import Places
from codegen.quantizer.products import products
from codegen.quantizer.rewrite.fold import fold_affine
from codegen.quantizer.scheme import Scheme
from codegen.quantizer.sequential import Choices, SideBySide
from codegen.quantizer.spec import Spec
from codegen.verbs.ort_nodes import OrtNodes, best_nodes
from tests.support.float_networks import random_network
from tests.unit.quantizer.test_recipe import clipped, plain, samples_of, together


@pytest.mark.parametrize("seed", range(4))
def test_samples_join_once_each_and_never_more_than_fit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = fold_affine(random_network(seed)).graph
    needs = list(room._needs(graph))
    monkeypatch.setattr(room, "_BYTES", 2 * 3 * max(needs))
    found = room.joins(graph, 1000)
    assert found[0] == range(3)
    assert [i for part in found.values() for i in part] == list(range(max(p.stop for p in found.values())))
    for number, part in found.items():
        assert part.stop * max(needs[number:]) <= 3 * max(needs)


@pytest.mark.parametrize("run", [in_numpy, best_nodes()])
@pytest.mark.parametrize("seed", range(4))
def test_samples_that_join_later_decide_with_the_others(seed: int, run: NodeRun) -> None:
    graph, biases = with_biases(fold_affine(random_network(seed)).graph)
    samples = samples_of(graph, 8)
    scheme = plain(graph, samples)
    last = [p for p in products(graph) if p.bias is not None and not clipped(graph, p.node.outputs[0])][-1]
    y, at = last.node.outputs[0], [n.label for n in graph.nodes].index(last.node.label)
    tensors = {name: stored for name, stored in scheme.tensors.items() if name != y}  # seen before it is rounded
    operands = {c.key for c in Places(graph).constants if c.role == "activation"}
    given = Scheme(tensors, {key: weight for key, weight in scheme.weights.items() if key in operands})
    spec = Spec(bits=4, symmetric=True, per_channel=True, narrow_range=True)
    away = {}
    for joins in ({0: range(2)}, {0: range(2), at: range(2, 8)}):
        sides = SideBySide(graph, biases, given, lambda p: spec, Choices(effort="nearest"), run)
        decided = sides.run(lambda part: stacked(graph, samples, part), joins)
        held = Scheme(tensors, {**given.weights, **decided.weights})
        made = tensors_held(decided.written(graph), held, together(graph, samples), [y])[y]
        wanted = tensors_held(graph, Scheme(), together(graph, samples), [y])[y]
        axis = last.out_axis if last.out_axis < 0 else last.out_axis + 1
        away[len(joins)] = np.abs(mean_error(wanted, made, axis)).max() / np.abs(wanted).max()
    assert away[2] < 1e-4
    assert away[1] > 10 * away[2]


@pytest.mark.parametrize("seed", range(6))
def test_onnx_runtime_gives_what_numpy_gives(seed: int) -> None:
    pytest.importorskip("onnxruntime")
    graph = fold_affine(random_network(seed)).graph
    samples = stacked(graph, samples_of(graph, 3), range(3))
    names = [o for n in graph.nodes for o in n.outputs]
    scheme = Scheme(
        {}, plain(graph, samples_of(graph, 3)).weights
    )  # a rounding that goes the other way would hide what is wrong
    wanted = tensors_held(graph, scheme, samples, names)
    found = tensors_held(graph, scheme, samples, names, OrtNodes())
    for name in names:
        assert np.allclose(found[name], wanted[name], rtol=1e-3, atol=1e-4 * max(np.abs(wanted[name]).max(), 1e-3))
