"""Networks that a runtime takes whole give what their nodes give one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from codegen.frontends import read_real
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealState
from codegen.quantizer.applied import applied
from codegen.quantizer.batched import NodeRun, in_numpy
from codegen.quantizer.live import stacked, tensors_held
from codegen.quantizer.rewrite.fold import fold_affine
from codegen.quantizer.scheme import Scheme
from codegen.quantizer.whole import room_for, wanted_of
from codegen.verbs.ort_nodes import OrtNodes
from tests.support.float_networks import random_network
from tests.support.onnx_files import onnx_graph, port
from tests.unit.quantizer.test_recipe import plain, samples_of


def tensors_of(
    graph: RealGraph, scheme: Scheme, names: Sequence[str], run: NodeRun, feeds: dict[str, Array]
) -> dict[str, Array]:
    found = room_for(graph, names, len(next(iter(feeds.values()))))
    wanted_of(graph, scheme, names, run)(feeds, found)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_a_runtime_gives_the_tensors_that_nodes_one_by_one_give(seed: int) -> None:
    pytest.importorskip("onnxruntime")
    graph = fold_affine(random_network(seed)).graph
    samples = samples_of(graph, 4)
    names = [graph.nodes[len(graph.nodes) // 2].outputs[0], *graph.outputs]
    for scheme in (Scheme(), plain(graph, samples)):
        assert OrtNodes().whole(applied(graph, scheme).live()) is not None
        found = tensors_of(graph, scheme, names, OrtNodes(), stacked(graph, samples, [3, 1]))
        wanted = tensors_held(graph, scheme, stacked(graph, samples, [3, 1]), names)
        assert list(found) == names
        for name in names:
            # a sum in another order may be rounded the other way
            step = 0 if scheme.tensors.get(name) is None else scheme.tensors[name].scale.item()
            away = np.abs(found[name] - wanted[name])
            assert (away <= 1e-4 * np.abs(wanted[name]).max() + 4 * step).mean() > 0.99


def test_what_a_runtime_refuses_only_when_it_runs_is_computed_in_numpy(tmp_path: Path) -> None:
    """ONNX Runtime opens a mean over four axes and does not run it."""
    pytest.importorskip("onnxruntime")
    node = helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[2] * 4)
    model = helper.make_model(
        onnx_graph([node], [port("x", (1, 2, *(3,) * 4))], ["y"], []),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    graph = read_real(path)
    names = (*graph.inputs, *graph.outputs)
    feeds = {"x": np.random.default_rng(0).normal(size=(2, 1, 2, *(3,) * 4)).astype(np.float32)}
    wanted = tensors_of(graph, Scheme(), names, in_numpy, feeds)
    assert OrtNodes().whole(graph) is not None
    for found in (
        tensors_of(graph, Scheme(), names, OrtNodes(), feeds),
        tensors_held(graph, Scheme(), feeds, names, OrtNodes()),
    ):
        assert all(np.array_equal(found[name], wanted[name]) for name in names)


def test_inputs_and_constants_among_the_tensors_are_given_too() -> None:
    pytest.importorskip("onnxruntime")
    graph = fold_affine(random_network(2)).graph
    constant, data = next((v.name, v.data) for v in graph.values.values() if v.data is not None)
    samples, names = samples_of(graph, 2), [graph.inputs[0], constant, graph.outputs[0]]
    found = tensors_of(graph, Scheme(), names, OrtNodes(), stacked(graph, samples, range(2)))
    assert np.array_equal(found[names[0]], np.stack([s[names[0]] for s in samples]))
    assert np.array_equal(found[constant], np.stack([data, data]))


def test_what_keeps_something_between_runs_is_not_run_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = fold_affine(random_network(1)).graph
    state = RealState(graph.inputs[0], graph.outputs[0], np.zeros(graph.type(graph.inputs[0]).shape, np.float32))
    opened: list[RealGraph] = []
    monkeypatch.setattr(OrtNodes, "whole", lambda self, made: opened.append(made))
    for some, count in ((graph, 1), (replace(graph, states=(state,)), 1)):
        wanted_of(some, Scheme(), graph.outputs, OrtNodes())
        assert len(opened) == count


@pytest.mark.parametrize("seed", range(2))
def test_where_nothing_takes_a_network_whole_its_nodes_are_run(seed: int) -> None:
    graph = fold_affine(random_network(seed)).graph
    samples = samples_of(graph, 2)
    found = tensors_of(graph, Scheme(), graph.outputs, in_numpy, stacked(graph, samples, range(2)))
    wanted = tensors_held(graph, Scheme(), stacked(graph, samples, range(2)), graph.outputs)
    assert all(np.array_equal(found[name], wanted[name]) for name in graph.outputs)
