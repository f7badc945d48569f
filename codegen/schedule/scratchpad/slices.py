"""One group cut into slices of its output rows, one for each core, so that none waits for another.

What lies between two slices inside the group is made by both: the halo is computed again instead of passed on.  A slice
is a range of steps for every member, found backwards from the rows of the targets; the demand process then runs on it
as on the whole group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from codegen.records import record
from codegen.schedule.demand import Edge, NodeRows, Rows

Range = tuple[int, int]
"""Rows or steps from the first to before the last; (0, 0) when there are none."""
NONE: Range = (0, 0)


@record
class Slice:
    """A core's part of a group.

    `nodes` are the members with their steps; one with no steps does not run on this core.  `own` are the rows of each
    target's outputs that the core leaves in global memory.  `before` are, by member, the steps of the cores before it:
    what they make too is made again here.
    """

    nodes: tuple[NodeRows, ...]
    own: Mapping[str, Range]
    before: tuple[tuple[Range, ...], ...]


def cut(rows: Rows, members: Sequence[int], targets: Sequence[int], count: int) -> tuple[Slice, ...]:
    """The group in `count` slices, each with its share of every target's rows.

    All slices together make the rows that one core alone would: a member begins where another slice of it ends, also
    where nobody needs the rows between.
    """
    nodes = [rows.nodes[i] for i in members]
    shares = [{t: _share(rows.nodes[t].steps, c, count) for t in targets} for c in range(count)]
    ranges = [_ranges(nodes, share) for share in shares]
    for k in reversed(range(len(nodes))):
        _close_gaps(ranges, k)
        for c in range(count):
            _ask(nodes, ranges[c], k)
    found = []
    for c in range(count):
        cut_nodes = tuple(_narrow(node, *span) for node, span in zip(nodes, ranges[c], strict=True))
        own = {
            v: (shares[c][t] if not rows.nodes[t].accumulates else (0, rows.height[v]))
            for t in targets
            for v in rows.nodes[t].outputs
        }
        before = tuple(tuple(ranges[b][k] for b in range(c)) for k in range(len(nodes)))
        found.append(Slice(cut_nodes, own, before))
    return tuple(found)


def duplicated(rows: Rows, slices: Sequence[Slice]) -> bool:
    """Whether more than half of the input that slices read is read by another slice before, in bytes."""
    made = {v for node in slices[0].nodes for v in node.outputs}
    seen: dict[str, list[Range]] = {}
    total = twice = 0
    for part in slices:
        for value, span in _reads(part.nodes, made).items():
            row_bytes, others = rows.row_bytes[value], seen.setdefault(value, [])
            total += (span[1] - span[0]) * row_bytes
            twice += max((_common(span, other) for other in others), default=0) * row_bytes
            others.append(span)
    return 2 * twice > total


def _share(total: int, index: int, count: int) -> Range:
    return total * index // count, total * (index + 1) // count


def _ranges(nodes: Sequence[NodeRows], share: Mapping[int, Range]) -> list[Range]:
    """The steps of each member that the targets' shares ask for themselves."""
    return [share.get(node.index, NONE) for node in nodes]


def _ask(nodes: Sequence[NodeRows], ranges: list[Range], k: int) -> None:
    """Give the makers of what member k reads the steps that its own steps need."""
    first, stop = ranges[k]
    for edge in nodes[k].edges:
        for m in range(k):
            if edge.value in nodes[m].outputs and stop > first:
                ranges[m] = _joined(ranges[m], _needed(edge, first, stop))


def _needed(edge: Edge, first: int, stop: int) -> Range:
    """Rows of the edge's tensor that steps [first, stop) read."""
    low, last = min(edge.lowest[first:stop]), max(_asked(edge, first, stop))
    return (low, last) if last > low else NONE


def _asked(edge: Edge, first: int, stop: int) -> tuple[int, ...]:
    """How many rows must be there before each step: none where the step reads none."""
    pairs = zip(edge.last[first:stop], edge.lowest[first:stop], strict=True)
    return tuple(last if low < edge.low[-1] else 0 for last, low in pairs)


def _joined(a: Range, b: Range) -> Range:
    if a == NONE or b == NONE:
        return b if a == NONE else a
    return min(a[0], b[0]), max(a[1], b[1])


def _close_gaps(ranges: Sequence[list[Range]], k: int) -> None:
    """Let member k's first step be one of some slice, and every slice begin where others have come to, or before."""
    reached = 0
    for part in sorted((r for r in ranges if r[k] != NONE), key=lambda r: r[k]):
        part[k] = (min(part[k][0], reached), part[k][1])
        reached = max(reached, part[k][1])


def _narrow(node: NodeRows, first: int, stop: int) -> NodeRows:
    return replace(node, start=first, steps=stop, edges=tuple(_narrow_edge(e, first, stop) for e in node.edges))


def _narrow_edge(edge: Edge, first: int, stop: int) -> Edge:
    """The edge as steps [first, stop) see it; what comes before asks for nothing."""
    rows = edge.low[-1]
    low = [*accumulate(reversed((*edge.lowest[first:stop], rows)), min)][::-1]
    before = (low[0],) * first
    return replace(
        edge,
        last=(0,) * first + _asked(edge, first, stop),
        low=(*before, *low),
        lowest=(rows,) * first + edge.lowest[first:stop],
    )


def _reads(nodes: Sequence[NodeRows], made: set[str]) -> dict[str, Range]:
    """Rows of each outside tensor that a slice reads."""
    found: dict[str, Range] = {}
    for node in nodes:
        for edge in node.edges:
            if edge.value not in made and node.steps > node.start:
                found[edge.value] = _joined(found.get(edge.value, NONE), _needed(edge, node.start, node.steps))
    return found


def _common(a: Range, b: Range) -> int:
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))
