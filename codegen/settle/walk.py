"""The walk over a RealGraph that makes the integer Graph, and all its problems at once.

Decides: that every problem is reported together.  A node that is refused poisons its results, and nodes behind it are
passed over silently.  And which nodes compute with real numbers: those that read real numbers which the network
computes, those for which integers have no form or no scale, and those whose results are read as real numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from codegen.errors import CompileError, FormUnsupported, ModelRejected, NothingComputed, OperatorUnknown
from codegen.ir.graph import Graph, Interface
from codegen.ir.quant import Mode, Storage
from codegen.ir.real import RealGraph, RealNode, RealValue
from codegen.records import record
from codegen.settle.borders import Borders
from codegen.settle.definitions import integers_of
from codegen.settle.finish import finish
from codegen.settle.float32.inputs import NO_FLOATS, NO_INTEGERS, NeedsFloat, is_real
from codegen.settle.float32.rules import FLOAT_RULES, QUANTIZED_BEHIND
from codegen.settle.forms import way_out
from codegen.settle.images import image_by_image
from codegen.settle.rule import NO_RULES, Rules
from codegen.settle.rules import RULES
from codegen.settle.states import POISON, Accum, Const, Float, Int, IntConst, Poison, State
from codegen.settle.words import shift_of, signed


def settle(
    graph: RealGraph, mode: Mode, borders: Borders | None = None, joined: Rules = NO_RULES, *, by_image: bool = False
) -> Graph:
    """The integer Graph of a quantized RealGraph.

    Tensors keep the model's own order of axes; operators that want NHWC have a Transpose before and behind them.

    Args:
        graph: every tensor quantized, or made of quantized ones.
        mode: the arithmetic of every requantization.
        borders: how the network meets its user.
        joined: rules that go before the house's own.
        by_image: as of `run_walk`.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the network.
    """
    walk = run_walk(graph, mode, borders or Borders(), joined, by_image=by_image)
    if walk.problems:
        raise ModelRejected([p.error for p in walk.problems], where=graph.name)
    return walk.graph()


def run_walk(graph: RealGraph, mode: Mode, borders: Borders, joined: Rules, *, by_image: bool) -> Settling:
    """The walk over a network; `by_image`: its batch is cut where that saves memory.

    What cannot be settled so is tried the other way; the problems are those of the network as it is.
    """

    def of(form: RealGraph) -> Settling:
        return walked(lambda floats: Settling(form, mode, borders, joined, floats=floats))

    cut, saves = image_by_image(graph) or (graph, False)
    first, second = (cut, graph) if by_image and saves else (graph, cut)
    found = of(first)
    if not found.problems or cut is graph:
        return found
    other = of(second)
    return other if not other.problems or second is graph else found


Walk = TypeVar("Walk", bound="Settling")
_PLAIN = ("int32", "bool")


def walked(make: Callable[[Mapping[str, str]], Walk]) -> Walk:
    """The walk that finds no more nodes which must compute with real numbers; `make` takes those known so far."""
    floats = NO_FLOATS
    while True:
        walk = make(floats)
        walk.run()
        if walk.floats == floats:
            return walk
        floats = walk.floats


@record
class Problem:
    """What is wrong, and its place: the number of nodes before it.  `reads` are the values that it concerns."""

    place: int
    error: CompileError
    reads: tuple[str, ...] = ()


class Settling:
    """One pass over a RealGraph.  `problems` are what is wrong with it; `joined` rules go before the house's own.

    `floats` says of nodes, by label, why they compute with real numbers where that is only known behind them.  Where
    the pass finds more of them, it must be made again.
    """

    def __init__(
        self,
        graph: RealGraph,
        mode: Mode,
        borders: Borders,
        joined: Rules = NO_RULES,
        *,
        floats: Mapping[str, str] = NO_FLOATS,
    ) -> None:
        self.problems: list[Problem] = []
        self.floats = floats
        self._integers = integers_of(graph.definition)
        self.ctx = self._integers.context(mode, graph.values)
        self.ctx.notes.extend(graph.notes)
        self.ctx.reads = Counter([*(i for node in graph.nodes for i in node.inputs), *graph.outputs])
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
            made = self.settled(at, node)
            self._count_reads(node, made)
            self.ctx.states.update(zip(node.outputs, made, strict=False))
        for state in self._graph.states:
            self._integers.renew_state(self.ctx, state)
        self._write_outputs()

    def graph(self) -> Graph:
        """The finished graph."""
        drop = self._borders.io_type == "quantized"
        made = finish(self.ctx.builder, self._graph.name, self.inputs, self.outputs, self.ctx.notes, drop)
        return replace(made, held=_held(self._graph))

    def _count_reads(self, node: RealNode, made: Sequence[State]) -> None:
        """What a node passes on as it is, is read by the readers of both tensors."""
        for name, state in zip(node.outputs, made, strict=False):
            for same in (i for i in node.inputs if self.ctx.states.get(i) is state):
                self.ctx.reads[name] += self.ctx.reads[same] - 1

    def settled(self, at: int, node: RealNode) -> Sequence[State]:
        """States of a node's outputs; poison when it is refused or reads poison."""
        poisoned = (POISON,) * len(node.outputs)
        if any(isinstance(self.ctx.states.get(i, POISON), Poison) for i in node.inputs):
            return poisoned
        try:
            return self._settled(node)
        except CompileError as error:
            self._refuse(at, error, node)
        except NeedsFloat as needed:
            self._demand(at, needed, node)
        return poisoned

    def _settled(self, node: RealNode) -> Sequence[State]:
        """As integers where there are any; as real numbers where the model has only those, or integers cannot do it."""
        why = self._why_float(node)
        if why:
            return self._as_float(node, why)
        known = len(self.ctx.notes)
        try:
            return self._integers.settled(self.ctx, node, self._joined)
        except NO_INTEGERS as error:
            if not self._has_float_form(node) or self._is_held(node, error):
                raise
            refused = error
        del self.ctx.notes[known:]
        try:
            return self._as_float(node, refused.found)
        except CompileError:
            raise refused from None

    def _as_float(self, node: RealNode, why: str) -> Sequence[State]:
        self.ctx.why = why
        return self._integers.as_float(self.ctx, node, self._joined)

    def _has_float_form(self, node: RealNode) -> bool:
        """Whether there is a rule for real numbers; parts of an operator that only move elements move those."""
        kind, values = type(node.op), (*node.inputs, *node.outputs)
        joined = self._joined.get(kind)
        known = kind in FLOAT_RULES or (node.part and kind in RULES) if joined is None else joined.real is not None
        plain = all(isinstance(self.ctx.states[v], Accum | Int | Float | Const) for v in node.inputs if v)
        return known and (plain or any(self.ctx.real(v).is_real for v in values if v))

    def _is_held(self, node: RealNode, error: CompileError) -> bool:
        """Whether TFLite says in which integers all reals are held: a form that integers do not have is a mistake.

        So are whole numbers of few bits, which have lost their scale, and those of 64, which are held in 32.
        """
        values = [self._graph.values[v] for v in (*node.inputs, *node.outputs) if v]
        stored = [v.stored for v in values if v.type.is_real]
        held = None not in stored if stored else any(str(v.type.dtype) not in _PLAIN for v in values)
        return self._graph.definition == "tflite" and held and not isinstance(error, OperatorUnknown)

    def _why_float(self, node: RealNode) -> str:
        """Why a node computes with real numbers whatever integers could do; empty where they may."""
        if not self._has_float_form(node):
            return ""
        if node.label in self.floats:
            return self.floats[node.label]
        given = type(node.op) in QUANTIZED_BEHIND
        read = next((i for i in node.inputs if is_real(self.ctx, i, given=not given)), None)
        return "" if read is None else f"'{read}' are real numbers"

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
        for value, name in self._ports():
            if isinstance(self.ctx.states.get(value, POISON), Poison):
                continue
            try:
                self.outputs.append(self._integers.write_output(self.ctx, value, name, self._borders, names, taken))
                taken.add(self.outputs[-1].value)
            except CompileError as error:
                trail = getattr(self.ctx.states[value], "trail", ())
                self._demand(len(self._graph.nodes), NeedsFloat(trail, error), None, f"output '{name}'")

    def _ports(self) -> Sequence[tuple[str, str]]:
        """Values and names of the outputs; C has no arrays of none, so that those without elements are left out."""
        ports = [*zip(self._graph.outputs, self._graph.faces or self._graph.outputs, strict=True)]
        empty = [name for value, name in ports if 0 in self._graph.type(value).shape]
        for name in empty:
            self.ctx.note(f"output '{name}' has no elements, and is left out")
        if empty and len(empty) == len(ports):
            self._refuse(len(self._graph.nodes), NothingComputed("every output is without elements"), None, "outputs")
        return [(value, name) for value, name in ports if name not in empty]

    def _demand(self, at: int, needed: NeedsFloat, node: RealNode | None, where: str = "") -> None:
        """Have nodes compute with real numbers in the next pass; where they did already, that is no way out."""
        more = {n.label: needed.why for n in needed.trail if n.label not in self.floats}
        self.floats = {**self.floats, **more}
        if not more:
            self._refuse(at, needed.refusal, node, where)

    def _refuse(self, at: int, error: CompileError, node: RealNode | None, where: str = "") -> None:
        """Gather a problem; errors of the operators themselves learn which node they are about."""
        if node is not None and isinstance(error, FormUnsupported) and error.hint == FormUnsupported.hint:
            error.hint = way_out(node.op_type) or error.hint
        if not error.where.startswith(("node", "output", "input", "constant")):
            error.where = node.where if node is not None else where
        self.problems.append(Problem(at, error))


def _held(graph: RealGraph) -> tuple[tuple[Storage, int], ...]:
    """In which integers of 8 bits or fewer the graph holds constants, the fewest first, and in blocks of how many.

    Then the floats of 16 bits.
    """
    stored = [v.stored for v in graph.values.values() if v.data is not None and v.stored is not None]
    kinds = {(s.bits or 8 * s.dtype.itemsize, s.block) for s in stored}
    # a zero point may take the numbers beyond those that have so many bits without one
    named: tuple[tuple[Storage, int], ...] = (("s4", 4), ("u4", 4), ("s8", 8), ("u8", 8))
    blocks = {most: sorted({b for n, b in kinds if n <= most}, key=lambda b: (b > 0, -b)) for most in (4, 8)}
    integers = ((name, block) for name, most in named for block in blocks[most])
    return (*integers, *((name, 0) for name in graph.halves))


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
    return IntConst(ints, scale, zero, stored.bits, stored.block)
