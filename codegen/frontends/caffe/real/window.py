"""Convolutions, inner products and pools.

Source: Caffe's layer catalogue: the sizes of Convolution, Deconvolution, InnerProduct and Pooling; a pool's size is
rounded up, without the last window where it would begin behind the map and its padding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from codegen.errors import FormUnsupported, LayerParameterBad, ModelTooLarge, ShapeMismatch
from codegen.frontends.caffe.network import Layer
from codegen.frontends.caffe.real.reading import LARGEST, Reading, Translator
from codegen.ir.quant import Array
from codegen.ir.shape import Shape, Window
from codegen.real.movement import Reshape
from codegen.real.product import Gemm
from codegen.real.reduce import Reduce
from codegen.real.window import AveragePool, Conv, ConvTranspose, MaxPool
from codegen.settle.builder import MAX_ELEMENTS

_SPATIAL = 2
_MAX, _AVERAGE = 0, 1
_FLOOR = 1


def convolution(r: Reading, layer: Layer) -> Sequence[str]:
    """Convolution."""
    return [_convolved(r, layer, layer.param("convolution_param").group)]


def depthwise(r: Reading, layer: Layer) -> Sequence[str]:
    """Convolution of each channel by itself, as forks call it."""
    return [_convolved(r, layer, r.shape(layer)[1] if len(r.shape(layer)) > 1 else 1)]


def _convolved(r: Reading, layer: Layer, groups: int) -> str:
    told, shape = layer.param("convolution_param"), _image(r, layer)
    windows = _windows(told, layer)
    _check_padded(layer, shape, windows)
    outputs = _outputs(told, layer)
    if groups < 1 or shape[1] % groups or outputs % groups:
        raise LayerParameterBad(f"{groups} groups of {shape[1]} channels and {outputs} outputs", where=layer.where)
    kernel = (outputs, shape[1] // groups, *(w.size for w in windows))
    numbers = r.blobs_of(layer, kernel, *([(outputs,)] if told.bias_term else []))
    return r.apply(layer, Conv(windows, groups), [r.value(layer), *_constants(r, layer, numbers)])


def deconvolution(r: Reading, layer: Layer) -> Sequence[str]:
    """Deconvolution: a transposed convolution; weights that nobody has trained are those of the bilinear filler."""
    told, shape = layer.param("convolution_param"), _image(r, layer)
    windows, outputs, groups = _windows(told, layer), _outputs(told, layer), told.group
    if groups < 1 or shape[1] % groups or outputs % groups:
        raise LayerParameterBad(f"{groups} groups of {shape[1]} channels and {outputs} outputs", where=layer.where)
    pairs = zip(shape[_SPATIAL:], windows, strict=True)
    out = tuple((n - 1) * w.stride + w.extent - w.pad_before - w.pad_after for n, w in pairs)
    if min(out) < 1 or math.prod(out) * outputs > MAX_ELEMENTS:
        raise ShapeMismatch(f"a result of {[outputs, *out]}", where=layer.where)
    kernel = (shape[1], outputs // groups, *(w.size for w in windows))
    numbers = _filled(r, layer, kernel) or r.blobs_of(layer, kernel, *([(outputs,)] if told.bias_term else []))
    return [r.apply(layer, ConvTranspose(windows, out, groups), [r.value(layer), *_constants(r, layer, numbers)])]


def _filled(r: Reading, layer: Layer, kernel: Shape) -> list[Array]:
    """Weights of the bilinear filler, where the network asks for them and no file has others."""
    told = layer.param("convolution_param")
    if told.weight_filler.type != "bilinear" or told.bias_term or r.weights(layer):
        return []
    factors = [_triangle(size) for size in kernel[_SPATIAL:]]
    return [np.broadcast_to(np.multiply.outer(*factors), kernel).astype(np.float32)]


def _triangle(size: int) -> Array:
    """Weights of a linear interpolation over a window of `size`, by Caffe's bilinear filler."""
    factor = (size + 1) // 2
    centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
    return np.asarray(1 - np.abs(np.arange(size) / factor - centre))


