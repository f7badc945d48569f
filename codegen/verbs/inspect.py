"""inspect: what a model is, what a target runs of it, and what it costs; every problem at once, none raised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from codegen.emit import network_name
from codegen.errors import (
    CompileError,
    FileSpecial,
    ModelMissing,
    ModelTooLarge,
    ModelUnreadable,
    NoKernel,
    OperatorNotOnTarget,
    OptionBad,
    RequantUnsupported,
    ShapeBad,
    ShapeContradiction,
    ShapeOfNothing,
    TypeNotOnTarget,
)
from codegen.frontends import Survey, survey_model
from codegen.golden.interface import PortSpec, graph_ports
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.op import NodeView
from codegen.ir.plan import Plan
from codegen.ir.quant import Mode
from codegen.kernels import choose_kernels, find_form, packing_growth, target_problems
from codegen.options import Options
from codegen.passes import simplify
from codegen.pipeline import Reached, finish, reach, read_model
from codegen.planning import choose_mode, planning_notes, settled
from codegen.prove import prove
from codegen.report.layers import describe_rows
from codegen.report.plan import plan_record
from codegen.report.stack import plan_with_stack
from codegen.target import Target, load_target
from codegen.verbs.inspection import Inspection, InterfaceCost, LayerRow, Peak, PortRow, Violation
from codegen.verbs.sources import ModelSource, file_of, takes_model
from codegen.verbs.stack import check_stack_target, measured
from codegen.verbs.surveying import all_problems, operator_rows, quantizing, real_graph, weights_at_8_bits

_OF_OPTIONS = (OptionBad, RequantUnsupported, ShapeBad, ShapeContradiction, ShapeOfNothing)
_RAISED = (FileSpecial, ModelMissing, ModelUnreadable, ModelTooLarge, *_OF_OPTIONS)
"""What leaves nothing to inspect."""
_OF_A_NODE = (NoKernel, OperatorNotOnTarget, TypeNotOnTarget)


@takes_model
def inspect(model: ModelSource, options: Options, *, measure_stack: bool = False) -> Inspection:
    """Look at a model through the eyes of a target.

    A plan that cannot be made (LAM-SCHEDULE-303, -304) is a violation like any other; no stack is measured then.

    Raises only when there is nothing to look at: no such model or target, an unreadable file, a bad option, or a stack
    that cannot be measured.
    """
    chip = load_target(options.target)
    if measure_stack:
        check_stack_target(chip)
    options = settled(options, file_of(model))
    choose_mode(options, chip)
    try:
        imported = read_model(file_of(model), options, chip)
    except _RAISED:
        raise
    except CompileError as error:
        return _refused(file_of(model), options, chip, error)
    planned = reach(imported, chip, options)
    found = _inspection(file_of(model), options, chip, planned, (*imported.notes, *planning_notes(options, chip)))
    if not measure_stack or planned.plan is None or found.plan is None or planned.problems:
        return found
    compiled = finish(imported, planned.plan, planned.kernels, chip, replace(options, weights="c", vectors=0))
    stack = measured(compiled)
    return replace(found, stack=stack, plan=plan_with_stack(found.plan, stack))


def _refused(model: Path, options: Options, chip: Target, error: CompileError) -> Inspection:
    """The inspection of a model that cannot be imported: all its problems, and what can be read of it."""
    survey = _survey(model, options, choose_mode(options, chip), error)
    problems = all_problems(survey, error)
    name = network_name(options.name or model.stem)
    if survey.graph is None:
        nothing = Graph(name, {}, (), (), ())
        planned = Reached(nothing, nothing, {}, None, None, problems)
    else:
        graph = replace(survey.graph, name=name)
        whole = survey.is_float and len(problems) == 1
        planned = reach(graph, chip, options) if whole else _without_plan(graph, chip)
        planned = replace(planned, problems=(*problems, *planned.problems))
    found = replace(
        _inspection(model, options, chip, planned, planned.imported.notes),
        interface=(),  # the scales are made up, where there are any
        interface_costs=(),
    )
    return _told(model, options, survey, found)


def _told(model: Path, options: Options, survey: Survey, found: Inspection) -> Inspection:
    """With the model's own operators and, of a float model that can be read as one, what these cost."""
    real = real_graph(model, options, survey)
    rows = operator_rows(survey, found.layers, real)
    found = replace(found, operators=rows, quantizing=quantizing(model, survey, real) if survey.is_float else None)
    if real is None:
        return found
    macs, parameters = (sum(getattr(row, what) or 0 for row in rows) for what in ("macs", "parameters"))
    return replace(found, macs=macs, parameters=parameters, bytes_at_8_bits=weights_at_8_bits(real))


def _survey(model: Path, options: Options, mode: Mode, error: CompileError) -> Survey:
    """What can be read; nothing when the file's own structure is at fault."""
    try:
        return survey_model(model, mode=mode, shapes=dict(options.shapes))
    except CompileError:
        return Survey(None, error.problems(), False, (), ())


def _without_plan(imported: Graph, chip: Target) -> Reached:
    """The stages up to the choice of kernels, of a graph that is not whole."""
    graph = simplify(imported)
    problems = target_problems(graph, chip)
    kernels: Mapping[int, Form] = {}
    try:
        kernels = choose_kernels(graph, chip)
    except CompileError as error:
        problems += error.problems()
    return Reached(imported, graph, kernels, None, None, problems)


