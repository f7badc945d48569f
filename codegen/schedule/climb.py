"""Hill climbing over the orders in which blocks are put down, each at the lowest offset where it fits.

Every packing that cannot be pushed together further comes from such an order.  What makes the arena as high as it is
can be named: the block that ends highest, the one it rests on, and so on down to offset 0.  Only a move that breaks
this chain can help, so a member of it is put down earlier: before another member, or before a block it lies next to.
Blocks that such a move does not reach keep their offsets, which makes one try cheap in a long network.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from codegen.schedule.blocks import Crowd

PATIENCE = 20
"""Tries without gain after which some moves are made for worse."""
KICKS = 4
"""Moves for worse at most, in a row."""
VISITS = 500
"""Neighbours that one try may look at on average: a try that moves thousands of blocks is not worth its time."""
_NO_LIMIT = 1 << 62


@dataclass(slots=True)
class Pile:
    """Blocks in an order, and the offsets that follow from it."""

    crowd: Crowd
    order: list[int]
    rank: list[int] = field(init=False)
    offsets: list[int] = field(init=False)
    ends: list[int] = field(init=False)
    visits: int = 0
    """Neighbours looked at so far: the work done, whatever the machine."""

    def __post_init__(self) -> None:
        """Put every block down."""
        self.rank = [0] * len(self.order)
        for k, i in enumerate(self.order):
            self.rank[i] = k
        self.offsets = [0] * len(self.order)
        for i in self.order:
            self.offsets[i] = self._lowest(i)
        self.ends = [o + size for o, size in zip(self.offsets, self.crowd.sizes, strict=True)]

    @property
    def bytes(self) -> int:
        """Where the highest block ends."""
        return max(self.ends, default=0)

    def _lowest(self, i: int) -> int:
        """The lowest offset that those before block `i` leave it.

        A neighbour forbids what lies strictly between its offset less one distance and its offset plus the other.
        """
        rank, offsets, mine = self.rank, self.offsets, self.rank[i]
        self.visits += len(self.crowd.near[i])
        taken = [(offsets[j] - up, offsets[j] + down) for j, up, down in self.crowd.near[i] if rank[j] < mine]
        taken.sort()
        offset = 0
        for low, high in taken:
            if low >= offset:
                break
            if high > offset:
                offset = high
        return offset

    def move(self, i: int, before: int, limit: int) -> bool:
        """Put block `i` down just before block `before`, unless some block then ended above `limit`."""
        start, end = self.rank[before], self.rank[i]
        self._shift(end, start)
        undo: list[tuple[int, int]] = []
        waiting, seen = [start], {start}
        while waiting:
            at = heappop(waiting)
            k = self.order[at]
            offset = self._lowest(k)
            changed = offset != self.offsets[k]
            if changed:
                undo.append((k, self.offsets[k]))
                self._put(k, offset)
                if self.ends[k] > limit:
                    for block, old in reversed(undo):
                        self._put(block, old)
                    self._shift(start, end)
                    return False
            if changed or k == i:
                last = len(self.order) if changed else end
                for j, _, _ in self.crowd.near[k]:
                    if at < self.rank[j] <= last and self.rank[j] not in seen:
                        seen.add(self.rank[j])
                        heappush(waiting, self.rank[j])
        return True

    def _put(self, i: int, offset: int) -> None:
        self.offsets[i] = offset
        self.ends[i] = offset + self.crowd.sizes[i]

    def _shift(self, old: int, new: int) -> None:
        """Let the block at one place of the order stand at another."""
        self.order.insert(new, self.order.pop(old))
        for k in range(min(old, new), max(old, new) + 1):
            self.rank[self.order[k]] = k

    def chain(self, draw: random.Random) -> list[int]:
        """A block that ends highest, what it rests on, and so on down to offset 0; drawn where several do."""
        highest = self.bytes
        start = int(draw.random() * len(self.ends))
        found = [((self.ends[start:] + self.ends[:start]).index(highest) + start) % len(self.ends)]
        offsets, rank, near = self.offsets, self.rank, self.crowd.near
        while (offset := offsets[i := found[-1]]) > 0:
            mine = rank[i]
            below = [j for j, _, down in near[i] if offsets[j] + down == offset and rank[j] < mine]
            found.append(_pick(draw, below))
        return found

    def breaking(self, draw: random.Random) -> tuple[int, int] | None:
        """A member of a chain, and the block it should come before; None where the draw has no such block."""
        chain = self.chain(draw)
        i = _pick(draw, chain)
        others = chain if draw.random() < 0.5 else [j for j, _, _ in self.crowd.near[i]]
        earlier = [j for j in others if self.rank[j] < self.rank[i]]
        return (i, _pick(draw, earlier)) if earlier else None


def _pick(draw: random.Random, items: Sequence[int]) -> int:
    """One of the items; `random()` alone is promised to be the same in every version of Python."""
    return items[int(draw.random() * len(items))]


def climb(pile: Pile, goal: int, tries: int) -> tuple[list[int], int]:
    """The best offsets found from a pile on, which is moved, and their size.

    Args:
        pile: all blocks, put down in an order to begin with.
        goal: a size in bytes with which the search ends.
        tries: moves at most, and VISITS times as many looks at neighbours.
    """
    draw = random.Random(0)
    best, least = list(pile.offsets), pile.bytes
    size, idle = least, 0
    end = pile.visits + VISITS * tries
    for _ in range(tries):
        if least <= goal or pile.visits >= end:
            break
        kicked = idle >= PATIENCE
        if kicked:
            _kick(pile, draw)
            size, idle = pile.bytes, 0
        idle += 1
        found = pile.breaking(draw)
        if found is not None and pile.move(*found, limit=size):
            now = pile.bytes
            idle = idle if now == size else 0
            size = now
        if size < least:
            best, least = list(pile.offsets), size
    return best, least


def _kick(pile: Pile, draw: random.Random) -> None:
    """Some moves, whatever they cost."""
    for _ in range(1 + int(draw.random() * KICKS)):
        found = pile.breaking(draw)
        if found is not None:
            pile.move(*found, limit=_NO_LIMIT)
