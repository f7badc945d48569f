"""Float and quantized models as RealGraphs: what they compute, against ONNX Runtime."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from codegen.frontends.onnx.real import read_real
from codegen.ir.real import RealGraph
from codegen.real.engine import RealEngine
from tests.support.shared import shared_dir

FLOAT = (
    *("float/mobilenet_v1_025_224_f32", "float/resnet20_cifar10_f32", "mlperf_tiny_onnx/ad_f32"),
    *("mlperf_tiny_onnx/kws_f32", "mlperf_tiny_onnx/resnet8_f32", "mlperf_tiny_onnx/vww_f32"),
    *("onnx/dtln_1_f32", "onnx/espcn_x3_f32", "onnx/fastestdet_352_f32", "onnx/mnist_cnn_f32"),
    *("onnx/silero_vad_16k_f32", "onnx/sinet_portrait_f32", "onnx/yunet_n_320_f32"),
)
QUANTIZED = tuple(
    f"mlperf_tiny_onnx/{name}_{kind}" for name in ("ad", "kws", "resnet8", "vww") for kind in ("qdq", "qdq_sym")
)


def _both(name: str) -> tuple[RealGraph, list[np.ndarray], list[np.ndarray]]:
    """What the engine and ONNX Runtime give."""
    path = shared_dir() / "models" / f"{name}.onnx"
    graph = read_real(path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    rng = np.random.default_rng(3)
    kinds = {port: graph.type(port) for port in graph.inputs}
    feeds = {
        n: rng.random(t.shape, np.float32) if t.is_real else np.full(t.shape, 16000, t.dtype) for n, t in kinds.items()
    }
    wanted = onnxruntime.InferenceSession(str(path), options).run(None, feeds)
    return graph, list(RealEngine(graph).run(feeds).values()), wanted


@pytest.mark.parametrize("name", FLOAT)
def test_a_float_model_gives_what_onnxruntime_gives(name: str) -> None:
    graph, found, wanted = _both(name)
    assert all(v.stored is None for v in graph.values.values())
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=max(1e-5 * float(np.abs(theirs).max()), 1e-6))


@pytest.mark.parametrize("name", QUANTIZED)
def test_a_quantized_model_gives_what_onnxruntime_gives(name: str) -> None:
    """Products of float32 numbers on a grid are sums without rounding, or nearly so: most results are equal."""
    graph, (found,), (wanted,) = _both(name)
    assert any(v.stored is not None for v in graph.values.values())
    step = np.ptp(wanted) / 255
    assert float(np.abs(found - wanted).max()) <= 1.01 * step
    assert np.mean(found == wanted) > 0.9
