"""The shadow run of the scratchpad regime: the commands of a finished Program on tags, in both memories.

Every byte of scratchpad and of global memory carries the tag (tensor, byte of it) of what was last written there.  A
transfer is checked as the contract of lam_dma.h has it: its source must hold the right rows from start to wait, nobody
may touch its destination between, and its bytes are there only after the wait.  Each kernel call checks every row that
it reads, its padding row and its parameters, all in the scratchpad.

With several cores, each with a scratchpad of its own, the run takes them in turn, stage by stage, and `Access` holds
that every other order within a stage gives the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from codegen.ir.program import Call, Operand, Program, RowInput, ScratchpadParams, ScratchpadProgram
from codegen.ir.quant import Array
from codegen.ir.scratchpad import Command, Stream
from codegen.ir.shape import row_pixels
from codegen.ir.verify import IrError
from codegen.prove.arena import ShadowReport, Tag, Work, rows_read, scratch_of
from codegen.prove.cores import Access

_GARBAGE = -1
_FLYING = -2
_SHIFT = 40


def shadow_scratchpad(program: Program) -> ShadowReport:
    """Run the commands on tags.

    Raises:
        IrError: something reads bytes that do not hold what it needs, or a transfer is disturbed or never waited for.
    """
    assert program.scratchpad is not None
    run = _ScratchpadShadow(program, program.scratchpad)
    for port in program.inputs:
        run.give(port.operand)
    for stage in range(program.scratchpad.stages):
        run.begin_stage()
        for core, bounds in enumerate(program.scratchpad.bounds):
            run.use(core)
            for command in program.scratchpad.commands[bounds[stage] : bounds[stage + 1]]:
                run.command(command)
    left = sum(len(memory.flying) for memory in run.cores)
    if left:
        raise IrError(f"{left} transfers are never waited for")
    for tensor in program.tensors:
        run.check_made(tensor.value)
    for port in program.outputs:
        place = port.operand
        expected = run.memory(place.memory) + np.arange(place.rows * place.row_bytes)
        found = run.arena[place.offset : place.offset + len(expected)]
        if not np.array_equal(found, expected):
            raise IrError(f"the network's output {place.value} is not whole in global memory")
    work = {name: Work(*counts) for name, counts in run.work.items()}
    rows = {t.value: len(run.made.get(t.value, ())) for t in program.tensors}
    return ShadowReport(rows, work, sum(int(memory.touched.sum()) for memory in run.cores))


@dataclass(slots=True)
class _Flight:
    """A transfer under way: where from, where to (indices into the memories), and the tags it carries."""

    title: str
    from_scratchpad: bool
    source: Array
    target: Array
    tags: Array


class _Core:
    """A core's scratchpad, what is on its way there or from there, and the parameters that came."""

    def __init__(self, size: int) -> None:
        self.scratchpad = np.full(size, _GARBAGE, np.int64)
        self.touched = np.zeros(size, np.bool_)
        self.flying: dict[int, _Flight] = {}


