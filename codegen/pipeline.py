"""The whole compiler on one screen: the ordered stages, nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from codegen.emit import EmitOptions, Vector, fill_pattern, network_name, project_files, selftest_crc
from codegen.errors import (
    ArenaLimitUnreachable,
    LocalMemoryTooSmall,
    ModelRejected,
    RequantUnsupported,
    StateNotOnTarget,
    StreamImpossible,
)
from codegen.frontends import import_model, own_mode
from codegen.golden.interpreter import Stepper
from codegen.ir.graph import Graph
from codegen.ir.local import Engine
from codegen.ir.plan import Plan
from codegen.ir.program import Kernel, Program
from codegen.ir.quant import MODES, Mode
from codegen.ir.verify import verify_graph, verify_plan, verify_program
from codegen.lower import (
    ShadowReport,
    check_target,
    choose_kernels,
    kernel_needs,
    lower,
    lower_local,
    params_needs,
    shadow_local,
    shadow_run,
)
from codegen.passes import is_wide, optimize, turn_sideways
from codegen.report.manifest import build_manifest
from codegen.resources import ABI, VERSION
from codegen.schedule import OPTIMIZE, Optimize, Scheduler, order_nodes
from codegen.schedule.fits import check_fits, limit_unreachable
from codegen.schedule.local import schedule_cores
from codegen.target import Target, load_target

Ordered = tuple[Graph, dict[int, Kernel]]
"""A network with its nodes in an order, and the kernel of each node that needs one."""

FEWEST_STEPS = 2
"""Self-test vectors of a network with state, where any are asked for."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a compilation may be told.

    `requant` None means the arithmetic of the model's own format, or else the target's default; `optimize` None what
    the target says; `name` None the file's name.
    """

    target: str = "host"
    requant: str | None = None
    weights: str = "c"
    io_layout: str = "nhwc"
    io_type: str = "quantized"
    name: str | None = None
    vectors: int = 2
    optimize: Optimize | None = None
    arena_limit: int | None = None
    stream_input: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """Every form a model took on its way, and the files."""

    imported: Graph
    graph: Graph
    target: Target
    kernels: Mapping[int, Kernel]
    plan: Plan
    program: Program
    shadow: ShadowReport
    emit: EmitOptions
    manifest: Mapping[str, object]
    files: Mapping[str, bytes]


def read_model(model: Path, options: Options, target: Target) -> Graph:
    """The model as imported, before any pass: what the golden model runs."""
    mode = choose_mode(settled(options, model), target)
    graph = import_model(model, mode=mode, io_type=options.io_type, io_layout=options.io_layout)
    graph = replace(graph, name=network_name(options.name or model.stem))
    verify_graph(graph)
    return graph


def settled(options: Options, model: Path) -> Options:
    """The options, with the arithmetic of the model's own format where none is asked for."""
    return options if options.requant else replace(options, requant=own_mode(model))


def choose_mode(options: Options, target: Target) -> Mode:
    """The requantization mode, checked against the target; LAM-TARGET-006 when it has none such."""
    wanted = options.requant or target.requant_default
    for mode in MODES:
        if mode == wanted and mode in target.requant_modes:
            return mode
    offered = ", ".join(target.requant_modes)
    raise RequantUnsupported(f"no requantization {wanted!r}; it offers {offered}", where=target.name)


def choose_goal(options: Options, target: Target) -> Optimize:
    """Which memory plan to take."""
    wanted = options.optimize or target.optimize_default
    return next(goal for goal in OPTIMIZE if goal == wanted)


def planning_notes(options: Options, target: Target) -> tuple[str, ...]:
    """What was asked of the plan, and changes nothing."""
    if target.dma is None or options.optimize in (None, "size"):
        return ()
    return (f"optimize {options.optimize} changes nothing: {target.name} has local memory, its plan has fewest cycles",)


