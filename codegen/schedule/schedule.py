"""The choice: which point of the memory/time front becomes the Plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from codegen.errors import InputNotOutside, StreamImpossible
from codegen.ir.graph import Graph
from codegen.ir.images import waiting_bytes
from codegen.ir.plan import FrontPoint, NodeNeeds, Plan
from codegen.options import Goal
from codegen.records import record
from codegen.schedule.arena import TRIES
from codegen.schedule.cost import MOVED_BYTE
from codegen.schedule.demand import Flows
from codegen.schedule.fits import limit_unreachable
from codegen.schedule.groups import Grouping, Label
from codegen.schedule.planner import BALANCED, Placed, Placer, to_plan, view_roots
from codegen.target import Memory

GLANCE = 500
"""Tries of the packer by which plans are compared at first."""
FINALISTS = 6
"""Plans whose addresses are searched thoroughly when the smallest one is wanted."""
HOPELESS = 1.15
"""A plan that a glance leaves this many times above a limit is not searched thoroughly."""
_NO_LIMIT = 1 << 62


@record(eq=False)
class _Offer:
    """One way to run the network, in one of the orders."""

    placer: Placer
    label: Label

    def place(self, enough: int = 0, tries: int = TRIES) -> Placed:
        return self.placer.place(self.label, enough=enough, tries=tries)


class Scheduler:
    """All plans of a network, in one order of its operators or in several that compete."""

    def __init__(
        self,
        orders: Sequence[tuple[Graph, Mapping[int, NodeNeeds]]],
        *,
        arena_align: int,
        stream_input: bool = False,
        input_outside: bool = False,
        weights_buffer: int | None = None,
        tries: int = TRIES,
        flows: Flows | None = None,
    ) -> None:
        """Find the ways to run each order; addresses are found when a plan is asked for.

        Args:
            orders: the network with its nodes in an order, and what each node's kernel needs, by node index; nodes
                without an entry are views.  Where two orders are equally good, the first one wins.
            arena_align: alignment of the arena.
            stream_input: rows of the input come one by one.
            input_outside: the input lies in memory of the caller's, and is only read.
            weights_buffer: bytes that the parameters of a group have, where they are read into a buffer.
            tries: moves that the packer tries for the fastest plan, where that is asked for.
            flows: what is known of networks that are alike in parts.

        Raises:
            StreamImpossible: LAM-SCHEDULE-304, the input cannot be taken row by row.
            InputNotOutside: LAM-SCHEDULE-307, the network has no input or several.
        """
        self.arena_align, self.tries = arena_align, tries
        graph = orders[0][0]
        streamed = _streamed_input(graph) if stream_input else ""
        outside = _outside_input(graph) if input_outside else ""
        flows = flows or Flows()
        found = (grouping_of(order, needs, streamed, weights_buffer, outside, flows) for order, needs in orders)
        placers = [Placer(grouping) for grouping in found]
        offers = [_Offer(placer, label) for placer in placers for label in placer.grouping.front]
        if not offers:
            raise StreamImpossible("the input is read as a whole, or again after the first group", where=streamed)
        self.offers = sorted(offers, key=lambda o: (o.label.peak, o.label.time))

    def plan(self, goal: Goal, arena_limit: int | None = None) -> Plan:
        """The plan that the options ask for.

        Args:
            goal: which plan to take where no limit decides: the smallest, the fastest, or the fastest near it
                (for `size` too, which concerns the code).
            arena_limit: bytes the arena may have; then the fastest plan within it.

        Raises:
            ArenaLimitUnreachable: LAM-SCHEDULE-303, no plan is that small.
        """
        chosen = self._choose(goal, arena_limit)
        return to_plan(chosen, tuple(self._front(chosen)), self.arena_align)

    def spread(self, memories: Sequence[Memory], limit: int | None = None) -> Plan | None:
        """The plan of least time in several memories, where none fits the fastest one alone.

        Time is the cost model's, and what bytes moved cost in slower memories.

        Args:
            memories: the fastest one first.
            limit: bytes that may be used of it, where that is less.

        Returns:
            None where no plan is found that fits them all together.
        """
        limits = [_NO_LIMIT if m.bytes is None else m.bytes for m in memories]
        limits[0] = min(limits[0], _NO_LIMIT if limit is None else limit)
        rated: list[tuple[float, int]] = []
        for k, offer in enumerate(self.offers):
            extra = offer.placer.least_extra(offer.label, memories, limits)
            if extra is not None:
                rated.append((offer.label.time + extra * MOVED_BYTE, k))
        best: tuple[float, Placed] | None = None
        for least, k in sorted(rated):
            if best is not None and best[0] <= least:
                break
            offer = self.offers[k]
            placed = offer.placer.spread_out(offer.label, memories, limits, self.arena_align)
            if placed is not None:
                time = placed.label.time + placed.extra * MOVED_BYTE
                best = (time, placed) if best is None or time < best[0] else best
        return to_plan(best[1], tuple(self._front(best[1])), self.arena_align) if best else None

    def _choose(self, goal: Goal, limit: int | None) -> Placed:
        if limit is not None:
            return self._within(limit)
        if goal == "speed":
            return next(self._fastest_first()).place(tries=self.tries)
        smallest = self._smallest()
        if goal == "memory":
            return smallest
        return self._fitting(_near(smallest)) or smallest

    def _within(self, limit: int) -> Placed:
        found = self._fitting(limit)
        if found is not None:
            return found
        smallest = self._smallest()
        if smallest.packing.bytes <= limit:
            return smallest
        raise limit_unreachable(to_plan(smallest, (), 1), limit)

    def _fastest_first(self) -> Iterator[_Offer]:
        return iter(sorted(self.offers, key=lambda o: (o.label.time, o.label.peak)))

    def _fitting(self, limit: int) -> Placed | None:
        """The fastest plan within the limit, its arena then as small as can be."""
        for offer in self._fastest_first():
            if offer.label.peak > limit:
                continue
            placed = offer.place(limit, GLANCE)
            if limit < placed.packing.bytes <= limit * HOPELESS:
                placed = offer.place(limit)
            if placed.packing.bytes <= limit:
                return offer.place()
        return None

    def _smallest(self) -> Placed:
        """The smallest real arena, and of equal ones the fastest plan.

        Plans are looked at by rising peak until none can beat the best; the best ones are then searched thoroughly.
        """
        seen: list[tuple[int, float, int]] = []
        for k, offer in enumerate(self.offers):
            if seen and offer.label.peak > min(seen)[0]:
                break
            seen.append((offer.place(tries=GLANCE).packing.bytes, offer.label.time, k))
        best: Placed | None = None
        for _, _, k in sorted(seen)[:FINALISTS]:
            if best is None or self.offers[k].label.peak <= best.packing.bytes:
                placed = self.offers[k].place()
                best = placed if best is None else min(best, placed, key=lambda p: (p.packing.bytes, p.label.time))
        assert best is not None
        return best

    def _front(self, chosen: Placed) -> Iterator[FrontPoint]:
        """The plans that no other one beats in both memory and time, and the chosen one."""
        fastest = float("inf")
        for offer in self.offers:
            label = offer.label
            if label.time < fastest or label is chosen.label:
                grouping, made = offer.placer.grouping, label.groups()
                groups = sum(c.start in grouping.needs for c in made)
                names = [tuple(n.name for n in grouping.graph.nodes[c.start : c.stop]) for c in made]
                fused = tuple(group for group in names if len(group) > 1)
                yield FrontPoint(label.peak, round(label.time, 1), groups, label is chosen.label, fused)
            fastest = min(fastest, label.time)


def _near(smallest: Placed) -> int:
    """Bytes near the smallest arena's; images of a batch that wait their turn count once."""
    grouping = smallest.grouping
    waiting = 0 if grouping.outside else waiting_bytes(grouping.graph)
    return int((smallest.packing.bytes - waiting) * BALANCED) + waiting


