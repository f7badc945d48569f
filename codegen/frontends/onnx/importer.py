"""The walk over the model's nodes, and all its problems at once.

Decides: that every problem of a model is reported together.  A node that is refused poisons its results, and nodes
behind it are passed over silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onnx import AttributeProto

from codegen.errors import (
    CompileError,
    FormUnsupported,
    ModelNotQuantized,
    ModelRejected,
    OperatorUnknown,
    OptionBad,
    SubgraphUnsupported,
)
from codegen.frontends.finish import finish
from codegen.frontends.folding import Budget
from codegen.frontends.onnx.borders import Borders, IoLayout, IoType, declare_input, declared_shape, write_output
from codegen.frontends.onnx.context import Context, array_of
from codegen.frontends.onnx.fold import FOLDABLE, MOVES_ELEMENTS, fold
from codegen.frontends.onnx.forms import way_out
from codegen.frontends.onnx.importers import IMPORTERS
from codegen.frontends.onnx.nodes import OnnxNode, text_of
from codegen.frontends.onnx.reader import Model, read_model
from codegen.frontends.onnx.schema import check_node, check_types
from codegen.frontends.onnx.states import POISON, Const, IntConst, Poison, State
from codegen.frontends.onnx.tensors import constant_of, decode, is_unread
from codegen.frontends.shapes import Given, Shapes
from codegen.ir.graph import Graph, Interface
from codegen.ir.quant import MODES, Mode

_SUBGRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def import_onnx(
    path: Path,
    *,
    mode: Mode,
    io_type: IoType = "quantized",
    io_layout: IoLayout = "nhwc",
    shapes: Given | None = None,
) -> Graph:
    """The integer Graph of a quantized ONNX model.

    Tensors keep the model's own order of axes; operators that want NHWC have a Transpose before and behind them.

    Args:
        path: the model's file; external data is read from its folder and below.
        mode: the arithmetic of every requantization.
        io_type: "quantized" drops QuantizeLinear and DequantizeLinear at the borders; "model" keeps them.
        io_layout: "nhwc" makes inputs and outputs of four axes NHWC; "model" leaves them.
        shapes: of inputs with open dimensions; an open first dimension is 1 without being named.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the model.
        CompileError: LAM-IMPORT-002 .. 030, when the file cannot be read at all.
    """
    if mode not in MODES or io_type not in ("quantized", "model") or io_layout not in ("nhwc", "model"):
        raise OptionBad(f"mode {mode}, io_type {io_type}, io_layout {io_layout}")
    model = read_model(Path(path))
    return Walk(model, mode, Borders(io_type, io_layout), shapes).graph(str(path))


class Walk:
    """One pass over a model, gathering problems."""

    def __init__(self, model: Model, mode: Mode, borders: Borders, shapes: Given | None = None) -> None:
        """Begin; LAM-IMPORT-051 and -052 for shapes that do not fit the model's inputs."""
        declared = {text_of(i.name): declared_shape(i) for i in model.structure.inputs}
        self._faces = Shapes(declared, shapes or {})
        self._model = model
        self._borders = borders
        self._problems = list(model.problems)
        self._budget = Budget()
        self._ctx = Context(mode, model.opset)
        self._ctx.notes.extend(model.notes)

    def graph(self, where: str) -> Graph:
        """The graph, or every problem."""
        inputs = self._inputs()
        if not self._model.quantized:
            raise ModelRejected(self._not_quantized(where), where=where)
        self._initializers()
        for node in self._model.structure.nodes:
            states = self._import(node)
            self._ctx.states.update((name, s) for name, s in zip(node.outputs, states, strict=False) if name)
        outputs = self._outputs(inputs)
        if self._problems:
            raise ModelRejected(self._problems, where=where)
        drop = self._borders.io_type == "quantized"
        return finish(self._ctx.builder, self._model.name, inputs, outputs, self._ctx.notes, drop)

    def _not_quantized(self, where: str) -> list[CompileError]:
        """What must change before a float model can be read, the operators that quantizing does not help included."""
        unknown = {(n.domain, n.op_type): n for n in reversed(self._model.structure.nodes) if not _is_known(n)}
        return [
            ModelNotQuantized("a float model: none of its nodes quantizes anything", where=where),
            *self._problems,
            *(_unknown(node) for node in reversed(unknown.values())),
        ]

    def _initializers(self) -> None:
        """Read the constants that anything reads."""
        used = {name for node in self._model.structure.nodes for name in node.inputs}
        used.update(self._model.structure.outputs)
        for name, tensor in self._model.structure.initializers.items():
            if name in used:
                self._ctx.states[name] = self._initializer(name, tensor)

    def _initializer(self, name: str, tensor: Any) -> State:
        """One constant; external data that could not be read is a problem already."""
        if is_unread(tensor):
            return POISON
        try:
            return Const(decode(tensor, f"constant '{name}'"))
        except CompileError as error:
            self._refuse(error, "")
            return POISON

    def _inputs(self) -> list[Interface]:
        inputs: list[Interface] = []
        for info in self._model.structure.inputs:
            try:
                state, interface = declare_input(self._ctx, info, self._faces, self._borders)
                inputs.append(interface)
            except CompileError as error:
                state = POISON
                self._refuse(error, "")
            self._ctx.states[text_of(info.name)] = state
        self._ctx.notes.extend(self._faces.notes)
        return inputs

    def _outputs(self, inputs: Sequence[Interface]) -> list[Interface]:
        outputs: list[Interface] = []
        taken, names = {i.value for i in inputs}, {i.name for i in inputs}
        for name in self._model.structure.outputs:
            state = self._ctx.states.get(name, POISON)
            if isinstance(state, Poison):
                continue
            try:
                outputs.append(write_output(self._ctx, name, state, self._borders, names, taken))
                taken.add(outputs[-1].value)
            except CompileError as error:
                self._refuse(error, f"output '{name}'")
        return outputs

    def _import(self, node: OnnxNode) -> Sequence[State]:
        """States of a node's outputs; poison when it is refused or reads poison."""
        poisoned = (POISON,) * len(node.outputs)
        try:
            if not _is_known(node):
                raise _unknown(node)
            check_node(node, self._model.opset)
            inputs = [self._ctx.states.get(i, POISON) if i else None for i in node.inputs]
            if any(isinstance(s, Poison) for s in inputs):
                return poisoned
            check_types(node, [self._ctx.kind(s) for s in inputs], self._model.opset)
            states = self._fold(node, inputs)
            if states is None:
                states = self._all_outputs(node, self._computed(node))
            self._charge(node, [s for s in states if s not in inputs])
            return states
        except CompileError as error:
            if isinstance(error, FormUnsupported) and error.hint == FormUnsupported.hint:
                error.hint = way_out(node.op_type) or error.hint
            self._refuse(error, node.where)
            return poisoned

    def _computed(self, node: OnnxNode) -> Sequence[State]:
        """The states of a node that the network computes, or that its importer reads as a constant."""
        importer = IMPORTERS.get((node.domain, node.op_type))
        if importer is None:
            hint = "it is read when its inputs are constants only"
            raise FormUnsupported(f"{node.op_type} of a computed tensor", where=node.where, hint=hint)
        return importer(self._ctx, node)

    def _charge(self, node: OnnxNode, states: Sequence[State]) -> None:
        """Refuse models whose constant expressions would take all memory (LAM-IMPORT-004)."""
        constants = [s for s in states if isinstance(s, Const | IntConst)]
        self._budget.charge([s.array if isinstance(s, Const) else s.ints for s in constants], node.where)

    def _all_outputs(self, node: OnnxNode, states: Sequence[State]) -> Sequence[State]:
        """The states of a node's outputs, of which none is left over."""
        extra = [name for name in node.outputs[len(states) :] if name]
        if extra or (len(states) == 1 and not node.outputs[0]):
            raise FormUnsupported(f"{node.op_type} with {len(node.outputs)} outputs", where=node.where)
        return states

    def _fold(self, node: OnnxNode, inputs: Sequence[State | None]) -> Sequence[State] | None:
        """A constant expression's results; None for any other node."""
        if node.domain:
            return None
        if node.op_type == "Constant":
            if node.has("value") and is_unread(node.tensor("value")):
                return [POISON]
            return [Const(constant_of(node))]
        known = bool(inputs) and all(isinstance(s, Const | IntConst | None) for s in inputs)
        if node.op_type not in FOLDABLE or not known:
            return None
        first = inputs[0]
        if isinstance(first, IntConst) and node.op_type in MOVES_ELEMENTS - {"Concat"}:
            return self._fold_quantized(node, first, inputs[1:])
        arrays = [None if s is None else array_of(s) for s in inputs]
        return [Const(a) for a in fold(node, arrays, self._model.opset)]

    def _fold_quantized(self, node: OnnxNode, first: IntConst, rest: Sequence[State | None]) -> Sequence[State]:
        """Data movement on a quantized constant moves its integers, scales and zero points alike."""
        others = [None if s is None else array_of(s) for s in rest]
        moved = (fold(node, [part, *others], self._model.opset) for part in (first.ints, first.scale, first.zero))
        return [IntConst(*parts) for parts in zip(*moved, strict=True)]

    def _refuse(self, error: CompileError, where: str) -> None:
        """Gather a problem; errors of the operators themselves learn which node they are about."""
        if where and not error.where.startswith(("node", "output", "input", "constant")):
            error.where = where
        self._problems.append(error)


def _is_known(node: OnnxNode) -> bool:
    """Whether the operator is read, at least when all its inputs are constants."""
    return (node.domain, node.op_type) in IMPORTERS or node.op_type in FOLDABLE | {"Constant", "ConstantOfShape"}


def _unknown(node: OnnxNode) -> CompileError:
    if any(a.type in _SUBGRAPHS for a in node.attributes.values()):
        return SubgraphUnsupported(f"{node.op_type} holds a graph of its own", where=node.where)
    domain = f"{node.domain}." if node.domain else ""
    return OperatorUnknown(f"operator {domain}{node.op_type} is not supported", where=node.where)
