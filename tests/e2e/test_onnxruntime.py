"""Mode `ort` against ONNX Runtime, layer by layer: each layer gets the inputs that ONNX Runtime gave it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import pytest

from codegen.frontends.onnx import import_onnx
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import MODES, Mode
from codegen.ir.verify import verify_graph
from codegen.verbs.samples import Sample, random_samples
from tests.e2e.ort import Oracle, run_forced, share_equal
from tests.support.outsider import ort_session
from tests.support.real import MODELS, model_path, real_inputs

LAYERED = [name for name in MODELS if name != "mnist_cnn_qdq"]
"""ONNX Runtime refuses mnist_cnn_qdq without graph optimisation: one of its axes contradicts its scales."""


def samples(name: str, graph: Graph, count: int) -> list[Sample]:
    """Real inputs, and one at random."""
    ports, _ = graph_ports(graph)
    return [*({ports[0].name: x} for x in real_inputs(name, count)), *random_samples(ports, 1, 0)]


def layer_differences(name: str, mode: Mode, count: int) -> dict[str, tuple[int, int, int]]:
    """By tensor: elements that differ, elements, largest difference, over all samples together."""
    graph = import_onnx(model_path(name), mode=mode)
    ports, _ = graph_ports(graph)
    oracle = Oracle(model_path(name), graph)
    total: dict[str, tuple[int, int, int]] = defaultdict(lambda: (0, 0, 0))
    for sample in samples(name, graph, count):
        pairs = run_forced(graph, network_feeds(ports, sample), oracle.tensors(sample))
        for tensor, pair in pairs.items():
            wrong, size, largest = share_equal(*pair)
            old = total[tensor]
            total[tensor] = (old[0] + wrong, old[1] + size, max(old[2], largest))
    fed = {graph.values[face.value].source for face in graph.inputs}
    assert set(oracle.names) - fed <= set(total), "a layer was not compared"
    return total


def too_different(layers: dict[str, tuple[int, int, int]]) -> Iterable[str]:
    """Ties of the runtime's sums in float fall one way or the other, by the processor's vectors."""
    for tensor, (wrong, size, largest) in layers.items():
        if largest > 1 or (wrong > 2 and wrong > size // 200):
            yield f"{tensor}: {wrong} of {size} differ, by up to {largest}"


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("mode", MODES)
def test_model_imports_without_a_refusal(name: str, mode: Mode) -> None:
    graph = import_onnx(model_path(name), mode=mode)
    verify_graph(graph)
    assert len(graph.notes) == (1 if name == "mnist_cnn_qdq" else 0)
    assert all(n.note for n in graph.nodes)


def check_layers(name: str, count: int) -> None:
    assert not list(too_different(layer_differences(name, "ort", count)))


@pytest.mark.parametrize("name", LAYERED)
def test_layers_equal_onnx_runtime(name: str) -> None:
    check_layers(name, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERED)
def test_layers_equal_onnx_runtime_on_many_inputs(name: str) -> None:
    check_layers(name, 20)


def test_mnist_equals_optimised_onnx_runtime_end_to_end() -> None:
    name = "mnist_cnn_qdq"
    graph = import_onnx(model_path(name), mode="ort")
    ports, (result,) = graph_ports(graph)
    session = ort_session(model_path(name), optimized=True)
    for sample in samples(name, graph, 50):
        theirs = session.run([result.name], dict(sample))[0]
        ours = result.to_model(run_graph(graph, network_feeds(ports, sample))[result.value])
        assert np.array_equal(ours, theirs)
