"""cut_strips: parts of a network run in strips, of columns with the halo that neighbours compute too, or of channels.

A part is a run of nodes that reads one tensor, and of which one tensor is read behind it.  Rows flow in a strip as in
any group, but are short: so are the rings that hold them.  What a strip makes is joined to what those before it made.
Columns of the input that no later strip reads may be given up behind each, so that there is room for what it made.
Strips of channels begin with a layer of which each makes some outputs, and go on channel by channel: nothing is made
twice.  Whether that pays is for the planner to say, hence it is not in `PASSES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from codegen.ir.graph import Graph, Node
from codegen.ir.op import Op
from codegen.ir.quant import TensorType
from codegen.ir.shape import Span
from codegen.ops import Concat, Slice, answers
from codegen.passes.contract import well_formed
from codegen.passes.draft import Draft
from codegen.records import record

COLUMNS, CHANNELS = 2, 3
"""Axes of a feature map that strips are cut along."""
MAP = 4
"""Axes of a feature map."""
_CHANNELS_AT_A_TIME = 16
"""Strips of channels are multiples: kernels make some channels at a time."""


@record
class Part:
    """Nodes [start, stop) of a graph, to run in so many strips along an axis.

    They are about equally long, or end where `ends` says, all but the last one.  `frees`: behind each strip of columns
    those of the input go that no later one reads; nothing else may read it.
    """

    start: int
    stop: int
    strips: int
    axis: int = COLUMNS
    frees: bool = False
    ends: tuple[int, ...] = ()

    def edges(self, length: int) -> list[int]:
        """Where strips of `length` begin, and its end."""
        if self.ends:
            return [0, *self.ends, length]
        unit = _CHANNELS_AT_A_TIME if self.axis == CHANNELS and length >= self.strips * _CHANNELS_AT_A_TIME else 1
        return [length // unit * k // self.strips * unit for k in range(self.strips)] + [length]


@record
class StripNode:
    """A node of a strip: its operator there, what it reads and makes along the axis, and of which outputs weights are.

    `weights` is None where constants are as they were.
    """

    node: Node
    op: Op
    reads: Mapping[str, Span]
    makes: Span
    weights: Span | None = None


@record
class Strip:
    """The nodes of a strip in order, and what of each tensor is there along the axis; of the part's input, is read."""

    nodes: tuple[StripNode, ...]
    spans: Mapping[str, Span]


def entry(graph: Graph, start: int, stop: int) -> str | None:
    """The one tensor of those before that nodes [start, stop) read; None where there are several or none."""
    made = {out for node in graph.nodes[start:stop] for out in node.outputs}
    read = {name for node in graph.nodes[start:stop] for name in node.inputs if not graph.values[name].is_const}
    outer = read - made
    return next(iter(outer)) if len(outer) == 1 else None


def strips_of(graph: Graph, part: Part) -> tuple[Strip, ...] | None:
    """The strips of a part, in order; None where some operator cannot be cut so."""
    (name,) = graph.nodes[part.stop - 1].outputs
    edges = part.edges(graph.type(name).shape[part.axis])
    found = tuple(strip_of(graph, part, Span(a, b)) for a, b in pairwise(edges))
    return found if all(len(strip.nodes) == part.stop - part.start for strip in found) else None


def strip_of(
    graph: Graph, part: Part, wanted: Span, known: dict[tuple[int, Span], StripNode | None] | None = None
) -> Strip:
    """What of the part's last tensor is wanted, and all that it needs, as far back as that can be cut.

    `known`: nodes of strips of columns by what they make, which are kept there.
    """
    kept = {} if known is None else known
    (name,) = graph.nodes[part.stop - 1].outputs
    spans, nodes = {name: wanted}, list[StripNode]()
    cut_one = _columns_of if part.axis == COLUMNS else _channels_of
    for index in reversed(range(part.start, part.stop)):
        node = graph.nodes[index]
        out = node.outputs[0]
        if len(node.outputs) > 1 or out not in spans:
            break
        key = (index, spans[out])
        if key not in kept:
            kept[key] = cut_one(graph, node, spans[out], first=index == part.start)
        cut = kept[key]
        if cut is None:
            break
        nodes.append(cut)
        for value, span in cut.reads.items():
            old = spans.get(value, span)
            spans[value] = Span(min(old.start, span.start), max(old.stop, span.stop))
    return Strip(tuple(reversed(nodes)), spans)


