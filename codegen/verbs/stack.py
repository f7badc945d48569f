"""The stack of one inference, measured on the target's emulated board: of all of it, and of each group."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from codegen.emit import with_documents, write_project
from codegen.emulator import board_of
from codegen.errors import BoardMissing
from codegen.pipeline import Compiled
from codegen.report.stack import StackRecord, manifest_with_stack
from codegen.target import Target
from codegen.verbs.profiling import board_level, check_memory, stack_on_board


def check_stack_target(chip: Target) -> None:
    """LAM-EMULATOR-001 for a target whose board does not tell how deep the stack gets."""
    _, board = board_of(chip)
    if not any(Path(path).name == "stack.c" for path in board.startup):
        raise BoardMissing("has a board that does not tell the stack's depth", where=f"target {chip.name}")
    check_memory(chip)


def measured(compiled: Compiled) -> StackRecord:
    """Build the project for its target's board, run one inference, and see how far the stack was written.

    What a group takes is measured in a second program, with a hook at each kernel call whose own frame, about 80 bytes,
    is the least that is told; it never exceeds the whole.

    Raises:
        BoardMissing: LAM-EMULATOR-001, the target has no board, or one that cannot tell.
        ToolMissing: LAM-PROCESS-001, with the Debian packages of the compiler or the emulator.
    """
    check_stack_target(compiled.target)
    toolchain, _ = board_of(compiled.target)
    opt_level = board_level(compiled, None)
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        project = Path(folder) / "project"
        write_project(project, compiled.files)
        whole, layers = stack_on_board(compiled, project, Path(folder), opt_level)
    depths = iter(min(whole, depth) for depth in layers)
    groups = tuple(max(next(depths) for _ in group.calls) for group in compiled.program.groups)
    return StackRecord(whole, " ".join((toolchain.cc, *toolchain.cflags, opt_level)), groups)


def with_stack(compiled: Compiled, stack: StackRecord) -> Compiled:
    """The same project, with the stack in its manifest and its README."""
    manifest = manifest_with_stack(compiled.manifest, stack)
    files, manifest = with_documents(compiled.files, compiled.program, compiled.emit, manifest)
    return replace(compiled, manifest=manifest, files=files)
