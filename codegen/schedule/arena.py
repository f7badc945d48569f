"""Offsets: packs blocks with lifetimes into one arena, and says how good the packing is.

Greedy first fit in several orders; the smallest result wins, ties go to the earlier order.  The bound is the largest
sum of bytes live at one step, which no packing of the same order can beat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codegen.schedule.liveness import Lifetime


def round_up(value: int, align: int) -> int:
    """The smallest multiple of `align` that is not below `value`."""
    return -(-value // align) * align


def live_bound(blocks: Sequence[Lifetime], align: int) -> int:
    """Largest number of bytes live at one step, every block but the last rounded up to `align`."""
    steps = sorted({b.start for b in blocks})
    return max((_live_at(blocks, step, align) for step in steps), default=0)


def _live_at(blocks: Sequence[Lifetime], step: int, align: int) -> int:
    live = [b.bytes for b in blocks if b.start <= step <= b.stop]
    slack = max((round_up(n, align) - n for n in live), default=0)
    return sum(round_up(n, align) for n in live) - slack


def pack(blocks: Sequence[Lifetime], align: int) -> tuple[dict[str, int], int]:
    """Offsets by root and the arena's size in bytes."""
    orders: tuple[Callable[[Lifetime], tuple[int, ...]], ...] = (
        lambda b: (-b.bytes, b.start),
        lambda b: (-b.bytes * (b.stop - b.start + 1), b.start),
        lambda b: (-(b.stop - b.start), -b.bytes),
        lambda b: (b.start, -b.bytes),
    )
    results = [_first_fit(sorted(blocks, key=order), align) for order in orders]
    return min(results, key=lambda r: r[1])


def _first_fit(blocks: Sequence[Lifetime], align: int) -> tuple[dict[str, int], int]:
    placed: list[tuple[int, Lifetime]] = []
    for block in blocks:
        offset = 0
        for start, other in sorted(placed, key=lambda p: p[0]):
            if other.overlaps(block):
                if offset + block.bytes <= start:
                    break
                offset = max(offset, round_up(start + other.bytes, align))
        placed.append((offset, block))
    return {b.root: o for o, b in placed}, max((o + b.bytes for o, b in placed), default=0)
