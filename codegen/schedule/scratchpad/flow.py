"""One group's order of rows, recorded: which rows every step of the sinks needs, makes and frees.

The demand process of schedule/demand.py, played through row by row and written down, and summed per pull, so that
time steps of any number of rows can be read off without playing it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.ir.quant import Array
from codegen.records import record
from codegen.schedule.demand import NodeRows, Rows
from codegen.schedule.scratchpad.slices import Range, Slice, cut


@record(eq=False)
class Reading:
    """An outside tensor, per pull: rows that must be there, lowest row that this or a later pull reads."""

    need: Array
    low: Array


@record(eq=False)
class Making:
    """A tensor that leaves the group, per pull: rows made after it, lowest row that members still read in it.

    `first` is the row that is made first.
    """

    made: Array
    low: Array
    first: int = 0


@record(eq=False)
class GroupFlow:
    """What a run of the group, or of one core's slice of it, shows.

    `members` are the nodes of which any row is needed, `nodes` all.  `events` are (place in members, step) in order;
    pull p covers those before `cuts[p]` that no earlier one does.  `rings` are the rows kept of each inner tensor,
    `own` the rows of each output that leave.  `before` are, by member, the steps that other cores make too, and account
    for.
    """

    nodes: tuple[int, ...]
    members: tuple[int, ...]
    events: tuple[tuple[int, int], ...]
    cuts: Array
    targets: int
    inputs: Mapping[str, Reading]
    outputs: Mapping[str, Making]
    rings: Mapping[str, int]
    own: Mapping[str, Range]
    before: tuple[tuple[Range, ...], ...]

    def again(self, member: int, step: int) -> bool:
        """Whether another core accounts for a step that this one makes."""
        return any(first <= step < stop for first, stop in self.before[member])


class _Play:
    """Pulls the targets to their ends, always the one whose next row needs the least outside rows."""

    def __init__(self, nodes: Sequence[NodeRows]) -> None:
        """Wire the members to the makers of what they read."""
        self.nodes = nodes
        maker = {out: k for k, node in enumerate(self.nodes) for out in node.outputs}
        self.asks = [tuple((maker[e.value], e.last) for e in node.edges if e.value in maker) for node in self.nodes]
        self.kept: list[list[tuple[str, list[tuple[int, Sequence[int]]]]]] = [[] for _ in self.nodes]
        for value, k in maker.items():
            readers: list[tuple[int, Sequence[int]]] = [
                (r, e.low) for r, node in enumerate(self.nodes) for e in node.edges if e.value == value
            ]
            if readers:
                self.kept[k].append((value, readers))
        self.done = [node.start for node in self.nodes]
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
                last = np.array(edge.last, np.int64)
                if id(edge.last) in inside:
                    upstream = np.append([0], np.maximum.accumulate(needs[inside[id(edge.last)]]))
                    last = upstream[last]
                need = np.maximum(need, last)
            needs[k] = need
        return {k: need.tolist() for k, need in needs.items()}


def record_group(rows: Rows, members: Sequence[int], targets: Sequence[int], *, whole: bool) -> GroupFlow:
    """Run the group on one core; `whole` is for a single node whose kernel makes its output in one call."""
    return _whole(rows, members) if whole else record_slices(rows, members, targets, cut(rows, members, targets, 1))[0]


def record_slices(
    rows: Rows, members: Sequence[int], targets: Sequence[int], slices: Sequence[Slice]
) -> tuple[GroupFlow, ...]:
    """Run each slice of the group that has rows to make."""
    used = [k for k in range(len(members)) if any(part.nodes[k].steps > part.nodes[k].start for part in slices)]
    asked = [k for k, i in enumerate(members) if i in targets]
    return tuple(
        _record(rows, tuple(members), used, asked, part)
        for part in slices
        if any(part.nodes[k].steps > part.nodes[k].start for k in asked)
    )


def _record(rows: Rows, every: tuple[int, ...], used: Sequence[int], asked: Sequence[int], part: Slice) -> GroupFlow:
    """Run a slice; members of which no core makes any row are left out."""
    members = [every[k] for k in used]
    nodes = [part.nodes[k] for k in used]
    targets = [members.index(every[k]) for k in asked]
    play = _Play(nodes)
    play.run(targets)
    cuts = np.array(play.cuts)
    done = _progress(nodes, play.events, cuts)
    made_by = {v: k for k, node in enumerate(nodes) for v in node.outputs}
    outputs = {v: t for t in targets for v in nodes[t].outputs}
    outside = {e.value for node in nodes for e in node.edges if e.value not in made_by}
    return GroupFlow(
        nodes=every,
        members=tuple(members),
        events=tuple(play.events),
        cuts=cuts,
        targets=len(targets),
        inputs={v: _reading(rows, nodes, done, v) for v in sorted(outside)},
        outputs={v: _making(rows, nodes, k, done, v) for v, k in outputs.items()},
        rings={v: play.rings.get(v, 1) for kept in play.kept for v, _ in kept if v not in outputs},
        own=part.own,
        before=tuple(part.before[k] for k in used),
    )


def _whole(rows: Rows, members: Sequence[int]) -> GroupFlow:
    (index,) = members
    node = rows.nodes[index]
    one = np.ones(1, np.int64)
    inputs = {e.value: Reading(one * rows.height[e.value], one * 0) for e in node.edges}
    outputs = {v: Making(one * rows.height[v], one * rows.height[v]) for v in node.outputs}
    own = {v: (0, rows.height[v]) for v in node.outputs}
    return GroupFlow((index,), (index,), ((0, 0),), one, 1, inputs, outputs, {}, own, ((),))


def _progress(nodes: Sequence[NodeRows], events: Sequence[tuple[int, int]], cuts: Array) -> Array:
    """Steps up to which each member has come after each pull: [member, pull]."""
    who = np.array([k for k, _ in events])
    return np.stack([node.start + np.cumsum(who == k)[cuts - 1] for k, node in enumerate(nodes)])


def _reading(rows: Rows, nodes: Sequence[NodeRows], done: Array, value: str) -> Reading:
    need = np.zeros(done.shape[1], np.int64)
    for k, node in enumerate(nodes):
        for edge in node.edges:
            if edge.value == value:
                last = np.maximum.accumulate(np.append([0], np.array(edge.last, np.int64)))
                need = np.maximum(need, last[done[k]])
    return Reading(need, _low(rows, nodes, done, value))


def _low(rows: Rows, nodes: Sequence[NodeRows], done: Array, value: str) -> Array:
    """Lowest row of a tensor that members read in each pull or later; its height when none does."""
    low = np.full(done.shape[1], rows.height[value], np.int64)
    for k, node in enumerate(nodes):
        before = np.append([node.start], done[k][:-1])
        for edge in node.edges:
            if edge.value == value:
                low = np.minimum(low, np.array(edge.low, np.int64)[before])
    return low


def _making(rows: Rows, nodes: Sequence[NodeRows], k: int, done: Array, value: str) -> Making:
    node, low = nodes[k], _low(rows, nodes, done, value)
    if node.accumulates:
        return Making(np.where(done[k] == node.steps, rows.height[value], 0), low)
    return Making(done[k].astype(np.int64), low, node.start)
