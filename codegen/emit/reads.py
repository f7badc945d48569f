"""Weights that come through a buffer, as records for templates/reads.c.j2 and for the steps that run in slices."""

from __future__ import annotations

from dataclasses import replace

from codegen.emit.blob import BLOB_HEADER_BYTES
from codegen.emit.spelling import plus
from codegen.ir.program import Call, GroupProgram
from codegen.ir.weights import Pieces, WeightsProgram, WeightsRead
from codegen.records import record


@record
class ReadsView:
    """All reads of a run as lines of a table, how many may be under way at one time, and the buffer."""

    lines: tuple[str, ...]
    pinned: tuple[WeightsRead, ...]
    slots: int
    use_t: str
    offset: int
    bytes: int


@record
class PiecesView:
    """Channels of a slice packed at `place`: `bytes` of every `step` bytes, `count` times; the first at `skip`."""

    place: str
    bytes: int
    step: int
    count: int
    skip: str
    row_bytes: int


@record
class SlicesView:
    """How a step runs in slices: `first` is a slice's first channel, `made` where a row of it goes, in C."""

    last: int
    first: str
    made: str
    gathered: PiecesView | None
    staged: PiecesView | None


@record
class UseView:
    """A group's first use of the buffer; in slices, calls in all, and of `i` the use and the arguments of the step."""

    first: int
    calls: int = 0
    number: str = ""
    arguments: str = ""


def reads_view(weights: WeightsProgram) -> ReadsView:
    """The record; offsets count from the begin of weights.bin."""
    lines = (f"{{ {BLOB_HEADER_BYTES + r.source}, {r.bytes}, {r.offset}, {r.use}, {r.after} }}," for r in weights.reads)
    use_t = "uint16_t" if weights.reads[-1].use < 1 << 15 else "int32_t"
    pinned = tuple(replace(read, source=BLOB_HEADER_BYTES + read.source) for read in weights.pinned)
    return ReadsView(tuple(lines), pinned, weights.under_way, use_t, weights.offset, weights.bytes)


def slices_view(call: Call) -> SlicesView | None:
    """A step's slices, where it has any."""
    slices = call.slices
    if slices is None:
        return None
    count = len(slices.params)
    even = slices.last == (count - 1) * slices.step
    first = f"slice * {slices.step}" if even else f"slice < {count - 1} ? slice * {slices.step} : {slices.last}"
    made = plus("net->arena", slices.staged.at) if slices.staged else f"y0 + {_times('first', slices.element_bytes)}"
    taken = call.inputs[0].operand.dtype.bytes
    return SlicesView(
        last=count - 1,
        first=first,
        made=made,
        gathered=_pieces(slices.gathered, taken),
        staged=_pieces(slices.staged, slices.element_bytes),
    )


def use_view(group: GroupProgram) -> UseView | None:
    """A group's use of the buffer, where there is one."""
    if group.use is None:
        return None
    call = group.calls[0]
    if call.slices is None:
        return UseView(group.use)
    steps = call.steps
    index = "i" if steps == 1 else f"i / {steps}"
    row = "0" if steps == 1 else f"i % {steps}"
    return UseView(group.use, len(call.slices.params) * steps, plus(index, group.use), f"{index}, {row}")


def _pieces(pieces: Pieces | None, element_bytes: int) -> PiecesView | None:
    if pieces is None:
        return None
    skip = _times("first", element_bytes)
    place = plus("net->arena", pieces.at)
    return PiecesView(place, pieces.bytes, pieces.step, pieces.count, skip, pieces.bytes * pieces.count)


def _times(text: str, factor: int) -> str:
    return text if factor == 1 else f"{text} * {factor}"
