"""The scratchpad regime as records for templates/local.c.j2: commands, streams, parameters and padding rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from codegen.emit.names import comment
from codegen.ir.local import Command, Stream
from codegen.ir.program import LocalProgram
from codegen.ir.quant import DType


@dataclass(frozen=True, slots=True)
class StreamLine:
    """One row of the table of streams, in the order of the C struct `stream`, and its title."""

    title: str
    numbers: str


@dataclass(frozen=True, slots=True)
class ParamsLine:
    """One row of the table of parameters: where they come from, how many bytes, where they go."""

    source: str
    bytes: int
    offset: int


@dataclass(frozen=True, slots=True)
class FillLine:
    """One padding row: type, value, elements, place."""

    index: int
    ctype: str
    value: int
    count: int
    offset: int


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A tensor that is reported from global memory: the stream that names it, its number and rows."""

    stream: int
    tensor: int
    offset: int
    rows: int
    row_bytes: int


@dataclass(frozen=True, slots=True)
class StepLines:
    """The commands of one time step, spelled."""

    index: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocalView:
    """What templates/local.c.j2 sees."""

    bytes: int
    align: int
    slots: int
    calls: int
    commands: int
    steps: tuple[StepLines, ...]
    streams: tuple[StreamLine, ...]
    params: tuple[ParamsLine, ...]
    fills: tuple[FillLine, ...]
    traces: tuple[TraceLine, ...]


def local_view(local: LocalProgram, sources: tuple[str, ...], tensors: dict[str, int]) -> LocalView:
    """The record.  `sources` spells where each load of parameters comes from; `tensors` numbers them for the trace."""
    bounds = [*local.steps, len(local.commands)]
    return LocalView(
        bytes=local.bytes,
        align=local.align,
        slots=local.slots,
        calls=len(local.calls),
        commands=len(local.commands),
        steps=tuple(
            StepLines(i, tuple(_spell(c) for c in local.commands[a:b])) for i, (a, b) in enumerate(pairwise(bounds))
        ),
        streams=tuple(_stream(s, o) for s, o in zip(local.streams, local.global_offsets, strict=True)),
        params=tuple(ParamsLine(s, p.params.bytes, p.offset) for s, p in zip(sources, local.params, strict=True)),
        fills=tuple(
            FillLine(i, DType(f.padding[0]).ctype, f.padding[1], f.bytes // DType(f.padding[0]).bytes, f.offset)
            for i, f in enumerate(local.fills)
        ),
        traces=tuple(_trace(local, c.index, tensors) for c in local.commands if c.act == "trace"),
    )


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


def _trace(local: LocalProgram, index: int, tensors: dict[str, int]) -> TraceLine:
    stream = local.streams[index]
    row_bytes = stream.pieces * stream.global_step
    return TraceLine(index, tensors[stream.value], local.global_offsets[index], stream.rows, row_bytes)
