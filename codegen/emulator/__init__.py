"""Builds C for a target's board and runs it there.  Boards are data in targets/ and C in runtime_c/boards."""

from codegen.emulator.build import board_of, build_program, section_sizes
from codegen.emulator.cycles import Mix
from codegen.emulator.mix import executed_mix
from codegen.emulator.run import RunResult, build_and_run, run_elf

__all__ = ["Mix", "RunResult", "board_of", "build_and_run", "build_program", "executed_mix", "run_elf", "section_sizes"]
