"""The walk over the model's nodes that makes a RealGraph, and all its problems at once.

Decides: that every problem is reported together, and that an operator which ONNX itself defines as a function of others
is read as that function when nothing better is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto

from codegen.errors import CompileError, FormUnsupported, ModelRejected, ModelTooLarge, OperatorUnknown, TypeUnsupported
from codegen.frontends.builder import MAX_ELEMENTS, MAX_RANK
from codegen.frontends.onnx.borders import declared_shape
from codegen.frontends.onnx.nodes import OnnxNode, names_read, text_of
from codegen.frontends.onnx.reader import Model, read_model
from codegen.frontends.onnx.real.bodies import body_of
from codegen.frontends.onnx.real.reading import Reading
from codegen.frontends.onnx.real.translators import TRANSLATORS
from codegen.frontends.onnx.schema import check_node
from codegen.frontends.onnx.tensors import is_unread, type_name
from codegen.frontends.shapes import Given, Shapes
from codegen.ir.real import RealGraph, RealType, RealValue

_TYPES = {
    TensorProto.FLOAT: "float32",
    TensorProto.DOUBLE: "float64",
    TensorProto.FLOAT16: "float16",
    TensorProto.INT8: "int8",
    TensorProto.UINT8: "uint8",
    TensorProto.INT16: "int16",
    TensorProto.UINT16: "uint16",
    TensorProto.INT32: "int32",
    TensorProto.UINT32: "uint32",
    TensorProto.INT64: "int64",
    TensorProto.UINT64: "uint64",
    TensorProto.BOOL: "bool",
}


def read_real(path: Path, *, shapes: Given | None = None) -> RealGraph:
    """The RealGraph of an ONNX model, quantized or not.

    Args:
        path: the model's file; external data is read from its folder and below.
        shapes: of inputs with open dimensions; an open first dimension is 1 without being named.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the model.
        CompileError: LAM-IMPORT-002 .. 030, when the file cannot be read at all.
    """
    model = read_model(Path(path), bodies=True)
    return _Walk(model, shapes).graph(str(path))


class _Walk:
    def __init__(self, model: Model, shapes: Given | None) -> None:
        self._model = model
        self._problems = list(model.problems)
        self._reading = Reading(model.opset, translate)
        self._reading.notes.extend(model.notes)
        declared = {text_of(i.name): declared_shape(i) for i in model.structure.inputs}
        self._shapes = Shapes(declared, shapes or {})

    def graph(self, where: str) -> RealGraph:
        inputs = [name for info in self._model.structure.inputs if (name := self._input(info))]
        self._initializers()
        for node in self._model.structure.nodes:
            self._read(node)
        if self._problems:
            raise ModelRejected(self._problems, where=where)
        read, names = self._reading, self._model.structure.outputs
        outputs = tuple(read.tensors[name] for name in names)
        notes = (*read.notes, *self._shapes.notes)
        whole = RealGraph(
            self._model.name, read.values, tuple(read.nodes), tuple(inputs), outputs, "onnx", names, notes
        )
        return whole.live()

    def _input(self, info: Any) -> str | None:
        name, element = text_of(info.name), info.type.tensor_type.elem_type
        try:
            if element not in _TYPES:
                raise TypeUnsupported(f"an input of type {type_name(element)}", where=f"input '{name}'")
            shape = self._shapes.of(name)
            if len(shape) > MAX_RANK or max(shape, default=0) > MAX_ELEMENTS:
                raise ModelTooLarge(f"an input of shape {list(shape[: MAX_RANK + 1])}", where=f"input '{name}'")
        except CompileError as error:
            self._problems.append(error)
            return None
        self._reading.values[name] = RealValue(name, RealType(shape, np.dtype(_TYPES[element])))
        self._reading.tensors[name] = name
        return name

    def _initializers(self) -> None:
        used = {name for node in self._model.structure.nodes for name in names_read(node)}
        used.update(self._model.structure.outputs)
        for name, tensor in self._model.structure.initializers.items():
            if name in used and not is_unread(tensor):
                try:
                    self._reading.initializer(name, tensor)
                except CompileError as error:
                    self._problems.append(error)

    def _read(self, node: OnnxNode) -> None:
        """Translate a node; one that reads what was refused is passed over."""
        if any(i and i not in self._reading.tensors for i in node.inputs):
            return
        try:
            values = translate(self._reading, node)
        except CompileError as error:
            if not error.where.startswith(("node", "output", "input", "constant")):
                error.where = node.where
            self._problems.append(error)
            return
        extra = [name for name in node.outputs[len(values) :] if name]
        if extra:
            found = f"{node.op_type} with {len(node.outputs)} outputs"
            self._problems.append(FormUnsupported(found, where=node.where))
        self._reading.tensors.update((name, v) for name, v in zip(node.outputs, values, strict=False) if name and v)


def translate(reading: Reading, node: OnnxNode) -> Sequence[str]:
    """The values of a node's outputs; those of its function's body where it has no translator."""
    check_node(node, reading.opset)
    translator = TRANSLATORS.get((node.domain, node.op_type))
    if translator is not None:
        return translator(reading, node)
    body = body_of(node, reading)
    if body is None:
        domain = f"{node.domain}." if node.domain else ""
        raise OperatorUnknown(f"operator {domain}{node.op_type} is not supported", where=node.where)
    outer, reading.tensors = reading.tensors, dict(body.inputs)
    try:
        for inner in body.nodes:
            values = reading.read(inner)
            reading.tensors.update((name, v) for name, v in zip(inner.outputs, values, strict=False) if name and v)
        return [reading.tensors.get(name, "") for name in body.outputs]
    finally:
        reading.tensors = outer
