"""Minimum cut of a small directed graph (Edmonds and Karp, J. ACM 19(2), 1972)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

Point = tuple[str, ...]
Arc = tuple[Point, Point, int]

SOURCE: Point = ("source",)
SINK: Point = ("sink",)


def min_cut(arcs: Iterable[Arc]) -> tuple[int, frozenset[Point]]:
    """Capacity of the cheapest cut between SOURCE and SINK, and the fewest points that can be on SOURCE's side.

    Args:
        arcs: (from, to, capacity), capacities integers of any size.  An arc is cut when `from` is on SOURCE's
            side and `to` is not.
    """
    residual: dict[Point, dict[Point, int]] = {SOURCE: {}, SINK: {}}
    for tail, head, capacity in arcs:
        forward = residual.setdefault(tail, {})
        forward[head] = forward.get(head, 0) + capacity
        residual.setdefault(head, {}).setdefault(tail, 0)
    flow = 0
    while True:
        parents = _search(residual)
        if SINK not in parents:
            return flow, frozenset(parents)
        flow += _augment(residual, parents)


def _search(residual: dict[Point, dict[Point, int]]) -> dict[Point, Point]:
    """Points that SOURCE reaches, each with its parent on a shortest path; stops at SINK."""
    parents: dict[Point, Point] = {SOURCE: SOURCE}
    queue: deque[Point] = deque([SOURCE])
    while queue and SINK not in parents:
        tail = queue.popleft()
        for head, capacity in residual[tail].items():
            if capacity > 0 and head not in parents:
                parents[head] = tail
                queue.append(head)
    return parents


def _augment(residual: dict[Point, dict[Point, int]], parents: dict[Point, Point]) -> int:
    """Push as much as the path to SINK takes."""
    steps: list[tuple[Point, Point]] = []
    head = SINK
    while head != SOURCE:
        steps.append((parents[head], head))
        head = parents[head]
    amount = min(residual[tail][head] for tail, head in steps)
    for tail, head in steps:
        residual[tail][head] -= amount
        residual[head][tail] += amount
    return amount
