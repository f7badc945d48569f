"""What a Caffe network reads: blobs declared at the head of the file, or written by layers of data.

Decides: that a shape given by the user goes before the file's, as Caffe's own networks are reshaped, and that layers of
data are inputs where anything that runs outside training reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from codegen.errors import LayerParameterBad, ModelTooLarge, NameTwice, ShapeBad
from codegen.frontends.caffe.network import Layer, Network
from codegen.frontends.shapes import Given, Shapes
from codegen.ir.shape import Shape
from codegen.settle.builder import MAX_ELEMENTS, MAX_RANK

DATA_LAYERS = ("Data", "DummyData", "HDF5Data", "ImageData", "Input", "MemoryData", "WindowData")
Declared = tuple[int, ...] | None
"""The sizes of an input; None where the file has none."""


def inputs_of(network: Network, read: frozenset[str]) -> dict[str, Declared]:
    """The inputs by name; `read` are the blobs that layers read.  LAM-IMPORT-016 for one that is declared twice."""
    found: dict[str, Declared] = {}
    of_layers = ((top, shape, layer) for layer in network.layers for top, shape in _tops(layer))
    for name, shape, layer in (*((name, shape, None) for name, shape in network.inputs), *of_layers):
        if layer is not None and layer.op_type != "Input" and name not in read:
            continue
        if name in found:
            raise NameTwice("declared twice", where=f"input '{name}'")
        found[name] = shape
    return found


def shaped_inputs(declared: Mapping[str, Declared], given: Given) -> Iterator[tuple[str, Shape]]:
    """Each input with its shape; those that are given go before the file's.

    Raises:
        ShapeOfNothing: LAM-IMPORT-052.
        ShapeDynamic: LAM-IMPORT-009.
        ShapeBad: LAM-IMPORT-050.
        ModelTooLarge: LAM-IMPORT-004.
    """
    shapes = Shapes({name: None if name in given else shape for name, shape in declared.items()}, given)
    for name in declared:
        shape = shapes.of(name)
        _check_shape(shape, f"input '{name}'")
        yield name, shape


def _check_shape(shape: Shape, where: str) -> None:
    if min(shape, default=0) < 1:
        hint = "every size is a whole number of 1 or more"
        raise ShapeBad(f"the shape is {list(shape[: MAX_RANK + 1])}", where=where, hint=hint)
    if len(shape) > MAX_RANK or max(shape) > MAX_ELEMENTS:
        raise ModelTooLarge(f"an input of shape {list(shape[: MAX_RANK + 1])}", where=where)


def _tops(layer: Layer) -> Iterator[tuple[str, Declared]]:
    """The blobs that a layer of data writes."""
    if layer.op_type not in DATA_LAYERS:
        return
    shapes = _declared(layer)
    if len(shapes) > 1 and len(shapes) != len(layer.tops):
        raise LayerParameterBad(f"{len(shapes)} shapes for {len(layer.tops)} tops", where=layer.where)
    yield from zip(layer.tops, shapes * len(layer.tops) if len(shapes) == 1 else shapes or _none(layer), strict=True)


def _none(layer: Layer) -> list[Declared]:
    return [None] * len(layer.tops)


def _declared(layer: Layer) -> list[Declared]:
    """The shapes that a layer says, one for each top or one for all."""
    if layer.op_type == "Input":
        return [tuple(shape.dim) for shape in layer.param("input_param").shape]
    if layer.op_type == "MemoryData":
        told = layer.param("memory_data_param")
        return [(told.batch_size, told.channels, told.height, told.width), *[None] * (len(layer.tops) - 1)]
    if layer.op_type == "DummyData":
        told = layer.param("dummy_data_param")
        return [tuple(shape.dim) for shape in told.shape] or _legacy(told.num, told.channels, told.height, told.width)
    return []


def _legacy(*sizes: Sequence[int]) -> list[Declared]:
    count = min(map(len, sizes))
    return [tuple(size[i] for size in sizes) for i in range(count)]
