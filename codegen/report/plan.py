"""One record of a memory plan: groups, rings, bytes over time, the peak, traffic, and the plans to choose from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.ir.plan import ARENA, FrontPoint, Plan, place_of
from codegen.ir.program import Call, GroupProgram, Program
from codegen.prove import ShadowReport, bank_conflicts
from codegen.records import record
from codegen.report.layers import layer_weights
from codegen.schedule import find_peak, group_title, residents, used_bytes
from codegen.schedule.live import Resident, alive_in


@record
class RingRecord:
    """A tensor, made by `layer`, of which only the last `rows_kept` of `rows` rows are held, `row_bytes` each.

    `within`: the tensor in whose rows its own lie, where `bytes` is 0; else empty.
    """

    tensor: str
    layer: str
    rows_kept: int
    rows: int
    row_bytes: int
    bytes: int
    within: str = ""


@record
class SharedRecord:
    """A tensor that dies in a group and one that is made there, and the bytes that both have."""

    dying: str
    output: str
    bytes: int


@record
class WorkRecord:
    """What one layer's kernel calls were given and made in one inference: rows, and all of its weights each time."""

    layer: str
    kernel_calls: int
    weights_read_bytes: int
    read_bytes: int
    written_bytes: int


@record(kw_only=True)
class GroupRecord:
    """Layers that run together, and what one inference moves there.

    `live_bytes` of the arena are in use.  A kernel call reads all of its layer's weights: `weights_read_bytes` counts
    them per call, `weights_bytes` once.  `read_bytes` and `written_bytes` are the rows that calls were given and made.
    `stack_bytes` is None where the stack was not measured (codegen/report/stack.py).  `work` says it layer by layer.
    A layer that runs `backwards` makes its last rows first.
    """

    index: int
    title: str
    nodes: tuple[str, ...]
    live_bytes: int
    kernel_calls: int
    weights_bytes: int
    weights_read_bytes: int
    read_bytes: int
    written_bytes: int
    rings: tuple[RingRecord, ...]
    shared: tuple[SharedRecord, ...]
    stack_bytes: int | None = None
    work: tuple[WorkRecord, ...] = ()
    backwards: bool = False


@record
class SlicesRecord:
    """How several cores share a group: by core, the rows [first, stop) of the last layer's output.

    `macs` counts all that is computed, `recomputed_macs` what another core of the group computes too.
    """

    group: int
    title: str
    rows: tuple[tuple[int, int], ...]
    macs: int
    recomputed_macs: int


@record
class TensorRecord:
    """What holds `bytes` of the arena from `offset`, from group `first_group` to `last_group`, both included.

    `kind` is input, state (kept between runs), output, tensor (whole), ring, or scratch; `layer` makes it, and is empty
    for an input or a state.  `memory` is the arena, or the slower memory in which `offset` counts.
    """

    tensor: str
    layer: str
    kind: str
    offset: int
    bytes: int
    first_group: int
    last_group: int
    memory: str


@record
class MemoryRecord:
    """Working memory: the arena, which is in the chip's fastest memory, or what a slower one of that name holds.

    `cost` is that of a byte read or written, beside 1.  `moved_bytes` are those of rows that kernel calls were given
    and made; null where kernels work in the scratchpad.  `given` memory is the caller's, and holds the input.
    """

    memory: str
    bytes: int
    lower_bound_bytes: int
    cost: int
    moved_bytes: int | None
    given: bool = False


@record
class LiveTensor:
    """A tensor at the peak."""

    tensor: str
    bytes: int


@record
class PeakRecord:
    """The group during which most of the arena is in use, and what is there, largest first."""

    group: int
    title: str
    live_bytes: int
    live: tuple[LiveTensor, ...]


@record(kw_only=True)
class PlanRecord:
    """A memory plan.  Time counts groups; sizes are bytes; traffic is of one inference.

    `lower_bound_bytes` is what no placement of these groups can beat, `gap_bytes` what the arena has above it.
    `streamed` names the input whose rows are pushed one by one, or is empty, `outside` that which lies in memory of the
    caller's.  Of the multiply-accumulates `recomputed_macs` are made again, in strips that overlap.  `slices` has the
    groups that are run on several cores, and those beside them; it is empty where there is one core.  `memories` begin
    with the arena.
    `bank_conflicts` counts kernel calls that share a bank of scratchpad with a transfer; null where there are no
    banks.
    `front` has every plan that no other one beats in both memory (live bytes before placement) and time (units of the
    cost model).
    """

    arena_bytes: int
    lower_bound_bytes: int
    gap_bytes: int
    streamed: str
    outside: str
    recomputed_macs: int
    kernel_calls: int
    weights_bytes: int
    weights_read_bytes: int
    read_bytes: int
    written_bytes: int
    peak: PeakRecord
    groups: tuple[GroupRecord, ...]
    tensors: tuple[TensorRecord, ...]
    slices: tuple[SlicesRecord, ...]
    memories: tuple[MemoryRecord, ...]
    bank_conflicts: int | None
    front: tuple[FrontPoint, ...]

    @property
    def largest_group(self) -> GroupRecord | None:
        """The first of the groups with most layers; None for a network without layers."""
        return max(self.groups, key=lambda g: (len(g.nodes), -g.index), default=None)

    def _repr_html_(self) -> str:
        """The plan in a notebook."""
        from codegen.report.views import plan_view

        return plan_view(self)


