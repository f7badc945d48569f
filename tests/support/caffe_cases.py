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
    steps, _ = axis_words(rng, "stride", 1, min(size))
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


def batch_norm(rng: Rng) -> Drawn:
    shape, factor = image(rng), np.array([rng.choice([0.0, 1.0, 0.5, 999.0])], np.float32)
    mean, variance = drawn(rng, shape[1:2]), 1 + abs(drawn(rng, shape[1:2]))
    blobs = {"n": [mean * max(factor, 1), variance * max(factor, 1), factor]}
    text = layer("n", "BatchNorm", "x", f"batch_norm_param {{ eps: {rng.choice([1e-5, 1e-3])} }}")
    if rng.random() < 0.7:
        text += layer("y", "Scale", "n", "scale_param { bias_term: true }")
        blobs["y"] = [drawn(rng, shape[1:2], 1.0), drawn(rng, shape[1:2])]
    return Drawn(given({"x": shape}) + text, {"x": drawn(rng, shape, 1.0)}, blobs)


def scale(rng: Rng) -> Drawn:
    shape, bias = image(rng), bool(rng.random() < 0.6)
    told = f"scale_param {{ bias_term: {str(bias).lower()} }}"
    return one(rng, "Scale", shape, told, [drawn(rng, shape[1:2]) for _ in range(1 + bias)])


def prelu(rng: Rng) -> Drawn:
    shape, shared = image(rng), bool(rng.random() < 0.3)
    told = f"prelu_param {{ channel_shared: {str(shared).lower()} }}"
    return one(rng, "PReLU", shape, told, [drawn(rng, (1,) if shared else shape[1:2])])


def elu(rng: Rng) -> Drawn:
    return one(rng, "ELU", image(rng), f"elu_param {{ alpha: {rng.choice([1.0, 0.5, 2.0])} }}")


def power(rng: Rng) -> Drawn:
    told = f"power: {rng.choice([1, 2, 3])} scale: {rng.choice([1, 0.5, -2])} shift: {rng.choice([0, 1.5])}"
    return one(rng, "Power", image(rng), f"power_param {{ {told} }}")


def exp(rng: Rng) -> Drawn:
    told = f"base: {rng.choice([-1, 2, 3.5])} scale: {rng.choice([1, 0.5])} shift: {rng.choice([0, 1.5])}"
    return one(rng, "Exp", image(rng), f"exp_param {{ {told} }}")


def log(rng: Rng) -> Drawn:
    """OpenCV passes over base, scale and shift; tests/unit/frontends/test_caffe.py has them."""
    shape = image(rng)
    text = given({"x": shape}) + layer("a", "AbsVal", "x") + layer("y", "Log", "a")
    return Drawn(text, {"x": drawn(rng, shape, 1.0)})


def several(rng: Rng, kind: str, shapes: Sequence[Sequence[int]], told: str = "") -> Drawn:
    """A network of one layer that reads some blobs."""
    named = {f"x{i}": shape for i, shape in enumerate(shapes)}
    feeds = {name: drawn(rng, shape, 1.0) for name, shape in named.items()}
    return Drawn(given(named) + layer("y", kind, " ".join(named), told), feeds)


def eltwise(rng: Rng) -> Drawn:
    kind, count = rng.choice(["PROD", "SUM", "MAX"]), int(rng.integers(2, 5))
    factors = rng.choice([1, -1, 0.5], count) if kind == "SUM" and rng.random() < 0.6 else []
    told = f"operation: {kind} {' '.join(f'coeff: {f}' for f in factors)}"
    return several(rng, "Eltwise", [image(rng)] * count, f"eltwise_param {{ {told} }}")


def concat(rng: Rng) -> Drawn:
    """Of two blobs or more: OpenCV gives memory that nobody has written for one."""
    axis, shape = int(rng.integers(1, 4)), image(rng)
    shapes = [(*shape[:axis], int(rng.integers(1, 6)), *shape[axis + 1 :]) for _ in range(rng.integers(2, 5))]
    return several(rng, "Concat", shapes, "" if axis == 1 else f"concat_param {{ axis: {axis} }}")


