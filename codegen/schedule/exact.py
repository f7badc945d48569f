"""Exact search for offsets within a capacity, under a limit on nodes.

Blocks are placed with non-decreasing offsets, each as low as those below it allow (Moffitt, MiniMalloc, ASPLOS 2023,
has the canonical form).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from codegen.schedule.blocks import Crowd

NODE_LIMIT = 4_000
"""Placements one search may try."""


@dataclass(slots=True)
class Search:
    """Depth-first search over canonical packings: offsets never fall from one placement to the next."""

    crowd: Crowd
    capacity: int
    placed: dict[int, int] = field(default_factory=dict)
    nodes: int = 0

    def run(self) -> bool:
        """Whether every block found a place; `placed` then holds the offsets."""
        return self._place([0] * len(self.crowd.blocks), 0)

    @property
    def gave_up(self) -> bool:
        """Whether the limit on nodes ended the search: that nothing was found proves nothing then."""
        return self.nodes > NODE_LIMIT

    def _place(self, floor: list[int], lowest: int) -> bool:
        """Place the blocks that are left, none below `lowest`; floor[i] is what the blocks below i allow."""
        left = [i for i in range(len(floor)) if i not in self.placed]
        if not left:
            return True
        blocks, sizes = self.crowd.blocks, self.crowd.sizes
        if any(max(floor[i], lowest) + sizes[i] > self.capacity for i in left):
            return False
        ready = [i for i in left if floor[i] >= lowest]
        ends = min((floor[i] + sizes[i] for i in ready), default=0)
        tried: set[tuple[int, int, int, int]] = set()
        for i in sorted((i for i in ready if floor[i] < ends), key=lambda k: (floor[k], -sizes[k])):
            twin = (floor[i], sizes[i], blocks[i].start, blocks[i].stop)
            if twin in tried and not self._shares(i):
                continue
            tried.add(twin)
            self.nodes += 1
            if self.gave_up:
                return False
            if self._try(i, floor):
                return True
        return False

    def _shares(self, i: int) -> bool:
        name = self.crowd.blocks[i].name
        return any(name in pair for pair in self.crowd.shares)

    def _try(self, i: int, floor: list[int]) -> bool:
        raised = list(floor)
        for j, up, _ in self.crowd.near[i]:
            if j not in self.placed:
                raised[j] = max(raised[j], floor[i] + up)
        self.placed[i] = floor[i]
        if self._place(raised, floor[i]):
            return True
        del self.placed[i]
        return False
