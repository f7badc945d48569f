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

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from codegen.build import Net, Tensor
from codegen.build.operators import Made
from codegen.ir.quant import Array

SAMPLES = 2
"""Random images that calibration sees."""


class FloatNet:
    """A float model in the making, by calls of `codegen.build.Net`; weights are drawn from `seed`."""

    def __init__(self, name: str, shape: Sequence[int], seed: int = 0) -> None:
        """One image `x` of shape (channels, height, width) comes in."""
        self.net = Net(name)
        self.rng = np.random.default_rng(seed)
        self.x = self.net.input("x", (1, *shape))

    def conv(self, x: Tensor, out: int, size: int = 3, stride: int = 1, groups: int = 1) -> Tensor:
        """A convolution with bias that keeps the size (over its stride)."""
        weights, bias = he_normal(self.rng, (out, x.shape[1] // groups, size, size)), small(self.rng, out)
        pads = [(size - 1) // 2] * 4
        return only(self.net.onnx.Conv(x, weights, bias, strides=[stride] * 2, pads=pads, group=groups))

    def relu(self, x: Tensor) -> Tensor:
        """Maximum with zero."""
        return only(self.net.onnx.Relu(x))

    def relu6(self, x: Tensor) -> Tensor:
        """Clipped to 0..6."""
        return only(self.net.onnx.Clip(x, 0, 6))

    def add(self, a: Tensor, b: Tensor) -> Tensor:
        """Sum of two tensors."""
        return only(self.net.onnx.Add(a, b))

    def concat(self, *parts: Tensor) -> Tensor:
        """Channels side by side."""
        return only(self.net.onnx.Concat(*parts, axis=1))

    def max_pool(self, x: Tensor) -> Tensor:
        """Three by three, stride 2."""
        return only(self.net.onnx.MaxPool(x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4))

    def classify(self, x: Tensor, classes: int) -> Tensor:
        """Global average pooling and a dense layer."""
        flat = self.net.onnx.Flatten(self.net.onnx.GlobalAveragePool(x), axis=1)
        weights, bias = he_normal(self.rng, (classes, x.shape[1])), small(self.rng, classes)
        return only(self.net.onnx.Gemm(flat, weights, bias, transB=1))

    def model(self, *outputs: Tensor) -> onnx.ModelProto:
        """The finished model."""
        for tensor in outputs:
            self.net.output(tensor)
        return onnx.shape_inference.infer_shapes(onnx.load_from_string(self.net.to_onnx()))


def only(made: Made) -> Tensor:
    """The tensor of a call that gives one."""
    assert isinstance(made, Tensor), made
    return made


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
    x = net.relu6(net.conv(net.x, _by_eight(32 * width), stride=2))
    table = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expansion, channels, repeats, stride in table:
        for i in range(repeats):
            inner = x.shape[1] * expansion
            x = _inverted_residual(net, x, inner, _by_eight(channels * width), stride if i == 0 else 1)
    return net.model(net.classify(net.relu6(net.conv(x, _by_eight(1280 * max(1.0, width)), 1)), classes))


def _by_eight(channels: float) -> int:
    """The nearest multiple of 8, not less than nine tenths."""
    near = max(8, int(channels + 4) // 8 * 8)
    return near if near >= 0.9 * channels else near + 8


def searched(size: int = 96, classes: int = 10) -> onnx.ModelProto:
    """Inverted residuals with windows of 3x3, 5x5 and 7x7, as searches for small chips find them (MCUNet)."""
    net = FloatNet(f"searched_{size}", (3, size, size))
    x = net.relu6(net.conv(net.x, 16, stride=2))
    table = (
        *((1, 8, 3, 1), (3, 16, 7, 2), (3, 16, 5, 1), (5, 24, 5, 2)),
        *((4, 24, 7, 1), (4, 40, 5, 2), (3, 40, 7, 1), (3, 48, 5, 1)),
    )
    for expansion, channels, window, stride in table:
        x = _inverted_residual(net, x, x.shape[1] * expansion, channels, stride, window)
    return net.model(net.classify(x, classes))


def _inverted_residual(net: FloatNet, x: Tensor, inner: int, out: int, stride: int, kernel: int = 3) -> Tensor:
    y = x if inner == x.shape[1] else net.relu6(net.conv(x, inner, 1))
    y = net.relu6(net.conv(y, inner, kernel, stride, groups=inner))
    y = net.conv(y, out, 1)
    return net.add(x, y) if stride == 1 and x.shape[1] == out else y


def mcunet_vww(size: int = 80) -> onnx.ModelProto:
    """MCUNet for visual wake words (Lin et al., NeurIPS 2020), as its authors' engine runs it on 80x80 images.

    Inner channels, kernel size, stride and output channels of each block are as published; the weights are random.
    """
    net = FloatNet(f"mcunet_vww_{size}", (3, size, size))
    x = net.relu6(net.conv(net.x, 16, stride=2))
    x = net.conv(net.relu6(net.conv(x, 16, groups=16)), 8, 1)
    early = ((48, 3, 2, 16), (48, 3, 1, 16), (48, 3, 1, 16), (48, 7, 2, 24), (144, 3, 1, 24), (120, 5, 1, 24))
    middle = ((144, 7, 2, 40), (240, 7, 1, 40), (240, 3, 1, 48), (192, 3, 1, 48))
    late = ((240, 5, 2, 96), (480, 3, 1, 96), (384, 3, 1, 96), (288, 7, 1, 160))
    for inner, kernel, stride, out in (*early, *middle, *late):
        x = _inverted_residual(net, x, inner, out, stride, kernel)
    return net.model(net.classify(x, 2))


def unjoined(
    name: str, size: int, channels: Sequence[int], table: Sequence[tuple[int, int, int, int]]
) -> onnx.ModelProto:
    """Blocks of three convolutions without sums around them, as networks of msf-CNN are (Huang and Baccelli, 2025).

    `table`: expansion, channels, window and stride of each block; the first may be no block, but a depthwise and a
    pointwise convolution (expansion 0).  `channels`: of the first convolution, and of one at the end where it has two.
    """
    net = FloatNet(name, (3, size, size))
    x = net.relu6(net.conv(net.x, channels[0], stride=2))
    for expansion, out, kernel, stride in table:
        y = net.relu6(net.conv(x, x.shape[1] * expansion, 1)) if expansion else x
        x = net.conv(net.relu6(net.conv(y, y.shape[1], kernel, stride, groups=y.shape[1])), out, 1)
    for out in channels[1:]:
        x = net.relu6(net.conv(x, out, 1))
    return net.model(only(net.net.onnx.GlobalAveragePool(x)))


UNJOINED_MOBILENET = (
    *((1, 5, 3, 1), (6, 8, 3, 2), (6, 8, 3, 1), (6, 11, 3, 2), (6, 11, 3, 1), (6, 11, 3, 1), (6, 22, 3, 2)),
    *((6, 22, 3, 1), (6, 22, 3, 1), (6, 22, 3, 1), (6, 33, 3, 1), (6, 33, 3, 1), (6, 33, 3, 1), (6, 56, 3, 2)),
    *((6, 56, 3, 1), (6, 56, 3, 1), (6, 112, 3, 1)),
)
UNJOINED_VWW = (
    *((0, 8, 3, 1), (6, 16, 3, 2), (3, 16, 3, 1), (3, 16, 3, 1), (3, 24, 7, 2), (6, 24, 3, 1), (5, 24, 5, 1)),
    *((6, 40, 7, 2), (6, 40, 7, 1), (6, 48, 3, 1), (4, 48, 3, 1), (5, 96, 5, 2), (5, 96, 3, 1), (4, 96, 3, 1)),
    (3, 160, 7, 1),
)
UNJOINED_320K = (
    *((0, 8, 3, 1), (3, 16, 7, 2), (5, 16, 3, 1), (5, 16, 7, 1), (4, 16, 5, 1), (5, 24, 5, 2), (5, 24, 5, 1)),
    *((5, 24, 5, 1), (5, 40, 3, 2), (6, 40, 7, 1), (4, 40, 5, 1), (5, 48, 5, 1), (5, 48, 7, 1), (5, 48, 3, 1)),
    *((6, 96, 3, 2), (5, 96, 7, 1), (4, 96, 3, 1), (5, 160, 7, 1)),
)
"""Networks as msf-CNN's authors publish them: channels of MobileNetV2 are a width's share without its fraction."""


def resnet18(size: int = 224, classes: int = 1000) -> onnx.ModelProto:
    """ResNet-18 (He et al., CVPR 2016, table 1), projection shortcuts."""
    net = FloatNet(f"resnet18_{size}", (3, size, size))
    x = net.max_pool(net.relu(net.conv(net.x, 64, 7, stride=2)))
    for channels, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        y = net.conv(net.relu(net.conv(x, channels, 3, stride)), channels)
        x = net.relu(net.add(x if stride == 1 else net.conv(x, channels, 1, stride), y))
    return net.model(net.classify(x, classes))


def chain(operators: int, channels: int = 8, size: int = 32) -> onnx.ModelProto:
    """So many convolutions one after the other, 3x3 and 1x1 in turns, a stride now and then."""
    net = FloatNet(f"chain_{operators}", (channels, size, size))
    x = net.x
    for i in range(operators):
        x = net.relu(net.conv(x, channels, 1 if i % 2 else 3, 2 if i in (operators // 4, operators // 2) else 1))
    return net.model(x)


def branchy(operators: int, channels: int = 8, size: int = 32) -> onnx.ModelProto:
    """About so many operators in blocks of five: three branches of one to two convolutions, joined and reduced."""
    net = FloatNet(f"branchy_{operators}", (channels, size, size))
    x = net.x
    for i in range(operators // 6):
        left = net.relu(net.conv(net.relu(net.conv(x, channels, 1)), channels))
        right = net.relu(net.conv(x, channels))
        joined = net.relu(net.conv(net.concat(left, right), channels, 1, 2 if i in (1, 3) else 1))
        x = net.add(joined, x) if i not in (1, 3) else joined
    return net.model(x)


def uneven(operators: int, size: int = 48) -> onnx.ModelProto:
    """So many operators of which hardly two are alike: chains of random kinds and widths, sums and joins, seeded."""
    net = FloatNet(f"uneven_{operators}", (3, size, size))
    draw = np.random.default_rng(operators)
    x, older = net.relu(net.conv(net.x, 8, stride=2)), None
    count = 1
    while count < operators:
        channels, kind = int(draw.integers(4, 20)), draw.integers(0, 6)
        if kind == 0 and older:
            x, older, count = net.add(net.conv(x, older.shape[1], 1), older), None, count + 2
        elif kind == 1 and older:
            x, older, count = net.relu(net.conv(net.concat(x, older), channels, 1)), None, count + 2
        elif kind == 2:
            x, count = net.relu(net.conv(x, x.shape[1], groups=x.shape[1])), count + 1
        else:
            older = older or x
            x, count = net.relu(net.conv(x, channels, int(draw.choice((1, 3, 5))))), count + 1
    return net.model(x)


NETWORKS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "mobilenet_v2_1.0_224": lambda: mobilenet_v2(1.0, 224),
    "mobilenet_v2_0.35_144": lambda: mobilenet_v2(0.35, 144),
    "mobilenet_v2_0.35_128": lambda: mobilenet_v2(0.35, 128),
    "mobilenet_v2_0.35_96": lambda: mobilenet_v2(0.35, 96),
    "resnet18_224": resnet18,
    "searched_96": searched,
    "mcunet_vww_80": mcunet_vww,
    "unjoined_mobilenet_144": lambda: unjoined("unjoined_mobilenet_144", 144, (11, 448), UNJOINED_MOBILENET),
    "unjoined_vww_80": lambda: unjoined("unjoined_vww_80", 80, (16,), UNJOINED_VWW),
    "unjoined_320k_176": lambda: unjoined("unjoined_320k_176", 176, (16,), UNJOINED_320K),
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


def in_float(name: str, make: Callable[[], onnx.ModelProto]) -> Path:
    """The file of a float model, made once and kept in the temporary directory."""
    path = _folder() / f"{name}.onnx"
    if not path.is_file():
        onnx.save(make(), path)
    return path


def quantize(source: Path, out: Path, drawn: Callable[[], Array] | None = None) -> None:
    """Static quantization by ONNX Runtime on random images, or on what `drawn` gives."""
    logging.disable(logging.WARNING)  # it advises a preparation that would not change these models
    quantize_static(
        source,
        out,
        _Images(source, drawn),
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
    """A few random images for the only input of a model, or what a function draws for it."""

    def __init__(self, model: Path, drawn: Callable[[], Array] | None) -> None:
        port = onnx.load(model, load_external_data=False).graph.input[0]
        self.name = port.name
        shape, rng = [d.dim_value for d in port.type.tensor_type.shape.dim], np.random.default_rng(1)
        draw = drawn or (lambda: rng.standard_normal(shape).astype(np.float32))
        self.left: Iterator[Array] = (draw() for _ in range(SAMPLES))

    def get_next(self) -> dict[str, Array] | None:
        found = next(self.left, None)
        return None if found is None else {self.name: found}
