"""Random Caffe networks of one layer, by the layer's name, for OpenCV to compute too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from codegen.ir.quant import Array
from tests.support.caffe import drawn, given, layer


@dataclass(frozen=True, eq=False)
class Drawn:
    """A network: its text, its weights, and an array for each input."""

    text: str
    feeds: dict[str, Array]
    blobs: dict[str, list[Array]] = field(default_factory=dict)


Rng = np.random.Generator
Maker = Callable[[Rng], Drawn]


def one(rng: Rng, kind: str, shape: Sequence[int], told: str = "", blobs: Sequence[Array] = ()) -> Drawn:
    """A network of one layer that reads one blob."""
    text = given({"x": shape}) + layer("y", kind, "x", told)
    return Drawn(text, {"x": drawn(rng, shape, 1.0)}, {"y": list(blobs)} if blobs else {})


def image(rng: Rng, channels: int = 0, least: int = 6) -> tuple[int, ...]:
    """The shape of a small image."""
    rows, columns = (int(n) for n in rng.integers(least, least + 8, 2))
    return (1, channels or int(rng.integers(1, 7)), rows, columns)


def axis_words(rng: Rng, name: str, low: int, high: int) -> tuple[str, tuple[int, int]]:
    """Two sizes, and how a file says them: as one, as two names, or by rows and columns."""
    rows, columns = (int(n) for n in rng.integers(low, high + 1, 2))
    short = name.removesuffix("_size")
    if rng.random() < 0.5:
        return f"{name}: {rows}", (rows, rows)
    return f"{short}_h: {rows} {short}_w: {columns}", (rows, columns)


def convolution(rng: Rng) -> Drawn:
    groups, per_group, outputs = (int(n) for n in rng.integers(1, 4, 3))
    kernel, size = axis_words(rng, "kernel_size", 1, 3)
    steps, _ = axis_words(rng, "stride", 1, 2)
    pads, _ = axis_words(rng, "pad", 0, 2)
    bias = bool(rng.random() < 0.7)
    told = f"num_output: {groups * outputs} {kernel} {steps} {pads} group: {groups} bias_term: {str(bias).lower()}"
    told += f" dilation: {rng.integers(1, 3)}"
    weights = [drawn(rng, (groups * outputs, per_group, *size)), drawn(rng, (groups * outputs,))][: 1 + bias]
    return one(rng, "Convolution", image(rng, groups * per_group), f"convolution_param {{ {told} }}", weights)


def deconvolution(rng: Rng) -> Drawn:
    groups, per_group, outputs = (int(n) for n in rng.integers(1, 4, 3))
    kernel, size = axis_words(rng, "kernel_size", 2, 4)
    steps, _ = axis_words(rng, "stride", 1, 3)
    pads, _ = axis_words(rng, "pad", 0, 1)
    bias = bool(rng.random() < 0.7)
    told = f"num_output: {groups * outputs} {kernel} {steps} {pads} group: {groups} bias_term: {str(bias).lower()}"
    weights = [drawn(rng, (groups * per_group, outputs, *size)), drawn(rng, (groups * outputs,))][: 1 + bias]
    return one(rng, "Deconvolution", image(rng, groups * per_group, 3), f"convolution_param {{ {told} }}", weights)


def inner_product(rng: Rng) -> Drawn:
    outputs, shape = int(rng.integers(1, 9)), image(rng, least=2)
    bias = bool(rng.random() < 0.7)
    told = f"num_output: {outputs} bias_term: {str(bias).lower()}"
    weights = [drawn(rng, (outputs, int(np.prod(shape[1:])))), drawn(rng, (outputs,))][: 1 + bias]
    return one(rng, "InnerProduct", shape, f"inner_product_param {{ {told} }}", weights)


def pooling(rng: Rng) -> Drawn:
    kind = rng.choice(["MAX", "AVE"])
    if rng.random() < 0.2:
        return one(rng, "Pooling", image(rng), f"pooling_param {{ pool: {kind} global_pooling: true }}")
    kernel, size = axis_words(rng, "kernel_size", 2, 4)
    steps, _ = axis_words(rng, "stride", 1, 3)
    pads, _ = axis_words(rng, "pad", 0, min(size) - 1)
    return one(rng, "Pooling", image(rng), f"pooling_param {{ pool: {kind} {kernel} {steps} {pads} }}")


def relu(rng: Rng) -> Drawn:
    told = f"relu_param {{ negative_slope: {rng.choice([0, 0.1, 0.5])} }}" if rng.random() < 0.6 else ""
    return one(rng, "ReLU", image(rng), told)


def softmax(rng: Rng) -> Drawn:
    told = f"softmax_param {{ axis: {rng.integers(1, 4)} }}" if rng.random() < 0.6 else ""
    return one(rng, "Softmax", image(rng), told)


def flatten(rng: Rng) -> Drawn:
    first = int(rng.integers(0, 4))
    told = rng.choice(["", f"flatten_param {{ axis: {first} end_axis: {rng.integers(first, 4)} }}"])
    return one(rng, "Flatten", image(rng), told)


def split(rng: Rng) -> Drawn:
    text = layer("parts", "Split", "x", tops="a b") + layer("y", "TanH", "a") + layer("z", "AbsVal", "b")
    shape = image(rng)
    return Drawn(given({"x": shape}) + text, {"x": drawn(rng, shape, 1.0)})


def plain(kind: str, told: str = "") -> Maker:
    """A layer without weights, of an image."""
    return lambda rng: one(rng, kind, image(rng), told)


CASES: Mapping[str, Maker] = {
    "AbsVal": plain("AbsVal"),
    "BNLL": plain("BNLL"),
    "Convolution": convolution,
    "Deconvolution": deconvolution,
    "Dropout": plain("Dropout"),
    "Flatten": flatten,
    "InnerProduct": inner_product,
    "Pooling": pooling,
    "ReLU": relu,
    "ReLU6": plain("ReLU6"),
    "Sigmoid": plain("Sigmoid"),
    "Softmax": softmax,
    "Split": split,
    "TanH": plain("TanH"),
}
