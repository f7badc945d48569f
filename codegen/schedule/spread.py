"""Several working memories: what lies in the fastest one, and what has to make do with slower ones.

Blocks are offered to the fastest memory first, then what it cannot take to the next one, and so on; a memory takes a
block while the bytes alive at every step stay within it.  What is offered first decides: what is moved most for the
room it takes, by two measures of room, or what is smallest, which puts the largest tensors out.  Then blocks that are
out change places with colder ones that are in their way.  The cheapest spread is taken, and packed memory by memory;
where addresses exceed one, it is tried again with less of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from codegen.records import record
from codegen.schedule.arena import Packing, pack
from codegen.schedule.blocks import Block, Key, Shares, joined, round_up
from codegen.target import Memory

RETRIES = 8
"""How often less is put into a memory whose blocks found no addresses within it."""


@record
class Load:
    """What is to be spread: blocks, shares and alignment as for `pack`; by block the bytes `moved` in one inference."""

    blocks: Sequence[Block[Key]]
    shares: Shares
    align: int
    moved: Mapping[Key, int]


@record
class Spread:
    """By block the number of its memory, and what bytes moved cost beyond those of the fastest memory."""

    memory: Mapping[Key, int]
    cost: int


def spread(load: Load, memories: Sequence[Memory], budgets: Sequence[int]) -> Spread | None:
    """The cheapest spread found that keeps within the budgets as far as live bytes tell; None where there is none."""
    found = [_filled(load, memories, budgets, key) for key in _ORDERS]
    return min((s for s in found if s is not None), key=lambda s: s.cost, default=None)


def place_in(
    load: Load, memories: Sequence[Memory], limits: Sequence[int], tries: int
) -> tuple[Spread, tuple[Packing[Key], ...]] | None:
    """A spread whose blocks have addresses within every limit, and these, memory by memory; None where none is found.

    Args:
        load: what to spread.
        memories: the fastest one first.
        limits: bytes that may be used of each.
        tries: as for `pack`.
    """
    budgets = list(limits)
    for _ in range(RETRIES):
        option = spread(load, memories, budgets)
        if option is None:
            return None
        packings = tuple(_packed(load, option, k, limit, tries) for k, limit in enumerate(limits))
        over = [max(0, p.bytes - limit) for p, limit in zip(packings, limits, strict=True)]
        if not any(over):
            return option, packings
        budgets = [b - o for b, o in zip(budgets, over, strict=True)]
    return None


def _packed(load: Load, option: Spread, k: int, limit: int, tries: int) -> Packing[Key]:
    inside = [b for b in load.blocks if option.memory[b.name] == k]
    return pack(inside, load.shares, load.align, enough=limit if k else 0, tries=tries)


def _heat(load: Load, block: Block[Key]) -> float:
    return load.moved[block.name] / max(1, block.bytes)


_ORDERS: tuple[Callable[[Load, Block[Key]], float], ...] = (
    lambda load, b: -_heat(load, b),
    lambda load, b: -_heat(load, b) / (b.stop - b.start + 1),
    lambda load, b: b.bytes,
)


@dataclass(slots=True)
class _Room:
    """A memory that fills: its blocks, and the bytes alive at each step, a pair that shares counted as one block.

    `pairs` has by block the others that it may share with, and the bytes saved by each.
    """

    budget: int
    pairs: Mapping[Key, Sequence[tuple[Block[Key], int]]]
    blocks: dict[Key, Block[Key]] = field(default_factory=dict)
    alive: dict[int, int] = field(default_factory=dict)

    def take(self, block: Block[Key]) -> bool:
        """Whether the block fits beside the others; then it is in."""
        change = self._change(block)
        if any(self.alive.get(step, 0) + more > self.budget for step, more in change.items()):
            return False
        self._apply(change, 1)
        self.blocks[block.name] = block
        return True

    def drop(self, block: Block[Key]) -> None:
        """Take a block out again."""
        del self.blocks[block.name]
        self._apply(self._change(block), -1)

    def copy(self) -> _Room:
        """The same, to try something with."""
        return _Room(self.budget, self.pairs, dict(self.blocks), dict(self.alive))

    def _apply(self, change: Mapping[int, int], sign: int) -> None:
        for step, more in change.items():
            self.alive[step] = self.alive.get(step, 0) + sign * more

    def _change(self, block: Block[Key]) -> dict[int, int]:
        change = dict.fromkeys(range(block.start, block.stop + 1), block.bytes)
        for other, saved in self.pairs.get(block.name, ()):
            for step in range(max(block.start, other.start), min(block.stop, other.stop) + 1):
                change[step] -= saved if other.name in self.blocks else 0
        return change


def _pairs(load: Load) -> dict[Key, list[tuple[Block[Key], int]]]:
    blocks = {b.name: b for b in load.blocks}
    found: dict[Key, list[tuple[Block[Key], int]]] = {}
    apart = {
        (low, high): round_up(min(distance, blocks[low].bytes), load.align)
        for (low, high), distance in load.shares.items()
    }
    for (a, b), saved in joined(apart, {name: block.bytes for name, block in blocks.items()}).items():
        found.setdefault(a, []).append((blocks[b], saved))
        found.setdefault(b, []).append((blocks[a], saved))
    return found


def _filled(
    load: Load, memories: Sequence[Memory], budgets: Sequence[int], key: Callable[[Load, Block[Key]], float]
) -> Spread | None:
    """Offer the blocks in an order, then let them change places."""
    pairs = _pairs(load)
    rooms = [_Room(budget, pairs) for budget in budgets]
    for block in sorted(load.blocks, key=lambda b: (key(load, b), b.start, b.name)):
        if not any(room.take(block) for room in rooms):
            return None
    hottest = sorted(load.blocks, key=lambda b: (-load.moved[b.name], b.name))
    changed = True
    while changed:
        changed = False
        for block in hottest:
            better = _exchanged(load, rooms, block) if block.name not in rooms[0].blocks else None
            rooms, changed = (better, True) if better else (rooms, changed)
    memory = {name: k for k, room in enumerate(rooms) for name in room.blocks}
    extra = [m.cost - memories[0].cost for m in memories]
    return Spread(memory, sum(extra[k] * load.moved[name] for name, k in memory.items()))


def _exchanged(load: Load, rooms: Sequence[_Room], block: Block[Key]) -> list[_Room] | None:
    """The rooms with a block in the fastest memory, for blocks that are less moved all together; None where none are.

    The least moved of those in its way go first; what then still fits comes back.
    """
    fast, *slow = [room.copy() for room in rooms]
    next(room for room in slow if block.name in room.blocks).drop(block)
    beside = [b for b in fast.blocks.values() if b.start <= block.stop and block.start <= b.stop]
    rivals = sorted(beside, key=lambda b: (load.moved[b.name], b.name))
    out: list[Block[Key]] = []
    while not fast.take(block):
        if len(out) == len(rivals):
            return None
        out.append(rivals[len(out)])
        fast.drop(out[-1])
    out = [b for b in reversed(out) if not fast.take(b)]
    if sum(load.moved[b.name] for b in out) >= load.moved[block.name]:
        return None
    return [fast, *slow] if all(any(room.take(b) for room in slow) for b in out) else None
