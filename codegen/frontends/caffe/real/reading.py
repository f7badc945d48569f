"""What a translator sees: the blobs read so far, a layer's weights with checks, and the RealGraph being built.

Decides: how results are called, and when weights are those of a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from codegen.errors import BlobMisfit, BlobsMissing, CaffemodelMissing, LayerParameterBad, ShapeMismatch
from codegen.frontends.caffe.network import Layer
from codegen.frontends.caffe.weights import Blob, Blobs, others_beside, read_weights, weights_beside
from codegen.frontends.real import RealBuilder
from codegen.ir.quant import Array
from codegen.ir.real import RealOp
from codegen.ir.shape import Shape

Translator = Callable[["Reading", Layer], Sequence[str]]
"""Reads one layer: returns the values of its tops."""

LARGEST = 2**20
"""Of a window's sizes, strides and padding."""
_LEGACY_AXES = 4


class Reading(RealBuilder):
    """The graph so far; `blobs` are the values that the network's names stand for."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.blobs: dict[str, str] = {}
        self._path = path
        self._weights: Blobs | None = None

    # Reading

    def value(self, layer: Layer, index: int = 0) -> str:
        """The value of a bottom."""
        return self.blobs[layer.bottoms[index]]

    def values_of(self, layer: Layer) -> list[str]:
        """Those of all bottoms."""
        return [self.blobs[bottom] for bottom in layer.bottoms]

    def shape(self, layer: Layer, index: int = 0) -> Shape:
        """The shape of a bottom."""
        return self.type(self.value(layer, index)).shape

    def axis(self, layer: Layer, given: int, index: int = 0) -> int:
        """An axis of a bottom, which counts from the end where it is negative; LAM-IMPORT-064 for one beyond."""
        rank = len(self.shape(layer, index))
        if not -rank <= given < rank:
            raise LayerParameterBad(f"axis {given} of a blob of {rank} axes", where=layer.where)
        return given % rank

    # Weights

    def weights(self, layer: Layer) -> tuple[Blob, ...]:
        """The blobs of a layer, none where the file has none for it.

        Raises:
            CaffemodelMissing: LAM-IMPORT-061.
        """
        if self._weights is None:
            self._weights = self._read_weights()
        return self._weights.get(layer.name, ())

    def blobs_of(self, layer: Layer, *shapes: Shape) -> list[Array]:
        """The blobs of a layer, which have these shapes.

        Raises:
            BlobsMissing: LAM-IMPORT-062.
            BlobMisfit: LAM-IMPORT-063.
        """
        found = self.weights(layer)
        if len(found) != len(shapes):
            raise BlobsMissing(f"{len(found)} blobs of weights, the layer needs {len(shapes)}", where=layer.where)
        return [_fitted(blob, shape, layer, i) for i, (blob, shape) in enumerate(zip(found, shapes, strict=True))]

    def _read_weights(self) -> Blobs:
        place = weights_beside(self._path)
        if not place.exists():
            others = "".join(f", '{name}'" for name in others_beside(self._path))
            found = f"no '{place.name}' beside it" + (f"; there is {others[2:]}" if others else "")
            raise CaffemodelMissing(found, where=str(self._path))
        return read_weights(place)

    # Writing

    def constant_of(self, layer: Layer, what: str, array: Array) -> str:
        """Numbers of a layer, as a value."""
        return self.constant(f"{layer.name}:{what}", np.ascontiguousarray(array))

    def number(self, layer: Layer, what: str, number: float) -> str:
        """One number of a layer, as a value."""
        return self.constant_of(layer, what, np.array(number, np.float32))

    def apply(self, layer: Layer, op: RealOp, inputs: Sequence[str], what: str = "") -> str:
        """The first result of an operator; `what` calls what stands inside a translation."""
        name = f"{layer.result}:{what}" if what else layer.result
        try:
            return self.write(op, inputs, [name], layer, layer.result)[0]
        except ShapeMismatch as error:
            hint = "the layer takes a blob of another shape: look at the layers before it and at the input's shape"
            raise ShapeMismatch(error.found, where=error.where or layer.where, hint=hint) from error


def _fitted(blob: Blob, shape: Shape, layer: Layer, index: int) -> Array:
    """The numbers in the shape that the layer asks for, which old files fill up with ones to four axes."""
    found = blob.data.shape
    wanted = (1,) * (_LEGACY_AXES - len(shape)) + shape if blob.is_legacy else shape
    if found != wanted:
        where = f"{layer.where}, blob {index}"
        raise BlobMisfit(f"its shape is {list(found)}, the layer asks for {list(shape)}", where=where)
    return blob.data.reshape(shape)