def _columns_of(graph: Graph, node: Node, y: Span, *, first: bool) -> StripNode | None:
    ins = [graph.type(name) for name in node.inputs]
    read = _read(graph, node)
    if any(len(graph.type(name).shape) != MAP for name in (*read, *node.outputs)):
        return None
    if answers.is_elementwise(node.op) or (isinstance(node.op, Concat) and node.op.axis > COLUMNS):
        width = graph.type(node.outputs[0]).shape[COLUMNS]
        same = all(_columns(graph.type(name)) == width for name in read)
        fixed = all(_columns(t) == 1 for t, name in zip(ins, node.inputs, strict=True) if name not in read)
        return StripNode(node, node.op, dict.fromkeys(read, y), y) if same and fixed else None
    found = answers.column_tile(node.op, y.start, y.stop, ins[0])
    if found is None or read != [node.inputs[0]] or len(found[1]) == 0:
        return None
    op, span = found
    taken = (narrowed(ins[0], COLUMNS, span), *ins[1:])
    return StripNode(node, op, {read[0]: span}, y) if all(limit.holds(op, taken) for limit in op.limits) else None


def _channels_of(graph: Graph, node: Node, y: Span, *, first: bool) -> StripNode | None:
    """Channel by channel, but for the first layer, which reads all of its input."""
    ins, read = [graph.type(name) for name in node.inputs], _read(graph, node)
    if read != [node.inputs[0]] or any(len(graph.type(name).shape) != MAP for name in (*read, *node.outputs)):
        return None
    if first:
        op = answers.channel_tile(node.op, y.start, y.stop)
        return None if op is None else StripNode(node, op, {read[0]: Span(0, ins[0].shape[CHANNELS])}, y, y)
    if answers.is_channelwise(node.op) or (answers.is_elementwise(node.op) and len(node.inputs) == 1):
        return StripNode(node, node.op, {read[0]: y}, y)
    tile = answers.depthwise_tile(node.op, y.start, y.stop, ins)
    return None if tile is None else StripNode(node, tile, {read[0]: y}, y, y)


def _read(graph: Graph, node: Node) -> list[str]:
    return [name for name in node.inputs if not graph.values[name].is_const]


def _columns(kind: TensorType) -> int:
    return kind.shape[-2] if len(kind.shape) > 1 else 1


def narrowed(kind: TensorType, axis: int, span: Span) -> TensorType:
    """A feature map of so much along an axis."""
    shape = list(kind.shape)
    shape[axis] = len(span)
    return replace(kind, shape=tuple(shape))


def cut_strips(graph: Graph, parts: Sequence[Part]) -> tuple[Graph, frozenset[str]]:
    """The graph with these parts in strips, which `strips_of` finds; they follow one another.

    And the names of the nodes that end a strip behind which another one begins, or that give columns up.
    """
    draft, ends = Draft(graph), list[str]()
    begins = {part.start: part for part in parts}
    inside = {i for part in parts for i in range(part.start, part.stop)}
    for i, node in enumerate(graph.nodes):
        if i in begins:
            ends += _write(draft, begins[i])
        elif i not in inside:
            draft.keep(node)
    result = draft.finish()
    assert well_formed(result)
    return result, frozenset(ends)


@record
class _Held:
    """What is left of a part's input: the value that has it, and which columns it has."""

    name: str
    span: Span


