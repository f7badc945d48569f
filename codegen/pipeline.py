"""The whole compiler on one screen: the ordered stages, nothing else.

model file -> imported Graph -> Graph -> forms of kernels -> Plan -> Program -> proof -> manifest -> files
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from codegen.emit import EmitOptions, emit_options, network_name, project_files, selftest_vectors, shared
from codegen.errors import CompileError, ModelRejected
from codegen.frontends import import_model, model_digest
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.ir.program import Program
from codegen.ir.verify import verify_graph, verify_plan, verify_program
from codegen.kernels import choose_kernels, target_problems, unsaid
from codegen.lower import lower_plan
from codegen.options import Options as Options
from codegen.passes import simplify
from codegen.planning import asked_notes, choose_goal, choose_mode, in_flash, met, plan_in_best_order, said, settled
from codegen.planning.real import as_asked
from codegen.prove import ShadowReport, prove
from codegen.records import record
from codegen.report.manifest import Asked, build_manifest
from codegen.report.speed import instructions_about
from codegen.schedule import misfits
from codegen.target import Target
from codegen.toolkit import HOUSE, Toolkit

NO_HASH = bytes(32)
"""Of a network that was never a file."""


@record(kw_only=True, eq=False)
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


@record(eq=False)
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


def compile_file(model: Path, options: Options, tools: Toolkit = HOUSE) -> Compiled:
    """Model file to files."""
    target, options = met(options, model)
    return compile_graph(read_model(model, options, target, tools), target, options, model_digest(model), tools)


def read_model(model: Path, options: Options, target: Target, tools: Toolkit = HOUSE) -> Graph:
    """The model as imported, before any pass: what the golden model runs."""
    asked: dict[str, Any] = {"io_type": options.io_type, "io_layout": options.io_layout, "shapes": dict(options.shapes)}
    asked["by_image"] = not options.stream_input  # rows of a batch come one by one, whatever image they are of
    graph = import_model(model, mode=choose_mode(settled(options, model), target), **asked, known=tools.vocabulary)
    graph = as_asked(replace(graph, name=network_name(options.name or model.stem)), options, target)
    verify_graph(graph)
    return graph


def compile_graph(
    imported: Graph, target: Target, options: Options, model_hash: bytes = NO_HASH, tools: Toolkit = HOUSE
) -> Compiled:
    """Imported graph to files; raises the problem, or all of them at once."""
    return written(reach(imported, target, options, tools), target, options, model_hash, tools)


def reach(imported: Graph, target: Target, options: Options, tools: Toolkit = HOUSE) -> Reached:
    """Imported graph to Program, as far as it goes."""
    graph = simplify(imported)
    verify_graph(graph)
    problems = target_problems(graph, target, tools.table)
    kernels: Mapping[int, Form] = {}
    try:
        kernels = choose_kernels(graph, target, tools.table, goal=choose_goal(options, target))
        plan, kernels = plan_in_best_order(graph, kernels, target, options, tools.table)
    except CompileError as error:
        return Reached(imported, graph, kernels, None, None, (*problems, *unsaid(error, problems)))
    reached = lowered(imported, plan, kernels, target, options)
    return replace(reached, problems=(*problems, *reached.problems))


def lowered(imported: Graph, plan: Plan, kernels: Mapping[int, Form], target: Target, options: Options) -> Reached:
    """Plan to Program, and whether it fits."""
    verify_plan(plan)
    program = shared(lower_plan(plan, kernels), target.isa, instructions_about(plan, kernels, target))
    verify_program(program)
    return Reached(imported, plan.graph, kernels, plan, program, misfits(plan, in_flash(program, options), target))


def finish(
    imported: Graph, plan: Plan, kernels: Mapping[int, Form], target: Target, options: Options, tools: Toolkit = HOUSE
) -> Compiled:
    """Plan to files; a plan made by hand goes this way."""
    return written(lowered(imported, plan, kernels, target, options), target, options, NO_HASH, tools)


def written(reached: Reached, target: Target, options: Options, model_hash: bytes, tools: Toolkit) -> Compiled:
    """Program to proof, manifest and files."""
    plan, program = reached.finished()
    shadow = prove(program)
    mode, goal = choose_mode(options, target), choose_goal(options, target)
    notes = (*plan.graph.notes, *asked_notes(plan.graph, reached.kernels, program, options, target))
    asked = Asked(target=target, options=options, requant=mode, goal=goal, model_hash=model_hash, notes=notes)
    emit = emit_options(options, target, said(options, target), tools.roots)
    manifest = build_manifest(plan, program, shadow, asked)
    files, manifest = project_files(program, emit, selftest_vectors(plan.graph, options.vectors), manifest)
    return Compiled(
        imported=reached.imported,
        graph=reached.graph,
        target=target,
        kernels=reached.kernels,
        plan=plan,
        program=program,
        shadow=shadow,
        emit=emit,
        manifest=manifest,
        files=files,
    )