def slice_of(rng: Rng) -> Drawn:
    axis, count = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    shape = list(image(rng))
    shape[axis] = count * int(rng.integers(2, 5))
    points = sorted(rng.choice(range(1, shape[axis]), count - 1, replace=False)) if rng.random() < 0.6 else []
    told = f"slice_param {{ axis: {axis} {' '.join(f'slice_point: {p}' for p in points)} }}"
    text = given({"x": shape}) + layer("parts", "Slice", "x", told, " ".join("abc"[:count]))
    text += "".join(layer(f"y{top}", "ReLU", top) for top in "abc"[:count])
    return Drawn(text, {"x": drawn(rng, shape, 1.0)})


def crop(rng: Rng) -> Drawn:
    shape = image(rng)
    sizes = [int(rng.integers(1, n + 1)) for n in shape[2:]]
    offsets = [int(rng.integers(0, n - m + 1)) for n, m in zip(shape[2:], sizes, strict=True)]
    told = f"crop_param {{ axis: 2 offset: {offsets[0]} offset: {offsets[1]} }}"
    text = layer("other", "ReLU", "x1") + layer("y", "Crop", "x0 other", told)
    named = {"x0": shape, "x1": (1, 2, *sizes)}
    return Drawn(given(named) + text, {name: drawn(rng, s, 1.0) for name, s in named.items()})


def reshape(rng: Rng) -> Drawn:
    shape = image(rng)
    told = rng.choice(["dim: 0 dim: -1", "dim: 0 dim: 0 dim: -1", "dim: 0 dim: -1 dim: 1 dim: 1", "dim: -1 dim: 1"])
    return one(rng, "Reshape", shape, f"reshape_param {{ shape {{ {told} }} }}")


def permute(rng: Rng) -> Drawn:
    order = " ".join(f"order: {i}" for i in (0, *rng.permutation([1, 2, 3])))
    return one(rng, "Permute", image(rng), f"permute_param {{ {order} }}")


def shuffle(rng: Rng) -> Drawn:
    groups = int(rng.integers(1, 4))
    told = f"shuffle_channel_param {{ group: {groups} }}"
    return one(rng, "ShuffleChannel", image(rng, groups * int(rng.integers(1, 4))), told)


def lrn(rng: Rng) -> Drawn:
    region = rng.choice(["ACROSS_CHANNELS", "WITHIN_CHANNEL"])
    told = f"local_size: {rng.choice([3, 5])} alpha: {rng.choice([1e-4, 0.5])} beta: {rng.choice([0.75, 0.5])}"
    return one(rng, "LRN", image(rng, 7), f"lrn_param {{ {told} norm_region: {region} }}")


def mvn(rng: Rng) -> Drawn:
    told = f"across_channels: {rng.choice(['true', 'false'])} normalize_variance: {rng.choice(['true', 'false'])}"
    return one(rng, "MVN", image(rng), f"mvn_param {{ {told} }}")


def normalize(rng: Rng) -> Drawn:
    """Of whole images with one factor: OpenCV refuses one for each channel there."""
    shape, across = image(rng, int(rng.integers(2, 6))), bool(rng.random() < 0.4)
    shared = across or bool(rng.random() < 0.4)
    told = f"norm_param {{ across_spatial: {str(across).lower()} channel_shared: {str(shared).lower()} }}"
    return one(rng, "Normalize", shape, told, [drawn(rng, (1,) if shared else shape[1:2], 1.0)])


def interp(rng: Rng) -> Drawn:
    sizes = f"height: {rng.integers(4, 20)} width: {rng.integers(4, 20)}"
    told = rng.choice([sizes, f"zoom_factor: {rng.integers(2, 4)}"])
    return one(rng, "Interp", image(rng), f"interp_param {{ {told} }}")


def prior_box(rng: Rng) -> Drawn:
    told = f"min_size: {rng.integers(4, 20)} offset: 0.5 clip: {rng.choice(['true', 'false'])} "
    told += rng.choice(["", "max_size: 30.5 "]) + rng.choice(
        ["", "aspect_ratio: 2 ", "aspect_ratio: 2 aspect_ratio: 3 "]
    )
    told += rng.choice(["flip: true ", "flip: false "]) + rng.choice(["", "step: 8 "])
    told += rng.choice(["variance: 0.1", "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2"])
    named = {"x0": image(rng, least=2), "x1": (1, 3, 64, 96)}
    text = layer("a", "ReLU", "x0") + layer("y", "PriorBox", "a x1", f"prior_box_param {{ {told} }}")
    return Drawn(given(named) + text, {name: drawn(rng, s, 1.0) for name, s in named.items()})


