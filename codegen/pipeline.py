"""The whole compiler on one screen: the ordered stages, nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from codegen.emit import EmitOptions, network_name, project_files, selftest_vectors
from codegen.errors import CompileError, ModelRejected, RequantUnsupported
from codegen.frontends import import_model, own_mode
from codegen.frontends.files import read_model_file
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.ir.program import Program
from codegen.ir.quant import MODES, Mode
from codegen.ir.verify import verify_graph, verify_plan, verify_program
from codegen.kernels import check_target, choose_kernels
from codegen.lower import lower, lower_local
from codegen.options import Options as Options
from codegen.passes import simplify
from codegen.planning import choose_goal, plan_in_best_order, planning_notes
from codegen.prove import ShadowReport, shadow_local, shadow_run
from codegen.report.manifest import build_manifest
from codegen.resources import ABI, VERSION
from codegen.schedule import check_fits, misfits, weights_notes
from codegen.target import Target, load_target

NO_HASH = bytes(32)
"""Of a network that was never a file."""


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """Every form a model took on its way, and the files."""

    imported: Graph
    graph: Graph
    target: Target
    kernels: Mapping[int, Form]
    plan: Plan
    program: Program
    shadow: ShadowReport
    emit: EmitOptions
    manifest: Mapping[str, object]
    files: Mapping[str, bytes]


def read_model(model: Path, options: Options, target: Target) -> Graph:
    """The model as imported, before any pass: what the golden model runs."""
    mode = choose_mode(settled(options, model), target)
    shapes = dict(options.shapes)
    graph = import_model(model, mode=mode, io_type=options.io_type, io_layout=options.io_layout, shapes=shapes)
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


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """How far a model got: the forms it took (None behind the stage that refused it), and every problem on the way."""

    imported: Graph
    graph: Graph
    kernels: Mapping[int, Form]
    plan: Plan | None
    program: Program | None
    problems: tuple[CompileError, ...]

    def finished(self) -> tuple[Plan, Program]:
        """The plan and its program; raises the problem, or LAM-IMPORT-001 with all of them."""
        if self.problems:
            raise self.problems[0] if len(self.problems) == 1 else ModelRejected(self.problems)
        assert self.plan is not None, "nothing refused it"
        assert self.program is not None, "nothing refused it"
        return self.plan, self.program


def reach(imported: Graph, target: Target, options: Options) -> Reached:
    """Imported graph to Program, as far as it goes."""
    graph = simplify(imported)
    verify_graph(graph)
    problems = _refusals(lambda: check_target(graph, target))
    kernels: Mapping[int, Form] = {}
    try:
        kernels = choose_kernels(graph, target)
        plan, kernels = plan_in_best_order(graph, kernels, target, options)
    except CompileError as error:
        return Reached(imported, graph, kernels, None, None, (*problems, *error.problems()))
    verify_plan(plan)
    program = lower_plan(plan, kernels)
    problems += misfits(plan, _in_flash(program, options), target)
    return Reached(imported, plan.graph, kernels, plan, program, problems)


def _refusals(check: Callable[[], None]) -> tuple[CompileError, ...]:
    """The problems that a check raises."""
    try:
        check()
    except CompileError as error:
        return error.problems()
    return ()


def compile_graph(imported: Graph, target: Target, options: Options, model_hash: bytes = NO_HASH) -> Compiled:
    """Imported graph to files; raises the problem, or all of them at once."""
    return _emitted(reach(imported, target, options), target, options, model_hash)


def lower_plan(plan: Plan, kernels: Mapping[int, Form]) -> Program:
    """The plan's calls: on rows of the arena, or of local memory where the chip has one."""
    return lower_local(plan, kernels) if plan.local else lower(plan, kernels)


def prove(program: Program) -> ShadowReport:
    """The shadow run; raises IrError, which is a fault of the compiler, for a program that is not sound."""
    return shadow_local(program) if program.local else shadow_run(program)


def finish(
    imported: Graph,
    plan: Plan,
    kernels: Mapping[int, Form],
    target: Target,
    options: Options,
    model_hash: bytes = NO_HASH,
) -> Compiled:
    """Plan to files; a plan made by hand goes this way."""
    verify_plan(plan)
    program = lower_plan(plan, kernels)
    check_fits(plan, _in_flash(program, options), target)
    return _emitted(Reached(imported, plan.graph, kernels, plan, program, ()), target, options, model_hash)


def _in_flash(program: Program, options: Options) -> int:
    """Bytes of weights that are part of the image: none of a blob, which lies wherever the firmware puts it."""
    return 0 if options.weights == "blob" else program.params_bytes


def _emitted(reached: Reached, target: Target, options: Options, model_hash: bytes) -> Compiled:
    plan, program = reached.finished()
    verify_program(program)
    shadow = prove(program)
    emit = EmitOptions(
        version=VERSION,
        abi=ABI,
        options=_said(options, target),
        isa=target.isa,
        byte_order=target.byte_order,
        blob=options.weights == "blob",
        small=options.goal == "size",
    )
    manifest = build_manifest(
        plan,
        program,
        target,
        version=VERSION,
        model_hash=model_hash.hex(),
        requant=choose_mode(options, target),
        weights=options.weights,
        planning={"goal": choose_goal(options, target), "arena_limit": options.arena_limit},
        shadow=shadow,
        notes=(*plan.graph.notes, *planning_notes(options, target), *_blob_notes(program, options, target)),
    )
    files, manifest = project_files(program, emit, selftest_vectors(plan.graph, options.vectors), manifest)
    graph, kernels = reached.graph, reached.kernels
    return Compiled(reached.imported, graph, target, kernels, plan, program, shadow, emit, manifest, files)


def _blob_notes(program: Program, options: Options, target: Target) -> tuple[str, ...]:
    return weights_notes(program.packed_bytes, target) if options.weights == "blob" else ()


def _said(options: Options, target: Target) -> str:
    """The options, for the header of each generated file."""
    said = f"target {target.name}, requant {choose_mode(options, target)}, weights {options.weights}"
    limit = "" if options.arena_limit is None else f", arena limit {options.arena_limit}"
    return f"{said}, goal {choose_goal(options, target)}{limit}{', streamed input' if options.stream_input else ''}"


def compile_file(model: Path, options: Options) -> Compiled:
    """Model file to files."""
    target = load_target(options.target)
    options = settled(options, model)
    imported = read_model(model, options, target)
    return compile_graph(imported, target, options, hashlib.sha256(read_model_file(model)).digest())
