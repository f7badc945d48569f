"""inspect: what a model is, what a target runs of it, and what it costs; every problem at once, none raised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from codegen import verbs
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
    RuleBroken,
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
from codegen.kernels import (
    KernelTable,
    choose_kernels,
    fastest_form,
    few_notes,
    left_to_core,
    packing_growth,
    target_problems,
)
from codegen.options import Options
from codegen.passes import simplify
from codegen.pipeline import NO_HASH, Reached, reach, read_model, written
from codegen.planning import accelerator_notes, choose_mode, of_chip, planning_notes, settled
from codegen.prove import prove
from codegen.records import record
from codegen.report.layers import describe_rows, layer_weights, shared_function, weights_way
from codegen.report.plan import plan_record
from codegen.report.speed import estimated_cycles, estimates, layer_cycles
from codegen.report.stack import plan_with_stack
from codegen.report.standing import standings
from codegen.target import Target, load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.inspection import Inspection, InterfaceCost, LayerRow, Peak, PortRow, Violation
from codegen.verbs.sources import ModelSource, file_of, takes_model
from codegen.verbs.surveying import all_problems, operator_rows, quantizing, real_graph, weights_at_8_bits

_OF_OPTIONS = (OptionBad, RequantUnsupported, ShapeBad, ShapeContradiction, ShapeOfNothing)
_RAISED = (FileSpecial, ModelMissing, ModelUnreadable, ModelTooLarge, *_OF_OPTIONS)
"""What leaves nothing to inspect."""
_OF_A_NODE = (NoKernel, OperatorNotOnTarget, RuleBroken, TypeNotOnTarget)


@record
class _Look:
    """What is looked at, for which chip, with which tools."""

    model: Path
    options: Options
    chip: Target
    tools: Toolkit

    @property
    def mode(self) -> Mode:
        """The arithmetic."""
        return choose_mode(self.options, self.chip)


@takes_model
def inspect(
    model: ModelSource, options: Options, *, measure_stack: bool = False, toolkit: Toolkit = HOUSE
) -> Inspection:
    """Look at a model through the eyes of a target.

    A plan that cannot be made (LAM-SCHEDULE-303, -304) is a violation like any other; no stack is measured then.

    Raises only when there is nothing to look at: no such model or target, an unreadable file, a bad option, or a stack
    that cannot be measured.
    """
    chip = load_target(options.target)
    if measure_stack:
        verbs.stack.check_stack_target(chip)
    options = of_chip(settled(options, file_of(model)), chip)
    look = _Look(file_of(model), options, chip, toolkit)
    choose_mode(options, chip)
    try:
        imported = read_model(look.model, options, chip, toolkit)
    except _RAISED:
        raise
    except CompileError as error:
        return _refused(look, error)
    planned = reach(imported, chip, options, toolkit)
    found = _inspection(look, planned, (*imported.notes, *planning_notes(options, chip)))
    if imported.is_real:
        found = _forecast(look, found)
    if not measure_stack or planned.plan is None or found.plan is None or planned.problems:
        return found
    compiled = written(planned, chip, options.plain, NO_HASH, toolkit)
    stack = verbs.stack.measured(compiled)
    return replace(found, stack=stack, plan=plan_with_stack(found.plan, stack))


def _forecast(look: _Look, found: Inspection) -> Inspection:
    """With what a float model would be with integers of 8 bits, and how it becomes that."""
    survey = _survey(look, ())
    if not survey.is_float or survey.graph is None or survey.problems:
        return found
    real = real_graph(look.model, look.options, survey, look.tools.vocabulary)
    small = reach(replace(survey.graph, name=found.model), look.chip, look.options, look.tools)
    return replace(
        found,
        quantizing=quantizing(look.model, survey, real),
        bytes_at_8_bits=None if real is None else weights_at_8_bits(real),
        arena_at_8_bits=small.plan.arena_bytes if small.plan else None,
    )


def _refused(look: _Look, error: CompileError) -> Inspection:
    """The inspection of a model that cannot be imported: all its problems, and what can be read of it."""
    survey = _survey(look, error.problems())
    problems = all_problems(survey, error)
    name = network_name(look.options.name or look.model.stem)
    if survey.graph is None:
        nothing = Graph(name, {}, (), (), ())
        planned = Reached(nothing, nothing, {}, None, None, problems)
    else:
        graph = replace(survey.graph, name=name)
        planned = _without_plan(graph, look)
        planned = replace(planned, problems=(*problems, *planned.problems))
    found = replace(
        _inspection(look, planned, planned.imported.notes),
        interface=(),  # the scales are made up, where there are any
        interface_costs=(),
    )
    return _told(look, survey, found)


def _told(look: _Look, survey: Survey, found: Inspection) -> Inspection:
    """With the model's own operators and, of a float model that can be read as one, what these cost."""
    real = real_graph(look.model, look.options, survey, look.tools.vocabulary)
    rows = operator_rows(survey, found.layers, real)
    recipe = quantizing(look.model, survey, real) if survey.is_float else None
    found = replace(found, operators=rows, quantizing=recipe)
    if real is None:
        return found
    macs, parameters = (sum(getattr(row, what) or 0 for row in rows) for what in ("macs", "parameters"))
    return replace(found, macs=macs, parameters=parameters, bytes_at_8_bits=weights_at_8_bits(real))


