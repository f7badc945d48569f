"""The demand process on integers: which row is made when, how many rows each tensor must keep.

A group is run by pulling rows from its targets; to make a row, a node first asks the makers of its inputs, in order,
for the rows it still lacks.  Here that process runs on row numbers alone, once per candidate group; ring heights and
the distance between a dying input and the output that grows over it are read off, not derived.  The generated code
and the shadow run follow the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from codegen.ir.graph import Graph
from codegen.ir.op import RowRule
from codegen.ir.shape import row_count


@dataclass(frozen=True, slots=True)
class Edge:
    """How a node reads one computed tensor, by step r of the node.

    `last[r]` rows of the tensor must exist before step r; `low[r]` is the lowest row that step r or a later one
    reads, and `low[steps]` the number of rows.  `in_place`: step r reads its row before it writes its own.
    """

    value: str
    last: tuple[int, ...]
    low: tuple[int, ...]
    in_place: bool


@dataclass(frozen=True, slots=True)
class NodeRows:
    """A node as the demand process sees it.  A `barrier` reads or writes whole tensors and stands alone."""

    index: int
    steps: int
    edges: tuple[Edge, ...]
    outputs: tuple[str, ...]
    accumulates: bool
    barrier: bool


@dataclass(frozen=True, slots=True)
class Flow:
    """What the process showed.

    `rings`: rows kept of each inner tensor.  `gaps`: for (dying input, output), the bytes by which the output's start
    must stay below the input's.  `pulls`: (node, rows it has afterwards), in order.
    """

    rings: Mapping[str, int]
    gaps: Mapping[tuple[str, str], int]
    pulls: tuple[tuple[int, int], ...]


class Rows:
    """Row facts of every node of a graph, computed once."""

    def __init__(self, graph: Graph, barriers: frozenset[int]) -> None:
        """`barriers` are nodes whose kernel runs whole."""
        self.graph = graph
        self.barriers = barriers

    @cached_property
    def nodes(self) -> tuple[NodeRows, ...]:
        """One per node of the graph, views included (as barriers)."""
        return tuple(self._node(i) for i in range(len(self.graph.nodes)))

    @cached_property
    def height(self) -> Mapping[str, int]:
        """Rows of each computed tensor."""
        return {n: row_count(v.type.shape) for n, v in self.graph.values.items() if not v.is_const}

    @cached_property
    def row_bytes(self) -> Mapping[str, int]:
        """Bytes of one row of each computed tensor."""
        return {n: self.graph.type(n).bytes // max(1, h) for n, h in self.height.items()}

    def _node(self, index: int) -> NodeRows:
        node = self.graph.nodes[index]
        view = self.graph.view(node)
        rules = {i: view.op.rows(i, view.ins, view.outs) for i in view.dynamic}
        accumulates = any(rule.accumulate for rule in rules.values())
        barrier = index in self.barriers or any(rule.whole for rule in rules.values()) or not rules
        steps = self.height[node.outputs[0]]
        if accumulates:
            steps = self.height[node.inputs[view.dynamic[0]]]
        edges = []
        for i, rule in rules.items():
            in_place = len(node.outputs) == 1 and view.op.in_place(i, view.ins, view.outs)
            edges.append(_edge(node.inputs[i], rule, self.height[node.inputs[i]], steps, in_place))
        return NodeRows(index, steps, tuple(edges), node.outputs, accumulates, barrier)


def _edge(value: str, rule: RowRule, rows: int, steps: int, in_place: bool) -> Edge:
    if rule.whole:
        return Edge(value, (rows,) * steps, (0,) * steps + (rows,), in_place)
    if rule.accumulate:
        return Edge(value, tuple(range(1, steps + 1)), (*range(steps), rows), False)
    r = np.arange(steps)
    first = np.array(rule.table) if rule.table is not None else (r * rule.mul) // rule.div - rule.pad
    taps = first[:, None] + np.arange(rule.taps) * rule.dilation
    inside = (taps >= 0) & (taps < rows)
    last = np.where(inside, taps + 1, 0).max(axis=1)
    lowest = np.where(inside, taps, rows).min(axis=1)
    low = np.minimum.accumulate(np.append(lowest, rows)[::-1])[::-1]
    return Edge(value, tuple(last.tolist()), tuple(low.tolist()), in_place)


class Process:
    """One run of the demand process over a group.

    Args:
        rows: the graph's row facts.
        members: node indices of the group, in order.
        targets: the members whose outputs are needed outside, in order; they are made whole.
        streamed: an outside tensor whose rows come one by one, or "".
        dying: outside tensors that nothing reads after the group.
    """

    def __init__(
        self, rows: Rows, members: Sequence[int], targets: Sequence[int], streamed: str, dying: frozenset[str]
    ) -> None:
        """Wire the members; nothing runs yet."""
        self.rows = rows
        self.nodes = [rows.nodes[i] for i in members]
        if streamed:
            self.nodes.append(NodeRows(-1, rows.height[streamed], (), (streamed,), False, False))
        place = {node.index: k for k, node in enumerate(self.nodes)}
        self.targets = [place[t] for t in targets]
        maker = {out: k for k, node in enumerate(self.nodes) for out in node.outputs}
        self.asks = [
            tuple((maker[e.value], e.last) for e in node.edges if e.value in maker) for node in self.nodes
        ]
        inner = {v for node in self.nodes for v in node.outputs}
        self.readers: dict[str, list[tuple[int, Edge]]] = {}
        for k, node in enumerate(self.nodes):
            for edge in node.edges:
                if edge.value in inner or edge.value in dying:
                    self.readers.setdefault(edge.value, []).append((k, edge))
        outside = {v for k in self.targets for v in self.nodes[k].outputs}
        self.kept = [tuple(v for v in node.outputs if v in self.readers and v not in outside) for node in self.nodes]
        self.dying = tuple(sorted(v for v in dying if v in self.readers and v not in inner))
        self.done = [0] * len(self.nodes)
        self.rings: dict[str, int] = {v: 1 for kept in self.kept for v in kept}
        self.reach: dict[tuple[str, str], int] = {}
        self.is_target = [k in self.targets for k in range(len(self.nodes))]

    def run(self) -> Flow:
        """Pull every target to its end: always the one whose next row needs the least new input."""
        pulls: list[tuple[int, int]] = []
        need = {k: self._outside_need(k) for k in self.targets}
        while True:
            open_targets = [k for k in self.targets if self.done[k] < self.nodes[k].steps]
            if not open_targets:
                break
            k = min(open_targets, key=lambda t: (need[t][self.done[t]], -t))
            upto = self.done[k] + 1
            self._advance(k, upto)
            pulls.append((self.nodes[k].index, upto))
        gaps = {pair: max(0, distance) for pair, distance in self.reach.items()}
        return Flow(self.rings, gaps, tuple(pulls))

    def _advance(self, k: int, upto: int) -> None:
        done, asks = self.done, self.asks[k]
        while done[k] < upto:
            step = done[k]
            for maker, last in asks:
                if done[maker] < last[step]:
                    self._advance(maker, last[step])
            self._make(k, step)

    def _make(self, k: int, step: int) -> None:
        """Step `step` of member k has run: its rows exist, and rows nobody needs any more are free."""
        done = self.done
        done[k] = step + 1
        for value in self.kept[k]:
            low = min(edge.low[done[reader]] for reader, edge in self.readers[value])
            if step + 1 - low > self.rings[value]:
                self.rings[value] = step + 1 - low
        if self.is_target[k]:
            self._measure(k, step)

    def _measure(self, k: int, step: int) -> None:
        """How far the target's output has come over each dying input, in bytes, while step `step` still reads."""
        node = self.nodes[k]
        if node.accumulates and step + 1 < node.steps:
            return
        rows_made = 1 if node.accumulates else step + 1
        for value in self.dying:
            low = self.rows.height[value]
            for reader, edge in self.readers[value]:
                at = self.done[reader] if reader != k or edge.in_place else step
                low = min(low, edge.low[at])
            consumed = low * self.rows.row_bytes[value]
            for out in node.outputs:
                distance = rows_made * self.rows.row_bytes[out] - consumed
                if distance > self.reach.get((value, out), -(1 << 62)):
                    self.reach[value, out] = distance

    def _outside_need(self, k: int) -> list[int]:
        """For each row of member k, the highest outside row that making it asks for, through all makers."""
        node = self.nodes[k]
        memo = self.__dict__.setdefault("_needs", {})
        if k not in memo:
            found = np.zeros(node.steps, np.int64)
            makers = dict(zip((id(last) for _, last in self.asks[k]), (m for m, _ in self.asks[k]), strict=True))
            for edge in node.edges:
                last = np.array(edge.last)
                if id(edge.last) in makers:
                    upstream = np.append([0], np.maximum.accumulate(self._outside_need(makers[id(edge.last)])))
                    found = np.maximum(found, upstream[last])
                else:
                    found = np.maximum(found, last)
            if node.index < 0:
                found = np.arange(1, node.steps + 1)
            memo[k] = found.tolist()
        needed: list[int] = memo[k]
        return needed