def _write(draft: Draft, part: Part) -> Iterator[str]:
    """Write a part; gives the names of nodes that end its strips but the last one, and of what gives columns up."""
    graph = draft.graph
    end = graph.nodes[part.stop - 1]
    (whole,) = end.outputs
    strips, joined, read = strips_of(graph, part), "", entry(graph, part.start, part.stop)
    assert strips is not None, "the planner asks first"
    assert read is not None, "a part reads one tensor"
    held = _Held(read, Span(0, graph.type(read).shape[part.axis]))
    needed = [min(strip.spans[read].start for strip in strips[k:]) for k in range(len(strips))]
    for number, strip in enumerate(strips, 1):
        if part.frees and needed[number - 1] > held.span.start:
            held = _left(draft, part, held, Span(needed[number - 1], held.span.stop), f"{read}.left{number}")
            yield draft.nodes[-1].name
        last = _write_strip(draft, part.axis, strip, number, {read: held})[whole]
        if joined:
            kind = graph.type(whole)
            now = narrowed(kind, part.axis, Span(0, strip.spans[whole].stop))
            out = whole if number == len(strips) else draft.value(f"{whole}.strips{number}", now)
            join = Concat(part.axis, (None, None), kind.dtype, kind.quant, over=True)
            draft.insert(join, [joined, last], out, end.source, name=f"{end.name}.strips{number}")
            last = out
        joined = last
        if number < len(strips):
            yield draft.nodes[-1].name


def _left(draft: Draft, part: Part, held: _Held, span: Span, name: str) -> _Held:
    """Write what gives up the columns of a part's input that are not of the span."""
    kind = narrowed(draft.values[held.name].type, part.axis, span)
    start = [0] * len(kind.shape)
    start[part.axis] = span.start - held.span.start
    left = draft.value(name, kind)
    draft.insert(Slice(tuple(start), kind.shape, (1,) * len(start), over=True), [held.name], left)
    return _Held(left, span)


def _write_strip(draft: Draft, axis: int, strip: Strip, number: int, outer: Mapping[str, _Held]) -> dict[str, str]:
    """Write a strip; gives each tensor of the part by the name that it has there.

    `outer`: what is left of the part's input.
    """
    graph, names, pieces = draft.graph, dict[str, str](), dict[tuple[str, Span], str]()

    def piece(value: str, span: Span) -> str:
        """So much of a tensor, which is there or is picked."""
        kind = graph.type(value)
        held = outer[value] if value in outer else _Held(names[value], strip.spans[value])
        if span == held.span:
            return held.name
        if (value, span) not in pieces:
            start, shape = [0] * len(kind.shape), list(kind.shape)
            start[axis], shape[axis] = span.start - held.span.start, len(span)
            pieces[value, span] = draft.value(f"{value}.strip{number}", narrowed(kind, axis, span))
            pick = Slice(tuple(start), tuple(shape), (1,) * len(shape))
            draft.insert(pick, [held.name], pieces[value, span])
        return pieces[value, span]

    for cut in strip.nodes:
        (out,) = cut.node.outputs
        weights = cut.weights
        constants = {name: name for name in cut.node.inputs if name not in cut.reads}
        if weights is not None:
            constants = {name: _some(draft, name, weights, number) for name in constants}
        inputs = [piece(name, cut.reads[name]) if name in cut.reads else constants[name] for name in cut.node.inputs]
        names[out] = draft.value(f"{out}.strip{number}", narrowed(graph.type(out), axis, cut.makes))
        draft.insert(cut.op, inputs, names[out], cut.node.source, name=f"{cut.node.name}.strip{number}")
    return names


def _some(draft: Draft, name: str, outputs: Span, number: int) -> str:
    """The weights or biases of some outputs."""
    value = draft.graph.values[name]
    assert value.data is not None, "what is no input is a constant"
    data = value.data[outputs.start : outputs.stop]
    return draft.value(f"{name}.strip{number}", replace(value.type, shape=data.shape), data=data)