@dataclass(slots=True)
class _ScratchpadShadow:
    program: Program
    tables: ScratchpadProgram
    arena: Array = field(init=False)
    access: Access = field(init=False)
    cores: list[_Core] = field(init=False)
    core: int = 0
    memories: dict[str | Tag, int] = field(default_factory=dict)
    made: dict[str, set[int]] = field(default_factory=dict)
    work: dict[str, list[int]] = field(default_factory=dict)
    loads: dict[int, ScratchpadParams] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.arena = np.full(self.program.arena_bytes, _GARBAGE, np.int64)
        self.access = Access(self.program.arena_bytes)
        self.cores = [_Core(self.tables.bytes) for _ in self.tables.bounds]

    @property
    def scratchpad(self) -> Array:
        """The scratchpad of the core that runs."""
        return self.cores[self.core].scratchpad

    @property
    def touched(self) -> Array:
        """Its bytes that were ever written."""
        return self.cores[self.core].touched

    @property
    def flying(self) -> dict[int, _Flight]:
        """Its transfers."""
        return self.cores[self.core].flying

    def use(self, core: int) -> None:
        """Go on with another core."""
        self.core = core

    def begin_stage(self) -> None:
        """A barrier: nothing may be on its way to global memory, and what is on its way from there goes on."""
        self.access.begin_stage()
        for core, memory in enumerate(self.cores):
            self.use(core)
            for flight in memory.flying.values():
                if flight.from_scratchpad:
                    raise IrError(f"{flight.title}: still on its way when its stage ends")
                self.access.read(flight.source, self.core, flight.title)

    def note_row(self, call: Call, value: str, row: int, *, again: bool) -> None:
        """A row, or a tile's part of it, is made: first on the core that accounts for it, after that on others."""
        made = self.made.setdefault(value, set())
        if not call.partial and (row in made) != again:
            raise IrError(f"row {row} of {value} is accounted for {'never' if again else 'twice'}")
        made.add(row)

    def check_made(self, value: str) -> None:
        """Rows are made from the first one on, without gaps."""
        made = self.made.get(value, set())
        if made != set(range(len(made))):
            raise IrError(f"rows of {value} are missing")

    def memory(self, name: str | Tag) -> int:
        """First tag of a tensor or of anything else that is told apart."""
        return self.memories.setdefault(name, len(self.memories) + 1) << _SHIFT

    def give(self, operand: Operand) -> None:
        """A network input is whole in global memory."""
        size = operand.rows * operand.row_bytes
        self.arena[operand.offset : operand.offset + size] = self.memory(operand.memory) + np.arange(size)

    def command(self, c: Command) -> None:
        """One command."""
        if c.act in ("load", "store"):
            self.start_rows(c)
        elif c.act == "params":
            self.start_params(self.tables.params[c.index], c.slot)
        elif c.act == "wait":
            self.land(c.slot)
        elif c.act == "fill":
            fill = self.tables.fills[c.index]
            tag = self.memory(Tag("padding", str(fill.padding)))
            self.write(slice(fill.offset, fill.offset + fill.bytes), tag, "a padding row")
        elif c.act in ("run", "again"):
            call = self.tables.calls[c.index]
            for row in range(c.row, c.row + c.count):
                self.call(call, row, again=c.act == "again")

    def start_params(self, load: ScratchpadParams, slot: int) -> None:
        """Begin to move parameters."""
        first = self.memory(Tag("params", f"{load.node} {load.channel}"))
        self.loads[first] = load
        inside = np.arange(load.params.bytes)
        self.launch(
            slot, _Flight(f"parameters of {load.node}", False, inside[:0], load.offset + inside, first + inside)
        )

    def start_rows(self, c: Command) -> None:
        """Begin to move rows of a stream."""
        stream, base = self.tables.streams[c.index], self.tables.global_offsets[c.index]
        if c.row % stream.ring + c.count > stream.ring or c.row + c.count > stream.rows:
            raise IrError(f"a transfer of {stream.value} wraps")
        near = stream.offset + c.row % stream.ring * stream.row_bytes + np.arange(c.count * stream.row_bytes)
        inside = _global_bytes(stream, c.row, c.count)
        tags = self.memory(self.root(stream.value)) + inside
        far = base + inside
        source, target = (far, near) if c.act == "load" else (near, far)
        self.launch(
            c.slot, _Flight(f"{c.act} of {stream.value} from row {c.row}", c.act == "store", source, target, tags)
        )

    def root(self, value: str) -> str:
        """The tensor whose memory a tensor has."""
        operands = (o for call in self.tables.calls for o in (*(i.operand for i in call.inputs), *call.outputs))
        return next(o.memory for o in operands if o.value == value)

    def launch(self, slot: int, flight: _Flight) -> None:
        """A transfer starts; its destination holds nothing until it lands."""
        if slot in self.flying:
            raise IrError(f"{flight.title}: the ticket is still in use")
        self.check_source(flight, "starts")
        memory = self.arena if flight.from_scratchpad else self.scratchpad
        if (memory[flight.target] == _FLYING).any():
            raise IrError(f"{flight.title}: two transfers write the same bytes")
        memory[flight.target] = _FLYING
        if flight.from_scratchpad:
            self.access.write(flight.target, self.core, flight.title)
        else:
            self.touched[flight.target] = True
            self.access.read(flight.source, self.core, flight.title)
        self.flying[slot] = flight

    def land(self, slot: int) -> None:
        """A transfer is waited for: source and destination must not have been touched since."""
        if slot not in self.flying:
            raise IrError("a wait for nothing")
        flight = self.flying.pop(slot)
        self.check_source(flight, "ends")
        memory = self.arena if flight.from_scratchpad else self.scratchpad
        if (memory[flight.target] != _FLYING).any():
            raise IrError(f"{flight.title}: its destination was written to while it ran")
        memory[flight.target] = flight.tags

    def check_source(self, flight: _Flight, when: str) -> None:
        """The source holds what is to be moved (parameters never change)."""
        memory = self.scratchpad if flight.from_scratchpad else self.arena
        if len(flight.source) and not np.array_equal(memory[flight.source], flight.tags):
            raise IrError(f"{flight.title}: when it {when}, its source does not hold these rows")

    def write(self, place: slice, tags: Array | int, writer: str) -> None:
        """Bytes of scratchpad are written by the processor."""
        if (self.scratchpad[place] == _FLYING).any():
            raise IrError(f"{writer} writes where a transfer is on its way")
        self.scratchpad[place] = tags
        self.touched[place] = True

    def call(self, call: Call, row: int, *, again: bool) -> None:
        """One kernel call: scratch, reads, writes, reads again."""
        kind, name = call.fn.run, f"{call.node.name} at row {row}"
        self.scratch(call, row)
        self.check_reads(call, row, name)
        self.count(call, row)
        for out in call.outputs:
            if kind == "whole" or (kind == "accumulate" and row == call.steps - 1):
                for at in range(out.rows):
                    self.write_row(call, out, at, name)
                    self.note_row(call, out.value, at, again=again)
            elif kind != "accumulate":
                self.write_row(call, out, row, name)
                self.note_row(call, out.value, row, again=again)
        self.check_reads(call, row, name)

    def count(self, call: Call, row: int) -> None:
        """Account for one call."""
        work = self.work.setdefault(call.node.name, [0, 0, 0])
        work[0] += 1
        for item in call.inputs:
            work[1] += len(rows_read(item.rule, row, item.operand.rows)) * item.operand.row_bytes
        if call.fn.run != "accumulate" or row == call.steps - 1:
            work[2] += sum(out.row_bytes * call.rows_per_call for out in call.outputs)

    def write_row(self, call: Call, out: Operand, row: int, writer: str) -> None:
        start = out.offset + row % out.ring * out.row_bytes
        self.write(slice(start, start + out.row_bytes), self.row_tags(call, out, row), writer)

    def row_tags(self, call: Call, out: Operand, row: int) -> Array:
        """Tags of an output's row; a tile has those of its channels, told by the parameters that lie in its place."""
        if not call.partial:
            first = self.memory(out.memory) + row * out.row_bytes
            return np.arange(first, first + out.row_bytes)
        whole = next(t.row_bytes for t in self.program.tensors if t.value == out.value)
        pixels = row_pixels(call.node.outs[0].shape)
        assert call.params_offset is not None, "a tile's parameters were checked"
        load = self.loads[int(self.scratchpad[call.params_offset])]
        skip = load.channel * out.dtype.bytes
        stream = Stream(out.value, 0, out.rows, out.ring, out.row_bytes, pixels, whole // pixels, skip)
        return self.memory(out.memory) + _global_bytes(stream, row, 1)

    def check_params(self, call: Call, reader: str) -> None:
        """The call's parameters, or those of one of its tiles, lie in their place."""
        if call.params is None:
            return
        at = call.params_offset
        place = self.scratchpad[at : at + call.params.bytes] if at is not None else self.scratchpad[:0]
        load = self.loads.get(int(place[0])) if place.size else None
        if load is None or load.node != call.node.name or (np.diff(place) != 1).any():
            raise IrError(f"{reader}: its parameters are not there")

    def check_reads(self, call: Call, row: int, reader: str) -> None:
        """Rows, padding and parameters are there."""
        self.check_params(call, reader)
        for item in call.inputs:
            self.check_rows(item, row, reader)

    def check_rows(self, item: RowInput, row: int, reader: str) -> None:
        place = item.operand
        inside = rows_read(item.rule, row, place.rows)
        for at in inside:
            start = place.offset + at % place.ring * place.row_bytes
            first = self.memory(place.memory) + at * place.row_bytes
            expected = np.arange(first, first + place.row_bytes)
            if not np.array_equal(self.scratchpad[start : start + place.row_bytes], expected):
                raise IrError(f"{reader} reads row {at} of {place.value}, which was overwritten or never came")
        if item.rule.fill is not None and not item.rule.accumulate and len(inside) < item.rule.taps:
            tag = self.memory(Tag("padding", str((place.dtype.value, item.rule.fill))))
            lies = item.padding_offset
            found = self.scratchpad[lies : lies + place.row_bytes] if lies is not None else self.scratchpad[:0]
            if len(found) < place.row_bytes or (found != tag).any():
                raise IrError(f"{reader} reads a padding row that is not there")

    def scratch(self, call: Call, row: int) -> None:
        place = scratch_of(call)
        if place is None:
            return
        tag = self.memory(Tag("scratch", call.node.name))
        if call.fn.run == "accumulate" and row > 0:
            if (self.scratchpad[place] != tag).any():
                raise IrError(f"{call.node.name}: its sums were overwritten before row {row}")
            return
        self.write(place, tag, f"{call.node.name}, scratch")


def _global_bytes(stream: Stream, row: int, count: int) -> Array:
    """Bytes of the tensor that rows of a stream are, in the order of the scratchpad."""
    pieces = np.arange(row * stream.pieces, (row + count) * stream.pieces) * stream.global_step + stream.skip
    return (pieces[:, None] + np.arange(stream.piece_bytes)).reshape(-1)
