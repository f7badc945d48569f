"""The page of docs/ that lists the chips, their cores, and what ran where."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.report.columns import size_text
from codegen.report.table import markdown_table
from codegen.target import Target, list_targets, load_target

_INTRO = """\
Parts that one can buy. `lamina targets NAME` says where each number stands, `-t NAME` compiles for one, and a chip that
is not here needs a file of ten lines (`targets/README.md`). Memories are those of the datasheets; what an operating
system, a radio or a stack take of them is yours to leave free (`--arena-limit`). RAM is the largest one in one piece;
"and more" means that tensors which it cannot hold may go to others (docs/scheduler.md).

Each number names its source. Those of parts whose source is a file of Zephyr's device tree were compared with it; the
others cite their maker's document by its title, and were not compared with its text again."""
_CORES_INTRO = """\
Where code for the core runs in this project's own tests: on a board of QEMU (`verify -t`, `profile -t`), as a process
under QEMU, or not at all. Then the C is the plain C99 that runs on this machine and on the others, and was not run for
that core (but for the AVR's, whose self-test runs on simavr). No chip of these makers was measured: the milliseconds of
`lamina targets --fits MODEL` are estimates, by the cycles that layers of each kind take on the emulated cores."""


def chips_page(generated: str) -> str:
    """Every part by maker, and every core."""
    every = [*map(load_target, list_targets())]
    chips = [chip for chip in every if chip.maker]
    parts = ["# Chips", generated, _INTRO]
    for maker in sorted({chip.maker for chip in chips}, key=str.lower):
        parts += [f"## {maker}", chips_table(sorted((c for c in chips if c.maker == maker), key=lambda c: c.name))]
    parts += ["## Accelerators", _UNITS_INTRO, _units(chips)]
    return "\n\n".join([*parts, "## Cores", _CORES_INTRO, cores_table([chip for chip in every if chip.core])]) + "\n"


_UNITS_INTRO = """\
What the makers' tools take, as rules that `compile` and `inspect` hold networks to; `lamina targets NAME` lists them,
each with its source. No code is written for an accelerator here: the C runs
every layer on the core."""


def _units(chips: Sequence[Target]) -> str:
    users: dict[str, list[Target]] = {}
    for chip in chips:
        if chip.accelerator is not None:
            users.setdefault(chip.accelerator.title, []).append(chip)
    rows = []
    for title, found in sorted(users.items()):
        unit = found[0].accelerator
        assert unit is not None
        rest = "left to the core" if unit.rest == "cpu" else "refused"
        rows.append((title, ", ".join(f"`{c.name}`" for c in found), str(len(unit.rules)), rest))
    return markdown_table(("accelerator", "chips", "rules", "a layer that breaks one is"), rows)


def chips_table(chips: Sequence[Target]) -> str:
    """Parts that one can buy, a row for each."""
    rows = [
        (
            f"`{c.name}`",
            c.core,
            f"{c.clock.hz / 1e6:g} MHz" if c.clock else "-",
            _ram(c),
            _size(c.flash_bytes),
            c.description,
        )
        for c in chips
    ]
    return markdown_table(("target", "core", "clock", "RAM", "flash", "what it is"), rows)


def _ram(chip: Target) -> str:
    return f"{_size(chip.ram_bytes)}{' and more' if len(chip.working) > 1 else ''}"


def _size(size: int | None) -> str:
    return "no limit said" if size is None else size_text(size)


def cores_table(chips: Sequence[Target]) -> str:
    """The cores of these chips, and where their code runs."""
    cores = {chip.core or chip.isa: chip for chip in chips}
    rows = [
        (f"`{name}`", c.isa, "yes" if c.has_fpu else "no", _compiler(c), _place(c)) for name, c in sorted(cores.items())
    ]
    return markdown_table(("core", "kernels", "FPU", "compiled by", "runs on"), rows)


def _compiler(chip: Target) -> str:
    return chip.toolchain.cc if chip.toolchain else "yours"


def _place(chip: Target) -> str:
    if chip.board is None:
        return "nothing: plain C99, not run"
    words = chip.board.emulator
    machine = words[words.index("-M") + 1] if "-M" in words else "a process"
    return f"{words[0]}, {machine}"
