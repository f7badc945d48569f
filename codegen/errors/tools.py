"""Refusals of programs that are run: compilers, emulators."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.errors.base import LONGEST_FINDING, CompileError, one_line


class ToolMissing(CompileError):
    """A compiler, an emulator or another program is not on this machine."""

    code = "LAM-PROCESS-001"
    hint = "install it and make sure it is on PATH"

    def __init__(self, program: str, packages: Iterable[str] = (), *, found: str = "not found on PATH") -> None:
        """Name the program and the Debian packages that bring it."""
        names = " ".join(packages)
        super().__init__(found, where=program, hint=f"on Debian: apt-get install {names}" if names else None)


class ToolFailed(CompileError):
    """A program that was started ended with a failure."""

    code = "LAM-PROCESS-002"
    hint = "its last lines follow"

    def __init__(self, program: str, returncode: int, stderr: bytes) -> None:
        """Keep the exit code (negative: a signal) and the last lines the program wrote."""
        self.returncode = returncode
        self.lines = stderr.decode("utf-8", errors="replace").strip().splitlines()[-20:]
        found = f"ended by signal {-returncode}" if returncode < 0 else f"exit code {returncode}"
        super().__init__(found, where=program, hint=None if self.lines else "it said nothing more")

    def text(self) -> str:
        """The error's line, then the program's own."""
        return "\n  ".join([super().text(), *(one_line(line, LONGEST_FINDING) for line in self.lines)])


class ToolTimeout(CompileError):
    """A program did not end within its time limit and was stopped."""

    code = "LAM-PROCESS-003"
    hint = "give it more time, or less work"

    def __init__(self, program: str, timeout_s: float) -> None:
        """Name the limit."""
        super().__init__(f"still running after {timeout_s:g} s", where=program)


class ToolOutputTooLong(CompileError):
    """A program wrote more than anybody would read and was stopped."""

    code = "LAM-PROCESS-004"
    hint = "it probably prints in an endless loop"

    def __init__(self, program: str, limit: int) -> None:
        """Name the limit."""
        super().__init__(f"wrote more than {limit} bytes", where=program)


class BoardMissing(CompileError):
    """The target says nothing about a board to run on."""

    code = "LAM-EMULATOR-001"
    hint = "choose a target with a [board] table, such as cortex-m4, or verify on the host"


class CyclesUnknown(CompileError):
    """A target's file says nothing of cycles that are to be estimated, or names no disassembler for what is counted."""

    code = "LAM-EMULATOR-002"
    hint = "leave out --cycles, or give the target's file a [cycles] table"


class PluginFailed(CompileError):
    """The emulator does not run with the plugin that counts what is executed, or the counts contradict its timer."""

    code = "LAM-EMULATOR-003"
    hint = "leave out --cycles; it needs a QEMU built with plugins, as Debian's is"
