"""Offsets: packs blocks with lifetimes into one arena, and says how good the packing is.

Two blocks that are live together lie apart, except a pair that may share: a tensor and one that grows over it need only
that `offset(low) + distance <= offset(high)`, where either may be the lower one if both distances are told.  First the
bound (largest sum of live bytes), then the best of several orders of putting blocks down, then a climb from there
(`climb.py`), and for few blocks an exact search (`exact.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

from codegen.records import record
from codegen.schedule.blocks import Block, Crowd, N, Shares, round_up
from codegen.schedule.climb import Pile, climb
from codegen.schedule.exact import Search

TRIES = 3_000
"""Moves that the climbs may try in all."""
STARTS = 2
"""Orders to climb from, the best ones first."""
EXACT_BLOCKS = 24
"""Blocks up to which the exact search is tried."""


@record
class Packing(Generic[N]):
    """Offsets by name, the arena's size, and what no packing of these blocks can beat."""

    offsets: Mapping[N, int]
    bytes: int
    bound: int

    @property
    def optimal(self) -> bool:
        """Whether the size is proven to be the least."""
        return self.bytes == self.bound


_ORDERS: tuple[Callable[[Block[Any]], tuple[int, ...]], ...] = (
    lambda b: (-b.bytes, b.start),
    lambda b: (-b.bytes * (b.stop - b.start + 1), b.start),
    lambda b: (-(b.stop - b.start), -b.bytes),
    lambda b: (b.start, -b.bytes),
    lambda b: (-b.start, -b.bytes),
)


def pack(
    blocks: Sequence[Block[N]], shares: Shares, align: int, *, enough: int = 0, tries: int | None = None
) -> Packing[N]:
    """Place every block.

    Args:
        blocks: what to place; names are unique.
        shares: pairs of blocks that may overlap; a block is in one pair at most at any step.
        align: offsets are multiples of it.
        enough: a size in bytes that is good enough, with which the search ends.
        tries: moves that the climbs may try, TRIES unless told; with none, one order is taken as it is.
    """
    crowd = Crowd(blocks, shares, align)
    bound = crowd.live_bytes()
    goal = max(bound, enough)
    offsets, size = _climbed(crowd, bound, goal, TRIES if tries is None else tries)
    while size > goal and tries != 0 and len(blocks) <= EXACT_BLOCKS:
        search = Search(crowd, size - 1)
        if not search.run():
            bound = bound if search.gave_up else size
            break
        offsets = [search.placed[i] for i in range(len(blocks))]
        size = max(o + b.bytes for o, b in zip(offsets, blocks, strict=True))
    return Packing({b.name: o for b, o in zip(blocks, offsets, strict=True)}, size, bound)


def _climbed(crowd: Crowd, bound: int, goal: int, tries: int) -> tuple[list[int], int]:
    """The best offsets that climbing finds from several starts, and their size; none is smaller than `bound`."""
    piles: list[Pile] = []
    for key in _ORDERS if tries else _ORDERS[:1]:
        piles.append(Pile(crowd, sorted(range(len(crowd.blocks)), key=lambda i: key(crowd.blocks[i]))))
        if piles[-1].bytes <= bound:
            return piles[-1].offsets, piles[-1].bytes
    starts = sorted(piles, key=lambda pile: pile.bytes)[:STARTS]
    best = climb(starts[0], goal, tries // STARTS)
    for start in starts[1:]:
        if best[1] > goal:
            best = min(best, climb(start, goal, tries // STARTS), key=lambda found: found[1])
    return best


__all__ = ["Block", "Packing", "Shares", "pack", "round_up"]
