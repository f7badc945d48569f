"""profile: what each layer of one inference costs, counted on an emulated chip or timed on this machine."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from codegen.emit import write_project
from codegen.emulator import board_of
from codegen.errors import CountBad
from codegen.pipeline import Compiled, Options, compile_file
from codegen.report.layers import LayerRecord, layer_records
from codegen.report.profile import Profile, ProfiledLayer
from codegen.schedule import Optimize
from codegen.verbs.compile import check_options
from codegen.verbs.profiling import Reading, measure_on_board, measure_on_host

HOST_FLAGS = ("-O3", "-march=native")


def profile(
    model: str | Path,
    target: str = "host",
    *,
    requant: str | None = None,
    optimize: Optimize = "balanced",
    arena_limit: int | None = None,
    stream_input: bool = False,
    level: str | None = None,
    repeats: int = 15,
) -> Profile:
    """Measure one inference of `model`, after one that warms up, on a made-up input.

    On a target with a board: instructions, exact and the same each time.  On the host: microseconds on one core, the
    median of `repeats`, which depend on the machine and on what else it does.

    Args:
        model: the model file.
        target: `host`, or a target with a board (LAM-EMULATOR-001 for one without; LAM-PROCESS-001 names the packages
            of a compiler or an emulator that is not installed).
        requant: requantization mode; the target's default when None.
        optimize: which plan, as in `compile_model`.
        arena_limit: bytes the arena may have, as in `compile_model`.
        stream_input: take the input row by row, as in `compile_model`.
        level: the C compiler's level, such as `-Os`; what the target's file says when None.
        repeats: inferences on the host.
    """
    options = Options(
        target=target,
        requant=requant,
        optimize=optimize,
        arena_limit=arena_limit,
        stream_input=stream_input,
        vectors=0,
    )
    check_options(options)
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise CountBad(f"{repeats!r}", where="repeats")
    compiled = compile_file(Path(model), options)
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        project = Path(folder) / "project"
        if compiled.target.name == "host":
            flags = HOST_FLAGS if level is None else (level, *HOST_FLAGS[1:])
            write_project(project, compiled.files)
            reading = measure_on_host(compiled, project, Path(folder), flags, repeats)
            return _timed(compiled, reading, flags)
        toolchain, _ = board_of(compiled.target)
        write_project(project, compiled.files)
        chosen = level or toolchain.optimize
        reading, sections = measure_on_board(compiled, project, Path(folder), chosen)
        return _counted(compiled, reading, sections, (toolchain.cc, *toolchain.cflags, chosen))


def _counted(compiled: Compiled, reading: Reading, sections: dict[str, int], flags: Sequence[str]) -> Profile:
    """Instructions; what the layers leave of the total is the schedule's, never below 0 (hooks may end a tail call)."""
    total = reading.totals[0]
    spent = [round(count - calls * reading.hook) for calls, count in reading.layers[0][1:]]
    layers = [
        _layer(record, calls, spent[i], None)
        for i, (record, (calls, _)) in enumerate(zip(_records(compiled), reading.layers[0][1:], strict=True))
    ]
    return _profile(
        compiled,
        reading,
        layers,
        flags=" ".join(flags),
        instructions=total,
        schedule=max(0, total - sum(spent)),
        sections=sections,
    )


def _timed(compiled: Compiled, reading: Reading, flags: Sequence[str]) -> Profile:
    """Microseconds; medians over the repeats, never below nothing."""
    medians = [
        max(0.0, statistics.median(repeat[i][1] - repeat[i][0] * reading.hook for repeat in reading.layers) / 1000)
        for i in range(len(reading.layers[0]))
    ]
    calls = [calls for calls, _ in reading.layers[0]]
    layers = [_layer(record, calls[i], None, medians[i]) for i, record in enumerate(_records(compiled), start=1)]
    total = statistics.median(reading.totals) / 1000
    return _profile(compiled, reading, layers, flags=" ".join(flags), microseconds=total, schedule_time=medians[0])


def _records(compiled: Compiled) -> list[LayerRecord]:
    return layer_records(compiled.plan, compiled.program)


def _layer(record: LayerRecord, calls: int, instructions: int | None, microseconds: float | None) -> ProfiledLayer:
    return ProfiledLayer(record.name, record.operator, record.kernel, record.macs, calls, instructions, microseconds)


def _profile(
    compiled: Compiled,
    reading: Reading,
    layers: Sequence[ProfiledLayer],
    *,
    flags: str,
    instructions: int | None = None,
    schedule: int | None = None,
    microseconds: float | None = None,
    schedule_time: float | None = None,
    sections: dict[str, int] | None = None,
) -> Profile:
    planning = compiled.manifest["planning"]
    assert isinstance(planning, dict)
    return Profile(
        model=compiled.program.name,
        target=compiled.target.name,
        requant=str(compiled.manifest["requant"]),
        optimize=str(planning["optimize"]),
        flags=flags,
        macs=sum(layer.macs for layer in layers),
        instructions=instructions,
        microseconds=microseconds,
        schedule_instructions=schedule,
        schedule_microseconds=schedule_time,
        hook=reading.hook,
        layers=tuple(layers),
        text_bytes=sections["text"] if sections else None,
        rodata_bytes=sections["rodata"] if sections else None,
        weights_bytes=compiled.program.params_bytes,
        ram_bytes=sections["data"] + sections["bss"] if sections else None,
        arena_bytes=compiled.plan.arena_bytes,
        stack_bytes=reading.stack_bytes if sections else None,
    )
