"""Networks that PyTorch exports, by both exporters, and that its PT2E quantizes: golden is C, and near theirs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import codegen
from codegen.api import verify
from codegen.frontends import read_real
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ops import Conv2D
from codegen.options import Options
from codegen.pipeline import compile_file
from tests.support.networks import quantize
from tests.support.tools import require_module

torch = pytest.importorskip("torch")
nn = torch.nn
F = torch.nn.functional

CLOSE = 1e-4
"""Of the largest result: what a runtime that sums in another order may be away."""
BY_DYNAMO = [False, pytest.param(True, marks=pytest.mark.slow)]


def squeeze(c: int) -> Any:
    """A squeeze-and-excitation block's factors."""
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, 4, 1), nn.ReLU(), nn.Conv2d(4, c, 1), nn.Hardsigmoid())


def conv(i: int, o: int, k: int = 3, s: int = 1, groups: int = 1, act: Any = nn.Hardswish) -> Any:
    """A convolution, its normalization and a function."""
    return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, groups=groups, bias=False), nn.BatchNorm2d(o), act())


class MobileNetV3(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.up, self.deep = conv(3, 8, s=2), conv(8, 24, 1), conv(24, 24, 5, groups=24)
        self.factor, self.down, self.head = squeeze(24), nn.Conv2d(24, 8, 1), nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        y = self.deep(self.up(x))
        return self.head((x + self.down(y * self.factor(y))).mean((2, 3)))


class ShuffleNetV2(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.stem = conv(3, 8, act=nn.ReLU)
        self.side = nn.Sequential(conv(4, 4, 1, act=nn.ReLU), conv(4, 4, groups=4, act=nn.Identity), conv(4, 4, 1))

    def forward(self, x: Any) -> Any:
        a, b = self.stem(x).chunk(2, 1)
        y = torch.cat((a, self.side(b)), 1)
        n, c, h, w = y.shape
        return y.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


class UNet(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.first, self.down, self.up = conv(3, 8), conv(8, 12, s=2), nn.ConvTranspose2d(12, 8, 2, 2)
        self.last = nn.Conv2d(16, 2, 3, padding=1)

    def forward(self, x: Any) -> Any:
        x = self.first(x)
        y = F.interpolate(self.up(self.down(x)), scale_factor=1.0, mode="nearest")
        return self.last(torch.cat((x, F.max_pool2d(y, 3, 1, 1)), 1)).softmax(1)


class Tcn(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(6, 6, 3, dilation=d) for d in (1, 2, 4))

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = x + F.relu(layer(F.pad(x, (2 * layer.dilation[0], 0))))
        return x.amax(2)


class Vit(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.patch, self.norm, self.qkv = nn.Conv2d(3, 16, 4, 4), nn.LayerNorm(16), nn.Linear(16, 48)
        self.out, self.mlp = nn.Linear(16, 16), nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU())
        self.head = nn.Linear(32, 3)
        self.place = nn.Parameter(torch.randn(1, 16, 16))

    def forward(self, x: Any) -> Any:
        x = self.patch(x).flatten(2).transpose(1, 2) + self.place
        q, k, v = (t.view(1, 16, 2, 8).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, 2))
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(1, 16, 16)
        return self.head(self.mlp(x + self.out(y)).mean(1))


class Tagger(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.words, self.cell = nn.Embedding(20, 6), kind(6, 8, batch_first=True, bidirectional=True)
        self.head = nn.Linear(16, 4)

    def forward(self, x: Any) -> Any:
        return self.head(self.cell(self.words(x))[0]).log_softmax(2)


class Yolo(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.ModuleList((conv(3, 8, s=2, act=nn.SiLU), conv(8, 14, s=2, act=nn.SiLU)))
        self.register_buffer("grid", torch.stack(torch.meshgrid(torch.arange(4.0), torch.arange(4.0), indexing="xy")))

    def forward(self, x: Any) -> Any:
        for layer in self.body:
            x = layer(x)
        x = x.view(1, 2, 7, 4, 4).permute(0, 1, 3, 4, 2)
        centre = (x[..., :2].sigmoid() * 2 - 0.5 + self.grid.permute(1, 2, 0)) * 8
        size = (x[..., 2:4].sigmoid() * 2) ** 2
        return torch.cat((centre, size, x[..., 4:].sigmoid()), -1).reshape(1, -1, 7)


class Squeezed(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.factor = conv(3, 8), squeeze(8)

    def forward(self, x: Any) -> Any:
        y = self.stem(x)
        return y * self.factor(y)


def picture() -> Any:
    return torch.randn(1, 3, 16, 16)


NETWORKS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "MobileNetV3": (MobileNetV3, picture),
    "ShuffleNetV2": (ShuffleNetV2, picture),
    "U-Net": (UNet, picture),
    "TCN": (Tcn, lambda: torch.randn(1, 6, 20)),
    "ViT": (Vit, picture),
    "GRU": (lambda: Tagger(nn.GRU), lambda: torch.randint(0, 20, (1, 7))),
    "LSTM": (lambda: Tagger(nn.LSTM), lambda: torch.randint(0, 20, (1, 7))),
    "YOLO": (Yolo, picture),
    "SE": (Squeezed, picture),
}


def network(name: str) -> tuple[Any, Callable[[], Any]]:
    """The network, and what makes inputs."""
    torch.manual_seed(1)
    make, given = NETWORKS[name]
    net = make().eval()
    for part in net.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.uniform_(-0.3, 0.3)
            part.running_var.uniform_(0.5, 1.5)
    return net, given


def exported(name: str, path: Path, *, dynamo: bool) -> Any:
    """The network's file, and an input."""
    net, given = network(name)
    x = given()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporters warn of themselves
        torch.onnx.export(net, (x,), str(path), dynamo=dynamo, input_names=["x"], output_names=["y"])
    return x.numpy()


@pytest.mark.parametrize("dynamo", BY_DYNAMO)
@pytest.mark.parametrize("name", NETWORKS)
def test_an_exported_network_is_golden_in_c_and_near_onnxruntime(name: str, dynamo: bool, tmp_path: Path) -> None:
    if dynamo:
        require_module("onnxscript")
    path = tmp_path / "net.onnx"
    x = exported(name, path, dynamo=dynamo)
    (wanted,) = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    assert read_real(path).nodes
    made = compile_file(path, Options(vectors=0, io_layout="model"))
    feeds = network_feeds(graph_ports(made.imported)[0], {"x": x.astype(np.int32) if x.dtype == np.int64 else x})
    found = run_graph(made.imported, feeds)[made.imported.outputs[0].value]
    assert found.shape == wanted.shape
    assert float(np.abs(found - wanted).max()) <= CLOSE * float(np.abs(wanted).max())
    result = verify(path, samples=2)
    assert result.equal, result.first_difference and result.first_difference.text()


@pytest.mark.parametrize("dynamo", BY_DYNAMO)
@pytest.mark.parametrize("name", NETWORKS)
def test_what_onnxruntime_quantizes_of_an_exported_network_is_golden_in_c(
    name: str, dynamo: bool, tmp_path: Path
) -> None:
    if dynamo:
        require_module("onnxscript")
    source, path = tmp_path / "net.onnx", tmp_path / "net_qdq.onnx"
    exported(name, source, dynamo=dynamo)
    given = network(name)[1]
    quantize(source, path, lambda: given().numpy())
    made = compile_file(path, Options(vectors=0))
    whole = [n for n in made.imported.nodes if isinstance(n.op, Conv2D)]
    quantized = [n.op_type for n in onnx.load(path).graph.node]
    assert "QuantizeLinear" in quantized
    assert len(whole) >= quantized.count("Conv"), "none is left in real numbers"
    result = verify(path, samples=2)
    assert result.equal, result.first_difference and result.first_difference.text()


OF_PT2E = sorted(NETWORKS.keys() - {"GRU"})
"""torchao's quantizer for XNNPACK has no GRU."""
NEAR = 1e-2
"""Of the largest result: what a step is where rounding goes the other way, and what is left in float32 may be away."""


def quantized_by_pt2e(name: str) -> tuple[Any, Any]:
    """The network as PT2E converts it, int8 with a scale per channel of weights, and an input."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.testing.pt2e._xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

    net, given = network(name)
    x = given()
    watched = prepare_pt2e(
        torch.export.export(net, (x,)).module(),
        XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True)),
    )
    for _ in range(8):
        watched(given())
    return convert_pt2e(watched), x


@pytest.mark.parametrize("name", OF_PT2E)
def test_what_pt2e_makes_of_a_network_is_golden_in_c_and_near_pytorch(name: str, tmp_path: Path) -> None:
    require_module("torchao")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converted, x = quantized_by_pt2e(name)
        wanted = converted(x).detach().numpy()
        model = codegen.from_torch(converted, (x,))
    assert any(node.op_type == "QuantizeLinear" for node in onnx.load_from_string(model).graph.node)
    given = x.numpy().astype(np.int32) if x.dtype == torch.int64 else x.numpy()
    found = np.asarray(codegen.run(model, given, "c")).reshape(wanted.shape)
    assert float(np.abs(found - wanted).max()) <= NEAR * float(np.abs(wanted).max())
    path = tmp_path / "net.onnx"
    path.write_bytes(model)
    result = verify(path, samples=2)
    assert result.equal, result.first_difference and result.first_difference.text()
