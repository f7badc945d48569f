"""Graph to Plan in the scratchpad regime: groups within the scratchpad, then steps, addresses and commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from codegen.errors import ScratchpadTooSmall
from codegen.ir.graph import Graph
from codegen.ir.plan import Group, NodeNeeds, Plan, Storage
from codegen.ir.scratchpad import Engine, Estimate, Padding, ParamsNeeds, ScratchpadBlock, ScratchpadPlan, StageSlices
from codegen.schedule.arena import Block, Packing, pack, round_up
from codegen.schedule.blocks import BEFORE
from codegen.schedule.demand import Rows
from codegen.schedule.planner import view_roots
from codegen.schedule.scratchpad.banks import in_banks
from codegen.schedule.scratchpad.commands import Listing, Tables, clock
from codegen.schedule.scratchpad.groups import ScratchpadGroups
from codegen.schedule.scratchpad.shape import ALIGN, Facts
from codegen.schedule.scratchpad.stage import Stage
from codegen.schedule.scratchpad.timeline import Place, Timeline, block_name, prefetch

TRIES = (1.0, 0.96, 0.92, 0.88, 0.8, 0.7, 0.6)
"""Shares of scratchpad that blocks may fill, tried in turn until they also find addresses."""
LESS = 300
"""Moves that are tried for less scratchpad, once all blocks fit: what they leave of it serves nobody else."""


def schedule_cores(
    graph: Graph,
    needs: Mapping[int, NodeNeeds],
    params: Mapping[int, ParamsNeeds],
    engine: Engine,
    *,
    scratchpad_bytes: int,
    arena_align: int,
    cores: int,
    banks: int = 1,
) -> Plan:
    """The fastest plan on all cores, on half of them, and so on: `scratchpad_bytes` are shared by those that are used.

    They have `banks` of equal size, which count where each core has whole ones.  Fewer cores have more scratchpad
    each, and load parameters fewer times.  The search ends where fewer are slower.

    Raises:
        ScratchpadTooSmall: LAM-SCHEDULE-305, some layer does not fit all of it, even in tiles.
    """
    best: Plan | None = None
    refusal: ScratchpadTooSmall | None = None
    for count in [cores >> n for n in range(cores.bit_length())]:
        each = scratchpad_bytes // count
        bank_bytes = each * count // banks if banks > 1 and banks % count == 0 else 0
        sizes = {"scratchpad_bytes": each, "arena_align": arena_align, "cores": count, "bank_bytes": bank_bytes}
        try:
            plan = schedule_scratchpad(graph, needs, params, engine, **sizes)
        except ScratchpadTooSmall as error:
            refusal = error
            continue
        if best is not None and _cycles(plan) >= _cycles(best):
            break
        best = plan
    if best is None:
        assert refusal is not None
        raise refusal
    return best


def _cycles(plan: Plan) -> int:
    assert plan.scratchpad is not None
    return plan.scratchpad.estimate.cycles


def schedule_scratchpad(
    graph: Graph,
    needs: Mapping[int, NodeNeeds],
    params: Mapping[int, ParamsNeeds],
    engine: Engine,
    *,
    scratchpad_bytes: int,
    arena_align: int,
    cores: int = 1,
    bank_bytes: int = 0,
) -> Plan:
    """Groups, steps and addresses for a chip whose kernels touch only the scratchpad, `scratchpad_bytes` of each core.

    What moves and what computes is kept apart in banks of `bank_bytes` as far as there is room, unless that is 0.

    Raises:
        ScratchpadTooSmall: LAM-SCHEDULE-305, some layer does not fit it, even in tiles.
    """
    views = frozenset(i for i in range(len(graph.nodes)) if i not in needs)
    roots = view_roots(graph, views)
    facts = facts_of(graph, needs, params, engine)
    lines, packing = _lines(facts, roots, scratchpad_bytes, cores)
    if bank_bytes:
        packing = in_banks(lines, _blocks(lines), packing, bank_bytes, scratchpad_bytes)
    spans = _spans(lines)
    places = {place: packing.offsets[block_name(place)] for place in spans}
    lists = _listed(lines, places)
    arena = _arena(lines, roots)
    return Plan(
        graph=graph,
        groups=tuple(Group(stage.model.flow.nodes, 1) for stage in lines[0].stages),
        storage=_storage(lines[0], roots, arena.offsets, places),
        scratch={},
        scratch_bytes={i: n.scratch_bytes for i, n in needs.items() if n.scratch_bytes},
        views=views,
        arena_bytes=arena.bytes,
        arena_align=arena_align,
        lower_bound_bytes=arena.bound,
        scratchpad=_scratchpad(lists, packing, places, spans, bank_bytes),
    )


def facts_of(graph: Graph, needs: Mapping[int, NodeNeeds], params: Mapping[int, ParamsNeeds], engine: Engine) -> Facts:
    """What is known of the nodes; those without needs are views."""
    rows = Rows(graph, frozenset(i for i in range(len(graph.nodes)) if i not in needs or needs[i].whole))
    pads = {i: _pads(graph, rows, i) for i in needs}
    padded = {i: _padded(graph, rows, i) if pads[i] else frozenset[int]() for i in needs}
    return Facts(graph, needs, params, pads, padded, rows, engine)


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


def _padded(graph: Graph, rows: Rows, index: int) -> frozenset[int]:
    """Steps of a node that read a padding row."""
    node = graph.nodes[index]
    view = graph.view(node)
    found: set[int] = set()
    for i in view.dynamic:
        rule, height = view.op.rows(i, view.ins, view.outs), rows.height[node.inputs[i]]
        if rule.fill is not None:
            reach = (rule.taps - 1) * rule.dilation
            firsts = ((step, rule.first(step)) for step in range(rows.nodes[index].steps))
            found |= {step for step, first in firsts if first < 0 or first + reach >= height}
    return frozenset(found)


def _lines(
    facts: Facts, roots: Mapping[str, str], scratchpad_bytes: int, cores: int
) -> tuple[list[Timeline], Packing[str]]:
    """The fullest timelines whose blocks find addresses within the scratchpad, one for each core."""
    groups = ScratchpadGroups(facts, roots, cores)
    scratchpad_bytes -= scratchpad_bytes % ALIGN
    for share in TRIES:
        stages = groups.choose(int(scratchpad_bytes * share))
        for ahead in (1.0, 0.95, 0.9, 0.8, 0.0):
            lines = [Timeline(facts, roots, stages, core, cores) for core in range(cores)]
            for line in lines if ahead else ():
                prefetch(line, int(scratchpad_bytes * share * ahead))
            fits = pack(_blocks(lines), {}, ALIGN, enough=scratchpad_bytes)
            if fits.bytes <= scratchpad_bytes:
                return lines, min(fits, pack(_blocks(lines), {}, ALIGN, tries=LESS), key=lambda p: p.bytes)
    raise ScratchpadTooSmall(f"no addresses found within {scratchpad_bytes} B", where=facts.graph.name)


def _listed(lines: Sequence[Timeline], places: Mapping[Place, int]) -> list[Listing]:
    tables = Tables()
    lists = [Listing(line, places, tables) for line in lines]
    for listing in lists:
        listing.build()
    return lists


def _spans(lines: Sequence[Timeline]) -> dict[Place, tuple[int, int]]:
    """First and last step of every block, on any core: blocks have the same place on all."""
    found: dict[Place, tuple[int, int]] = {}
    for line in lines:
        for place, (first, last) in line.spans().items():
            before = found.get(place, (first, last))
            found[place] = (min(first, before[0]), max(last, before[1]))
    return found


def _blocks(lines: Sequence[Timeline]) -> list[Block[str]]:
    stages = lines[0].stages
    return [Block(block_name(p), stages[p[0]].blocks[p[1]], *span) for p, span in _spans(lines).items()]


def _arena(lines: Sequence[Timeline], roots: Mapping[str, str]) -> Packing[str]:
    """Addresses in global memory of the tensors that pass between groups, by the steps in which they are moved.

    Cores are not in step with each other, so that where there are several a tensor is there for whole stages.
    """
    graph, steps = lines[0].facts.graph, lines[0].steps
    spans: dict[str, list[int]] = {roots[face.value]: [BEFORE, BEFORE] for face in graph.inputs}
    for line in lines:
        for move in line.moves:
            if move.root:
                start, stop = move.start + 1, move.wait + 2
                if len(lines) > 1:
                    start, stop = line.first[move.place[0]] + 1, max(stop, line.first[move.place[0] + 1])
                span = spans.setdefault(move.root, [start, start])
                span[0] = min(span[0], start) if move.kind == "store" else span[0]
                span[1] = max(span[1], stop)
    for name in graph.output_values:
        spans[roots[name]][1] = steps + 3
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
    for g, stage in enumerate(line.stages):
        for name, ring in stage.model.rings.items():
            offset = places[g, ("ring", name, 0)]
            found[name] = Storage(offset, rows.height[name], ring, rows.row_bytes[name], "scratchpad")
        for name in stage.model.kept:
            key = ("kept", name, 0)
            offset, height = places[line.owner(g, key), key], rows.height[name]
            found[name] = Storage(offset, height, height, rows.row_bytes[name], "scratchpad")
    for name in roots:
        # of this one no row is needed
        found.setdefault(name, Storage(0, rows.height[name], 1, rows.row_bytes[name], "scratchpad"))
    return found


def _scratchpad(
    lists: Sequence[Listing],
    packing: Packing[str],
    places: Mapping[Place, int],
    spans: Mapping[Place, tuple[int, int]],
    bank_bytes: int,
) -> ScratchpadPlan:
    line, tables = lists[0].line, lists[0].tables
    blocks = [
        ScratchpadBlock(block_name(place), offset, line.stages[place[0]].blocks[place[1]], *spans[place])
        for place, offset in places.items()
    ]
    starts = [0, *accumulate(len(listing.commands) for listing in lists)]
    commands = [command for listing in lists for command in listing.commands]
    return ScratchpadPlan(
        bytes=round_up(packing.bytes, ALIGN),
        align=ALIGN,
        bank_bytes=bank_bytes,
        layers=tuple(tables.layers.items),
        streams=tuple(tables.streams.items),
        params=tuple(tables.params.items),
        fills=tuple(tables.fills.items),
        commands=tuple(commands),
        steps=tuple(start + at for start, listing in zip(starts, lists, strict=False) for at in listing.steps),
        bounds=tuple(_bounds(listing, start, len(lists)) for start, listing in zip(starts, lists, strict=False)),
        slots=1 + max((c.slot for c in commands), default=0),
        blocks=tuple(sorted(blocks, key=lambda b: (b.start, b.offset))),
        slices=tuple(_slices(line.facts, stage) for stage in line.stages),
        estimate=_estimate(line.facts, lists),
    )


def _bounds(listing: Listing, start: int, cores: int) -> tuple[int, ...]:
    """Where the stages of a core begin in the commands of all, and where the last one ends."""
    first = [listing.steps[at] for at in listing.line.first[:-1]] if cores > 1 else [0]
    return tuple(start + at for at in (*first, len(listing.commands)))


def _slices(facts: Facts, stage: Stage) -> StageSlices:
    """How a group is shared out, and what is made more than once."""
    macs = again = 0.0
    for part in stage.parts:
        flow = part.flow
        each = [facts.needs[i].macs / (1 if facts.needs[i].whole else facts.rows.nodes[i].steps) for i in flow.members]
        macs += sum(each[k] for k, _ in flow.events)
        again += sum(each[k] for k, step in flow.events if flow.again(k, step))
    last = list(stage.model.flow.own)[-1]
    return StageSlices(stage.model.flow.nodes, tuple(p.flow.own[last] for p in stage.parts), round(macs), round(again))


def _estimate(facts: Facts, lists: Sequence[Listing]) -> Estimate:
    times, graph = clock(facts, lists), facts.graph
    faces = {face.value for face in (*graph.inputs, *graph.outputs)}
    bound = sum(graph.type(v).bytes for v in faces) + sum(n.bytes(n.channels) for n in facts.params.values())
    return Estimate(round(times.cycles), round(times.compute), round(times.dma), times.moved, bound)
