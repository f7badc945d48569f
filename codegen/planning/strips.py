"""Plans in which parts of the network run in strips: some products are made again, and rings are shorter.

Decides: which parts and how many strips are tried, and which plan is taken: with a limit of memory the one of fewest
products that meets it, else the smallest, or the one of fewest products that is little larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, combinations
from typing import Protocol

import numpy as np

from codegen.errors import ArenaLimitUnreachable, OptionBad
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import FrontPoint, Plan
from codegen.ir.quant import Array
from codegen.ir.shape import Span
from codegen.kernels import KernelTable, choose_kernels, kernel_needs, slim
from codegen.options import Options
from codegen.passes import Part, cut_strips, strips_of
from codegen.passes.cut_strips import CHANNELS, COLUMNS, MAP, Strip, StripNode, entry, narrowed, strip_of
from codegen.planning.arena import plan_arena
from codegen.planning.asked import choose_goal
from codegen.planning.orders import Candidates
from codegen.records import record
from codegen.schedule import BALANCED, Flows, Process, grouping_of, limit_unreachable
from codegen.target import Target

MOST_STRIPS = 18
"""Strips of one part: they end at so many places, evenly apart."""
MOST_PARTS = 16
"""Parts of a network, one behind the other."""
LEAST_CHANNELS = 16
"""Of a strip of channels."""
LABELS = 24
"""Ways that are kept to each place of the network."""
_HOPEFUL = 1.2
"""Times a limit that a way is thought to need, and is planned nevertheless."""
TRIED = 16
"""Ways that are planned whole."""
_ENDLESS = 1 << 60
"""More than anything that is counted."""
_FEWER = 64
"""By which products count more than strips."""


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

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """What is better comes first; of ways that are equal in both, the one in which less is moved and cut."""
        frees = sum(part.frees for part in self.parts)
        return self.bytes, self.added, frees, sum(part.strips for part in self.parts)


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
        forms = choose_kernels(cut, target, table, goal=goal)
        order = (cut, {i: slim(form) for i, form in forms.items()} if parts else forms)
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
    forms = {i: slim(form) for i, form in choose_kernels(best.graph, target, table, goal=goal).items()}
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


@record(eq=False)
class _Cut:
    """Every strip of columns that may end with a node, as far back as it can be cut.

    By strip: the place of `edges` where it begins and the one where it ends, and of its last 0, 1, 2 ... nodes the
    products and the most scratch that one of them takes, both endless where there are not so many.  By strip and
    tensor: the bytes of a row, and the first column.
    """

    edges: Sequence[int]
    begins: Array
    ends: Array
    made: Array
    turns: Array
    rows: Array
    firsts: Array


class Ways:
    """Ways to run a network with parts in strips, told from its shapes alone."""

    def __init__(self, graph: Graph, kernels: Mapping[int, Form], options: Options, flows: Flows) -> None:
        """Nothing is tried yet."""
        self.graph, self.most = graph, options.max_recompute / 100
        self.source = graph.inputs[0].value if len(graph.inputs) == 1 else ""
        self.outside = self.source if options.input_outside else ""
        self.streamed = self.source if options.stream_input else ""
        self.forms, self.needs = kernels, kernel_needs(graph, kernels)
        self.grouping = grouping_of(graph, self.needs, "", None, self.outside, flows)
        self.macs = [graph.view(node).macs for node in graph.nodes]
        found = ((stop, self._crossing(stop)) for stop in range(1, len(graph.nodes) + 1))
        self.cuts = {stop: name for stop, name in found if name and len(graph.type(name).shape) == MAP}
        self.number = {name: k for k, name in enumerate(self.grouping.rows.height)}
        self._made: dict[int, _Cut] = {}
        self._tiles: dict[object, tuple[int, int]] = {}

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
        return _thinned(ways, TRIED)

    def front(self) -> list[Way]:
        """The ways that no other one beats in both bytes and products, fewest bytes first."""
        places, last = [0, *self.cuts], len(self.graph.nodes)
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
                    free[stop] += [way for way in joined if way.added <= self._most and len(way.parts) <= MOST_PARTS]
        return _pareto(ended)

    @cached_property
    def _most(self) -> float:
        """Products that may be added."""
        return self.most * sum(self.macs)

    def _parts(self, start: int, stop: int) -> list[Way]:
        """One part, in the numbers of strips that are worth it."""
        graph, read = self.graph, self.cuts[start] if start else self.source
        if entry(graph, start, stop) != read or (start == 0 and self.streamed):
            return []
        inner = (out for node in graph.nodes[start : stop - 1] for out in node.outputs)
        if any(name in graph.output_values for name in inner):
            return []
        held = 0 if read == self.outside else graph.type(read).bytes
        if max(held, graph.type(self.cuts[stop]).bytes) >= self.least:
            return []
        frees = (False, True) if held and read not in graph.output_values else (False,)
        found = [*self._in_columns(start, stop, read, frees), *self._in_channels(start, stop, held)]
        return _pareto(way for way in found if way.bytes < self.least and way.added <= self._most)

    def _in_columns(self, start: int, stop: int, read: str, frees: Sequence[bool]) -> Iterator[Way]:
        cut, name, length, plain = self._cut(stop), self.cuts[stop], stop - start, sum(self.macs[start:stop])
        if length >= cut.made.shape[1]:
            return
        made = self.graph.type(name).bytes // cut.edges[-1] * np.array(cut.edges)[cut.ends]
        own = cut.rows[:, self.number[name]] * (cut.begins > 0)  # the row that is joined to what was there
        inside = cut.rows @ self._rings(start, stop, read) + sum(self._kept(i) for i in range(start, stop))
        for free in frees:
            needed = inside + cut.turns[:, length] + made + own + self._held(cut, read, free)
            for most, products, ends in _divided(cut, needed, cut.made[:, length]):
                part = Part(start, stop, len(ends), frees=free, ends=ends[:-1])
                yield Way(most, max(0, products - plain), (part,))  # no less where columns are left out

    def _held(self, cut: _Cut, read: str, free: bool) -> Array | int:
        """By strip, the bytes of what is read that are still there."""
        if read == self.outside:
            return 0
        kind = self.graph.type(read)
        first = np.minimum(cut.firsts[:, self.number[read]], kind.shape[COLUMNS])
        held: Array = kind.bytes // kind.shape[COLUMNS] * (kind.shape[COLUMNS] - first)
        return held if free else kind.bytes

    def _in_channels(self, start: int, stop: int, held: int) -> Iterator[Way]:
        kind, members = self.graph.type(self.cuts[stop]), range(start, stop)
        rings = self._rings(start, stop, "")
        turns = max(self._turns(i) for i in members)
        kept = sum(self._kept(i) for i in members)
        for count in range(2, min(kind.shape[CHANNELS] // LEAST_CHANNELS, MOST_STRIPS) + 1):
            found = strips_of(self.graph, Part(start, stop, count, CHANNELS))
            if found is None:
                return
            inside = max(int(self._row_bytes(strip, CHANNELS) @ rings) for strip in found)
            bytes_ = held + kind.bytes + inside + turns - (-kept // count)
            yield Way(bytes_, 0, (Part(start, stop, count, CHANNELS),))

    def _cut(self, stop: int) -> _Cut:
        if stop not in self._made:
            wide = self.graph.type(self.cuts[stop]).shape[COLUMNS]
            edges = [*range(0, wide, -(-wide // MOST_STRIPS)), wide]
            pairs = list(combinations(range(len(edges)), 2))
            whole = Part(0, stop, 1)
            strips = [strip_of(self.graph, whole, Span(edges[a], edges[b])) for a, b in pairs]
            tiles = [[self._tile(node) for node in reversed(strip.nodes)] for strip in strips]
            self._made[stop] = _Cut(
                edges,
                np.array([a for a, _ in pairs]),
                np.array([b for _, b in pairs]),
                _table([accumulate((macs for macs, _ in nodes), initial=0) for nodes in tiles]),
                _table([accumulate((size for _, size in nodes), max, initial=0) for nodes in tiles]),
                np.array([self._row_bytes(strip, COLUMNS) for strip in strips]),
                np.array([self._firsts(strip) for strip in strips]),
            )
        return self._made[stop]

    def _row_bytes(self, strip: Strip, axis: int) -> Array:
        """By tensor, the bytes of a row of which so much is there along an axis."""
        found = np.zeros(len(self.number), np.int64)
        for name, span in strip.spans.items():
            kind = self.graph.type(name)
            found[self.number[name]] = kind.bytes // kind.shape[1] * len(span) // kind.shape[axis]
        return found

    def _firsts(self, strip: Strip) -> Array:
        found = np.full(len(self.number), _ENDLESS)
        for name, span in strip.spans.items():
            found[self.number[name]] = span.start
        return found

    def _tile(self, cut: StripNode) -> tuple[int, int]:
        """Products of a strip's node, and the scratch that it takes turns in with the others."""
        node, view = self._numbers[cut.node.name], self.graph.view(cut.node)
        key = (node, cut.makes, *cut.reads.values())
        if key not in self._tiles:
            read = zip(cut.node.inputs, view.ins, strict=True)
            ins = tuple(narrowed(t, COLUMNS, cut.reads[n]) if n in cut.reads else t for n, t in read)
            outs = (narrowed(view.outs[0], COLUMNS, cut.makes),)
            size = self._turns(node)
            form = self.forms[node].fit_again(replace(view, op=cut.op, ins=ins, outs=outs)) if size else None
            self._tiles[key] = cut.op.macs(ins, outs), size if form is None else slim(form).row_scratch_bytes
        return self._tiles[key]

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {node.name: i for i, node in enumerate(self.graph.nodes)}

    @cached_property
    def least(self) -> int:
        """Bytes that the network needs without strips."""
        return self.grouping.least_from(0)[-1]

    def _turns(self, node: int) -> int:
        """Bytes of scratch that a node in a group takes turns in; a view has none."""
        return 0 if node not in self.needs or self.needs[node].keeps else self.needs[node].scratch(2)

    def _kept(self, node: int) -> int:
        """Bytes of a node's sums."""
        return self.needs[node].scratch(2) if node in self.needs and self.needs[node].keeps else 0

    def _rings(self, start: int, stop: int, read: str) -> Array:
        """By tensor, the rows of it that are held at a time inside, and of what is read if that comes by rows."""
        flow = Process(self.grouping.rows, range(start, stop), [stop - 1], read, frozenset()).run()
        found = np.zeros(len(self.number), np.int64)
        for name, ring in flow.rings.items():
            found[self.number[name]] = ring
        return found


