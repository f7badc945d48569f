"""The walk over the model's nodes that makes a RealGraph, and all its problems at once.

Decides: that every problem is reported together, and that an operator which ONNX itself defines as a function of others
is read as that function when nothing better is known.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import AttributeProto, TensorProto, defs

from codegen.errors import (
    CompileError,
    FormUnsupported,
    InputMissing,
    ModelRejected,
    ModelTooLarge,
    NotATensor,
    OperatorUnknown,
    QuantizationDynamic,
    SubgraphUnsupported,
)
from codegen.frontends.onnx.borders import declared_shape
from codegen.frontends.onnx.dynamic import without_rounding
from codegen.frontends.onnx.families import family_of, input_refused
from codegen.frontends.onnx.nodes import OnnxNode, tensors_in, text_of
from codegen.frontends.onnx.reader import Model, read_model
from codegen.frontends.onnx.real.bodies import body_of
from codegen.frontends.onnx.real.learned import is_picked_from, label_table
from codegen.frontends.onnx.real.reading import Reading
from codegen.frontends.onnx.real.translators import TRANSLATORS
from codegen.frontends.onnx.schema import check_node, check_types
from codegen.frontends.onnx.tensors import bits_of, is_unread, said_bits
from codegen.frontends.shapes import Given, Shapes
from codegen.frontends.vocabulary import HOUSE, Vocabulary
from codegen.ir.element import element_type
from codegen.ir.real import RealGraph, RealType, RealValue
from codegen.settle.builder import MAX_ELEMENTS, MAX_RANK
from codegen.settle.forms import way_out
from codegen.settle.walk import Problem

_TYPES = {
    TensorProto.FLOAT: "float32",
    TensorProto.DOUBLE: "float64",
    TensorProto.FLOAT16: "float16",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.INT8: "int8",
    TensorProto.UINT8: "uint8",
    TensorProto.INT16: "int16",
    TensorProto.UINT16: "uint16",
    TensorProto.INT32: "int32",
    TensorProto.UINT32: "uint32",
    TensorProto.INT64: "int64",
    TensorProto.UINT64: "uint64",
    TensorProto.BOOL: "bool",
    TensorProto.INT4: "int8",
    TensorProto.UINT4: "uint8",
    TensorProto.INT2: "int8",
    TensorProto.UINT2: "uint8",
}
_OF_ONE_PROCESSOR = ("com.microsoft.nchwc", "com.ms.internal.nhwc")
"""Domains of ONNX Runtime's last optimizations, whose operators hold weights as a processor wants them."""
_ALIGNING_BY_SIZE = ("pytorch", "onnx.quantize", "onnxruntime.transformers")
"""Who writes files that are meant as PyTorch and ONNX Runtime compute them."""
_SUBGRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def read_real(path: Path, *, shapes: Given | None = None, known: Vocabulary = HOUSE) -> RealGraph:
    """The RealGraph of an ONNX model, quantized or not.

    Args:
        path: the model's file; external data is read from its folder and below.
        shapes: of inputs with open dimensions; an open first dimension is 1 without being named.
        known: operators that join the house's own.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the model.
        CompileError: LAM-IMPORT-002 .. 030, when the file cannot be read at all.
    """
    reader = RealReader(read_model(Path(path)), shapes, known)
    graph = reader.graph()
    if reader.problems:
        raise ModelRejected([p.error for p in reader.problems], where=str(path))
    return graph.live()


