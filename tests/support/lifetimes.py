"""When each byte of each tensor is written and last read: the reasons why a changed plan is, or is not, harmful.

An independent way to the shadow run's verdict: two places of memory may be one only when the bytes that they hold are
not needed at one time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from codegen.ir.plan import Plan, Storage
from codegen.ir.program import Call, GroupProgram, Operand, Program
from codegen.ir.quant import Array


@dataclass(frozen=True, slots=True)
class Over:
    """Rows that a kernel may make over those that it reads: row r of row r, pixel by pixel.

    It has read a pixel when it writes it, so that of rows that meet the one that is made must neither begin nor end
    behind the one that is read.
    """

    rows: int
    made_bytes: int
    read_bytes: int

    @property
    def least(self) -> int:
        """Bytes by which the first row that is made must stay below the first that is read, if the last rows meet."""
        return self.rows * (self.made_bytes - self.read_bytes)

    def harmful(self, made: int, read: int) -> bool:
        """Whether some row may be written before it is read, where the first ones lie at these offsets."""
        rows = np.arange(self.rows)
        at, of = made + rows * self.made_bytes, read + rows * self.read_bytes
        meet = (at < of + self.read_bytes) & (of < at + self.made_bytes)
        return bool((meet & ((at > of) | (at + self.made_bytes > of + self.read_bytes))).any())


@dataclass(frozen=True, slots=True)
class Life:
    """By byte of one memory: when it is written, and read for the last time (-1 when never).

    A kernel that runs in place, or has read all before it writes, reads half a step before it writes.  (Not one that
    makes shorter or longer rows, the last ones first.)  `over`: by memory that the rows here may be made over, how.
    """

    born: Array
    read: Array
    over: dict[str, Over] = field(default_factory=dict)


class _Log:
    """The program's order of rows, played from what is written of it: times of writing and reading, and nothing else.

    Shares no code with the shadow run: which rows an output row reads is asked of the operators.  What is made at the
    n-th time, a row or a block of rows, is made at time n.
    """

    def __init__(self, program: Program, sizes: Mapping[str, int]) -> None:
        self.now = 0.0
        self.streamed = program.inputs[0].operand if program.streamed else None
        self.arrived = 0
        self.lives = {name: Life(np.full(n, np.inf), np.full(n, -1.0)) for name, n in sizes.items()}

    def write(self, operand: Operand, rows: Iterable[int], later: float = 0.0) -> None:
        for row in rows:
            self.lives[operand.memory].born[_bytes_of(operand, row)] = self.now + later

    def read(self, operand: Operand, rows: Iterable[int], early: float = 0.0) -> None:
        for row in rows:
            self.lives[operand.memory].read[_bytes_of(operand, row)] = self.now - early

    def group(self, group: GroupProgram) -> None:
        """One call after another, or row by row as those are needed that leave the group."""
        done = [0] * len(group.calls)
        if not group.pulled:
            steps = range(group.calls[0].steps)
            for step in reversed(steps) if group.backwards else steps:
                self.step(group.calls[0], step, backwards=group.backwards)
        for target, upto in group.pulls if group.pulled else ():
            while done[target] < upto:
                self.make(group, target, done)

    def make(self, group: GroupProgram, index: int, done: list[int]) -> None:
        """The next step of a call, behind whatever its inputs still lack."""
        call = group.calls[index]
        for position, item in enumerate(call.inputs):
            wanted = _rows_before(call, position, _made(call, done[index]))
            if self.streamed is not None and item.operand.value == self.streamed.value:
                self.write(item.operand, range(self.arrived, wanted), later=0.25)
                self.arrived = max(self.arrived, wanted)
            maker = _maker(group, index, item.operand)
            while maker is not None and done[maker] < wanted:
                self.make(group, maker, done)
        self.step(call, done[index])
        done[index] += 1

    def step(self, call: Call, step: int, *, backwards: bool = False) -> None:
        """One kernel call; one that takes a run of rows works through them, unless it has read all before."""
        rows = _made(call, step)
        together = call.fn.run in ("rows", "whole", "accumulate")
        for part in [rows] if together else [range(row, row + 1) for row in rows]:
            self.now += 1.0
            for position, item in enumerate(call.inputs):
                over = _over(call, position)
                behind = backwards and over is not None and over.least != 0
                first = (item.in_place and not behind) or call.fn.run == "rows"
                if over is not None:
                    self.lives[call.outputs[0].memory].over[item.operand.memory] = over
                self.read(item.operand, _rows_of(call, position, part), early=0.5 if first else 0.0)
            whole = call.fn.run in ("whole", "accumulate")
            if not whole or step == call.steps - 1:
                for out in call.outputs:
                    self.write(out, range(out.rows) if whole else part)


def _over(call: Call, position: int) -> Over | None:
    """How the call's rows may be made over those of an input, if they may."""
    node, item, out = call.node, call.inputs[position], call.outputs[0]
    together = call.fn.run in ("whole", "accumulate")
    if together or not item.in_place or not node.op.rows(node.dynamic[position], node.ins, node.outs).is_same:
        return None
    return Over(out.rows, out.row_bytes, item.operand.row_bytes)


