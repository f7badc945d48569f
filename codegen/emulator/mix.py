"""Runs a program on a target's board under a plugin of the emulator that counts how often each instruction ran."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from codegen.emulator.build import board_of
from codegen.emulator.cycles import Executed, Mix, mixes, read_disassembly
from codegen.emulator.run import run_elf
from codegen.errors import CyclesUnknown, PluginFailed, ToolNonsense
from codegen.process import check_program, need_program
from codegen.resources import resource_dir
from codegen.target import Target

MARKS = "lam_profile_marks"
"""Bytes of the program; a store to one says which layer runs from there on."""

_PLUGIN_VERSIONS = (1, 2, 3, 4, 5, 6)
"""Of the emulator's plugin interface, whose parts that are used are the same in all; it takes those it knows."""


def executed_mix(
    target: Target, elf: Path, layers: int, *, compiler: Sequence[str], workdir: Path, timeout_s: float
) -> list[Mix]:
    """What ran between the last two marks, for no layer and for each: counts by kind, and an estimate of cycles.

    Where the target has no table of cycles everything is of one kind, and takes none.

    Args:
        target: a chip with a board and an `objdump` (LAM-EMULATOR-002 otherwise).
        elf: the program, with the marks.
        layers: how many there are.
        compiler: the host's with its own arguments, which builds the plugin.
        workdir: where it is built.
        timeout_s: limit of each program that is started.
    """
    toolchain, _ = board_of(target)
    if toolchain.objdump is None:
        hint = "give the [toolchain] of the target's file an objdump; what is executed is counted with it"
        raise CyclesUnknown("names no objdump", where=f"target {target.name}", hint=hint)
    objdump = need_program(toolchain.objdump, toolchain.debian_packages)
    symbols = check_program([objdump, "-t", elf], timeout_s=timeout_s).stdout.decode("utf-8", errors="replace")
    found = re.search(rf"^([0-9a-f]+) .*\s{MARKS}$", symbols, re.MULTILINE)
    if found is None:
        raise ToolNonsense(f"lists no symbol {MARKS}", where=toolchain.objdump)
    text = "" if target.cycles is None else _disassembly([objdump, *toolchain.objdump_flags], elf, timeout_s)
    out = workdir / "mix.txt"
    said = ""
    for version in _PLUGIN_VERSIONS:
        plugin = _plugin(version, compiler, workdir, timeout_s)
        options = ["-plugin", f"{plugin},out={out},marks=0x{found[1]},layers={layers}"]
        done = run_elf(target, elf, timeout_s=timeout_s, options=options)
        if done.returncode == 0 and out.is_file():
            code = read_disassembly(text, arm=target.isa.startswith("arm"))
            return mixes(_executed(out.read_text(encoding="ascii")), code, target.cycles, layers)
        said = said or (done.stdout + done.stderr)[-300:].decode("utf-8", errors="replace")
    raise PluginFailed(said.strip() or "no counts were written", where=f"target {target.name}")


def _disassembly(objdump: Sequence[str | Path], elf: Path, timeout_s: float) -> str:
    listing = check_program([*objdump, "-d", "--no-show-raw-insn", elf], timeout_s=timeout_s).stdout
    return listing.decode("utf-8", errors="replace")


def _plugin(version: int, compiler: Sequence[str], workdir: Path, timeout_s: float) -> Path:
    """The plugin for one version of the emulator's interface."""
    library = workdir.resolve() / f"lam_mix{version}.so"
    source = resource_dir("runtime_c") / "emulator" / "lam_mix_plugin.c"
    check_program(
        [*compiler, "-std=c99", "-O2", "-fPIC", "-shared", f"-DLAM_PLUGIN_VERSION={version}", source, "-o", library],
        timeout_s=timeout_s,
        writes=library,
    )
    return library


def _executed(text: str) -> list[Executed]:
    """The plugin's lines; an instruction can stand in several blocks, whose counts are added."""
    sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for line in text.splitlines():
        layer, address, times, jumps = line.split()
        entry = sums[int(layer), int(address, 16)]
        entry[0] += int(times)
        entry[1] += int(jumps)
    return [Executed(*key, *value) for key, value in sums.items()]
