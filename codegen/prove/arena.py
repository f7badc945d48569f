"""The shadow run: a finished Program interpreted on integers only, to prove its memory plan.

Every byte of the arena carries the tag (tensor, byte of the tensor) of what was last written there.  Each kernel call
checks that all rows it reads, as the row rules say, still carry their tags, also after its own scratch and output
have been written (unless the operator declares that it runs in place).  A call of several rows is one: all rows that
its kernel is given must be there before any of its output is written, and not afterwards, for the kernel has read them
by then (codegen/ir/program.py).  A network with state is run twice, and nothing but its states is left of the first run
to the second.  It runs in `compile` itself, so that an unsound program is never emitted.  The order of rows is that of
templates/model.c.j2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from codegen.ir.op import RowRule
from codegen.ir.producer import Ready, Step
from codegen.ir.program import Call, GroupProgram, Operand, Program, RowInput, lies_by_channels
from codegen.ir.quant import Array
from codegen.ir.shape import Span
from codegen.ir.verify import IrError
from codegen.ir.weights import Params, Slices
from codegen.prove.weights import ReadWeights
from codegen.records import record

_GARBAGE = -1
_SHIFT = 40


@record
class Tag:
    """What memory holds that is no tensor: a kernel's scratch, a row of padding, parameters; `of` tells them apart."""

    kind: str
    of: str


@record
class Work:
    """What one layer did: kernel calls, and the bytes of rows that they were given and that they made."""

    calls: int
    read_bytes: int
    written_bytes: int


@record
class ShadowReport:
    """What the run saw: rows made of each tensor (not those that nobody needs), work by node, bytes ever touched.

    `moved` has the bytes of rows that kernel calls were given and made, by the tensor whose memory they lie in; it is
    empty where kernels work in the scratchpad.
    """

    rows: Mapping[str, int]
    work: Mapping[str, Work]
    touched_bytes: int
    moved: Mapping[str, int] = field(default_factory=dict)


def shadow_run(program: Program) -> ShadowReport:
    """Run the program on tags.

    Raises:
        IrError: a call reads bytes that do not hold what it needs, or a row is missing at the end.
    """
    run = _Shadow(program)
    for state in program.states:
        run.write_all(state.operand)
    run.once()
    work = {name: Work(*counts) for name, counts in run.work.items()}
    report = ShadowReport(dict(run.rows), work, int(run.touched.sum()), dict(run.moved))
    if program.states:
        run.forget()
        run.once()
    return report


