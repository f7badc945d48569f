"""The walk over a TFLite model's operators that makes a RealGraph, and all its problems at once.

Decides: names.  Every value is called as its tensor.
"""

from __future__ import annotations

from pathlib import Path

from codegen.errors import CompileError, FormUnsupported, InputMissing, ModelRejected
from codegen.frontends.real import halves_among
from codegen.frontends.shapes import Given, Shapes
from codegen.frontends.tflite.dilated import joined_nodes
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Model, Tensor, read_model
from codegen.frontends.tflite.real.context import RealContext
from codegen.frontends.tflite.real.signal import check_words
from codegen.frontends.tflite.real.translators import NEWEST, TRANSLATORS
from codegen.frontends.tflite.records import real_type, stored_of
from codegen.frontends.tflite.tensors import free_name
from codegen.frontends.tflite.walk import ModelWalk
from codegen.frontends.vocabulary import HOUSE, Vocabulary
from codegen.ir.quant import Storage
from codegen.ir.real import RealGraph, RealNode, RealValue
from codegen.real.storage import Restore


def read_real(path: Path, *, shapes: Given | None = None, known: Vocabulary = HOUSE) -> RealGraph:
    """The RealGraph of a TFLite model, quantized or not; a value that is given out twice is copied.

    Args:
        path: the model's file.
        shapes: of inputs; a TFLite model has every size, and these must be those.
        known: operators that join the house's own.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the model.
        CompileError: LAM-IMPORT-002 .. 030, when the file cannot be read at all.
    """
    reader = RealReader(read_model(Path(path)), known)
    graph = reader.graph()
    if reader.problems:
        raise ModelRejected([p.error for p in reader.problems], where=str(path))
    Shapes({name: graph.type(name).shape for name in graph.inputs}, shapes or {})
    return graph.live()


class RealReader(ModelWalk):
    """One pass over a model.  `whole`: to be settled in integers, so that constants with a scale are not computed."""

    def __init__(self, model: Model, known: Vocabulary = HOUSE, *, whole: bool = False) -> None:
        self._whole = whole
        self._translators = {**TRANSLATORS, **known.tflite}
        self._ctx = RealContext(model.subgraphs, folds_stored=not whole)
        super().__init__(model, self._ctx, self._translators, NEWEST)

    def graph(self) -> RealGraph:
        """As much of the model as can be read."""
        inputs = [name for place in self._graph.inputs if (name := self._input(self._graph.tensors[place]))]
        for node in joined_nodes(self._graph):
            self._import(node)
        built, outputs, names = self._ctx.builder, list[str](), list[str]()
        for place in self._graph.outputs:
            if value := self._output(place, names):
                taken = value in (*built.inputs, *built.states, *outputs)
                outputs.append(self._copied(value, names[-1]) if taken and not self._whole else value)
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
            halves=self._halves(),
        )

    def _halves(self) -> tuple[Storage, ...]:
        """As of the file: what a DEQUANTIZE of a constant makes is all that is left of it."""
        tensors = (tensor for graph in self._model.subgraphs for tensor in graph.tensors)
        return halves_among({tensor.kind for tensor in tensors if tensor.data is not None})

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

    def _place(self) -> int:
        return len(self._ctx.builder.nodes)

    def _forget(self, place: int) -> None:
        built = self._ctx.builder
        for name in (name for node in built.nodes[place:] for name in node.outputs):
            del built.values[name]
        del built.nodes[place:]

    def _translate(self, node: TfliteNode) -> None:
        if node.op_type not in self._operators:
            hint = "it is read when its inputs are constants without a scale"
            raise FormUnsupported(f"{node.op_type} of a computed or quantized tensor", where=node.where, hint=hint)
        check_words(node, [self._graph.tensors[i].kind for i in (*node.inputs, *node.outputs) if i >= 0])
        self._translators[node.op_type](self._ctx, node)

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
        return value

    def _copied(self, value: str, name: str) -> str:
        """Another value with the same numbers: an input, or an output a second time."""
        built = self._ctx.builder
        copy = RealValue(built.free_name(name), built.type(value), stored=built.values[value].stored)
        built.values[copy.name] = copy
        built.nodes.append(RealNode(copy.name, Restore(), (value,), (copy.name,), name, "OUTPUT", name))
        return copy.name
