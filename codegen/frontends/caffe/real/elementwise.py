"""Functions of each number by itself.  Source: Caffe's layer catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.frontends.caffe.network import Layer
from codegen.frontends.caffe.real.reading import Reading, Translator
from codegen.real.elementwise import Clip, Function

_SIX = 6.0


def relu(r: Reading, layer: Layer) -> Sequence[str]:
    """ReLU, with a slope below zero where the file gives one."""
    slope = layer.param("relu_param").negative_slope
    op = Function("LeakyRelu", (("alpha", float(slope)),)) if slope else Function("Relu")
    return [r.apply(layer, op, [r.value(layer)])]


def relu6(r: Reading, layer: Layer) -> Sequence[str]:
    """ReLU6: held within 0 and 6."""
    return [r.apply(layer, Clip(0.0, _SIX), [r.value(layer)])]


def _plain(name: str) -> Translator:
    """The function of a name."""
    return lambda r, layer: [r.apply(layer, Function(name), [r.value(layer)])]


TRANSLATORS: Mapping[str, Translator] = {
    "AbsVal": _plain("Abs"),
    "BNLL": _plain("Softplus"),
    "ReLU": relu,
    "ReLU6": relu6,
    "Sigmoid": _plain("Sigmoid"),
    "TanH": _plain("Tanh"),
}