def _inspection(model: Path, options: Options, chip: Target, planned: Reached, notes: tuple[str, ...]) -> Inspection:
    graph, plan, program = planned.graph, planned.plan, planned.program
    layers = _layers(planned, chip.isa)
    record = plan_record(plan, program, prove(program)) if plan and program else None
    return Inspection(
        model=graph.name,
        target=chip.name,
        requant=choose_mode(options, chip),
        supported=not planned.problems,
        violations=tuple(Violation.of(e) for e in planned.problems),
        layers=layers,
        macs=sum(row.macs for row in layers),
        parameters=sum(row.parameters for row in layers),
        weights_bytes=program.packed_bytes if program else None,
        weights_expand=chip.weights.expand,
        arena_bytes=plan.arena_bytes if plan else None,
        arena_lower_bound_bytes=plan.lower_bound_bytes if plan else None,
        ram_bytes=chip.ram_bytes,
        flash_bytes=chip.flash_bytes,
        peak=Peak(record.peak.title, tuple((t.tensor, t.bytes) for t in record.peak.live)) if record else None,
        plan=record,
        interface=_interface(graph),
        interface_costs=_interface_costs(model, options, chip, plan) if plan else (),
        notes=notes,
    )


def _layers(planned: Reached, isa: str) -> tuple[LayerRow, ...]:
    graph, plan = planned.graph, planned.plan
    packed: dict[str, int] = {}
    for group in planned.program.groups if planned.program else ():
        packed |= {call.node.name: call.params.bytes for call in group.calls if call.params}
    broken = {e.where: e.code for e in planned.problems if isinstance(e, _OF_A_NODE)}
    rows: list[LayerRow] = []
    for index, node in enumerate(graph.nodes):
        view = graph.view(node)
        form = planned.kernels.get(index)
        rows.append(
            LayerRow(
                name=node.name,
                operator=type(node.op).__name__,
                kernel="(none: a view)" if plan and index in plan.views else form.kernel if form else "",
                form=_why(form, view, isa) if form else "",
                inputs=tuple(node.inputs[i] for i in view.dynamic),
                output=node.outputs[0],
                in_shapes=tuple(view.ins[i].shape for i in view.dynamic),
                shape=view.outs[0].shape,
                dtype=view.outs[0].dtype.value,
                macs=node.op.macs(view.ins, view.outs),
                parameters=sum(int(c.size) for c in view.consts if c is not None),
                trained_bytes=sum(int(c.nbytes) for c in view.consts if c is not None),
                weights_bytes=packed.get(node.name, 0),
                added_bytes=packing_growth(form, view) if form else 0,
                output_bytes=sum(o.bytes for o in view.outs),
                scratch_bytes=plan.scratch_bytes.get(index, 0) if plan else 0,
                rows=describe_rows([node.op.rows(i, view.ins, view.outs) for i in view.dynamic]),
                source=node.source,
                note=node.note,
                violation=broken.get(node.name, ""),
            )
        )
    return tuple(rows)


def _why(form: Form, view: NodeView, isa: str) -> str:
    """What the kernel says of itself, and why it is not the fastest one where it is not."""
    fastest = find_form(view, isa)
    if fastest is None or fastest.kernel == form.kernel:
        return form.why
    more = packing_growth(fastest, view)
    return f"{form.why}; not {fastest.kernel}, which would add {more} B to the weights"


def _interface(graph: Graph) -> tuple[PortRow, ...]:
    ins, outs = graph_ports(graph)
    return (*(_port(p, "input", graph) for p in ins), *(_port(p, "output", graph) for p in outs))


def _port(port: PortSpec, direction: str, graph: Graph) -> PortRow:
    quant = port.quant
    return PortRow(
        direction=direction,
        name=port.name,
        model_shape=port.model_shape,
        model_dtype=port.model_dtype,
        shape=port.shape,
        dtype=port.dtype.value,
        scale=quant.scale if quant else None,
        zero_point=quant.zero_point if quant else None,
        bytes=graph.type(port.value).bytes,
    )


def _interface_costs(model: Path, options: Options, chip: Target, plan: Plan) -> tuple[InterfaceCost, ...]:
    """The same model with its own layout, and with its own types, at the C interface."""
    asked = {
        "--io-layout model": replace(options, io_layout="model"),
        "--io-type model": replace(options, io_type="model"),
    }
    return tuple(_cost(option, model, changed, chip, plan) for option, changed in asked.items() if changed != options)


def _cost(option: str, model: Path, options: Options, chip: Target, plan: Plan) -> InterfaceCost:
    try:
        planned = reach(read_model(model, options, chip), chip, options)
    except CompileError as error:
        return InterfaceCost(option, None, None, None, error.problems()[0].text())
    if planned.plan is None:
        return InterfaceCost(option, None, None, None, planned.problems[0].text())
    added = planned.plan.arena_bytes - plan.arena_bytes
    layers = len(planned.plan.groups) - len(plan.groups)
    return InterfaceCost(option, planned.plan.arena_bytes, added, layers)
