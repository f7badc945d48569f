"""Reads as much of an ONNX model as can be read, for `inspect`: behind a refused node, and of a float model.

Decides: that reading goes on where the model itself says what a tensor is (its shape, which ONNX infers, and the scale
of the QuantizeLinear behind it), and that a float model is read as it would be quantized, with made-up ranges.  A
tensor of which neither is known stays unread, so that no node is blamed for another one's fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from codegen.errors import BiasOutOfRange, ScaleBad
from codegen.frontends.onnx.inferring import inferred
from codegen.frontends.onnx.nodes import OnnxNode, text_of
from codegen.frontends.onnx.reader import Model, read_model
from codegen.frontends.onnx.real.importer import RealReader
from codegen.frontends.onnx.tensors import data_type_of, dtype_of
from codegen.frontends.shapes import Given
from codegen.frontends.shapes import Shapes as OfInputs
from codegen.frontends.survey import SourceNode, Survey
from codegen.frontends.vocabulary import HOUSE, Vocabulary
from codegen.ir.element import element_type
from codegen.ir.quant import Mode
from codegen.ir.real import RealType, RealValue
from codegen.quantizer.rehearsal import rehearsed
from codegen.settle.surveying import surveyed

_KINDS = ("bfloat16", "float16", "float32", "float64", "int8", "uint8", "int16")


def survey_onnx(path: Path, *, mode: Mode, shapes: Given | None = None, known: Vocabulary = HOUSE) -> Survey:
    """Every problem of the model, and what can be read of it; raises what `import_onnx` raises of files and shapes."""
    model = read_model(path)
    with np.errstate(all="ignore"):
        reader = _Reader(model, shapes, known)
        graph = reader.graph()
        graph = graph if model.quantized else rehearsed(graph)
        walk = surveyed(graph, mode, reader.unread, known.rules)
    made_up = () if model.quantized else (ScaleBad, BiasOutOfRange)
    found = [e for e in walk.with_those_of(reader.problems) if not isinstance(e, made_up)]
    refused = {**walk.refused, **reader.refused}
    nodes = tuple(SourceNode(n.name, n.op_type, refused.get(n.name, "")) for n in model.structure.nodes)
    return Survey(walk.partial(), tuple(found), not model.quantized, tuple(walk.inputs), nodes)


class _Reader(RealReader):
    """A reader that goes on behind a refused node where the model says what its results are.

    `unread` are those results; `refused` the nodes with the ids of their problems.
    """

    def __init__(self, model: Model, shapes: Given | None, known: Vocabulary) -> None:
        super().__init__(model, shapes, known)
        self.unread: set[str] = set()
        self.refused: dict[str, str] = {}
        self._known = _inferred(model.proto, self._shapes)

    def _read(self, node: OnnxNode) -> None:
        before = len(self.problems)
        super()._read(node)
        if len(self.problems) == before:
            return
        self.refused[node.name] = self.problems[before].error.code
        for name in node.outputs:
            if name in self._known and name not in self._reading.tensors:
                self._reading.values[name] = RealValue(name, self._known[name])
                self._reading.tensors[name] = name
                self.unread.add(name)


def _inferred(proto: Any, faces: OfInputs) -> Mapping[str, RealType]:
    """Shape and element type of each tensor of which ONNX knows both; the inputs get the shapes that they have here."""
    for info in proto.graph.input:
        shape = faces.known(text_of(info.name)) or ()
        for dim, size in zip(info.type.tensor_type.shape.dim, shape, strict=False):
            dim.dim_value = size
    graph = inferred(proto)
    found: dict[str, RealType] = {}
    for info in (*graph.value_info, *graph.output):
        kind = info.type.tensor_type
        dims = tuple(int(d.dim_value) for d in kind.shape.dim)
        if kind.HasField("shape") and all(d > 0 for d in dims) and kind.elem_type in _numbered():
            found[text_of(info.name)] = RealType(dims, dtype_of(kind.elem_type))
    return found


def _numbered() -> tuple[int, ...]:
    return tuple(data_type_of(element_type(name)) for name in _KINDS)
