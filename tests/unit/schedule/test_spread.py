"""Blocks over several memories: against every choice on small instances, and never out of a memory's bounds."""

from __future__ import annotations

import itertools

import pytest

from codegen.schedule.blocks import Crowd
from codegen.schedule.spread import Load, Spread, place_in, spread
from codegen.target import Memory
from tests.unit.schedule.test_arena import ALIGN, instance, sound

FAST, SLOW = Memory("sram", "ram", None, "test"), Memory("psram", "psram", None, "test", cost=6)
ANY = 1 << 40


def load(seed: int, count: int) -> Load:
    """A packer's instance in which some blocks are moved often."""
    blocks, shares = instance(seed, count)
    return Load(blocks, shares, ALIGN, {b.name: b.bytes * (1 + (seed + 7 * i) % 9) for i, b in enumerate(blocks)})


def live(what: Load, names: set[str]) -> int:
    return Crowd([b for b in what.blocks if b.name in names], what.shares, ALIGN).live_bytes()


def limits(what: Load) -> list[int]:
    """From nothing to everything."""
    most = live(what, set(what.moved))
    return [most * percent // 100 for percent in (0, 20, 40, 60, 80, 99, 100)]


def cost(what: Load, out: set[str]) -> int:
    return sum((SLOW.cost - FAST.cost) * what.moved[name] for name in out)


def least_cost(what: Load, limit: int) -> int:
    """Of all choices that keep within the limit."""
    names = sorted(what.moved)
    choices = (set(out) for n in range(len(names) + 1) for out in itertools.combinations(names, n))
    return min(cost(what, out) for out in choices if live(what, set(names) - out) <= limit)


def largest_out(what: Load, limit: int) -> int:
    """What putting the largest blocks out costs that do not fit beside smaller ones."""
    inside: set[str] = set()
    for block in sorted(what.blocks, key=lambda b: (b.bytes, b.start, b.name)):
        if live(what, inside | {block.name}) <= limit:
            inside.add(block.name)
    return cost(what, set(what.moved) - inside)


def outside(found: Spread) -> set[str]:
    return {name for name, memory in found.memory.items() if memory}


def test_small_instances_cost_hardly_more_than_the_best_choice() -> None:
    spent = best = optimal = count = 0
    for seed in range(60):
        what = load(seed, 8)
        for limit in limits(what):
            found = spread(what, [FAST, SLOW], [limit, ANY])
            assert found is not None
            assert live(what, set(what.moved) - outside(found)) <= limit
            assert found.cost == cost(what, outside(found))
            assert found.cost <= largest_out(what, limit)
            least = least_cost(what, limit)
            assert found.cost >= least
            spent, best, optimal, count = spent + found.cost, best + least, optimal + (found.cost == least), count + 1
    assert spent <= 1.01 * best
    assert optimal >= 0.95 * count


@pytest.mark.parametrize("seed", range(12))
def test_each_part_has_sound_addresses_within_its_limit(seed: int) -> None:
    what = load(seed, 30)
    most = live(what, set(what.moved))
    memories = [FAST, Memory("tcm", "ram", None, "test", cost=2), SLOW]
    bounds = [most // 3, most // 3, most]
    found = place_in(what, memories, bounds, tries=200)
    assert found is not None
    option, packings = found
    for k, (packing, limit) in enumerate(zip(packings, bounds, strict=True)):
        inside = [b for b in what.blocks if option.memory[b.name] == k]
        assert packing.bytes <= limit
        assert set(packing.offsets) == {b.name for b in inside}
        pairs = {pair: gap for pair, gap in what.shares.items() if {*pair} <= {b.name for b in inside}}
        assert sound(inside, pairs, packing)


def test_nothing_is_found_where_all_memories_together_are_too_small() -> None:
    what = load(3, 20)
    most = live(what, set(what.moved))
    assert spread(what, [FAST, SLOW], [most // 3, most // 3]) is None
    assert place_in(what, [FAST, SLOW], [most // 3, most // 3], tries=50) is None