def _made(call: Call, step: int) -> range:
    """The output rows of a step; of an accumulator its one input row."""
    if call.fn.run in ("whole", "accumulate"):
        return range(step, step + 1)
    return range(step * call.rows_per_call, min((step + 1) * call.rows_per_call, call.outputs[0].rows))


def _rows_of(call: Call, position: int, rows: range) -> set[int]:
    """The rows of an input that these output rows are made of, by the operator's own rule."""
    node, there = call.node, call.inputs[position].operand.rows
    rule = node.op.rows(node.dynamic[position], node.ins, node.outs)
    if rule.whole or call.fn.run == "whole":
        return set(range(there))
    if rule.accumulate:
        return {row for row in rows if row < there}
    taps = {rule.first(row) + tap * rule.dilation for row in rows for tap in range(rule.taps)}
    return {row for row in taps if 0 <= row < there}


def _rows_before(call: Call, position: int, rows: range) -> int:
    """Rows of an input that are asked for first: up to the end of the window, though its last tap lie outside."""
    node, there = call.node, call.inputs[position].operand.rows
    rule = node.op.rows(node.dynamic[position], node.ins, node.outs)
    if rule.whole or rule.accumulate or call.fn.run == "whole":
        return max(_rows_of(call, position, rows), default=-1) + 1
    return min(rule.first(rows[-1]) + (rule.taps - 1) * rule.dilation + 1, there)


def _maker(group: GroupProgram, reader: int, operand: Operand) -> int | None:
    """The earlier call of the group that makes a tensor."""
    made = [k for k in range(reader) if any(out.value == operand.value for out in group.calls[k].outputs)]
    return made[0] if made else None


def _bytes_of(operand: Operand, row: int) -> slice:
    return slice(row * operand.row_bytes, (row + 1) * operand.row_bytes)


def lifetimes(program: Program, plan: Plan) -> dict[str, Life]:
    """The life of every memory, by the name of the tensor that it belongs to."""
    owners = set(roots(plan).values())
    log = _Log(program, {n: plan.storage[n].rows * plan.storage[n].row_bytes for n in owners})
    if not program.streamed:
        for port in program.inputs:
            log.write(port.operand, range(port.operand.rows))
    for state in program.states:
        log.write(state.operand, range(state.operand.rows))
    for group in program.groups:
        log.group(group)
    log.now = np.inf
    for state in program.states:
        log.read(state.renewed, range(state.renewed.rows))
        if not state.in_place:
            log.lives[state.operand.memory].read[:] = np.inf
    for port in program.outputs:
        log.read(port.operand, range(port.operand.rows))
    return log.lives