def _survey(look: _Look, problems: tuple[CompileError, ...]) -> Survey:
    """What can be read; nothing when the file's own structure is at fault."""
    try:
        shapes = dict(look.options.shapes)
        return survey_model(look.model, mode=look.mode, shapes=shapes, known=look.tools.vocabulary)
    except CompileError:
        return Survey(None, problems, False, (), ())


def _without_plan(imported: Graph, look: _Look) -> Reached:
    """The stages up to the choice of kernels, of a graph that is not whole."""
    graph = simplify(imported)
    problems = target_problems(graph, look.chip, look.tools.table)
    kernels: Mapping[int, Form] = {}
    try:
        kernels = choose_kernels(graph, look.chip, look.tools.table)
    except CompileError as error:
        problems += error.problems()
    return Reached(imported, graph, kernels, None, None, problems)


def _inspection(look: _Look, planned: Reached, notes: tuple[str, ...]) -> Inspection:
    graph, plan, program, chip = planned.graph, planned.plan, planned.program, look.chip
    layers = _layers(planned, chip, look.tools.table)
    read = dict.fromkeys(name for node in graph.nodes for name in node.inputs)
    record = plan_record(plan, program, prove(program)) if plan and program else None
    cycles = estimated_cycles(graph, planned.kernels, chip, plan) if plan else None
    return Inspection(
        model=graph.name,
        target=chip.name,
        requant=look.mode,
        is_real=graph.is_real,
        supported=not planned.problems,
        violations=tuple(Violation.of(e) for e in planned.problems),
        layers=layers,
        macs=sum(row.macs for row in layers) - (plan.recomputed_macs if plan else 0),
        parameters=sum(int(graph.values[name].type.elements) for name in read if graph.values[name].is_const),
        weights_bytes=program.packed_bytes if program else None,
        weights_expand=chip.weights.expand,
        arena_bytes=plan.arena_bytes if plan else None,
        arena_lower_bound_bytes=plan.lower_bound_bytes if plan else None,
        ram_bytes=chip.ram_bytes,
        flash_bytes=chip.flash_bytes,
        peak=Peak(record.peak.title, tuple((t.tensor, t.bytes) for t in record.peak.live)) if record else None,
        plan=record,
        interface=_interface(graph),
        interface_costs=_interface_costs(look, plan) if plan else (),
        notes=(*notes, *few_notes(graph, planned.kernels), *accelerator_notes(graph, chip)),
        cycles=cycles,
        milliseconds=1000 * cycles / chip.clock.hz if cycles is not None and chip.clock else None,
    )


