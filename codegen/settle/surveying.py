"""Settles as much of a RealGraph as can be settled, for `inspect`.

Decides: that settling goes on behind a refused node where a Quantize says what its result is, or where the result is
integers of a known type: the network then gets it as if it were an input.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from codegen.errors import CompileError
from codegen.ir.graph import Graph, Interface
from codegen.ir.quant import DType, Mode, TensorType
from codegen.ir.real import RealGraph, RealNode
from codegen.ir.verify import IrError, verify_graph
from codegen.real.storage import Dequantize, Quantize
from codegen.settle.borders import Borders
from codegen.settle.builder import Builder
from codegen.settle.finish import finish
from codegen.settle.float32.inputs import NO_FLOATS
from codegen.settle.rule import NO_RULES, Rules
from codegen.settle.states import POISON, Float, Int, Poison, State
from codegen.settle.tflite.borders import of_record, tensor_type
from codegen.settle.walk import Settling, walked

_INTEGERS = {"int8": DType.S8, "uint8": DType.U8, "int16": DType.S16}


def surveyed(graph: RealGraph, mode: Mode, unread: Collection[str] = (), joined: Rules = NO_RULES) -> Surveying:
    """The walk over all of a network that finds no more nodes which must compute with real numbers."""
    return walked(lambda floats: Surveying(graph, mode, Borders(), unread, joined, floats=floats))


class Surveying(Settling):
    """A walk that goes on.  `refused` are the model's nodes with the ids of their problems."""

    def __init__(
        self,
        graph: RealGraph,
        mode: Mode,
        borders: Borders,
        unread: Collection[str] = (),
        joined: Rules = NO_RULES,
        *,
        floats: Mapping[str, str] = NO_FLOATS,
    ) -> None:
        """`unread` are values that no node writes, since the model's own node was refused."""
        super().__init__(graph, mode, borders, joined, floats=floats)
        self.refused: dict[str, str] = {}
        self._given: list[Interface] = []
        self._unread = frozenset(unread)

    def run(self) -> None:
        """Settle everything; what is unread is known where it holds integers."""
        for name in sorted(self._unread):
            self.ctx.states[name] = self._behind(name)
        super().run()

    def settled(self, at: int, node: RealNode) -> Sequence[State]:
        """As ever; a refused node's results are assumed where they can be."""
        if isinstance(node.op, Quantize) and isinstance(self.ctx.states.get(node.inputs[0], POISON), Poison):
            self.ctx.states[node.inputs[0]] = self._assumed(node.inputs[0])
        before = len(self.problems)
        states = super().settled(at, node)
        if len(self.problems) > before:
            self.refused[node.name] = self.problems[before].error.code
        elif node.name not in self.refused or not all(isinstance(s, Poison) for s in states):
            return states
        return [self._behind(name) if self._is_known(node, name) else POISON for name in node.outputs]

    def _is_known(self, node: RealNode, name: str) -> bool:
        """Whether the model says what a tensor is: of a TFLite operator that became several, only the last results."""
        return self._graph.definition != "tflite" or name == node.tensor or name in node.outputs[1:]

    def partial(self) -> Graph | None:
        """The graph of everything that was written; None when there is nothing."""
        faces = [*self.inputs, *self._given]
        return partial_graph(self.ctx.builder, self._graph.name, faces, self.outputs, self.ctx.notes)

    def _behind(self, name: str) -> State:
        """The result of a refused node: integers, whose readers say what they mean, or nothing that is known yet.

        TFLite says of each tensor what it is.
        """
        if self._graph.definition == "tflite":
            return self._recorded(name)
        dtype = _INTEGERS.get(self.ctx.real(name).dtype.name)
        meant = any(isinstance(n.op, Dequantize) for n in self._graph.readers(name))
        value = self._phantom(name, dtype) if dtype is not None and meant else None
        return POISON if value is None else Int(value)

    def _recorded(self, name: str) -> State:
        """A tensor as its record says, as if the network got it as an input."""
        try:
            kind = tensor_type(self._graph.values[name])
            value = self.ctx.builder.input(f"{name}:unread", kind)
        except CompileError:
            return POISON
        self._given.append(Interface(value, name, kind.shape, str(kind.dtype.numpy)))
        return of_record(self._graph.values[name], value)

    def _assumed(self, name: str) -> State:
        """A float tensor that a refused node was to make, as if the network got it as an input."""
        known = name in self._graph.values and self.ctx.real(name).is_real
        value = self._phantom(name, DType.F32) if known else None
        return POISON if value is None else Float(value)

    def _phantom(self, name: str, dtype: DType) -> str | None:
        shape = self.ctx.real(name).shape
        try:
            value = self.ctx.builder.input(f"{name}:unread", TensorType(shape, dtype))
        except CompileError:
            return None
        self._given.append(Interface(value, name, shape, dtype.numpy.name))
        return value


def partial_graph(
    builder: Builder, name: str, inputs: Sequence[Interface], outputs: Sequence[Interface], notes: Sequence[str]
) -> Graph | None:
    """The graph of everything that was written, whether an output needs it or not; None when that is no graph."""
    read = {i for node in builder.nodes for i in node.inputs} | {o.value for o in outputs}
    given = {i.value for i in inputs}
    ends = [o for node in builder.nodes for o in node.outputs if o not in read and o not in given]
    faces = [_face(builder, value) for value in dict.fromkeys(ends)]
    if not builder.nodes or not (outputs or faces):
        return None
    try:
        graph = finish(builder, name, inputs, [*outputs, *faces], notes, drop_quantize=True)
        used = {i for node in graph.nodes for i in node.inputs} | {o.value for o in graph.outputs}
        graph = replace(graph, inputs=tuple(i for i in graph.inputs if i.value in used))
        verify_graph(graph)
    except (CompileError, IrError):
        return None
    return graph


def _face(builder: Builder, value: str) -> Interface:
    kind = builder.type(value)
    return Interface(value, value, kind.shape, kind.dtype.numpy.name)
