"""Normalisations.  Source: Caffe's layer catalogue, and that of SSD for Normalize."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.errors import FormUnsupported, LayerParameterBad, ShapeMismatch
from codegen.frontends.caffe.network import Layer
from codegen.frontends.caffe.real.elementwise import scale as plain_scale
from codegen.frontends.caffe.real.reading import LARGEST, Reading, Translator
from codegen.ir.real import RealNode
from codegen.ir.shape import Window
from codegen.real.elementwise import Binary, Function
from codegen.real.normal import BatchNorm, LocalResponseNorm
from codegen.real.reduce import Reduce, Softmax
from codegen.real.window import AveragePool

_WITHIN = 1
_KIND = "BatchNorm"


def softmax(r: Reading, layer: Layer) -> Sequence[str]:
    """Softmax along one axis."""
    axis = r.axis(layer, layer.param("softmax_param").axis)
    return [r.apply(layer, Softmax((axis,)), [r.value(layer)])]


def batch_norm(r: Reading, layer: Layer) -> Sequence[str]:
    """BatchNorm by mean and variance as trained, both divided by the third blob where that is not zero."""
    told, channels = layer.param("batch_norm_param"), _channels(r, layer)
    if told.HasField("use_global_stats") and not told.use_global_stats:
        hint = "use_global_stats: true takes what was known in training"
        raise FormUnsupported("mean and variance of the batch itself", where=layer.where, hint=hint)
    mean, variance, count = r.blobs_of(layer, (channels,), (channels,), (1,))
    factor = np.float32(0 if count[0] == 0 else 1 / count[0])
    ones = np.ones(channels, np.float32)
    numbers = {"scale": ones, "offset": 0 * ones, "mean": mean * factor, "variance": variance * factor}
    inputs = [r.value(layer), *(r.constant_of(layer, what, array) for what, array in numbers.items())]
    return [r.apply(layer, BatchNorm(float(told.eps)), inputs)]


def scale(r: Reading, layer: Layer) -> Sequence[str]:
    """Scale; of what a BatchNorm has made it becomes part of that, whose own result is gone where nothing reads it."""
    maker, told = _maker(r, r.value(layer)), layer.param("scale_param")
    channels = (told.axis % max(len(r.shape(layer)), 1), told.num_axes) == (1, 1)
    if maker is None or len(layer.bottoms) > 1 or not channels or not isinstance(maker.op, BatchNorm):
        return plain_scale(r, layer)
    shape = (_channels(r, layer),)
    factor, *offset = r.blobs_of(layer, *[shape] * (1 + told.bias_term))
    numbers = {"scale": factor, "offset": offset[0] if offset else np.zeros(shape, np.float32)}
    own = [r.constant_of(layer, what, array) for what, array in numbers.items()]
    return [r.apply(layer, maker.op, [maker.inputs[0], *own, *maker.inputs[3:]])]


def _maker(r: Reading, value: str) -> RealNode | None:
    """The BatchNorm that writes a value."""
    return next((node for node in r.nodes if value in node.outputs and node.op_type == _KIND), None)


def lrn(r: Reading, layer: Layer) -> Sequence[str]:
    """LRN over channels, or over a square of one channel."""
    told, x = layer.param("lrn_param"), r.value(layer)
    size, alpha, beta = told.local_size, float(told.alpha), float(told.beta)
    if size % 2 == 0 or size > LARGEST:
        raise LayerParameterBad(f"local_size {size}", where=layer.where, hint="it is odd")
    if told.norm_region != _WITHIN:
        return [r.apply(layer, LocalResponseNorm(size, alpha, beta, float(told.k)), [x])]
    around = Window(size, 1, 1, size // 2, size // 2)
    squares = r.apply(layer, Binary("Mul"), [x, x], "squares")
    pads = ((size // 2, size // 2),) * 2
    means = r.apply(layer, AveragePool((around, around), pads), [squares], "means")
    scaled = r.apply(layer, Binary("Mul"), [means, r.number(layer, "alpha", alpha)], "scaled")
    shifted = r.apply(layer, Binary("Add"), [scaled, r.number(layer, "one", 1)], "shifted")
    power = r.apply(layer, Binary("Pow"), [shifted, r.number(layer, "beta", -beta)], "power")
    return [r.apply(layer, Binary("Mul"), [x, power])]


def mvn(r: Reading, layer: Layer) -> Sequence[str]:
    """MVN: less the mean, and divided by the deviation, of each channel or of each image."""
    told, x = layer.param("mvn_param"), r.value(layer)
    axes = tuple(range(1 if told.across_channels else 2, len(r.shape(layer))))
    mean = r.apply(layer, Reduce("Mean", axes), [x], "mean")
    away = r.apply(layer, Binary("Sub"), [x, mean], "away" if told.normalize_variance else "")
    if not told.normalize_variance:
        return [away]
    squares = r.apply(layer, Binary("Mul"), [away, away], "squares")
    variance = r.apply(layer, Reduce("Mean", axes), [squares], "variance")
    deviation = r.apply(layer, Function("Sqrt"), [variance], "deviation")
    shifted = r.apply(layer, Binary("Add"), [deviation, r.number(layer, "eps", told.eps)], "shifted")
    return [r.apply(layer, Binary("Div"), [away, shifted])]


def normalize(r: Reading, layer: Layer) -> Sequence[str]:
    """Normalize: divided by the root of the sum of squares, of each pixel or of each image, times trained factors."""
    told, x, channels = layer.param("norm_param"), r.value(layer), _channels(r, layer)
    axes = tuple(range(1, len(r.shape(layer)) if told.across_spatial else 2))
    (factors,) = r.blobs_of(layer, (1,) if told.channel_shared else (channels,))
    squares = r.apply(layer, Binary("Mul"), [x, x], "squares")
    total = r.apply(layer, Reduce("Sum", axes), [squares], "sum")
    shifted = r.apply(layer, Binary("Add"), [total, r.number(layer, "eps", told.eps)], "shifted")
    norm = r.apply(layer, Function("Sqrt"), [shifted], "norm")
    unit = r.apply(layer, Binary("Div"), [x, norm], "unit")
    along = factors.reshape(-1, *(1,) * (len(r.shape(layer)) - 2))
    return [r.apply(layer, Binary("Mul"), [unit, r.constant_of(layer, "factors", along)])]


def _channels(r: Reading, layer: Layer) -> int:
    shape = r.shape(layer)
    if len(shape) < 2:
        raise ShapeMismatch(f"a blob of shape {list(shape)} has no channels", where=layer.where)
    return shape[1]


TRANSLATORS: Mapping[str, Translator] = {
    "BatchNorm": batch_norm,
    "LRN": lrn,
    "MVN": mvn,
    "Normalize": normalize,
    "Scale": scale,
    "Softmax": softmax,
}