def roots(plan: Plan) -> dict[str, str]:
    """The tensor whose memory each one uses."""
    found = {name: name for name in plan.storage}
    for index in sorted(plan.views):
        node = plan.graph.nodes[index]
        found[node.outputs[0]] = found[node.inputs[0]]
    return found


@dataclass(frozen=True, slots=True)
class Pieces:
    """Runs of bytes of one memory with one life, and where they lie."""

    start: Array
    stop: Array
    born: Array
    read: Array


def pieces(place: Storage, life: Life) -> Pieces:
    """The bytes that are ever written, by row of the ring and life."""
    at = np.arange(life.born.size)
    row = at // max(1, place.row_bytes)
    address = place.offset + row % place.ring * place.row_bytes + at % max(1, place.row_bytes)
    change = np.logical_or.reduce([a[1:] != a[:-1] for a in (row, life.born, life.read)])
    first = np.flatnonzero(np.append(True, change))
    last = np.append(first[1:], at.size) - 1
    kept = np.isfinite(life.born[first])
    first, last = first[kept], last[kept]
    return Pieces(address[first], address[last] + 1, life.born[first], life.read[first])


def collide(a: Pieces, b: Pieces) -> bool:
    """Whether a byte of one is overwritten by the other while it is still needed (different tensors, or one ring)."""
    together = (a.start[:, None] < b.stop) & (b.start < a.stop[:, None])
    a_first = (a.born[:, None] < b.born) & (a.read[:, None] >= b.born)
    b_first = (b.born < a.born[:, None]) & (b.read >= a.born[:, None])
    # rows of a streamed input that arrive before one pull; a piece does not collide with itself
    at_once = (a.born[:, None] == b.born) & (a.read >= a.born)[:, None] & (b.read >= b.born)
    if a is b:
        at_once &= ~np.eye(len(a.born), dtype=bool)
    return bool((together & (a_first | b_first | at_once)).any())


def harmful(plan: Plan, lives: Mapping[str, Life], changed: Iterable[str]) -> bool:
    """Whether the changed memories collide with any, or with themselves, or rows are made too far over others."""
    changed = set(changed)
    all_pieces = {name: pieces(plan.storage[name], life) for name, life in lives.items()}
    made_over = [(out, read, over) for out, life in lives.items() for read, over in life.over.items()]
    for out, read, over in made_over:
        a, b = plan.storage[out], plan.storage[read]
        whole = a.ring == a.rows and b.ring == b.rows
        if whole and not changed.isdisjoint((out, read)) and over.harmful(a.offset, b.offset):
            return True
    return any(collide(all_pieces[name], other) for name in changed for other in all_pieces.values())


def least_distance_behind(out: Storage, out_life: Life, dying: Life) -> int:
    """The same of an output whose last rows are made first: bytes by which its start must stay above the other's."""
    born, distance = out_life.born.reshape(out.rows, -1)[:, 0], -out.rows * out.row_bytes
    for row, time in enumerate(born):
        still = np.flatnonzero(dying.read >= time)
        if np.isfinite(time) and len(still):
            distance = max(distance, int(still[-1]) + 1 - row * out.row_bytes)
    return distance


def least_distance(out: Storage, out_life: Life, dying: Life) -> int:
    """Bytes by which the start of `out` must stay below that of a tensor that dies while `out` grows over it.

    The largest, over all rows of `out`, of their end less the first byte of the other that is still read then.
    """
    born = out_life.born.reshape(out.rows, -1)[:, 0]
    ends = (np.arange(out.rows) + 1) * out.row_bytes
    latest = np.maximum.accumulate(dying.read[::-1])[::-1]
    distance = -int(dying.read.size)
    for end, time in zip(ends[np.isfinite(born)], born[np.isfinite(born)], strict=True):
        still = np.flatnonzero(dying.read >= time) if latest[0] >= time else ()
        if len(still):
            distance = max(distance, int(end) - int(still[0]))
    return distance
