"""Normalisations.  Source: Caffe's layer catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.frontends.caffe.network import Layer
from codegen.frontends.caffe.real.reading import Reading, Translator
from codegen.real.reduce import Softmax


def softmax(r: Reading, layer: Layer) -> Sequence[str]:
    """Softmax along one axis."""
    axis = r.axis(layer, layer.param("softmax_param").axis)
    return [r.apply(layer, Softmax((axis,)), [r.value(layer)])]


TRANSLATORS: Mapping[str, Translator] = {
    "Softmax": softmax,
}
