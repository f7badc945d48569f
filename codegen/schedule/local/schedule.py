"""Graph to Plan in the scratchpad regime: groups within local memory, then steps, addresses and commands."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.errors import LocalMemoryTooSmall
from codegen.ir.graph import Graph
from codegen.ir.local import Engine, Estimate, LocalBlock, LocalPlan, Padding, ParamsNeeds
from codegen.ir.plan import Group, NodeNeeds, Plan, Storage
from codegen.schedule.arena import Block, Packing, pack, round_up
from codegen.schedule.demand import Rows
from codegen.schedule.local.commands import Listing, clock
from codegen.schedule.local.groups import LocalGroups
from codegen.schedule.local.shape import ALIGN, Facts
from codegen.schedule.local.timeline import Place, Timeline, prefetch
from codegen.schedule.planner import view_roots

TRIES = (1.0, 0.96, 0.92, 0.88, 0.8, 0.7, 0.6)
"""Shares of local memory that blocks may fill, tried in turn until they also find addresses."""


def schedule_local(
    graph: Graph,
    needs: Mapping[int, NodeNeeds],
    params: Mapping[int, ParamsNeeds],
    engine: Engine,
    *,
    local_bytes: int,
    arena_align: int,
) -> Plan:
    """Groups, steps and addresses for a chip whose kernels touch only `local_bytes` of local memory.

    Raises:
        LocalMemoryTooSmall: LAM-SCHEDULE-305, some layer does not fit it, even in tiles.
    """
    views = frozenset(i for i in range(len(graph.nodes)) if i not in needs)
    roots = view_roots(graph, views)
    rows = Rows(graph, frozenset(i for i in range(len(graph.nodes)) if i in views or needs[i].whole))
    facts = Facts(graph, needs, params, {i: _pads(graph, rows, i) for i in needs}, rows, engine)
    line, packing = _line(facts, roots, local_bytes)
    places = {place: packing.offsets[_name(place)] for place in line.spans()}
    listing = Listing(line, places)
    listing.build()
    arena = _arena(line, roots)
    nodes = [shape.flow.members for shape in line.shapes]
    return Plan(
        graph=graph,
        groups=tuple(Group(tuple(members), 1) for members in nodes),
        storage=_storage(line, roots, arena.offsets, places),
        scratch={},
        scratch_bytes={i: n.scratch_bytes for i, n in needs.items() if n.scratch_bytes},
        views=views,
        arena_bytes=arena.bytes,
        arena_align=arena_align,
        lower_bound_bytes=arena.bound,
        local=_local(line, listing, packing, places),
    )


def _pads(graph: Graph, rows: Rows, index: int) -> dict[Padding, int]:
    """Padding rows that a node reads, with their bytes."""
    node = graph.nodes[index]
    view = graph.view(node)
    if index in rows.barriers:
        return {}
    found: dict[Padding, int] = {}
    for i in view.dynamic:
        rule = view.op.rows(i, view.ins, view.outs)
        name = node.inputs[i]
        if rule.fill is not None and rule.leaves(rows.height[name], rows.height[node.outputs[0]]):
            padding = (view.ins[i].dtype.value, rule.fill)
            found[padding] = max(found.get(padding, 0), rows.row_bytes[name])
    return found


def _line(facts: Facts, roots: Mapping[str, str], local_bytes: int) -> tuple[Timeline, Packing]:
    """The fullest timeline whose blocks find addresses within local memory."""
    groups = LocalGroups(facts, roots)
    for share in TRIES:
        shapes = groups.choose(int(local_bytes * share))
        for ahead in (1.0, 0.95, 0.9, 0.8, 0.0):
            line = Timeline(facts, roots, shapes)
            if ahead:
                prefetch(line, int(local_bytes * share * ahead))
            packing = pack(_blocks(line), {}, ALIGN)
            if packing.bytes <= local_bytes:
                return line, packing
    raise LocalMemoryTooSmall(f"no addresses found within {local_bytes} B", where=facts.graph.name)


def _name(place: Place) -> str:
    group, (role, what, number) = place
    return f"{group} {role} {what} {number}"


def _blocks(line: Timeline) -> list[Block]:
    sizes = {place: line.shapes[place[0]].blocks[place[1]] for place in line.spans()}
    return [Block(_name(place), sizes[place], *span) for place, span in line.spans().items()]


def _arena(line: Timeline, roots: Mapping[str, str]) -> Packing:
    """Addresses in global memory of the tensors that pass between groups, by the steps in which they are moved."""
    graph, steps = line.facts.graph, line.steps
    spans: dict[str, list[int]] = {roots[face.value]: [-1, -1] for face in graph.inputs}
    for move in line.moves:
        if move.root:
            at = [move.start] if move.kind == "store" else []
            span = spans.setdefault(move.root, [move.start, move.start])
            span[0] = min([span[0], *at])
            span[1] = max(span[1], move.wait + 1)
    for name in graph.output_values:
        spans[roots[name]][1] = steps + 2
    size = {root: max(graph.type(v).bytes for v, r in roots.items() if r == root) for root in spans}
    return pack([Block(root, size[root], *span) for root, span in spans.items()], {}, ALIGN)


def _storage(
    line: Timeline, roots: Mapping[str, str], arena: Mapping[str, int], places: Mapping[Place, int]
) -> dict[str, Storage]:
    rows = line.facts.rows
    found: dict[str, Storage] = {}
    for name, root in roots.items():
        if root in arena:
            found[name] = Storage(arena[root], rows.height[name], rows.height[name], rows.row_bytes[name])
    for g, shape in enumerate(line.shapes):
        for name, ring in shape.flow.rings.items():
            offset = places[g, ("ring", name, 0)]
            found[name] = Storage(offset, rows.height[name], ring, rows.row_bytes[name], "lmem")
        for name in shape.kept:
            key = ("kept", name, 0)
            offset, height = places[line.owner(g, key), key], rows.height[name]
            found[name] = Storage(offset, height, height, rows.row_bytes[name], "lmem")
    return found


def _local(line: Timeline, listing: Listing, packing: Packing, places: Mapping[Place, int]) -> LocalPlan:
    spans = line.spans()
    blocks = [
        LocalBlock(_name(place), offset, line.shapes[place[0]].blocks[place[1]], *spans[place])
        for place, offset in places.items()
    ]
    streams = tuple(listing.streams.values())
    return LocalPlan(
        bytes=round_up(packing.bytes, ALIGN),
        align=ALIGN,
        layers=tuple(listing.layers.values()),
        streams=streams,
        params=tuple(listing.params),
        fills=tuple(listing.fills),
        commands=tuple(listing.commands),
        steps=tuple(listing.steps),
        slots=1 + max((c.slot for c in listing.commands), default=0),
        blocks=tuple(sorted(blocks, key=lambda b: (b.start, b.offset))),
        estimate=_estimate(line, listing),
    )


def _estimate(line: Timeline, listing: Listing) -> Estimate:
    facts, watch = line.facts, clock(line.facts, listing)
    graph = facts.graph
    faces = {face.value for face in (*graph.inputs, *graph.outputs)}
    bound = sum(graph.type(v).bytes for v in faces) + sum(n.bytes(n.channels) for n in facts.params.values())
    return Estimate(round(watch.now), round(watch.compute), round(watch.busy), watch.moved, bound)
