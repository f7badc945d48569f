"""From a .tflite file to records: tensors, constants and operators, checked as far as the format goes.

Decides: what is read at all.  Leaves the meaning of the operators to their translators.
Source: tensorflow/lite/schema/schema.fbs (the numbers of the fields below), tflite package (its constants).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tflite

from codegen.errors import (
    CompileError,
    FormUnsupported,
    InputMissing,
    ModelTooLarge,
    ModelUnreadable,
    ShapeDynamic,
    TensorBad,
    VariableUnsupported,
)
from codegen.frontends.files import read_model_file
from codegen.frontends.tflite.flat import Flat, Table
from codegen.frontends.tflite.nodes import CUSTOM, TfliteNode
from codegen.ir.quant import Array
from codegen.records import record
from codegen.settle.builder import MAX_ELEMENTS, MAX_RANK

MAGIC = b"TFL3"
MAX_OPERATORS = 1 << 16
_SCHEMA_VERSION = 3

_NAMES = {value: name for name, value in vars(tflite.BuiltinOperator).items() if not name.startswith("_")}
OPERATORS = frozenset(_NAMES.values())
"""The types of TFLite's own operators."""
_TYPE_NAMES = {value: name.lower() for name, value in vars(tflite.TensorType).items() if not name.startswith("_")}
_NUMPY = {
    tflite.TensorType.FLOAT32: "float32",
    tflite.TensorType.FLOAT16: "float16",
    tflite.TensorType.INT32: "int32",
    tflite.TensorType.UINT8: "uint8",
    tflite.TensorType.INT64: "int64",
    tflite.TensorType.BOOL: "bool",
    tflite.TensorType.INT16: "int16",
    tflite.TensorType.INT8: "int8",
}


@record(eq=False)
class Tensor:
    """One tensor.  `data` is set for constants, a `problem` for one that cannot be read.

    `scale` (float32) and `zero_point` (int64) have one entry for the tensor, or one per slice of `axis`; none without
    quantization.  `kind` is the element type as numpy names it, or the schema's own name for another one.
    """

    index: int
    name: str
    shape: tuple[int, ...]
    kind: str
    scale: Array
    zero_point: Array
    axis: int
    is_variable: bool = False
    data: Array | None = None
    problem: CompileError | None = None

    @property
    def where(self) -> str:
        """How errors name it."""
        return f"tensor '{self.name}'"