def _table(rows: Iterable[Iterable[int]]) -> Array:
    """Rows of numbers, filled up."""
    known = [list(row) for row in rows]
    length = max(map(len, known))
    return np.array([row + [_ENDLESS] * (length - len(row)) for row in known])


def _divided(cut: _Cut, needed: Array, products: Array) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Strips that make everything: the bytes that they need at most, the fewest products with these, and their ends.

    For each number of bytes that some strip needs, by dynamic programming over the places where strips end.  Of
    strips with equal products the fewer are taken.
    """
    limits = np.unique(needed[(products < _ENDLESS) & (needed < _ENDLESS)])
    cost = np.where((needed[:, None] <= limits) & (products < _ENDLESS)[:, None], products[:, None] * _FEWER + 1, _ENDLESS)
    best = np.full((len(cut.edges), len(limits)), _ENDLESS)
    came = np.zeros((len(cut.edges), len(limits)), np.int64)
    best[0] = 0
    for end in range(1, len(cut.edges)):
        there = np.flatnonzero(cut.ends == end)
        upto = best[cut.begins[there]] + cost[there]
        came[end] = cut.begins[there][upto.argmin(axis=0)]
        best[end] = np.minimum(upto.min(axis=0), _ENDLESS)
    last = _ENDLESS
    for k, limit in enumerate(limits.tolist()):
        if best[-1, k] < last:
            last, ends = int(best[-1, k]), [len(cut.edges) - 1]
            while came[ends[-1], k]:
                ends.append(int(came[ends[-1], k]))
            if len(ends) > 1:
                yield limit, last // _FEWER, tuple(cut.edges[end] for end in reversed(ends))


def _pareto(ways: Iterable[Way]) -> list[Way]:
    """Those that no other one beats, fewest bytes first, thinned evenly beyond LABELS."""
    best: list[Way] = []
    for way in sorted(ways, key=lambda w: w.rank):
        if not best or way.added < best[-1].added:
            best.append(way)
    return _thinned(best, LABELS)


def _thinned(ways: list[Way], most: int) -> list[Way]:
    if len(ways) <= most:
        return ways
    return [ways[round(i * (len(ways) - 1) / (most - 1))] for i in range(most)]
