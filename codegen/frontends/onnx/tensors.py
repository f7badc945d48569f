"""Constants of the model as numpy arrays, and where their bytes come from.

Decides: which element types are read, and that a tensor's data has exactly the size its shape calls for.  Tensors
kept outside the model's file are read here, from the model's own folder and below only.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from codegen.errors import (
    AttributeBad,
    ExternalDataMissing,
    ExternalDataOutside,
    ModelTooLarge,
    NumbersUnsupported,
    StringsUnsupported,
    TensorBad,
    TypeUnsupported,
)
from codegen.frontends.onnx.nodes import OnnxNode, text_of
from codegen.ir.element import BFLOAT16, is_bfloat16
from codegen.ir.quant import Array
from codegen.settle.builder import MAX_ELEMENTS, MAX_RANK

INT_BITS_KEY = "lamina.int_bits"
"""Metadata: a JSON object, from the name of a DequantizeLinear's output to the bits of its integers, where their type
has more."""
_BYTE = 8
_LONGEST_PATH = 1024

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
        TensorProto.INT2,
        TensorProto.UINT16,
        TensorProto.UINT8,
        TensorProto.UINT4,
        TensorProto.UINT2,
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
    TensorProto.INT2: 2,
    TensorProto.UINT2: 2,
}
_OTHER = re.compile("complex|float[468]e")
"""Names of types of numbers that nothing here computes with."""
_HALVES = {TensorProto.FLOAT16: np.dtype(np.float16), TensorProto.BFLOAT16: BFLOAT16}
_WIDENED = {
    TensorProto.FLOAT16: np.float32,
    TensorProto.BFLOAT16: np.float32,
    TensorProto.INT4: np.int8,
    TensorProto.UINT4: np.uint8,
    TensorProto.INT2: np.int8,
    TensorProto.UINT2: np.uint8,
}


def said_bits(model: Any) -> dict[str, int]:
    """What the metadata says of integers that have fewer bits than their type, by the tensor that they mean."""
    entries = [entry.value for entry in model.metadata_props if entry.key == INT_BITS_KEY]
    try:
        found = json.loads(entries[0]) if entries else {}
    except ValueError:
        return {}
    known = found.items() if isinstance(found, dict) else ()
    return {name: bits for name, bits in known if type(bits) is int and 1 < bits < _BYTE}


def type_name(data_type: int) -> str:
    """The name ONNX gives an element type, or its number when it is not one."""
    names = {number: name for name, number in TensorProto.DataType.items()}
    return str(names.get(data_type, f"number {data_type}")).lower()


def type_refused(data_type: int, what: str, where: str) -> TypeUnsupported:
    """Why what has this element type is refused, as an error to raise: the family of the type, where it has one."""
    name = type_name(data_type)
    found = f"{what} of type {name}"
    if name == "string":
        return StringsUnsupported.of(found, where)
    return NumbersUnsupported.of(found, where) if _OTHER.match(name) else TypeUnsupported(found, where=where)


def dtype_of(data_type: int) -> np.dtype[Any]:
    """The type in which a RealGraph has an element type of ONNX that it knows."""
    return BFLOAT16 if data_type == TensorProto.BFLOAT16 else np.dtype(helper.tensor_dtype_to_np_dtype(data_type))


def data_type_of(dtype: np.dtype[Any]) -> int:
    """The element type of ONNX that a RealGraph's type stands for."""
    return TensorProto.BFLOAT16 if is_bfloat16(dtype) else int(helper.np_dtype_to_tensor_dtype(dtype))


def is_unread(tensor: Any) -> bool:
    """Whether the numbers lie in another file that the reader has refused, with a problem of its own."""
    return bool(tensor.data_location == TensorProto.EXTERNAL)


def bits_of(data_type: int) -> int:
    """Bits of an integer type that numpy does not know; 0 of others."""
    return _BITS[data_type] if _BITS.get(data_type, 8) < 8 else 0


