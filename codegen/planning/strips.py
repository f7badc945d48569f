"""Plans in which parts of the network run in strips: some products are made again, and rings are shorter.

Decides: which parts and how many strips are tried, and which plan is taken: with a limit of memory the one of fewest
products that meets it, else the smallest, or the one of fewest products that is little larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Protocol

from codegen.errors import ArenaLimitUnreachable, OptionBad
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import FrontPoint, Plan
from codegen.ir.shape import Span
from codegen.kernels import KernelTable, choose_kernels, kernel_needs
from codegen.options import Options
from codegen.passes import Part, cut_strips, strips_of
from codegen.passes.cut_strips import CHANNELS, COLUMNS, MAP, Strip, StripNode, entry, narrowed
from codegen.planning.arena import plan_arena
from codegen.planning.asked import choose_goal
from codegen.planning.orders import Candidates
from codegen.records import record
from codegen.schedule import BALANCED, Flows, Process, grouping_of, limit_unreachable
from codegen.target import Target

MOST_STRIPS = 12
"""Strips of one part."""
MOST_PARTS = 4
"""Parts of a network, one behind the other."""
LEAST_CHANNELS = 16
"""Of a strip of channels."""
LABELS = 12
"""Ways that are kept to each place of the network."""
_HOPEFUL = 1.2
"""Times a limit that a way is thought to need, and is planned nevertheless."""
TRIED = 10
"""Ways that are planned whole, those first that are thought smallest."""


class Planner(Protocol):
    """Plans a network that is cut already."""

    def __call__(
        self, graph: Graph, kernels: Mapping[int, Form], *, options: Options, flows: Flows | None = None
    ) -> tuple[Plan, dict[int, Form]]:
        """The plan and its kernels."""
        ...


@record
class Way:
    """Parts in strips: bytes that they and all before them are thought to need, and products that they add."""

    bytes: int
    added: int
    parts: tuple[Part, ...]

    def behind(self, bytes_: int, added: int = 0, parts: tuple[Part, ...] = ()) -> Way:
        """The way that goes on so."""
        return Way(max(self.bytes, bytes_), self.added + added, (*self.parts, *parts))


@record(eq=False)
class _Found:
    """A plan, the products that it adds, the graph with its strips, and what is known of that."""

    plan: Plan
    added: int
    graph: Graph
    flows: Flows

    @property
    def bytes(self) -> int:
        return self.plan.arena_bytes


def plan_in_strips(
    graph: Graph, kernels: Mapping[int, Form], target: Target, options: Options, planner: Planner, table: KernelTable
) -> tuple[Plan, dict[int, Form]]:
    """The plan that the options ask for, with as few products made again as its memory allows.

    Raises:
        ArenaLimitUnreachable: LAM-SCHEDULE-303, with the smallest plan that was found, strips or not.
        OptionBad: LAM-IMPORT-030, for a weights buffer.
        CompileError: as the planner.
    """
    if options.weights_buffer:
        hint = "leave one out: weights that come through a buffer would be read again for each strip"
        raise OptionBad(f"{options.max_recompute:g} beside a weights buffer", where="max_recompute", hint=hint)
    goal = choose_goal(options, target)
    ram = target.ram_bytes
    as_it_is: tuple[Plan, dict[int, Form]] | None = None
    try:
        plain, forms = planner(graph, kernels, options=options)
    except ArenaLimitUnreachable:
        assert options.arena_limit is not None, "what is refused is a limit"
        limit: int | None = options.arena_limit
    else:
        fits = ram is None or plain.arena_bytes <= ram
        if fits and (goal == "speed" or options.arena_limit is not None):
            return plain, forms
        limit = None if fits else ram
        as_it_is = (plain, forms)
    small, flows = replace(options, goal="memory", arena_limit=None), Flows()

    def planned(parts: tuple[Part, ...] = ()) -> _Found:
        cut, ends = cut_strips(graph, parts)
        order = (cut, choose_kernels(cut, target, table, goal=goal))
        known, more = Flows(ends, flows), max(0, _products(cut) - _products(graph))
        return _Found(plan_arena(Candidates([order]), target, small, known), more, cut, known)

    whole = planned()
    found = [planned(way.parts) for way in Ways(graph, kernels, options, flows).tried(limit)]
    best, smallest = _chosen([whole, *found], goal, limit), min([whole, *found], key=lambda f: f.bytes)
    if best is None and options.arena_limit is not None:
        raise limit_unreachable(smallest.plan, options.arena_limit)
    if best is whole or (best is None and smallest is whole):
        return as_it_is or planner(graph, kernels, options=options)
    asked = small if best is None or goal == "memory" else replace(options, arena_limit=_most(found, whole, limit))
    best = best or smallest
    forms = choose_kernels(best.graph, target, table, goal=goal)
    plan, forms = planner(best.graph, forms, options=asked, flows=best.flows)
    front = (*_front(whole, found, best, plan), *(replace(p, chosen=False) for p in whole.plan.front))
    front = tuple(sorted(front, key=lambda p: p.peak_bytes))
    return replace(plan, front=front, recomputed_macs=best.added), forms


def _most(found: Sequence[_Found], whole: _Found, limit: int | None) -> int:
    """Bytes within which the fastest plan is taken."""
    return limit or int(min(f.bytes for f in (whole, *found)) * BALANCED)


def _chosen(found: Sequence[_Found], goal: str, limit: int | None) -> _Found | None:
    """With a limit the one of fewest products within it, if any; else the smallest, or one that is little larger."""
    if limit is None:
        least = min(f.bytes for f in found)
        limit = least if goal == "memory" else int(least * BALANCED)
    return min((f for f in found if f.bytes <= limit), key=lambda f: (f.added, f.bytes), default=None)


def _front(whole: _Found, found: Sequence[_Found], best: _Found, plan: Plan) -> Iterator[FrontPoint]:
    """The plans with strips that no other one beats in both memory and products; `plan` is that of the best."""
    least = whole.bytes
    for one in sorted(found, key=lambda f: (f.added, f.bytes)):
        if one is best or one.bytes < least:
            made = plan if one is best else one.plan
            point = next(p for p in made.front if p.chosen)
            yield replace(point, chosen=one is best, recomputed_macs=one.added)
            least = min(least, one.bytes)


def _products(graph: Graph) -> int:
    return sum(graph.view(node).macs for node in graph.nodes)


class Ways:
    """Ways to run a network with parts in strips, told from its shapes alone."""

    def __init__(self, graph: Graph, kernels: Mapping[int, Form], options: Options, flows: Flows) -> None:
        """Nothing is tried yet."""
        self.graph, self.most = graph, options.max_recompute / 100
        self.source = graph.inputs[0].value if len(graph.inputs) == 1 else ""
        self.outside = self.source if options.input_outside else ""
        self.streamed = self.source if options.stream_input else ""
        self.needs = kernel_needs(graph, kernels)
        self.grouping = grouping_of(graph, self.needs, "", None, self.outside, flows)
        self.macs = [graph.view(node).macs for node in graph.nodes]
        found = ((stop, self._crossing(stop)) for stop in range(1, len(graph.nodes) + 1))
        self.cuts = {stop: name for stop, name in found if name and len(graph.type(name).shape) == MAP}
        self._known: dict[tuple[int, int], Mapping[str, int]] = {}
        self._made: dict[tuple[int, int], tuple[Sequence[Strip], Sequence[int]]] = {}

    def _crossing(self, stop: int) -> str | None:
        """The one tensor that nodes from `stop` on read of what comes before, made by the node before `stop`."""
        made = {out for node in self.graph.nodes[:stop] for out in node.outputs} | set(self.graph.source_values)
        read = {name for node in self.graph.nodes[stop:] for name in node.inputs}
        last = self.graph.nodes[stop - 1].outputs
        crossing = made & read if stop < len(self.graph.nodes) else set(last)
        return last[0] if crossing == {last[0]} and len(last) == 1 else None

    def tried(self, limit: int | None) -> list[Way]:
        """The ways worth planning; with a limit those of fewest products that may meet it, else the smallest."""
        ways = self.front()
        if limit is not None:
            ways = [w for w in ways if w.bytes <= limit * _HOPEFUL][-TRIED:] or ways[:1]
        return sorted(ways, key=lambda w: w.bytes)[:TRIED]

    def front(self) -> list[Way]:
        """The ways that no other one beats in both bytes and products, fewest bytes first."""
        most, places, last = self.most * sum(self.macs), [0, *self.cuts], len(self.graph.nodes)
        free: dict[int, list[Way]] = {place: [] for place in places}
        bound: dict[int, list[Way]] = {place: [] for place in places}  # behind nodes as they are: a part must follow
        ended: list[Way] = []
        free[0].append(Way(0, 0, ()))
        for start in places:
            ways, plain = _pareto(free[start]), self.grouping.least_from(start)
            ended += [way.behind(plain[last]) for way in ways if way.parts]
            begun = _pareto([*ways, *bound[start]])
            for stop in (place for place in places if place > start):
                bound[stop] += [way.behind(plain[stop]) for way in ways if plain[stop] < self.least]
                for part in self._parts(start, stop) if begun else ():
                    joined = (way.behind(part.bytes, part.added, part.parts) for way in begun)
                    free[stop] += [way for way in joined if way.added <= most and len(way.parts) <= MOST_PARTS]
        return _pareto(ended)

    def _parts(self, start: int, stop: int) -> Iterator[Way]:
        """One part, in any number of strips."""
        graph, read = self.graph, self.cuts[start] if start else self.source
        if entry(graph, start, stop) != read or (start == 0 and self.streamed):
            return
        inner = (out for node in graph.nodes[start : stop - 1] for out in node.outputs)
        if any(name in graph.output_values for name in inner):
            return
        held = 0 if read == self.outside else graph.type(read).bytes
        whole = held + graph.type(self.cuts[stop]).bytes
        if whole >= self.least:
            return
        shape, length = graph.type(self.cuts[stop]).shape, stop - start
        for count in range(2, min(shape[COLUMNS], MOST_STRIPS) + 1):
            strips, made = self._columns(stop, count)
            if len(made) <= length:
                break
            part = Part(start, stop, count)
            inside = max(self._inside(part, strip) for strip in strips)
            added = made[length] - sum(self.macs[start:stop])  # less than 0 where columns are left out
            yield Way(whole + inside, max(0, added), (part,))
        for count in range(2, min(shape[CHANNELS] // LEAST_CHANNELS, MOST_STRIPS) + 1):
            part = Part(start, stop, count, CHANNELS)
            found = strips_of(graph, part)
            if found is None:
                break
            yield Way(whole + max(self._inside(part, strip) for strip in found), 0, (part,))

    def _columns(self, stop: int, count: int) -> tuple[Sequence[Strip], Sequence[int]]:
        """Strips that end before `stop`, as long as can be, and the products of their last 0, 1, 2 ... nodes."""
        if (stop, count) not in self._made:
            strips = strips_of(self.graph, Part(0, stop, count), shorter=True) or ()
            each = (sum(map(self._products, nodes)) for nodes in zip(*(reversed(s.nodes) for s in strips), strict=True))
            self._made[stop, count] = strips, [*accumulate(each, initial=0)]
        return self._made[stop, count]

    def _products(self, cut: StripNode) -> int:
        view = self.graph.view(cut.node)
        return cut.op.macs(view.ins, (narrowed(view.outs[0], COLUMNS, cut.makes),))

    @cached_property
    def least(self) -> int:
        """Bytes that the network needs without strips."""
        return self.grouping.least_from(0)[-1]

    def _inside(self, part: Part, strip: Strip) -> int:
        """Bytes of a strip's rings, and of scratch."""
        rings = self._rings(part.start, part.stop)
        sizes = (ring * self._row_bytes(name, part.axis, strip.spans[name]) for name, ring in rings.items())
        members = range(part.start, part.stop)
        kept = sum(self._kept(i, part) for i in members)
        return sum(sizes) + kept + max(0 if self.needs[i].keeps else self.needs[i].scratch(2) for i in members)

    def _row_bytes(self, name: str, axis: int, span: Span) -> int:
        """Bytes of a row of which so much is there along an axis."""
        kind = self.graph.type(name)
        return kind.bytes // kind.shape[1] * len(span) // kind.shape[axis]

    def _kept(self, node: int, part: Part) -> int:
        """Bytes of a node's sums."""
        needs = self.needs[node]
        size = needs.scratch(2) if needs.keeps else 0
        return -(-size // part.strips) if part.axis == CHANNELS else size

    def _rings(self, start: int, stop: int) -> Mapping[str, int]:
        """Rows of each tensor inside, and of what is read, that are held at a time."""
        read = entry(self.graph, start, stop) or ""
        if (start, stop) not in self._known:
            flow = Process(self.grouping.rows, range(start, stop), [stop - 1], read, frozenset()).run()
            self._known[start, stop] = flow.rings
        return self._known[start, stop]


def _pareto(ways: Iterable[Way]) -> list[Way]:
    """Those that no other one beats, fewest bytes first, thinned evenly beyond LABELS."""
    best: list[Way] = []
    for way in sorted(ways, key=lambda w: (w.bytes, w.added)):
        if not best or way.added < best[-1].added:
            best.append(way)
    if len(best) <= LABELS:
        return best
    return [best[round(i * (len(best) - 1) / (LABELS - 1))] for i in range(LABELS)]
