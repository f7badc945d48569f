"""Cross build: C sources and a board's start-up code to one ELF file, and the sizes of its sections.

Decides: the command line of the target's compiler and linker.  The flags, scripts and start-up files are the target's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict, Unpack

from codegen.errors import BoardMissing, ToolNonsense
from codegen.process import check_program, need_program
from codegen.resources import resource_dir
from codegen.target import Board, Target, Toolchain

KINDS = ("text", "rodata", "data", "bss")
"""What the sections of a program are added up to."""

_FLAGS = ("-std=c99", "-g0", "-fno-common", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
_PREFIXES = {
    "rodata": (".rodata", ".srodata", ".ARM.ex", ".eh_frame", ".gcc_except_table", ".data.rel.ro"),
    "text": (".text", ".init", ".fini", ".vectors", ".start"),
    "data": (".data", ".sdata", ".tdata", ".got"),
    "bss": (".bss", ".sbss", ".tbss"),
}


class Building(TypedDict):
    """How a program is built: where, in how much time, and at which level (`-O2` when nothing is said)."""

    workdir: Path
    timeout_s: float
    opt_level: NotRequired[str]


def build_program(
    target: Target,
    sources: Sequence[Path],
    includes: Sequence[Path],
    defines: Mapping[str, str | None],
    **how: Unpack[Building],
) -> Path:
    """The ELF file of a C program with an `int main(void)`, for the target's board.

    `lam_board.h` is on the include path.  What nothing uses is left out, so that sizes are those of a firmware.
    Raises LAM-EMULATOR-001 without a board, LAM-PROCESS-001 without a compiler, -002 with its messages.
    """
    toolchain, board = board_of(target)
    workdir = how["workdir"]
    boards = resource_dir("runtime_c") / "boards"
    workdir.mkdir(parents=True, exist_ok=True)
    elf = workdir.resolve() / "program.elf"
    script: list[str | Path] = ["-L", boards, "-T", boards / board.linker_script] if board.linker_script else []
    argv: list[str | Path] = [
        need_program(toolchain.cc, toolchain.debian_packages),
        *toolchain.cflags,
        *_FLAGS,
        how.get("opt_level", "-O2"),
        *(f"-D{name}" if value is None else f"-D{name}={value}" for name, value in defines.items()),
        *(f"-I{path.resolve()}" for path in (*includes, boards)),
        *(path.resolve() for path in sources),
        *(boards / path for path in board.startup),
        *script,
        *toolchain.ldflags,
        *("-lm", "-o", elf),
    ]
    check_program(argv, cwd=workdir, timeout_s=how["timeout_s"], writes=elf)
    return elf


def section_sizes(target: Target, elf: Path, *, timeout_s: float = 60) -> dict[str, int]:
    """Bytes of code (`text`), constants (`rodata`), initialised (`data`) and zeroed (`bss`) variables; no stack."""
    toolchain, _ = board_of(target)
    tool = need_program(toolchain.size, toolchain.debian_packages)
    listing = check_program([tool, "-A", "-d", elf], timeout_s=timeout_s).stdout.decode("utf-8", errors="replace")
    sizes = dict.fromkeys(KINDS, 0)
    for line in listing.splitlines():
        words = line.split()
        if len(words) == 3 and words[0].startswith(".") and words[1].isdigit():
            kind = _kind(words[0])
            if kind:
                sizes[kind] += int(words[1])
    if not sizes["text"]:
        raise ToolNonsense("lists no section with code", where=toolchain.size)
    return sizes


def board_of(target: Target) -> tuple[Toolchain, Board]:
    """The target's toolchain and board; LAM-EMULATOR-001 when it has none."""
    if target.toolchain is None or target.board is None:
        raise BoardMissing("has no board to run on", where=f"target {target.name}")
    return target.toolchain, target.board


def _kind(section: str) -> str | None:
    """What a section counts as; `.data.rel.ro` is asked for before `.data`.  None: stack, notes, debug information."""
    return next((kind for kind, prefixes in _PREFIXES.items() if section.startswith(prefixes)), None)