def _layers(planned: Reached, chip: Target, table: KernelTable) -> tuple[LayerRow, ...]:
    graph, plan = planned.graph, planned.plan
    packed: dict[str, int] = {}
    ways: dict[str, str] = {}
    shared: dict[str, str] = {}
    for group in planned.program.groups if planned.program else ():
        packed |= {call.node.name: layer_weights(call) for call in group.calls}
        ways |= {call.node.name: weights_way(call, planned.program) for call in group.calls if planned.program}
        shared |= {call.node.name: shared_function(call, planned.program) for call in group.calls if planned.program}
    broken = {e.where: e.code for e in planned.problems if isinstance(e, _OF_A_NODE)}
    left = left_to_core(graph, chip) if chip.accelerator else {}
    taken = _instructions(planned, chip)
    stand = standings(graph, planned.kernels, taken, chip, table)
    rows: list[LayerRow] = []
    for index, node in enumerate(graph.nodes):
        view = graph.view(node)
        form, quant = planned.kernels.get(index), view.outs[0].quant
        rows.append(
            LayerRow(
                name=node.name,
                operator=type(node.op).__name__,
                kernel="(none: a view)" if plan and index in plan.views else form.kernel if form else "",
                form="; ".join(filter(None, (_why(form, view, chip, table), shared.get(node.name)))) if form else "",
                inputs=tuple(node.inputs[i] for i in view.dynamic),
                output=node.outputs[0],
                in_shapes=tuple(view.ins[i].shape for i in view.dynamic),
                shape=view.outs[0].shape,
                dtype=view.outs[0].dtype.value,
                macs=node.op.macs(view.ins, view.outs),
                parameters=sum(int(c.size) for c in view.consts if c is not None),
                trained_bytes=sum(int(c.nbytes) for c in view.consts if c is not None),
                weights_bytes=packed.get(node.name, 0),
                added_bytes=packing_growth(form, view, table) if form else 0,
                output_bytes=sum(o.bytes for o in view.outs),
                scratch_bytes=plan.scratch_bytes.get(index, 0) if plan else 0,
                rows=describe_rows([node.op.rows(i, view.ins, view.outs) for i in view.dynamic]),
                source=node.source,
                note=node.note,
                violation=broken.get(node.name, ""),
                weights_way=ways.get(node.name, ""),
                place=_place(node.name, broken, left) if chip.accelerator else "",
                tensor=graph.values[node.outputs[0]].source,
                scale=quant.scale if quant else None,
                zero_point=quant.zero_point if quant else None,
                cycles=_cycles(view, form, chip),
                instructions=round(taken[index]) if index in taken else None,
                standing=stand.get(index),
            )
        )
    return tuple(rows)


def _instructions(planned: Reached, chip: Target) -> dict[int, float]:
    """About what layers take, by their places in the graph; nothing where nothing is estimated."""
    found = estimates(planned.graph, planned.kernels, chip, planned.plan) or {}
    return {i: one.instructions for i, one in found.items()}


def _cycles(view: NodeView, form: Form | None, chip: Target) -> int | None:
    """Estimated; 0 for a view."""
    if chip.speed is None:
        return None
    cycles = layer_cycles(view, form, chip) if form else 0.0
    return None if cycles is None else round(cycles)


def _place(name: str, broken: Mapping[str, str], left: Mapping[str, tuple[str, ...]]) -> str:
    """What of a chip with an accelerator a layer could run on."""
    return "nothing" if name in broken else "core" if name in left else "accelerator"


def _why(form: Form, view: NodeView, chip: Target, table: KernelTable) -> str:
    """What the kernel says of itself, and why it is not the fastest one where it is not."""
    fastest = fastest_form(view, form, chip, table)
    if fastest is None or fastest.kernel == form.kernel:
        return form.why
    more = packing_growth(fastest, view, table)
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


def _interface_costs(look: _Look, plan: Plan) -> tuple[InterfaceCost, ...]:
    """The same model with its own layout, and with its own types, at the C interface."""
    asked = {
        "--io-layout model": replace(look.options, io_layout="model"),
        "--io-type model": replace(look.options, io_type="model"),
    }
    others = {option: replace(look, options=said) for option, said in asked.items() if said != look.options}
    return tuple(_cost(option, other, plan) for option, other in others.items())


def _cost(option: str, look: _Look, plan: Plan) -> InterfaceCost:
    try:
        imported = read_model(look.model, look.options, look.chip, look.tools)
        planned = reach(imported, look.chip, look.options, look.tools)
    except CompileError as error:
        return InterfaceCost(option, None, None, None, error.problems()[0].text())
    if planned.plan is None:
        return InterfaceCost(option, None, None, None, planned.problems[0].text())
    added = planned.plan.arena_bytes - plan.arena_bytes
    layers = len(planned.plan.groups) - len(plan.groups)
    return InterfaceCost(option, planned.plan.arena_bytes, added, layers)
