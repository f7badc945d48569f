"""Which neighbours of the order run together: a prefix dynamic program over groups, with the whole memory/time front.

A candidate group is an interval of the order.  Its memory is that of everything alive while it runs: tensors that
pass by, its outside inputs and outputs whole, its inner tensors as rings, scratch; a dying input and an output share
bytes down to the row.  Labels of a prefix are the Pareto-optimal pairs (peak memory, time).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain

from codegen.ir.graph import Graph
from codegen.ir.plan import NodeNeeds
from codegen.records import record
from codegen.schedule.cost import alone, grouped
from codegen.schedule.demand import Flow, Flows, Process, Rows, backwards_distance
from codegen.schedule.states import renewals

LONGEST = 48
"""Nodes in one group at most."""
LABELS = 48
"""Labels kept per prefix."""
_NOT_POSSIBLE = 1 << 62
PATIENCE = 12
"""Nodes by which a group may go on growing although it needs as much memory as running every node alone."""


@record
class Pair:
    """A tensor that dies in a group, and one that grows over it there.

    The output's start is kept `below` bytes under the other's, or, where its last rows may be made first, `above` bytes
    over it.  `saved` of their bytes, at most, are common ones.
    """

    dying: str
    output: str
    below: int
    above: int | None
    saved: int


@record
class Candidate:
    """One interval [start, stop) of the order as a group: its flow, memory while it runs (bytes) and time."""

    start: int
    stop: int
    flow: Flow
    shared: tuple[Pair, ...]
    memory: int
    time: float


@record
class Label:
    """One way to run a prefix of the order."""

    peak: int
    time: float
    last: Candidate | None
    before: Label | None

    def groups(self) -> tuple[Candidate, ...]:
        """The groups in order."""
        found: list[Candidate] = []
        label: Label | None = self
        while label is not None and label.last is not None:
            found.append(label.last)
            label = label.before
        return tuple(reversed(found))


class Grouping:
    """The candidates and the front of one order of a graph.

    Args:
        graph: the network, its nodes in the order to run.
        needs: by node index; a node without an entry is a view.
        roots: the value that owns each value's memory (views share); states that are renewed in place are added to it.
        streamed: the input whose rows come one by one, or "".
        buffer: bytes that the parameters of several nodes may have together; None for any.
        outside: the input that lies in memory of the caller's, or "".
        flows: what other orders of the network know already.
    """

    def __init__(
        self,
        graph: Graph,
        needs: Mapping[int, NodeNeeds],
        roots: Mapping[str, str],
        streamed: str,
        buffer: int | None = None,
        outside: str = "",
        flows: Flows | None = None,
    ) -> None:
        """Collect lifetimes; the dynamic program runs on demand."""
        self.graph = graph
        self.needs = needs
        self.streamed = streamed
        self.buffer = buffer
        whole = frozenset(i for i in range(len(graph.nodes)) if i not in needs or needs[i].whole)
        self.rows = Rows(graph, whole, frozenset(i for i in needs if needs[i].in_place))
        self.renewals = renewals(graph, roots, whole)
        homes = {renewal.new: renewal.home for renewal in self.renewals}
        self.roots = roots = {name: homes.get(root, root) for name, root in roots.items()}
        self.outside = outside and roots[outside]
        sources = (roots[value] for value in graph.source_values)
        self.born: dict[str, int | None] = {root: None for root in sources if root != self.outside}
        self.last: dict[str, int] = {}
        for step, node in enumerate(graph.nodes):
            for name in node.outputs:
                if roots[name] != self.outside:
                    self.born.setdefault(roots[name], step)
            for name in (*node.inputs, *node.outputs):
                if name in roots:
                    self.last[roots[name]] = step
        for name in (*graph.output_values, *(state.value for state in graph.states)):
            self.last[roots[name]] = len(graph.nodes)
        self.size = {root: max(graph.type(v).bytes for v, r in roots.items() if r == root) for root in self.born}
        self._flows = flows or Flows()

    @cached_property
    def alone(self) -> Mapping[int, Candidate]:
        """Each node as a group of its own."""
        return {i: self._candidate(i, i + 1) for i in self.needs if not self._must_stream(i, i + 1)}

    @cached_property
    def moved(self) -> dict[str, int]:
        """By tensor that owns memory, the bytes of rows that kernel calls are given and make.

        At the border, what the caller writes and reads too.  The same in every plan; rows that nobody needs count.
        """
        found = dict.fromkeys([*self.born, self.outside], 0)
        for face in (*self.graph.inputs, *self.graph.outputs):
            found[self.roots[face.value]] += self.graph.type(face.value).bytes
        for i, needs in self.needs.items():
            node = self.rows.nodes[i]
            for edge in node.edges:
                rows = self.rows.height[edge.value] if needs.whole else edge.reads
                found[self.roots[edge.value]] += rows * self.rows.row_bytes[edge.value]
            for name in node.outputs:
                found[self.roots[name]] += self.graph.type(name).bytes
        del found[self.outside]
        return found

    @cached_property
    def useless(self) -> int:
        """Bytes that no group of several nodes may need: every node alone needs no more, and is faster."""
        if self.streamed:
            whole = Grouping(self.graph, self.needs, self.roots, "", self.buffer, flows=self._flows)
            return whole.useless
        return max((c.memory for c in self.alone.values()), default=0)

    @cached_property
    def floor(self) -> int:
        """Bytes that every plan needs: the inputs in the arena, and each node that can only run alone."""
        lonely = (i for i in self.needs if self.rows.nodes[i].barrier)
        held = (self.roots[name] for name in self.graph.source_values if name != self.streamed)
        inputs = sum(self.size[root] for root in held if root != self.outside)
        return max([inputs, *(self.alone[i].memory for i in lonely if i in self.alone)])

    @cached_property
    def front(self) -> tuple[Label, ...]:
        """Pareto-optimal ways to run the whole network, least memory first."""
        labels: list[tuple[Label, ...]] = [(Label(0, 0.0, None, None),)]
        arriving: list[list[Label]] = [[] for _ in range(len(self.graph.nodes) + 1)]
        for start in range(len(self.graph.nodes)):
            for candidate in self._begun[start]:
                arriving[candidate.stop] += [
                    Label(max(b.peak, candidate.memory), b.time + candidate.time, candidate, b) for b in labels[start]
                ]
            labels.append(_pareto(arriving[start + 1]))
        return labels[-1]

    def least_from(self, start: int) -> Sequence[int]:
        """By node, the bytes that those from `start` on before it need at least."""
        found = [_NOT_POSSIBLE] * (len(self.graph.nodes) + 1)
        found[start] = 0
        for at in range(start, len(self.graph.nodes)):
            for candidate in self._begun[at]:
                found[candidate.stop] = min(found[candidate.stop], max(found[at], candidate.memory))
        return found

    @cached_property
    def _begun(self) -> Sequence[tuple[Candidate, ...]]:
        """By node, the groups that begin there."""
        return [tuple(self._candidates(start)) for start in range(len(self.graph.nodes))]

    def _candidates(self, start: int) -> Iterator[Candidate]:
        """Groups that begin at `start`, shortest first."""
        if start not in self.needs:
            if not self._must_stream(start, start + 1):
                yield Candidate(start, start + 1, Flow({}, {}, ()), (), 0, 0.0)
            return
        if start in self.alone:
            yield self.alone[start]
        first = self.rows.nodes[start]
        ends = self.graph.nodes[start].name in self._flows.ends
        if not (first.barrier or first.accumulates or ends):
            yield from self._longer(start)

    def _longer(self, start: int) -> Iterator[Candidate]:
        """Groups of two nodes and more."""
        patience, parts = PATIENCE, _Parts()
        parts.add(self._held[start])
        for stop in range(start + 2, min(start + LONGEST, len(self.graph.nodes)) + 1):
            newest = stop - 1
            parts.add(self._held[newest])
            if newest not in self.needs or self.rows.nodes[newest].barrier or patience == 0:
                return
            if self._overflows(start, stop):
                return
            if any(renewal.parts(start, newest) for renewal in self.renewals):
                return
            if self._may_gain(start, stop) and not self._must_stream(start, stop) and parts.count == 1:
                least, most = self._least(start, stop), self._most(start, stop)
                candidate = self._candidate(start, stop) if least < most else None
                useful = (candidate.memory if candidate else least) < self.useless
                patience = PATIENCE if useful else patience - 1
                if candidate and candidate.memory < most:
                    yield candidate
            if self.rows.nodes[newest].accumulates or self.graph.nodes[newest].name in self._flows.ends:
                return

    def _overflows(self, start: int, stop: int) -> bool:
        """Whether the parameters of the group exceed what the buffer holds."""
        return self.buffer is not None and sum(self.needs[i].params_bytes for i in range(start, stop)) > self.buffer

    def _may_gain(self, start: int, stop: int) -> bool:
        """Whether some member alone needs more than every plan does."""
        return any(i not in self.alone or self.alone[i].memory > self.floor for i in range(start, stop))

    def _most(self, start: int, stop: int) -> int:
        """Bytes that the group must stay below: its nodes one by one need no more, and are faster."""
        lonely = [self.alone[i].memory for i in range(start, stop) if i in self.alone]
        return max(lonely) if len(lonely) == stop - start else self.useless

    def _least(self, start: int, stop: int) -> int:
        """Bytes that the group needs at least, told without its demand process, which most groups are spared.

        A ring has the rows that each of its readers alone asks for, or none where rows may be made in its place; a pair
        that shares saves the smaller one at most.
        """
        inner, outputs = self._inside(start, stop)
        windows: dict[str, int] = {}
        for edge in (e for i in range(start, stop) for e in self.rows.nodes[i].edges):
            own = 0 if edge.in_place and edge.window == 1 else edge.window
            windows[edge.value] = max(windows.get(edge.value, 0), own)
        rings = sum(windows.get(v, 0) * self.rows.row_bytes[v] for v in inner)
        dying = sorted((self.size[r] for r in {self.roots[n] for n in self._dying(start, stop)}), reverse=True)
        born = sorted((self.size[r] for r in outputs), reverse=True)
        saved = sum(min(pair) for pair in zip(dying, born, strict=False))
        return self._passing(start, outputs) - saved + rings + self._scratch(start, stop)

    def _must_stream(self, start: int, stop: int) -> bool:
        """Whether the streamed input forbids this group: a reader is left outside, or wants it whole or renamed."""
        if not self.streamed or start != 0:
            return False
        root = self.roots[self.streamed]
        readers = [i for i in range(stop) if any(self.roots.get(n) == root for n in self.graph.nodes[i].inputs)]
        return self.last.get(root, -1) >= stop or any(self.rows.nodes[i].barrier for i in readers)

    def _connected(self, start: int, stop: int) -> bool:
        """Whether the members hang together by tensors made or read inside."""
        parts = _Parts()
        for i in range(start, stop):
            parts.add(self._held[i])
        return parts.count == 1

    @cached_property
    def _held(self) -> Sequence[tuple[str, ...]]:
        """By node, the memory of the tensors that it reads and makes."""
        named = ((*node.inputs, *node.outputs) for node in self.graph.nodes)
        return [tuple(self.roots[n] for n in names if n in self.roots) for names in named]

    @cached_property
    def _read(self) -> Sequence[tuple[str, ...]]:
        """By node, the tensors of the arena that it reads."""
        outside = self.outside
        return [tuple(n for n in node.inputs if self.roots.get(n, outside) != outside) for node in self.graph.nodes]

    def _candidate(self, start: int, stop: int) -> Candidate:
        members = range(start, stop)
        inner, outputs = self._inside(start, stop)
        targets = [i for i in members if any(self.roots[o] in outputs for o in self.graph.nodes[i].outputs)]
        if not targets:
            targets = [stop - 1]
        dying = self._dying(start, stop)
        streamed = self.streamed if start == 0 else ""
        flow = self._flow(members, targets, streamed, frozenset(dying) - {streamed})
        shared = self._share(flow, outputs, self._backwards(start, stop))
        memory = self._passing(start, outputs) - sum(pair.saved for pair in shared)
        memory += sum(flow.rings.get(v, 0) * self.rows.row_bytes[v] for v in (*inner, streamed) if v)
        memory += self._scratch(start, stop)
        return Candidate(start, stop, flow, shared, memory, self._time(members))

    def _flow(self, members: range, targets: Sequence[int], streamed: str, dying: frozenset[str]) -> Flow:
        """The demand process of the group, run once for all groups that look alike."""
        if len(members) == 1 and not streamed and not dying:
            (node,) = (self.rows.nodes[i] for i in members)
            return Flow({}, {}, ((node.index, node.steps),))
        names, key = self._likeness(members, targets, streamed, dying)
        known = self._flows.known
        if key not in known:
            flow = Process(self.rows, members, targets, streamed, dying).run()
            known[key] = _renamed(flow, {name: str(k) for k, name in enumerate(names)}, -members.start)
        back = {str(k): name for k, name in enumerate(names)}
        return _renamed(known[key], back, members.start)

    def _likeness(
        self, members: range, targets: Sequence[int], streamed: str, dying: frozenset[str]
    ) -> tuple[list[str], object]:
        """The group's tensors in order, and what decides its flow when they are called by number.

        How long rows are counts for those that die and what may lie over them; of others, which are equally long.
        """
        number: dict[str, int] = {streamed: 0}
        described: list[object] = [self.rows.height[streamed] if streamed else 0]
        for i in members:
            node = self.rows.nodes[i]
            edges = tuple((number.setdefault(e.value, len(number)), self._flows.kind(e)) for e in node.edges)
            outs = tuple(number.setdefault(v, len(number)) for v in node.outputs)
            described.append((node.steps, node.accumulates, edges, outs, i in targets))
        over = {v for i in targets for v in self.rows.nodes[i].outputs} | dying if dying else dying
        ranks: dict[int, int] = {}
        sizes = tuple(
            (
                ranks.setdefault(self.rows.row_bytes[n], len(ranks)),
                self.rows.row_bytes[n] if n in over else 0,
                self.rows.height[n],
                n in dying,
            )
            for n in number
            if n
        )
        return list(number), (tuple(described), sizes)

    def _inside(self, start: int, stop: int) -> tuple[list[str], set[str]]:
        """Tensors that live inside only, and the memory of those that live on."""
        made = [o for i in range(start, stop) for o in self.graph.nodes[i].outputs]
        outputs = {self.roots[o] for o in made if self.last[self.roots[o]] >= stop}
        return [o for o in made if self.roots[o] not in outputs], outputs

    def _dying(self, start: int, stop: int) -> list[str]:
        """Tensors of the arena, made before, that the group is the last to read."""
        read = dict.fromkeys(chain.from_iterable(self._read[start:stop]))
        return [n for n in read if self._before(self.roots[n], start) and self.last[self.roots[n]] < stop]

    def _before(self, root: str, start: int) -> bool:
        """Whether the memory holds something before node `start` runs."""
        born = self.born[root]
        return born is None or born < start

    def _passing(self, start: int, outputs: set[str]) -> int:
        """Bytes of whole tensors alive while the group runs: passing by, read, and left behind."""
        return self._waiting[start] + sum(self.size[r] for r in outputs if not self._before(r, start))

    @cached_property
    def _waiting(self) -> Sequence[int]:
        """By node, the bytes of whole tensors that are there before it runs and still needed; not a streamed input."""
        change = [0] * (len(self.graph.nodes) + 2)
        for root, born in self.born.items():
            first = 0 if born is None else born + 1
            first = 1 if self.streamed and root == self.roots[self.streamed] else first
            last = self.last.get(root, -1)
            if first <= last:
                change[first] += self.size[root]
                change[last + 1] -= self.size[root]
        return list(accumulate(change))

    def _backwards(self, start: int, stop: int) -> Mapping[str, int]:
        """By memory that a layer alone reads, how far above it the output must begin if its last rows are made first.

        Empty where they cannot be.
        """
        needs, node = self.needs[start], self.rows.nodes[start]
        whole = node.barrier or len(node.outputs) > 1 or node.steps < 2
        comes = bool(self.streamed) and start == 0
        if stop - start > 1 or whole or comes or not needs.by_rows or self.buffer is not None:
            return {}
        read = {self.roots[edge.value] for edge in node.edges}
        return {root: backwards_distance(node, root, self.roots, self.rows.row_bytes) for root in read}

    def _share(self, flow: Flow, outputs: set[str], backwards: Mapping[str, int]) -> tuple[Pair, ...]:
        """What shares memory, each tensor in one pair at most."""
        gaps: dict[tuple[str, str], int] = {}
        for (value, out), gap in flow.gaps.items():
            pair = (self.roots[value], out)  # readers under several names of one memory all count
            gaps[pair] = max(gaps.get(pair, 0), gap)
        options: list[Pair] = []
        for (value, out), gap in gaps.items():
            if self.roots[out] in outputs and self.born[self.roots[out]] is not None:
                inside, outside = self.size[value], self.size[self.roots[out]]
                below, above = min(-(-gap // 4) * 4, outside), inside
                if self.roots[value] in backwards:
                    above = min(-(-backwards[self.roots[value]] // 4) * 4, inside)
                saved = inside + outside - min(max(below + inside, outside), max(above + outside, inside))
                if saved > 0 and value != self.roots[out]:
                    options.append(Pair(value, out, below, above if above < inside else None, saved))
        chosen: list[Pair] = []
        for option in sorted(options, key=lambda o: (-o.saved, o.dying, o.output)):
            used = {self.roots[n] for other in chosen for n in (other.dying, other.output)}
            if not used & {self.roots[option.dying], self.roots[option.output]}:
                chosen.append(option)
        return tuple(chosen)

    def scratch_sizes(self, start: int, stop: int) -> dict[int, int]:
        """Bytes of scratch by node, of those that need any; views need none."""
        members = [i for i in range(start, stop) if i in self.needs]
        sizes = {i: self.needs[i].scratch(len(members)) for i in members}
        return {i: size for i, size in sizes.items() if size}

    def _scratch(self, start: int, stop: int) -> int:
        sizes = self.scratch_sizes(start, stop)
        once = (size for i, size in sizes.items() if not self.needs[i].keeps)
        return max(once, default=0) + sum(size for i, size in sizes.items() if self.needs[i].keeps)

    def _time(self, members: range) -> float:
        if len(members) == 1:
            return alone(self.needs[members[0]], self.rows.nodes[members[0]].steps)
        steps = ((self.needs[i], self.rows.nodes[i].steps, members[-1] - i + 1) for i in members)
        return sum(grouped(needs, count, depth) for needs, count, depth in steps)


class _Parts:
    """Members of a group that grows, as far as they hang together by the memory of their tensors."""

    def __init__(self) -> None:
        """No member yet."""
        self.count = 0
        self._parent: list[int] = []
        self._first: dict[str, int] = {}

    def add(self, held: Sequence[str]) -> None:
        """One more member, and the memory that it reads and writes."""
        newest = len(self._parent)
        self._parent.append(newest)
        self.count += 1
        for memory in held:
            one, other = self._find(newest), self._find(self._first.setdefault(memory, newest))
            if one != other:
                self._parent[one] = other
                self.count -= 1

    def _find(self, member: int) -> int:
        while self._parent[member] != member:
            member = self._parent[member]
        return member


def _renamed(flow: Flow, names: Mapping[str, str], shift: int) -> Flow:
    """The flow with other names for its tensors, and its nodes counted from elsewhere."""
    return Flow(
        {names[v]: n for v, n in flow.rings.items()},
        {(names[a], names[b]): d for (a, b), d in flow.gaps.items()},
        tuple((node + shift, steps) for node, steps in flow.pulls),
        {names[v]: names[home] for v, home in flow.homes.items()},
    )


def _pareto(labels: Sequence[Label]) -> tuple[Label, ...]:
    """The labels that no other one beats in both, least memory first; thinned evenly beyond LABELS."""
    best: list[Label] = []
    for label in sorted(labels, key=lambda x: (x.peak, x.time)):
        if not best or label.time < best[-1].time:
            best.append(label)
    if len(best) <= LABELS:
        return tuple(best)
    picked = {round(i * (len(best) - 1) / (LABELS - 1)) for i in range(LABELS)}
    return tuple(best[i] for i in sorted(picked))
