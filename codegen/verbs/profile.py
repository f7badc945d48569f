"""profile: what each layer of one inference costs, counted on an emulated chip or timed on this machine."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from codegen.emit import write_project
from codegen.emulator import Mix, board_of
from codegen.errors import BoardMissing, CountBad, CyclesUnknown, OptionBad, PluginFailed
from codegen.host import host_flags
from codegen.options import Options
from codegen.pipeline import Compiled
from codegen.planning.asked import of_chip
from codegen.records import record
from codegen.report.profile import Profile, ProfiledLayer
from codegen.report.standing import standings
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.estimating import estimated_profile
from codegen.verbs.measured import compile_to_measure
from codegen.verbs.profiling import (
    Reading,
    board_level,
    check_memory,
    measure_on_board,
    measure_on_host,
    mix_on_board,
)
from codegen.verbs.sources import ModelSource, file_of, takes_model

HOST_ISAS = ("host", "avx2", "avx512_vnni")
"""Instruction sets that this machine may have: a target with one of them, and no board, is timed here."""

_NOTHING_SAID = "the chip's file says nothing of such layers' speed ([speed] is of integers): nothing is estimated"
LEVELS = ("-O0", "-Og", "-O1", "-O2", "-O3", "-Os", "-Oz")
REPEATS = 15


@record(kw_only=True)
class Measuring:
    """The C compiler's level, whether cycles are estimated, how often the host runs, and what the C is made with.

    `estimate`: nothing is built or run, and everything is estimated.
    """

    opt_level: str | None = None
    cycles: bool = False
    estimate: bool = False
    repeats: int | None = None
    toolkit: Toolkit = HOUSE

    def __post_init__(self) -> None:
        """Refuse levels and counts that do not exist."""
        n, level = self.repeats, self.opt_level
        if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
            raise CountBad(f"{n!r}", where="repeats")
        if level is not None and level not in LEVELS:
            raise OptionBad(f"{level!r}", where="opt_level", hint=f"choose one of {', '.join(LEVELS)}")
        if self.estimate and (self.cycles or n is not None or level is not None):
            raise OptionBad("with what is measured", where="estimate", hint="leave out cycles, repeats and opt_level")


@takes_model
def profile(model: ModelSource, options: Options, measuring: Measuring) -> Profile:
    """Measure one inference of `model`, after one that warms up, on a made-up input.

    On a target with a board: instructions, exact and the same each time.  On the host: microseconds on one core, the
    median of the repeats, which depend on the machine and on what else it does.  Weights are C arrays in any case.
    """
    compiled = compile_to_measure(file_of(model), options, measuring.toolkit)
    notes = _notes(options, compiled)
    if measuring.estimate:
        found = estimated_profile(compiled)
        return replace(found, notes=notes if found.estimated_cycles is not None else (*notes, _NOTHING_SAID))
    on_host = compiled.target.board is None and compiled.target.isa in HOST_ISAS
    _check(compiled, on_host, measuring)
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        project = Path(folder) / "project"
        write_project(project, compiled.files)
        found = (_on_host if on_host else _on_board)(compiled, project, measuring)
    return replace(found, notes=notes, layers=_standing(found.layers, compiled))


def _standing(layers: Sequence[ProfiledLayer], compiled: Compiled) -> tuple[ProfiledLayer, ...]:
    """With what is known of counts beside the limits of blocks."""
    graph = compiled.plan.graph
    places = {node.name: i for i, node in enumerate(graph.nodes)}
    taken = {places[x.name]: float(x.instructions) for x in layers if x.instructions is not None and x.name in places}
    stand = standings(graph, compiled.kernels, taken, compiled.target)
    return tuple(replace(x, standing=stand.get(places.get(x.name, -1))) for x in layers)


def _notes(options: Options, compiled: Compiled) -> tuple[str, ...]:
    """What was asked of the weights, by an option or by the chip's file, and is not measured."""
    chosen = of_chip(options, compiled.target)
    if not chosen.weights_buffer:
        return ()
    return (f"weights are measured in place: the buffer of {chosen.weights_buffer} B and its reads are left out",)


def _check(compiled: Compiled, on_host: bool, measuring: Measuring) -> None:
    """Refuse, before anything is built, what cannot be measured."""
    chip = compiled.target
    if not on_host and not board_of(chip)[1].counting and not board_of(chip)[1].by_plugin:
        raise BoardMissing("has a board that cannot count instructions", where=f"target {chip.name}")
    check_memory(chip)
    if measuring.cycles and chip.cycles is None:
        raise CyclesUnknown("has no table of cycles", where=f"target {chip.name}")
    if measuring.repeats is not None and not on_host:
        hint = "leave it out: a board counts instructions exactly"
        raise OptionBad(f"{measuring.repeats} on {chip.name}", where="repeats", hint=hint)


