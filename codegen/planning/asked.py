"""What the options come to on one target and for one model: the arithmetic, the goal, and how both are said.

Decides: which default counts where an option is not given, and what a user is told of an option that changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from codegen.errors import OptionBad, RequantUnsupported, TargetValueBad
from codegen.frontends import own_mode
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.labels import left_out
from codegen.ir.program import Program
from codegen.ir.quant import ALL_MODES, SUMS, Mode, Sums
from codegen.kernels import few_notes, left_to_core
from codegen.options import GOALS, LEAST_BUFFER, Goal, Options
from codegen.planning.apart import idle_notes
from codegen.schedule import weights_notes
from codegen.target import Target, load_target


def settled(options: Options, model: Path) -> Options:
    """The options, with the arithmetic of the model's own format where none is asked for."""
    return options if options.requant else replace(options, requant=own_mode(model))


def of_chip(options: Options, target: Target) -> Options:
    """The options, with the buffer for weights that the target's file says where none is asked for.

    Raises:
        TargetValueBad: LAM-TARGET-005, a buffer that is too small for any network.
        OptionBad: LAM-IMPORT-030, layers to be pinned or mapped where there is no buffer.
    """
    if options.weights_buffer is None:
        size = target.weights.buffer_bytes or 0
        if 0 < size < LEAST_BUFFER:
            raise TargetValueBad(f"{size} is less than {LEAST_BUFFER}", where=f"{target.name}, weights.buffer_bytes")
        options = replace(options, weights_buffer=size)
    for name, layers in (("pinned", options.pinned), ("mapped", options.mapped)):
        if layers and not options.weights_buffer:
            hint = "weights that are mapped are read in place: it goes with weights_buffer"
            raise OptionBad(", ".join(layers), where=name, hint=hint)
    return options


def met(options: Options, model: Path) -> tuple[Target, Options]:
    """The chip, and the options with what it and the model's format say where nothing is asked for."""
    target = load_target(options.target)
    return target, of_chip(settled(options, model), target)


def choose_mode(options: Options, target: Target) -> Mode:
    """The requantization mode, checked against the target; LAM-TARGET-006 when it has none such."""
    wanted = options.requant or target.requant_default
    for mode in ALL_MODES:
        if mode == wanted and mode in target.requant_modes:
            return mode
    offered = ", ".join(target.requant_modes)
    raise RequantUnsupported(f"no requantization {wanted!r}; it offers {offered}", where=target.name)


def choose_goal(options: Options, target: Target) -> Goal:
    """Which memory plan to take."""
    wanted = options.goal or target.goal_default
    return next(goal for goal in GOALS if goal == wanted)


def choose_sums(options: Options, target: Target) -> Sums:
    """How sums of real products round."""
    wanted = options.float_sums or target.float_default
    return next(sums for sums in SUMS if sums == wanted)


def in_flash(program: Program, options: Options) -> int:
    """Bytes of weights that are part of the image: of a blob, which lies anywhere, only what is mapped beside it."""
    return program.mapped_bytes if options.weights == "blob" else program.params_bytes


def said(options: Options, target: Target) -> str:
    """The options, for the header of each generated file."""
    first = f"target {target.name}, requant {choose_mode(options, target)}, weights {options.weights}"
    first += f" read through {options.weights_buffer} bytes" if options.weights_buffer else ""
    sums = choose_sums(options, target)
    first += "" if sums == "separate" else f", float {sums}"
    first += "" if options.float_weights == "own" else f", float weights {options.float_weights}"
    limit = "" if options.arena_limit is None else f", arena limit {options.arena_limit}"
    taken = ", streamed input" if options.stream_input else ", input outside" if options.input_outside else ""
    again = f", {options.max_recompute:g} % recomputed at most" if options.max_recompute else ""
    return f"{first}, goal {choose_goal(options, target)}{limit}{taken}{again}"


def planning_notes(options: Options, target: Target) -> tuple[str, ...]:
    """What was asked of the plan, and changes nothing."""
    if target.dma is None:
        return ()
    idle = [] if options.goal in (None, "size") else [f"goal {options.goal}"]
    idle += [f"max_recompute {options.max_recompute:g}"] if options.max_recompute else []
    return tuple(f"{what} changes nothing: {target.name} has a scratchpad, its plan has fewest cycles" for what in idle)


def accelerator_notes(graph: Graph, target: Target) -> tuple[str, ...]:
    """What a chip's accelerator takes of a network, and each layer that it leaves to the core, with why."""
    if target.accelerator is None:
        return ()
    left, title = left_to_core(graph, target), target.accelerator.title
    layers = [f"{name} is left to the core: {'; '.join(why)}" for name, why in left.items()]
    taken = f"{len(graph.nodes) - len(left)} of {len(graph.nodes)} layers keep the rules of {title}"
    return (f"{taken}; the C here runs all of them on the core", *layers)


def asked_notes(
    graph: Graph, kernels: Mapping[int, Form], program: Program, options: Options, target: Target
) -> tuple[str, ...]:
    """What a user must know of what was asked of the plan, of weights, of labels that the model has, of the chip."""
    blob = weights_notes(program.packed_bytes - program.mapped_bytes, target) if options.weights == "blob" else ()
    labels = () if options.labels else left_out(program.outputs, program.labels)
    idle = idle_notes(_with_weights(program), target) if program.weights else ()
    weights = (*few_notes(graph, kernels), *blob)
    return (*planning_notes(options, target), *weights, *labels, *idle, *accelerator_notes(graph, target))


def _with_weights(program: Program) -> list[str]:
    """Layers that have weights."""
    return [call.node.name for group in program.groups for call in group.calls if call.params]
