"""One group's order of rows, recorded: which rows every step of the sinks needs, makes and frees.

The demand process of schedule/demand.py, played through row by row and written down, and summed per pull, so that
time steps of any number of rows can be read off without playing it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.ir.quant import Array
from codegen.schedule.demand import Rows


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """An outside tensor, per pull: rows that must be there, lowest row that this or a later pull reads."""

    need: Array
    low: Array


@dataclass(frozen=True, slots=True, eq=False)
class Making:
    """A tensor that leaves the group, per pull: rows made after it, lowest row that members still read in it."""

    made: Array
    low: Array


@dataclass(frozen=True, slots=True, eq=False)
class GroupFlow:
    """What a run of the group shows.

    `events` are (place in members, step) in order; pull p covers those before `cuts[p]` that no earlier one does.
    `rings` are the rows kept of each inner tensor.
    """

    members: tuple[int, ...]
    events: tuple[tuple[int, int], ...]
    cuts: Array
    targets: int
    inputs: Mapping[str, Reading]
    outputs: Mapping[str, Making]
    rings: Mapping[str, int]


class _Play:
    """Pulls the targets to their ends, always the one whose next row needs the least outside rows."""

    def __init__(self, rows: Rows, members: Sequence[int]) -> None:
        """Wire the members to the makers of what they read."""
        self.nodes = [rows.nodes[i] for i in members]
        maker = {out: k for k, node in enumerate(self.nodes) for out in node.outputs}
        self.asks = [tuple((maker[e.value], e.last) for e in node.edges if e.value in maker) for node in self.nodes]
        self.kept: list[list[tuple[str, list[tuple[int, Sequence[int]]]]]] = [[] for _ in self.nodes]
        for value, k in maker.items():
            readers: list[tuple[int, Sequence[int]]] = [
                (r, e.low) for r, node in enumerate(self.nodes) for e in node.edges if e.value == value
            ]
            if readers:
                self.kept[k].append((value, readers))
        self.done = [0] * len(self.nodes)
        self.rings: dict[str, int] = {}
        self.events: list[tuple[int, int]] = []
        self.cuts: list[int] = []

    def run(self, targets: Sequence[int]) -> None:
        """All rows of all targets."""
        needs = self._outside_needs() if len(targets) > 1 else {}
        while True:
            waiting = [k for k in targets if self.done[k] < self.nodes[k].steps]
            if not waiting:
                return
            k = min(waiting, key=lambda t: (needs[t][self.done[t]], -t)) if needs else waiting[0]
            self._advance(k, self.done[k] + 1)
            self.cuts.append(len(self.events))

    def _advance(self, k: int, upto: int) -> None:
        done, asks = self.done, self.asks[k]
        while done[k] < upto:
            step = done[k]
            for maker, last in asks:
                if done[maker] < last[step]:
                    self._advance(maker, last[step])
            done[k] = step + 1
            self.events.append((k, step))
            for value, readers in self.kept[k]:
                ring = step + 1 - min(low[done[reader]] for reader, low in readers)
                if ring > self.rings.get(value, 1):
                    self.rings[value] = ring

    def _outside_needs(self) -> dict[int, list[int]]:
        """For each step of each member, the highest outside row that making it asks for, through all makers."""
        needs: dict[int, Array] = {}
        for k, node in enumerate(self.nodes):
            inside = {id(last): maker for maker, last in self.asks[k]}
            need = np.zeros(node.steps, np.int64)
            for edge in node.edges:
                last = np.array(edge.last)
                if id(edge.last) in inside:
                    upstream = np.append([0], np.maximum.accumulate(needs[inside[id(edge.last)]]))
                    last = upstream[last]
                need = np.maximum(need, last)
            needs[k] = need
        return {k: need.tolist() for k, need in needs.items()}


def record(rows: Rows, members: Sequence[int], targets: Sequence[int], *, whole: bool) -> GroupFlow:
    """Run the group; `whole` is for a single node whose kernel makes its output in one call."""
    if whole:
        return _whole(rows, members)
    play = _Play(rows, members)
    place = {node: k for k, node in enumerate(members)}
    play.run([place[t] for t in targets])
    cuts = np.array(play.cuts)
    done = _progress(play.events, cuts, len(members))
    made_by = {v: k for k, i in enumerate(members) for v in rows.nodes[i].outputs}
    outputs = {v: made_by[v] for t in targets for v in rows.nodes[t].outputs}
    outside = {e.value for i in members for e in rows.nodes[i].edges if e.value not in made_by}
    return GroupFlow(
        members=tuple(members),
        events=tuple(play.events),
        cuts=cuts,
        targets=len(targets),
        inputs={v: _reading(rows, members, done, v) for v in sorted(outside)},
        outputs={v: Making(_made(rows, members[k], done[k]), _low(rows, members, done, v)) for v, k in outputs.items()},
        rings={v: play.rings.get(v, 1) for kept in play.kept for v, _ in kept if v not in outputs},
    )


def _whole(rows: Rows, members: Sequence[int]) -> GroupFlow:
    (index,) = members
    node = rows.nodes[index]
    one = np.ones(1, np.int64)
    inputs = {e.value: Reading(one * rows.height[e.value], one * 0) for e in node.edges}
    outputs = {v: Making(one * rows.height[v], one * rows.height[v]) for v in node.outputs}
    return GroupFlow((index,), ((0, 0),), one, 1, inputs, outputs, {})


def _progress(events: Sequence[tuple[int, int]], cuts: Array, members: int) -> Array:
    """Steps each member has made after each pull: [member, pull]."""
    who = np.array([k for k, _ in events])
    return np.stack([np.cumsum(who == k)[cuts - 1] for k in range(members)])


def _reading(rows: Rows, members: Sequence[int], done: Array, value: str) -> Reading:
    need = np.zeros(done.shape[1], np.int64)
    for k, index in enumerate(members):
        for edge in rows.nodes[index].edges:
            if edge.value == value:
                last = np.maximum.accumulate(np.append([0], np.array(edge.last, np.int64)))
                need = np.maximum(need, last[done[k]])
    return Reading(need, _low(rows, members, done, value))


def _low(rows: Rows, members: Sequence[int], done: Array, value: str) -> Array:
    """Lowest row of a tensor that members read in each pull or later; its height when none does."""
    low = np.full(done.shape[1], rows.height[value], np.int64)
    for k, index in enumerate(members):
        before = np.append([0], done[k][:-1])
        for edge in rows.nodes[index].edges:
            if edge.value == value:
                low = np.minimum(low, np.array(edge.low, np.int64)[before])
    return low


def _made(rows: Rows, index: int, done: Array) -> Array:
    node = rows.nodes[index]
    if node.accumulates:
        return np.where(done == node.steps, rows.height[node.outputs[0]], 0)
    return done.astype(np.int64)
