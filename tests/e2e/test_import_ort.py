"""Every quantized ONNX model beside the checkout: it imports, and mode `float` follows ONNX Runtime layer by layer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from codegen.frontends.onnx import import_onnx
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.quant import MODES, Array, Mode
from codegen.ir.verify import verify_graph
from tests.e2e.ort import Oracle, run_forced, share_equal
from tests.shared import shared_dir

SAMPLES = 3


def _npz(name: str) -> Array:
    return np.load(shared_dir() / "data" / name)["x"][:SAMPLES].astype(np.float32)  # type: ignore[no-any-return]


def _noise(shape: tuple[int, ...], spread: float) -> Array:
    return np.random.default_rng(3).normal(0, spread, (SAMPLES, *shape)).astype(np.float32)


def _photos(size: int, scale: float) -> Array:
    """Photos of 96 x 96 pixels repeated to fill the input, [N, 3, size, size] in BGR."""
    x = _npz("coco_person96.npz")[..., ::-1] * np.float32(scale)
    times = -(-size // 96)
    return np.tile(x, (1, times, times, 1))[:, :size, :size].transpose(0, 3, 1, 2)


INPUTS: dict[str, Callable[[], Array]] = {
    "mlperf_tiny_onnx/resnet8": lambda: _npz("cifar10_test600.npz").transpose(0, 3, 1, 2),
    "mlperf_tiny_onnx/kws": lambda: ((_npz("kws01.npz") - 83) * np.float32(0.5847029)).transpose(0, 3, 1, 2),
    "mlperf_tiny_onnx/vww": lambda: (_npz("coco_person96.npz") / 255).transpose(0, 3, 1, 2),
    "mlperf_tiny_onnx/ad": lambda: _noise((640,), 20.0),
    "onnx/mnist_cnn": lambda: _npz("mnist_test1000.npz")[:, None],
    "onnx/espcn_x3": lambda: _photos(64, 1 / 255)[:, :1],
    "onnx/yunet_n_320": lambda: _photos(320, 1.0),
    "onnx/fastestdet_352": lambda: _photos(352, 1 / 255),
}
MODELS = [
    *(f"mlperf_tiny_onnx/{name}_qdq{kind}" for name in ("resnet8", "kws", "vww", "ad") for kind in ("", "_sym")),
    "mlperf_tiny_onnx/resnet8_qop_u8s8",
    *(f"onnx/{name}_qdq" for name in ("mnist_cnn", "espcn_x3", "yunet_n_320", "fastestdet_352")),
]


def model_path(name: str) -> Path:
    return shared_dir() / "models" / f"{name}.onnx"


def samples(name: str) -> list[Array]:
    key = next(k for k in INPUTS if name.startswith(k))
    return [np.ascontiguousarray(x[None]) for x in INPUTS[key]()]


@pytest.fixture
def oracle_path(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Path]:
    """The model as ONNX Runtime takes it: mnist_cnn has a bias whose axis contradicts its scales."""

    def repaired(name: str) -> Path:
        model = onnx.load(model_path(name))
        sizes = {t.name: list(t.dims) for t in model.graph.initializer}
        for node in model.graph.node:
            if node.op_type == "DequantizeLinear" and sizes.get(node.input[0]) == [1, 10]:
                next(a for a in node.attribute if a.name == "axis").i = 1
        path = tmp_path / "repaired.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    return repaired


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("mode", MODES)
def test_model_imports_without_a_refusal(name: str, mode: Mode) -> None:
    graph = import_onnx(model_path(name), mode=mode)
    verify_graph(graph)
    expected = 1 if name == "onnx/mnist_cnn_qdq" else 0
    assert len(graph.notes) == expected
    assert all(n.note for n in graph.nodes)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("mode", ["float", "single"])
def test_layers_follow_onnx_runtime(name: str, mode: Mode, oracle_path: Callable[[str], Path]) -> None:
    graph = import_onnx(model_path(name), mode=mode)
    (port,), results = graph_ports(graph)
    oracle = Oracle(oracle_path(name), graph)
    differing, count = 0, 0
    for x in samples(name):
        theirs = oracle.tensors({port.name: x})
        feeds = network_feeds([port], {port.name: x})
        for tensor, pair in run_forced(graph, feeds, theirs).items():
            wrong, size, largest = share_equal(*pair)
            assert largest <= 1, tensor
            differing, count = differing + wrong, count + size
        values = run_graph(graph, feeds)
        assert all(values[r.value].dtype == r.dtype.numpy for r in results)
    assert count > 0
    assert differing <= 1e-4 * count, f"{differing} of {count} elements differ"


@pytest.mark.parametrize("name", [m for m in MODELS if m.startswith("mlperf") or "mnist" in m])
def test_classifiers_agree_with_onnx_runtime(name: str, oracle_path: Callable[[str], Path]) -> None:
    graph = import_onnx(model_path(name), mode="float")
    (port,), (result,) = graph_ports(graph)
    oracle = Oracle(oracle_path(name), graph)
    for x in samples(name):
        theirs = oracle.session.run([result.name], {port.name: x})[0]
        ours = result.to_model(run_graph(graph, network_feeds([port], {port.name: x}))[result.value])
        assert result.quant is not None
        assert np.abs(ours - theirs).max() <= 4 * result.quant.scale
        assert ours.argmax() == theirs.argmax()