def decode(tensor: Any, where: str, *, halves: bool = False) -> Array:
    """The tensor's numbers; floats of 16 bits become float32, integers of fewer bits those of 8.

    With `halves` float16 stay what they are, and bfloat16 are float32 that say so.

    Raises:
        TensorBad: LAM-IMPORT-018, data and shape disagree.
        TypeUnsupported: LAM-IMPORT-070 strings, -072 complex numbers and 8-bit floats, -019 others.
        ModelTooLarge: LAM-IMPORT-004.
    """
    if is_unread(tensor):
        raise ExternalDataMissing("its data was not read", where=where)
    count, needed = _sizes(tensor, where)
    if tensor.HasField("raw_data"):
        found, unit = len(tensor.raw_data), "bytes"
    else:
        found, unit = len(getattr(tensor, _TYPED_FIELD[tensor.data_type])), "entries"
        bits = bits_of(tensor.data_type)
        needed = (count * bits + 7) // 8 if bits else count
    if found != needed:
        raise TensorBad(f"shape {list(tensor.dims)} calls for {needed} {unit} of data, found {found}", where=where)
    array = np.asarray(numpy_helper.to_array(tensor))
    if halves and tensor.data_type in _HALVES:
        return array.astype(_HALVES[tensor.data_type])
    return array.astype(_WIDENED.get(tensor.data_type, array.dtype))


def constant_of(node: OnnxNode, *, halves: bool = False) -> Array:
    """The numbers of a Constant node."""
    if node.has("value"):
        return decode(node.tensor("value"), node.where, halves=halves)
    if node.has("value_float"):
        return np.array(node.real("value_float"), np.float32)
    if node.has("value_int"):
        return np.array(node.integer("value_int"), np.int64)
    if node.has("value_floats"):
        return np.array(node.reals("value_floats"), np.float32)
    if node.has("value_ints"):
        return np.array(node.integers("value_ints"), np.int64)
    if node.has("value_string") or node.has("value_strings"):
        raise StringsUnsupported.of("a constant of strings", node.where)
    raise AttributeBad("a Constant without a tensor of numbers", where=node.where)


def _sizes(tensor: Any, where: str) -> tuple[int, int]:
    """Elements, and bytes of their raw data."""
    if tensor.data_type not in _TYPED_FIELD:
        raise type_refused(tensor.data_type, "a constant", where)
    count = _elements(tensor, where)
    return count, (count * _BITS[tensor.data_type] + 7) // 8


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


def load_external(tensor: Any, folder: Path, where: str, limit: int) -> int:
    """Put the bytes of a tensor kept in another file into the tensor itself; returns how many.

    Args:
        tensor: the tensor, changed in place.
        folder: the model's.
        where: the tensor, as errors name it.
        limit: bytes that may still be read.

    Raises:
        ExternalDataOutside: LAM-IMPORT-006, the file is not in `folder` or below it (links are followed first).
        ExternalDataMissing: LAM-IMPORT-005.
        ModelTooLarge: LAM-IMPORT-004.
        TensorBad: LAM-IMPORT-018.
    """
    entries = {text_of(e.key): text_of(e.value) for e in tensor.external_data}
    location = entries.get("location", "")
    if not location or "\0" in location or len(location) > _LONGEST_PATH:
        raise TensorBad("external data without a location, or with one that is no path", where=where)
    offset, length = (_number(entries, key, where) for key in ("offset", "length"))
    _, needed = _sizes(tensor, where)
    if length is not None and length != needed:
        raise TensorBad(
            f"shape {list(tensor.dims)} calls for {needed} bytes, the data file gives {length}", where=where
        )
    if needed > limit:
        raise ModelTooLarge("the data files hold more bytes than are read", where=where)
    file = _inside(folder, location, where)
    size = file.stat().st_size
    start = offset or 0
    stop = start + needed
    if stop > size:
        raise ExternalDataMissing(f"'{location}' has {size} bytes, needed are {start} .. {stop}", where=where)
    with file.open("rb") as stream:
        stream.seek(start)
        tensor.raw_data = stream.read(needed)
    tensor.data_location = TensorProto.DEFAULT
    del tensor.external_data[:]
    return needed


def _inside(folder: Path, location: str, where: str) -> Path:
    """The data file, which is one and lies in the folder or below."""
    try:
        file = (folder / location).resolve()
        found = file.is_file()
    except OSError as error:
        raise ExternalDataMissing(f"no file '{location[:200]}': {error.strerror}", where=where) from error
    if not file.is_relative_to(folder.resolve()):
        raise ExternalDataOutside(f"external data at '{location}'", where=where)
    if not found:
        raise ExternalDataMissing(f"no file '{location}'", where=where)
    return file


def _number(entries: dict[str, str], key: str, where: str) -> int | None:
    value = entries.get(key)
    if value is None or value == "":
        return None
    if not value.isdecimal() or len(value) > 18:
        raise TensorBad(f"external data with {key} '{value}'", where=where)
    return int(value)
