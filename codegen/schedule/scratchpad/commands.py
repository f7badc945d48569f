"""The list of commands: a timeline with addresses, every wait in its place, and the time that it takes.

Within a step: waits for what was started before; stores of the rows made in the last step; waits for those of them that
a load needs at once; loads that are needed now; parameters; loads for later; waits for the rows needed now; then the
rows are computed, each layer's after a wait for its parameters where they came in this step.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from codegen.ir.scratchpad import Act, Command, Engine, Fill, Padding, ParamsLoad, ScratchpadLayer, Stream
from codegen.records import record
from codegen.schedule.scratchpad.shape import Facts, Shape
from codegen.schedule.scratchpad.timeline import Move, Place, Run, Timeline

_T = TypeVar("_T")


class Table(Generic[_T]):
    """Things with numbers, each under a key."""

    def __init__(self) -> None:
        """None yet."""
        self.numbers: dict[Hashable, int] = {}
        self.items: list[_T] = []

    def number(self, key: Hashable, make: Callable[[], _T]) -> int:
        """The number of what the key stands for; it is made when it has none."""
        if key not in self.numbers:
            self.numbers[key] = len(self.items)
            self.items.append(make())
        return self.numbers[key]


@dataclass(slots=True)
class Tables:
    """What commands number, for all cores."""

    layers: Table[ScratchpadLayer] = field(default_factory=Table)
    streams: Table[Stream] = field(default_factory=Table)
    params: Table[ParamsLoad] = field(default_factory=Table)
    fills: Table[Fill] = field(default_factory=Table)


@dataclass(slots=True)
class Listing:
    """The commands of one core.

    Args:
        line: its timeline.
        offsets: where each block of scratchpad is.
        tables: what the commands number.
    """

    line: Timeline
    offsets: Mapping[Place, int]
    tables: Tables
    commands: list[Command] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    slots: dict[int, int] = field(default_factory=dict)

    def build(self) -> None:
        """List all steps."""
        starts: dict[int, list[Move]] = {}
        for move in self.line.moves:
            starts.setdefault(move.start, []).append(move)
        waits: dict[int, list[Move]] = {}
        for move in self.line.moves:
            waits.setdefault(min(move.wait, self.line.steps), []).append(move)
        for step in range(self.line.steps + 1):
            self.steps.append(len(self.commands))
            later = [move for move in waits.get(step, []) if move.kind == "params"]
            self._moves(step, starts.get(step, []), [m for m in waits.get(step, []) if m.kind != "params"])
            if step in self.line.first[:-1]:
                self._fills(self.line.first.index(step))
            for run in self.line.runs[step] if step < self.line.steps else ():
                self._wait(move for move in later if move.place[1][1] == str(run.node))
                act: Act = "again" if run.again else "run"
                self.commands.append(Command(act, self._layer(run), run.row, run.count))
            self._wait(later)

    def _moves(self, step: int, starts: Sequence[Move], waits: Sequence[Move]) -> None:
        now = {id(move) for move in waits}
        self._wait(move for move in waits if move.start < step)
        stores = [move for move in starts if move.kind == "store"]
        self._start(stores)
        urgent = [move for move in starts if move.kind == "load" and id(move) in now]
        self._wait(move for move in stores if id(move) in now)
        self._start(urgent)
        self._start(move for move in starts if move.kind == "params" and move.at == step)
        self._start(move for move in starts if move.kind == "params" and move.at > step)
        self._start(move for move in starts if move.kind == "load" and id(move) not in now)
        self._wait(urgent)
        self._traces(step)

    def _start(self, moves: Iterator[Move] | Sequence[Move]) -> None:
        for move in moves:
            slot = next(n for n in range(1 << 16) if n not in self.slots.values())
            self.slots[id(move)] = slot
            if move.kind == "params":
                self.commands.append(Command("params", self._params(move), slot=slot))
            else:
                self.commands += self._rows(move, slot)

    def _rows(self, move: Move, slot: int) -> list[Command]:
        """Commands for the rows of a move: one, or two where they wrap; then the second has a slot of its own."""
        index = self._stream(move)
        ring = self.tables.streams.items[index].ring
        head = min(move.rows, ring - move.row % ring)
        act: Act = "load" if move.kind == "load" else "store"
        found = [Command(act, index, move.row, head, slot)]
        if head < move.rows:
            self.slots[-id(move)] = next(n for n in range(1 << 16) if n not in self.slots.values())
            found.append(Command(act, index, move.row + head, move.rows - head, self.slots[-id(move)]))
        return found

    def _wait(self, moves: Iterator[Move] | Sequence[Move]) -> None:
        for move in moves:
            for key in (id(move), -id(move)):
                if key in self.slots:
                    self.commands.append(Command("wait", slot=self.slots.pop(key)))

    def _fills(self, group: int) -> None:
        shape = self.line.stages[group].part(self.line.core)
        for fill in self._padding(group, shape) if shape else ():
            self.commands.append(Command("fill", self.tables.fills.number((group, fill), partial(_same, fill))))

    def _padding(self, group: int, shape: Shape) -> list[Fill]:
        return [Fill(p, self.offsets[group, _pad_key(p)], shape.pads[p]) for p in shape.fills]

    def _traces(self, step: int) -> None:
        """Report tensors that left in tiles, when their last store has been waited for."""
        for g, stage in enumerate(self.line.stages):
            shape = stage.part(self.line.core)
            if shape and shape.passes > 1 and self.line.first[g + 1] == step:
                ((value, (first, stop)),) = shape.flow.own.items()
                index = self.tables.streams.numbers[(g, ("out", value, 0)), 0]
                self.commands.append(Command("trace", index, first, stop - first))

    def _params(self, move: Move) -> int:
        group, key = move.place
        shape = self.line.stages[group].model
        tile = shape.cut.tile
        start = move.tile * tile
        stop = start + shape.tile_channels(move.tile) if tile else 0
        load = ParamsLoad(int(key[1]), start, stop, self.offsets[move.place], move.bytes)
        return self.tables.params.number((group, load), lambda: load)

    def _stream(self, move: Move) -> int:
        return self.tables.streams.number((move.place, move.tile), lambda: self._new_stream(move))

    def _new_stream(self, move: Move) -> Stream:
        group, (role, value, _) = move.place
        shape, rows = self.line.stages[group].model, self.line.facts.rows
        whole, height = rows.row_bytes[value], rows.height[value]
        offset = self.offsets[move.place]
        if role == "in":
            return Stream(value, offset, height, shape.in_rings[value], whole, 1, whole, 0)
        ring = shape.out_rings[value]
        if not shape.cut.tile:
            return Stream(value, offset, height, ring, whole, 1, whole, 0)
        kind = self.line.facts.graph.type(value)
        channels = shape.tile_channels(move.tile)
        pixel = shape.channels * kind.dtype.bytes
        pieces = whole // pixel
        row_bytes = pieces * channels * kind.dtype.bytes
        return Stream(
            value, offset, height, ring, row_bytes, pieces, pixel, move.tile * shape.cut.tile * kind.dtype.bytes
        )

    def _layer(self, run: Run) -> int:
        return self.tables.layers.number((run.group, run.node, run.tile), lambda: self._new_layer(run))

    def _new_layer(self, run: Run) -> ScratchpadLayer:
        shape, g = self.line.stages[run.group].model, run.group
        node = self.line.facts.graph.nodes[run.node]
        rows: dict[str, tuple[int, int]] = {}
        for name in (*node.inputs, *node.outputs):
            for role, rings in (("out", shape.out_rings), ("ring", shape.rings), ("in", shape.in_rings)):
                if name in rings:
                    parity = run.tile % 2 if role == "out" else 0
                    rows.setdefault(name, (self.offsets[g, (role, name, parity)], rings[name]))
            if name in shape.kept:
                key = ("kept", name, 0)
                rows[name] = (self.offsets[self.line.owner(g, key), key], self.line.facts.rows.height[name])
        needs = self.line.facts.needs[run.node]
        scratch = (g, ("keep", str(run.node), 0)) if needs.keeps else (g, ("once", "", 0))
        start = run.tile * shape.cut.tile
        return ScratchpadLayer(
            node=run.node,
            start=start,
            stop=start + shape.tile_channels(run.tile) if shape.cut.tile else 0,
            rows=rows,
            params_offset=self.offsets.get((g, ("params", str(run.node), run.tile % 2))),
            scratch_offset=self.offsets.get(scratch) if needs.scratch_bytes else None,
            pads={p: self.offsets[g, _pad_key(p)] for p in self.line.facts.pads[run.node]},
        )


def _same(fill: Fill) -> Fill:
    return fill


def _pad_key(padding: Padding) -> tuple[str, str, int]:
    return "pad", f"{padding[0]} {padding[1]}", 0


@dataclass(slots=True)
class Clock:
    """A core and a DMA that takes its transfers one after another, in cycles.

    `compute` and `busy` count from the last barrier.
    """

    engine: Engine
    now: float = 0.0
    compute: float = 0.0
    dma: float = 0.0
    busy: float = 0.0
    ready: dict[int, float] = field(default_factory=dict)

    def start(self, slot: int, size: int, cores: int) -> None:
        """A transfer begins when the DMA is free; `cores` share its rate."""
        cost = self.engine.latency_cycles + size * cores / self.engine.bytes_per_cycle
        self.dma = max(self.dma, self.now) + cost
        self.busy += cost
        self.ready[slot] = self.dma

    def wait(self, slot: int) -> None:
        """The core stands until the transfer is done."""
        self.now = max(self.now, self.ready.pop(slot))

    def run(self, cycles: float) -> None:
        """The core computes."""
        self.now += cycles
        self.compute += cycles


@record
class Times:
    """Cycles of all stages, of each the core that takes longest, and bytes that all cores move."""

    cycles: float
    compute: float
    dma: float
    moved: int


def clock(facts: Facts, lists: Sequence[Listing]) -> Times:
    """All lists on clocks that meet at the end of every stage."""
    watches = [Clock(facts.engine) for _ in lists]
    compute = dma = 0.0
    moved = 0
    line = lists[0].line
    for g, stage in enumerate(line.stages):
        for listing, watch in zip(lists, watches, strict=True):
            last = g == len(line.stages) - 1
            stop = len(listing.commands) if last else listing.steps[line.first[g + 1]]
            commands = listing.commands[listing.steps[line.first[g]] : stop]
            moved += sum(_spend(facts, listing.tables, watch, command, len(stage.parts)) for command in commands)
        compute += max(watch.compute for watch in watches)
        dma += max(watch.busy for watch in watches)
        end = max(watch.now for watch in watches)
        for watch in watches:
            watch.now, watch.compute, watch.busy = end, 0.0, 0.0
    return Times(watches[0].now, compute, dma, moved)


def _spend(facts: Facts, tables: Tables, watch: Clock, command: Command, cores: int) -> int:
    """One command on a clock; bytes moved."""
    size = 0
    if command.act in ("load", "store", "params"):
        if command.act == "params":
            size = tables.params.items[command.index].bytes
        else:
            size = command.count * tables.streams.items[command.index].row_bytes
        watch.start(command.slot, size, cores)
    elif command.act == "wait":
        watch.wait(command.slot)
    elif command.act in ("run", "again"):
        layer = tables.layers.items[command.index]
        share = (layer.stop - layer.start) / facts.params[layer.node].channels if layer.stop else 1.0
        watch.run(command.count * facts.event_cycles(layer.node) * share)
    return size
