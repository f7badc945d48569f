"""Real networks, read, written and read again: the same network to the last byte of its weights and of its results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.frontends import import_model, read_real, real_bytes
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import Stepper
from codegen.ir.graph import Graph
from codegen.real.engine import RealEngine
from codegen.verbs.float_engine import has_runtime
from codegen.verbs.ort_runner import OrtRunner
from codegen.verbs.samples import random_samples
from tests.support.real import MODELS, model_path
from tests.support.shared import shared_dir

QUANTIZED = [name for name in MODELS if not name.startswith(("fastestdet", "yunet"))]
FLOAT = (
    "onnx/mnist_cnn_f32.onnx",
    "mlperf_tiny_onnx/kws_f32.onnx",
    "onnx/dtln_1_f32.onnx",
    "tflite/hello_world_f32.tflite",
)


def _written(path: Path, folder: Path) -> Path:
    written = folder / "written.onnx"
    written.write_bytes(real_bytes(read_real(path)))
    return written


def _imported(path: Path) -> Graph:
    return import_model(path, mode="single", io_type="quantized", io_layout="nhwc")


@pytest.mark.parametrize("name", QUANTIZED)
def test_a_quantized_network_that_was_written_has_the_same_integers(name: str, tmp_path: Path) -> None:
    path = model_path(name)
    one, other = _imported(path), _imported(_written(path, tmp_path))
    ports, _ = graph_ports(one)
    feeds = network_feeds(ports, random_samples(ports, 1, seed=0)[0])
    values = {i.name: feeds[i.value] for i in one.inputs}
    ours = Stepper(one).run(feeds)
    theirs = Stepper(other).run({i.value: values[i.name] for i in other.inputs})
    assert [o.name for o in one.outputs] == [o.name for o in other.outputs]
    for a, b in zip(one.outputs, other.outputs, strict=True):
        assert np.array_equal(ours[a.value], theirs[b.value]), a.name


@pytest.mark.parametrize("name", QUANTIZED)
def test_writing_again_what_was_written_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    written = _written(model_path(name), tmp_path)
    assert real_bytes(read_real(written)) == written.read_bytes()


@pytest.mark.parametrize("name", ["kws", "resnet8", "ad"])
def test_a_quantized_tflite_network_is_written_with_what_holds_its_tensors(name: str, tmp_path: Path) -> None:
    graph = read_real(shared_dir() / "models" / "mlperf_tiny" / f"{name}_int8.tflite")
    path = tmp_path / "written.onnx"
    path.write_bytes(real_bytes(graph))
    again = read_real(path)
    rng = np.random.default_rng(0)
    sample = {i: rng.normal(0, 1, graph.type(i).shape).astype(np.float32) for i in graph.inputs}
    ours, theirs = (list(RealEngine(g).run(sample).values()) for g in (graph, again))
    for a, b in zip(ours, theirs, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.skipif(not has_runtime(), reason="ONNX Runtime is not installed")
@pytest.mark.parametrize("name", FLOAT)
def test_both_runners_agree_on_every_tensor(name: str) -> None:
    graph = read_real(shared_dir() / "models" / name)
    rng = np.random.default_rng(0)
    sample = {i: rng.normal(0, 1, graph.type(i).shape).astype(np.float32) for i in graph.inputs}
    ours, theirs = (dict(runner(graph).tensors(sample)) for runner in (RealEngine, OrtRunner()))
    assert ours.keys() == theirs.keys()
    for tensor, array in ours.items():
        reach = max(1.0, float(np.abs(array).max()))
        assert np.abs(array - theirs[tensor]).max() <= 1e-5 * reach, tensor
