"""The walk over a TFLite model's operators that makes a RealGraph, and all its problems at once.

Decides: names.  Every value is called as its tensor; an output that is given out twice is copied.
"""

from __future__ import annotations

from pathlib import Path

from codegen.errors import CompileError, FormUnsupported, InputMissing, ModelRejected
from codegen.frontends.shapes import Given, Shapes
from codegen.frontends.tflite.importer import free_name
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Model, Tensor, read_model
from codegen.frontends.tflite.real.context import RealContext
from codegen.frontends.tflite.real.records import real_type, stored_of
from codegen.frontends.tflite.real.translators import TRANSLATORS
from codegen.frontends.tflite.walk import ModelWalk
from codegen.ir.real import RealGraph, RealNode, RealValue
from codegen.real.storage import Restore


def read_real(path: Path, *, shapes: Given | None = None) -> RealGraph:
    """The RealGraph of a TFLite model, quantized or not.

    Args:
        path: the model's file.
        shapes: of inputs; a TFLite model has every size, and these must be those.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the model.
        CompileError: LAM-IMPORT-002 .. 030, when the file cannot be read at all.
    """
    return _Walk(read_model(Path(path))).graph(str(path), shapes or {})


class _Walk(ModelWalk):
    def __init__(self, model: Model) -> None:
        self._ctx = RealContext(model.subgraphs)
        super().__init__(model, self._ctx, TRANSLATORS)

    def graph(self, where: str, shapes: Given) -> RealGraph:
        inputs = [name for place in self._graph.inputs if (name := self._input(self._graph.tensors[place]))]
        for node in self._graph.nodes:
            self._import(node)
        names: list[str] = []
        outputs = [value for place in self._graph.outputs if (value := self._output(place, names))]
        if self._problems:
            raise ModelRejected(self._problems, where=where)
        built = self._ctx.builder
        Shapes({name: built.type(name).shape for name in inputs}, shapes)
        return RealGraph(
            name=self._model.name,
            values=built.values,
            nodes=tuple(built.nodes),
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            definition="tflite",
            faces=tuple(names),
            notes=tuple(self._ctx.notes),
            states=tuple(built.states.values()),
        ).live()

    def _input(self, tensor: Tensor) -> str:
        try:
            if tensor.problem is not None:
                raise tensor.problem
            if tensor.index in self._ctx.values:
                raise InputMissing("given twice as an input", where=tensor.where)
            kind, stored = real_type(tensor, tensor.where), stored_of(tensor, tensor.where)
        except CompileError as error:
            self._refuse(error, tensor.where)
            self._poison.add(tensor.index)
            return ""
        self._ctx.values[tensor.index] = self._ctx.builder.input(tensor.name, kind, stored)
        return tensor.name

    def _translate(self, node: TfliteNode) -> None:
        translator = TRANSLATORS.get(node.op_type)
        if translator is None:
            hint = "it is read when its inputs are constants without a scale"
            raise FormUnsupported(f"{node.op_type} of a computed or quantized tensor", where=node.where, hint=hint)
        translator(self._ctx, node)

    def _output(self, place: int, names: list[str]) -> str:
        """The value of an output, whose name goes to `names`."""
        tensor = self._ctx.record(place)
        if place in self._poison:
            return ""
        try:
            if tensor.problem is not None:
                raise tensor.problem
            if not self._ctx.is_written(place) and tensor.data is None:
                raise InputMissing("nothing writes this output of the network", where=tensor.where)
            value = self._ctx.value_of(place, tensor.where)
        except CompileError as error:
            self._refuse(error, tensor.where)
            return ""
        name = free_name(tensor, {*names, *self._ctx.builder.inputs})
        names.append(name)
        return self._copied(value, name) if name != tensor.name else value

    def _copied(self, value: str, name: str) -> str:
        """Another value with the same numbers: an input, or an output a second time."""
        built = self._ctx.builder
        copy = RealValue(built.free_name(name), built.type(value), stored=built.values[value].stored)
        built.values[copy.name] = copy
        built.nodes.append(RealNode(copy.name, Restore(), (value,), (copy.name,), name, "OUTPUT", name))
        return copy.name