def detection_output(rng: Rng) -> Drawn:
    """Of known prior boxes or given ones, which OpenCV takes without variances where codes have them."""
    classes, shared, rows, columns = int(rng.integers(2, 5)), bool(rng.random() < 0.6), *rng.integers(2, 4, 2)
    boxes, varied, known = int(2 * rows * columns), bool(rng.random() < 0.4), bool(rng.random() < 0.5)
    named = {"x0": (1, boxes * 4 * (1 if shared else classes)), "x1": (1, boxes * classes)}
    feeds = {"x0": drawn(rng, named["x0"], 0.2 if varied else 0.7), "x1": _different(rng, named["x1"])}
    if known and not varied:
        named |= {"x2": (1, 2, rows, columns), "x3": (1, 3, 64, 96)}
        feeds |= {name: drawn(rng, named[name]) for name in ("x2", "x3")}
        text = layer("a", "ReLU", "x2") + layer("p", "PriorBox", "a x3", f"prior_box_param {{ {_BOXES} }}")
    else:
        named["x2"], text = (1, 2 - varied, boxes * 4), layer("p", "Split", "x2")
        feeds["x2"] = _priors(rng, boxes)[:, : 2 - varied]
    told = f"{_kept(rng, classes)} share_location: {str(shared).lower()}"
    told += f" variance_encoded_in_target: {str(varied).lower()}"
    text += layer("y", "DetectionOutput", "x0 x1 p", f"detection_output_param {{ {told} }}")
    return Drawn(given(named) + text, feeds)


_BOXES = "min_size: 24 max_size: 40 clip: false variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2"


def _kept(rng: Rng, classes: int) -> str:
    """Which boxes are kept: parameters of DetectionOutput; OpenCV has no detector without a limit."""
    told = f"num_classes: {classes} background_label_id: {rng.integers(classes + 1)} "
    told += f"code_type: {rng.choice(['CENTER_SIZE', 'CORNER'])} keep_top_k: {rng.choice([4, 9, 200])} "
    told += rng.choice(["confidence_threshold: 0.3 ", "confidence_threshold: 0.7 ", ""])
    limit, top = rng.choice([0.1, 0.3, 0.45, 0.9]), rng.choice(["top_k: 3", "top_k: 6", "top_k: 400", ""])
    return f"{told} nms_param {{ nms_threshold: {limit} {top} }}"


def _different(rng: Rng, shape: tuple[int, ...]) -> Array:
    """Scores in random order, evenly apart."""
    count = int(np.prod(shape))
    return ((rng.permutation(count) + 0.5) / count).reshape(shape).astype(np.float32)


def _priors(rng: Rng, boxes: int) -> Array:
    """Corners, and variances."""
    low, sizes = rng.random((boxes, 2)) * 0.7, rng.random((boxes, 2)) * 0.4 + 0.1
    corners, variances = np.concatenate([low, low + sizes], 1), rng.random((boxes, 4)) * 0.3 + 0.05
    return np.stack([corners.reshape(-1), variances.reshape(-1)])[None].astype(np.float32)


def plain(kind: str, told: str = "") -> Maker:
    """A layer without weights, of an image."""
    return lambda rng: one(rng, kind, image(rng), told)


CASES: Mapping[str, Maker] = {
    "AbsVal": plain("AbsVal"),
    "BNLL": plain("BNLL"),
    "BatchNorm": batch_norm,
    "Concat": concat,
    "Convolution": convolution,
    "Crop": crop,
    "Deconvolution": deconvolution,
    "DetectionOutput": detection_output,
    "Dropout": plain("Dropout"),
    "ELU": elu,
    "Eltwise": eltwise,
    "Exp": exp,
    "Flatten": flatten,
    "InnerProduct": inner_product,
    "Interp": interp,
    "LRN": lrn,
    "Log": log,
    "MVN": mvn,
    "Normalize": normalize,
    "PReLU": prelu,
    "Permute": permute,
    "Pooling": pooling,
    "Power": power,
    "PriorBox": prior_box,
    "ReLU": relu,
    "ReLU6": plain("ReLU6"),
    "Reshape": reshape,
    "Scale": scale,
    "ShuffleChannel": shuffle,
    "Sigmoid": plain("Sigmoid"),
    "Slice": slice_of,
    "Softmax": softmax,
    "Split": split,
    "TanH": plain("TanH"),
}
