"""The packer against exhaustive search on small instances, and its claims on larger ones."""

from __future__ import annotations

import itertools
import random

import pytest

from codegen.schedule.arena import Block, Packing, Shares, pack

ALIGN = 4


def instance(seed: int, count: int) -> tuple[list[Block], dict[tuple[str, str], int]]:
    """Blocks with random lifetimes; some that end where another begins may share."""
    draw = random.Random(seed)
    blocks = []
    for i in range(count):
        start = draw.randint(0, 6)
        blocks.append(Block(f"b{i}", draw.randint(1, 12) * ALIGN, start, start + draw.randint(0, 3)))
    shares: dict[tuple[str, str], int] = {}
    taken: set[str] = set()
    for a, b in itertools.permutations(blocks, 2):
        if a.start == b.stop and b.start < a.start and draw.random() < 0.5 and not taken & {a.name, b.name}:
            shares[a.name, b.name] = draw.randint(0, 3) * ALIGN
            taken |= {a.name, b.name}
    return blocks, shares


def sound(blocks: list[Block], shares: Shares, packing: Packing) -> bool:
    for a, b in itertools.permutations(blocks, 2):
        if a.start <= b.stop and b.start <= a.stop:
            low, high = packing.offsets[a.name], packing.offsets[b.name]
            apart = low + a.bytes <= high or high + b.bytes <= low
            over = (a.name, b.name) in shares and low + shares[a.name, b.name] <= high
            under = (b.name, a.name) in shares and high + shares[b.name, a.name] <= low
            if not (apart or over or under):
                return False
    return all(packing.offsets[b.name] + b.bytes <= packing.bytes for b in blocks)


def least(blocks: list[Block], shares: Shares) -> int:
    """The least size, over all sequences in which each block goes to the lowest place above those before it."""
    best = 1 << 30
    for order in itertools.permutations(range(len(blocks))):
        offsets: dict[int, int] = {}
        for i in order:
            offset = 0
            for j in offsets:
                a, b = blocks[j], blocks[i]
                if a.start <= b.stop and b.start <= a.stop:
                    distance = min(shares.get((a.name, b.name), a.bytes), a.bytes)
                    offset = max(offset, offsets[j] + distance)
            offsets[i] = offset
        best = min(best, max(offsets[i] + blocks[i].bytes for i in offsets))
    return best


@pytest.mark.parametrize("seed", range(40))
def test_small_instances_are_packed_as_well_as_can_be(seed: int) -> None:
    blocks, shares = instance(seed, 6)
    packing = pack(blocks, shares, ALIGN)
    assert sound(blocks, shares, packing)
    assert packing.bytes == least(blocks, shares)


@pytest.mark.parametrize("seed", range(30))
def test_large_instances_are_sound_and_near_the_bound(seed: int) -> None:
    blocks, shares = instance(seed, 40)
    packing = pack(blocks, shares, ALIGN)
    assert sound(blocks, shares, packing)
    assert packing.bound <= packing.bytes <= packing.bound * 1.25


def test_a_pair_that_shares_needs_the_distance_and_the_larger_one() -> None:
    blocks = [Block("in", 100, 0, 1), Block("out", 80, 1, 2)]
    packing = pack(blocks, {("out", "in"): 12}, ALIGN)
    assert packing.offsets == {"out": 0, "in": 12}
    assert packing.bytes == 112
    assert packing.optimal


def test_nothing_needs_nothing() -> None:
    assert pack([], {}, ALIGN).bytes == 0
