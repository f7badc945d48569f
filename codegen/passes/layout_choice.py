"""Which operators should run transposed, for one permutation: a minimum cut.

Operators that work in any layout (`layouts.py`) may run transposed or not: a yes or no per operator.  A tensor costs
its price when its writer and one of its readers disagree, once however many readers do.  The Transposes that stand
there are part of the picture: they are tensors that come in the other layout, or are wanted in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.permutation import Perm, inverse, moves_nothing
from codegen.ir.quant import TensorType
from codegen.ir.shape import Shape
from codegen.ops import Transpose
from codegen.ops.answers import in_layout, layout_inputs
from codegen.passes.min_cut import SINK, SOURCE, Arc, Point, min_cut
from codegen.passes.movement import MOVEMENT
from codegen.records import record

_FORBIDDEN = 1 << 90


def extended(type_: TensorType, rank: int) -> Shape:
    """The shape with axes of size 1 before it, as numpy broadcasts it to `rank` axes."""
    return (1,) * (rank - len(type_.shape)) + type_.shape


def operand_names(node: Node) -> tuple[str, ...]:
    """The inputs that are stored in the node's layout."""
    return tuple(node.inputs[i] for i in layout_inputs(node.op, len(node.inputs)))


@record(eq=False, slots=False)
class LayoutChoice:
    """The question for one permutation: points are SOURCE (transposed), SINK (as it is), ("node", name) (to decide).

    A Transpose that undoes itself, between two operators that can run transposed, could be there for either; to
    count it for both would be wrong.  `for_writers` says which.
    """

    graph: Graph
    perm: Perm
    for_writers: bool = True

    def best(self) -> Mapping[str, Op]:
        """The operators to run transposed and what they become, by node name; empty when nothing is gained."""
        cost, side = min_cut(arc for value in self._values for arc in self._arcs(value))
        if cost >= sum(self._cost_now(value) for value in self._values):
            return {}
        return {name: op for name, op in self._able.items() if ("node", name) in side}

    @cached_property
    def _able(self) -> dict[str, Op]:
        """Nodes that can run transposed, with the operator they become."""
        fitting = (n for n in self.graph.nodes if len(self.graph.type(n.outputs[0]).shape) == len(self.perm))
        pairs = ((node.name, in_layout(node.op, self.perm)) for node in fitting)
        return {name: op for name, op in pairs if op is not None}

    @cached_property
    def _values(self) -> tuple[str, ...]:
        """The tensors concerned, in order."""
        able = [n for n in self.graph.nodes if n.name in self._able]
        return tuple(dict.fromkeys(v for n in able for v in (*operand_names(n), *n.outputs)))

    @cached_property
    def _prices(self) -> dict[str, int]:
        """What a Transpose of each value costs: its bytes, and in the last digits how early it stands."""
        graph = self.graph
        depth, deepest = dict.fromkeys(graph.source_values, 0), 0
        for node in graph.nodes:
            deepest += not isinstance(node.op, MOVEMENT)
            depth.update(dict.fromkeys(node.outputs, deepest))
        unit = 2 * (deepest + 1) * len(graph.values)
        return {v: self._bytes(v) * unit + 2 * deepest + 1 - depth[v] for v in self._values if self._bytes(v)}

    def _bytes(self, value: str) -> int:
        """Bytes that a Transpose of the value moves."""
        view = moves_nothing(extended(self.graph.type(value), len(self.perm)), self.perm)
        return 0 if view or self.graph.values[value].is_const else self.graph.type(value).bytes

    def _arcs(self, value: str) -> Iterator[Arc]:
        """Cut exactly when the writer and some reader disagree."""
        if value not in self._prices:
            return
        writer, price = self._writer(value), self._prices[value]
        as_is, flipped = ("as is", value), ("flipped", value)
        yield (writer, as_is, price)
        yield (flipped, writer, price)
        for reader in self._readers(value):
            yield (as_is, reader, _FORBIDDEN)
            yield (reader, flipped, _FORBIDDEN)

    def _cost_now(self, value: str) -> int:
        """The price paid when every operator stays as it is."""
        transposed = self._writer(value) == SOURCE
        disagree = any((reader == SOURCE) != transposed for reader in self._readers(value))
        return self._prices.get(value, 0) if disagree else 0

    def _readers(self, value: str) -> tuple[Point, ...]:
        """How the value is wanted."""
        points = [self._reader(node, value) for node in self.graph.users[value]]
        points += [SINK] if value in self.graph.output_values else []
        return tuple(dict.fromkeys(points))

    def _reader(self, node: Node, value: str) -> Point:
        if node.name in self._able and value in operand_names(node):
            return ("node", node.name)
        return SOURCE if node.op == Transpose(self.perm) and not self._gives_flipped(node) else SINK

    def _writer(self, value: str) -> Point:
        """How the value comes."""
        node = self.graph.producers.get(value)
        if node is None:
            return SINK
        if node.name in self._able:
            return ("node", node.name)
        return SOURCE if self._gives_flipped(node) else SINK

    def _gives_flipped(self, node: Node) -> bool:
        """Whether the node is a Transpose without which its result is there transposed."""
        if node.op != Transpose(inverse(self.perm)):
            return False
        before = self.graph.producers.get(node.inputs[0])
        between = before is not None and before.name in self._able
        return not (inverse(self.perm) == self.perm and between and self.for_writers)
