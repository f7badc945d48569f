"""TFLite models written for tests: tensors, operators and options into a flatbuffer; interpreters that run them.

model = Model()
x = model.input((1, 4, 4, 3), "int8", 0.1, -3)
y = model.output((1, 4, 4, 3), "int8", 0.2, 5)
model.op("RELU", [x], [y])
model.bytes()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import tflite

from codegen.ir.quant import Array

TYPES = {
    "float16": tflite.TensorType.FLOAT16,
    "float32": tflite.TensorType.FLOAT32,
    "int32": tflite.TensorType.INT32,
    "uint8": tflite.TensorType.UINT8,
    "int64": tflite.TensorType.INT64,
    "bool": tflite.TensorType.BOOL,
    "int16": tflite.TensorType.INT16,
    "int8": tflite.TensorType.INT8,
    "int4": tflite.TensorType.INT4,
    "uint32": tflite.TensorType.UINT32,
    "uint64": tflite.TensorType.UINT64,
    "resource": tflite.TensorType.RESOURCE,
}
Scales = float | Sequence[float] | Array
Options = tuple[str, Mapping[str, Any]]


@dataclass(eq=False)
class Spec:
    """One tensor."""

    name: str
    shape: tuple[int, ...]
    kind: str
    scale: Array
    zero: Array
    axis: int
    data: bytes
    variable: bool


@dataclass(eq=False)
class Graph:
    """One subgraph."""

    name: str
    tensors: list[Spec] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    ops: list[tuple[int, list[int], list[int], Options | None, list[int], bytes]] = field(default_factory=list)


class Model:
    """A model under construction; operators go into the subgraph `graph`."""

    def __init__(self) -> None:
        self.graphs = [Graph("main")]
        self.graph = self.graphs[0]
        self.codes: list[tuple[int, int, str]] = []

    def subgraph(self, name: str) -> int:
        """Start another subgraph; returns its number."""
        self.graph = Graph(name)
        self.graphs.append(self.graph)
        return len(self.graphs) - 1

    def tensor(
        self,
        shape: Sequence[int],
        kind: str,
        scale: Scales = (),
        zero: int | Sequence[int] = 0,
        *,
        axis: int = 0,
        data: Array | None = None,
        variable: bool = False,
        name: str = "",
    ) -> int:
        """A tensor's number."""
        scales = np.atleast_1d(np.array(scale, np.float32))
        zeros = np.broadcast_to(np.array(zero, np.int64), scales.shape)
        raw = b"" if data is None else np.ascontiguousarray(data).tobytes()
        place = len(self.graph.tensors)
        label = name or f"{self.graph.name}_t{place}"
        self.graph.tensors.append(Spec(label, tuple(shape), kind, scales, zeros, axis, raw, variable))
        return place

    def const(self, data: Array, scale: Scales = (), zero: int | Sequence[int] = 0, *, axis: int = 0) -> int:
        """A constant's number."""
        return self.tensor(data.shape, str(data.dtype), scale, zero, axis=axis, data=data)

    def input(self, shape: Sequence[int], kind: str, scale: Scales = (), zero: int = 0) -> int:
        """A network input's number."""
        self.graph.inputs.append(self.tensor(shape, kind, scale, zero))
        return self.graph.inputs[-1]

    def output(self, shape: Sequence[int], kind: str, scale: Scales = (), zero: int = 0) -> int:
        """A network output's number."""
        self.graph.outputs.append(self.tensor(shape, kind, scale, zero))
        return self.graph.outputs[-1]

    def op(
        self,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: str = "",
        *,
        version: int = 1,
        intermediates: Sequence[int] = (),
        custom: bytes = b"",
        **fields: Any,
    ) -> None:
        """An operator, custom where TFLite has no such name; `options` is the schema class, `fields` its fields."""
        code = (getattr(tflite.BuiltinOperator, name, tflite.BuiltinOperator.CUSTOM), version, name)
        if code not in self.codes:
            self.codes.append(code)
        told = (options, fields) if options else None
        place = self.codes.index(code)
        self.graph.ops.append((place, list(inputs), list(outputs), told, list(intermediates), custom))

    def bytes(self) -> bytes:
        """The file."""
        b = flatbuffers.Builder(1024)
        buffers = [b""]
        graphs = [_graph(b, g, buffers) for g in self.graphs]
        codes = [_code(b, *code) for code in self.codes]
        stored = [_buffer(b, data) for data in buffers]
        parts = [_vector(b, items) for items in (codes, graphs, stored)]
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, 3)
        tflite.ModelAddOperatorCodes(b, parts[0])
        tflite.ModelAddSubgraphs(b, parts[1])
        tflite.ModelAddBuffers(b, parts[2])
        b.Finish(tflite.ModelEnd(b), b"TFL3")
        return bytes(b.Output())


def _vector(b: flatbuffers.Builder, items: Sequence[int]) -> int:
    b.StartVector(4, len(items), 4)
    for item in reversed(items):
        b.PrependUOffsetTRelative(item)
    return int(b.EndVector())


def _code(b: flatbuffers.Builder, code: int, version: int, name: str) -> int:
    custom = b.CreateString(name) if code == tflite.BuiltinOperator.CUSTOM else None
    tflite.OperatorCodeStart(b)
    if custom is not None:
        tflite.OperatorCodeAddCustomCode(b, custom)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(b, min(code, 127))
    tflite.OperatorCodeAddBuiltinCode(b, code)
    tflite.OperatorCodeAddVersion(b, version)
    return int(tflite.OperatorCodeEnd(b))


