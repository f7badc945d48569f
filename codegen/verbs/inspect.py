"""inspect: what a model is, what a target runs of it, and what it costs; every problem at once, none raised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from codegen.errors import (
    CompileError,
    ModelMissing,
    ModelRejected,
    ModelTooLarge,
    ModelUnreadable,
    NoKernel,
    OptionBad,
    RequantUnsupported,
)
from codegen.golden.interface import PortSpec, graph_ports
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.ir.program import Kernel, Program
from codegen.lower import lower, scratch_sizes, select_kernels
from codegen.passes import optimize
from codegen.pipeline import Options, choose_mode, read_model
from codegen.report.layers import describe_rows
from codegen.schedule import schedule
from codegen.schedule.fits import check_fits, peak_node
from codegen.target import Target, load_target
from codegen.verbs.compile import check_options

_RAISED = (ModelMissing, ModelUnreadable, ModelTooLarge, OptionBad, RequantUnsupported)
"""What leaves nothing to inspect."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One reason why the target does not run the model."""

    id: str
    where: str
    message: str
    hint: str

    @staticmethod
    def of(error: CompileError) -> Violation:
        """The violation that an error describes."""
        return Violation(error.code, error.where, error.found, error.hint)


@dataclass(frozen=True, slots=True)
class LayerRow:
    """One operator of the final graph.  `kernel` is empty when the target has none; `violation` is then its id.

    `parameters` counts trained numbers, `weights_bytes` is what they take packed; `rows` says which input rows an
    output row needs; `source` names the model's nodes it stands for, `note` how they were read.
    """

    name: str
    operator: str
    kernel: str
    inputs: tuple[str, ...]
    output: str
    in_shapes: tuple[tuple[int, ...], ...]
    shape: tuple[int, ...]
    dtype: str
    macs: int
    parameters: int
    weights_bytes: int
    output_bytes: int
    scratch_bytes: int
    rows: str
    source: tuple[str, ...]
    note: str
    violation: str = ""


@dataclass(frozen=True, slots=True)
class PortRow:
    """One input or output: the model's, and what the C interface has instead (real = scale * (q - zero_point))."""

    direction: str
    name: str
    model_shape: tuple[int, ...]
    model_dtype: str
    shape: tuple[int, ...]
    dtype: str
    scale: float | None
    zero_point: int | None
    bytes: int


@dataclass(frozen=True, slots=True)
class InterfaceCost:
    """What keeping the model's own layout or type at the C interface adds; `problem` when that cannot be compiled."""

    option: str
    arena_bytes: int | None
    added_arena_bytes: int | None
    added_layers: int | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Peak:
    """The layer at which most memory is live, and the tensors that are, with their bytes, largest first."""

    node: str
    live: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything `inspect` shows.  Sizes are None where the model did not get that far."""

    model: str
    target: str
    requant: str
    supported: bool
    violations: tuple[Violation, ...]
    layers: tuple[LayerRow, ...]
    macs: int
    parameters: int
    weights_bytes: int | None
    arena_bytes: int | None
    arena_lower_bound_bytes: int | None
    ram_bytes: int | None
    flash_bytes: int | None
    peak: Peak | None
    interface: tuple[PortRow, ...]
    interface_costs: tuple[InterfaceCost, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Planned:
    """How far the model got: plan and program are None when an operator has no kernel."""

    graph: Graph
    kernels: Mapping[int, Kernel]
    plan: Plan | None
    program: Program | None
    problems: tuple[CompileError, ...]


def inspect(
    model: str | Path,
    target: str = "host",
    *,
    requant: str | None = None,
    io_layout: str = "nhwc",
    io_type: str = "quantized",
    name: str | None = None,
) -> Inspection:
    """Look at a model through the eyes of a target; arguments as in `compile_model`.

    Raises only when there is nothing to look at: no such model or target, an unreadable file, a bad option.
    """
    options = Options(target, requant, "c", io_layout, io_type, name)
    check_options(options)
    chip = load_target(target)
    mode = choose_mode(options, chip)
    try:
        imported = read_model(Path(model), options, chip)
    except _RAISED:
        raise
    except CompileError as error:
        return _refused(Path(model), chip, mode, error)
    planned = _plan(imported, chip)
    return _inspection(Path(model), options, chip, planned, imported.notes)


def _refused(model: Path, chip: Target, mode: str, error: CompileError) -> Inspection:
    """The inspection of a model that cannot be imported: its violations."""
    found = tuple(dict.fromkeys(Violation.of(e) for e in error.problems()))
    sizes = (0, 0, None, None, None, chip.ram_bytes, chip.flash_bytes)
    return Inspection(model.stem, chip.name, mode, False, found, (), *sizes, None, (), (), ())


def _plan(imported: Graph, chip: Target) -> _Planned:
    """The compiler's stages up to the Program, and what stopped them."""
    graph = optimize(imported)
    try:
        kernels: Mapping[int, Kernel] = select_kernels(graph, chip.isa)
    except ModelRejected as error:
        return _Planned(graph, {}, None, None, error.problems())
    plan = schedule(graph, scratch_sizes(graph, kernels), arena_align=chip.arena_align)
    program = lower(plan, kernels)
    return _Planned(graph, kernels, plan, program, _misfits(plan, program, chip))


