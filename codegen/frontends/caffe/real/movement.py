"""Layers that move numbers, and those that change nothing.  Source: Caffe's layer catalogue."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from codegen.errors import LayerParameterBad, ShapeMismatch
from codegen.frontends.caffe.network import Layer
from codegen.frontends.caffe.real.reading import Reading, Translator
from codegen.ir.shape import Shape
from codegen.real.movement import Concat, Reshape, Slice, Transpose


def same(r: Reading, layer: Layer) -> Sequence[str]:
    """A layer that changes nothing outside training, such as Dropout; its blob once for each top."""
    return [r.value(layer)] * len(layer.tops)


def concat(r: Reading, layer: Layer) -> Sequence[str]:
    """Concat along one axis."""
    told = layer.param("concat_param")
    axis = r.axis(layer, told.concat_dim if told.HasField("concat_dim") else told.axis)
    return [r.apply(layer, Concat(axis), r.values_of(layer))]


def slice_of(r: Reading, layer: Layer) -> Sequence[str]:
    """Slice at the points given, or into equal parts."""
    told = layer.param("slice_param")
    axis = r.axis(layer, told.slice_dim if told.HasField("slice_dim") else told.axis)
    length, count = r.shape(layer)[axis], len(layer.tops)
    if not told.slice_point and length % count:
        raise LayerParameterBad(f"{length} entries in {count} equal parts", where=layer.where)
    points = tuple(told.slice_point) or tuple(length // count * i for i in range(1, count))
    ends = (0, *points, length)
    if len(ends) != count + 1 or any(b <= a for a, b in itertools.pairwise(ends)):
        raise LayerParameterBad(f"{list(points)} of {length} entries for {count} tops", where=layer.where)
    parts = zip(itertools.pairwise(ends), layer.tops, strict=True)
    return [_part(r, layer, axis, part, top) for part, top in parts]


def _part(r: Reading, layer: Layer, axis: int, ends: tuple[int, int], top: str) -> str:
    shape, (first, last) = r.shape(layer), ends
    starts = tuple(first if i == axis else 0 for i in range(len(shape)))
    counts = tuple(last - first if i == axis else n for i, n in enumerate(shape))
    return r.apply(layer, Slice(starts, counts, (1,) * len(shape)), [r.value(layer)], top)


def crop(r: Reading, layer: Layer) -> Sequence[str]:
    """Crop to the sizes of the second bottom from one axis on."""
    told, shape, wanted = layer.param("crop_param"), r.shape(layer), r.shape(layer, 1)
    first = r.axis(layer, told.axis)
    axes = len(shape) - first
    if len(wanted) != len(shape) or len(told.offset) not in (0, 1, axes):
        found = f"blobs of shapes {list(shape)} and {list(wanted)}, {len(told.offset)} offsets"
        raise LayerParameterBad(found, where=layer.where)
    offsets = [*told.offset] * axes if len(told.offset) == 1 else [*told.offset] or [0] * axes
    starts, counts = (*(0,) * first, *offsets), (*shape[:first], *wanted[first:])
    if any(a + n > m for a, n, m in zip(starts, counts, shape, strict=True)):
        raise ShapeMismatch(f"{list(counts)} from {list(starts)} on in {list(shape)}", where=layer.where)
    return [r.apply(layer, Slice(starts, counts, (1,) * len(shape)), [r.value(layer)])]


def flatten(r: Reading, layer: Layer) -> Sequence[str]:
    """Flatten: some axes become one."""
    told, shape = layer.param("flatten_param"), r.shape(layer)
    first, last = r.axis(layer, told.axis), r.axis(layer, told.end_axis)
    if last < first:
        raise LayerParameterBad(f"axes {told.axis} to {told.end_axis} of {list(shape)}", where=layer.where)
    return [reshaped(r, layer, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))]


def reshape(r: Reading, layer: Layer) -> Sequence[str]:
    """Reshape of some axes: 0 keeps a size, -1 is what is left."""
    told, shape = layer.param("reshape_param"), r.shape(layer)
    first = told.axis if told.axis >= 0 else len(shape) + 1 + told.axis
    last = len(shape) if told.num_axes == -1 else first + told.num_axes
    if not 0 <= first <= last <= len(shape) or told.num_axes < -1:
        raise LayerParameterBad(f"{told.num_axes} axes from {told.axis} of {list(shape)}", where=layer.where)
    sizes = list(told.shape.dim)
    kept = all(n or first + i < len(shape) for i, n in enumerate(sizes))
    if not kept or sizes.count(-1) > 1 or min(sizes, default=0) < -1:
        raise LayerParameterBad(f"a shape {sizes} of {list(shape)}", where=layer.where)
    sizes = [n or shape[first + i] for i, n in enumerate(sizes)]
    known, whole = math.prod(n for n in sizes if n != -1), math.prod(shape[first:last])
    sizes = [whole // known if n == -1 else n for n in sizes]
    if math.prod(sizes) != whole:
        raise LayerParameterBad(f"a shape {sizes} of {list(shape[first:last])}", where=layer.where)
    return [reshaped(r, layer, (*shape[:first], *sizes, *shape[last:]))]


def permute(r: Reading, layer: Layer) -> Sequence[str]:
    """Permute: the axes in another order, those that are not named behind."""
    order, rank = tuple(layer.param("permute_param").order), len(r.shape(layer))
    if len(set(order)) < len(order) or max(order, default=0) >= rank:
        raise LayerParameterBad(f"an order {list(order)} of {rank} axes", where=layer.where)
    rest = tuple(i for i in range(rank) if i not in order)
    return [r.apply(layer, Transpose((*order, *rest)), [r.value(layer)])]


def shuffle(r: Reading, layer: Layer) -> Sequence[str]:
    """ShuffleChannel: channel i of group j becomes channel j of group i."""
    shape, groups = r.shape(layer), layer.param("shuffle_channel_param").group
    if len(shape) < 2 or groups < 1 or shape[1] % groups:
        raise LayerParameterBad(f"{groups} groups of a blob {list(shape)}", where=layer.where)
    parts = r.apply(layer, Reshape((shape[0], groups, shape[1] // groups, *shape[2:])), [r.value(layer)], "groups")
    turned = r.apply(layer, Transpose((0, 2, 1, *range(3, len(shape) + 1))), [parts], "turned")
    return [r.apply(layer, Reshape(shape), [turned])]


def reshaped(r: Reading, layer: Layer, shape: Shape) -> str:
    """The bottom in another shape."""
    return r.apply(layer, Reshape(shape), [r.value(layer)])


TRANSLATORS: Mapping[str, Translator] = {
    "Concat": concat,
    "Crop": crop,
    "Dropout": same,
    "Flatten": flatten,
    "Permute": permute,
    "Reshape": reshape,
    "ShuffleChannel": shuffle,
    "Slice": slice_of,
    "Split": same,
}