def _buffer(b: flatbuffers.Builder, data: bytes) -> int:
    place = None
    if data:
        b.StartVector(1, len(data), 16)
        b.head -= len(data)
        b.Bytes[b.head : b.head + len(data)] = data
        place = b.EndVector()
    tflite.BufferStart(b)
    if place is not None:
        tflite.BufferAddData(b, place)
    return int(tflite.BufferEnd(b))


def _graph(b: flatbuffers.Builder, graph: Graph, buffers: list[bytes]) -> int:
    tensors = _vector(b, [_tensor(b, t, buffers) for t in graph.tensors])
    ops = _vector(b, [_op(b, *op) for op in graph.ops])
    inputs, outputs = (b.CreateNumpyVector(np.array(v, np.int32)) for v in (graph.inputs, graph.outputs))
    name = b.CreateString(graph.name)
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensors)
    tflite.SubGraphAddInputs(b, inputs)
    tflite.SubGraphAddOutputs(b, outputs)
    tflite.SubGraphAddOperators(b, ops)
    tflite.SubGraphAddName(b, name)
    return int(tflite.SubGraphEnd(b))


def _tensor(b: flatbuffers.Builder, t: Spec, buffers: list[bytes]) -> int:
    place = 0
    if t.data:
        place = len(buffers)
        buffers.append(t.data)
    name = b.CreateString(t.name)
    shape = b.CreateNumpyVector(np.array(t.shape, np.int32))
    quantization = None
    if t.scale.size:
        scale, zero = b.CreateNumpyVector(t.scale), b.CreateNumpyVector(np.ascontiguousarray(t.zero))
        tflite.QuantizationParametersStart(b)
        tflite.QuantizationParametersAddScale(b, scale)
        tflite.QuantizationParametersAddZeroPoint(b, zero)
        tflite.QuantizationParametersAddQuantizedDimension(b, t.axis)
        quantization = tflite.QuantizationParametersEnd(b)
    tflite.TensorStart(b)
    tflite.TensorAddShape(b, shape)
    tflite.TensorAddType(b, TYPES[t.kind])
    tflite.TensorAddBuffer(b, place)
    tflite.TensorAddName(b, name)
    if quantization is not None:
        tflite.TensorAddQuantization(b, quantization)
    tflite.TensorAddIsVariable(b, t.variable)
    return int(tflite.TensorEnd(b))


def _op(
    b: flatbuffers.Builder,
    code: int,
    inputs: Sequence[int],
    outputs: Sequence[int],
    options: Options | None,
    intermediates: Sequence[int],
    custom: bytes,
) -> int:
    own = b.CreateByteVector(custom) if custom else None
    lists = [b.CreateNumpyVector(np.array(v, np.int32)) for v in (inputs, outputs, intermediates)]
    table = None if options is None else _options(b, *options)
    tflite.OperatorStart(b)
    tflite.OperatorAddOpcodeIndex(b, code)
    tflite.OperatorAddInputs(b, lists[0])
    tflite.OperatorAddOutputs(b, lists[1])
    if intermediates:
        tflite.OperatorAddIntermediates(b, lists[2])
    if own is not None:
        tflite.OperatorAddCustomOptions(b, own)
    if options is not None and table is not None:
        tflite.OperatorAddBuiltinOptionsType(b, getattr(tflite.BuiltinOptions, options[0]))
        tflite.OperatorAddBuiltinOptions(b, table)
    return int(tflite.OperatorEnd(b))


def _options(b: flatbuffers.Builder, name: str, fields: Mapping[str, Any]) -> int:
    ready: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, str):
            ready[key] = b.CreateString(value)
        elif isinstance(value, list | tuple | np.ndarray):
            ready[key] = b.CreateNumpyVector(np.array(value, np.int32))
        else:
            ready[key] = value
    getattr(tflite, f"{name}Start")(b)
    for key, value in ready.items():
        getattr(tflite, f"{name}Add{key}")(b, value)
    return int(getattr(tflite, f"{name}End")(b))


def run_tflm(data: bytes, *samples: Sequence[Array]) -> list[list[Array]]:
    """The outputs of TFLite Micro's reference kernels, for one list of inputs after the other."""
    from tflite_micro.python.tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(data, arena_size=1 << 22)
    found = []
    for inputs in samples:
        for index, x in enumerate(inputs):
            interpreter.set_input(x, index)
        interpreter.invoke()
        outputs = []
        for index in range(_output_count(data)):
            outputs.append(np.array(interpreter.get_output(index)))
        found.append(outputs)
    return found


def run_litert(data: bytes, *samples: Sequence[Array], reference: bool = True) -> list[list[Array]]:
    """The outputs of LiteRT's reference kernels, or of those that it takes by itself."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_REF if reference else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    found = []
    for inputs in samples:
        for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(detail["index"], x)
        interpreter.invoke()
        found.append([np.array(interpreter.get_tensor(d["index"])) for d in interpreter.get_output_details()])
    return found


def _output_count(data: bytes) -> int:
    return int(tflite.Model.GetRootAs(data, 0).Subgraphs(0).OutputsLength())