def inner_product(r: Reading, layer: Layer) -> Sequence[str]:
    """InnerProduct over all axes from one on."""
    told, shape = layer.param("inner_product_param"), r.shape(layer)
    axis, outputs = r.axis(layer, told.axis), _outputs(told, layer)
    rows, entries = math.prod(shape[:axis]), math.prod(shape[axis:])
    kernel = (entries, outputs) if told.transpose else (outputs, entries)
    numbers = r.blobs_of(layer, kernel, *([(outputs,)] if told.bias_term else []))
    x = r.value(layer)
    if shape != (rows, entries):
        x = r.apply(layer, Reshape((rows, entries)), [x], "rows")
    constants, whole = _constants(r, layer, numbers), (*shape[:axis], outputs)
    y = r.apply(layer, Gemm(turn_b=not told.transpose), [x, *constants], "" if len(whole) == 2 else "product")
    return [y if len(whole) == 2 else r.apply(layer, Reshape(whole), [y])]


def pooling(r: Reading, layer: Layer) -> Sequence[str]:
    """Pooling of the kinds MAX and AVE."""
    told, shape = layer.param("pooling_param"), _image(r, layer)
    if told.pool not in (_MAX, _AVERAGE):
        raise FormUnsupported("a pool that draws at random", where=layer.where, hint="use MAX or AVE")
    if len(layer.tops) > 1:
        hint = "the places of maxima serve training and unpooling, which are not read"
        raise FormUnsupported("a pool that gives the places of its maxima", where=layer.where, hint=hint)
    if told.global_pooling:
        _check_global(told, layer)
        return [r.apply(layer, Reduce("Max" if told.pool == _MAX else "Mean", (2, 3)), [r.value(layer)])]
    plain = _pool_windows(told, layer)
    _check_padded(layer, shape, plain)
    windows = _reaching(plain, shape[_SPATIAL:], layer)
    counted = tuple((w.pad_before, w.pad_after) for w in plain)
    op = MaxPool(windows) if told.pool == _MAX else AveragePool(windows, counted if any(map(any, counted)) else ())
    return [r.apply(layer, op, [r.value(layer)])]


def _check_global(told: Any, layer: Layer) -> None:
    steps = (told.stride, told.stride_h or 1, told.stride_w or 1)
    if told.kernel_size or told.kernel_h or told.kernel_w:
        raise LayerParameterBad("a kernel's size of a global pool", where=layer.where)
    if told.pad or told.pad_h or told.pad_w or steps != (1, 1, 1):
        raise LayerParameterBad("a global pool with padding or a stride", where=layer.where)