@record(eq=False)
class Subgraph:
    """Tensors, and the operators in the order in which they run."""

    name: str
    tensors: tuple[Tensor, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    nodes: tuple[TfliteNode, ...]


@record(eq=False)
class Model:
    """What is walked; the first subgraph is the network."""

    name: str
    subgraphs: tuple[Subgraph, ...]


def read_model(path: Path) -> Model:
    """The model in a file.

    Raises:
        ModelMissing: LAM-IMPORT-002.
        ModelUnreadable: LAM-IMPORT-003.
        ModelTooLarge: LAM-IMPORT-004.
        CompileError: what is wrong with its graph as a graph.
    """
    data = read_model_file(path)
    where = str(path)
    if data[4:8] != MAGIC:
        hint = "export or download the model again"
        raise ModelUnreadable("no TFLite model: its mark TFL3 is missing", where=where, hint=hint)
    root = Flat(data, where).root()
    version = root.scalar(0, "I")
    if version != _SCHEMA_VERSION:
        raise ModelUnreadable(f"schema version {version}, known is {_SCHEMA_VERSION}", where=where)
    codes = [_operator_code(t) for t in root.tables(1)]
    buffers = [_buffer(t) for t in root.tables(4)]
    graphs = tuple(_subgraph(t, codes, buffers, root.flat) for t in root.tables(2))
    if not graphs:
        raise ModelUnreadable("the file holds no graph", where=where)
    if not graphs[0].outputs:
        raise InputMissing("the model has no output", where=where)
    return Model(graphs[0].name or path.stem, graphs)


def _operator_code(table: Table) -> tuple[str, int]:
    """Name and version of an operator; the newer field holds codes above 127."""
    code = max(table.scalar(0, "b"), table.scalar(3, "i"))
    version = table.scalar(2, "i", 1)
    if code == tflite.BuiltinOperator.CUSTOM:
        return f"{CUSTOM}{table.text(1) or 'without a name'}", version
    return _NAMES.get(code, f"operator number {code}"), version


def _buffer(table: Table) -> bytes | None:
    """A constant's bytes; None for one kept behind the flatbuffer, which only models above 2 GB do."""
    return None if table.scalar(1, "Q") > 1 else table.raw(0) or b""


def _subgraph(table: Table, codes: Sequence[tuple[str, int]], buffers: Sequence[bytes | None], flat: Flat) -> Subgraph:
    records = table.tables(0)
    count = len(records)
    inputs, outputs = (_indices(table, slot, count, flat.where) for slot in (1, 2))
    if -1 in (*inputs, *outputs):
        raise ModelUnreadable("an input or output of the graph is left out", where=flat.where)
    names = tensor_names([t.text(3) for t in records], (*inputs, *outputs))
    tensors = tuple(_tensor(t, i, buffers, name) for i, (t, name) in enumerate(zip(records, names, strict=True)))
    operators = table.tables(3)
    if len(operators) > MAX_OPERATORS:
        raise ModelTooLarge(f"{len(operators)} operators, at most {MAX_OPERATORS} are read", where=flat.where)
    nodes = tuple(_node(t, i, codes, tensors) for i, t in enumerate(operators))
    return Subgraph(table.text(4), tensors, inputs, outputs, nodes)


def _indices(table: Table, slot: int, count: int, where: str) -> tuple[int, ...]:
    """A list of tensors; -1 for one left out."""
    numbers = table.numbers(slot, "int32")
    found = () if numbers is None else tuple(int(i) for i in numbers)
    wrong = [i for i in found if not -1 <= i < count]
    if wrong:
        raise ModelUnreadable(f"tensor {wrong[0]} of {count}", where=where)
    return found


def _node(table: Table, index: int, codes: Sequence[tuple[str, int]], tensors: Sequence[Tensor]) -> TfliteNode:
    place = table.scalar(0, "I")
    where = f"operator {index}"
    if place >= len(codes):
        raise ModelUnreadable(f"operator code {place} of {len(codes)}", where=where)
    op_type, version = codes[place]
    inputs, outputs = (_indices(table, slot, len(tensors), where) for slot in (1, 2))
    options = table.table(4)
    if options is not None:
        options.check_fields()
    return TfliteNode(
        name=f"{op_type.removeprefix(CUSTOM)}_{index}",
        op_type=op_type,
        version=version,
        inputs=inputs,
        outputs=outputs,
        output_name=tensors[outputs[0]].name if outputs and outputs[0] >= 0 else "",
        intermediates=_indices(table, 8, len(tensors), where),
        options_type=table.scalar(3, "B"),
        options=options,
        custom=table.raw(5) or b"",
    )


def tensor_names(given: Sequence[str], ports: Sequence[int]) -> list[str]:
    """A name of its own for each tensor, out of those that the file gives; docs/tflite.md says which.

    Inputs and outputs (`ports`) choose first, and of these the ones that have a name to themselves in the file.
    """
    own = {given[i]: i for i in reversed(ports) if given[i] and ";" not in given[i]}
    names: dict[int, str] = {}
    taken: set[str] = set()
    for i in dict.fromkeys((*own.values(), *ports, *range(len(given)))):
        # a converter names a fused tensor after everything that went into it: the first name says enough
        first = given[i].split(";")[0] or f"tensor{i}"
        variations = itertools.chain([first], (f"{first}.{n}" for n in itertools.count(i)))
        names[i] = next(name for name in variations if name not in taken)
        taken.add(names[i])
    return [names[i] for i in range(len(given))]


def _tensor(table: Table, index: int, buffers: Sequence[bytes | None], name: str) -> Tensor:
    dims = table.numbers(0, "int32")
    shape = () if dims is None else tuple(int(d) for d in dims)
    code = table.scalar(1, "b")
    scale, zero, axis = _quantization(table.table(4))
    kind = _NUMPY.get(code) or _TYPE_NAMES.get(code, f"number {code}")
    tensor = Tensor(index, name, shape[: MAX_RANK + 1], kind, scale, zero, axis, bool(table.scalar(5, "B")))
    try:
        data = _data(table, tensor, shape, buffers)
        if data is not None and tensor.is_variable:
            raise VariableUnsupported("a variable tensor with numbers in the file", where=tensor.where)
    except CompileError as error:
        return Tensor(index, name, tensor.shape, kind, scale, zero, axis, tensor.is_variable, problem=error)
    return Tensor(index, name, shape, kind, scale, zero, axis, tensor.is_variable, data)


def _quantization(table: Table | None) -> tuple[Array, Array, int]:
    """Scales, zero points and the axis along which they vary."""
    scale = table.numbers(2, "float32") if table else None
    zero = table.numbers(3, "int64") if table else None
    if table is None or scale is None or not scale.size:
        return np.zeros(0, np.float32), np.zeros(0, np.int64), 0
    return scale, np.zeros(scale.size, np.int64) if zero is None else zero, table.scalar(6, "i")


def _data(table: Table, tensor: Tensor, shape: tuple[int, ...], buffers: Sequence[bytes | None]) -> Array | None:
    """A constant's numbers; None for a tensor that the network computes."""
    if len(shape) > MAX_RANK or any(d > MAX_ELEMENTS for d in shape) or math.prod(shape) > MAX_ELEMENTS:
        raise ModelTooLarge(f"a tensor of shape {list(tensor.shape)}", where=tensor.where)
    if any(d < 1 for d in shape):
        raise ShapeDynamic(f"a tensor of shape {list(shape)}", where=tensor.where, hint="fix every dimension")
    if table.at(6, 4) is not None:
        hint = "convert the model without sparsity"
        raise FormUnsupported("a sparse tensor", where=tensor.where, hint=hint)
    place = table.scalar(2, "I")
    if place >= max(len(buffers), 1):
        raise TensorBad(f"buffer {place} of {len(buffers)}", where=tensor.where)
    data = buffers[place] if buffers else b""
    if data is None:
        raise FormUnsupported("its numbers lie behind the flatbuffer", where=tensor.where)
    return _decoded(data, tensor, shape) if data else None


def _decoded(data: bytes, tensor: Tensor, shape: tuple[int, ...]) -> Array:
    count = math.prod(shape)
    if tensor.kind == "int4":
        packed = np.frombuffer(data, np.int8)
        if packed.size != (count + 1) // 2:
            raise TensorBad(f"{len(data)} bytes for {count} int4 numbers", where=tensor.where)
        pairs = np.stack([(packed << 4) >> 4, packed >> 4], axis=1).astype(np.int8)
        return pairs.reshape(-1)[:count].reshape(shape)
    if tensor.kind not in _NUMPY.values():
        raise TensorBad(f"a constant of type {tensor.kind}", where=tensor.where)
    kind = np.dtype(tensor.kind)
    if len(data) != count * kind.itemsize:
        raise TensorBad(f"{len(data)} bytes for {count} numbers of type {tensor.kind}", where=tensor.where)
    return np.frombuffer(data, kind.newbyteorder("<")).astype(kind).reshape(shape)
