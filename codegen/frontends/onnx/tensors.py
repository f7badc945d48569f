"""Constants of the model as numpy arrays, and where their bytes come from.

Decides: which element types are read, and that a tensor's data has exactly the size its shape calls for.  Tensors
kept outside the model's file are read here, from the model's own folder and below only.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from codegen.errors import (
    AttributeBad,
    ExternalDataMissing,
    ExternalDataOutside,
    ModelTooLarge,
    TensorBad,
    TypeUnsupported,
)
from codegen.frontends.onnx.nodes import OnnxNode, text_of
from codegen.ir.quant import Array

MAX_ELEMENTS = 2**28
MAX_RANK = 8

_TYPED_FIELD = {
    TensorProto.FLOAT: "float_data",
    TensorProto.DOUBLE: "double_data",
    TensorProto.INT64: "int64_data",
    TensorProto.UINT32: "uint64_data",
    TensorProto.UINT64: "uint64_data",
} | dict.fromkeys(
    (
        TensorProto.INT32,
        TensorProto.INT16,
        TensorProto.INT8,
        TensorProto.INT4,
        TensorProto.UINT16,
        TensorProto.UINT8,
        TensorProto.UINT4,
        TensorProto.BOOL,
        TensorProto.FLOAT16,
        TensorProto.BFLOAT16,
    ),
    "int32_data",
)
_BITS = {
    TensorProto.DOUBLE: 64,
    TensorProto.INT64: 64,
    TensorProto.UINT64: 64,
    TensorProto.FLOAT: 32,
    TensorProto.INT32: 32,
    TensorProto.UINT32: 32,
    TensorProto.FLOAT16: 16,
    TensorProto.BFLOAT16: 16,
    TensorProto.INT16: 16,
    TensorProto.UINT16: 16,
    TensorProto.INT8: 8,
    TensorProto.UINT8: 8,
    TensorProto.BOOL: 8,
    TensorProto.INT4: 4,
    TensorProto.UINT4: 4,
}
_WIDENED = {
    TensorProto.FLOAT16: np.float32,
    TensorProto.BFLOAT16: np.float32,
    TensorProto.INT4: np.int8,
    TensorProto.UINT4: np.uint8,
}


def type_name(data_type: int) -> str:
    """The name ONNX gives an element type, or its number when it is not one."""
    names = {number: name for name, number in TensorProto.DataType.items()}
    return str(names.get(data_type, f"number {data_type}")).lower()


def decode(tensor: Any, where: str) -> Array:
    """The tensor's numbers; half floats become float32, 4-bit integers int8 or uint8.

    Raises:
        TensorBad: LAM-IMPORT-018, data and shape disagree.
        TypeUnsupported: LAM-IMPORT-019, strings, complex numbers, 8-bit floats.
        ModelTooLarge: LAM-IMPORT-004.
    """
    if tensor.data_type not in _TYPED_FIELD:
        raise TypeUnsupported(f"a constant of type {type_name(tensor.data_type)}", where=where)
    count = _elements(tensor, where)
    bits = _BITS[tensor.data_type]
    if tensor.HasField("raw_data"):
        found, needed = len(tensor.raw_data), (count * bits + 7) // 8
    else:
        found = len(getattr(tensor, _TYPED_FIELD[tensor.data_type]))
        needed = (count + 1) // 2 if bits == 4 else count
    if found != needed:
        unit = "bytes" if tensor.HasField("raw_data") else "entries"
        raise TensorBad(f"shape {list(tensor.dims)} calls for {needed} {unit} of data, found {found}", where=where)
    array = np.asarray(numpy_helper.to_array(tensor))
    return array.astype(_WIDENED.get(tensor.data_type, array.dtype))


def constant_of(node: OnnxNode) -> Array:
    """The numbers of a Constant node."""
    if node.has("value"):
        return decode(node.tensor("value"), node.where)
    if node.has("value_float"):
        return np.array(node.real("value_float"), np.float32)
    if node.has("value_int"):
        return np.array(node.integer("value_int"), np.int64)
    if node.has("value_floats"):
        return np.array(node.reals("value_floats"), np.float32)
    if node.has("value_ints"):
        return np.array(node.integers("value_ints"), np.int64)
    raise AttributeBad("a Constant without a tensor of numbers", where=node.where)


def _elements(tensor: Any, where: str) -> int:
    dims = [int(d) for d in tensor.dims]
    if len(dims) > MAX_RANK or any(not 0 <= d <= MAX_ELEMENTS for d in dims):
        raise TensorBad(f"a constant of shape {dims[: MAX_RANK + 1]}", where=where)
    if tensor.HasField("segment"):
        raise TensorBad("a constant stored in segments", where=where)
    count = math.prod(dims)
    if count > MAX_ELEMENTS:
        raise ModelTooLarge(f"a constant of {count} elements, at most {MAX_ELEMENTS} are read", where=where)
    return count


def load_external(tensor: Any, folder: Path, where: str) -> None:
    """Put the bytes of a tensor kept in another file into the tensor itself.

    Raises:
        ExternalDataOutside: LAM-IMPORT-006, the file is not in `folder` or below it (links are followed first).
        ExternalDataMissing: LAM-IMPORT-005.
    """
    entries = {text_of(e.key): text_of(e.value) for e in tensor.external_data}
    location = entries.get("location", "")
    if not location or "\0" in location:
        raise TensorBad("external data without a location", where=where)
    offset, length = (_number(entries, key, where) for key in ("offset", "length"))
    file = (folder / location).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise ExternalDataOutside(f"external data at '{location}'", where=where)
    if not file.is_file():
        raise ExternalDataMissing(f"no file '{location}'", where=where)
    size = file.stat().st_size
    start = offset or 0
    stop = size if length is None else start + length
    if stop > size or start > stop:
        raise ExternalDataMissing(f"'{location}' has {size} bytes, needed are {start} .. {stop}", where=where)
    with file.open("rb") as stream:
        stream.seek(start)
        tensor.raw_data = stream.read(stop - start)
    tensor.data_location = TensorProto.DEFAULT
    del tensor.external_data[:]


def _number(entries: dict[str, str], key: str, where: str) -> int | None:
    value = entries.get(key)
    if value is None or value == "":
        return None
    if not value.isdecimal() or len(value) > 18:
        raise TensorBad(f"external data with {key} '{value}'", where=where)
    return int(value)