def _on_host(compiled: Compiled, project: Path, measuring: Measuring) -> Profile:
    """Microseconds."""
    flags = host_flags(measuring.opt_level)
    reading = measure_on_host(compiled, project, flags, measuring.repeats or REPEATS)
    return _timed(_frame(compiled, reading, flags), reading)


def _on_board(compiled: Compiled, project: Path, measuring: Measuring) -> Profile:
    """Instructions, sizes, and on demand cycles."""
    toolchain, _ = board_of(compiled.target)
    chosen = board_level(compiled, measuring.opt_level)
    reading, sections = measure_on_board(compiled, project, project.parent, chosen)
    frame = _frame(compiled, reading, (toolchain.cc, *toolchain.cflags, chosen))
    found = _sized(_counted(frame, reading), sections, reading.stack_bytes)
    if measuring.cycles:
        found = _with_cycles(found, mix_on_board(compiled, project, project.parent / "marked", chosen), compiled)
    return found


def _frame(compiled: Compiled, reading: Reading, flags: Sequence[str]) -> Profile:
    """All that is known before anything was measured."""
    calls = [calls for calls, _ in reading.layers[0][1:]]
    known = estimated_profile(compiled)
    layers = tuple(replace(layer, calls=n) for layer, n in zip(known.layers, calls, strict=True))
    return replace(known, flags=" ".join(flags), hook=reading.hook, layers=layers)


def _counted(frame: Profile, reading: Reading) -> Profile:
    """Instructions; what the layers leave of the total is the schedule's, never below 0 (hooks may end a tail call)."""
    total = reading.totals[0]
    spent = [round(count - calls * reading.hook) for calls, count in reading.layers[0][1:]]
    layers = tuple(replace(layer, instructions=n) for layer, n in zip(frame.layers, spent, strict=True))
    return replace(frame, instructions=total, layers=layers, schedule_instructions=max(0, total - sum(spent)))


def _sized(found: Profile, sections: Mapping[str, int], stack_bytes: int) -> Profile:
    """What the image takes; the stack only where a board has painted it, which a process does not."""
    return replace(
        found,
        text_bytes=sections["text"],
        rodata_bytes=sections["rodata"],
        ram_bytes=sections["data"] + sections["bss"],
        stack_bytes=stack_bytes or None,
    )


def _timed(frame: Profile, reading: Reading) -> Profile:
    """Microseconds: medians over the repeats, never below 0."""
    medians = [
        max(0.0, statistics.median(repeat[i][1] - repeat[i][0] * reading.hook for repeat in reading.layers) / 1000)
        for i in range(len(reading.layers[0]))
    ]
    layers = tuple(replace(layer, microseconds=t) for layer, t in zip(frame.layers, medians[1:], strict=True))
    total = statistics.median(reading.totals) / 1000
    return replace(frame, microseconds=total, layers=layers, schedule_microseconds=medians[0])


def _with_cycles(found: Profile, mix: Sequence[Mix], compiled: Compiled) -> Profile:
    """Cycles: each layer's instructions times what one of them takes on average there."""
    assert found.instructions is not None
    assert compiled.target.cycles is not None
    ran = sum(m.instructions for m in mix)
    if abs(ran - found.instructions) > 0.05 * found.instructions + 1000 * len(mix):
        raise PluginFailed(f"{ran} instructions executed, {found.instructions} by the timer", where=found.target)
    layers = tuple(
        replace(layer, cycles=_scaled(m, layer.instructions or 0))
        for layer, m in zip(found.layers, mix[1:], strict=True)
    )
    schedule = _scaled(mix[0], found.schedule_instructions or 0)
    kinds: dict[str, int] = {}
    for m in mix:
        for kind, times in m.kinds.items():
            kinds[kind] = kinds.get(kind, 0) + times
    shares = {kind: times / ran for kind, times in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))}
    total = schedule + sum(layer.cycles or 0 for layer in layers)
    return replace(found, cycles=total, cycles_source=compiled.target.cycles.source, mix=shares, layers=layers)


def _scaled(mix: Mix, instructions: int) -> int:
    return round(mix.cycles * instructions / mix.instructions) if mix.instructions else 0
