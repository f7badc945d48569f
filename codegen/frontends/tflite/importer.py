"""The walk over a TFLite model's operators that makes the integer Graph, and all its problems at once.

Decides: that every problem of a model is reported together.
"""

from __future__ import annotations

from pathlib import Path

from codegen.errors import (
    CompileError,
    FormUnsupported,
    InputMissing,
    ModelNotQuantized,
    ModelRejected,
    OptionBad,
    TypeUnsupported,
)
from codegen.frontends.tflite.context import Context, dtype_of, tensor_quant
from codegen.frontends.tflite.dilated import joined_nodes
from codegen.frontends.tflite.importers import IMPORTERS
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Model, Subgraph, Tensor, read_model
from codegen.frontends.tflite.walk import ModelWalk
from codegen.ir.graph import Graph, Interface
from codegen.ir.quant import MODES, Mode, Quant, TensorType
from codegen.ops import Dequantize, Reshape
from codegen.settle.finish import finish

Port = tuple[str, tuple[int, ...], str, Quant | None]
_REAL = ("float16", "float32", "float64", "bfloat16")
_PRODUCTS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def import_tflite(path: Path, *, mode: Mode, io_type: str = "quantized") -> Graph:
    """The integer Graph of a quantized TFLite model; tensors keep the model's own order of axes.

    Args:
        path: the model's file.
        mode: the arithmetic of every requantization; `tflite` is TFLite's own.
        io_type: "quantized" drops QUANTIZE and DEQUANTIZE at the borders; "model" keeps them.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the model.
        CompileError: LAM-IMPORT-002 .. 030, when the file cannot be read at all.
    """
    if mode not in MODES or io_type not in ("quantized", "model"):
        raise OptionBad(f"mode {mode}, io_type {io_type}")
    return Walk(read_model(path), mode, io_type == "quantized").graph(str(path))


def read_ports(path: Path) -> tuple[list[Port], list[Port]]:
    """Name, shape, element type (as numpy names it) and meaning of each input and output, named as in the Graph."""
    graph = read_model(path).subgraphs[0]
    names: set[str] = set()
    inputs = [_port(graph.tensors[i], names) for i in graph.inputs]
    return inputs, [_port(graph.tensors[i], names) for i in graph.outputs]


def has_uint8_weights(path: Path) -> bool:
    """Whether a product of the model has weights of the older uint8 scheme."""
    graph = read_model(path).subgraphs[0]
    places = [n.inputs[1] for n in graph.nodes if n.op_type in _PRODUCTS and len(n.inputs) > 1]
    return any(graph.tensors[i].kind == "uint8" for i in places if i >= 0)


def is_float_model(graph: Subgraph) -> bool:
    """Whether it computes with real numbers and nothing in it is quantized."""
    kinds = {t.kind for t in graph.tensors if t.scale.size}
    return any(t.kind in _REAL for t in graph.tensors) and not kinds & {"int8", "uint8", "int16"}


def float_model(where: str) -> ModelNotQuantized:
    """The refusal of such a model."""
    hint = "convert it with full-integer post-training quantization (TFLITE_BUILTINS_INT8)"
    return ModelNotQuantized("a float model: none of its tensors has a scale", where=where, hint=hint)


def _port(tensor: Tensor, names: set[str]) -> Port:
    name = free_name(tensor, names)
    names.add(name)
    return name, tensor.shape, tensor.kind, _meaning(tensor)


def _meaning(tensor: Tensor) -> Quant | None:
    """Scale and zero point, None where they make no sense: another runtime may run the model all the same."""
    try:
        return tensor_quant(tensor)
    except CompileError:
        return None


def free_name(tensor: Tensor, names: set[str]) -> str:
    """A tensor that is given out twice has another name the second time."""
    return tensor.name if tensor.name not in names else f"{tensor.name}:{len(names)}"


class Walk(ModelWalk):
    """One pass over a model, gathering problems."""

    def __init__(self, model: Model, mode: Mode, drop: bool) -> None:
        self._ctx = Context(mode, model.subgraphs)
        self._drop = drop
        super().__init__(model, self._ctx, IMPORTERS)

    def graph(self, where: str) -> Graph:
        """The graph, or every problem."""
        self._refuse_float(where)
        inputs = self._inputs()
        for node in joined_nodes(self._graph):
            self._import(node)
        outputs = self._outputs(inputs)
        if self._problems:
            raise ModelRejected(self._problems, where=where)
        return finish(self._ctx.builder, self._model.name, inputs, outputs, self._ctx.notes, self._drop)

    def _refuse_float(self, where: str) -> None:
        """LAM-IMPORT-008 for a model of real numbers in which nothing is quantized."""
        if is_float_model(self._graph):
            raise ModelRejected([float_model(where)])

    def _inputs(self) -> list[Interface]:
        inputs: list[Interface] = []
        for place in self._graph.inputs:
            tensor = self._graph.tensors[place]
            try:
                inputs.append(self._input(tensor))
            except CompileError as error:
                self._refuse(error, tensor.where)
                self._poison.add(place)
        return inputs

    def _input(self, tensor: Tensor) -> Interface:
        if tensor.problem is not None:
            raise tensor.problem
        if tensor.index in self._ctx.values:
            raise InputMissing("given twice as an input", where=tensor.where)
        if tensor.kind == "int64":
            hint = "convert the model with inputs of type int32"
            raise TypeUnsupported("an input of type int64", where=tensor.where, hint=hint)
        dtype = dtype_of(tensor, tensor.where)
        kind = TensorType(tensor.shape, dtype, tensor_quant(tensor))
        value = self._ctx.builder.input(tensor.name, kind, source=tensor.name)
        self._ctx.values[tensor.index] = value
        return Interface(value, tensor.name, tensor.shape, tensor.kind)

    def _translate(self, node: TfliteNode) -> None:
        """Write a node's operators, and compute those of constants alone."""
        importer, count = IMPORTERS.get(node.op_type), len(self._ctx.builder.nodes)
        if importer is None:
            hint = "it is read when its inputs are constants without a scale"
            raise FormUnsupported(f"{node.op_type} of a computed or quantized tensor", where=node.where, hint=hint)
        importer(self._ctx, node)
        self._ctx.fold_since(node, count)

    def _outputs(self, inputs: list[Interface]) -> list[Interface]:
        outputs: list[Interface] = []
        taken = {i.value for i in inputs} | {s.value for s in self._ctx.builder.states}
        names = {i.name for i in inputs}
        for place in self._graph.outputs:
            tensor = self._ctx.record(place)
            try:
                if place not in self._poison:
                    outputs.append(self._output(tensor, taken, names))
                    taken.add(outputs[-1].value)
                    names.add(outputs[-1].name)
            except CompileError as error:
                self._refuse(error, tensor.where)
        return outputs

    def _output(self, tensor: Tensor, taken: set[str], names: set[str]) -> Interface:
        if tensor.problem is not None:
            raise tensor.problem
        if not self._ctx.is_written(tensor.index) and tensor.data is None:
            raise InputMissing("nothing writes this output of the network", where=tensor.where)
        value, builder = self._ctx.value_of(tensor.index, tensor.where), self._ctx.builder
        dtype_of(tensor, tensor.where)
        maker = builder.maker(value)
        if self._drop and maker is not None and isinstance(maker.op, Dequantize):
            value = maker.inputs[0]
        if value in taken or builder.values[value].is_const:
            note = "given out twice" if value in taken else "known now, copied in each run"
            value = builder.apply(Reshape(tensor.shape), (value,), f"{tensor.name}:copy", note=note)
        return Interface(value, free_name(tensor, names), tensor.shape, tensor.kind)
