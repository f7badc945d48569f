"""Which neighbours of the order share the scratchpad: the prefix dynamic program of least time.

A candidate is a connected interval of the order whose blocks fit the scratchpad at some cut.  Scores add up over
groups, so two labels per prefix are enough: with the tensor at its border moved out to global memory, and with it kept.
On several cores a candidate is cut into slices, and nothing is kept, for the next group's slices need rows of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from codegen.errors import ScratchpadTooSmall
from codegen.ir.graph import Graph
from codegen.records import record
from codegen.schedule.scratchpad.flow import GroupFlow, record_group, record_slices
from codegen.schedule.scratchpad.shape import Cut, Facts
from codegen.schedule.scratchpad.slices import cut, duplicated
from codegen.schedule.scratchpad.stage import Stage, stages

LONGEST = 24
"""Nodes in one group at most."""
WORK = 20_000
"""Groups that are sized before the search is cut short: a count, so that a plan never depends on a clock."""
SHORT = 3
"""Nodes in one group at most from then on."""

Ways = tuple[tuple[GroupFlow, ...], ...]
"""A group's flows in each number of slices that is worth a look; none for a view, which runs nothing."""


@record
class _Label:
    score: float
    start: int
    kept: bool
    stage: Stage | None


class ScratchpadGroups:
    """The candidates of one graph.

    Args:
        facts: what is known of the nodes.
        roots: the value that owns each value's memory (views share).
        cores: how many may share a group.
    """

    def __init__(self, facts: Facts, roots: Mapping[str, str], cores: int = 1) -> None:
        """Collect who reads what last."""
        self.facts, self.roots, self.cores = facts, roots, cores
        self.last: dict[str, int] = {}
        self.ways: dict[tuple[int, int], Ways] = {}
        self.sized = 0
        for step, node in enumerate(facts.graph.nodes):
            for name in (*node.inputs, *node.outputs):
                if name in roots:
                    self.last[roots[name]] = step
        for name in facts.graph.output_values:
            self.last[roots[name]] = len(facts.graph.nodes)

    @property
    def graph(self) -> Graph:
        """The network."""
        return self.facts.graph

    def choose(self, limit: int) -> tuple[Stage, ...]:
        """The groups of least time whose blocks fit `limit` bytes.

        Raises:
            ScratchpadTooSmall: LAM-SCHEDULE-305, some layer alone does not fit.
        """
        count = len(self.graph.nodes)
        best: dict[tuple[int, bool], _Label] = {(0, False): _Label(0.0, 0, False, None)}
        for start in range(count):
            if (start, False) not in best and (start, True) not in best:
                self._refuse(start, limit)
                continue
            for stop, ways in self._candidates(start, limit):
                for kept_in, kept_out in product((False, True) if self.cores == 1 else (False,), repeat=2):
                    label = self._label(best, (start, kept_in), (stop, kept_out), ways, limit)
                    there = best.get((stop, kept_out))
                    if label is not None and (there is None or label.score < there.score):
                        best[stop, kept_out] = label
        if (count, False) not in best:
            self._refuse(count, limit)
            stuck = max(stop for stop, _ in best)
            where = next(self.graph.nodes[i].name for i in range(stuck, count) if i in self.facts.needs)
            raise ScratchpadTooSmall(f"no group with it fits {limit} B of scratchpad", where=where)
        return self._trail(best)

    def _label(
        self,
        best: Mapping[tuple[int, bool], _Label],
        begin: tuple[int, bool],
        end: tuple[int, bool],
        ways: Ways,
        limit: int,
    ) -> _Label | None:
        """The best way to add one group to a prefix; the flags say whether the tensor at the border is kept."""
        before = best.get(begin)
        kept_in, kept_out = (self._kept(*at) for at in (begin, end))
        if before is None or kept_in is None or kept_out is None:
            return None
        if not ways:
            return None if begin[1] or end[1] else _Label(before.score, begin[0], False, None)
        if begin[1] and (kept_in not in ways[0][0].inputs or self.last[kept_in] >= end[0]):
            return None
        self.sized += 1
        fitting = [stage for flows in ways for stage in stages(self.facts, flows, limit, kept_in, kept_out)]
        if not fitting:
            return None
        stage = min(fitting, key=lambda s: (s.score, s.memory))
        return _Label(before.score + stage.score, begin[0], begin[1], stage)

    def _kept(self, stop: int, kept: bool) -> str | None:
        """The tensor that may stay in the scratchpad across a border: the one that the last node before it made."""
        if not kept:
            return ""
        outputs = self.graph.nodes[stop - 1].outputs
        if len(outputs) != 1 or outputs[0] in self.graph.output_values or stop - 1 not in self.facts.needs:
            return None
        renamed = any(root == outputs[0] != name for name, root in self.roots.items())
        return None if renamed else outputs[0]

    def _trail(self, best: Mapping[tuple[int, bool], _Label]) -> tuple[Stage, ...]:
        found: list[Stage] = []
        at = (len(self.graph.nodes), False)
        while at[0] > 0:
            label = best[at]
            if label.stage is not None:
                found.append(label.stage)
            at = (label.start, label.kept)
        return tuple(reversed(found))

    def _refuse(self, stop: int, limit: int) -> None:
        """Name the layer that cannot run, when it is the reason."""
        start = stop - 1
        if start not in self.facts.needs:
            return
        node = self.graph.nodes[start]
        tightest = [Cut(1, tile, again, ahead=False) for tile in (0, 1) for again in (False, True)]
        cuts = [cut for cut in tightest if self._can(start, cut)]
        least = min(Stage(self.facts, flows, cut).memory for flows in self._ways(start, stop) for cut in cuts)
        if least > limit:
            raise ScratchpadTooSmall(f"needs {least} B of scratchpad at least, there are {limit} B", where=node.name)

    def _candidates(self, start: int, limit: int) -> Iterator[tuple[int, Ways]]:
        """Groups that begin at `start`."""
        facts = self.facts
        if start not in facts.needs:
            yield start + 1, ()
            return
        first = facts.rows.nodes[start]
        params = 0
        longest = LONGEST if self.sized < WORK else SHORT
        for stop in range(start + 1, min(start + longest, len(self.graph.nodes)) + 1):
            newest = stop - 1
            if newest not in facts.needs or (stop > start + 1 and facts.rows.nodes[newest].barrier):
                return
            needs = facts.params[newest]
            params += needs.bytes(needs.channels)
            if stop == start + 1 or (params <= limit and self._connected(start, stop)):
                yield stop, self._ways(start, stop)
            if params > limit or first.barrier or facts.rows.nodes[newest].accumulates:
                return

    def _ways(self, start: int, stop: int) -> Ways:
        """The group on one core, and in slices of which none has mostly rows that others have too."""
        if (start, stop) not in self.ways:
            self.ways[start, stop] = tuple(self._slicings(start, stop))
        return self.ways[start, stop]

    def _slicings(self, start: int, stop: int) -> Iterator[tuple[GroupFlow, ...]]:
        rows, members = self.facts.rows, range(start, stop)
        targets = [i for i in members if self._leaves(i, stop)] or [stop - 1]
        whole = len(members) == 1 and self.facts.needs[start].whole
        yield (record_group(rows, members, targets, whole=whole),)
        if whole or any(rows.nodes[i].accumulates for i in members):
            return
        for count in _counts(min(self.cores, max(rows.nodes[t].steps for t in targets))):
            slices = cut(rows, members, targets, count)
            if not duplicated(rows, slices):
                yield record_slices(rows, members, targets, slices)

    def _can(self, node: int, cut: Cut) -> bool:
        return not cut.tile or self.facts.params[node].channels > 1

    def _leaves(self, index: int, stop: int) -> bool:
        """Whether an output of the node is read after the group."""
        return any(self.last[self.roots[o]] >= stop for o in self.graph.nodes[index].outputs)

    def _connected(self, start: int, stop: int) -> bool:
        """Whether every member but the first touches a tensor of those before it."""
        seen: set[str] = set()
        for i in range(start, stop):
            node = self.graph.nodes[i]
            touched = {self.roots[n] for n in (*node.inputs, *node.outputs) if n in self.roots}
            if seen and not seen & touched:
                return False
            seen |= touched
        return True


def _counts(most: int) -> Sequence[int]:
    """Numbers of slices to try: the most there can be, and halves of it."""
    return sorted({most >> n for n in range(most.bit_length()) if most >> n > 1})
