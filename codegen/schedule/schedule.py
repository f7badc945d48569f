"""The choice: which point of the memory/time front becomes the Plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

from codegen.errors import StreamImpossible
from codegen.ir.graph import Graph
from codegen.ir.plan import FrontPoint, NodeNeeds, Plan
from codegen.schedule.fits import limit_unreachable
from codegen.schedule.groups import Grouping, Label
from codegen.schedule.planner import BALANCED, Placed, place, to_plan, view_roots

Optimize = Literal["memory", "balanced", "speed"]
OPTIMIZE: tuple[Optimize, ...] = get_args(Optimize)


def schedule(
    graph: Graph,
    needs: Mapping[int, NodeNeeds],
    *,
    arena_align: int,
    optimize: Optimize = "balanced",
    arena_limit: int | None = None,
    stream_input: bool = False,
) -> Plan:
    """Groups and addresses for a graph.

    Args:
        graph: the network.
        needs: what each node's kernel needs, by node index; nodes without an entry are views.
        arena_align: alignment of the arena.
        optimize: which plan to take where no limit decides: the smallest, the fastest, or the fastest near it.
        arena_limit: bytes the arena may have; then the fastest plan within it.
        stream_input: rows of the input come one by one.

    Raises:
        ArenaLimitUnreachable: LAM-SCHEDULE-303, no plan is that small.
        StreamImpossible: LAM-SCHEDULE-304, the input cannot be taken row by row.
    """
    streamed = _streamed_input(graph) if stream_input else ""
    views = frozenset(i for i in range(len(graph.nodes)) if i not in needs)
    grouping = Grouping(graph, needs, view_roots(graph, views), streamed)
    labels = grouping.front
    if not labels:
        raise StreamImpossible("the input is read as a whole, or again after the first group", where=streamed)
    chosen = _choose(grouping, labels, optimize, arena_limit)
    front = [FrontPoint(x.peak, round(x.time, 1), _groups(grouping, x), x is chosen.label) for x in labels]
    return to_plan(grouping, chosen, front, arena_align)


def _groups(grouping: Grouping, label: Label) -> int:
    """Groups with code; views are none."""
    return sum(c.start in grouping.needs for c in label.groups())


def _streamed_input(graph: Graph) -> str:
    if len(graph.inputs) != 1:
        raise StreamImpossible(f"the network has {len(graph.inputs)} inputs; one can be streamed", where=graph.name)
    return graph.inputs[0].value


def _choose(grouping: Grouping, labels: Sequence[Label], optimize: Optimize, limit: int | None) -> Placed:
    """The placed plan that the options ask for; labels come least memory first."""
    if limit is not None:
        return _within(grouping, labels, limit)
    if optimize == "speed":
        return place(grouping, labels[-1])
    smallest = _smallest(grouping, labels)
    if optimize == "memory":
        return smallest
    fast = _fitting(grouping, labels, int(smallest.packing.bytes * BALANCED))
    return next(fast, smallest)


def _within(grouping: Grouping, labels: Sequence[Label], limit: int) -> Placed:
    found = next(_fitting(grouping, labels, limit), None)
    if found is not None:
        return found
    smallest = _smallest(grouping, labels)
    if smallest.packing.bytes <= limit:
        return smallest
    raise limit_unreachable(to_plan(grouping, smallest, (), 1), limit)


def _fitting(grouping: Grouping, labels: Sequence[Label], limit: int) -> Iterator[Placed]:
    """Plans within the limit, fastest first."""
    for label in reversed(labels):
        if label.peak <= limit:
            placed = place(grouping, label)
            if placed.packing.bytes <= limit:
                yield placed


def _smallest(grouping: Grouping, labels: Sequence[Label]) -> Placed:
    """The smallest real arena: labels are tried by rising peak until none can beat the best."""
    best: Placed | None = None
    for label in labels:
        if best is not None and label.peak >= best.packing.bytes:
            break
        placed = place(grouping, label)
        if best is None or placed.packing.bytes < best.packing.bytes:
            best = placed
    assert best is not None
    return best
