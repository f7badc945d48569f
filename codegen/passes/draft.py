"""Draft: a graph while a pass writes it, front to back.

Decides: how values get fresh names, how one value takes another's place, and what becomes of the model's tensor
names (`Value.source`) when it does.  What to rewrite is each pass's own affair.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace

from codegen.ir.graph import Graph, Node, Value, live_part
from codegen.ir.op import Op
from codegen.ir.permutation import Perm
from codegen.ir.quant import Array, TensorType


@dataclass(slots=True)
class Draft:
    """The new graph so far.  Nodes are appended in a runnable order; `changed` tells whether it differs."""

    graph: Graph
    values: dict[str, Value] = field(init=False)
    nodes: list[Node] = field(default_factory=list)
    changed: bool = False
    _renamed: dict[str, str] = field(default_factory=dict)
    _node_names: set[str] = field(init=False)

    def __post_init__(self) -> None:
        """Start with the old graph's values and none of its nodes."""
        self.values = dict(self.graph.values)
        self._node_names = {node.name for node in self.graph.nodes}

    def keep(self, node: Node) -> None:
        """Append a node of the old graph, reading what took the place of its inputs."""
        inputs = tuple(self.now(i) for i in node.inputs)
        self.nodes.append(node if inputs == node.inputs else replace(node, inputs=inputs))

    def rewrite(self, node: Node, op: Op, inputs: Sequence[str], outputs: Sequence[str] | None = None) -> None:
        """Append the node with another operator and other inputs, under its own name."""
        outs = node.outputs if outputs is None else tuple(outputs)
        self.nodes.append(replace(node, op=op, inputs=tuple(self.now(i) for i in inputs), outputs=outs))
        self.changed = True

    def insert(
        self, op: Op, inputs: Sequence[str], output: str, source: tuple[str, ...] = (), *, name: str = ""
    ) -> None:
        """Append a node that the model does not have; it is named after its output where no name is given."""
        name = _unused(name or output, self._node_names)
        self._node_names.add(name)
        self.nodes.append(Node(name, op, tuple(self.now(i) for i in inputs), (output,), source))
        self.changed = True

    def value(
        self, base: str, type_: TensorType, *, data: Array | None = None, source: str = "", perm: Perm | None = None
    ) -> str:
        """Name of a new value, `base` made unique."""
        name = _unused(base, self.values)
        self.values[name] = Value(name, type_, data, source, perm)
        self.changed = True
        return name

    def now(self, name: str) -> str:
        """The value that stands for `name` in the new graph."""
        while name in self._renamed:
            name = self._renamed[name]
        return name

    def can_replace(self, old: str, new: str) -> bool:
        """Whether `new` may stand for `old`: what outlives the run needs a node that writes it, each one of its own."""
        if old not in self.graph.output_values:
            return True
        new = self.now(new)
        taken = [self.now(name) for name in (*self.graph.source_values, *self.graph.output_values)]
        return self.values[new].data is None and new not in taken

    def replace_value(self, old: str, new: str) -> None:
        """Let `new`, which holds the same numbers in the same shape, stand for `old` from here on."""
        new = self.now(new)
        gone, stays = self.values[old], self.values[new]
        if gone.source and not stays.source and not stays.is_const:
            self.values[new] = replace(stays, source=gone.source, perm=gone.perm)
        self._renamed[old] = new
        self.changed = True

    def finish(self) -> Graph:
        """The new graph without dead nodes, or the old one itself when nothing changed."""
        if not self.changed:
            return self.graph
        outputs = tuple(replace(o, value=self.now(o.value)) for o in self.graph.outputs)
        states = tuple(replace(s, next=self.now(s.next)) for s in self.graph.states)
        return without_dead(replace(self.graph, outputs=outputs, states=states, values=self.values), self.nodes)


def joined(first: Node, second: Node) -> Node:
    """The first node, standing for the model's nodes of both."""
    notes = dict.fromkeys(note for note in (first.note, second.note) if note)
    return replace(first, source=(*first.source, *second.source), note="; ".join(notes))


def _unused(base: str, taken: Container[str]) -> str:
    """`base`, or `base` with the first number from 2 on that makes it new."""
    names = itertools.chain([base], (f"{base}.{count}" for count in itertools.count(2)))
    return next(name for name in names if name not in taken)


def without_dead(graph: Graph, nodes: Sequence[Node]) -> Graph:
    """The graph with those of the nodes, and of its states, that its outputs depend on."""
    live, states = live_part(nodes, [o.value for o in graph.outputs], graph.states)
    return replace(graph, states=states).with_nodes(live)


def fused(
    graph: Graph,
    is_idle: Callable[[Graph, Node], bool],
    merge: Callable[[Graph, Node], tuple[Op, Node] | None],
) -> Graph:
    """The graph with nodes that do nothing taken out, and others made one with the node behind them.

    Args:
        graph: in a runnable order.
        is_idle: whether a node's result is what it reads.
        merge: the operator that does what a node and the one behind it do, and that one; None to leave it.
    """
    draft = Draft(graph)
    gone: set[str] = set()
    for node in graph.nodes:
        if node.name in gone:
            continue
        if is_idle(graph, node) and draft.can_replace(node.outputs[0], node.inputs[0]):
            draft.replace_value(node.outputs[0], node.inputs[0])
        elif (found := merge(graph, node)) is None:
            draft.keep(node)
        else:
            op, behind = found
            draft.rewrite(joined(node, behind), op, node.inputs, behind.outputs)
            gone.add(behind.name)
    return draft.finish()