class RealReader:
    """One pass over a model.  `problems` are what is wrong, and where."""

    def __init__(self, model: Model, shapes: Given | None, known: Vocabulary = HOUSE) -> None:
        """Begin; LAM-IMPORT-051 and -052 for shapes that do not fit the model's inputs."""
        self.problems = [Problem(-1, error) for error in model.problems]
        self._refused = {error.where for error in model.problems}
        self._model = model
        self._reading = Reading(model.opset, translate, {**TRANSLATORS, **known.onnx})
        self._reading.aligns_by_size = text_of(model.proto.producer_name) in _ALIGNING_BY_SIZE
        self._plain = without_rounding(model.structure)
        self._nodes, self._reading.scales = self._plain.nodes, self._plain.scales
        self._reading.notes.extend((*model.notes, *self._plain.notes))
        self._reading.said_bits = said_bits(model.proto)
        self._made = {name for node in self._nodes for name in node.outputs}
        declared = {text_of(i.name): declared_shape(i) for i in model.structure.inputs}
        self._shapes = Shapes(declared, shapes or {})

    def graph(self) -> RealGraph:
        """As much of the model as can be read."""
        inputs = [name for info in self._model.structure.inputs if (name := self._input(info)) is not None]
        self._initializers()
        for node in self._nodes:
            self._read(node)
        read = self._reading
        names = tuple(n for n in self._model.structure.outputs if self._has_tensor(n))
        outputs = tuple(read.tensors[name] for name in names)
        notes = (*read.notes, *self._shapes.notes)
        return RealGraph(
            name=self._model.name,
            values=read.values,
            nodes=tuple(read.nodes),
            inputs=tuple(inputs),
            outputs=outputs,
            definition="onnx",
            faces=names,
            notes=notes,
            halves=read.halves,
        )

    def _has_tensor(self, output: str) -> bool:
        """Whether an output of the network was read; one that is a sequence is refused."""
        value = self._reading.tensors.get(output)
        if value in self._reading.sequences:
            self._refuse(NotATensor.of("a sequence", f"output '{output}'"))
        return value is not None and value not in self._reading.sequences

    def _input(self, info: Any) -> str | None:
        name, element = text_of(info.name), info.type.tensor_type.elem_type
        try:
            if element not in _TYPES:
                raise input_refused(info.type, f"input '{name}'")
            shape = self._shapes.of(name)
            if len(shape) > MAX_RANK or max(shape, default=0) > MAX_ELEMENTS:
                raise ModelTooLarge(f"an input of shape {list(shape[: MAX_RANK + 1])}", where=f"input '{name}'")
        except CompileError as error:
            self._refuse(error)
            return None
        read, kind = self._reading, RealType(shape, element_type(_TYPES[element]))
        empty = 0 in shape  # its numbers are known: there are none
        value = read.constant(name, np.zeros(shape, kind.dtype)) if empty else name
        if empty:
            read.note(f"input '{name}' has no elements, and is left out")
        else:
            read.values[name] = RealValue(name, kind)
        read.tensors[name] = value
        if bits_of(element):
            read.bits[value] = bits_of(element)
        return None if empty else name

    def _initializers(self) -> None:
        used = Counter(name for node in self._nodes for name in self._plain.names_read(node))
        used.update(self._model.structure.outputs)
        for name, tensor in self._model.structure.initializers.items():
            if name in used and not is_unread(tensor):
                try:
                    if tensor.data_type == TensorProto.STRING and is_picked_from(name, self._nodes, used[name]):
                        self._reading.tensors[name] = label_table(self._reading, name, tensor)
                    else:
                        self._reading.initializer(name, tensor)
                except CompileError as error:
                    self._refuse(error)

    def _read(self, node: OnnxNode) -> None:
        """Translate a node; one that reads what was refused is passed over."""
        needed = {*node.inputs, *(name for name in self._plain.names_read(node) if name in self._made)} - {""}
        lost = [name for name in needed if name not in self._reading.tensors]
        if lost or _lacks_data(node) or node.where in self._refused:
            return
        count = len(self._reading.nodes)
        try:
            values = translate(self._reading, node)
        except CompileError as error:
            del self._reading.nodes[count:]
            self._refuse(_spoken(error, node), node)
            return
        extra = [name for name in node.outputs[len(values) :] if name]
        if extra:
            found = f"{node.op_type} with {len(node.outputs)} outputs"
            self._refuse(FormUnsupported(found, where=node.where), node)
        self._reading.tensors.update((name, v) for name, v in zip(node.outputs, values, strict=False) if name and v)

    def unknown(self) -> list[CompileError]:
        """Every operator of the model that nothing is known of, read or not, each once."""
        nodes = {(n.domain, n.op_type): n for n in reversed(self._nodes)}
        known = (n for n in reversed(nodes.values()) if not _is_known(n, self._reading))
        return [_unknown(node, self._reading) for node in known]

    def _refuse(self, error: CompileError, node: OnnxNode | None = None) -> None:
        reads = [self._reading.tensors.get(i, "") for i in node.inputs] if node is not None else []
        self.problems.append(Problem(len(self._reading.nodes), error, tuple(filter(None, reads))))


