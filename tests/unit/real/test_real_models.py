"""Float and quantized models as RealGraphs: what they compute, against ONNX Runtime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from codegen.frontends.onnx.real import read_real
from codegen.ir.real import RealGraph, Summing
from codegen.real.engine import RealEngine, numbers_of
from codegen.real.movement import Gather, Reshape, Transpose
from codegen.real.storage import Dequantize, Quantize
from codegen.real.window import MaxPool
from tests.support.outsider import ort_session
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
_EXACT = (Quantize, Dequantize, MaxPool, Gather, Reshape, Transpose)


def _both(name: str) -> tuple[RealGraph, list[np.ndarray], list[np.ndarray]]:
    """What the engine and ONNX Runtime give."""
    path = shared_dir() / "models" / f"{name}.onnx"
    graph = read_real(path)
    rng = np.random.default_rng(3)
    kinds = {port: graph.type(port) for port in graph.inputs}
    feeds = {
        n: rng.random(t.shape, np.float32) if t.is_real else np.full(t.shape, 16000, t.dtype) for n, t in kinds.items()
    }
    wanted = ort_session(path).run(None, feeds)
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


@pytest.mark.parametrize("name", ["fastestdet_352_qdq", "yunet_n_320_qdq"])
def test_each_layer_gives_onnxruntime_s_integers_from_its_own_numbers(name: str) -> None:
    """Deep networks differ by what one rounding makes of the next layers; each layer alone does not."""
    path = shared_dir() / "models" / "onnx" / f"{name}.onnx"
    graph, model = read_real(path), onnx.load(path)
    given = {o.name for o in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=o) for n in model.graph.node for o in n.output if o not in given)
    session = ort_session(model)
    (port,) = graph.inputs
    known = {port: np.random.default_rng(3).random(graph.type(port).shape, np.float32)}
    known |= dict(zip([o.name for o in session.get_outputs()], session.run(None, dict(known)), strict=True))
    known |= {v.name: numbers_of(v) for v in graph.values.values() if v.data is not None}
    for node in graph.nodes:
        run = node.op.quickly if isinstance(node.op, Summing) else node.op.evaluate
        (found,), wanted = run([known[i] for i in node.inputs]), known[node.outputs[0]]
        room = 0.0 if isinstance(node.op, _EXACT) else 1e-6 * max(1.0, float(np.abs(wanted).max()))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=room, err_msg=node.where)
