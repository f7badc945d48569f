"""The list of commands: a timeline with addresses, every wait in its place, and the time that it takes.

Within a step: waits for what was started before; stores of the rows made in the last step; waits for those of them that
a load needs at once; loads that are needed now; parameters; loads for later; waits for the rows needed now; then the
rows are computed, each layer's after a wait for its parameters where they came in this step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from codegen.ir.local import Act, Command, Engine, Fill, LocalLayer, Padding, ParamsLoad, Stream
from codegen.schedule.local.shape import Facts
from codegen.schedule.local.timeline import Move, Place, Run, Timeline


@dataclass(slots=True)
class Listing:
    """Commands, and the tables that they number.

    Args:
        line: the timeline.
        offsets: where each block of local memory is.
    """

    line: Timeline
    offsets: Mapping[Place, int]
    commands: list[Command] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    layers: dict[tuple[int, int, int], LocalLayer] = field(default_factory=dict)
    streams: dict[tuple[Place, int], Stream] = field(default_factory=dict)
    params: list[ParamsLoad] = field(default_factory=list)
    fills: list[Fill] = field(default_factory=list)
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
                self.commands.append(Command("run", self._layer(run), run.row, run.count))
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
        ring = list(self.streams.values())[index].ring
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
        for padding, size in self.line.shapes[group].pads.items():
            self.commands.append(Command("fill", len(self.fills)))
            self.fills.append(Fill(padding, self.offsets[group, _pad_key(padding)], size))

    def _traces(self, step: int) -> None:
        """Report tensors that left in tiles, when their last store has been waited for."""
        for g, shape in enumerate(self.line.shapes):
            if shape.passes > 1 and self.line.first[g + 1] == step:
                (value,) = shape.flow.outputs
                key = ((g, ("out", value, 0)), 0)
                self.commands.append(Command("trace", list(self.streams).index(key)))

    def _params(self, move: Move) -> int:
        group, key = move.place
        tile = self.line.shapes[group].cut.tile
        start = move.tile * tile
        stop = min(start + tile, self.line.shapes[group].channels) if tile else 0
        self.params.append(ParamsLoad(int(key[1]), start, stop, self.offsets[move.place], move.bytes))
        return len(self.params) - 1

    def _stream(self, move: Move) -> int:
        key = (move.place, move.tile)
        if key not in self.streams:
            self.streams[key] = self._new_stream(move)
        return list(self.streams).index(key)

    def _new_stream(self, move: Move) -> Stream:
        group, (role, value, _) = move.place
        shape, rows = self.line.shapes[group], self.line.facts.rows
        whole, height = rows.row_bytes[value], rows.height[value]
        offset = self.offsets[move.place]
        if role == "in":
            return Stream(value, offset, height, shape.in_rings[value], whole, 1, whole, 0)
        ring = shape.out_rings[value]
        if not shape.cut.tile:
            return Stream(value, offset, height, ring, whole, 1, whole, 0)
        kind = self.line.facts.graph.type(value)
        channels = min(shape.cut.tile, shape.channels - move.tile * shape.cut.tile)
        pixel = shape.channels * kind.dtype.bytes
        pieces = whole // pixel
        row_bytes = pieces * channels * kind.dtype.bytes
        return Stream(
            value, offset, height, ring, row_bytes, pieces, pixel, move.tile * shape.cut.tile * kind.dtype.bytes
        )

    def _layer(self, run: Run) -> int:
        key = (run.group, run.node, run.tile)
        if key not in self.layers:
            self.layers[key] = self._new_layer(run)
        return list(self.layers).index(key)

    def _new_layer(self, run: Run) -> LocalLayer:
        shape, g = self.line.shapes[run.group], run.group
        node = self.line.facts.graph.nodes[run.node]
        rows: dict[str, tuple[int, int]] = {}
        for name in (*node.inputs, *node.outputs):
            for role, rings in (("out", shape.out_rings), ("ring", shape.flow.rings), ("in", shape.in_rings)):
                if name in rings:
                    parity = run.tile % 2 if role == "out" else 0
                    rows.setdefault(name, (self.offsets[g, (role, name, parity)], rings[name]))
            if name in shape.kept:
                key = ("kept", name, 0)
                rows[name] = (self.offsets[self.line.owner(g, key), key], self.line.facts.rows.height[name])
        needs = self.line.facts.needs[run.node]
        scratch = (g, ("keep", str(run.node), 0)) if needs.keeps else (g, ("once", "", 0))
        start = run.tile * shape.cut.tile
        return LocalLayer(
            node=run.node,
            start=start,
            stop=min(start + shape.cut.tile, shape.channels) if shape.cut.tile else 0,
            rows=rows,
            params_offset=self.offsets.get((g, ("params", str(run.node), run.tile % 2)), -1),
            scratch_offset=self.offsets.get(scratch, -1) if needs.scratch_bytes else -1,
            pads={p: self.offsets[g, _pad_key(p)] for p in self.line.facts.pads[run.node]},
        )


def _pad_key(padding: Padding) -> tuple[str, str, int]:
    return "pad", f"{padding[0]} {padding[1]}", 0


@dataclass(slots=True)
class Clock:
    """A core and a DMA that takes its transfers one after another, in cycles."""

    engine: Engine
    now: float = 0.0
    compute: float = 0.0
    dma: float = 0.0
    busy: float = 0.0
    moved: int = 0
    ready: dict[int, float] = field(default_factory=dict)

    def start(self, slot: int, size: int) -> None:
        """A transfer begins when the DMA is free."""
        cost = self.engine.latency_cycles + size / self.engine.bytes_per_cycle
        self.dma = max(self.dma, self.now) + cost
        self.busy += cost
        self.moved += size
        self.ready[slot] = self.dma

    def wait(self, slot: int) -> None:
        """The core stands until the transfer is done."""
        self.now = max(self.now, self.ready.pop(slot))

    def run(self, cycles: float) -> None:
        """The core computes."""
        self.now += cycles
        self.compute += cycles


def clock(facts: Facts, listing: Listing) -> Clock:
    """The whole list on the clock."""
    watch = Clock(facts.engine)
    streams, layers = list(listing.streams.values()), list(listing.layers.values())
    for command in listing.commands:
        if command.act == "params":
            watch.start(command.slot, listing.params[command.index].bytes)
        elif command.act in ("load", "store"):
            watch.start(command.slot, command.count * streams[command.index].row_bytes)
        elif command.act == "wait":
            watch.wait(command.slot)
        elif command.act == "run":
            layer = layers[command.index]
            share = (layer.stop - layer.start) / facts.params[layer.node].channels if layer.stop else 1.0
            watch.run(command.count * facts.event_cycles(layer.node) * share)
    return watch
