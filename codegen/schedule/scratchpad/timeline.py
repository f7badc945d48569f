"""All groups on one row of time steps: every transfer with the step that starts it and the step that waits for it.

At the beginning of a step, waits come first, then starts, then the rows of the step are computed.  Rows come one step
before they are read and leave one step after they were made.  Parameters, and a group's first rows, are moved earlier
by slack: into the steps of the group before, while the scratchpad has room and the transfers of those steps leave time
(`prefetch`).

With several cores each has a timeline of its own, and all have the same number of steps in each group.  A group is then
a stage: cores know nothing of each other's steps but that all have ended a stage when one begins the next.  So stores
are waited for in the stage that makes them, and rows are loaded when their stage has ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from codegen.records import record
from codegen.schedule.arena import round_up
from codegen.schedule.scratchpad.shape import ALIGN, Facts, Key, Shape
from codegen.schedule.scratchpad.stage import Stage

Place = tuple[int, Key]
"""A block of scratchpad: group, key."""


def block_name(place: Place) -> str:
    """A name for the packer."""
    group, (role, what, number) = place
    return f"{group} {role} {what} {number}"


@dataclass(slots=True)
class Move:
    """One transfer.  A load or params must be there in step `at`; a store's rows are made in step `at`.

    `root` is the tensor whose global memory it touches; `start` and `wait` are steps, and a wait in the step of the
    start comes at once.
    """

    kind: Literal["load", "store", "params"]
    place: Place
    tile: int
    row: int
    rows: int
    root: str
    bytes: int
    at: int
    start: int
    wait: int


@record
class Run:
    """Rows [row, row + count) of a member of a group (its tile), in one step.

    `again`: another core makes them too, and accounts for them.
    """

    group: int
    node: int
    tile: int
    row: int
    count: int
    again: bool


@dataclass(slots=True)
class Timeline:
    """Steps and transfers of one of `cores` cores.

    `first[g]` is the step in which group g begins, `first[-1]` the number of steps.
    """

    facts: Facts
    roots: Mapping[str, str]
    stages: Sequence[Stage]
    core: int = 0
    cores: int = 1
    first: list[int] = field(default_factory=lambda: [0])
    moves: list[Move] = field(default_factory=list)
    runs: list[list[Run]] = field(default_factory=list)
    stores: dict[str, list[Move]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Lay the groups out one after another."""
        for g, stage in enumerate(self.stages):
            self.first.append(self.first[g] + stage.steps + 1)
            shape = stage.part(self.core)
            if shape is not None:
                self._runs(g, shape)
                self._params(g, shape)
                self._loads(g, shape)
                self._stores(g, shape)
            self.runs += [[] for _ in range(self.first[-1] - len(self.runs))]
        for move in self.moves:
            if move.kind == "load" and self.cores == 1:
                self._after_stores(move)

    def _runs(self, g: int, shape: Shape) -> None:
        bounds = [0, *shape.flow.cuts[shape.ends].tolist()]
        for tile in range(shape.passes):
            for begin, end in pairwise(bounds):
                found: list[Run] = []
                for k, step in shape.flow.events[begin:end]:
                    node, again = shape.flow.members[k], shape.flow.again(k, step)
                    if found and (found[-1].node, found[-1].again) == (node, again):
                        found[-1] = replace(found[-1], count=found[-1].count + 1)
                    else:
                        found.append(Run(g, node, tile, step, 1, again))
                self.runs.append(found)

    def _params(self, g: int, shape: Shape) -> None:
        base, steps = self.first[g], len(shape.ends)
        for node in shape.flow.members:
            needs = self.facts.params[node]
            for tile in range(shape.passes):
                key = ("params", str(node), tile % 2)
                if key not in shape.blocks:
                    continue
                channels = shape.tile_channels(tile) or needs.channels
                at = base + tile * steps
                start = max(base, at - steps)
                self.moves.append(Move("params", (g, key), tile, 0, 0, "", needs.bytes(channels), at, start, at))

    def _loads(self, g: int, shape: Shape) -> None:
        base, steps = self.first[g], len(shape.ends)
        for value in shape.in_rings:
            height, row_bytes = self.facts.rows.height[value], self.facts.rows.row_bytes[value]
            need, low = shape.need(value).tolist(), shape.low(value).tolist()
            there = 0
            for t, (upto, lowest) in enumerate(zip(need, low, strict=True)):
                begin = max(there, lowest)
                early = shape.cut.ahead and t > 0 and (shape.runs_on or t % steps > 0)
                while begin < upto:
                    row = begin % height
                    rows = min(upto - begin, height - row)
                    place = (g, ("in", value, 0))
                    start = base + t - early
                    root = self.roots[value]
                    self.moves.append(
                        Move("load", place, 0, row, rows, root, rows * row_bytes, base + t, start, base + t)
                    )
                    begin += rows
                there = max(there, upto)

    def _stores(self, g: int, shape: Shape) -> None:
        base, steps = self.first[g], len(shape.ends)
        for value in shape.out_rings:
            own = shape.flow.own[value]
            made = [own[0], *shape.flow.outputs[value].made[shape.ends].clip(*own).tolist()]
            for t in range(steps * shape.passes):
                tile, step = divmod(t, steps)
                begin, upto = made[step], made[step + 1]
                if upto > begin:
                    place = (g, ("out", value, tile % 2))
                    size = (upto - begin) * shape.out_row_bytes(value, tile)
                    at, root = base + t, self.roots[value]
                    wait = at + 2 if shape.cut.ahead else at + 1
                    wait = wait if self.cores == 1 else min(wait, self.first[g + 1] - 1)
                    store = Move("store", place, tile, begin, upto - begin, root, size, at, at + 1, wait)
                    self.stores.setdefault(root, []).append(store)
                    self.moves.append(store)

    def _after_stores(self, load: Move) -> None:
        """Start a load when its rows have arrived in global memory; where it cannot be put off, they are waited for."""
        for store in self.feeding(load):
            load.start = max(load.start, min(store.wait, load.at))
            store.wait = min(store.wait, max(load.start, store.start))

    def feeding(self, load: Move) -> list[Move]:
        """Stores of the rows that a load reads; of all rows where either speaks of a view."""
        found = []
        for store in self.stores.get(load.root, ()):
            apart = store.row >= load.row + load.rows or load.row >= store.row + store.rows
            if not apart or store.place[1][1] != load.place[1][1]:
                found.append(store)
        return found

    def ready(self, load: Move) -> int:
        """The first step in which all that a load reads is in global memory and has been waited for."""
        if self.cores == 1:
            return max((store.wait for store in self.feeding(load)), default=0)
        made = [
            g for g, stage in enumerate(self.stages) if any(self.roots[v] == load.root for v in stage.model.out_rings)
        ]
        return max((self.first[g + 1] for g in made), default=0)

    @property
    def steps(self) -> int:
        """Steps that compute; the last stores are started in step `steps` and waited for there."""
        return self.first[-1]

    def owner(self, g: int, key: Key) -> int:
        """The group that a block belongs to: that of its maker when it is kept from the group before."""
        return g - 1 if key[0] == "kept" and key[1] == self.stages[g].model.cut.kept_in else g

    def spans(self) -> dict[Place, tuple[int, int]]:
        """First and last step of every block of scratchpad."""
        found: dict[Place, tuple[int, int]] = {}
        for g, stage in enumerate(self.stages):
            for key in stage.blocks:
                first = self.first[self.owner(g, key)]
                found[self.owner(g, key), key] = (first, self.first[g + 1] - 2)
        for move in self.moves:
            first, last = found[move.place]
            last = max(last, move.start, move.wait - 1) if move.kind == "store" else last
            found[move.place] = (min(first, move.start), last)
        return found

    def live(self) -> list[int]:
        """Bytes of scratchpad in use in each step."""
        total = [0] * (self.steps + 2)
        for (g, key), (first, last) in self.spans().items():
            for step in range(first, last + 1):
                total[step] += round_up(self.stages[g].blocks[key], ALIGN)
        return total


