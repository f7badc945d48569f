"""What strips of columns need: bytes of rings, of tensors between their groups and of scratch, and their products.

Told from shapes alone, for every strip that may end with a node at once: how wide it is says all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, combinations

import numpy as np

from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import NodeNeeds
from codegen.ir.quant import Array
from codegen.ir.shape import Span
from codegen.kernels import slim
from codegen.passes import Part
from codegen.passes.cut_strips import COLUMNS, Strip, StripNode, entry, narrowed, strip_of
from codegen.records import record
from codegen.schedule import Process, Rows

MOST_STRIPS = 18
"""Strips of columns of one part: they end at so many places, evenly apart."""
ENDLESS = 1 << 60
"""More than anything that is counted."""


@record(eq=False)
class Cut:
    """Every strip of columns that may end with a node, as far back as it can be cut.

    By strip: the place of `edges` where it begins and the one where it ends; of its last 0, 1, 2 ... nodes the
    products, endless where there are not so many; the scratch of its last node, the one before that, and so on.  By
    strip and tensor: the bytes of a row, and the first column.
    """

    edges: Sequence[int]
    begins: Array
    ends: Array
    made: Array
    scratch: Array
    rows: Array
    firsts: Array


class StripNeeds:
    """What the strips of a network need.

    `tensors`: by place between nodes, the one tensor that crosses it, of those places where a part may begin or end.
    """

    def __init__(
        self,
        graph: Graph,
        kernels: Mapping[int, Form],
        needs: Mapping[int, NodeNeeds],
        rows: Rows,
        tensors: Mapping[int, str],
    ) -> None:
        """Nothing is known yet."""
        self.graph, self.forms, self.needs, self.rows, self.tensors = graph, kernels, needs, rows, tensors
        self.number = {name: k for k, name in enumerate(rows.height)}
        self._cuts: dict[int, Cut] = {}
        self._insides: dict[int, Mapping[int, tuple[Array, Array]]] = {}
        self._nodes: dict[tuple[int, Span], StripNode | None] = {}
        self._tiles: dict[tuple[str, Span], tuple[int, int]] = {}

    def cut(self, stop: int) -> Cut:
        """The strips that end with the node before `stop`."""
        if stop not in self._cuts:
            wide = self.graph.type(self.tensors[stop]).shape[COLUMNS]
            edges = [*range(0, wide, -(-wide // MOST_STRIPS)), wide]
            pairs = np.array(list(combinations(range(len(edges)), 2)))
            whole = Part(0, stop, 1)
            strips = [strip_of(self.graph, whole, Span(edges[a], edges[b]), self._nodes) for a, b in pairs]
            tiles = [[self._tile(node) for node in reversed(strip.nodes)] for strip in strips]
            self._cuts[stop] = Cut(
                edges,
                pairs[:, 0],
                pairs[:, 1],
                _table(accumulate((macs for macs, _ in nodes), initial=0) for nodes in tiles),
                _table([size for _, size in nodes] for nodes in tiles),
                np.array([self.row_bytes(strip, COLUMNS) for strip in strips]),
                np.array([self._firsts(strip) for strip in strips]),
            )
        return self._cuts[stop]

    def _tile(self, cut: StripNode) -> tuple[int, int]:
        """Products of a strip's node, and the scratch that it takes turns in with the others."""
        key = (cut.node.name, cut.makes)
        if key not in self._tiles:
            node, view = self._numbers[cut.node.name], self.graph.view(cut.node)
            read = zip(cut.node.inputs, view.ins, strict=True)
            ins = tuple(narrowed(t, COLUMNS, cut.reads[n]) if n in cut.reads else t for n, t in read)
            outs = (narrowed(view.outs[0], COLUMNS, cut.makes),)
            size = self.turns(node)
            form = self.forms[node].fit_again(replace(view, op=cut.op, ins=ins, outs=outs)) if size else None
            self._tiles[key] = cut.op.macs(ins, outs), size if form is None else slim(form).row_scratch_bytes
        return self._tiles[key]

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {node.name: i for i, node in enumerate(self.graph.nodes)}

    def turns(self, node: int) -> int:
        """Bytes of scratch that a node in a group takes turns in; a view has none."""
        return 0 if node not in self.needs or self.needs[node].keeps else self.needs[node].scratch(2)

    def kept(self, node: int) -> int:
        """Bytes of a node's sums."""
        return self.needs[node].scratch(2) if node in self.needs and self.needs[node].keeps else 0

    def row_bytes(self, strip: Strip, axis: int) -> Array:
        """By tensor, the bytes of a row of which so much is there along an axis."""
        found = np.zeros(len(self.number), np.int64)
        for name, span in strip.spans.items():
            kind = self.graph.type(name)
            found[self.number[name]] = kind.bytes // kind.shape[1] * len(span) // kind.shape[axis]
        return found

    def _firsts(self, strip: Strip) -> Array:
        found = np.full(len(self.number), ENDLESS)
        for name, span in strip.spans.items():
            found[self.number[name]] = span.start
        return found

    def upto(self, stop: int, places: Array) -> Array:
        """Bytes of the tensor made before `stop`, up to each of these places of its edges."""
        kind, edges = self.graph.type(self.tensors[stop]), np.array(self.cut(stop).edges)
        found: Array = kind.bytes // kind.shape[COLUMNS] * edges[places]
        return found

    def left(self, stop: int, read: str) -> Array:
        """By strip, the bytes of what a part reads of which it or a later one reads columns."""
        kind = self.graph.type(read)
        wide = kind.shape[COLUMNS]
        found: Array = kind.bytes // wide * (wide - np.minimum(self._of(self.cut(stop).firsts, read), wide))
        return found

    def _of(self, table: Array, name: str) -> Array:
        """By strip, what the table has of a tensor."""
        found: Array = table[:, self.number[name]]
        return found

    def inside(self, stop: int) -> Mapping[int, tuple[Array, Array]]:
        """By place where a part may begin that ends at `stop`: what each strip needs beside what is read and joined.

        Of the first of its groups, which reads by rows, and the most of those behind it.  A strip runs in the groups
        that need least at most; between two of them a tensor lies whole, as narrow as the strip.
        """
        if stop not in self._insides:
            cut, found = self.cut(stop), dict[int, tuple[Array, Array]]()
            later = {stop: np.zeros(len(cut.begins), np.int64)}  # by place, where its tensor is whole
            for start in sorted((p for p in self.tensors if stop - cut.made.shape[1] < p < stop), reverse=True):
                read = self.tensors[start]
                if entry(self.graph, start, stop) == read:
                    rings = cut.rows * self.rings(start, stop, read)
                    groups = {end: self._group(start, end, stop, rings) for end in later}
                    found[start] = _least_first(groups, later, self._of(rings, read))
                    whole = {end: group + self._beside(cut, read, end, stop) for end, group in groups.items()}
                    later[start] = np.min([np.maximum(whole[end], later[end]) for end in later], axis=0)
            self._insides[stop] = found
        return self._insides[stop]

    def rings(self, start: int, stop: int, read: str) -> Array:
        """By tensor, the rows of it that are held at a time inside, and of what is read if that comes by rows."""
        flow = Process(self.rows, range(start, stop), [stop - 1], read, frozenset()).run()
        found = np.zeros(len(self.number), np.int64)
        for name, ring in flow.rings.items():
            found[self.number[name]] = ring
        return found

    def _group(self, start: int, end: int, stop: int, rings: Array) -> Array:
        """By strip, the bytes of a group of its nodes beside what that reads: rings, scratch, and what it makes."""
        cut, inner = self.cut(stop), [self.number[node.outputs[0]] for node in self.graph.nodes[start : end - 1]]
        found: Array = rings[:, inner].sum(axis=1) + cut.scratch[:, stop - end : stop - start].max(axis=1)
        if end < stop:
            found += self._whole(cut, self.tensors[end])
        else:
            found += self.upto(stop, cut.ends) - self.upto(stop, cut.begins)
            found += self._of(cut.rows, self.tensors[stop]) * (cut.begins > 0)  # a row of its own, which is joined
        return found

    def _whole(self, cut: Cut, name: str) -> Array:
        """By strip, the bytes of what it has of a tensor."""
        return self._of(cut.rows, name) * self.graph.type(name).shape[1]

    def _beside(self, cut: Cut, read: str, end: int, stop: int) -> Array:
        """By strip, the bytes of a tensor beside what a group makes of it, which lies over it but for some rows."""
        whole = self._whole(cut, read)
        if end == stop:  # that lies over what it is joined to
            return whole
        made = self.tensors[end]
        apart = self._of(cut.rows, read) + self._of(cut.rows, made)
        found: Array = whole - np.maximum(0, np.minimum(whole, self._whole(cut, made)) - apart)
        return found


def _least_first(groups: Mapping[int, Array], later: Mapping[int, Array], by_rows: Array) -> tuple[Array, Array]:
    """By strip, the bytes of the first group and of those behind it, with the end of the first that needs least."""
    first, rest = np.array([*groups.values()]) + by_rows, np.array([later[end] for end in groups])
    best, strips = np.maximum(first, rest).argmin(axis=0), np.arange(len(by_rows))
    return first[best, strips], rest[best, strips]


def _table(rows: Iterable[Iterable[int]]) -> Array:
    """Rows of numbers, filled up."""
    known = [list(row) for row in rows]
    length = max(map(len, known))
    return np.array([row + [ENDLESS] * (length - len(row)) for row in known])
