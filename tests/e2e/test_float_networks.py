"""Float networks: the C equals the golden model to the bit, and both agree with ONNX Runtime and LiteRT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.api import verify
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.quant import Array
from codegen.pipeline import Options, read_model
from codegen.target import load_target
from codegen.verbs.samples import Sample
from tests.support.shared import shared_dir

QUICK = ("mlperf_tiny/ad_f32.tflite", "mlperf_tiny_onnx/ad_f32.onnx", "onnx/mnist_cnn_f32.onnx")
CLOSE = 1e-4
"""Of the largest result: what runtimes that sum in another order may be away."""


@pytest.mark.parametrize("name", QUICK)
def test_golden_and_c_are_equal_and_agree_with_the_runtime(name: str) -> None:
    path = shared_dir() / "models" / name
    sample = noise(path)
    result = verify(path, inputs=[sample], samples=1)
    assert result.equal, result.first_difference and result.first_difference.text()
    expected = of_litert(path, sample) if path.suffix == ".tflite" else of_onnxruntime(path, sample)
    actual = of_golden(path, sample)
    assert len(actual) == len(expected)
    for x, y in zip(expected, actual, strict=True):
        assert x.shape == y.shape
        assert float(np.abs(x - y).max()) <= CLOSE * float(np.abs(x).max())


def noise(path: Path) -> Sample:
    """One sample of normal numbers."""
    rng = np.random.default_rng(0)
    ports = graph_ports(read_model(path, Options(), load_target("host")))[0]
    return {p.name: rng.normal(0, 1, p.model_shape).astype(np.float32) for p in ports}


def of_golden(path: Path, sample: Sample) -> list[Array]:
    graph = read_model(path, Options(), load_target("host"))
    ins, outs = graph_ports(graph)
    values = run_graph(graph, network_feeds(ins, sample))
    return [o.to_model(values[o.value]) for o in outs]


def of_onnxruntime(path: Path, sample: Sample) -> list[Array]:
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found: list[Array] = session.run(None, dict(sample))
    return found


def of_litert(path: Path, sample: Sample) -> list[Array]:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    runner = litert.Interpreter(str(path))
    runner.allocate_tensors()
    for detail, array in zip(runner.get_input_details(), sample.values(), strict=True):
        runner.set_tensor(detail["index"], array)
    runner.invoke()
    return [runner.get_tensor(detail["index"]) for detail in runner.get_output_details()]