def plan_record(plan: Plan, program: Program, shadow: ShadowReport) -> PlanRecord:
    """The record of a plan; traffic is what the shadow run of its program counted."""
    held = residents(plan)
    alive = alive_in(held, len(program.groups))
    groups = tuple(_group(plan, index, lowered, shadow, alive[index]) for index, lowered in enumerate(program.groups))
    peak = find_peak(plan, held)
    return PlanRecord(
        arena_bytes=plan.arena_bytes,
        lower_bound_bytes=plan.lower_bound_bytes,
        gap_bytes=plan.arena_bytes - plan.lower_bound_bytes,
        streamed=plan.streamed,
        outside=plan.graph.inputs[0].value if any(region.given for region in plan.regions) else "",
        recomputed_macs=plan.recomputed_macs,
        kernel_calls=sum(g.kernel_calls for g in groups),
        weights_bytes=sum(g.weights_bytes for g in groups),
        weights_read_bytes=sum(g.weights_read_bytes for g in groups),
        read_bytes=sum(g.read_bytes for g in groups),
        written_bytes=sum(g.written_bytes for g in groups),
        peak=PeakRecord(
            group=peak.group,
            title=group_title(plan, peak.group),
            live_bytes=peak.bytes,
            live=tuple(LiveTensor(r.name, r.bytes) for r in peak.live),
        ),
        groups=groups,
        tensors=tuple(_tensor(plan, r) for r in held),
        slices=tuple(_slices(plan)),
        memories=_memories(plan, program, shadow),
        bank_conflicts=bank_conflicts(program.scratchpad) if program.scratchpad else None,
        front=plan.front,
    )


def _tensor(plan: Plan, held: Resident) -> TensorRecord:
    memory, offset = place_of(plan.regions, held.offset)
    return TensorRecord(held.name, held.layer, held.kind, offset, held.bytes, held.first, held.last, memory)


def _memories(plan: Plan, program: Program, shadow: ShadowReport) -> tuple[MemoryRecord, ...]:
    moved = dict.fromkeys([ARENA, *(r.memory for r in plan.regions)], 0)
    for tensor, size in shadow.moved.items():
        moved[place_of(plan.regions, plan.storage[tensor].offset)[0]] += size
    first = None if program.scratchpad else moved[ARENA]
    arena = MemoryRecord(ARENA, plan.arena_bytes, plan.lower_bound_bytes, 1, first)
    others = (
        MemoryRecord(r.memory, r.bytes, r.lower_bound_bytes, r.cost, moved[r.memory], r.given) for r in plan.regions
    )
    return (arena, *others)


def _slices(plan: Plan) -> Iterator[SlicesRecord]:
    if plan.scratchpad is not None and plan.scratchpad.cores > 1:
        for index, stage in enumerate(plan.scratchpad.slices):
            yield SlicesRecord(index, group_title(plan, index), stage.rows, stage.macs, stage.recomputed_macs)


def _group(
    plan: Plan, index: int, lowered: GroupProgram, shadow: ShadowReport, alive: Sequence[Resident]
) -> GroupRecord:
    work = [(call, shadow.work[call.node.name]) for call in lowered.calls]
    shared = _shared(plan, alive, index)
    return GroupRecord(
        index=index,
        title=group_title(plan, index),
        nodes=tuple(plan.graph.nodes[i].name for i in plan.groups[index].nodes),
        live_bytes=used_bytes(alive),
        kernel_calls=sum(done.calls for _, done in work),
        weights_bytes=sum(layer_weights(call) for call, _ in work),
        weights_read_bytes=sum(_weights(call) * done.calls for call, done in work),
        read_bytes=sum(done.read_bytes for _, done in work),
        written_bytes=sum(done.written_bytes for _, done in work),
        rings=tuple(_ring(r, alive, shared) for r in alive if r.ring < r.rows),
        shared=tuple(shared),
        backwards=lowered.backwards,
        work=tuple(
            WorkRecord(call.node.name, done.calls, _weights(call) * done.calls, done.read_bytes, done.written_bytes)
            for call, done in work
        ),
    )


def _ring(ring: Resident, alive: Sequence[Resident], shared: Sequence[SharedRecord]) -> RingRecord:
    over = {s.output for s in shared if s.dying == ring.name}
    within = next((r.name for r in alive if r.name in over and (r.offset, r.ring) == (ring.offset, ring.ring)), "")
    size = 0 if within else ring.bytes
    return RingRecord(ring.name, ring.layer, ring.ring, ring.rows, ring.row_bytes, size, within)


def _weights(call: Call) -> int:
    """Bytes of the parameters that one call reads."""
    return call.params.bytes if call.params else 0


def _shared(plan: Plan, alive: Sequence[Resident], group: int) -> list[SharedRecord]:
    """Pairs of one that ends and one made of it that begins in this group, in the same bytes."""
    order = {plan.graph.nodes[i].name: k for k, i in enumerate(plan.groups[group].nodes)}
    dying = [r for r in alive if r.last == group and r.kind != "scratch"]
    made = [r for r in alive if r.first == group and r.kind not in ("scratch", "input", "state")]
    later = ((a, b) for a in dying for b in made if order.get(a.layer, -1) < order.get(b.layer, -1))
    pairs = ((a, b, a.overlap(b)) for a, b in later)
    return [SharedRecord(a.name, b.name, size) for a, b, size in pairs if size]