def prefetch(line: Timeline, budget: int) -> None:
    """Move parameters and first rows into the steps of the group before, while all blocks keep within the budget."""
    live, idle, spans = line.live(), _idle(line), line.spans()
    firsts = {f: g for g, f in enumerate(line.first[:-1]) if g > 0}
    for move in sorted(line.moves, key=lambda m: (m.at, m.kind == "load")):
        g = move.place[0]
        if move.kind == "store" or move.start not in firsts or move.start != line.first[g]:
            continue
        size = round_up(line.stages[g].blocks[move.place[1]], ALIGN)
        earliest, last = spans[move.place]
        wanted = _earlier(line, move, live, idle, budget - size, earliest)
        for step in range(wanted, earliest):
            live[step] += size
        spans[move.place] = (min(wanted, earliest), last)
        move.start = wanted


def _earlier(line: Timeline, move: Move, live: list[int], idle: list[float], room: int, held: int) -> int:
    """The latest start that gives the transfer its time, or the earliest one possible."""
    g = move.place[0]
    lowest = line.first[g - 1]
    if move.kind == "load":
        lowest = max(lowest, line.ready(move))
    cost = line.facts.dma_cycles(1, move.bytes)
    start = move.start
    while start > lowest and cost > 0 and (start - 1 >= held or live[start - 1] <= room):
        start -= 1
        used = min(cost, max(0.0, idle[start]))
        idle[start] -= used
        cost -= used
    return start


def _idle(line: Timeline) -> list[float]:
    """Cycles in each step in which no transfer runs."""
    facts = line.facts
    found = [
        sum(facts.event_cycles(r.node) * r.count / line.stages[r.group].model.passes for r in runs)
        for runs in line.runs
    ]
    for move in line.moves:
        steps = range(move.start, min(move.wait, line.steps)) or range(move.start, min(move.start + 1, line.steps))
        for step in steps:
            found[step] -= facts.dma_cycles(1, move.bytes) / len(steps)
    return found
