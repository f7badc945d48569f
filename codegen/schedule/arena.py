"""Offsets: packs blocks with lifetimes into one arena, and says how good the packing is.

Two blocks that are live together lie apart, except a pair that may share: `out` over `dying` needs only that
`offset(out) + distance <= offset(dying)`.  First the bound (largest sum of live bytes), then greedy placement in
several orders, then hill climbing on the best order, and for few blocks an exact search: blocks are placed with
non-decreasing offsets, each as low as those below it allow (Moffitt, MiniMalloc, ASPLOS 2023, has the canonical form),
under a falling capacity and a limit on nodes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

NODE_LIMIT = 4_000
"""Placements the exact search may try for one capacity."""
CLIMB_WORK = 400_000
"""Pairs of blocks live together that hill climbing may look at in all."""
CLIMB_MOST = 2_000
"""Orders that hill climbing may try."""
EXACT_BLOCKS = 24
"""Blocks up to which the exact search is tried."""


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes that are needed from step `start` to step `stop`, both included."""

    name: str
    bytes: int
    start: int
    stop: int

    def overlaps(self, other: Block) -> bool:
        """Whether both must hold their bytes at one time."""
        return self.start <= other.stop and other.start <= self.stop


@dataclass(frozen=True, slots=True)
class Packing:
    """Offsets by name, the arena's size, and what no packing of these blocks can beat."""

    offsets: Mapping[str, int]
    bytes: int
    bound: int

    @property
    def optimal(self) -> bool:
        """Whether the size is proven to be the least."""
        return self.bytes == self.bound


Shares = Mapping[tuple[str, str], int]
"""(out, dying) -> the distance in bytes that the start of `out` must keep below the start of `dying`."""


