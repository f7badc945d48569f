"""Blocks of memory with lifetimes, and which of them must lie apart: what every way of packing them starts from."""

from __future__ import annotations

import enum
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from codegen.records import record

N = TypeVar("N", bound=Hashable)


class BlockKind(enum.IntEnum):
    """What a block holds: scratch that one kernel keeps, scratch that a group's kernels take turns in, or a tensor.

    Where nothing else decides, blocks are taken in this order.
    """

    KEPT = 0
    SHARED = 1
    TENSOR = 2


class Key(NamedTuple):
    """A block's name: of a tensor its own, of scratch the node or the step that it serves."""

    kind: BlockKind
    name: str


def tensor(name: str) -> Key:
    """The key of a tensor's block."""
    return Key(BlockKind.TENSOR, name)


BEFORE = 0
"""When the network is entered: with what its inputs and states hold.  Step 1 is the first that runs."""


@record
class Block(Generic[N]):
    """Bytes that are needed from step `start` to step `stop`, both included; inputs from `BEFORE` on."""

    name: N
    bytes: int
    start: int
    stop: int


Shares = Mapping[tuple[Any, Any], int]
"""(low, high) -> the distance in bytes that the start of `low` must keep below the start of `high`.

Of a tensor and one that grows over it; either may be the lower one, where both orders of the pair are named.
"""

Neighbour = tuple[int, int, int]
"""(block, distance to keep when it lies above, distance to keep when it lies below), from start to start, in bytes."""


def round_up(value: int, align: int) -> int:
    """The smallest multiple of `align` that is not below `value`."""
    return -(-value // align) * align


def joined(distances: Mapping[tuple[N, N], int], sizes: Mapping[N, int]) -> dict[tuple[N, N], int]:
    """By pair the bytes that sharing saves at most, whichever of both lies lower; each pair is named once."""
    found: dict[tuple[N, N], int] = {}
    for (low, high), distance in distances.items():
        below, above = sizes[low], sizes[high]
        saved = below + above - max(distance + above, below)
        pair = (high, low) if (high, low) in found else (low, high)
        found[pair] = max(saved, found.get(pair, 0))
    return found


@dataclass(slots=True)
class Crowd:
    """Blocks by number, and of each the neighbours it meets in time with the distances to them.

    All distances are multiples of `align`, so that offsets which add them up are too.
    """

    blocks: Sequence[Block[Any]]
    shares: Shares
    align: int
    sizes: list[int] = field(init=False)
    near: list[list[Neighbour]] = field(init=False)

    def __post_init__(self) -> None:
        """Find the neighbours, by one walk over time."""
        self.sizes = [b.bytes for b in self.blocks]
        whole = [round_up(size, self.align) for size in self.sizes]
        pairs = self._pairs()
        self.near = [[] for _ in self.blocks]
        alive: list[int] = []
        for i in sorted(range(len(self.blocks)), key=lambda k: self.blocks[k].start):
            alive = [j for j in alive if self.blocks[j].stop >= self.blocks[i].start]
            for j in alive:
                up, down = pairs.get((i, j), whole[i]), pairs.get((j, i), whole[j])
                self.near[i].append((j, up, down))
                self.near[j].append((i, down, up))
            alive.append(i)

    def _pairs(self) -> dict[tuple[int, int], int]:
        """(low, high) by number -> distance, for the pairs that are among the blocks."""
        number = {b.name: i for i, b in enumerate(self.blocks)}
        return {
            (number[low], number[high]): round_up(min(distance, self.blocks[number[low]].bytes), self.align)
            for (low, high), distance in self.shares.items()
            if low in number and high in number
        }

    def live_bytes(self) -> int:
        """Largest sum of bytes live at one step, a pair that shares counted as one block of both: a lower bound."""
        begin = {b.start for b in self.blocks}
        change = dict.fromkeys(begin, 0)
        for block in self.blocks:
            self._add(change, block.start, block.stop, block.bytes)
        for (i, j), saved in joined(self._pairs(), dict(enumerate(self.sizes))).items():
            a, b = self.blocks[i], self.blocks[j]
            start, stop = max(a.start, b.start), min(a.stop, b.stop)
            if start <= stop:
                self._add(change, start, stop, -saved)
        most = total = 0
        for step in sorted(change):
            total += change[step]
            most = max(most, total if step in begin else 0)
        return most

    @staticmethod
    def _add(change: dict[int, int], start: int, stop: int, amount: int) -> None:
        change[start] = change.get(start, 0) + amount
        change[stop + 1] = change.get(stop + 1, 0) - amount
