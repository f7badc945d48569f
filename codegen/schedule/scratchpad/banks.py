"""Banks of the scratchpad: what moves and what kernels touch in the same step lies in different ones where it can.

A preference, not a rule: blocks are put down one after another, in several orders, each where it shares banks with the
fewest of those that it meets, as low as that allows; then, and from the packing that knows no banks, blocks move to
better places as long as there are any.  Where nothing is gained, that packing stays.  A block meets itself where rows
come into a ring that is being read; no address helps there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from codegen.schedule.arena import Packing
from codegen.schedule.blocks import Block, round_up
from codegen.schedule.scratchpad.shape import ALIGN, Key
from codegen.schedule.scratchpad.timeline import Move, Place, Run, Timeline, block_name

ROUNDS = 20
"""How often all blocks may move to better places."""

Meetings = Mapping[tuple[str, str], int]
"""For two blocks (both ways round), the rows that kernels make on one while the other moves."""


def in_banks(
    lines: Sequence[Timeline], blocks: Sequence[Block[str]], packing: Packing[str], bank_bytes: int, limit: int
) -> Packing[str]:
    """The packing, or one within the limit in which fewer blocks meet in a bank."""
    floor = _Floor(blocks, meetings(lines), bank_bytes, limit - limit % ALIGN)
    starts = [dict(packing.offsets), *(floor.put_down(order) for order in _ORDERS)]
    found = [packing.offsets, *(floor.settle(start) for start in starts if len(start) == len(blocks))]
    best = min(found, key=lambda offsets: (floor.clashes(offsets), floor.top(offsets)))
    return Packing(best, floor.top(best), packing.bound)


def meetings(lines: Sequence[Timeline]) -> dict[tuple[str, str], int]:
    """All of them, on all cores."""
    found: dict[tuple[str, str], int] = {}
    for line in lines:
        for move in line.moves:
            name = block_name(move.place)
            for step in range(move.start, min(move.wait + 1, line.steps)):
                for run in _beside(line, move, step):
                    for other in {block_name(place) for place in touched(line, run)} - {name}:
                        found[name, other] = found[other, name] = found.get((name, other), 0) + run.count
    return found


def _beside(line: Timeline, move: Move, step: int) -> list[Run]:
    """What is computed in a step while the transfer runs: parameters are waited for just before their layer."""
    runs = line.runs[step]
    if step < move.wait:
        return runs
    nodes = [str(run.node) for run in runs]
    own = move.place[1][1]
    return runs[: nodes.index(own)] if move.kind == "params" and own in nodes else []


def touched(line: Timeline, run: Run) -> list[Place]:
    """Blocks that a layer's kernel reads and writes."""
    node, needs = line.facts.graph.nodes[run.node], line.facts.needs[run.node]
    tile = run.tile % 2
    keys: list[Key] = [("params", str(run.node), tile)]
    if needs.scratch_bytes:
        keys.append(("keep", str(run.node), 0) if needs.keeps else ("once", "", 0))
    for name in (*node.inputs, *node.outputs):
        keys += [("in", name, 0), ("out", name, tile), ("ring", name, 0), ("kept", name, 0)]
    keys += [("pad", f"{dtype} {value}", 0) for dtype, value in line.facts.pads[run.node]]
    return [(line.owner(run.group, key), key) for key in keys if key in line.stages[run.group].blocks]


_ORDERS: tuple[Callable[[int, Block[str]], tuple[int, ...]], ...] = (
    lambda met, b: (-met, -b.bytes, b.start),
    lambda met, b: (-b.bytes, -met, b.start),
    lambda met, b: (-b.bytes * (b.stop - b.start + 1), b.start),
    lambda met, b: (b.start, -b.bytes),
)
"""Orders in which blocks are put down, by the rows made while a block meets others."""


@dataclass(slots=True)
class _Floor:
    """Blocks to be placed: by block those alive beside it, and those it meets with the rows made then."""

    blocks: Sequence[Block[str]]
    met: Meetings
    bank_bytes: int
    limit: int
    size: dict[str, int] = field(init=False)
    beside: dict[str, list[str]] = field(init=False)
    partners: dict[str, list[tuple[str, int]]] = field(init=False)

    def __post_init__(self) -> None:
        """Find the neighbours."""
        self.size = {b.name: b.bytes for b in self.blocks}
        self.beside = {
            a.name: [b.name for b in self.blocks if a is not b and a.start <= b.stop and b.start <= a.stop]
            for a in self.blocks
        }
        self.partners = {name: [] for name in self.size}
        for (a, b), rows in self.met.items():
            self.partners[a].append((b, rows))

    def clashes(self, offsets: Mapping[str, int]) -> int:
        """Rows made while two blocks that meet share a bank, all pairs together."""
        return sum(self._cost(name, at, offsets) for name, at in offsets.items()) // 2

    def top(self, offsets: Mapping[str, int]) -> int:
        """The bytes that are used."""
        return max((at + self.size[name] for name, at in offsets.items()), default=0)

    def put_down(self, order: Callable[[int, Block[str]], tuple[int, ...]]) -> dict[str, int]:
        """Offsets found one after another; not all of them where some block has no room."""
        weight = {name: sum(rows for _, rows in found) for name, found in self.partners.items()}
        placed: dict[str, int] = {}
        for block in sorted(self.blocks, key=lambda b: order(weight[b.name], b)):
            at = self._best(block.name, placed)
            if at is None:
                break
            placed[block.name] = at
        return placed

    def settle(self, offsets: dict[str, int]) -> dict[str, int]:
        """The offsets, with blocks moved to where they clash less, until none can."""
        placed = dict(offsets)
        for _ in range(ROUNDS):
            before = dict(placed)
            for name in placed:
                cost = self._cost(name, placed[name], placed)
                at = self._best(name, placed) if cost else None
                if at is not None and self._cost(name, at, placed) < cost:
                    placed[name] = at
            if placed == before:
                break
        return placed

    def _best(self, name: str, placed: Mapping[str, int]) -> int | None:
        """Where the block clashes least among those placed, as low as that allows."""
        size = self.size[name]
        taken = sorted((placed[b], placed[b] + self.size[b]) for b in self.beside[name] if b in placed)
        places = {0, *range(0, self.limit, self.bank_bytes), *(round_up(end, ALIGN) for _, end in taken)}
        free = [at for at in places if at + size <= self.limit and not any(at < e and s < at + size for s, e in taken)]
        return min(free, key=lambda at: (self._cost(name, at, placed), at), default=None)

    def _cost(self, name: str, at: int, placed: Mapping[str, int]) -> int:
        first, last = at // self.bank_bytes, (at + self.size[name] - 1) // self.bank_bytes
        total = 0
        for other, rows in self.partners[name]:
            if other in placed:
                start = placed[other]
                meets = start // self.bank_bytes <= last
                total += rows if meets and first <= (start + self.size[other] - 1) // self.bank_bytes else 0
        return total
