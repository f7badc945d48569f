"""A group as it is run: at one cut, on one core or in slices on several, each with a scratchpad of its own.

All cores of a stage have the same blocks at the same places of their memories, so that one function serves a layer on
every core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from codegen.schedule.scratchpad.flow import GroupFlow
from codegen.schedule.scratchpad.shape import Cut, Facts, Key, Shape


class Stage:
    """The slices of a group at one cut: `parts` by core; cores beyond them rest."""

    def __init__(self, facts: Facts, flows: Sequence[GroupFlow], cut: Cut) -> None:
        """Cut each slice and level the rings."""
        shared = facts.shared_by(len(flows))
        self.parts = tuple(Shape(shared, flow, cut, len(flows)) for flow in flows)
        for rings in ("in_rings", "out_rings", "rings"):
            kept = [getattr(part, rings) for part in self.parts]
            level = {v: max(k[v] for k in kept) for v in kept[0]}
            for part in self.parts:
                setattr(part, rings, level)

    @property
    def model(self) -> Shape:
        """A part; what does not depend on rows is the same in all."""
        return self.parts[0]

    @property
    def blocks(self) -> dict[Key, int]:
        """Bytes of every block of a core's scratchpad."""
        return self.model.blocks

    @property
    def memory(self) -> int:
        """Bytes of each core's scratchpad while the group runs."""
        return self.model.memory

    @cached_property
    def steps(self) -> int:
        """Time steps that compute, on the core that has most."""
        return max(len(part.ends) for part in self.parts) * self.model.passes

    @cached_property
    def score(self) -> float:
        """What the choice of groups makes least, on the core that is last."""
        return max(part.score for part in self.parts)

    def part(self, core: int) -> Shape | None:
        """What a core runs; None when it rests."""
        return self.parts[core] if core < len(self.parts) else None


def stages(
    facts: Facts, flows: Sequence[GroupFlow], limit: int, kept_in: str = "", kept_out: str = ""
) -> Iterator[Stage]:
    """The cuts of a group that fit the limit, but for those that another one surely beats."""
    count = max(len(flow.cuts) for flow in flows)
    first = flows[0]
    sizes = sorted({min(count, first.targets << n) for n in range(count.bit_length() + 1)})
    tiles = [0]
    if len(first.members) == 1 and facts.params[first.members[0]].channels > 1 and not kept_out:
        tiles += _tiles(facts, first)
    for tile in tiles:
        for size in sizes:
            stage = _fitting(facts, flows, limit, Cut(size, tile, kept_in=kept_in, kept_out=kept_out))
            if stage is None:
                # the steps of a larger size are whole steps of this one, and hold at least as many rows
                break
            yield stage


def _fitting(facts: Facts, flows: Sequence[GroupFlow], limit: int, cut: Cut) -> Stage | None:
    """The cut, or where it does not fit the first of those that take less room; None where none fits."""
    for again in [False, True] if cut.tile and not cut.kept_in else [False]:
        for ahead in (True, False):
            stage = Stage(facts, flows, replace(cut, again=again, ahead=ahead))
            if stage.memory <= limit:
                return stage
    return None


def _tiles(facts: Facts, flow: GroupFlow) -> Iterator[int]:
    """Channels per tile to try: from half of them down to one in 256."""
    channels = facts.params[flow.members[0]].channels
    yield from sorted(
        {-(-channels // n) for n in (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256) if n <= channels}
    )
