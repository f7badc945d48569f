"""The demand process on integers: which row is made when, how many rows each tensor must keep.

A group is run by pulling rows from its targets; to make a row, a node first asks the makers of its inputs, in order,
for the rows it still lacks.  Here that process runs on row numbers alone, once per candidate group; ring heights and
the distance between a dying input and the output that grows over it are read off, not derived.  The generated code
and the shadow run follow the same order.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property

import numpy as np

from codegen.ir.graph import Graph
from codegen.ir.op import WHOLE, RowRule
from codegen.ir.plan import Group
from codegen.ir.quant import Array
from codegen.ir.shape import row_count
from codegen.records import record


@record
class Edge:
    """How a node reads one computed tensor, by step r of the node.

    `last[r]` rows of the tensor must exist before step r; `low[r]` is the lowest row that step r or a later one
    reads, and `low[steps]` the number of rows.  `in_place`: step r reads its row before it writes its own.  `window`
    is the ring that this reader alone asks for.  `lowest[r]` is the lowest row that step r itself reads; where it reads
    none, that is the number of rows.  `reads` counts the rows that all steps read.
    """

    value: str
    last: tuple[int, ...]
    low: tuple[int, ...]
    in_place: bool
    window: int
    lowest: tuple[int, ...]
    reads: int


@record
class NodeRows:
    """A node as the demand process sees it.

    It makes steps `start` to `steps` - 1, which is all of them unless it is cut for several cores.  A `barrier` reads
    or writes whole tensors and stands alone.
    """

    index: int
    steps: int
    edges: tuple[Edge, ...]
    outputs: tuple[str, ...]
    accumulates: bool
    barrier: bool
    start: int = 0


@record
class Flow:
    """What the process showed.

    `rings`: rows kept of each inner tensor that has a ring of its own.  `homes`: of each other one the tensor that its
    reader makes row by row in its place; the rows of both are as long, and lie where that one's do.  `gaps`: for (dying
    input, output), the bytes by which the output's start must stay below the input's.  `pulls`: (node, rows it has
    afterwards), in order.
    """

    rings: Mapping[str, int]
    gaps: Mapping[tuple[str, str], int]
    pulls: tuple[tuple[int, int], ...]
    homes: Mapping[str, str] = field(default_factory=dict)


class Rows:
    """Row facts of every node of a graph, computed once."""

    def __init__(self, graph: Graph, barriers: frozenset[int], in_place: frozenset[int] = frozenset()) -> None:
        """`barriers` are nodes whose kernel runs whole, `in_place` those whose kernel may write over what it reads."""
        self.graph = graph
        self.barriers = barriers
        self.in_place = in_place

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
            in_place = len(node.outputs) == 1 and (index in self.in_place or view.op.in_place(i, view.ins, view.outs))
            read = WHOLE if index in self.barriers and not in_place else rule  # as the kernel does
            edges.append(_edge(node.inputs[i], read, self.height[node.inputs[i]], steps, in_place))
        return NodeRows(index, steps, tuple(edges), node.outputs, accumulates, barrier)


def made_shares(graph: Graph, groups: Iterable[Group]) -> dict[int, float]:
    """By node, the share of its steps that is made: all but rows within a group that nobody asks for."""
    rows, found = Rows(graph, frozenset()), dict[int, float]()
    readers: dict[str, set[int]] = {}
    for index, node in enumerate(graph.nodes):
        for value in node.inputs:
            readers.setdefault(value, set()).add(index)
    kept = {*graph.output_values, *(state.value for state in graph.states), *(state.next for state in graph.states)}
    for members in (frozenset(group.nodes) for group in groups):
        asked: dict[str, int] = {}
        for index in sorted(members, reverse=True):
            node_rows = rows.nodes[index]
            outside = any(value in kept or readers.get(value, set()) - members for value in node_rows.outputs)
            wanted = max(asked.get(value, 0) for value in node_rows.outputs)
            made = node_rows.steps if outside or (node_rows.accumulates and wanted) else wanted
            for edge in node_rows.edges:
                asked[edge.value] = max(asked.get(edge.value, 0), max(edge.last[:made], default=0))
            found[index] = made / node_rows.steps
    return found


def _edge(value: str, rule: RowRule, rows: int, steps: int, in_place: bool) -> Edge:
    if rule.whole:  # in place, row r has been read when row r is written
        kept = tuple(range(steps)) if in_place else (0,) * steps
        return Edge(value, (rows,) * steps, (*kept, rows), in_place, rows, (0,) * steps, rows * steps)
    if rule.accumulate:
        return Edge(value, tuple(range(1, steps + 1)), (*range(steps), rows), False, 1, tuple(range(steps)), steps)
    r = np.arange(steps)
    first = np.array(rule.table) if rule.table is not None else (r * rule.mul) // rule.div - rule.pad
    taps = first[:, None] + np.arange(rule.taps) * rule.dilation
    inside = (taps >= 0) & (taps < rows)
    last = np.clip(taps[:, -1] + 1, 0, rows)  # as the generated code asks; a dilated window may read less
    lowest = np.where(inside, taps, rows).min(axis=1)
    low = np.minimum.accumulate(np.append(lowest, rows)[::-1])[::-1]
    window = int((np.maximum.accumulate(last) - low[:-1]).max(initial=1))
    tables = (tuple(last.tolist()), tuple(low.tolist()))
    return Edge(value, *tables, in_place, window, tuple(lowest.tolist()), int(inside.sum()))


def backwards_distance(node: NodeRows, root: str, roots: Mapping[str, str], row_bytes: Mapping[str, int]) -> int:
    """Bytes by which the output must begin behind the inputs in one memory, when its last rows are made first.

    Row r is written where neither it nor a row before it reads.
    """
    (out,) = node.outputs
    made = np.arange(node.steps) * row_bytes[out]
    read = [np.array(e.last) * row_bytes[e.value] for e in node.edges if roots[e.value] == root]
    return max(0, *(int((np.maximum.accumulate(ends) - made).max()) for ends in read))


class Flows:
    """Flows that were played through, by what decides them: of one order of a network, or of several that are alike.

    `ends` are names of nodes behind which no group goes on.
    """

    def __init__(self, ends: frozenset[str] = frozenset(), like: Flows | None = None) -> None:
        """None yet, or those of another network that is like this one."""
        self.ends = ends
        self.known: dict[object, Flow] = like.known if like else {}
        self._kinds: dict[tuple[tuple[int, ...], tuple[int, ...], bool], int] = like._kinds if like else {}

    def kind(self, edge: Edge) -> int:
        """A number that edges with the same answers share."""
        return self._kinds.setdefault((edge.last, edge.low, edge.in_place), len(self._kinds))


class Process:
    """The demand process over one group.

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
        self.asks = [tuple((maker[e.value], e.last) for e in node.edges if e.value in maker) for node in self.nodes]
        self.readers: dict[str, list[tuple[int, Edge]]] = {}
        for k, node in enumerate(self.nodes):
            for edge in node.edges:
                self.readers.setdefault(edge.value, []).append((k, edge))
        self.outside = {v for k in self.targets for v in self.nodes[k].outputs}
        self.inner = [v for v in maker if v not in self.outside and v in self.readers]
        self.dying = tuple(sorted(v for v in dying if v in self.readers and v not in maker))
        self.makers = maker
        self.homes = self._homes()
        self.inner = [v for v in self.inner if v not in self.homes]
        self.early = [self._early(k) for k in range(len(self.nodes))]
        self.shared = [
            tuple((v, tuple((r, e.low) for r, e in self.readers[v])) for v in node.outputs if self._has_several(v))
            for node in self.nodes
        ]
        self.done = [0] * len(self.nodes)
        self.rings = {v: self.readers[v][0][1].window for v in self.inner}
        self.reach: dict[tuple[str, str], int] = {}

    def _has_several(self, value: str) -> bool:
        return value in self.inner and len(self.readers[value]) > 1

    def _homes(self) -> dict[str, str]:
        """By inner tensor, the one in whose rows its own lie: that of its reader, or where that one's rows lie."""
        found: dict[str, str] = {}
        for node in reversed(self.nodes):
            over = [edge.value for edge in node.edges if self._makes_over(node, edge)]
            home = found.get(node.outputs[0], node.outputs[0])
            if over and (home in self.inner or (home in self.outside and len(node.edges) == 1)):
                found[over[0]] = home
        return found

    def _makes_over(self, node: NodeRows, edge: Edge) -> bool:
        """Whether the node's rows may be made in the place of this input's, which nothing else reads.

        A row of the input is made when the node's own is asked for, and nothing that reads the node's rows runs
        between.  (An output of the group may lie over an input that dies there; what else the node reads of that would
        be read too late.)
        """
        if not edge.in_place or edge.value not in self.inner or len(self.readers[edge.value]) > 1:
            return False
        maker = self.nodes[self.makers[edge.value]]
        sizes = self.rows.row_bytes[edge.value] == self.rows.row_bytes[node.outputs[0]]
        in_step = edge.last == tuple(range(1, node.steps + 1)) and self.rows.height[edge.value] == node.steps
        return sizes and in_step and maker.index >= 0 and len(maker.outputs) == 1 and not maker.accumulates

    def _early(self, k: int) -> dict[int, bool]:
        """Members that write into the place of the row that member k makes, itself among them.

        True for the first of them, which alone may read what it writes over.
        """
        chain = [k]
        while True:
            values = [e.value for e in self.nodes[chain[-1]].edges if e.value in self.homes]
            if not values:
                return {member: member == chain[-1] for member in chain}
            chain.append(self.makers[values[0]])

    def run(self) -> Flow:
        """Rings, distances and the order of pulls.

        With one target and no inner tensor that several members read, all follows from what each row asks for;
        otherwise the rows are played through one by one.
        """
        if len(self.targets) == 1:
            if any(self.shared):
                self._advance(self.targets[0], self.nodes[self.targets[0]].steps)
            target = self.nodes[self.targets[0]]
            self._measure_all(self.targets[0])
            return self._flow(((target.index, target.steps),))
        return self._flow(self._pull_all())

    def _flow(self, pulls: tuple[tuple[int, int], ...]) -> Flow:
        return Flow(self.rings, {pair: max(0, d) for pair, d in self.reach.items()}, pulls, self.homes)

    def _pull_all(self) -> tuple[tuple[int, int], ...]:
        """Pull every target to its end: always the one whose next row needs the least new input."""
        pulls: list[tuple[int, int]] = []
        need = self._outside_needs()
        measured = set(self.targets)
        while True:
            waiting = [k for k in self.targets if self.done[k] < self.nodes[k].steps]
            if not waiting:
                return tuple(pulls)
            k = min(waiting, key=lambda t: (need[t][self.done[t]], -t))
            self._advance(k, self.done[k] + 1, measured)
            pulls.append((self.nodes[k].index, self.done[k]))

    def _advance(self, k: int, upto: int, measured: Container[int] = ()) -> None:
        """Step member k until it has made `upto` steps, its makers first."""
        done, asks, shared = self.done, self.asks[k], self.shared[k]
        while done[k] < upto:
            step = done[k]
            for maker, last in asks:
                if done[maker] < last[step]:
                    self._advance(maker, last[step], measured)
            done[k] = step + 1
            for value, readers in shared:
                low = step + 1
                for reader, lows in readers:
                    if lows[done[reader]] < low:
                        low = lows[done[reader]]
                if step + 1 - low > self.rings[value]:
                    self.rings[value] = step + 1 - low
            if k in measured:
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
                low = min(low, edge.low[self.done[reader] - self._reads_first(k, reader, edge)])
            consumed = low * self.rows.row_bytes[value]
            for out in node.outputs:
                distance = rows_made * self.rows.row_bytes[out] - consumed
                if distance > self.reach.get((value, out), -(1 << 62)):
                    self.reach[value, out] = distance

    def _reads_first(self, k: int, reader: int, edge: Edge) -> bool:
        """Whether a reader still needs its last step's rows when member k's row, or what lies there, is written."""
        return reader in self.early[k] and not (edge.in_place and self.early[k][reader])

    def _measure_all(self, k: int) -> None:
        """`_measure` for every step of the only target: members have made just the rows that it asked for."""
        if not self.dying:
            return
        node = self.nodes[k]
        made = self._made_by(k)
        steps = np.arange(node.steps)
        rows_made = np.where(steps + 1 == node.steps, 1, 0) if node.accumulates else steps + 1
        for value in self.dying:
            low = np.full(node.steps, self.rows.height[value])
            for reader, edge in self.readers[value]:
                low = np.minimum(low, np.array(edge.low)[made[reader] - self._reads_first(k, reader, edge)])
            for out in node.outputs:
                distance = rows_made * self.rows.row_bytes[out] - low * self.rows.row_bytes[value]
                self.reach[value, out] = int(distance[rows_made > 0].max())

    def _made_by(self, k: int) -> list[Array]:
        """For each member, the steps it has made when step s of member k (the last) is made."""
        made: list[Array] = [np.zeros(self.nodes[k].steps, np.int64) for _ in self.nodes]
        made[k] = np.arange(1, self.nodes[k].steps + 1)
        order = [*range(len(self.nodes) - 1, -1, -1)]
        if self.nodes[-1].index < 0:
            order = [*order[1:], order[0]]
        for reader in order:
            for maker, last in self.asks[reader]:
                asked = np.maximum.accumulate(np.array((0, *last)))
                made[maker] = np.maximum(made[maker], asked[made[reader]])
        return made

    def _outside_needs(self) -> dict[int, list[int]]:
        """For each step of each target, the highest outside row that making it asks for, through all makers."""
        order = list(range(len(self.nodes)))
        if self.nodes[-1].index < 0:
            order = [order[-1], *order[:-1]]
        needs: dict[int, Array] = {}
        for k in order:
            node = self.nodes[k]
            need = np.arange(1, node.steps + 1) if node.index < 0 else np.zeros(node.steps, np.int64)
            makers = {id(last): maker for maker, last in self.asks[k]}
            for edge in node.edges:
                last = np.array(edge.last)
                if id(edge.last) in makers:
                    upstream = np.append([0], np.maximum.accumulate(needs[makers[id(edge.last)]]))
                    last = upstream[last]
                need = np.maximum(need, last)
            needs[k] = need
        return {k: needs[k].tolist() for k in self.targets}
