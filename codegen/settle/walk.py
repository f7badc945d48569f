"""The walk over a RealGraph that makes the integer Graph, and all its problems at once.

Decides: that every problem is reported together.  A node that is refused poisons its results, and nodes behind it are
passed over silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.errors import CompileError, FormUnsupported, ModelRejected
from codegen.ir.graph import Graph, Interface
from codegen.ir.quant import Mode
from codegen.ir.real import RealGraph, RealNode, RealValue
from codegen.settle.borders import Borders
from codegen.settle.definitions import INTEGERS
from codegen.settle.finish import finish
from codegen.settle.forms import way_out
from codegen.settle.rule import NO_RULES, Rules
from codegen.settle.states import POISON, Const, IntConst, Poison, State
from codegen.settle.words import shift_of, signed


def settle(graph: RealGraph, mode: Mode, borders: Borders | None = None) -> Graph:
    """The integer Graph of a quantized RealGraph.

    Tensors keep the model's own order of axes; operators that want NHWC have a Transpose before and behind them.

    Args:
        graph: every tensor quantized, or made of quantized ones.
        mode: the arithmetic of every requantization.
        borders: how the network meets its user.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the network.
    """
    walk = Settling(graph, mode, borders or Borders())
    walk.run()
    if walk.problems:
        raise ModelRejected([p.error for p in walk.problems], where=graph.name)
    return walk.graph()


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and its place: the number of nodes before it.  `reads` are the values that it concerns."""

    place: int
    error: CompileError
    reads: tuple[str, ...] = ()


class Settling:
    """One pass over a RealGraph.  `problems` are what is wrong with it; `joined` rules go before the house's own."""

    def __init__(self, graph: RealGraph, mode: Mode, borders: Borders, joined: Rules = NO_RULES) -> None:
        self.problems: list[Problem] = []
        self._integers = INTEGERS[graph.definition]
        self.ctx = self._integers.context(mode, graph.values)
        self.ctx.notes.extend(graph.notes)
        self.inputs: list[Interface] = []
        self.outputs: list[Interface] = []
        self._graph = graph
        self._borders = borders
        self._joined = joined

    def run(self) -> None:
        """Settle everything: inputs, constants, nodes, outputs."""
        for name in self._graph.inputs:
            self.ctx.states[name] = self._input(name)
        for value in self._graph.values.values():
            if value.data is not None:
                self.ctx.states[value.name] = constant_of(value)
        for state in self._graph.states:
            self._integers.declare_state(self.ctx, state)
        for at, node in enumerate(self._graph.nodes):
            self.ctx.states.update(zip(node.outputs, self.settled(at, node), strict=False))
        for state in self._graph.states:
            self._integers.renew_state(self.ctx, state)
        self._write_outputs()

    def graph(self) -> Graph:
        """The finished graph."""
        drop = self._borders.io_type == "quantized"
        return finish(self.ctx.builder, self._graph.name, self.inputs, self.outputs, self.ctx.notes, drop)

    def settled(self, at: int, node: RealNode) -> Sequence[State]:
        """States of a node's outputs; poison when it is refused or reads poison."""
        poisoned = (POISON,) * len(node.outputs)
        if any(isinstance(self.ctx.states.get(i, POISON), Poison) for i in node.inputs):
            return poisoned
        try:
            return self._integers.settled(self.ctx, node, self._joined)
        except CompileError as error:
            self._refuse(at, error, node)
            return poisoned

    def with_those_of(self, reading: Sequence[Problem]) -> list[CompileError]:
        """All problems in order; one of the reader's that only follows from a refused node is left out."""
        own = [p for p in reading if not any(isinstance(self.ctx.states.get(v), Poison) for v in p.reads)]
        return [p.error for p in sorted([*own, *self.problems], key=lambda p: p.place)]

    def _input(self, name: str) -> State:
        try:
            state, interface = self._integers.declare_input(self.ctx, name, self._borders)
        except CompileError as error:
            self.problems.append(Problem(-1, error))
            return POISON
        self.inputs.append(interface)
        return state

    def _write_outputs(self) -> None:
        taken, names = {i.value for i in self.inputs}, {i.name for i in self.inputs}
        taken.update(s.value for s in self.ctx.builder.states)
        for value, name in zip(self._graph.outputs, self._graph.faces or self._graph.outputs, strict=True):
            if isinstance(self.ctx.states.get(value, POISON), Poison):
                continue
            try:
                self.outputs.append(self._integers.write_output(self.ctx, value, name, self._borders, names, taken))
                taken.add(self.outputs[-1].value)
            except CompileError as error:
                self._refuse(len(self._graph.nodes), error, None, f"output '{name}'")

    def _refuse(self, at: int, error: CompileError, node: RealNode | None, where: str = "") -> None:
        """Gather a problem; errors of the operators themselves learn which node they are about."""
        if node is not None and isinstance(error, FormUnsupported) and error.hint == FormUnsupported.hint:
            error.hint = way_out(node.op_type) or error.hint
        if not error.where.startswith(("node", "output", "input", "constant")):
            error.where = node.where if node is not None else where
        self.problems.append(Problem(at, error))


def constant_of(value: RealValue) -> State:
    """A constant: numbers, or the integers that hold them with a scale and a zero point for each."""
    assert value.data is not None, value.name
    stored = value.stored
    if stored is None:
        return Const(value.data)
    shape = value.data.shape
    scale, zero = (np.broadcast_to(part, shape) for part in stored.spread(shape))
    ints, zero = signed(value.data), zero + shift_of(stored.dtype)
    # numbers of scale 0 are all the real number 0
    ints = np.where(scale == 0, zero, ints).astype(ints.dtype) if (scale == 0).any() else ints
    return IntConst(ints, scale, zero, stored.bits)