def round_up(value: int, align: int) -> int:
    """The smallest multiple of `align` that is not below `value`."""
    return -(-value // align) * align


def pack(blocks: Sequence[Block], shares: Shares, align: int) -> Packing:
    """Place every block; offsets are multiples of `align`."""
    work = _Packer(blocks, shares, align)
    bound = work.bound()
    orders = [sorted(range(len(blocks)), key=lambda i: order(blocks[i])) for order in _ORDERS]
    best = work.climb(min(orders, key=lambda o: work.greedy(o)[1]), bound)
    low, capacity = bound, bound
    while low < best[1] and len(blocks) <= EXACT_BLOCKS:
        found = work.search(capacity)
        if found is None:
            low = capacity + align
        else:
            best = found
        capacity = (low + best[1]) // 2
    return Packing(best[0], best[1], bound)


_ORDERS: tuple[Callable[[Block], tuple[int, ...]], ...] = (
    lambda b: (-b.bytes, b.start),
    lambda b: (-b.bytes * (b.stop - b.start + 1), b.start),
    lambda b: (-(b.stop - b.start), -b.bytes),
    lambda b: (b.start, -b.bytes),
    lambda b: (-b.start, -b.bytes),
)


@dataclass(slots=True)
class _Packer:
    blocks: Sequence[Block]
    shares: Shares
    align: int
    names: dict[str, int] = field(init=False)
    near: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.names = {b.name: i for i, b in enumerate(self.blocks)}
        self.near = [
            [j for j, other in enumerate(self.blocks) if j != i and b.overlaps(other)]
            for i, b in enumerate(self.blocks)
        ]

    def gap(self, low: int, high: int) -> int:
        """Bytes from the start of block `low` to the start of block `high`, at least, when `low` is the lower one."""
        a, b = self.blocks[low], self.blocks[high]
        distance = self.shares.get((a.name, b.name))
        whole = a.bytes if distance is None else min(distance, a.bytes)
        return round_up(whole, self.align)

    def bound(self) -> int:
        """Largest sum of bytes live at one step; a pair that may share counts as one block of both."""
        return max((self._live(step) for step in {b.start for b in self.blocks}), default=0)

    def _live(self, step: int) -> int:
        alive = {b.name: b for b in self.blocks if b.start <= step <= b.stop}
        total = sum(b.bytes for b in alive.values())
        for (out, dying), distance in self.shares.items():
            if out in alive and dying in alive:
                a, b = alive[out].bytes, alive[dying].bytes
                total -= a + b - max(min(distance, a) + b, a)
        return total

    def greedy(self, order: Sequence[int]) -> tuple[dict[str, int], int]:
        """Place in the given order, each block at the lowest offset where it fits."""
        placed: dict[int, int] = {}
        for i in order:
            placed[i] = self._lowest(i, placed)
        return self._result(placed)

    def climb(self, order: Sequence[int], bound: int) -> tuple[dict[str, int], int]:
        """The best of many orders: each time a block near the highest one moves forward; worse orders are undone."""
        best = self.greedy(order)
        current, size = list(order), best[1]
        draw = random.Random(0)
        pairs = sum(len(near) + 1 for near in self.near)
        for _ in range(min(CLIMB_MOST, CLIMB_WORK // max(1, pairs))):
            if best[1] <= bound:
                break
            trial = list(current)
            top = self._top(best[0])
            moved = draw.choice([top, *self.near[top]])
            trial.remove(moved)
            trial.insert(draw.randrange(len(trial) + 1), moved)
            found = self.greedy(trial)
            if found[1] <= size:
                current, size = trial, found[1]
                best = found if size <= best[1] else best
        return best

    def _top(self, offsets: Mapping[str, int]) -> int:
        """The block that ends highest."""
        return max(range(len(self.blocks)), key=lambda i: offsets[self.blocks[i].name] + self.blocks[i].bytes)

    def _lowest(self, i: int, placed: Mapping[int, int]) -> int:
        taken = [(placed[j] - self.gap(i, j), placed[j] + self.gap(j, i)) for j in self.near[i] if j in placed]
        offset = 0
        for low, high in sorted(taken, key=lambda t: t[1]):
            if low < offset < high:
                offset = high
        while any(low < offset < high for low, high in taken):
            offset = min(high for low, high in taken if low < offset < high)
        return offset

    def _result(self, placed: Mapping[int, int]) -> tuple[dict[str, int], int]:
        size = max((o + self.blocks[i].bytes for i, o in placed.items()), default=0)
        return {self.blocks[i].name: o for i, o in placed.items()}, size

    def search(self, capacity: int) -> tuple[dict[str, int], int] | None:
        """A packing within `capacity`, or None when there is none or the node limit is reached."""
        hunt = _Search(self, capacity)
        return self._result(hunt.placed) if hunt.run() else None


@dataclass(slots=True)
class _Search:
    """Depth-first search over canonical packings: offsets never fall from one placement to the next."""

    packer: _Packer
    capacity: int
    placed: dict[int, int] = field(default_factory=dict)
    nodes: int = 0

    def run(self) -> bool:
        """Whether every block found a place; `placed` then holds the offsets."""
        return self._place([0] * len(self.packer.blocks), 0)

    def _place(self, floor: list[int], lowest: int) -> bool:
        """Place the blocks that are left, none below `lowest`; floor[i] is what the blocks below i allow."""
        left = [i for i in range(len(floor)) if i not in self.placed]
        if not left:
            return True
        blocks = self.packer.blocks
        if any(floor[i] + blocks[i].bytes > self.capacity for i in left):
            return False
        ready = [i for i in left if floor[i] >= lowest]
        ends = min((floor[i] + blocks[i].bytes for i in ready), default=0)
        tried: set[tuple[int, int, int, int]] = set()
        for i in sorted((i for i in ready if floor[i] < ends), key=lambda k: (floor[k], -blocks[k].bytes)):
            twin = (floor[i], blocks[i].bytes, blocks[i].start, blocks[i].stop)
            if twin in tried and not self._shares(i):
                continue
            tried.add(twin)
            self.nodes += 1
            if self.nodes > NODE_LIMIT:
                return False
            if self._try(i, floor):
                return True
        return False

    def _shares(self, i: int) -> bool:
        name = self.packer.blocks[i].name
        return any(name in pair for pair in self.packer.shares)

    def _try(self, i: int, floor: list[int]) -> bool:
        raised = list(floor)
        for j in self.packer.near[i]:
            if j not in self.placed:
                raised[j] = max(raised[j], floor[i] + self.packer.gap(i, j))
        self.placed[i] = floor[i]
        if self._place(raised, floor[i]):
            return True
        del self.placed[i]
        return False
