"""Runs a cross-built program on the target's emulated board, and says what it printed and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from codegen.emulator.build import Building, board_of, build_program, section_sizes
from codegen.process import Completed, need_program, run_program
from codegen.records import record
from codegen.target import Target

CONSOLE_LIMIT = 64 << 20
"""Bytes a program may print; more is a loop that prints (LAM-PROCESS-004)."""


@record
class RunResult:
    """How a program ended on its board.

    `exit_code` is main's result, 99 after a fault (the console says which), negative when the emulator itself was
    ended by a signal.  `console` is what the program printed, `messages` what the emulator did.  `sections` has the
    bytes of text, rodata, data and bss of the whole program: start-up code and what it uses of the C library included.
    """

    exit_code: int
    console: bytes
    sections: dict[str, int]
    messages: bytes = b""


def build_and_run(
    target: Target,
    sources: Sequence[Path],
    includes: Sequence[Path],
    defines: Mapping[str, str | None],
    *,
    count: bool = False,
    **how: Unpack[Building],
) -> RunResult:
    """The program was built for the target's board and ran there to its end.

    Args:
        target: a chip with a board (LAM-EMULATOR-001 otherwise).
        sources: C files, one of them with `int main(void)`; `lam_board.h` gives it a console.
        includes: folders for `#include`.
        defines: macros; None defines without a value.
        opt_level: the compiler's level.
        timeout_s: limit of the build and, again, of the run (LAM-PROCESS-003).
        workdir: where `program.elf` is written; made when missing.
        count: make `lam_board_instructions()` count instructions; runs slower.
    """
    elf, timeout_s = build_program(target, sources, includes, defines, **how), how["timeout_s"]
    sections = section_sizes(target, elf, timeout_s=timeout_s)
    done = run_elf(target, elf, timeout_s=timeout_s, count=count)
    return RunResult(done.returncode, done.stdout, sections, done.stderr)


def run_elf(
    target: Target, elf: Path, *, timeout_s: float, count: bool = False, options: Sequence[str] = ()
) -> Completed:
    """A program that was built before ran on the target's board; its console is `stdout`.

    `options` are further arguments of the emulator.
    """
    _, board = board_of(target)
    program, *arguments = (word.replace("{elf}", str(elf.resolve())) for word in board.emulator)
    counting = board.counting if count else ()
    emulator = need_program(program, board.debian_packages)
    return run_program([emulator, *counting, *options, *arguments], timeout_s=timeout_s, output_limit=CONSOLE_LIMIT)
