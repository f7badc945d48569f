"""Ways to run a network with parts in strips, told from its shapes alone: bytes that each needs, products it adds.

Decides: which parts are cut, where their strips end, and which ways are worth planning.  What a strip needs is
`StripNeeds`' affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.kernels import kernel_needs
from codegen.options import Options
from codegen.passes import Part, strips_of
from codegen.passes.cut_strips import CHANNELS, MAP, entry
from codegen.planning.strip_needs import ENDLESS, Cut, StripNeeds
from codegen.records import record
from codegen.schedule import Flows, grouping_of

MOST_PARTS = 16
"""Parts of a network, one behind the other."""
MOST_CHANNEL_STRIPS = 18
"""Strips of channels of one part."""
LEAST_CHANNELS = 16
"""Of a strip of channels."""
LABELS = 24
"""Ways that are kept to each place of the network."""
_HOPEFUL = 1.2
"""Times a limit that a way is thought to need, and is planned nevertheless."""
TRIED = 16
"""Ways that are planned whole."""
_FEWER = 64
"""By how much a product counts more than a strip."""


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


class Ways:
    """Ways to run a network with parts in strips."""

    def __init__(self, graph: Graph, kernels: Mapping[int, Form], options: Options, flows: Flows) -> None:
        """Nothing is tried yet."""
        self.graph, self.most = graph, options.max_recompute / 100
        self.source = graph.inputs[0].value if len(graph.inputs) == 1 else ""
        self.outside = self.source if options.input_outside else ""
        self.streamed = self.source if options.stream_input else ""
        needs = kernel_needs(graph, kernels)
        self.grouping = grouping_of(graph, needs, "", None, self.outside, flows)
        self.macs = [graph.view(node).macs for node in graph.nodes]
        found = ((stop, self._crossing(stop)) for stop in range(1, len(graph.nodes) + 1))
        self.cuts = {stop: name for stop, name in found if name and len(graph.type(name).shape) == MAP}
        self.needs = StripNeeds(graph, kernels, needs, self.grouping.rows, {0: self.source, **self.cuts})

    def _crossing(self, stop: int) -> str | None:
        """The one tensor that nodes from `stop` on read of what comes before, made by the node before `stop`."""
        made = {out for node in self.graph.nodes[:stop] for out in node.outputs} | set(self.graph.source_values)
        read = {name for node in self.graph.nodes[stop:] for name in node.inputs}
        last = self.graph.nodes[stop - 1].outputs
        crossing = made & read if stop < len(self.graph.nodes) else set(last)
        return last[0] if crossing == {last[0]} and len(last) == 1 else None

    def tried(self, limit: int | None) -> list[Way]:
        """The ways worth planning; with a limit those of fewest products that may meet it."""
        ways = self.front()
        if limit is not None:
            return [w for w in ways if w.bytes <= limit * _HOPEFUL][-TRIED:] or ways[:1]
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

    @cached_property
    def least(self) -> int:
        """Bytes that the network needs without strips."""
        return self.grouping.least_from(0)[-1]

    def _parts(self, start: int, stop: int) -> list[Way]:
        """One part, in the strips that are worth it."""
        graph, read = self.graph, self.cuts[start] if start else self.source
        if entry(graph, start, stop) != read or (start == 0 and self.streamed):
            return []
        inner = (out for node in graph.nodes[start : stop - 1] for out in node.outputs)
        if any(name in graph.output_values for name in inner):
            return []
        if max(self._held(read), graph.type(self.cuts[stop]).bytes) >= self.least:
            return []
        found = [*self._in_columns(start, stop, read), *self._in_channels(start, stop, read)]
        return _pareto(way for way in found if way.bytes < self.least and way.added <= self._most)

    def _held(self, read: str) -> int:
        """Bytes of the arena that a part's input takes."""
        return 0 if read == self.outside else self.graph.type(read).bytes

    def _in_columns(self, start: int, stop: int, read: str) -> Iterator[Way]:
        if start not in self.needs.inside(stop):
            return
        cut, plain = self.needs.cut(stop), sum(self.macs[start:stop])
        first, later = self.needs.inside(stop)[start]
        joined = self.needs.upto(stop, cut.begins) + sum(map(self.needs.kept, range(start, stop)))
        last = cut.ends == len(cut.edges) - 1  # behind whose first group what is read is gone
        for free in (False, True) if self._held(read) and read not in self.graph.output_values else (False,):
            held = self.needs.left(stop, read) if free else np.full(len(last), self._held(read))
            needed = joined + np.maximum(first + held, later + np.where(last, 0, held))
            for most, products, ends in _divided(cut, needed, cut.made[:, stop - start]):
                part = Part(start, stop, len(ends), frees=free, ends=ends[:-1])
                yield Way(most, max(0, products - plain), (part,))  # no less where columns are left out

    def _in_channels(self, start: int, stop: int, read: str) -> Iterator[Way]:
        kind, members = self.graph.type(self.cuts[stop]), range(start, stop)
        rings, turns = self.needs.rings(start, stop, ""), max(map(self.needs.turns, members))
        kept = sum(map(self.needs.kept, members))
        for count in range(2, min(kind.shape[CHANNELS] // LEAST_CHANNELS, MOST_CHANNEL_STRIPS) + 1):
            part = Part(start, stop, count, CHANNELS)
            found = strips_of(self.graph, part)
            if found is None:
                return
            inside = max(int(self.needs.row_bytes(strip, CHANNELS) @ rings) for strip in found)
            yield Way(self._held(read) + kind.bytes + inside + turns - (-kept // count), 0, (part,))


def _divided(cut: Cut, needed: Array, products: Array) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Strips that make everything: the bytes that they need at most, the fewest products with these, and their ends.

    For each number of bytes that some strip needs, by dynamic programming over the places where strips may end.  Of
    divisions with equal products the one of fewer strips is taken.
    """
    there = products < ENDLESS
    limits = np.unique(needed[there])
    cost = np.where((needed[:, None] <= limits) & there[:, None], products[:, None] * _FEWER + 1, ENDLESS)
    best = np.full((len(cut.edges), len(limits)), ENDLESS)
    came = np.zeros(best.shape, np.int64)
    best[0] = 0
    for end in range(1, len(cut.edges)):
        ending = np.flatnonzero(cut.ends == end)
        upto = best[cut.begins[ending]] + cost[ending]
        came[end] = cut.begins[ending][upto.argmin(axis=0)]
        best[end] = np.minimum(upto.min(axis=0), ENDLESS)
    fewer = np.flatnonzero(best[-1] < np.minimum.accumulate(np.append(ENDLESS, best[-1, :-1]))) if limits.size else ()
    for k in fewer:
        ends = _walked(came[:, k])
        if len(ends) > 1:
            yield int(limits[k]), int(best[-1, k]) // _FEWER, tuple(cut.edges[end] for end in ends)


def _walked(came: Array) -> list[int]:
    """Where the strips end, from the place before each."""
    ends = [len(came) - 1]
    while came[ends[0]]:
        ends.insert(0, int(came[ends[0]]))
    return ends


def _pareto(ways: Iterable[Way]) -> list[Way]:
    """Those that no other one beats, fewest bytes first, thinned evenly beyond LABELS."""
    best: list[Way] = []
    for way in sorted(ways, key=lambda w: w.rank):
        if not best or way.added < best[-1].added:
            best.append(way)
    return _thinned(best, LABELS)


def _thinned(ways: list[Way], most: int) -> list[Way]:
    """Evenly, the first and the last among them."""
    if len(ways) <= most:
        return ways
    return [ways[round(i * (len(ways) - 1) / (most - 1))] for i in range(most)]