def _misfits(plan: Plan, program: Program, chip: Target) -> tuple[CompileError, ...]:
    """RAM and flash, each asked for on its own, so that one does not hide the other."""
    found: list[CompileError] = []
    for part, weights_bytes in ((plan, 0), (replace(plan, arena_bytes=0), program.params_bytes)):
        try:
            check_fits(part, weights_bytes, chip)
        except CompileError as error:
            found.append(error)
    return tuple(found)


def _inspection(model: Path, options: Options, chip: Target, planned: _Planned, notes: tuple[str, ...]) -> Inspection:
    graph, plan, program = planned.graph, planned.plan, planned.program
    layers = _layers(planned)
    node, live = peak_node(plan) if plan else ("", [])
    return Inspection(
        model=graph.name,
        target=chip.name,
        requant=choose_mode(options, chip),
        supported=not planned.problems,
        violations=tuple(Violation.of(e) for e in planned.problems),
        layers=layers,
        macs=sum(row.macs for row in layers),
        parameters=sum(row.parameters for row in layers),
        weights_bytes=program.params_bytes if program else None,
        arena_bytes=plan.arena_bytes if plan else None,
        arena_lower_bound_bytes=plan.lower_bound_bytes if plan else None,
        ram_bytes=chip.ram_bytes,
        flash_bytes=chip.flash_bytes,
        peak=Peak(node, tuple(live)) if plan else None,
        interface=_interface(graph),
        interface_costs=_interface_costs(model, options, chip, plan) if plan else (),
        notes=notes,
    )


def _layers(planned: _Planned) -> tuple[LayerRow, ...]:
    graph, plan = planned.graph, planned.plan
    packed = {p.name: p.bytes for p in planned.program.params} if planned.program else {}
    broken = {e.where: e.code for e in planned.problems if isinstance(e, NoKernel)}
    rows: list[LayerRow] = []
    for index, node in enumerate(graph.nodes):
        view = graph.view(node)
        kernel = planned.kernels.get(index)
        rows.append(
            LayerRow(
                name=node.name,
                operator=type(node.op).__name__,
                kernel="(none: a view)" if plan and index in plan.views else kernel.name if kernel else "",
                inputs=tuple(node.inputs[i] for i in view.dynamic),
                output=node.outputs[0],
                in_shapes=tuple(view.ins[i].shape for i in view.dynamic),
                shape=view.outs[0].shape,
                dtype=view.outs[0].dtype.value,
                macs=node.op.macs(view.ins, view.outs),
                parameters=sum(int(c.size) for c in view.consts if c is not None),
                weights_bytes=packed.get(node.name, 0),
                output_bytes=sum(o.bytes for o in view.outs),
                scratch_bytes=plan.scratch_bytes.get(index, 0) if plan else 0,
                rows=describe_rows([node.op.rows(i, view.ins, view.outs) for i in view.dynamic]),
                source=node.source,
                note=node.note,
                violation=broken.get(node.name, ""),
            )
        )
    return tuple(rows)


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
        planned = _plan(read_model(model, options, chip), chip)
    except CompileError as error:
        return InterfaceCost(option, None, None, None, error.text())
    if planned.plan is None:
        return InterfaceCost(option, None, None, None, planned.problems[0].text())
    added = planned.plan.arena_bytes - plan.arena_bytes
    layers = len(planned.plan.groups) - len(plan.groups)
    return InterfaceCost(option, planned.plan.arena_bytes, added, layers)
