"""When each byte of each tensor is written and last read: the reasons why a changed plan is, or is not, harmful.

An independent way to the shadow run's verdict: two places of memory may be one only when the bytes that they hold are
not needed at one time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from codegen.ir.plan import Plan, Storage
from codegen.ir.program import Call, Operand, Program
from codegen.ir.quant import Array
from codegen.ir.shape import Span
from codegen.lower.shadow import _Shadow


@dataclass(frozen=True, slots=True)
class Life:
    """By byte of one memory: when it is written, and read for the last time (-1 when never).

    A kernel that runs in place, or has read all before it writes, reads half a step before it writes.
    """

    born: Array
    read: Array


class _Log(_Shadow):
    """A shadow run that notes times; what is made at the n-th time, a row or a block of rows, is made at time n."""

    def __init__(self, program: Program, sizes: Mapping[str, int]) -> None:
        super().__init__(program)
        self.now = 0.0
        self.early = 0.0
        self.lives = {name: Life(np.full(n, np.inf), np.full(n, -1.0)) for name, n in sizes.items()}

    def _rows(self, call: Call, rows: Span) -> None:
        self.now += 1.0
        super()._rows(call, rows)

    def _check_reads(self, call: Call, rows: Span, *, before: bool) -> None:
        self.early = 0.5 if before else 0.0
        super()._check_reads(call, rows, before=before)
        self.early = 0.0

    def write(self, operand: Operand, row: int) -> None:
        streamed = self.program.streamed and operand.value == self.program.inputs[0].operand.value
        self.lives[operand.memory].born[self._slice(operand, row)] = self.now + (0.25 if streamed else 0.0)
        super().write(operand, row)

    def check(self, operand: Operand, row: int, reader: str) -> None:
        self.lives[operand.memory].read[self._slice(operand, row)] = self.now - self.early
        super().check(operand, row, reader)

    @staticmethod
    def _slice(operand: Operand, row: int) -> slice:
        return slice(row * operand.row_bytes, (row + 1) * operand.row_bytes)


def lifetimes(program: Program, plan: Plan) -> dict[str, Life]:
    """The life of every memory, by the name of the tensor that it belongs to."""
    owners = set(roots(plan).values())
    log = _Log(program, {n: plan.storage[n].rows * plan.storage[n].row_bytes for n in owners})
    if not program.streamed:
        for port in program.inputs:
            log.write_all(port.operand)
    for state in program.states:
        log.write_all(state.operand)
    for group in program.groups:
        log.group(group)
    log.now = np.inf
    for state in program.states:
        log.check_all(state.renewed, "the next run")
        if not state.in_place:
            log.lives[state.operand.memory].read[:] = np.inf
    for port in program.outputs:
        for row in range(port.operand.rows):
            log.check(port.operand, row, "the network's output")
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
    """Whether the changed memories collide with any, or with themselves."""
    all_pieces = {name: pieces(plan.storage[name], life) for name, life in lives.items()}
    return any(collide(all_pieces[name], other) for name in changed for other in all_pieces.values())


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