def _reaching(plain: Sequence[Window], lengths: Shape, layer: Layer) -> tuple[Window, ...]:
    """The windows of a pool with the padding behind each axis that their counts of places ask for."""
    told = layer.param("pooling_param")
    floor = told.round_mode == _FLOOR or not told.ceil_mode
    is_padded = any(window.pad_before for window in plain)
    made = []
    for window, length in zip(plain, lengths, strict=True):
        steps = length + 2 * window.pad_before - window.size
        if steps < 0 and (floor or -steps >= window.stride):
            raise ShapeMismatch(f"a window of {window.size} does not fit into {length}", where=layer.where)
        count = (steps // window.stride if floor else -(-steps // window.stride)) + 1
        is_behind = (count - 1) * window.stride >= length + window.pad_before
        if is_behind and not is_padded:
            hint = "Caffe divides by nothing there: take round_mode: FLOOR, or a stride within the kernel"
            raise LayerParameterBad(f"the last window lies behind the map of {length}", where=layer.where, hint=hint)
        made.append(_covering(window, length, count - is_behind))
    return tuple(made)


def _covering(window: Window, length: int, count: int) -> Window:
    """The window with the padding behind an axis that so many places need."""
    pad, stride, size = window.pad_before, window.stride, window.size
    behind = (count - 1) * stride + size - length - pad
    return Window(size, stride, 1, pad, max(behind, 0))


def _pool_windows(told: Any, layer: Layer) -> tuple[Window, Window]:
    """The windows of a pool, with the padding that the file says."""
    if not told.HasField("kernel_size") and not (told.HasField("kernel_h") and told.HasField("kernel_w")):
        raise LayerParameterBad("no size of the kernel", where=layer.where)
    words = {"size": "kernel_size", "stride": "stride", "pad": "pad"}
    found = [{key: _either(told, word, axis) for key, word in words.items()} for axis in "hw"]
    made = tuple(_window({**sizes, "dilation": 1}, layer) for sizes in found)
    if any(window.pad_before >= window.size for window in made):
        raise LayerParameterBad("padding as wide as the kernel", where=layer.where)
    return made[0], made[1]


def _either(told: Any, word: str, axis: str) -> int:
    """A number of one axis: its own, else that of both."""
    own = f"{word.removesuffix('_size')}_{axis}"
    return int(getattr(told, own) if told.HasField(own) else getattr(told, word))


def _windows(told: Any, layer: Layer) -> tuple[Window, ...]:
    """The windows of a convolution."""
    words = {"size": ("kernel_size", "kernel", 0), "stride": ("stride", "stride", 1), "pad": ("pad", "pad", 0)}
    found = {key: _per_axis(told, layer, *said) for key, said in words.items()}
    found["dilation"] = _repeated(told.dilation, "dilation", 1, layer)
    return tuple(_window({key: sizes[i] for key, sizes in found.items()}, layer) for i in range(_SPATIAL))


def _per_axis(told: Any, layer: Layer, word: str, short: str, default: int) -> tuple[int, int]:
    """Two numbers: rows and columns by names of their own, or a list of one or two."""
    both = [getattr(told, f"{short}_{axis}") for axis in "hw" if told.HasField(f"{short}_{axis}")]
    if not both:
        return _repeated(getattr(told, word), word, default, layer)
    if len(both) != _SPATIAL or len(getattr(told, word)):
        raise LayerParameterBad(f"{short}_h and {short}_w go together, without {word}", where=layer.where)
    return both[0], both[1]


def _repeated(given: Sequence[int], word: str, default: int, layer: Layer) -> tuple[int, int]:
    if len(given) > _SPATIAL:
        hint = "images of two axes are read"
        raise FormUnsupported(f"{word} of {len(given)} axes", where=layer.where, hint=hint)
    sizes = [*given] or [default]
    return sizes[0], sizes[-1]


def _window(sizes: Mapping[str, int], layer: Layer) -> Window:
    size, stride, dilation, pad = (sizes[key] for key in ("size", "stride", "dilation", "pad"))
    if min(size, stride, dilation) < 1 or max(size, stride, dilation, pad) > LARGEST:
        found = f"a window of {size}, stride {stride}, dilation {dilation}, padding {pad}"
        raise LayerParameterBad(found, where=layer.where)
    return Window(size, stride, dilation, pad, pad)


def _image(r: Reading, layer: Layer) -> Shape:
    """The shape of the bottom, [N, C, H, W]."""
    shape = r.shape(layer)
    if len(shape) != _SPATIAL + 2:
        raise ShapeMismatch(f"a blob of shape {list(shape)} is no image [N, C, H, W]", where=layer.where)
    return shape


def _check_padded(layer: Layer, shape: Shape, windows: Sequence[Window]) -> None:
    sizes = [n + w.pad_before + w.pad_after for n, w in zip(shape[_SPATIAL:], windows, strict=True)]
    if math.prod((*shape[:_SPATIAL], *sizes)) > MAX_ELEMENTS:
        raise ModelTooLarge(f"a padded blob of {sizes[0]} x {sizes[1]}", where=layer.where)


def _outputs(told: Any, layer: Layer) -> int:
    if not 1 <= told.num_output <= LARGEST:
        raise LayerParameterBad(f"num_output {told.num_output}", where=layer.where)
    return int(told.num_output)


def _constants(r: Reading, layer: Layer, numbers: Sequence[Array]) -> list[str]:
    """Weights and perhaps a bias, as values."""
    return [r.constant_of(layer, what, array) for what, array in zip(("weights", "bias"), numbers, strict=False)]


TRANSLATORS: Mapping[str, Translator] = {
    "Convolution": convolution,
    "ConvolutionDepthwise": depthwise,
    "Deconvolution": deconvolution,
    "DepthwiseConvolution": depthwise,
    "InnerProduct": inner_product,
    "Pooling": pooling,
}