def compile_graph(imported: Graph, target: Target, options: Options, model_hash: bytes = b"\0" * 32) -> Compiled:
    """Imported graph to files."""
    graph = optimize(imported)
    verify_graph(graph)
    check_target(graph, target)
    plan, kernels = plan_in_best_order(graph, target, options)
    return finish(imported, plan, kernels, target, options, model_hash)


def plan_in_best_order(graph: Graph, target: Target, options: Options) -> tuple[Plan, dict[int, Kernel]]:
    """Kernels and plan; the model's own order of operators and the best one found compete by what the options ask.

    A network on wide images competes in turned form too, where memory is short.
    """
    orders, turned = _orders(graph, target), _turned_orders(graph, target, options)
    if target.dma is None:
        plan = _plan_arena(orders, target, options, turned)
    else:
        plan = _plan_local(orders, target, options, turned)
    return plan, next(kernels for order, kernels in (*orders, *turned) if order is plan.graph)


def _orders(graph: Graph, target: Target) -> list[Ordered]:
    kernels = choose_kernels(graph, target)
    other = order_nodes(graph, frozenset(range(len(graph.nodes))) - frozenset(kernels))
    if other is graph:
        return [(graph, kernels)]
    named = {graph.nodes[i].name: kernel for i, kernel in kernels.items()}
    return [(graph, kernels), (other, {i: named[n.name] for i, n in enumerate(other.nodes) if n.name in named})]


def _turned_orders(graph: Graph, target: Target, options: Options) -> list[Ordered]:
    """The network on columns; none where its images are not wide, come by rows, or the target lacks an operator."""
    if options.stream_input or not is_wide(graph):
        return []
    turned = optimize(turn_sideways(graph))
    try:
        check_target(turned, target)
        return _orders(turned, target)
    except ModelRejected:
        return []


def make_plan(graph: Graph, kernels: Mapping[int, Kernel], target: Target, options: Options) -> Plan:
    """Groups and addresses for the graph in the order of its nodes."""
    orders: list[Ordered] = [(graph, dict(kernels))]
    return _plan_local(orders, target, options) if target.dma is not None else _plan_arena(orders, target, options)


def _plan_arena(orders: Sequence[Ordered], target: Target, options: Options, turned: Sequence[Ordered] = ()) -> Plan:
    """The plan that the options ask for; where no limit is given and the chip's RAM would be exceeded, that is it.

    The turned network competes where the smallest plan is asked for, or a limit set.  What does not fit at all goes to
    slower memories, where the chip has them.
    """
    goal, limit, ram = choose_goal(options, target), options.arena_limit, target.ram_bytes
    small, several = goal == "memory" or limit is not None, len(target.working) > 1
    scheduler = _scheduler([*orders, *turned] if small else orders, target, options)
    try:
        first = scheduler.plan(goal, limit)
        if ram is None or first.arena_bytes <= ram or (limit is not None and not several):
            return first
        if turned and not small:
            scheduler = _scheduler([*orders, *turned], target, options)
        return scheduler.plan(goal, ram)
    except ArenaLimitUnreachable:
        spread = scheduler.spread(target.working, limit) if several else None
        if spread is None and limit is not None:
            raise
        return spread or scheduler.plan("memory")


def _scheduler(orders: Sequence[Ordered], target: Target, options: Options) -> Scheduler:
    known = [(graph, kernel_needs(graph, kernels)) for graph, kernels in orders]
    return Scheduler(known, arena_align=target.arena_align, stream_input=options.stream_input)


