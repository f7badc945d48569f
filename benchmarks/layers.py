"""Networks of layers that do nothing together: each kind in several sizes, so that every kernel of a core has work.

The numbers are random; what a layer takes depends on its sizes alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codegen.build import Net

Input = Callable[..., Any]
CONVOLUTIONS = (
    (3, 8, 3, 1, 20),
    (3, 16, 3, 2, 24),
    (1, 8, 3, 1, 16),
    (8, 8, 3, 1, 8),
    (8, 16, 3, 2, 12),
    (16, 16, 3, 1, 10),
    (8, 16, 1, 1, 12),
    (8, 24, 1, 1, 20),
    (16, 32, 1, 1, 8),
    (24, 24, 1, 1, 6),
    (32, 64, 1, 1, 6),
    (64, 128, 1, 1, 4),
    (64, 32, 3, 1, 4),
    (8, 12, 5, 1, 8),
    (12, 8, 5, 1, 9),
    (16, 6, 1, 1, 10),
    (12, 10, 3, 1, 7),
    (16, 24, 1, 1, 12),
    (48, 48, 1, 1, 8),
)
"""Channels in and out, window, stride, side."""
DEPTHWISE = (
    *((8, 3, 1, 10), (16, 3, 2, 12), (24, 3, 1, 8), (64, 3, 1, 5), (16, 5, 1, 10), (64, 3, 2, 8), (32, 3, 1, 12)),
    *((24, 5, 2, 12), (48, 5, 1, 6), (16, 7, 1, 9), (8, 7, 2, 14), (32, 7, 1, 5), (40, 5, 2, 7)),
)
"""Channels, window, stride, side."""
LINES = ((32, 5, 12), (48, 9, 16), (64, 3, 10), (96, 11, 8))
"""Channels, window and length of depthwise convolutions along one axis, whose maps are one column wide."""
POINTS = ((32, 48, 12), (64, 64, 10), (48, 96, 16), (96, 20, 8))
"""Channels in and out and length of pointwise convolutions along one axis, whose maps are one column wide."""
WINDOWS = (
    (1, 8, (10, 8), 2, (49, 40), 0),
    (1, 24, (10, 4), 2, (49, 10), 0),
    (3, 16, (5, 1), 1, (20, 4), 0),
    (1, 12, (9, 7), 2, (40, 32), 3),
    (1, 8, (5, 5), 1, (20, 20), 2),
    (1, 8, (8, 8), 2, (40, 32), 3),
    (2, 8, (5, 4), 1, (20, 16), 2),
)
"""Channels in and out, window, stride, height and width, padding on each side: long windows, as of sound."""
MAPS = ((64, 8), (24, 20), (256, 4), (4, 6))
"""Channels and side of maps whose means are taken, besides those of other layers."""
MATRICES = ((2, 16, 8, 16), (2, 16, 16, 8), (1, 32, 16, 32), (3, 24, 32, 20), (2, 12, 64, 10), (1, 9, 48, 40))
"""Heads, and rows, depth and columns of products of two computed matrices."""
DENSE = (
    (64, 10),
    (64, 16),
    (256, 64),
    (256, 12),
    (120, 30),
    (400, 100),
    (16, 96),
    (96, 96),
    (192, 160),
    (2, 12),
    (12, 20),
    (20, 2),
)


def layers(dtype: str, *, weighted: bool = True, rectified: bool = False) -> Net:
    """A network of layers with weights of `dtype`: `s8`, `s4` or `f32`; or of the layers that have none.

    `rectified`: a ReLU stands behind each, as behind most layers of networks: kernels have faster forms for that.
    """
    net, rng = Net(f"layers_{dtype}"), np.random.default_rng(7)
    made: dict[tuple[int, ...], Any] = {}

    def given(*shape: int, also: str = "") -> Any:
        key = (*shape, len(also))
        if key not in made:
            name = f"in{len(made)}"
            x = net.input(name, (1, *shape))
            made[key] = x if dtype == "f32" else net.quantized(x, 0.05)
        return made[key]

    def weights(*shape: int) -> Any:
        if dtype == "f32":
            return net.const(rng.normal(0, 0.1, shape).astype(np.float32))
        most = 7 if dtype == "s4" else 127
        whole = rng.integers(-most, most + 1, shape).astype(np.int8)
        return net.weights(whole, np.full(shape[0], 0.01, np.float32), axis=0)

    for number, y in enumerate(_with_weights(net, given, weights) if weighted else _without_weights(net, given)):
        net.output(_held(net, y, dtype, rectified=rectified), f"y{number}")
    return net


def model(dtype: str, *, weighted: bool = True, rectified: bool = False) -> bytes:
    """The network as an ONNX file's bytes."""
    data = layers(dtype, weighted=weighted, rectified=rectified).to_onnx()
    return _narrowed(data) if dtype == "s4" else data


