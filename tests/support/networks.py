"""Well-known topologies and synthetic ones of any size, quantized by ONNX Runtime and kept between runs.

Only shapes and arithmetic matter here: weights are seeded and He-normal, batch normalisation is folded into biases,
and calibration sees a few random images.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from codegen.ir.quant import Array

OPSET = 17
SAMPLES = 2
"""Random images that calibration sees."""


class FloatNet:
    """A float ONNX model in the making; methods take and return tensor names."""

    def __init__(self, name: str, shape: Sequence[int], seed: int = 0) -> None:
        """One image `x` of shape (channels, height, width) comes in; weights are drawn from `seed`."""
        self.name = name
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[TensorProto] = []
        self.channels = {"x": shape[0]}
        self.input = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, *shape))

    def node(self, kind: str, inputs: Sequence[str], channels: int, **attributes: Any) -> str:
        """Any operator with one output of so many channels."""
        out = f"t{len(self.nodes)}_{kind.lower()}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=out, **attributes))
        self.channels[out] = channels
        return out

    def const(self, data: Array) -> str:
        """A constant."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(data, name))
        return name

    def conv(self, x: str, out: int, size: int = 3, stride: int = 1, groups: int = 1) -> str:
        """A convolution with bias that keeps the size (over its stride)."""
        shape = (out, self.channels[x] // groups, size, size)
        parts = [self.const(he_normal(self.rng, shape)), self.const(small(self.rng, out))]
        pads = [(size - 1) // 2] * 4
        return self.node(
            "Conv", [x, *parts], out, kernel_shape=[size] * 2, strides=[stride] * 2, pads=pads, group=groups
        )

    def relu(self, x: str) -> str:
        """Maximum with zero."""
        return self.node("Relu", [x], self.channels[x])

    def relu6(self, x: str) -> str:
        """Clipped to 0..6."""
        ends = [self.const(np.array(v, np.float32)) for v in (0, 6)]
        return self.node("Clip", [x, *ends], self.channels[x])

    def add(self, a: str, b: str) -> str:
        """Sum of two tensors."""
        return self.node("Add", [a, b], self.channels[a])

    def concat(self, *parts: str) -> str:
        """Channels side by side."""
        return self.node("Concat", parts, sum(self.channels[p] for p in parts), axis=1)

    def max_pool(self, x: str) -> str:
        """Three by three, stride 2."""
        return self.node("MaxPool", [x], self.channels[x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)

    def classify(self, x: str, classes: int) -> str:
        """Global average pooling and a dense layer."""
        n = self.channels[x]
        flat = self.node("Flatten", [self.node("GlobalAveragePool", [x], n)], n, axis=1)
        parts = [self.const(he_normal(self.rng, (classes, n))), self.const(small(self.rng, classes))]
        return self.node("Gemm", [flat, *parts], classes, transB=1)

    def model(self, *outputs: str) -> onnx.ModelProto:
        """The finished model."""
        ends = [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs]
        graph = helper.make_graph(self.nodes, self.name, [self.input], ends, self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        return onnx.shape_inference.infer_shapes(made)


def he_normal(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    """Weights (out, in, ...) whose products keep the variance through a ReLU."""
    fan_in = int(np.prod(shape[1:]))
    return (rng.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)


def small(rng: np.random.Generator, count: int) -> Array:
    """Biases as folded batch normalisation leaves them."""
    return (rng.standard_normal(count) * 0.1).astype(np.float32)


def mobilenet_v2(width: float, size: int, classes: int = 1000) -> onnx.ModelProto:
    """MobileNetV2 (Sandler et al., CVPR 2018, table 2), channels in multiples of 8."""
    net = FloatNet(f"mobilenet_v2_{width}_{size}", (3, size, size))
    x = net.relu6(net.conv("x", _by_eight(32 * width), stride=2))
    table = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expansion, channels, repeats, stride in table:
        for i in range(repeats):
            x = _inverted_residual(net, x, expansion, _by_eight(channels * width), stride if i == 0 else 1)
    return net.model(net.classify(net.relu6(net.conv(x, _by_eight(1280 * max(1.0, width)), 1)), classes))


def _by_eight(channels: float) -> int:
    """The nearest multiple of 8, not less than nine tenths."""
    near = max(8, int(channels + 4) // 8 * 8)
    return near if near >= 0.9 * channels else near + 8


def _inverted_residual(net: FloatNet, x: str, expansion: int, out: int, stride: int) -> str:
    inner = net.channels[x] * expansion
    y = x if expansion == 1 else net.relu6(net.conv(x, inner, 1))
    y = net.relu6(net.conv(y, inner, 3, stride, groups=inner))
    y = net.conv(y, out, 1)
    return net.add(x, y) if stride == 1 and net.channels[x] == out else y


def resnet18(size: int = 224, classes: int = 1000) -> onnx.ModelProto:
    """ResNet-18 (He et al., CVPR 2016, table 1), projection shortcuts."""
    net = FloatNet(f"resnet18_{size}", (3, size, size))
    x = net.max_pool(net.relu(net.conv("x", 64, 7, stride=2)))
    for channels, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        y = net.conv(net.relu(net.conv(x, channels, 3, stride)), channels)
        x = net.relu(net.add(x if stride == 1 else net.conv(x, channels, 1, stride), y))
    return net.model(net.classify(x, classes))


def chain(operators: int, channels: int = 8, size: int = 32) -> onnx.ModelProto:
    """So many convolutions one after the other, 3x3 and 1x1 in turns, a stride now and then."""
    net = FloatNet(f"chain_{operators}", (channels, size, size))
    x = "x"
    for i in range(operators):
        x = net.relu(net.conv(x, channels, 1 if i % 2 else 3, 2 if i in (operators // 4, operators // 2) else 1))
    return net.model(x)


def branchy(operators: int, channels: int = 8, size: int = 32) -> onnx.ModelProto:
    """About so many operators in blocks of five: three branches of one to two convolutions, joined and reduced."""
    net = FloatNet(f"branchy_{operators}", (channels, size, size))
    x = "x"
    for i in range(operators // 6):
        left = net.relu(net.conv(net.relu(net.conv(x, channels, 1)), channels))
        right = net.relu(net.conv(x, channels))
        joined = net.relu(net.conv(net.concat(left, right), channels, 1, 2 if i in (1, 3) else 1))
        x = net.add(joined, x) if net.nodes and i not in (1, 3) else joined
    return net.model(x)


def uneven(operators: int, size: int = 48) -> onnx.ModelProto:
    """So many operators of which hardly two are alike: chains of random kinds and widths, sums and joins, seeded."""
    net = FloatNet(f"uneven_{operators}", (3, size, size))
    draw = np.random.default_rng(operators)
    x, older = net.relu(net.conv("x", 8, stride=2)), ""
    count = 1
    while count < operators:
        channels, kind = int(draw.integers(4, 20)), draw.integers(0, 6)
        if kind == 0 and older:
            x, older, count = net.add(net.conv(x, net.channels[older], 1), older), "", count + 2
        elif kind == 1 and older:
            x, older, count = net.relu(net.conv(net.concat(x, older), channels, 1)), "", count + 2
        elif kind == 2:
            x, count = net.relu(net.conv(x, net.channels[x], groups=net.channels[x])), count + 1
        else:
            older = older or x
            x, count = net.relu(net.conv(x, channels, int(draw.choice((1, 3, 5))))), count + 1
    return net.model(x)


NETWORKS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "mobilenet_v2_1.0_224": lambda: mobilenet_v2(1.0, 224),
    "mobilenet_v2_0.35_144": lambda: mobilenet_v2(0.35, 144),
    "mobilenet_v2_0.35_96": lambda: mobilenet_v2(0.35, 96),
    "resnet18_224": resnet18,
}
"""Float topologies by name."""


def network_path(name: str) -> Path:
    """A network of NETWORKS, quantized."""
    return quantized(name, NETWORKS[name])


def quantized(name: str, make: Callable[[], onnx.ModelProto]) -> Path:
    """The QDQ file of a float model: int8, weights per channel; made once and kept in the temporary directory."""
    path = _folder() / f"{name}.onnx"
    if not path.is_file():
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            source, out = Path(folder) / "float.onnx", Path(folder) / path.name
            onnx.save(make(), source)
            quantize(source, out)
            os.replace(out, path)
    return path


def quantize(source: Path, out: Path) -> None:
    """Static quantization by ONNX Runtime on random images."""
    logging.disable(logging.WARNING)  # it advises a preparation that would not change these models
    quantize_static(
        source,
        out,
        _Images(source),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
    )
    logging.disable(logging.NOTSET)


@cache
def _folder() -> Path:
    """Where quantized files are kept; another one for other code or another ONNX Runtime."""
    said = Path(__file__).read_bytes() + onnxruntime.__version__.encode()
    path = Path(tempfile.gettempdir()) / f"lamina-networks-{hashlib.sha256(said).hexdigest()[:12]}"
    path.mkdir(exist_ok=True)
    return path


class _Images(CalibrationDataReader):  # type: ignore[misc]
    """A few random images for the only input of a model."""

    def __init__(self, model: Path) -> None:
        port = onnx.load(model, load_external_data=False).graph.input[0]
        self.name = port.name
        self.shape = [d.dim_value for d in port.type.tensor_type.shape.dim]
        self.left: Iterator[Array] = self._draw()

    def _draw(self) -> Iterator[Array]:
        rng = np.random.default_rng(1)
        for _ in range(SAMPLES):
            yield rng.standard_normal(self.shape).astype(np.float32)

    def get_next(self) -> dict[str, Array] | None:
        found = next(self.left, None)
        return None if found is None else {self.name: found}