@dataclass(slots=True)
class _Shadow:
    program: Program
    tags: Array = field(init=False)
    touched: Array = field(init=False)
    memories: dict[str | Tag, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    work: dict[str, list[int]] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    rows_in: int = 0
    weights: ReadWeights | None = None

    def __post_init__(self) -> None:
        self.tags = np.full(self.program.working_bytes, _GARBAGE, np.int64)
        self.touched = np.zeros(self.program.working_bytes, np.bool_)

    def once(self) -> None:
        """One run: inputs, groups, and at its end the states' new content in its place and the outputs in theirs."""
        for port in self.program.inputs:
            if not self.program.streamed:
                self.write_all(port.operand)
        if self.program.weights is not None:
            self.weights = ReadWeights(self.program.weights, self.tags, self._memory(Tag("weights", "")))
            self.weights.pinned(first=not self.rows)
        for group in self.program.groups:
            self.group(group)
        for state in self.program.states:
            self.check_all(state.renewed, "the next run")
        for state in self.program.states:
            if not state.in_place:
                self.write_all(state.operand)
        for port in self.program.outputs:
            self.check_all(port.operand, "the network's output")
        for state in self.program.states:
            self.write_all(state.operand)

    def forget(self) -> None:
        """Leave garbage wherever there is no state."""
        kept = np.zeros(self.tags.size, np.bool_)
        for state in self.program.states:
            kept[state.operand.offset : state.operand.offset + state.bytes] = True
        for read in self.program.weights.pinned if self.program.weights else ():
            kept[read.offset : read.offset + read.bytes] = True
        self.tags[~kept] = _GARBAGE

    def group(self, group: GroupProgram) -> None:
        """All rows of a group, in the order of the generated code."""
        if group.calls[0].slices is not None:
            self.sliced(group.calls[0], group.use)
            return
        self.begin(group.use)
        for call in group.calls:
            self.work.setdefault(call.node.name, [0, 0, 0])
            self.rows.update((out.value, 0) for out in call.outputs)
        if not group.pulled:
            (call,) = group.calls
            for step in reversed(range(call.steps)) if group.backwards else range(call.steps):
                self.step(call, step)
            return
        done = [0] * len(group.calls)
        for target, upto in group.pulls:
            while done[target] < upto:
                k = self._walk(group, target, done)
                self.step(group.calls[k], done[k])
                done[k] += 1

    def _walk(self, group: GroupProgram, target: int, done: list[int]) -> int:
        """The call whose next row can be made, on the way from the target to its makers; input rows arrive as asked."""
        k = target
        while True:
            asked = (self._lacking(item, k, done) for item in group.calls[k].inputs)
            lacking = next((call for call in asked if call is not None), None)
            if lacking is None:
                return k
            k = lacking

    def _lacking(self, item: RowInput, k: int, done: list[int]) -> int | None:
        """The call that must make rows of an input before call k makes its next one; those of the streamed one come."""
        if isinstance(item.producer, Ready):
            return None
        last = _last(item.rule, done[k], item.operand.rows)
        if isinstance(item.producer, Step):
            return item.producer.call if done[item.producer.call] < last else None
        while self.rows_in < last:
            self.write(item.operand, self.rows_in)
            self.rows_in += 1
        return None

    def begin(self, use: int | None) -> None:
        """What is read into the weights buffer for a use of it."""
        if self.weights is not None and use is not None:
            self.weights.begin(use)

    def sliced(self, call: Call, use: int | None) -> None:
        """All rows of one slice of a layer's output channels after the other."""
        slices, (out,) = call.slices, call.outputs
        assert slices is not None, "the call has slices"
        assert use is not None, "its parameters are read"
        self.work.setdefault(call.node.name, [0, 0, 0])
        for index, params in enumerate(slices.params):
            self.begin(use + index)
            first = min(index * slices.step, slices.last) * slices.element_bytes
            for row in range(out.rows):
                self.work[call.node.name][0] += 1
                self._count(call, 2, out, 1)
                self._scratch(call, row)
                for before in (True, False):
                    self._check_params(call, params)
                    self._check_reads(call, Span(row, row + 1), before=before)
                    if before:
                        self._write_pieces(out, row, first, slices)
        self.rows[out.value] = out.rows

    def _write_pieces(self, out: Operand, row: int, first: int, slices: Slices) -> None:
        """The channels of a slice in each pixel of a row."""
        place, tags = self._row_bytes(out, row)
        width = slices.step * slices.element_bytes
        count, step = (slices.staged.count, slices.staged.step) if slices.staged else (1, out.row_bytes)
        inside = (np.arange(count)[:, None] * step + first + np.arange(width)).reshape(-1)
        self.tags[place.start + inside] = tags[inside]
        self.touched[place.start + inside] = True

    def _check_params(self, call: Call, params: Params | None) -> None:
        if self.weights is not None:
            self.weights.check(call, params)

    def step(self, call: Call, step: int) -> None:
        """One kernel call: scratch, reads, writes, reads again.

        A run of pixels is taken row by row, as it goes, by kernels that take elements in place; others read what they
        are given until the end.
        """
        self.work[call.node.name][0] += 1
        self._check_params(call, call.params)
        kind = call.fn.run
        if kind in ("whole", "accumulate"):
            self._rows(call, Span(step, step + 1))
            return
        start = step * call.rows_per_call
        made = Span(start, min(start + call.rows_per_call, call.outputs[0].rows))
        together = kind == "rows" or not all(item.in_place for item in call.inputs)
        for rows in [made] if together else (Span(row, row + 1) for row in range(made.start, made.stop)):
            self._rows(call, rows)

    def _rows(self, call: Call, rows: Span) -> None:
        """What is read and written at a time to make these output rows (or, of an accumulator, in this step)."""
        kind = call.fn.run
        self._scratch(call, rows.start)
        self._check_reads(call, rows, before=True)
        self._check_order(call, rows)
        for out in call.outputs:
            if kind == "whole" or (kind == "accumulate" and rows.start == call.steps - 1):
                self.write_all(out)
                self.rows[out.value] = out.rows
                self._count(call, 2, out, out.rows)
            elif kind != "accumulate":
                for row in range(rows.start, rows.stop):
                    self.write(out, row)
                self.rows[out.value] = max(self.rows[out.value], rows.stop)
                self._count(call, 2, out, len(rows))
        if kind != "rows":
            self._check_reads(call, rows, before=False)

    def _check_reads(self, call: Call, rows: Span, *, before: bool) -> None:
        for item in call.inputs:
            if not before and item.in_place:
                continue
            read = _given(item, rows) if call.fn.run == "rows" or len(rows) > 1 else _read(item, rows)
            for at in read:
                self.check(item.operand, at, f"{call.node.name} at row {rows.start}")
            if before:
                self._count(call, 1, item.operand, len(read))

    def _check_order(self, call: Call, rows: Span) -> None:
        """A row that is made over the one it reads neither begins nor ends behind that: pixels are read in time.

        Where channels are made one after another, none lies over another one.
        """
        for item in call.inputs:
            if item.by_channels and not lies_by_channels(item.operand, call.outputs[0]):
                raise IrError(f"{call.node.name} writes over channels of {item.operand.value} before they are read")
            if item.in_place and item.rule.is_same:
                for row in range(rows.start, rows.stop):
                    (read, _), (made, _) = self._row_bytes(item.operand, row), self._row_bytes(call.outputs[0], row)
                    apart = made.stop <= read.start or read.stop <= made.start
                    if not (apart or (made.start <= read.start and made.stop <= read.stop)):
                        raise IrError(
                            f"{call.node.name} writes over row {row} of {item.operand.value} before it is read"
                        )

    def _count(self, call: Call, what: int, operand: Operand, rows: int) -> None:
        """Account for rows of an operand that the call was given or made."""
        self.work[call.node.name][what] += rows * operand.row_bytes
        self.moved[operand.memory] = self.moved.get(operand.memory, 0) + rows * operand.row_bytes

    def _scratch(self, call: Call, row: int) -> None:
        place = scratch_of(call)
        if place is None:
            return
        if call.fn.run == "accumulate" and row > 0:
            if (self.tags[place] != self._memory(Tag("scratch", call.node.name))).any():
                raise IrError(f"{call.node.name}: its sums were overwritten before row {row}")
            return
        self.tags[place] = self._memory(Tag("scratch", call.node.name))
        self.touched[place] = True

    def write_all(self, operand: Operand) -> None:
        """Every row of a tensor."""
        for row in range(operand.rows):
            self.write(operand, row)

    def write(self, operand: Operand, row: int) -> None:
        """One row: its bytes carry their tags now."""
        place, tags = self._row_bytes(operand, row)
        self.tags[place] = tags
        self.touched[place] = True

    def check_all(self, operand: Operand, reader: str) -> None:
        """Every row of a tensor must be there."""
        for row in range(operand.rows):
            self.check(operand, row, reader)

    def check(self, operand: Operand, row: int, reader: str) -> None:
        """One row must be there, whole."""
        place, tags = self._row_bytes(operand, row)
        if not np.array_equal(self.tags[place], tags):
            raise IrError(f"{reader} reads row {row} of {operand.value}, which was overwritten or never made")

    def _row_bytes(self, operand: Operand, row: int) -> tuple[slice, Array]:
        start = operand.offset + (row % operand.ring) * operand.row_bytes
        first = self._memory(operand.memory) + row * operand.row_bytes
        return slice(start, start + operand.row_bytes), np.arange(first, first + operand.row_bytes, dtype=np.int64)

    def _memory(self, name: str | Tag) -> int:
        return self.memories.setdefault(name, len(self.memories) + 1) << _SHIFT


def _last(rule: RowRule, row: int, in_rows: int) -> int:
    """Rows of the input that must exist before output row `row`."""
    first = row if rule.accumulate else rule.first(row)
    return min(first + (rule.taps - 1) * rule.dilation + 1, in_rows)


def _read(item: RowInput, rows: Span) -> Sequence[int]:
    """The input rows of the one output row `rows`."""
    return rows_read(item.rule, rows.start, item.operand.rows)


def _given(item: RowInput, rows: Span) -> Sequence[int]:
    """The input rows that count in a call of several rows: the taps of each, without what lies between dilated ones.

    The kernel finds the taps of each next row `mul` further; IrError for a rule by which they lie elsewhere.
    """
    rule = item.rule
    firsts = [rule.first(row) for row in range(rows.start, rows.stop)]
    if rule.whole or any(at != firsts[0] + k * rule.mul for k, at in enumerate(firsts)):
        raise IrError(f"rows {rows.start} to {rows.stop} of one call read {item.operand.value} at uneven steps")
    return sorted({at for row in range(rows.start, rows.stop) for at in rows_read(rule, row, item.operand.rows)})


def scratch_of(call: Call) -> slice | None:
    """Where a call's scratch lies; None where it has none."""
    if not call.scratch_bytes:
        return None
    if call.scratch_offset is None:
        raise IrError(f"{call.node.name}: no scratch was planned")
    return slice(call.scratch_offset, call.scratch_offset + call.scratch_bytes)


def rows_read(rule: RowRule, row: int, in_rows: int) -> list[int]:
    """The input rows that output row `row` reads, padding left out."""
    if rule.whole:
        return list(range(in_rows))
    first = row if rule.accumulate else rule.first(row)
    taps = (first + tap * rule.dilation for tap in range(rule.taps))
    return [at for at in taps if 0 <= at < in_rows]
