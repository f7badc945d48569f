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
from codegen.host import HOST_FLAGS
from codegen.options import ShapesGiven, shape_pairs
from codegen.pipeline import Compiled, Options, compile_file
from codegen.report.layers import layer_records
from codegen.report.profile import Profile, ProfiledLayer
from codegen.schedule import Optimize
from codegen.verbs.compile import check_options
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

LEVELS = ("-O0", "-Og", "-O1", "-O2", "-O3", "-Os", "-Oz")
REPEATS = 15


@takes_model
def profile(
    model: ModelSource,
    target: str = "host",
    *,
    requant: str | None = None,
    optimize: Optimize | None = None,
    arena_limit: int | None = None,
    stream_input: bool = False,
    shapes: ShapesGiven = None,
    level: str | None = None,
    cycles: bool = False,
    repeats: int | None = None,
) -> Profile:
    """Measure one inference of `model`, after one that warms up, on a made-up input.

    On a target with a board: instructions, exact and the same each time.  On the host: microseconds on one core, the
    median of `repeats`, which depend on the machine and on what else it does.

    Args:
        model: the model file, as in `compile_model`.
        target: `host`, or a target with a board (LAM-EMULATOR-001 for one without; LAM-PROCESS-001 names the packages
            of a compiler or an emulator that is not installed).
        requant: requantization mode; the target's default when None.
        optimize: which plan, as in `compile_model`.
        arena_limit: bytes the arena may have, as in `compile_model`.
        stream_input: take the input row by row, as in `compile_model`.
        shapes: of inputs with open dimensions, as in `compile_model`.
        level: the C compiler's level, such as `-Os`; what the target's file says when None.
        cycles: also estimate cycles, by the target's table and what was executed (LAM-EMULATOR-002 without a table).
        repeats: inferences on the host, 15 when None; a board counts exactly, and is not asked to repeat
            (LAM-IMPORT-030).
    """
    options = Options(
        target=target,
        requant=requant,
        optimize=optimize,
        arena_limit=arena_limit,
        stream_input=stream_input,
        shapes=shape_pairs(shapes),
        vectors=0,
    )
    check_options(options)
    if repeats is not None and (isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1):
        raise CountBad(f"{repeats!r}", where="repeats")
    if level is not None and level not in LEVELS:
        raise OptionBad(f"{level!r}", where="level", hint=f"choose one of {', '.join(LEVELS)}")
    compiled = compile_file(file_of(model), options)
    on_host = compiled.target.board is None and compiled.target.isa in HOST_ISAS
    _check(compiled, on_host, cycles)
    if repeats is not None and not on_host:
        hint = "leave it out: a board counts instructions exactly"
        raise OptionBad(f"{repeats} on {target}", where="repeats", hint=hint)
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        project = Path(folder) / "project"
        write_project(project, compiled.files)
        if on_host:
            flags = HOST_FLAGS if level is None else (level, *HOST_FLAGS[1:])
            reading = measure_on_host(compiled, project, Path(folder), flags, repeats or REPEATS)
            return _timed(_frame(compiled, reading, flags), reading)
        return _on_board(compiled, project, level, cycles)


def _check(compiled: Compiled, on_host: bool, cycles: bool) -> None:
    """Refuse, before anything is built, what cannot be measured."""
    chip = compiled.target
    if not on_host and not board_of(chip)[1].counting:
        raise BoardMissing("has a board that cannot count instructions", where=f"target {chip.name}")
    check_memory(chip)
    if cycles and chip.cycles is None:
        raise CyclesUnknown("has no table of cycles", where=f"target {chip.name}")


def _on_board(compiled: Compiled, project: Path, level: str | None, cycles: bool) -> Profile:
    """Instructions, sizes, and on demand cycles."""
    toolchain, _ = board_of(compiled.target)
    chosen = board_level(compiled, level)
    reading, sections = measure_on_board(compiled, project, project.parent, chosen)
    frame = _frame(compiled, reading, (toolchain.cc, *toolchain.cflags, chosen))
    found = _sized(_counted(frame, reading), sections, reading.stack_bytes)
    if cycles:
        found = _with_cycles(found, mix_on_board(compiled, project, project.parent / "marked", chosen), compiled)
    return found


def _frame(compiled: Compiled, reading: Reading, flags: Sequence[str]) -> Profile:
    """All that is known before anything was measured."""
    planning = compiled.manifest["planning"]
    assert isinstance(planning, dict)
    calls = [calls for calls, _ in reading.layers[0][1:]]
    layers = tuple(
        ProfiledLayer(r.name, r.operator, r.kernel, r.macs, n, None, None, None)
        for r, n in zip(layer_records(compiled.plan, compiled.program), calls, strict=True)
    )
    return Profile(
        model=compiled.program.name,
        target=compiled.target.name,
        requant=str(compiled.manifest["requant"]),
        optimize=str(planning["optimize"]),
        flags=" ".join(flags),
        macs=sum(layer.macs for layer in layers),
        hook=reading.hook,
        layers=layers,
        weights_bytes=compiled.program.packed_bytes,
        arena_bytes=compiled.plan.arena_bytes,
    )


def _counted(frame: Profile, reading: Reading) -> Profile:
    """Instructions; what the layers leave of the total is the schedule's, never below 0 (hooks may end a tail call)."""
    total = reading.totals[0]
    spent = [round(count - calls * reading.hook) for calls, count in reading.layers[0][1:]]
    layers = tuple(replace(layer, instructions=n) for layer, n in zip(frame.layers, spent, strict=True))
    return replace(frame, instructions=total, layers=layers, schedule_instructions=max(0, total - sum(spent)))


def _sized(found: Profile, sections: Mapping[str, int], stack_bytes: int) -> Profile:
    return replace(
        found,
        text_bytes=sections["text"],
        rodata_bytes=sections["rodata"],
        ram_bytes=sections["data"] + sections["bss"],
        stack_bytes=stack_bytes,
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
