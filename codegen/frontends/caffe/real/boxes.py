"""Maps made larger, and the boxes of SSD.  Source: the layers Interp, Upsample and PriorBox of Caffe's forks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from codegen.errors import FormUnsupported, LayerParameterBad, ModelTooLarge, ShapeMismatch
from codegen.frontends.caffe.network import Layer
from codegen.frontends.caffe.real.reading import LARGEST, Reading, Translator
from codegen.ir.quant import Array
from codegen.real.resize import Resize
from codegen.real.taps import Stretch
from codegen.settle.builder import MAX_ELEMENTS

_RANK = 4
_VARIANCE = 0.1
_SAME_RATIO = 1e-6


def interp(r: Reading, layer: Layer) -> Sequence[str]:
    """Interp: bilinear, corners on corners, to sizes or by factors."""
    told, shape = layer.param("interp_param"), _image(r, layer)
    if told.pad_beg or told.pad_end:
        raise FormUnsupported("padding", where=layer.where, hint="put a Crop before it")
    if (told.HasField("height"), told.HasField("width")) == (True, True):
        sizes = (told.height, told.width)
    else:
        sizes = (_zoomed(shape[2], told, layer), _zoomed(shape[3], told, layer))
    return [r.apply(layer, _resize(layer, shape, sizes, corners=True), [r.value(layer)])]


def _zoomed(length: int, told: Any, layer: Layer) -> int:
    if min(told.zoom_factor, told.shrink_factor) < 1:
        raise LayerParameterBad(f"factors {told.zoom_factor} and {told.shrink_factor}", where=layer.where)
    shrunk = (length - 1) // told.shrink_factor + 1
    return int(shrunk + (shrunk - 1) * (told.zoom_factor - 1))


def upsample(r: Reading, layer: Layer) -> Sequence[str]:
    """Upsample: each pixel repeated."""
    told, shape = layer.param("upsample_param"), _image(r, layer)
    if told.pad_out_h or told.pad_out_w:
        raise FormUnsupported("padding", where=layer.where, hint="put a Crop behind the layer")
    factors = [told.scale_h or told.scale, told.scale_w or told.scale]
    sizes = (told.upsample_h or shape[2] * factors[0], told.upsample_w or shape[3] * factors[1])
    if sizes[0] % shape[2] or sizes[1] % shape[3]:
        raise FormUnsupported(f"{list(shape[2:])} as {list(sizes)}", where=layer.where, hint="by whole factors")
    return [r.apply(layer, _resize(layer, shape, sizes, corners=False), [r.value(layer)])]


def _resize(layer: Layer, shape: Sequence[int], sizes: tuple[int, int], *, corners: bool) -> Resize:
    if min(sizes) < 1 or max(sizes) > LARGEST or math.prod(sizes) * shape[1] > MAX_ELEMENTS:
        raise LayerParameterBad(f"a result of {list(sizes)}", where=layer.where)
    stretches = tuple(Stretch(m, m / n) for m, n in zip(sizes, shape[2:], strict=True))
    if corners:
        return Resize((None, None, *stretches), "linear", "align_corners")
    return Resize((None, None, *stretches), "nearest", "asymmetric", "floor")


def prior_box(r: Reading, layer: Layer) -> Sequence[str]:
    """PriorBox: boxes around each pixel of the first bottom, as parts of the second, and variances: known numbers."""
    told, shape, image = layer.param("prior_box_param"), _image(r, layer), _image(r, layer, 1)
    height, width = (told.img_h or told.img_size or image[2]), (told.img_w or told.img_size or image[3])
    sizes = _box_sizes(told, layer)
    if math.prod(shape[2:]) * len(sizes) * 2 * _RANK > MAX_ELEMENTS:
        raise ModelTooLarge(f"{len(sizes)} boxes for each of {shape[2]} x {shape[3]} pixels", where=layer.where)
    steps = told.step_h or told.step or height / shape[2], told.step_w or told.step or width / shape[3]
    y, x = ((np.arange(n) + told.offset) * step for n, step in zip(shape[2:], steps, strict=True))
    centres = np.stack(np.broadcast_arrays(x[None, :, None], y[:, None, None]), -1)
    half, whole = np.array(sizes) / 2, np.array([width, height])
    boxes = np.concatenate([(centres - half) / whole, (centres + half) / whole], -1).reshape(-1)
    boxes = np.clip(boxes, 0, 1) if told.clip else boxes
    array = np.stack([boxes, np.resize(_variances(told, layer), boxes.shape)])[None].astype(np.float32)
    return [r.constant(layer.result, array)]


def _box_sizes(told: Any, layer: Layer) -> list[tuple[float, float]]:
    """Width and height of the boxes of a pixel."""
    ratios = [1.0]
    for given in told.aspect_ratio:
        if given <= 0:
            raise LayerParameterBad(f"aspect_ratio {given}", where=layer.where)
        if all(abs(given - known) >= _SAME_RATIO for known in ratios):
            ratios += [given, 1 / given] if told.flip else [given]
    if not told.min_size or len(told.max_size) not in (0, len(told.min_size)) or min(told.min_size) <= 0:
        found = f"min_size {list(told.min_size)}, max_size {list(told.max_size)}"
        raise LayerParameterBad(found, where=layer.where)
    sizes: list[tuple[float, float]] = []
    for i, least in enumerate(told.min_size):
        sizes.append((least, least))
        if told.max_size:
            sizes.append((math.sqrt(least * max(told.max_size[i], 0)),) * 2)
        sizes += [(least * math.sqrt(ratio), least / math.sqrt(ratio)) for ratio in ratios[1:]]
    return sizes


def _variances(told: Any, layer: Layer) -> Array:
    if len(told.variance) not in (0, 1, _RANK):
        raise LayerParameterBad(f"{len(told.variance)} variances", where=layer.where)
    return np.array([*told.variance] or [_VARIANCE], np.float32)


def _image(r: Reading, layer: Layer, index: int = 0) -> tuple[int, ...]:
    shape = r.shape(layer, index)
    if len(shape) != _RANK:
        raise ShapeMismatch(f"a blob of shape {list(shape)} is no image [N, C, H, W]", where=layer.where)
    return shape


TRANSLATORS: Mapping[str, Translator] = {
    "Interp": interp,
    "PriorBox": prior_box,
    "Upsample": upsample,
}
