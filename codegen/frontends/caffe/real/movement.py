"""Layers that move numbers, and those that change nothing.  Source: Caffe's layer catalogue."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from codegen.errors import LayerParameterBad
from codegen.frontends.caffe.network import Layer
from codegen.frontends.caffe.real.reading import Reading, Translator
from codegen.ir.shape import Shape
from codegen.real.movement import Reshape


def same(r: Reading, layer: Layer) -> Sequence[str]:
    """A layer that changes nothing outside training, such as Dropout; its blob once for each top."""
    return [r.value(layer)] * len(layer.tops)


def flatten(r: Reading, layer: Layer) -> Sequence[str]:
    """Flatten: some axes become one."""
    told, shape = layer.param("flatten_param"), r.shape(layer)
    first, last = r.axis(layer, told.axis), r.axis(layer, told.end_axis)
    if last < first:
        raise LayerParameterBad(f"axes {told.axis} to {told.end_axis} of {list(shape)}", where=layer.where)
    return [reshaped(r, layer, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))]


def reshaped(r: Reading, layer: Layer, shape: Shape) -> str:
    """The bottom in another shape."""
    return r.apply(layer, Reshape(shape), [r.value(layer)])


TRANSLATORS: Mapping[str, Translator] = {
    "Dropout": same,
    "Flatten": flatten,
    "Split": same,
}