def _narrowed(data: bytes) -> bytes:
    """With its weights, which have four bits, declared as such."""
    found = onnx.load_model_from_string(data)
    for tensor in found.graph.initializer:
        if tensor.data_type == onnx.TensorProto.INT8 and len(tensor.dims) > 1:
            values = numpy_helper.to_array(tensor).reshape(-1)
            tensor.CopyFrom(helper.make_tensor(tensor.name, onnx.TensorProto.INT4, tensor.dims, values))
    narrow = {t.name: t for t in found.graph.initializer if t.data_type == onnx.TensorProto.INT4}
    for node in found.graph.node:
        if node.op_type == "DequantizeLinear" and node.input[0] in narrow and len(node.input) > 2:
            del node.input[2]  # none is zero
    return bytes(found.SerializeToString())


def _held(net: Net, y: Any, dtype: str, *, rectified: bool) -> Any:
    z = net.onnx.Relu(y) if rectified else y
    return z if dtype == "f32" else net.quantized(z, 0.1, -128 if rectified else 0)


def _with_weights(net: Net, given: Input, weights: Input) -> Iterator[Any]:
    for ins, outs, window, stride, side in CONVOLUTIONS:
        pads = [window // 2] * 4
        w = weights(outs, ins, window, window)
        yield net.onnx.Conv(given(ins, side, side), w, pads=pads, strides=[stride] * 2)
    for ins, window, stride, side in DEPTHWISE:
        w, pads = weights(ins, 1, window, window), [window // 2] * 4
        yield net.onnx.Conv(given(ins, side, side), w, pads=pads, strides=[stride] * 2, group=ins)
    for ins, window, length in LINES:
        w = weights(ins, 1, window, 1)
        yield net.onnx.Conv(given(ins, length, 1), w, pads=[window // 2, 0, window // 2, 0], group=ins)
    for ins, outs, length in POINTS:
        yield net.onnx.Conv(given(ins, length, 1), weights(outs, ins, 1, 1))
    for ins, outs, shape, stride, size, pad in WINDOWS:
        yield net.onnx.Conv(given(ins, *size), weights(outs, ins, *shape), pads=[pad] * 4, strides=[stride] * 2)
    for ins, outs in DENSE:
        yield net.onnx.Gemm(given(ins), weights(outs, ins), transB=1)


def _without_weights(net: Net, given: Input) -> Iterator[Any]:
    for channels, side in ((8, 12), (16, 10), (64, 4)):
        x, other = given(channels, side, side), given(channels, side, side, also="b")
        yield net.onnx.Add(x, other)
        yield net.onnx.Mul(x, other)
        yield net.onnx.Mul(x, given(channels, 1, 1, also="b"))
        yield net.onnx.Sigmoid(x)
        yield net.onnx.MaxPool(x, kernel_shape=[2, 2], strides=[2, 2])
        yield net.onnx.AveragePool(x, kernel_shape=[2, 2], strides=[2, 2])
        yield net.onnx.GlobalAveragePool(x)
        yield net.onnx.LpPool(x, kernel_shape=[3, 3], pads=[1] * 4)
        yield net.onnx.ReduceProd(x, np.array([1], np.int64))
        yield net.onnx.ReduceProd(x, np.array([2, 3], np.int64))
        yield net.onnx.Concat(x, other, axis=1)
        yield net.onnx.Resize(x, None, np.array([1, 1, 2, 2], np.float32), mode="nearest")
        for mode in ("linear", "cubic"):
            yield net.onnx.Resize(x, None, np.array([1, 1, 1.5, 1.5], np.float32), mode=mode)
            yield net.onnx.Resize(x, None, np.array([1, 1, 2, 2], np.float32), mode=mode)
    for channels, side in MAPS:
        yield net.onnx.GlobalAveragePool(given(channels, side, side))
        yield net.onnx.AveragePool(given(channels, side, side), kernel_shape=[side // 2] * 2, strides=[side // 2] * 2)
    for heads, rows, depth, columns in MATRICES:
        yield net.onnx.MatMul(given(heads, rows, depth), given(heads, depth, columns, also="b"))
    for shape in ((10,), (64,), (8, 24), (16, 40)):
        yield net.onnx.Softmax(given(*shape), axis=-1)
    for length in (64, 256):
        yield net.onnx.Tanh(given(length))
        yield net.onnx.Add(given(length), given(length, also="b"))
