"""Caffe networks that tests write, with weights of their own, and OpenCV's reader of such files as an outsider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from codegen.frontends.caffe.real import read_real
from codegen.frontends.caffe.schema import message_class
from codegen.ir.quant import Array
from codegen.real.engine import RealEngine
from tests.support.tools import require_module

Blobs = Mapping[str, Sequence[Array]]
"""Numbers of layers, by their names."""


def layer(name: str, kind: str, bottoms: str, told: str = "", tops: str = "") -> str:
    """The text of a layer; bottoms and tops are words, and its only top is its name where nothing else is said."""
    ends = [*(f'bottom: "{b}"' for b in bottoms.split()), *(f'top: "{t}"' for t in (tops or name).split())]
    return f'layer {{ name: "{name}" type: "{kind}" {" ".join(ends)} {told} }}\n'


def given(shapes: Mapping[str, Sequence[int]]) -> str:
    """The text of the inputs."""
    texts = {name: " ".join(f"dim: {n}" for n in shape) for name, shape in shapes.items()}
    return "".join(layer(name, "Input", "", f"input_param {{ shape {{ {t} }} }}") for name, t in texts.items())


def caffemodel(blobs: Blobs, *, legacy: bool = False) -> bytes:
    """The file of weights; with `legacy` as old files have them."""
    net = message_class("NetParameter")()
    for name, arrays in blobs.items():
        made = (net.layers if legacy else net.layer).add(name=name)
        for array in arrays:
            blob = made.blobs.add()
            blob.data.extend(np.asarray(array, np.float32).ravel())
            if legacy:
                blob.num, blob.channels, blob.height, blob.width = (1,) * (4 - array.ndim) + array.shape
            else:
                blob.shape.dim.extend(array.shape)
    return bytes(net.SerializeToString())


def written(folder: Path, text: str, blobs: Blobs | None = None, name: str = "net") -> Path:
    """The prototxt of a network, its weights beside it."""
    path = folder / f"{name}.prototxt"
    path.write_text(text, encoding="utf-8")
    if blobs is not None:
        path.with_suffix(".caffemodel").write_bytes(caffemodel(blobs))
    return path


def run_ours(path: Path, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of the RealGraph, by the network's names."""
    graph = read_real(path)
    found = RealEngine(graph).run(dict(feeds))
    return {face: found[name] for face, name in zip(graph.faces, graph.outputs, strict=True)}


def run_opencv(path: Path, feeds: Mapping[str, Array], outputs: Sequence[str]) -> dict[str, Array]:
    """The same by OpenCV's own reader and layers."""
    require_module("cv2")
    import cv2

    weights = path.with_suffix(".caffemodel")
    net = cv2.dnn.readNetFromCaffe(str(path), str(weights) if weights.exists() else "")
    for name, array in feeds.items():
        net.setInput(array, name)
    return dict(zip(outputs, net.forward(list(outputs)), strict=True))


LENET = "".join(
    (
        'name: "LeNet"\n',
        given({"data": (1, 1, 28, 28)}),
        layer("conv1", "Convolution", "data", "convolution_param { num_output: 6 kernel_size: 5 }"),
        layer("pool1", "Pooling", "conv1", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }"),
        layer("conv2", "Convolution", "pool1", "convolution_param { num_output: 10 kernel_size: 5 }"),
        layer("pool2", "Pooling", "conv2", "pooling_param { pool: MAX kernel_size: 3 stride: 2 }"),
        layer("ip1", "InnerProduct", "pool2", "inner_product_param { num_output: 32 }"),
        layer("relu1", "ReLU", "ip1", tops="ip1"),
        layer("ip2", "InnerProduct", "ip1", "inner_product_param { num_output: 10 }"),
        layer("prob", "Softmax", "ip2"),
    )
)
_LENET_SHAPES = {"conv1": (6, 1, 5, 5), "conv2": (10, 6, 5, 5), "ip1": (32, 160), "ip2": (10, 32)}


def lenet_blobs(seed: int = 0) -> dict[str, list[Array]]:
    """Random weights for `LENET`."""
    rng = np.random.default_rng(seed)
    return {name: [drawn(rng, shape), drawn(rng, shape[:1])] for name, shape in _LENET_SHAPES.items()}


def mobilenet(seed: int = 0) -> tuple[str, dict[str, list[Array]]]:
    """A small network of MobileNet's parts: depthwise convolutions, BatchNorm and Scale in place, a global mean."""
    rng = np.random.default_rng(seed)
    text, blobs = given({"data": (1, 3, 32, 32)}), dict[str, list[Array]]()
    last = "data"
    for name, (inputs, outputs, size, stride, groups) in _MOBILENET.items():
        told = f"num_output: {outputs} kernel_size: {size} pad: {size // 2} stride: {stride} group: {groups}"
        text += layer(name, "Convolution", last, f"convolution_param {{ {told} bias_term: false }}")
        text += layer(f"{name}/bn", "BatchNorm", name, tops=name)
        text += layer(f"{name}/scale", "Scale", name, "scale_param { bias_term: true }", tops=name)
        text += layer(f"{name}/relu", "ReLU6", name, tops=name)
        fan = inputs // groups * size * size
        blobs[name] = [drawn(rng, (outputs, inputs // groups, size, size), fan**-0.5)]
        blobs[f"{name}/bn"] = [drawn(rng, (outputs,)), 1 + drawn(rng, (outputs,)) ** 2, np.ones(1, np.float32)]
        blobs[f"{name}/scale"] = [1 + drawn(rng, (outputs,)), drawn(rng, (outputs,))]
        last = name
    text += layer("sum", "Eltwise", "sep1 sep2") + layer("mean", "Pooling", "sum", _GLOBAL)
    text += layer("fc", "InnerProduct", "mean", "inner_product_param { num_output: 10 }") + layer(
        "prob", "Softmax", "fc"
    )
    blobs["fc"] = [drawn(rng, (10, 16), 0.5), drawn(rng, (10,))]
    return text, blobs


_GLOBAL = "pooling_param { pool: AVE global_pooling: true }"
_MOBILENET = {
    "conv": (3, 8, 3, 2, 1),
    "dw1": (8, 8, 3, 2, 8),
    "sep1": (8, 16, 1, 1, 1),
    "dw2": (16, 16, 3, 1, 16),
    "sep2": (16, 16, 1, 1, 1),
}
"""Inputs, outputs, kernel, stride and groups of the convolutions."""


def drawn(rng: np.random.Generator, shape: Sequence[int], size: float = 0.2) -> Array:
    """Random numbers around zero."""
    return rng.normal(0, size, tuple(shape)).astype(np.float32)
