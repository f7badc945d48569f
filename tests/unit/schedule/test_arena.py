"""The packer against exhaustive search on small instances, and its claims on larger ones."""

from __future__ import annotations

import itertools
import random

import pytest

from codegen.schedule import arena
from codegen.schedule.arena import Block, Packing, Shares, pack
from codegen.schedule.blocks import Crowd
from codegen.schedule.climb import Pile

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


def sound(blocks: list[Block], shares: Shares, packing: Packing, align: int = ALIGN) -> bool:
    for a, b in itertools.permutations(blocks, 2):
        if a.start <= b.stop and b.start <= a.stop:
            low, high = packing.offsets[a.name], packing.offsets[b.name]
            apart = low + a.bytes <= high or high + b.bytes <= low
            over = (a.name, b.name) in shares and low + shares[a.name, b.name] <= high
            under = (b.name, a.name) in shares and high + shares[b.name, a.name] <= low
            if not (apart or over or under):
                return False
    inside = all(0 <= packing.offsets[b.name] <= packing.bytes - b.bytes for b in blocks)
    return inside and all(offset % align == 0 for offset in packing.offsets.values())


def least(blocks: list[Block], shares: Shares) -> int:
    """The least size, over all sequences in which each block goes to the lowest place above those before it."""
    return _least(blocks, shares, {}, 1 << 30)


def _least(blocks: list[Block], shares: Shares, placed: dict[int, int], best: int) -> int:
    """The least size that is below `best`, with the blocks that are placed where they are; else `best`."""
    left = [i for i in range(len(blocks)) if i not in placed]
    if not left:
        return max((offset + blocks[i].bytes for i, offset in placed.items()), default=0)
    for i in left:
        offset = 0
        for j, below in placed.items():
            a, b = blocks[j], blocks[i]
            if a.start <= b.stop and b.start <= a.stop:
                distance = min(shares.get((a.name, b.name), a.bytes), a.bytes)
                offset = max(offset, below + distance)
        if offset + blocks[i].bytes < best:
            best = _least(blocks, shares, {**placed, i: offset}, best)
    return best


@pytest.mark.parametrize("seed", range(120))
def test_small_instances_are_packed_as_well_as_can_be(seed: int) -> None:
    blocks, shares = instance(seed, 1 + seed % 8)
    packing = pack(blocks, shares, ALIGN)
    assert sound(blocks, shares, packing)
    assert packing.bound <= packing.bytes == least(blocks, shares)


@pytest.mark.parametrize("seed", range(40))
def test_the_climb_alone_packs_small_instances_as_well_as_can_be(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "EXACT_BLOCKS", 0)
    blocks, shares = instance(1000 + seed, 7)
    packing = pack(blocks, shares, ALIGN)
    assert sound(blocks, shares, packing)
    assert packing.bytes == least(blocks, shares)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(20))
def test_odd_sizes_leave_aligned_offsets(seed: int) -> None:
    blocks, shares = instance(seed, 30)
    odd = [Block(b.name, b.bytes - seed % 4, b.start, b.stop) for b in blocks]
    packing = pack(odd, shares, 8)
    assert sound(odd, shares, packing, 8)
    assert packing.bound <= packing.bytes


@pytest.mark.parametrize("seed", range(10))
def test_the_search_ends_with_what_is_enough(seed: int) -> None:
    blocks, shares = instance(seed, 40)
    best = pack(blocks, shares, ALIGN)
    enough = best.bytes * 5 // 4
    loose = pack(blocks, shares, ALIGN, enough=enough)
    assert sound(blocks, shares, loose)
    assert best.bytes <= loose.bytes <= enough
    assert pack(blocks, shares, ALIGN, enough=best.bytes).bytes == best.bytes


@pytest.mark.parametrize("seed", range(20))
def test_moving_a_block_gives_what_packing_its_order_anew_gives(seed: int) -> None:
    blocks, shares = instance(seed, 25)
    crowd, draw = Crowd(blocks, shares, ALIGN), random.Random(seed)
    pile = Pile(crowd, list(range(25)))
    for _ in range(60):
        before, i = sorted(draw.sample(range(25), 2))
        kept = (list(pile.order), list(pile.offsets))
        if not pile.move(pile.order[i], pile.order[before], limit=pile.bytes + draw.randint(-8, 8)):
            assert (pile.order, pile.offsets) == kept
        assert pile.offsets == Pile(crowd, list(pile.order)).offsets
        assert pile.bytes == max(o + b.bytes for o, b in zip(pile.offsets, blocks, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_long_instances_come_near_what_a_solver_finds(seed: int) -> None:
    cp_model = pytest.importorskip("ortools.sat.python.cp_model", reason="OR-Tools is not installed")
    draw = random.Random(seed)
    starts = [draw.randint(0, 30) for _ in range(40)]
    blocks = [Block(f"b{i}", draw.randint(1, 12), s, s + draw.randint(0, 3)) for i, s in enumerate(starts)]
    packing = pack(blocks, {}, 1)
    assert sound(blocks, {}, packing, 1)
    model = cp_model.CpModel()
    top = model.NewIntVar(0, 2 * packing.bytes, "top")
    at = [model.NewIntVar(0, 2 * packing.bytes, b.name) for b in blocks]
    for offset, block in zip(at, blocks, strict=True):
        model.Add(offset + block.bytes <= top)
    for (i, a), (j, b) in itertools.combinations(enumerate(blocks), 2):
        if a.start <= b.stop and b.start <= a.stop:
            lower = model.NewBoolVar("")
            model.Add(at[i] + a.bytes <= at[j]).OnlyEnforceIf(lower)
            model.Add(at[j] + b.bytes <= at[i]).OnlyEnforceIf(~lower)
    model.Minimize(top)
    solver = cp_model.CpSolver()
    solver.parameters.max_deterministic_time = 0.5
    solver.parameters.num_workers = 1
    assert solver.Solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    assert packing.bound <= solver.ObjectiveValue()
    assert packing.bytes <= solver.ObjectiveValue() * 1.05


@pytest.mark.one_in(3)
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
