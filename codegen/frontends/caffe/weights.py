"""The weights of a caffemodel: the blobs of each layer, by the layer's name.

Decides: where the file lies, and that it is walked over as bytes, so that nothing of it is built that is not a blob.
Source: the numbers of Caffe's NetParameter, LayerParameter, V1LayerParameter, BlobProto and BlobShape.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from codegen.errors import ModelTooLarge, ModelUnreadable, TensorBad
from codegen.frontends.files import read_model_file
from codegen.frontends.wire import BYTES, MAX_FIELDS, VARINT, fields, varint
from codegen.ir.quant import Array
from codegen.ir.shape import Shape
from codegen.records import record

ENDING = ".caffemodel"
_LAYER, _LAYER_V1 = 100, 2
_IN_LAYER = {_LAYER: (1, 7), _LAYER_V1: (4, 6)}
"""Numbers of a layer's name and of its blobs, by the number of the layer."""
_LEGACY_DIMS = (1, 2, 3, 4)
_DATA, _SHAPE, _DOUBLES = 5, 7, 8
_LONGEST = 63
"""Bits of a size."""

Span = tuple[int, int]
"""First byte of a message, and the one behind its last."""


@record(eq=False)
class Blob:
    """Numbers of a layer.  `is_legacy`: with the four axes that old files give to everything."""

    data: Array
    is_legacy: bool


Blobs = Mapping[str, tuple[Blob, ...]]
"""By the name of a layer; layers without blobs are not there."""


def weights_beside(network: Path) -> Path:
    """Where the weights of a prototxt are looked for."""
    return network.with_suffix(ENDING)


def others_beside(network: Path) -> tuple[str, ...]:
    """Names of weights in the folder of a prototxt that might be meant, a few at most."""
    try:
        found = sorted(path.name for path in network.parent.iterdir() if path.suffix == ENDING)
    except OSError:
        return ()
    return tuple(found[:4])


def read_weights(path: Path) -> Blobs:
    """The blobs of a caffemodel.

    Raises:
        ModelMissing: LAM-IMPORT-002.
        ModelUnreadable: LAM-IMPORT-003.
        ModelTooLarge: LAM-IMPORT-004.
        TensorBad: LAM-IMPORT-018, of a blob with other than as many numbers as its shape has.
    """
    data, where = read_model_file(path), str(path)
    _check_kind(data, where)
    found: dict[str, tuple[Blob, ...]] = {}
    layers = 0
    for number, kind, first, last in fields(data, 0, len(data), where):
        if number in _IN_LAYER and kind == BYTES:
            layers += 1
            name, blobs = _layer(_File(data, where), (first, last), *_IN_LAYER[number])
            found |= {name: blobs} if blobs else {}
        if layers > MAX_FIELDS:
            raise ModelTooLarge(f"more than {MAX_FIELDS} layers", where=where)
    if not layers:
        raise ModelUnreadable("no Caffe weights: the file holds no layer", where=where)
    return found


def _check_kind(data: bytes, where: str) -> None:
    if not data:
        raise ModelUnreadable("the file is empty", where=where)
    if data.startswith(b"version https://git-lfs"):
        hint = "run `git lfs pull`"
        raise ModelUnreadable("the file is a Git LFS pointer, the weights were not fetched", where=where, hint=hint)
    if all(32 <= byte < 127 or byte in b"\t\n\r" for byte in data[:64]):
        raise ModelUnreadable("the file is text", where=where, hint="weights are the binary .caffemodel")


@record(eq=False)
class _File:
    data: bytes
    where: str

    def fields(self, span: Span) -> Iterator[tuple[int, int, int, int]]:
        """Those of one message; LAM-IMPORT-004 where they are too many."""
        for count, field in enumerate(fields(self.data, *span, self.where)):
            if count > MAX_FIELDS:
                raise ModelTooLarge(f"more than {MAX_FIELDS} fields in a layer", where=self.where)
            yield field

    def integer(self, span: Span) -> tuple[int, int]:
        """A whole number at the head of some bytes, and the byte behind it."""
        return varint(self.data, *span, self.where)


def _layer(file: _File, span: Span, name_number: int, blob_number: int) -> tuple[str, tuple[Blob, ...]]:
    name, blobs = "", list[Blob]()
    for number, kind, first, last in file.fields(span):
        if number == name_number and kind == BYTES:
            name = file.data[first:last].decode("utf-8", "replace")
        if number == blob_number and kind == BYTES:
            blobs.append(_blob(file, (first, last), f"{file.where}, layer '{name}', blob {len(blobs)}"))
    return name, tuple(blobs)


def _blob(file: _File, span: Span, where: str) -> Blob:
    """One blob: its numbers as float32, in its shape."""
    runs, doubles = list[bytes](), list[bytes]()
    shape: Shape | None = None
    legacy = [1, 1, 1, 1]
    for number, kind, first, last in file.fields(span):
        if number in (_DATA, _DOUBLES) and kind != VARINT:
            (runs if number == _DATA else doubles).append(file.data[first:last])
        elif number == _SHAPE and kind == BYTES:
            shape = _dims(file, (first, last), where)
        elif number in _LEGACY_DIMS and kind == VARINT:
            legacy[number - 1] = file.integer((first, last))[0]
    numbers = _numbers(doubles, "<f8", where) if doubles and not runs else _numbers(runs, "<f4", where)
    return Blob(_shaped(numbers, tuple(legacy) if shape is None else shape, where), shape is None)


def _dims(file: _File, span: Span, where: str) -> Shape:
    """The sizes of a BlobShape, one by one or in a run."""
    sizes: list[int] = []
    for _, kind, first, last in file.fields(span):
        if kind not in (BYTES, VARINT):
            raise TensorBad("its shape is no list of sizes", where=where)
        while first < last:
            size, first = file.integer((first, last))
            sizes.append(size)
    return tuple(sizes)


def _numbers(runs: list[bytes], kind: str, where: str) -> Array:
    data = b"".join(runs)
    if len(data) % np.dtype(kind).itemsize:
        raise TensorBad(f"{len(data)} bytes are no whole count of numbers", where=where)
    with np.errstate(all="ignore"):
        return np.asarray(np.frombuffer(data, kind).astype(np.float32))


def _shaped(numbers: Array, shape: Shape, where: str) -> Array:
    if any(size >> _LONGEST for size in shape) or math.prod(shape) != numbers.size:
        raise TensorBad(f"{numbers.size} numbers for a shape of {list(shape)}", where=where)
    return numbers.reshape(shape)