def _plan_local(orders: Sequence[Ordered], target: Target, options: Options, turned: Sequence[Ordered] = ()) -> Plan:
    """The plan of fewest cycles for a chip whose kernels touch only its local memory; a limit is only checked.

    The turned network is tried where the other one does not fit.
    """
    assert target.dma is not None
    if orders[0][0].states:
        raise StateNotOnTarget(f"{target.name} has local memories, on which no state is kept", where=orders[0][0].name)
    if options.stream_input:
        raise StreamImpossible("its input comes by DMA from an arena that holds it whole", where=target.name)
    engine = Engine(target.dma.bytes_per_cycle, target.dma.latency_cycles, target.dma.macs_per_cycle)
    found: list[tuple[int, int, Plan]] = []
    refusals: list[LocalMemoryTooSmall] = []
    for k, (graph, kernels) in enumerate(orders):
        needs, params = kernel_needs(graph, kernels), params_needs(graph, kernels)
        try:
            plan = schedule_cores(
                graph,
                needs,
                params,
                engine,
                local_bytes=target.lmem_bytes,
                arena_align=target.arena_align,
                cores=target.dma.cores,
                banks=target.lmem_banks,
            )
        except LocalMemoryTooSmall as error:
            refusals.append(error)
        else:
            assert plan.local is not None
            found.append((plan.local.estimate.cycles, k, plan))
    if not found and turned:
        return _plan_local(turned, target, options)
    if not found:
        raise refusals[-1]
    _, _, best = min(found)
    if options.arena_limit is not None and best.arena_bytes > options.arena_limit:
        raise limit_unreachable(best, options.arena_limit)
    return best


def lower_plan(plan: Plan, kernels: Mapping[int, Kernel]) -> Program:
    """The plan's calls: on rows of the arena, or of local memory where the chip has one."""
    return lower_local(plan, kernels) if plan.local else lower(plan, kernels)


def prove(program: Program) -> ShadowReport:
    """The shadow run; raises IrError, which is a fault of the compiler, for a program that is not sound."""
    return shadow_local(program) if program.local else shadow_run(program)


def finish(
    imported: Graph,
    plan: Plan,
    kernels: Mapping[int, Kernel],
    target: Target,
    options: Options,
    model_hash: bytes = b"\0" * 32,
) -> Compiled:
    """Plan to files; a plan made by hand goes the same way."""
    verify_plan(plan)
    program = lower_plan(plan, kernels)
    verify_program(program)
    shadow = prove(program)
    check_fits(plan, program.params_bytes, target)
    emit = EmitOptions(
        version=VERSION,
        abi=ABI,
        options=_said(options, target),
        model_hash=model_hash,
        isa=target.isa,
        byte_order=target.byte_order,
        blob=options.weights == "blob",
        small=options.optimize == "size",
    )
    manifest = build_manifest(
        plan,
        program,
        target,
        version=VERSION,
        model_hash=model_hash.hex(),
        requant=choose_mode(options, target),
        weights=options.weights,
        planning={"optimize": choose_goal(options, target), "arena_limit": options.arena_limit},
        shadow=shadow,
        notes=(*plan.graph.notes, *planning_notes(options, target)),
    )
    files = project_files(program, emit, _vectors(plan.graph, options.vectors), manifest)
    return Compiled(imported, plan.graph, target, kernels, plan, program, shadow, emit, manifest, files)


def _said(options: Options, target: Target) -> str:
    """The options, for the header of each generated file."""
    said = f"target {target.name}, requant {choose_mode(options, target)}, weights {options.weights}"
    limit = "" if options.arena_limit is None else f", arena limit {options.arena_limit}"
    return f"{said}, optimize {choose_goal(options, target)}{limit}{', streamed input' if options.stream_input else ''}"


def compile_file(model: Path, options: Options) -> Compiled:
    """Model file to files."""
    target = load_target(options.target)
    options = settled(options, model)
    imported = read_model(model, options, target)
    return compile_graph(imported, target, options, hashlib.sha256(model.read_bytes()).digest())


def _vectors(graph: Graph, count: int) -> list[Vector]:
    """Self-test vectors: generated inputs, the golden model's outputs; with state, of runs one after the other."""
    stepper = Stepper(graph)
    if graph.states and count:
        count = max(count, FEWEST_STEPS)
    types = [graph.type(i.value) for i in graph.inputs]
    found = []
    for seed in range(1, count + 1):
        feeds = {i.value: x for i, x in zip(graph.inputs, fill_pattern(seed, types), strict=True)}
        values = stepper.run(feeds)
        found.append(Vector(seed, selftest_crc([np.asarray(values[o.value]) for o in graph.outputs])))
    return found
