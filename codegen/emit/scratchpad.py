"""The scratchpad regime as records for templates/scratchpad.c.j2: commands, streams, parameters and padding rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from codegen.emit.names import comment
from codegen.ir.program import ScratchpadProgram
from codegen.ir.quant import DType
from codegen.ir.scratchpad import Command, Stream
from codegen.records import record


@record
class StreamLine:
    """One row of the table of streams, in the order of the C struct `stream`, and its title."""

    title: str
    numbers: str


@record
class ParamsLine:
    """One row of the table of parameters: where they come from, how many bytes, where they go."""

    source: str
    bytes: int
    offset: int


@record
class FillLine:
    """One padding row: type, value, elements, place."""

    index: int
    ctype: str
    value: float
    count: int
    offset: int


@record
class TraceLine:
    """A tensor that is reported from global memory: the stream that names it, its number, place and bytes of a row."""

    stream: int
    tensor: int
    offset: int
    row_bytes: int


@record
class StepLines:
    """The commands of one time step of one core, spelled."""

    title: str
    lines: tuple[str, ...]


@record(kw_only=True)
class ScratchpadView:
    """What templates/scratchpad.c.j2 sees.  `bounds` spells, by core, where stages begin and the last one ends."""

    bytes: int
    align: int
    cores: int
    stages: int
    bounds: tuple[str, ...]
    slots: int
    calls: int
    commands: int
    steps: tuple[StepLines, ...]
    streams: tuple[StreamLine, ...]
    params: tuple[ParamsLine, ...]
    fills: tuple[FillLine, ...]
    traces: tuple[TraceLine, ...]

    @property
    def memories(self) -> str:
        """All cores' memories out of an array of them, as an initialiser."""
        return f"{{ {', '.join(f'(scratchpad_array)[{core}]' for core in range(self.cores))} }}"

    @property
    def fences(self) -> int:
        """Where stages begin, and where the last one ends: how many places for each core."""
        return self.stages + 1


def scratchpad_view(scratchpad: ScratchpadProgram, sources: tuple[str, ...], tensors: dict[str, int]) -> ScratchpadView:
    """The record.

    `sources` spells where each load of parameters comes from, in a blob how far into it; `tensors` numbers the tensors
    for the trace.
    """
    return ScratchpadView(
        bytes=scratchpad.bytes,
        align=scratchpad.align,
        cores=scratchpad.cores,
        stages=scratchpad.stages,
        bounds=tuple(f"{{ {', '.join(map(str, core))} }}," for core in scratchpad.bounds),
        slots=scratchpad.slots,
        calls=len(scratchpad.calls),
        commands=len(scratchpad.commands),
        steps=tuple(_steps(scratchpad)),
        streams=tuple(_stream(s, o) for s, o in zip(scratchpad.streams, scratchpad.global_offsets, strict=True)),
        params=tuple(ParamsLine(s, p.params.bytes, p.offset) for s, p in zip(sources, scratchpad.params, strict=True)),
        fills=tuple(
            FillLine(i, DType(f.padding[0]).ctype, f.padding[1], f.bytes // DType(f.padding[0]).bytes, f.offset)
            for i, f in enumerate(scratchpad.fills)
        ),
        traces=tuple(
            _trace(scratchpad, i, tensors) for i in sorted({c.index for c in scratchpad.commands if c.act == "trace"})
        ),
    )


def _steps(scratchpad: ScratchpadProgram) -> Iterator[StepLines]:
    """The time steps of every core, one core after the other; on several, those in which a core does something."""
    each = len(scratchpad.steps) // scratchpad.cores
    for i, (a, b) in enumerate(pairwise([*scratchpad.steps, len(scratchpad.commands)])):
        core, step = divmod(i, each)
        lines = tuple(_spell(c) for c in scratchpad.commands[a:b])
        if scratchpad.cores == 1:
            yield StepLines(f"time step {step}", lines)
        elif lines:
            yield StepLines(f"core {core}, stage {_stage(scratchpad, core, a)}, time step {step}", lines)


def _stage(scratchpad: ScratchpadProgram, core: int, at: int) -> int:
    """The stage of the command at a place."""
    return sum(begin <= at for begin in scratchpad.bounds[core][1:])


def _spell(command: Command) -> str:
    if max(command.index, command.row, command.count) >= 1 << 16 or command.slot >= 1 << 8:
        raise AssertionError("a number of a command does not fit its type")
    return f"{{{command.act.upper()}, {command.slot}, {command.index}, {command.row}, {command.count}}},"


def _stream(stream: Stream, base: int) -> StreamLine:
    numbers = (
        stream.offset,
        stream.ring,
        stream.row_bytes,
        base + stream.skip,
        stream.pieces,
        stream.piece_bytes,
        stream.global_step,
    )
    return StreamLine(comment(stream.value), ", ".join(map(str, numbers)))


def _trace(scratchpad: ScratchpadProgram, index: int, tensors: dict[str, int]) -> TraceLine:
    stream = scratchpad.streams[index]
    row_bytes = stream.pieces * stream.global_step
    return TraceLine(index, tensors[stream.value], scratchpad.global_offsets[index], row_bytes)
