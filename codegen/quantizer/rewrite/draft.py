"""A RealGraph while it is rewritten: who reads what, and nodes and constants put in each other's place.

Decides: that a node which gets other numbers gets a constant of its own, so that no other reader sees them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.names import free_name
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, RealOp, RealType, RealValue
from codegen.real.engine import numbers_of


class Draft:
    """One network, open for changes until `done`."""

    def __init__(self, graph: RealGraph) -> None:
        self._graph = graph
        self.values = dict(graph.values)
        self._nodes = {node.label: node for node in graph.nodes}
        self._readers: dict[str, dict[str, None]] = {}
        self._makers: dict[str, str] = {}
        self._fixed = {*graph.outputs, *graph.inputs, *(name for s in graph.states for name in (s.value, s.next))}
        for node in graph.nodes:
            self._enter(node)

    @property
    def nodes(self) -> tuple[RealNode, ...]:
        """The nodes as they are now."""
        return tuple(self._nodes.values())

    def has(self, node: RealNode) -> bool:
        """Whether a node is there still, perhaps changed."""
        return node.label in self._nodes

    def node(self, label: str) -> RealNode:
        """A node by its label."""
        return self._nodes[label]

    def readers(self, name: str) -> Iterator[RealNode]:
        """The nodes that read a value."""
        return (self._nodes[label] for label in tuple(self._readers.get(name, ())))

    def maker(self, name: str) -> RealNode | None:
        """The node that writes a value."""
        label = self._makers.get(name)
        return None if label is None else self._nodes[label]

    def is_inner(self, name: str) -> bool:
        """Whether nobody outside sees a value, and nothing says yet how it is held."""
        return name not in self._fixed and self.values[name].stored is None

    def only_reader(self, name: str) -> RealNode | None:
        """The one node that reads an inner value, once."""
        found = list(self.readers(name))
        alone = len(found) == 1 and self.is_inner(name) and found[0].inputs.count(name) == 1
        return found[0] if alone else None

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a value."""
        return self.values[name].type.shape

    def constant(self, name: str) -> Array | None:
        """The numbers of a real constant in float64; None where they are computed, whole or not finite."""
        value = self.values[name]
        if value.data is None or not value.type.is_real:
            return None
        numbers = numbers_of(value).astype(np.float64)
        return numbers if np.isfinite(numbers).all() else None

    def numbers(self, name: str) -> Array:
        """The numbers of a constant that is known to be one."""
        found = self.constant(name)
        assert found is not None, name
        return found

    def is_shared(self, name: str) -> bool:
        """Whether a constant is read more than once."""
        return sum(node.inputs.count(name) for node in self.readers(name)) > 1 or name in self._fixed

    def own(self, name: str, numbers: Array) -> str:
        """A new constant in float32, called after `name`."""
        free = free_name(name, self.values)
        self.values[free] = RealValue(free, RealType(numbers.shape), numbers.astype(np.float32))
        return free

    def computed(self, name: str, op: RealOp, before: RealNode, *inputs: str) -> str:
        """A new value that an operator computes in front of a node, of whose operator it is a part."""
        free = free_name(name, self.values)
        (kind,) = op.infer([self.values[i].type for i in inputs])
        self.values[free] = RealValue(free, kind)
        self._insert(RealNode(free, op, inputs, (free,), before.name, before.op_type, before.tensor, part=True), before)
        return free

    def written(self, name: str, op: RealOp, before: RealNode, *inputs: str) -> None:
        """A node in front of another which writes a value in its stead; that one is dropped next."""
        parts = (before.name, before.op_type, before.tensor)
        self._insert(RealNode(free_name(name, self.values), op, inputs, (name,), *parts, part=True), before)

    def _insert(self, node: RealNode, before: RealNode) -> None:
        at = list(self._nodes).index(before.label)
        ordered = list(self._nodes.items())
        self._nodes = dict([*ordered[:at], (node.label, node), *ordered[at:]])
        self._enter(node)

    def put(self, node: RealNode) -> None:
        """A node in the place of the one that has its label."""
        self._leave(self._nodes[node.label])
        self._nodes[node.label] = node
        self._enter(node)

    def with_inputs(self, node: RealNode, inputs: Sequence[str]) -> None:
        """The node with other inputs."""
        self.put(replace(node, inputs=tuple(inputs)))

    def take_over(self, node: RealNode, behind: RealNode) -> None:
        """Let a node of one output write what `behind` writes, which goes."""
        self.drop(behind)
        self.put(replace(node, outputs=behind.outputs, tensor=behind.tensor))

    def drop(self, node: RealNode) -> None:
        """Take a node away."""
        self._leave(node)
        del self._nodes[node.label]

    def drop_unread(self, names: Sequence[str]) -> None:
        """Take away what makes values that nobody reads any more."""
        for name in names:
            maker = self.maker(name)
            if maker is not None and name not in self._fixed and not any(self._readers.get(o) for o in maker.outputs):
                self.drop(maker)
                self.drop_unread(maker.inputs)

    def bypass(self, node: RealNode, source: str) -> None:
        """Take a node of one output away, whose readers read `source` instead."""
        (gone,) = node.outputs
        self.drop(node)
        for reader in self.readers(gone):
            self.with_inputs(reader, [source if i == gone else i for i in reader.inputs])

    def done(self) -> RealGraph:
        """The network as it is now."""
        return replace(self._graph, values=self.values, nodes=self.nodes).live()

    def _enter(self, node: RealNode) -> None:
        for name in node.inputs:
            self._readers.setdefault(name, {})[node.label] = None
        for name in node.outputs:
            self._makers[name] = node.label

    def _leave(self, node: RealNode) -> None:
        for name in set(node.inputs):
            del self._readers[name][node.label]
        for name in node.outputs:
            if self._makers.get(name) == node.label:
                del self._makers[name]