def _lacks_data(node: OnnxNode) -> bool:
    """Whether numbers that a node holds lie in another file that was refused, with a problem of its own."""
    return any(is_unread(tensor) for _, tensor in tensors_in([node.proto]))


def _is_known(node: OnnxNode, reading: Reading) -> bool:
    """Whether there is a translator, or a function that ONNX gives."""
    if (node.domain, node.op_type) in reading.translators:
        return True
    opset = reading.opset
    if node.domain or not defs.has(node.op_type, max_inclusive_version=opset):
        return False
    schema = defs.get_schema(node.op_type, max_inclusive_version=opset)
    return bool(schema.has_function or schema.has_context_dependent_function)


def _unknown(node: OnnxNode, reading: Reading) -> CompileError:
    if any(a.type in _SUBGRAPHS for a in node.attributes.values()):
        return SubgraphUnsupported(f"{node.op_type} holds a graph of its own", where=node.where)
    family = family_of(node)
    if family is not None:
        return family
    domain = f"{node.domain}." if node.domain else ""
    hint = _hint(node, reading)
    return OperatorUnknown(f"operator {domain}{node.op_type} is not supported", where=node.where, hint=hint)


def _hint(node: OnnxNode, reading: Reading) -> str | None:
    """What can be done about an operator of somebody's own; None for a domain that is read here."""
    if node.domain in {domain for domain, _ in TRANSLATORS}:
        return None
    if node.domain in _OF_ONE_PROCESSOR:
        return "give the model itself, or save it with ORT_ENABLE_EXTENDED: ORT_ENABLE_ALL writes for one processor"
    name = f"{node.domain}::{node.op_type}"
    joined = sorted("::".join(key) for key in reading.translators.keys() - TRANSLATORS.keys())
    close = difflib.get_close_matches(name, joined, n=1)
    if close:
        return f"did you mean {close[0]}? that one a plug-in reads"
    given = f"the plug-ins read {', '.join(joined)}; " if joined else ""
    return f"{given}--plugin FILE.py with an operator {name} reads it (docs/plugins.md), or replace it in the model"


def _spoken(error: CompileError, node: OnnxNode) -> CompileError:
    """A problem with its node, and with the forms in which the operator is read."""
    if node.op_type == "DynamicQuantizeLinear":
        return QuantizationDynamic("a scale is computed while the network runs", where=node.where)
    if isinstance(error, FormUnsupported) and error.hint == FormUnsupported.hint:
        error.hint = way_out(node.op_type) or error.hint
    if not error.where.startswith(("node", "output", "input", "constant")):
        error.where = node.where
    return error


def translate(reading: Reading, node: OnnxNode) -> Sequence[str]:
    """The values of a node's outputs; those of its function's body where it has no translator, or that gives none."""
    if not any(node.outputs):  # inside a body; the network's own are looked at as a whole
        raise InputMissing("the node has no output", where=node.where)
    check_node(node, reading.opset)
    check_types(node, [reading.kind(node, i) for i in range(len(node.inputs))], reading.opset)
    translator = reading.translators.get((node.domain, node.op_type))
    values = translator(reading, node) if translator is not None else ()
    if values:
        return values
    body = body_of(node, reading)
    if body is None:
        raise _unknown(node, reading)
    outer, reading.tensors = reading.tensors, dict(body.inputs)
    whole, reading.whole = reading.whole, reading.whole or node
    try:
        for inner in body.nodes:
            values = reading.read(inner)
            reading.tensors.update((name, v) for name, v in zip(inner.outputs, values, strict=False) if name and v)
        return [reading.tensors.get(name, "") for name in body.outputs]
    finally:
        reading.tensors = outer
        reading.whole = whole