def schedule(
    graph: Graph,
    needs: Mapping[int, NodeNeeds],
    *,
    arena_align: int,
    goal: Goal = "balanced",
    arena_limit: int | None = None,
    stream_input: bool = False,
    tries: int = TRIES,
) -> Plan:
    """Groups and addresses for a graph in the order of its nodes; see Scheduler for what is given and raised."""
    scheduler = Scheduler([(graph, needs)], arena_align=arena_align, stream_input=stream_input, tries=tries)
    return scheduler.plan(goal, arena_limit)


def grouping_of(
    graph: Graph,
    needs: Mapping[int, NodeNeeds],
    streamed: str,
    buffer: int | None,
    outside: str,
    flows: Flows | None = None,
) -> Grouping:
    """The groups that an order of the network may have; arguments as of Grouping."""
    views = frozenset(i for i in range(len(graph.nodes)) if i not in needs)
    return Grouping(graph, needs, view_roots(graph, views), streamed, buffer, outside, flows)


def _outside_input(graph: Graph) -> str:
    if len(graph.inputs) != 1:
        raise InputNotOutside(f"the network has {len(graph.inputs)} inputs; one can lie outside", where=graph.name)
    return graph.inputs[0].value


def _streamed_input(graph: Graph) -> str:
    if len(graph.inputs) != 1:
        raise StreamImpossible(f"the network has {len(graph.inputs)} inputs; one can be streamed", where=graph.name)
    if graph.states:
        raise StreamImpossible("the network keeps state from run to run", where=graph.name)
    return graph.inputs[0].value
