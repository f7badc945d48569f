"""The order of operators: least peak of live bytes when each runs alone.

Dynamic programming over down-sets (sets of operators that contain all their makers): of all ways to have run the same
set, only the one with the least peak matters.  Where the network narrows to one tensor there is one set, so the search
is exact between such points while fewer sets of one size are open than the search may follow; beyond that it keeps the
best of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.graph import Graph
from codegen.records import record

WIDTH = 128
"""Sets of one size that are followed at most."""
WORK = 8_000
"""Sets of one size times operators: a large network is searched more narrowly."""


@record
class _State:
    """A set of operators that have run, `last` the last of them: peak so far, and bytes live now."""

    peak: int
    live: int
    last: int | None
    before: _State | None


class _Facts:
    """Sizes and readers by memory, for one graph; views run for free and pass their source's readers on."""

    def __init__(self, graph: Graph, views: frozenset[int]) -> None:
        self.nodes = graph.nodes
        self.roots = {v.name: v.name for v in graph.values.values() if not v.is_const}
        for i in sorted(views):
            node = graph.nodes[i]
            self.roots[node.outputs[0]] = self.roots[node.inputs[0]]
        self.size = {root: graph.type(root).bytes for root in self.roots.values()}
        made = {out: 1 << i for i, node in enumerate(graph.nodes) for out in node.outputs}
        self.needs = [sum({made[i] for i in node.inputs if i in made}) for node in graph.nodes]
        self.reads = [{self.roots[i] for i in node.inputs if i in self.roots} for node in graph.nodes]
        self.writes = [
            {self.roots[o] for o in node.outputs} - ({self.roots[node.inputs[0]]} if i in views else set())
            for i, node in enumerate(graph.nodes)
        ]
        kept = {self.roots[name] for name in (*graph.output_values, *(state.value for state in graph.states))}
        self.readers = {
            root: -1 if root in kept else sum(1 << i for i, read in enumerate(self.reads) if root in read)
            for root in self.size
        }
        self.start = sum(self.size[self.roots[name]] for name in graph.source_values)

    def run(self, done: int, state: _State, i: int) -> _State:
        """The state after operator i has run too."""
        during = state.live + sum(self.size[root] for root in self.writes[i])
        after = done | 1 << i
        dead = [r for r in self.reads[i] | self.writes[i] if self.readers[r] >= 0 and not self.readers[r] & ~after]
        return _State(max(state.peak, during), during - sum(self.size[r] for r in dead), i, state)


def order_nodes(graph: Graph, views: frozenset[int]) -> Graph:
    """The graph with its nodes in the best order found; itself when no order has a lower peak.

    Args:
        graph: nodes in any runnable order.
        views: nodes that only rename memory.
    """
    facts = _Facts(graph, views)
    now = _State(facts.start, facts.start, None, None)
    done = 0
    for i in range(len(graph.nodes)):
        now = facts.run(done, now, i)
        done |= 1 << i
    best = _search(facts)
    if best.peak >= now.peak:
        return graph
    return graph.with_nodes(graph.nodes[i] for i in _path(best))


def _search(facts: _Facts) -> _State:
    """The best state in which every operator has run."""
    layer: dict[int, _State] = {0: _State(facts.start, facts.start, None, None)}
    for _ in facts.nodes:
        following: dict[int, _State] = {}
        for done, state in layer.items():
            for i in _ready(facts, done):
                after = done | 1 << i
                found = facts.run(done, state, i)
                old = following.get(after)
                if old is None or (found.peak, found.live) < (old.peak, old.live):
                    following[after] = found
        layer = _narrowed(following, min(WIDTH, max(1, WORK // len(facts.nodes))))
    (best,) = layer.values()
    return best


def _ready(facts: _Facts, done: int) -> list[int]:
    return [i for i, needs in enumerate(facts.needs) if not done >> i & 1 and not needs & ~done]


def _narrowed(layer: dict[int, _State], width: int) -> dict[int, _State]:
    if len(layer) <= width:
        return layer
    ranked = sorted(layer.items(), key=lambda item: (item[1].peak, item[1].live, item[0]))
    return dict(ranked[:width])


def _path(state: _State) -> Sequence[int]:
    found: list[int] = []
    at: _State | None = state
    while at is not None and at.last is not None:
        found.append(at.last)
        at = at.before
    return found[::-1]
